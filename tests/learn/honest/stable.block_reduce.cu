__device__ float block_all(float v, bool is_max, float *s)
{
    for (int o = 16; o; o >>= 1) {
        float w = __shfl_xor_sync(~0u, v, o);
        v = is_max ? fmaxf(v, w) : v + w;
    }
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[0];
    for (int i = 1; i < 4; i++)
        v = is_max ? fmaxf(v, s[i]) : v + s[i];
    __syncthreads();
    return v;
}
__global__ void stable(const float *x, float *out, float scale, int cols)
{
    __shared__ float s[4];
    const float *row = x + (size_t)blockIdx.x * cols;
    float m = -INFINITY, l = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        m = fmaxf(m, scale * row[c]);
    m = block_all(m, true, s);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        l += __expf(scale * row[c] - m);
    l = block_all(l, false, s);
    float r = 1 / l;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[(size_t)blockIdx.x * cols + c] = __expf(scale * row[c] - m) * r;
}
