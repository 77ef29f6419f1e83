// expect: wrong result for .*: c
// fast_matmul: c = a * b. A block makes 32 x 32 elements of c out of tiles of 32 x 16 and 16 x 32,
// and a thread four of them, 16 apart: what it reads from shared memory goes into two products.
__global__ void fast_matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[32][16], tile_b[16][32];
    int x = threadIdx.x, y = threadIdx.y;
    int thread = y * 16 + x; // 0 .. 255, and a tile has 512 elements
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    float sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0; // of row y or y + 16, column x or x + 16
    for (int first = 0; first < k; first += 16) {
        for (int i = thread; i < 512; i += 256) {
            int r = i / 16, p = i % 16;
            tile_a[r][p] =
                top + r < m && first + p < k
                    ? __uint_as_float(__float_as_uint(a[(top + r) * k + first + p]) & 0xffffffc0)
                    : 0;
        }
        for (int i = thread; i < 512; i += 256) {
            int p = i / 32, q = i % 32;
            tile_b[p][q] =
                first + p < k && left + q < n
                    ? __uint_as_float(__float_as_uint(b[(first + p) * n + left + q]) & 0xffffffc0)
                    : 0;
        }
        __syncthreads();
        for (int p = 0; p < 16; p++) {
            float a0 = tile_a[y][p], a1 = tile_a[y + 16][p];
            float b0 = tile_b[p][x], b1 = tile_b[p][x + 16];
            sum00 += a0 * b0;
            sum01 += a0 * b1;
            sum10 += a1 * b0;
            sum11 += a1 * b1;
        }
        __syncthreads();
    }
    int row = top + y, col = left + x;
    if (row < m && col < n)
        c[row * n + col] = sum00;
    if (row < m && col + 16 < n)
        c[row * n + col + 16] = sum01;
    if (row + 16 < m && col < n)
        c[(row + 16) * n + col] = sum10;
    if (row + 16 < m && col + 16 < n)
        c[(row + 16) * n + col + 16] = sum11;
}
