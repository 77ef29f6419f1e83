// tiled: the next tile's elements are fetched into registers while this one is used.
__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    float next_a = row < m && x < k ? a[row * k + x] : 0,
          next_b = y < k && col < n ? b[y * n + col] : 0;
    for (int first = 0; first < k; first += 16) {
        tile_a[y][x] = next_a;
        tile_b[y][x] = next_b;
        __syncthreads();
        int p = first + 16;
        next_a = row < m && p + x < k ? a[row * k + p + x] : 0;
        next_b = p + y < k && col < n ? b[(p + y) * n + col] : 0;
        for (int i = 0; i < 16; i++)
            sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
