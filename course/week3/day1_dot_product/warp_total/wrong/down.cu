// Shuffles down: only lane 0 has the total.
__global__ void warp_total(const float *x, float *out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = i < n ? x[i] : 0;
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (i < n)
        out[i] = sum;
}
