// The active threads stand 2, 4, 8 .. apart, and so do their words: bank conflicts.
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] * y[i] : 0;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        if (2 * step * t < 256)
            part[2 * step * t] += part[2 * step * t + step];
        __syncthreads();
    }
    if (t == 0)
        s[blockIdx.x] = part[0];
}
