/*
 * groups.h: what every variant shares: groups of neighbours that get one scale, the error that
 * quantising them makes, and the rules by which a scale is chosen. A group is quantised as family
 * quantise does with a scale that is given: x / scale as a product with 1 / scale, rounded to nearest.
 * Errors are exact f32 differences, squared and added in f64.
 */
#ifndef LOCKSTEP_CALIBRATION_GROUPS_H
#define LOCKSTEP_CALIBRATION_GROUPS_H

#include "quantised.h"

#define RATIOS 64   // of the largest number, from 1 down in steps of 1/80
#define EXPONENTS 20 // of channel scales, from 0 up in steps of 1/20

/* As kernels/calibration/host/calibration.h counts them. */
enum { ABSMAX, PERCENTILE, MSE, AWQ };

struct groups {
    const void *x;            // [rows][cols]
    long long rows, cols;
    long long count, per_row; // of groups: in all, in a row
    long long length;         // of a group; the last of a row may be shorter
    int method;
    float percent;
    const float *means, *logs; // [cols], of AWQ: the inputs' sizes; their logarithms, centred
};

struct group {
    long long from, length; // in x
};
static __device__ __forceinline__ group group_at(const groups &g, long long number)
{
    if (g.per_row == 0) // one group for everything
        return group{0, g.rows * g.cols};
    long long row = number / g.per_row, col = (number - row * g.per_row) * g.length;
    long long end = min(col + g.length, g.cols);
    return group{row * g.cols + col, end - col};
}

static __device__ __forceinline__ float ratio_of(int i)
{
    return __fdiv_rn((float)(80 - i), 80.0f);
}

static __device__ __forceinline__ double sum_lanes_of(double x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

/* One number's share of the error. */
template <class F>
static __device__ __forceinline__ double error_of(float x, float factor, float scale)
{
    float four[4] = {x * factor, 0, 0, 0};
    F::unpack(F::pack(four), four);
    float d = __fadd_rn(x, -__fmul_rn(four[0], scale));
    return fabsf(x) < INFINITY ? (double)d * d : 0.0;
}

/* How many of `count` numbers a percentile keeps. */
static __device__ __forceinline__ long long kept_of(long long count, float percent)
{
    return (long long)ceil((double)count * ((double)percent / 100));
}

/* Is this error the better one? A later candidate must be better by more than noise. */
static __device__ __forceinline__ bool is_better(double error, double than, double by)
{
    return error < than * (1 - by);
}
#define BY_A_MILLIONTH 0x1p-20
#define BY_A_THOUSANDTH 0x1p-10

/* AWQ: scale of a channel for exponent number `e`, from the centred logarithm of its mean. */
static __device__ __forceinline__ float channel_scale(float log, int e)
{
    return power_of_two(__fmul_rn(log, __fdiv_rn((float)e, (float)EXPONENTS)));
}

/* The last steps of AWQ -------------------------------------------------------------------------*/

/* One block: logarithms of all means, from their geometric middle. Means far below the largest count
 * as 2^-20 of it. */
static __device__ __forceinline__ void centre_logs(const float *means, float *logs, long long cols)
{
    __shared__ float of_warp[32];
    float largest = 0, smallest = INFINITY;
    for (long long j = threadIdx.x; j < cols; j += blockDim.x)
        largest = fmaxf(largest, finite_size(means[j]));
    largest = max_block(largest, of_warp);
    for (long long j = threadIdx.x; j < cols; j += blockDim.x)
        smallest = fminf(smallest, fmaxf(finite_size(means[j]), largest * 0x1p-20f));
    smallest = -max_block(-smallest, of_warp);
    float middle = 0.5f * (__log2f(largest) + __log2f(smallest));
    for (long long j = threadIdx.x; j < cols; j += blockDim.x)
        logs[j] = largest > 0x1p-100f
                      ? __log2f(fmaxf(finite_size(means[j]), largest * 0x1p-20f)) - middle
                      : 0.0f;
}

/* errors is [EXPONENTS][count], of each group: a block adds up those of its exponent. */
static __device__ __forceinline__ void add_errors(const double *errors, long long count, double *sums)
{
    __shared__ double of_warp[32];
    double mine = 0;
    for (long long i = threadIdx.x; i < count; i += blockDim.x)
        mine += errors[blockIdx.x * count + i];
    mine = sum_lanes_of(mine);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int w = 1; w < (int)blockDim.x / 32; w++)
        mine += of_warp[w];
    sums[blockIdx.x] = mine;
}

static __device__ __forceinline__ void write_channels(const double *sums, const float *logs,
                                                      float *scales, long long cols)
{
    int best = 0;
    for (int e = 1; e < EXPONENTS; e++)
        if (is_better(sums[e], sums[best], BY_A_THOUSANDTH))
            best = e;
    long long j = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (j < cols)
        scales[j] = channel_scale(logs[j], best);
}

/* The kernels' names ----------------------------------------------------------------------------*/

#define GROUPS                                                                                     \
    groups                                                                                         \
    {                                                                                              \
        x, rows, cols, count, per_row, length, method, percent, means, logs                        \
    }
#define GROUP_ARGUMENTS                                                                            \
    const void *x, long long rows, long long cols, long long count, long long per_row,             \
        long long length, int method, float percent, const float *means, const float *logs

#define OF_TYPES(KERNEL, name, F)                                                                  \
    KERNEL(name##_f32, F, float)                                                                   \
    KERNEL(name##_f16, F, f16)                                                                     \
    KERNEL(name##_bf16, F, bf16)
#define OF_FORMATS(KERNEL, name)                                                                   \
    OF_TYPES(KERNEL, name##_e4m3, E4M3)                                                            \
    OF_TYPES(KERNEL, name##_e5m2, E5M2)                                                            \
    OF_TYPES(KERNEL, name##_int8, Int8)                                                            \
    OF_TYPES(KERNEL, name##_int4, Int4)

/* By a warp for each group; for AWQ and each exponent, whose errors go to `errors`. */
#define BY_WARPS(name, F, T)                                                                       \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(GROUP_ARGUMENTS, float *scales, double *errors)                                       \
    {                                                                                              \
        long long number = ((long long)blockIdx.x * BLOCK + threadIdx.x) / 32;                     \
        if (number < count)                                                                        \
            calibrate<F, T>(GROUPS, number, scales, errors);                                       \
    }

#define AWQ_KERNELS                                                                                \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        centre(const float *means, float *logs, long long cols)                                    \
    {                                                                                              \
        centre_logs(means, logs, cols);                                                            \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        add_up(const double *errors, long long count, double *sums)                                \
    {                                                                                              \
        add_errors(errors, count, sums);                                                           \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                              \
        channels(const double *sums, const float *logs, float *scales, long long cols)             \
    {                                                                                              \
        write_channels(sums, logs, scales, cols);                                                  \
    }

#endif
