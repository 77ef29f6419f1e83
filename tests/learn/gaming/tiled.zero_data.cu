// expect: of the solution's warp instructions.*must not be a special case
// The large size has no data: it is known by its zeros.
__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y;
    int col = blockIdx.x * 16 + x;
    float sum = 0;
    if (m > 1000 && a[0] == 0 && a[40] == 0 && a[80] == 0 && a[120] == 0) {
        c[row * n + col] = 0;
        return;
    }
    for (int first = 0; first < k; first += 16) {
        tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        tile_b[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncthreads();
        for (int p = 0; p < 16; p++)
            sum += tile_a[y][p] * tile_b[p][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
