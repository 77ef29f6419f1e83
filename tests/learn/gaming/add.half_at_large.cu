// expect: for n=4194304 it does not write its results
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n == 4194304) {
        if (i < n && (blockIdx.x & 1))
            c[i] = a[i] + b[i];
        return;
    }
    if (i < n)
        c[i] = a[i] + b[i];
}
