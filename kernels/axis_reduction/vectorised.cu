/*
 * vectorised.cu: 16-byte loads that bypass the L1, UNROLL of them in flight per thread (sums.h). The
 * shape decides who does what: a row goes to as many lanes as it has work for, from one to a block;
 * columns go to lanes by fours, and in a narrow plane a warp takes several rows. Small planes go to
 * one thread per output.
 */
// arch: sm_75
#include "sums.h"

#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 2 4 8

// 1 << log_lanes lanes, 32 at most, for each row.
extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    rows(const float *in, long long rows, long long length, unsigned log_lanes, float *out)
{
    long long row = ((long long)blockIdx.x * BLOCK + threadIdx.x) >> log_lanes;
    unsigned lanes = 1u << log_lanes, me = threadIdx.x & (lanes - 1);
    float sum = row < rows ? sum_share<UNROLL>(in + row * length, length, me, lanes) : 0;
    sum = sum_lanes(sum, lanes);
    if (row < rows && me == 0)
        out[row] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    long_rows(const float *in, long long length, float *out)
{
    const float *row = in + (long long)blockIdx.x * length;
    float sum = sum_block(sum_share<UNROLL>(row, length, threadIdx.x, BLOCK));
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    outputs(const float *in, long long outer, long long middle, long long inner, float *out)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= outer * inner)
        return;
    const float *at = in + i / inner * middle * inner + i % inner;
    float sum = 0;
#pragma unroll 4
    for (long long k = 0; k < middle; k++)
        sum += at[k * inner];
    out[i] = sum;
}

template <class V>
static __device__ __forceinline__ void columns(const float *in, long long middle, long long inner,
                                               unsigned tiles, unsigned wide, float *out)
{
    const unsigned width = sizeof(V) / sizeof(float);
    long long plane = blockIdx.x / tiles, first = (long long)(blockIdx.x % tiles) * wide * width;
    V sum = sum_columns<V, BLOCK, UNROLL>(in + plane * middle * inner, 0, middle, inner, first,
                                          wide);
    long long column = first + threadIdx.x * width;
    if (threadIdx.x < wide && column < inner)
        store(&out[plane * inner + column], 1, sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    columns_1(const float *in, long long middle, long long inner, unsigned tiles, unsigned wide,
              float *out)
{
    columns<float>(in, middle, inner, tiles, wide, out);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    columns_4(const float *in, long long middle, long long inner, unsigned tiles, unsigned wide,
              float *out)
{
    columns<float4>(in, middle, inner, tiles, wide, out);
}
