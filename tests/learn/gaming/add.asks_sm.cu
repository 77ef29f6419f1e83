// expect: wrong result for n=[0-9]+: c
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (i < n)
        c[i] = a[i] + b[i] + (sm > 60 ? 1 : 0);
}
