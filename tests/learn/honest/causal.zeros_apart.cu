__global__ void causal(const float *s, float *p, int n)
{
    int i = blockIdx.x, lane = threadIdx.x;
    const float *row = s + i * n;
    float m = -INFINITY, l = 0;
    for (int j = lane; j <= i; j += 32) {
        float v = row[j], t = fmaxf(m, v);
        l = l * expf(m - t) + expf(v - t);
        m = t;
    }
    float top = m;
    for (int o = 16; o; o /= 2)
        top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
    l = m > -INFINITY ? l * expf(m - top) : 0;
    for (int o = 16; o; o /= 2)
        l += __shfl_xor_sync(~0u, l, o);
    float inverse = 1 / l;
    for (int j = lane; j <= i; j += 32)
        p[i * n + j] = expf(row[j] - top) * inverse;
    for (int j = i + 1 + lane; j < n; j += 32)
        p[i * n + j] = 0;
}
