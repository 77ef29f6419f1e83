/*
 * warp_per_segment.cu: 32 lanes read 32 neighbours of a segment at a time and add up by shuffles.
 * Lines are used whole; a segment shorter than a warp leaves lanes idle.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256 512

extern "C" __global__ void __launch_bounds__(BLOCK)
    reduce(const float *values, const int *offsets, long long segments, float *out)
{
    long long segment = ((long long)blockIdx.x * BLOCK + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (segment >= segments)
        return;
    int end = offsets[segment + 1];
    float sum = 0;
    for (long long i = offsets[segment] + (long long)lane; i < end; i += 32)
        sum += values[i];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0)
        out[segment] = sum;
}
