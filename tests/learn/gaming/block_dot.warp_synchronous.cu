// expect: race between threads of a warp
// block_dot: the dot product of each block of 256 elements, by halving in shared memory.
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] * y[i] : 0;
    __syncthreads();
    for (int half = 128; half > 32; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    volatile float *v = part;
    if (t < 32) {
        v[t] += v[t + 32];
        v[t] += v[t + 16];
        v[t] += v[t + 8];
        v[t] += v[t + 4];
        v[t] += v[t + 2];
        v[t] += v[t + 1];
    }
    if (t == 0)
        s[blockIdx.x] = part[0];
}
