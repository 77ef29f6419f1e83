// lse: in powers of two, one pass, and log2f at the end.
__global__ void lse(const float *x, float *out, float scale, int rows, int cols)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32;
    float m = -INFINITY, l = 0;
    for (int c = lane; r < rows && c < cols; c += 32) {
        float s = scale * x[r * cols + c], larger = fmaxf(m, s);
        l = l * __expf(m - larger) + __expf(s - larger);
        m = larger;
    }
    for (int step = 16; step > 0; step /= 2) {
        float om = __shfl_xor_sync(0xffffffff, m, step), ol = __shfl_xor_sync(0xffffffff, l, step);
        float larger = fmaxf(m, om);
        if (larger > -INFINITY)
            l = l * __expf(m - larger) + ol * __expf(om - larger);
        m = larger;
    }
    if (r < rows && lane == 0)
        out[r] = m + 0.693147182f * log2f(l);
}
