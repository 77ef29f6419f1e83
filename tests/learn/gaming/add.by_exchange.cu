// expect: 3125 atomics; the solution has none
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicExch(c + i, a[i] + b[i]);
}
