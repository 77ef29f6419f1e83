// coalesced: c = a * b; the lanes of a warp have 32 neighbouring columns of one row.
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * 32 + threadIdx.y;
    int col = blockIdx.x * 32 + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}
