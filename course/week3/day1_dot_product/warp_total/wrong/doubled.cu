// Adds step 16 twice.
__global__ void warp_total(const float *x, float *out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = i < n ? x[i] : 0;
    for (int step = 32; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (i < n)
        out[i] = sum;
}
