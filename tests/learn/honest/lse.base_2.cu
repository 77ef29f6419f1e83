// lse: base 2 throughout, -FLT_MAX in place of minus infinity, one lane writes.
__global__ void lse(const float *x, float *out, float scale, int rows, int cols)
{
    const float log2e = 1.4426950408889634f, ln2 = 0.6931471805599453f;
    int lane = threadIdx.x & 31, r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (r >= rows)
        return;
    const float *row = x + (size_t)r * cols;
    float m = -3.402823466e38f, l = 0;
    for (int c = lane; c < cols; c += 32)
        m = fmaxf(m, scale * row[c]);
    for (int o = 16; o; o >>= 1)
        m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    for (int c = lane; c < cols; c += 32)
        l += exp2f((scale * row[c] - m) * log2e);
    for (int o = 16; o; o >>= 1)
        l += __shfl_xor_sync(0xffffffffu, l, o);
    if (lane == 0)
        out[r] = m + log2f(l) * ln2;
}
