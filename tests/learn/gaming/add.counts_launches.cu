// expect: wrong result for n=[0-9]+: c
__device__ int launches;
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i] + (launches > 9 ? 1 : 0);
    if (i == 0)
        launches++;
}
