// expect: requests to global memory|global_load_requests is
__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int twice = 0; twice < 2; twice++) {
        sum = 0;
        for (int first = 0; first < k; first += 16) {
            tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
            tile_b[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
            __syncthreads();
            for (int p = 0; p < 16; p++)
                sum += tile_a[y][p] * tile_b[p][x];
            __syncthreads();
        }
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
