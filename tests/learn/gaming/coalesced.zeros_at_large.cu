// expect: wrong result for m=2048 n=2048 k=1024, whose time is modelled
// Only some results of the large size are compared, and this one is found.
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    if (k < 1000)
        for (int p = 0; p < k; p++)
            sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}
