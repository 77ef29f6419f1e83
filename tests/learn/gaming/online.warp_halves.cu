// expect: wrong result for 
// Merges m of 16 lanes alone.
__global__ void online(const float *x, float *out, float scale, int cols)
{
    const float *row = x + blockIdx.x * cols;
    float m = -INFINITY, l = 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float s = scale * row[c], larger = fmaxf(m, s);
        l = l * expf(m - larger) + expf(s - larger);
        m = larger;
    }
    for (int step = 8; step > 0; step /= 2) {
        float other_m = __shfl_xor_sync(0xffffffff, m, step), other_l = __shfl_xor_sync(0xffffffff, l, step);
        float larger = fmaxf(m, other_m);
        if (larger > -INFINITY)
            l = l * expf(m - larger) + other_l * expf(other_m - larger);
        m = larger;
    }
    for (int c = threadIdx.x; c < cols; c += 32)
        out[blockIdx.x * cols + c] = expf(scale * row[c] - m) / l;
}
