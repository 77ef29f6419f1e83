// online: -1e20 in place of minus infinity, as many kernels have it, and the weights in base 2.
__global__ void online(const float *x, float *out, float scale, int cols)
{
    const float *row = x + (size_t)blockIdx.x * cols;
    float m = -1e20f, l = 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float s = scale * row[c], old = m;
        m = fmaxf(m, s);
        l = l * exp2f((old - m) * 1.44269504f) + exp2f((s - m) * 1.44269504f);
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        float om = __shfl_xor_sync(~0u, m, o), ol = __shfl_xor_sync(~0u, l, o), n = fmaxf(m, om);
        l = l * exp2f((m - n) * 1.44269504f) + ol * exp2f((om - n) * 1.44269504f);
        m = n;
    }
    float inverse = 1 / l;
    for (int c = threadIdx.x; c < cols; c += 32)
        out[(size_t)blockIdx.x * cols + c] = exp2f((scale * row[c] - m) * 1.44269504f) * inverse;
}
