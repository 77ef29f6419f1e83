// Swaps the blocks as well: fine for a grid that is square only.
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.x * 32 + threadIdx.y;
    int col = blockIdx.y * 32 + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}
