// expect: wrong result for .*, but it is
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k - 1 || p == 0; p++)
        sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}
