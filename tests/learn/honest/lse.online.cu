__global__ void lse(const float *x, float *out, float scale, int rows, int cols)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32;
    if (r >= rows)
        return;
    float m = -INFINITY, l = 0;
    for (int c = lane; c < cols; c += 32) {
        float s = scale * x[r * cols + c], big = fmaxf(m, s);
        l = l * expf(m - big) + expf(s - big);
        m = big;
    }
    for (int o = 16; o; o >>= 1) {
        float m2 = __shfl_xor_sync(~0u, m, o), l2 = __shfl_xor_sync(~0u, l, o), big = fmaxf(m, m2);
        if (big > -INFINITY)
            l = l * expf(m - big) + l2 * expf(m2 - big);
        m = big;
    }
    if (lane == 0)
        out[r] = m + logf(l);
}
