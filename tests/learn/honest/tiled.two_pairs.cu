// two pairs of tiles, used in turn: one barrier in each step
__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float as[2][16][16], bs[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0, turn = 0; first < k; first += 16, turn ^= 1) {
        as[turn][y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        bs[turn][y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncthreads();
        for (int p = 0; p < 16; p++)
            sum = fmaf(as[turn][y][p], bs[turn][p][x], sum);
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
