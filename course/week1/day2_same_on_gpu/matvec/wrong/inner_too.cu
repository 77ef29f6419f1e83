// The inner loop has become threads as well: each adds one product, and the sums are lost.
__global__ void matvec(const float *a, const float *x, float *y, int m, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        int p = threadIdx.x % k;
        y[i] = a[i * k + p] * x[p];
    }
}
