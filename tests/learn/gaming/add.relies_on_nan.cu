// expect: wrong result for n=[0-9]+: c.* but it was never written
// What outputs hold before the launch is nobody's promise.
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && c[i] != c[i])
        c[i] = a[i] + b[i];
}
