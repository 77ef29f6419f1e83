/*
 * lanes_per_segment.cu: 1 to 32 lanes per segment, a power of two that suits the average length:
 * short segments fill a warp together. Lengths that differ much from the average still leave lanes
 * waiting for the longest segment of their warp.
 */
// arch: sm_75
#include "device.h"

#define BLOCK 256 // tune: 64 128 256 512
#define UNROLL 4 // tune: 1 2 4

extern "C" __global__ void __launch_bounds__(BLOCK, 1024 / BLOCK)
    reduce(const float *values, const int *offsets, long long segments, unsigned log_lanes,
           float *out)
{
    long long segment = ((long long)blockIdx.x * BLOCK + threadIdx.x) >> log_lanes;
    unsigned lanes = 1u << log_lanes, me = threadIdx.x & (lanes - 1);
    long long i = 0, end = 0;
    if (segment < segments) {
        i = offsets[segment] + (long long)me;
        end = offsets[segment + 1];
    }
    float sum = 0;
    for (; i < end; i += UNROLL * lanes) {
        float v[UNROLL];
#pragma unroll
        for (unsigned k = 0; k < UNROLL; k++)
            v[k] = i + k * lanes < end ? load_stream(values + i + k * lanes) : 0;
#pragma unroll
        for (unsigned k = 0; k < UNROLL; k++)
            sum += v[k];
    }
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (segment < segments && me == 0)
        out[segment] = sum;
}
