// expect: uninitialized|wrong result for 
// The tile keeps what was there where it hangs over the edge.
__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y;
    int col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < k; first += 16) {
        tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        if (first + y < k && col < n)
            tile_b[y][x] = b[(first + y) * n + col];
        __syncthreads();
        for (int p = 0; p < 16; p++)
            sum += tile_a[y][p] * tile_b[p][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
