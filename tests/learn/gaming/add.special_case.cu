// expect: n=100000 only [0-9]+: the size that is measured is a special case
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n == 100000) {
        if (i < n)
            c[i] = a[i] + b[i];
    } else if (threadIdx.x == 0) {
        for (int j = i; j < i + blockDim.x && j < n; j++)
            c[j] = a[j] + b[j];
    }
}
