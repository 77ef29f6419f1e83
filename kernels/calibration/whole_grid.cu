/*
 * whole_grid.cu: one scale for everything, by all blocks together: the largest number by atomics; a
 * percentile in three rounds of a histogram, of 11, 11 and 9 bits of the numbers' sizes; the errors of
 * all ratios from one read, in parts that are then added in a fixed order.
 */
// arch: sm_90
#include "groups.h"

#define BLOCK 256 // tune: 128 256 512
#define BINS 2048
#define EACH 8 // numbers that a thread has while all ratios are tried

/* In the workspace, cleared before the first launch. */
struct state {
    unsigned largest;             // bits
    unsigned prefix;              // bits of the percentile that are known
    long long wanted;             // numbers that are still to come before it
    unsigned long long bin[BINS]; // how many numbers of this round
};

/* The bits that a round sorts by, counted from the lowest, and how many were sorted before. */
static __device__ __forceinline__ int shift_of(int round)
{
    return round == 0 ? 20 : round == 1 ? 9 : 0;
}
static __device__ __forceinline__ int bins_of(int round)
{
    return round == 2 ? 512 : 2048;
}

template <class T>
static __device__ __forceinline__ void find_largest(const T *x, long long n, state *s)
{
    __shared__ float of_warp[32];
    float size = 0;
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < n;
         i += (long long)gridDim.x * BLOCK)
        size = fmaxf(size, finite_size(widen(x[i])));
    size = max_block(size, of_warp);
    if (threadIdx.x == 0)
        atomicMax(&s->largest, __float_as_uint(size));
}

template <class T>
static __device__ __forceinline__ void count_bins(const T *x, long long n, int round, state *s)
{
    __shared__ unsigned mine[BINS];
    int shift = shift_of(round), bins = bins_of(round), above = round == 0 ? 31 : shift_of(round - 1);
    for (int b = threadIdx.x; b < bins; b += BLOCK)
        mine[b] = 0;
    __syncthreads();
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < n;
         i += (long long)gridDim.x * BLOCK) {
        unsigned bits = __float_as_uint(fabsf(widen(x[i])));
        if (bits < 0x7f800000 && bits >> above == s->prefix >> above)
            atomicAdd(&mine[bits >> shift & (bins - 1)], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += BLOCK)
        if (mine[b])
            atomicAdd(&s->bin[b], (unsigned long long)mine[b]);
}

/* One warp: which bin the wanted number is in. The first round also learns how many there are. */
static __device__ __forceinline__ void pick_bin(state *s, int round, float percent)
{
    int lane = threadIdx.x, bins = bins_of(round), per = bins / 32, b = lane * per;
    long long mine = 0, before = 0;
    for (int k = 0; k < per; k++)
        mine += (long long)s->bin[b + k];
    for (int k = 0; k < 32; k++) {
        long long theirs = __shfl_sync(0xffffffff, mine, k);
        before += k < lane ? theirs : 0;
    }
    long long all = __shfl_sync(0xffffffff, before + mine, 31);
    long long wanted = round == 0 ? kept_of(all, percent) : s->wanted;
    __syncwarp();
    if (wanted > before && wanted <= before + mine) { // in one lane, or in none if there are no numbers
        while (wanted > before + (long long)s->bin[b])
            before += (long long)s->bin[b++];
        s->prefix |= (unsigned)b << shift_of(round);
        s->wanted = wanted - before;
    }
    __syncwarp();
    for (int k = lane; k < BINS; k += 32)
        s->bin[k] = 0;
}

/* Of all ratios, for this block's numbers: parts is [blocks][RATIOS]. */
template <class F, class T>
static __device__ __forceinline__ void try_ratios(const T *x, long long n, const state *s,
                                                  double *parts)
{
    __shared__ double of_warp[BLOCK / 32][RATIOS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float size = __uint_as_float(s->largest);
    for (int r = lane; r < RATIOS; r += 32)
        of_warp[warp][r] = 0;
    __syncwarp();
    for (long long from = (long long)blockIdx.x * BLOCK * EACH; from < n;
         from += (long long)gridDim.x * BLOCK * EACH) {
        float v[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            long long i = from + k * BLOCK + threadIdx.x;
            v[k] = i < n ? widen(x[i]) : 0.0f;
        }
#pragma unroll 1
        for (int r = 0; r < RATIOS; r++) {
            float scale = quantiser_to(F::LARGEST, __fmul_rn(size, ratio_of(r))).scale;
            float factor = __fdiv_rn(1, scale);
            double error = 0;
#pragma unroll
            for (int k = 0; k < EACH; k++)
                error += error_of<F>(v[k], factor, scale);
            error = sum_lanes_of(error);
            if (lane == 0)
                of_warp[warp][r] += error;
        }
    }
    __syncthreads();
    for (int r = threadIdx.x; r < RATIOS; r += BLOCK) {
        double sum = 0;
        for (int w = 0; w < BLOCK / 32; w++)
            sum += of_warp[w][r];
        parts[(long long)blockIdx.x * RATIOS + r] = sum;
    }
}

/* One block of RATIOS threads. */
static __device__ __forceinline__ void pick_ratio(const state *s, const double *parts, int blocks,
                                                  float target, float *scale)
{
    __shared__ double sums[RATIOS];
    double sum = 0;
    for (int b = 0; b < blocks; b++)
        sum += parts[(long long)b * RATIOS + threadIdx.x];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    int best = 0;
    for (int r = 1; r < RATIOS; r++)
        if (is_better(sums[r], sums[best], BY_A_MILLIONTH))
            best = r;
    *scale = quantiser_to(target, __fmul_rn(__uint_as_float(s->largest), ratio_of(best))).scale;
}

#define BY_TYPE(type, T)                                                                           \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        largest_##type(const T *x, long long n, state *s)                                          \
    {                                                                                              \
        find_largest(x, n, s);                                                                     \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        bins_##type(const T *x, long long n, int round, state *s)                                  \
    {                                                                                              \
        count_bins(x, n, round, s);                                                                \
    }
BY_TYPE(f32, float)
BY_TYPE(f16, f16)
BY_TYPE(bf16, bf16)

extern "C" __global__ void __launch_bounds__(32) pick(state *s, int round, float percent)
{
    pick_bin(s, round, percent);
}
/* From the largest number, or from the percentile. */
extern "C" __global__ void finish(const state *s, int percentile, float target, float *scale)
{
    *scale = quantiser_to(target, __uint_as_float(percentile ? s->prefix : s->largest)).scale;
}
#define RATIO_KERNEL(name, F, T)                                                                   \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(const T *x, long long n, const state *s, double *parts)                               \
    {                                                                                              \
        try_ratios<F, T>(x, n, s, parts);                                                          \
    }
OF_FORMATS(RATIO_KERNEL, ratios)
extern "C" __global__ void __launch_bounds__(RATIOS)
    best_ratio(const state *s, const double *parts, int blocks, float target, float *scale)
{
    pick_ratio(s, parts, blocks, target, scale);
}
