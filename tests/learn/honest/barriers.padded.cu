__global__ void barriers(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float at[16][17], bt[16][17];
    int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * 16, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < k; first += 16) {
        __syncthreads();
        at[y][x] = first + y < k && top + x < m ? a[(first + y) * m + top + x] : 0;
        bt[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncthreads();
        for (int p = 0; p < 16; p++)
            sum += at[p][y] * bt[p][x];
    }
    if (top + y < m && col < n)
        c[(top + y) * n + col] = sum;
}
