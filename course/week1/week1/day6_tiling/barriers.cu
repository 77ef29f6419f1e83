// barriers: c[i][j] = sum of a[p][i] * b[p][j]. a has k x m elements, b has k x n, c has m x n.
//
// This is the product of a, turned, with b. Both tiles are loaded along rows; the tile of a is then
// read along its columns, so a need not be transposed first. The indices are right. The threads do not
// wait for each other, and some leave before the work is done.
__global__ void barriers(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int top = blockIdx.y * 16, col = blockIdx.x * 16 + x;
    float sum = 0;
    // TODO: where must all threads of the block wait? And may a thread leave this early?
    if (top + y >= m || col >= n)
        return;
    for (int first = 0; first < k; first += 16) {
        tile_a[y][x] = first + y < k && top + x < m ? a[(first + y) * m + top + x] : 0;
        tile_b[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        for (int p = 0; p < 16; p++)
            sum += tile_a[p][y] * tile_b[p][x];
    }
    c[(top + y) * n + col] = sum;
}
