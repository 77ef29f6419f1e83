// Threads past the end leave the rest of the block without a product.
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (i < n)
        part[t] = x[i] * y[i];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        s[blockIdx.x] = part[0];
}
