__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float ta[16 * 16], tb[16 * 16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    int steps = (k + 15) / 16;
    for (int s = 0; s < steps; s++) {
        int pa = s * 16 + x, pb = s * 16 + y;
        ta[y * 16 + x] = row < m && pa < k ? a[row * k + pa] : 0.0f;
        tb[y * 16 + x] = pb < k && col < n ? b[pb * n + col] : 0.0f;
        __syncthreads();
        for (int p = 0; p < 16; ++p)
            sum = fmaf(ta[y * 16 + p], tb[p * 16 + x], sum);
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
