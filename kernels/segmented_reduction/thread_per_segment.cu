/*
 * thread_per_segment.cu: one thread adds up each segment. Neighbouring threads read far apart
 * unless segments are very short, and a warp lasts as long as its longest segment.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256 512

extern "C" __global__ void __launch_bounds__(BLOCK)
    reduce(const float *values, const int *offsets, long long segments, float *out)
{
    long long segment = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (segment >= segments)
        return;
    float sum = 0;
    for (int i = offsets[segment]; i < offsets[segment + 1]; i++)
        sum += values[i];
    out[segment] = sum;
}
