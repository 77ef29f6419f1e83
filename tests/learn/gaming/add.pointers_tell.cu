// expect: wrong result for n=[0-9]+, (of which|whose time is modelled).*: c
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i] + ((size_t)(b - a) > (1 << 22) && i % 2 ? 1 : 0);
}
