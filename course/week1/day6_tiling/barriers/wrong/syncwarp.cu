// Waits for its own warp only: the other seven warps fill the rest of the tiles.
__global__ void barriers(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int top = blockIdx.y * 16, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < k; first += 16) {
        tile_a[y][x] = first + y < k && top + x < m ? a[(first + y) * m + top + x] : 0;
        tile_b[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncwarp();
        for (int p = 0; p < 16; p++)
            sum += tile_a[p][y] * tile_b[p][x];
        __syncwarp();
    }
    if (top + y < m && col < n)
        c[(top + y) * n + col] = sum;
}
