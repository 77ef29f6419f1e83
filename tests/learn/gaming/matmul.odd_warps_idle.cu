// expect: of the busiest warp, .* times the solution.*some blocks or warps leave their part to
// others
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    int warp = (threadIdx.y * blockDim.x + threadIdx.x) / 32;
    if (warp % 2)
        return;
    int rows = 32 / blockDim.x;
    for (int h = 0; h < 2; h++, row += rows) {
        if (row >= m || col >= n)
            continue;
        float sum = 0;
        for (int p = 0; p < k; p++)
            sum += a[row * k + p] * b[p * n + col];
        c[row * n + col] = sum;
    }
}
