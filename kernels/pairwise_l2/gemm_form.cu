/*
 * gemm_form.cu: |x - y|^2 = |x|^2 + |y|^2 - 2 x y. A first kernel computes the squared lengths;
 * what remains for each pair is a dot product, half the instructions of differences and squares.
 * The product is a matmul with tiles in registers, fed by cp.async. Both tiles hold their vectors
 * as they lie in memory, and a thread reads four elements of each at once. The price: for points
 * near each other and far from 0 most digits cancel. What rounding makes negative becomes 0.
 */
// arch: sm_80
#include "device.h" /* copy_async_.. */
#define BM 64 // tune: 64 128
#define BN 128 // tune: 64 128
#define BK 16 // tune: 8 16 32
#define TM 8 // tune: 4 8
#define TN 8 // tune: 4 8
#define STAGES 3 // tune: 2 3 4
#define THREADS (BM / TM * (BN / TN))
#define WARPS_ACROSS (BN / (4 * TN)) /* a warp is 8 threads high and 4 wide */
#define CHUNKS (BK / 4)              /* of 16 bytes, in a row of a tile */
#define STAGE ((BM + BN) * BK)       /* floats of a stage: x's tile, then y's */
#define RESIDENT (384 / THREADS ? 384 / THREADS : 1) /* blocks, at 168 registers a thread */
#if BM % (8 * TM) || BN % (4 * TN) || BM % (THREADS / CHUNKS) || BN % (THREADS / CHUNKS) ||        \
    THREADS / CHUNKS % 8
#error "the tiles do not come out even"
#endif

/* lengths[n + m] = |x|^2 of every vector of x, then of y: a warp for each. */
extern "C" __global__ void lengths(const float *x, const float *y, float *lengths, long long n,
                                   long long m, long long d)
{
    long long vector = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (vector >= n + m)
        return;
    const float *at = vector < n ? x + vector * d : y + (vector - n) * d;
    float sum = 0;
    for (long long l = threadIdx.x % 32; l < d; l += 32)
        sum = fmaf(at[l], at[l], sum);
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    if (threadIdx.x % 32 == 0)
        lengths[vector] = sum;
}

/* Copying ---------------------------------------------------------------------------------------*/

/* Chunk i of a row lies at place i ^ swizzle_of(row): in eight rows, one below the other, the same
 * chunk has eight different places within 128 bytes. */
static __device__ __forceinline__ unsigned swizzle_of(unsigned row)
{
    return row * BK / 32 % CHUNKS;
}

/* What a thread copies of a tile: one chunk of every ROWS-th vector. Vectors past the last are
 * replaced by it: their distances are not stored. */
#define ROWS (THREADS / CHUNKS)
struct copier {
    const float *at[(BM > BN ? BM : BN) / ROWS]; /* its chunks of the next stage */
    unsigned to;                                 /* shared address of the first, within a stage */
};

template <int VECTORS>
static __device__ __forceinline__ copier copier_of(const float *p, long long count, long long d,
                                                   long long first, unsigned tile)
{
    copier copy;
    unsigned row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
#pragma unroll
    for (unsigned t = 0; t < VECTORS / ROWS; t++)
        copy.at[t] = p + min(first + row + t * ROWS, count - 1) * d + chunk * 4;
    copy.to = tile + (row * CHUNKS + (chunk ^ swizzle_of(row))) * 16;
    return copy;
}

/* Starts a tile's next stage, of which `left` elements of each vector are there (BK, but for the
 * last stage) and the others zero. WIDE: every vector begins at a multiple of 16 bytes. */
template <bool WIDE, int VECTORS>
static __device__ __forceinline__ void copy_tile(copier *copy, unsigned stage, unsigned left)
{
    unsigned element = threadIdx.x % CHUNKS * 4;
#pragma unroll
    for (unsigned t = 0; t < VECTORS / ROWS; t++) {
        unsigned to = copy->to + stage + t * ROWS * BK * 4;
        if (WIDE) {
            copy_async_16_to(to, copy->at[t], element < left ? 16 : 0);
        } else {
#pragma unroll
            for (unsigned e = 0; e < 4; e++)
                copy_async_4_to(to + e * 4, copy->at[t] + e, element + e < left ? 4 : 0);
        }
        copy->at[t] += BK;
    }
}

template <bool WIDE>
static __device__ __forceinline__ void copy_stage(copier *x, copier *y, unsigned stage,
                                                  unsigned left)
{
    copy_tile<WIDE, BM>(x, stage * STAGE * 4, left);
    copy_tile<WIDE, BN>(y, stage * STAGE * 4, left);
}

/* Multiplying -----------------------------------------------------------------------------------*/

/* Four elements of a thread's vectors: those of x are 8 apart, those of y are groups of four that
 * are 16 apart. x_tile and y_tile point to the first ones. */
static __device__ __forceinline__ void multiply_chunk(const float *x_tile, const float *y_tile,
                                                      unsigned chunk, unsigned swizzle_x,
                                                      unsigned swizzle_y, float sum[TM][TN])
{
    __align__(16) float of_x[TM][4], of_y[TN][4];
#pragma unroll
    for (unsigned i = 0; i < TM; i++)
        *(float4 *)of_x[i] = *(const float4 *)(x_tile + i * 8 * BK + (chunk ^ swizzle_x) * 4);
#pragma unroll
    for (unsigned j = 0; j < TN; j++)
        *(float4 *)of_y[j] = *(const float4 *)(y_tile + (j % 4 + j / 4 * 16) * BK +
                                               (chunk ^ swizzle_of(j % 4) ^ swizzle_y) * 4);
#pragma unroll
    for (unsigned l = 0; l < 4; l++)
#pragma unroll
        for (unsigned t = 0; t < TM * TN; t++)
            sum[t / TN][t % TN] = fmaf(of_x[t / TN][l], of_y[t % TN][l], sum[t / TN][t % TN]);
}

static __device__ __forceinline__ void multiply_stage(const float *stage, unsigned down,
                                                      unsigned across, float sum[TM][TN])
{
    const float *x_tile = stage + down * BK, *y_tile = stage + (BM + across) * BK;
#pragma unroll
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++)
        multiply_chunk(x_tile, y_tile, chunk, swizzle_of(down), swizzle_of(across), sum);
}

/* From products to distances --------------------------------------------------------------------*/

static __device__ __forceinline__ float distance(float of_x, float of_y, float product)
{
    float value = fmaf(-2.0f, product, of_x + of_y);
    return value < 0 ? 0.0f : value; /* NaN stays */
}

/* Stores four distances of a row, those that are inside: `left` columns. */
template <bool WIDE>
static __device__ __forceinline__ void store_four(float *out, const float *of_y, float of_x,
                                                  const float product[4], long long left)
{
    if (WIDE) {
        __stcs((float4 *)out, make_float4(distance(of_x, of_y[0], product[0]),
                                          distance(of_x, of_y[1], product[1]),
                                          distance(of_x, of_y[2], product[2]),
                                          distance(of_x, of_y[3], product[3])));
    } else {
#pragma unroll
        for (unsigned e = 0; e < 4; e++)
            if (e < left)
                out[e] = distance(of_x, of_y[e], product[e]);
    }
}

struct problem {
    const float *x, *y, *lengths;
    float *out;
    long long n, m, d;
};

template <bool WIDE> static __device__ __forceinline__ void pairwise(problem p)
{
    extern __shared__ __align__(16) float stages[]; // [STAGES][STAGE]
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, shared = shared_address(stages);
    unsigned down = warp / WARPS_ACROSS * (8 * TM) + lane / 2 % 8;
    unsigned across = warp % WARPS_ACROSS * (4 * TN) + (lane % 2 + lane / 16 * 2) * 4;
    unsigned d = p.d, next = 0, now = 0, into = STAGES - 1;
    long long row = (long long)blockIdx.x * BM, column = (long long)blockIdx.y * BN;
    copier x = copier_of<BM>(p.x, p.n, d, row, shared);
    copier y = copier_of<BN>(p.y, p.m, d, column, shared + BM * BK * 4);
    float sum[TM][TN] = {};
    /* Where nothing is left to copy the group is empty, so that the count of groups stays right. */
#pragma unroll
    for (unsigned stage = 0; stage < STAGES - 1; stage++, next += BK) {
        if (next < d)
            copy_stage<WIDE>(&x, &y, stage, d - next);
        copy_async_commit();
    }
    for (unsigned from = 0; from < d; from += BK, next += BK) {
        copy_async_wait(STAGES - 2);
        __syncthreads(); /* this stage is here for all, and nobody reads the one before it any more */
        if (next + BK <= d)
            copy_stage<WIDE>(&x, &y, into, BK);
        else if (next < d)
            copy_stage<WIDE>(&x, &y, into, d - next);
        copy_async_commit();
        multiply_stage(stages + now * STAGE, down, across, sum);
        into = now;
        now = now + 1 == STAGES ? 0 : now + 1;
    }
    row += down;
    column += across;
#pragma unroll
    for (unsigned i = 0; i < TM; i++)
#pragma unroll
        for (unsigned j = 0; j < TN / 4; j++)
            if (row + i * 8 < p.n && column + j * 16 < p.m)
                store_four<WIDE>(p.out + (row + i * 8) * p.m + column + j * 16,
                                 p.lengths + p.n + column + j * 16, p.lengths[row + i * 8],
                                 &sum[i][j * 4], p.m - column - j * 16);
}

/* Vectors and rows of out begin at multiples of 16 bytes. */
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
pairwise_wide(const float *x, const float *y, const float *lengths, float *out, long long n,
              long long m, long long d)
{
    pairwise<true>({x, y, lengths, out, n, m, d});
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
pairwise_any(const float *x, const float *y, const float *lengths, float *out, long long n,
             long long m, long long d)
{
    pairwise<false>({x, y, lengths, out, n, m, d});
}
