// Right, but only b goes through shared memory: a is asked for as often as before.
__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y;
    int col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < k; first += 16) {
        tile_b[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncthreads();
        for (int p = 0; p < 16; p++)
            if (row < m && first + p < k)
                sum += a[row * k + first + p] * tile_b[p][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
