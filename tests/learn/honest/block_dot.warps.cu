__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ float part[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = i < n ? x[i] * y[i] : 0;
    for (int o = 16; o; o >>= 1)
        v += __shfl_down_sync(0xffffffff, v, o);
    if (t % 32 == 0)
        part[t / 32] = v;
    __syncthreads();
    if (t < 8) {
        v = part[t];
        for (int o = 4; o; o >>= 1)
            v += __shfl_down_sync(0xff, v, o);
        if (t == 0)
            s[blockIdx.x] = v;
    }
}
