// expect: by the busiest warp, 2 times the solution.*some blocks or warps leave their part to
// others
__global__ void add(const float *a, const float *b, float *c, int n)
{
    if (blockIdx.x % 2)
        return;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
    i += blockDim.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
