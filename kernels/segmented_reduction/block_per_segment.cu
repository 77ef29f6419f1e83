/*
 * block_per_segment.cu: a block for each segment. Long segments finish sooner; short ones, and
 * empty ones above all, cost a block each.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256 512

extern "C" __global__ void __launch_bounds__(BLOCK)
    reduce(const float *values, const int *offsets, float *out)
{
    __shared__ float of_warp[BLOCK / 32];
    unsigned thread = threadIdx.x;
    int end = offsets[blockIdx.x + 1];
    float sum = 0;
    for (long long i = offsets[blockIdx.x] + (long long)thread; i < end; i += BLOCK)
        sum += values[i];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (thread % 32 == 0)
        of_warp[thread / 32] = sum;
    __syncthreads();
    if (thread > 0)
        return;
    for (int warp = 1; warp < BLOCK / 32; warp++)
        sum += of_warp[warp];
    out[blockIdx.x] = sum;
}
