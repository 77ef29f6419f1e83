/*
 * pipelined.cu: tiles come by cp.async, past the registers, with STAGES of them under way. A's
 * tile is not transposed: a thread reads four steps of k of a row at once, and the 16-byte chunks
 * of the rows are swizzled so that this causes no bank conflicts. A warp makes one compact tile of
 * C, its lanes numbered so that neighbours read the same words, with 8 x 16 elements in each
 * thread: 96 passes through shared memory for 1024 multiplications of a warp, where warp_tiled.cu
 * needs 128.
 */
// arch: sm_80
#include "device.h" /* copy_async_.., keep */
#include "wide.h"
#define BM 128 // tune: 64 128 256
#define BN 128 // tune: 64 128 256
#define BK 8 // tune: 8 16 32
#define TM 8 // tune: 4 8 16
#define TN 16 // tune: 4 8 16
#define STAGES 3 // tune: 3 4 5
#define THREADS (BM / TM * (BN / TN))
#define WARPS_ACROSS (BN / (4 * TN)) /* a warp is 8 threads high and 4 wide */
#define CHUNKS (BK / 4)              /* of 16 bytes, in a row of A's tile */
#define STAGE (BM * BK + BK * BN)    /* floats of a stage: A's tile, then B's */
#define A_COPIES (BM * BK / 4 / THREADS) /* chunks of a stage that one thread copies */
#define B_COPIES (BK * BN / 4 / THREADS)
#define A_ROWS (THREADS / CHUNKS)   /* from one chunk of a thread to its next */
#define B_ROWS (THREADS / (BN / 4))
#define GROUP 8 /* rows of tiles that go through B together, for the L2 */
#define REGISTERS (TM * TN > 64 ? 255 : 128)
#define RESIDENT (65536 / REGISTERS / THREADS ? 65536 / REGISTERS / THREADS : 1)
#if BM * BK / 4 % THREADS || BK * BN / 4 % THREADS || THREADS % (BN / 4) || A_ROWS % 8 ||          \
    BM % (8 * TM) || BN % (4 * TN)
#error "the tiles do not come out even"
#endif

/* Chunk i of a row of A's tile lies at place i ^ swizzle_of(row): in eight rows, one below the
 * other, the same chunk has eight different places within 128 bytes. */
static __device__ __forceinline__ unsigned swizzle_of(unsigned row)
{
    return row * BK / 32 % CHUNKS;
}

/* Copying ---------------------------------------------------------------------------------------*/

/* What a thread copies. Rows and columns outside the matrices are replaced by the last ones inside:
 * what comes of them is not stored. */
struct copier {
    const float *a[A_COPIES], *b; /* its first chunks of the next stage */
    long long b_down;             /* to B's next chunk */
    unsigned to_a, to_b;          /* within a stage, shared addresses */
    unsigned a_column, b_row, b_columns;
};

static __device__ __forceinline__ copier copier_of(matrix a, matrix b, long long row,
                                                   long long column, unsigned stages)
{
    copier copy;
    unsigned down = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
#pragma unroll
    for (unsigned t = 0; t < A_COPIES; t++)
        copy.a[t] = a.at + min(row + down + t * A_ROWS, a.rows - 1) * a.columns + chunk * 4;
    copy.a_column = chunk * 4;
    copy.to_a = keep(stages + (down * CHUNKS + (chunk ^ swizzle_of(down))) * 16);
    copy.b_row = threadIdx.x / (BN / 4);
    long long from = min(column + threadIdx.x % (BN / 4) * 4, b.columns - 1) / 4 * 4;
    copy.b = b.at + copy.b_row * b.columns + from;
    copy.b_columns = b.columns - from < 4 ? b.columns - from : 4;
    copy.b_down = B_ROWS * b.columns;
    copy.to_b = keep(stages + (BM * BK + threadIdx.x * 4) * 4);
    return copy;
}

/* Copies the first `count` of four elements and sets the others to zero. */
template <bool WIDE>
static __device__ __forceinline__ void copy_four(unsigned to, const float *from, unsigned count)
{
    if (WIDE) { /* all or none */
        copy_async_16_to(to, from, count ? 16 : 0);
    } else {
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            copy_async_4_to(to + i * 4, from + i, i < count ? 4 : 0);
    }
}

/* Starts the next stage, of which `left` steps of k are inside the matrices: at least BK unless it
 * is the LAST. */
template <bool WIDE, bool LAST>
static __device__ __forceinline__ void copy_stage(copier *copy, unsigned stage, unsigned left,
                                                  long long n)
{
    unsigned in_a = !LAST ? 4 : left > copy->a_column ? left - copy->a_column : 0;
    unsigned in_b = WIDE ? 4 : copy->b_columns;
#pragma unroll
    for (unsigned t = 0; t < A_COPIES; t++) {
        copy_four<WIDE>(copy->to_a + stage + t * A_ROWS * BK * 4, copy->a[t], in_a);
        copy->a[t] += BK;
    }
#pragma unroll
    for (unsigned t = 0; t < B_COPIES; t++)
        copy_four<WIDE>(copy->to_b + stage + t * THREADS * 16, copy->b + t * copy->b_down,
                        !LAST || copy->b_row + t * B_ROWS < left ? in_b : 0);
    copy->b += BK * n;
}

/* Multiplying -----------------------------------------------------------------------------------*/

/* Reads four steps of k of a thread's rows, which are 8 apart. */
static __device__ __forceinline__ void read_chunk(float4 of_a[TM], const float *a_tile,
                                                  unsigned chunk, unsigned swizzle)
{
#pragma unroll
    for (unsigned i = 0; i < TM; i++)
        of_a[i] = *(const float4 *)(a_tile + i * 8 * BK + (chunk ^ swizzle) * 4);
}

/* Reads one step of k of a thread's columns: groups of four that are 16 apart. */
static __device__ __forceinline__ void read_row(float4 of_b[TN / 4], const float *b_tile)
{
#pragma unroll
    for (unsigned j = 0; j < TN / 4; j++)
        of_b[j] = *(const float4 *)(b_tile + j * 16);
}

/* Element i of a vector; i is a constant once the loops are unrolled. */
static __device__ __forceinline__ float element(float4 v, unsigned i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

static __device__ __forceinline__ void multiply_step(const float4 of_a[TM], unsigned step,
                                                     const float4 of_b[TN / 4], float sum[TM][TN])
{
#pragma unroll
    for (unsigned i = 0; i < TM; i++)
#pragma unroll
        for (unsigned j = 0; j < TN; j++)
            sum[i][j] = fmaf(element(of_a[i], step), element(of_b[j / 4], j % 4), sum[i][j]);
}

/* The four steps of a chunk whose first row of B is in of_b; leaves the row at `after` there. */
static __device__ __forceinline__ void multiply_chunk(const float4 of_a[TM], float4 of_b[TN / 4],
                                                      const float *b_tile, const float *after,
                                                      float sum[TM][TN])
{
    float4 next[TN / 4];
    read_row(next, b_tile + BN);
    multiply_step(of_a, 0, of_b, sum);
    read_row(of_b, b_tile + 2 * BN);
    multiply_step(of_a, 1, next, sum);
    read_row(next, b_tile + 3 * BN);
    multiply_step(of_a, 2, of_b, sum);
    read_row(of_b, after);
    multiply_step(of_a, 3, next, sum);
}

/* Which tile of C a block makes: groups of GROUP rows of tiles, down before across. */
static __device__ __forceinline__ void place_block(long long m, long long n, long long *row,
                                                   long long *column)
{
    unsigned down = (m + BM - 1) / BM, across = (n + BN - 1) / BN;
    unsigned group = blockIdx.x / (GROUP * across), rest = blockIdx.x % (GROUP * across);
    unsigned height = min(down - group * GROUP, GROUP);
    *row = (long long)(group * GROUP + rest % height) * BM;
    *column = (long long)(rest / height) * BN;
}

template <bool WIDE>
static __device__ __forceinline__ void multiply(matrix a, matrix b, float *c)
{
    extern __shared__ __align__(16) float stages[]; // [STAGES][STAGE]
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned down = warp / WARPS_ACROSS * (8 * TM) + lane / 2 % 8;
    unsigned across = warp % WARPS_ACROSS * (4 * TN) + (lane % 2 + lane / 16 * 2) * 4;
    unsigned k = a.columns, next = 0, now = 0, into = STAGES - 1, swizzle = swizzle_of(down);
    const float *a_tile = stages + keep(down * BK), *b_tile = stages + keep(BM * BK + across);
    long long row, column;
    place_block(a.rows, b.columns, &row, &column);
    copier copy = copier_of(a, b, row, column, shared_address(stages));
    float sum[TM][TN] = {};
    /* Where nothing is left to copy the group is empty, so that the count of groups stays right. */
#pragma unroll
    for (unsigned stage = 0; stage < STAGES - 1; stage++, next += BK) {
        if (next < k)
            copy_stage<WIDE, true>(&copy, stage * STAGE * 4, k - next, b.columns);
        copy_async_commit();
    }
    float4 even[TM], odd[TM], of_b[TN / 4];
    copy_async_wait(STAGES - 2);
    __syncthreads();
    if (k > 0) {
        read_chunk(even, a_tile, 0, swizzle);
        read_row(of_b, b_tile);
    }
    for (unsigned from = 0; from < k; from += BK, next += BK) {
        /* After the last stage this one's beginning is read once more, and not used. */
        unsigned then = from + BK >= k ? now : now + 1 == STAGES ? 0 : now + 1;
        const float *a_now = a_tile + now * STAGE, *b_now = b_tile + now * STAGE;
#pragma unroll
        for (unsigned chunk = 0; chunk < CHUNKS; chunk += 2, b_now += 8 * BN) {
            read_chunk(odd, a_now, chunk + 1, swizzle);
            multiply_chunk(even, of_b, b_now, b_now + 4 * BN, sum);
            bool last = chunk + 2 == CHUNKS;
            if (last) { /* the next stage must be here, and nobody needs the one before this */
                copy_async_wait(STAGES - 3);
                __syncthreads();
                if (next + BK <= k)
                    copy_stage<WIDE, false>(&copy, into * STAGE * 4, BK, b.columns);
                else if (next < k)
                    copy_stage<WIDE, true>(&copy, into * STAGE * 4, k - next, b.columns);
                copy_async_commit();
            }
            read_chunk(even, last ? a_tile + then * STAGE : a_now, last ? 0 : chunk + 2, swizzle);
            multiply_chunk(odd, of_b, b_now + 4 * BN, last ? b_tile + then * STAGE : b_now + 8 * BN,
                           sum);
        }
        into = now;
        now = then;
    }
#pragma unroll
    for (unsigned i = 0; i < TM; i++)
#pragma unroll
        for (unsigned j = 0; j < TN / 4; j++)
            store_four<WIDE>(c, a.rows, b.columns, row + down + i * 8, column + across + j * 16,
                             &sum[i][j * 4]);
}

/* All matrices and all their rows begin at multiples of 16 bytes. */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
gemm_wide(const float *a, const float *b, float *c, long long m, long long n, long long k)
{
    multiply<true>({a, m, k}, {b, k, n}, c);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
gemm_any(const float *a, const float *b, float *c, long long m, long long n, long long k)
{
    multiply<false>({a, m, k}, {b, k, n}, c);
}
