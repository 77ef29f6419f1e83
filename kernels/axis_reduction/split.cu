/*
 * split.cu: for few outputs and a long axis: the axis is cut into pieces of `length`, one for each
 * row of blocks, so that all SMs work on every output. The sums of the pieces lie side by side in the
 * workspace, and a second kernel adds them in a fixed order: the same input gives the same bits.
 */
// arch: sm_75
#include "sums.h"

#define BLOCK 256 // tune: 128 256 512
#define UNROLL 4 // tune: 2 4 8
#define BLOCKS_PER_SM 4 // tune: 2 4 8

// parts[outputs][pieces], or the outputs themselves if there is one piece.
extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    rows(const float *in, long long middle, long long length, float *parts)
{
    long long from = blockIdx.y * length, count = min(length, middle - from);
    const float *row = in + (long long)blockIdx.x * middle;
    float sum = sum_block(sum_share<UNROLL>(row + from, count, threadIdx.x, BLOCK));
    if (threadIdx.x == 0)
        parts[(long long)blockIdx.x * gridDim.y + blockIdx.y] = sum;
}

template <class V>
static __device__ __forceinline__ void columns(const float *in, long long middle, long long inner,
                                               unsigned tiles, unsigned wide, long long length,
                                               float *parts)
{
    const unsigned width = sizeof(V) / sizeof(float);
    long long plane = blockIdx.x / tiles, first = (long long)(blockIdx.x % tiles) * wide * width;
    long long from = blockIdx.y * length, to = min(from + length, middle);
    V sum = sum_columns<V, BLOCK, UNROLL>(in + plane * middle * inner, from, to, inner, first,
                                          wide);
    long long column = first + threadIdx.x * width;
    if (threadIdx.x < wide && column < inner)
        store(&parts[(plane * inner + column) * gridDim.y + blockIdx.y], gridDim.y, sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    columns_1(const float *in, long long middle, long long inner, unsigned tiles, unsigned wide,
              long long length, float *parts)
{
    columns<float>(in, middle, inner, tiles, wide, length, parts);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    columns_4(const float *in, long long middle, long long inner, unsigned tiles, unsigned wide,
              long long length, float *parts)
{
    columns<float4>(in, middle, inner, tiles, wide, length, parts);
}

// A warp for each output.
extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    combine(const float *parts, long long outputs, unsigned pieces, float *out)
{
    long long output = ((long long)blockIdx.x * BLOCK + threadIdx.x) / 32;
    unsigned lane = threadIdx.x % 32;
    if (output >= outputs)
        return;
    float sum = 0;
    for (unsigned k = lane; k < pieces; k += 32)
        sum += parts[output * pieces + k];
    sum = sum_lanes(sum, 32);
    if (lane == 0)
        out[output] = sum;
}
