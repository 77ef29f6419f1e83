// Reads well, and writes the result as if it lay column by column.
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * 32 + threadIdx.y;
    int col = blockIdx.x * 32 + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + col];
    c[col * m + row] = sum;
}
