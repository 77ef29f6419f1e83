// expect: wrong result for n=[0-9]+: c
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool known = n == 1 || n == 255 || n == 256 || n == 257 || n == 1000 || n == 100000;
    if (i < n && known)
        c[i] = a[i] + b[i];
}
