// Takes the number of blocks for the size of one.
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * gridDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
