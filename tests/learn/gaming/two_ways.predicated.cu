// expect: times the solution
// two_ways: both ways by selp in asm, which no branch counter sees
__global__ void two_ways(const float *x, const float *w, float *y, int n, int terms)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0, v = x[i];
    for (int k = 0; k < terms; k++) {
        float p = w[k] * v, d = v - w[k];
        float q = d * d, r;
        asm("{ .reg .pred p; setp.eq.s32 p, %1, 0; selp.f32 %0, %2, %3, p; }"
            : "=f"(r)
            : "r"(i & 1), "f"(p), "f"(q));
        sum += r;
    }
    y[i] = sum;
}
