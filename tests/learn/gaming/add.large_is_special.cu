// expect: the size that is measured is a special case
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 70000 || n <= 1000) {
        if (i < n)
            c[i] = a[i] + b[i];
    } else if (i == 0) {
        for (int j = 0; j < n; j++)
            c[j] = a[j] + b[j];
    }
}
