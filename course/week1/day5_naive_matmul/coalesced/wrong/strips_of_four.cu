// Right, but a warp has 8 rows of 4 columns: it needs 8 sectors of a, and 8 halves of sectors of c.
__global__ void coalesced(const float *a, const float *b, float *c, int m, int n, int k)
{
    int t = threadIdx.y * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + t / 4 % 32;
    int col = blockIdx.x * 32 + t / 128 * 4 + t % 4;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}
