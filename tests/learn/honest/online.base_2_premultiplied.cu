// online: every lane keeps a largest m and a sum l of exp(x - m). When m grows, l is rescaled;
// lanes are merged in the same way.
__global__ void online(const float *x, float *out, float scale, int cols)
{
    scale *= 1.44269504f;
    const float *row = x + blockIdx.x * cols;
    float m = -INFINITY, l = 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float s = scale * row[c], larger = fmaxf(m, s);
        l = l * exp2f(m - larger) + exp2f(s - larger);
        m = larger;
    }
    for (int step = 16; step > 0; step /= 2) {
        float other_m = __shfl_xor_sync(0xffffffff, m, step),
              other_l = __shfl_xor_sync(0xffffffff, l, step);
        float larger = fmaxf(m, other_m);
        if (larger > -INFINITY)
            l = l * exp2f(m - larger) + other_l * exp2f(other_m - larger);
        m = larger;
    }
    for (int c = threadIdx.x; c < cols; c += 32)
        out[blockIdx.x * cols + c] = exp2f(scale * row[c] - m) / l;
}
