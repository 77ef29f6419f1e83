// expect: divergent barrier
// A barrier that half of the threads reach.
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] * y[i] : 0;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
        {
            part[t] += part[t + half];
            __syncthreads();
        }
    }
    if (t == 0)
        s[blockIdx.x] = part[0];
}
