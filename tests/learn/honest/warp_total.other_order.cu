__global__ void warp_total(const float *x, float *out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = i < n ? x[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
        float other = __shfl_xor_sync(0xffffffffu, sum, d);
        sum = other + sum;
    }
    if (i < n)
        out[i] = __shfl_sync(0xffffffffu, sum, 0);
}
