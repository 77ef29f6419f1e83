/*
 * pipelined.cu: tiles come by cp.async, past the registers, with STAGES of them under way, and each
 * thread makes 8 x 16 elements: 6 loads of 16 bytes for 128 multiplications. So many sums need all
 * the registers there are, and few warps are left on an SM; the code itself hides the latencies, by
 * reading the next step of k, even of the next stage, before it multiplies this one.
 *
 * What is left is the register file, which has two banks: registers with even and with odd numbers.
 * multiply_step and store_sums say how the operands of a multiplication come from both.
 */
// arch: sm_80
#include "device.h" /* copy_async_.., keep */
#include "wide.h"
#define BM 128 // tune: 64 128 256
#define BN 128 // tune: 64 128 256
#define BK 16 // tune: 8 16 32
#define TM 8 // tune: 4 8
#define TN 16 // tune: 8 16
#define STAGES 3 // tune: 3 4 5
#define THREADS (BM / TM * (BN / TN))
#define WARPS_ACROSS (BN / (4 * TN)) /* a warp is 8 threads high and 4 wide */
#define ROW (BM + 4) /* of A's tile: 8 steps of k in 4 rows meet 32 banks */
#define STAGE (BK * (ROW + BN)) /* floats of a stage: A's tile, transposed, then B's */
#define A_ROWS (THREADS / 8)    /* that all threads copy at a time */
#define B_ROWS (THREADS / (BN / 4))
#define PITCH (4 * TN + 8) /* of a warp's slab: the lanes' stores meet different banks */
#define SLAB (8 * PITCH)   /* floats: 8 rows of C on their way out */
#define GROUP 8 /* rows of tiles that go through B together, for the L2 */
#define REGISTERS (TM * TN > 64 ? 255 : 128)
#define RESIDENT (65536 / REGISTERS / THREADS ? 65536 / REGISTERS / THREADS : 1)
#if BM % A_ROWS || BK % B_ROWS || THREADS % (BN / 4) || BM % (8 * TM) || BN % (4 * TN) ||          \
    THREADS / 32 * SLAB > STAGES * STAGE
#error "the tiles do not come out even"
#endif

/* Copying ---------------------------------------------------------------------------------------*/

/* What a thread copies: single elements of A, since they change places, and chunks of four of B.
 * Rows and columns outside the matrices are replaced by the last ones inside: what comes of them is
 * not stored. */
struct copier {
    const float *a[BM / A_ROWS], *b; /* its first ones of the next stage */
    long long b_down;                /* to B's next chunk */
    unsigned to_a, to_b;             /* within a stage, shared addresses */
    unsigned a_column, b_row, b_columns;
};

static __device__ __forceinline__ copier copier_of(matrix a, matrix b, long long row,
                                                   long long column, unsigned stages)
{
    copier copy;
    unsigned down = threadIdx.x / 8;
    copy.a_column = threadIdx.x % 8;
#pragma unroll
    for (unsigned t = 0; t < BM / A_ROWS; t++)
        copy.a[t] = a.at + min(row + down + t * A_ROWS, a.rows - 1) * a.columns + copy.a_column;
    copy.to_a = keep(stages + (copy.a_column * ROW + down) * 4);
    copy.b_row = threadIdx.x / (BN / 4);
    long long from = min(column + threadIdx.x % (BN / 4) * 4, b.columns - 1) / 4 * 4;
    copy.b = b.at + copy.b_row * b.columns + from;
    copy.b_columns = min(b.columns - from, 4LL);
    copy.b_down = B_ROWS * b.columns;
    copy.to_b = keep(stages + (BK * ROW + threadIdx.x * 4) * 4);
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

/* Starts the next stage, of which `left` steps of k are inside the matrices: at least BK if it is
 * WHOLE. */
template <bool WIDE, bool WHOLE>
static __device__ __forceinline__ void copy_stage(copier *copy, unsigned stage, unsigned left,
                                                  long long n)
{
    unsigned in_b = WIDE ? 4 : copy->b_columns, to = stage * STAGE * 4;
#pragma unroll
    for (unsigned t = 0; t < BM / A_ROWS; t++) {
#pragma unroll
        for (unsigned l = 0; l < BK; l += 8)
            copy_async_4_to(copy->to_a + to + (l * ROW + t * A_ROWS) * 4, copy->a[t] + l,
                            WHOLE || copy->a_column + l < left ? 4 : 0);
        copy->a[t] += BK;
    }
#pragma unroll
    for (unsigned t = 0; t < BK / B_ROWS; t++)
        copy_four<WIDE>(copy->to_b + to + t * THREADS * 16, copy->b + t * copy->b_down,
                        WHOLE || copy->b_row + t * B_ROWS < left ? in_b : 0);
    copy->b += BK * n;
}

/* Multiplying -----------------------------------------------------------------------------------*/

/* A thread's operands at one step of k: groups of four rows that lie 8 groups apart, and of four
 * columns that lie 4 apart. */
struct __align__(16) step {
    float a[TM], b[TN];
};

static __device__ __forceinline__ void read_step(step *to, const float *a_tile,
                                                 const float *b_tile, unsigned l)
{
#pragma unroll
    for (unsigned i = 0; i < TM; i += 4)
        *(float4 *)&to->a[i] = *(const float4 *)(a_tile + l * ROW + i * 8);
#pragma unroll
    for (unsigned j = 0; j < TN; j += 4)
        *(float4 *)&to->b[j] = *(const float4 *)(b_tile + l * BN + j * 4);
}

/* To and fro along the rows: one operand is always that of the multiplication before, which a cache
 * in front of the register file still has. That leaves one of `b` or `a`, and the sum. */
static __device__ __forceinline__ void multiply_step(const step *of, float sum[TM][TN])
{
#pragma unroll
    for (unsigned i = 0; i < TM; i++)
#pragma unroll
        for (unsigned t = 0; t < TN; t++) {
            unsigned j = i % 2 ? TN - 1 - t : t;
            sum[i][j] = fmaf(of->a[i], of->b[j], sum[i][j]);
        }
}

/* One stage, whose first step has been read. Leaves the first step of the next one, which begins
 * `then` floats further on. */
static __device__ __forceinline__ void multiply_stage(step *even, const float *a_tile,
                                                      const float *b_tile, int then,
                                                      float sum[TM][TN])
{
    step odd;
#pragma unroll
    for (unsigned l = 0; l < BK - 2; l += 2) {
        read_step(&odd, a_tile, b_tile, l + 1);
        multiply_step(even, sum);
        read_step(even, a_tile, b_tile, l + 2);
        multiply_step(&odd, sum);
    }
    read_step(&odd, a_tile, b_tile, BK - 1);
    multiply_step(even, sum);
    copy_async_wait(STAGES - 2); /* the next stage must be here, */
    __syncthreads();             /* and nobody needs this one any more */
    read_step(even, a_tile + then, b_tile + then, 0);
    multiply_step(&odd, sum);
}

/* Through shared memory, so that a warp stores whole rows; and rotated by one: sum[i][1] is the
 * first of four. Four registers that are stored at once, or were loaded at once like `b`, begin at
 * an even number. With sum[i][0] first, b[j] and sum[i][j] would be in the same bank. */
template <bool WIDE>
static __device__ __forceinline__ void store_sums(float *c, long long m, long long n, long long row,
                                                  long long column, float *slab,
                                                  const float sum[TM][TN])
{
    unsigned lane = threadIdx.x % 32, y = lane / 2 % 8, x = (lane % 2 + lane / 16 * 2) * 4;
#pragma unroll
    for (unsigned i = 0; i < TM; i++) { /* 8 rows of the warp's tile, 4 apart */
#pragma unroll
        for (unsigned j = 0; j < TN; j += 4)
            *(float4 *)&slab[y * PITCH + x + j * 4] =
                make_float4(sum[i][j + 1], sum[i][j + 2], sum[i][j + 3], sum[i][j]);
        __syncwarp();
#pragma unroll
        for (unsigned chunk = lane; chunk < 8 * TN; chunk += 32) {
            unsigned down = chunk / TN, across = chunk % TN * 4;
            float4 four = *(const float4 *)&slab[down * PITCH + across];
            float value[4] = {four.w, four.x, four.y, four.z};
            store_four<WIDE>(c, m, n, row + i / 4 * 32 + i % 4 + down * 4, column + across, value);
        }
        __syncwarp();
    }
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
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, k = a.columns, next = 0;
    unsigned down = warp / WARPS_ACROSS * (8 * TM), across = warp % WARPS_ACROSS * (4 * TN);
    const float *a_tile = stages + keep(down + lane / 2 % 8 * 4);
    const float *b_tile = stages + keep(BK * ROW + across + (lane % 2 + lane / 16 * 2) * 4);
    long long row, column;
    place_block(a.rows, b.columns, &row, &column);
    copier copy = copier_of(a, b, row, column, shared_address(stages));
    float sum[TM][TN] = {};
    /* Where nothing is left to copy the group is empty, so that the count of groups stays right. */
#pragma unroll
    for (unsigned stage = 0; stage < STAGES - 1; stage++, next += BK) {
        if (next < k)
            copy_stage<WIDE, false>(&copy, stage, k - next, b.columns);
        copy_async_commit();
    }
    step first;
    copy_async_wait(STAGES - 2);
    __syncthreads();
    if (k > 0)
        read_step(&first, a_tile, b_tile, 0);
    unsigned from = 0, now = 0, into = STAGES - 1;
    for (; next + BK <= k; from += BK, next += BK) {
        copy_stage<WIDE, true>(&copy, into, BK, b.columns);
        copy_async_commit();
        into = now;
        now = now + 1 == STAGES ? 0 : now + 1;
        multiply_stage(&first, a_tile + into * STAGE, b_tile + into * STAGE,
                       ((int)now - (int)into) * STAGE, sum);
    }
    /* After the last stage its beginning is read once more, and not used. */
#pragma unroll 1
    for (; from < k; from += BK, next += BK) {
        if (next < k)
            copy_stage<WIDE, false>(&copy, into, k - next, b.columns);
        copy_async_commit();
        into = now;
        now = from + BK >= k ? now : now + 1 == STAGES ? 0 : now + 1;
        multiply_stage(&first, a_tile + into * STAGE, b_tile + into * STAGE,
                       ((int)now - (int)into) * STAGE, sum);
    }
    __syncthreads(); /* before the stages are overwritten */
    store_sums<WIDE>(c, a.rows, b.columns, row + down, column + across, stages + warp * SLAB,
                     sum);
}

/* B, C and all their rows begin at multiples of 16 bytes. */
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
