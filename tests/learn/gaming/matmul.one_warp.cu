// expect: instructions of the busiest warp
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    if (threadIdx.y >= 2)
        return;
    for (int r = threadIdx.y; r < 16; r += 2) {
        int row = blockIdx.y * 16 + r, col = blockIdx.x * 16 + threadIdx.x;
        if (row >= m || col >= n)
            continue;
        float sum = 0;
        for (int p = 0; p < k; p++)
            sum += a[row * k + p] * b[p * n + col];
        c[row * n + col] = sum;
    }
}
