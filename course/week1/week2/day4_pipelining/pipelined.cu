// pipelined: c = a * b. a has m x k elements, b has k x n, c has m x n; all lie row by row.
//
// This is the milestone of week 1: tiles of 32 x 16 and 16 x 32, four elements for each thread. In every step
// it loads, waits, multiplies, waits.
#include <cuda_pipeline.h>

__global__ void pipelined(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[32][16], tile_b[16][32];
    int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    float sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0; // of row y or y + 16, column x or x + 16
    // TODO: two pairs of tiles; copies with __pipeline_memcpy_async, one step ahead.
    for (int first = 0; first < k; first += 16) {
        for (int i = thread; i < 512; i += 256) {
            int r = i / 16, p = i % 16;
            tile_a[r][p] = top + r < m && first + p < k ? a[(top + r) * k + first + p] : 0;
            r = i / 32, p = i % 32;
            tile_b[r][p] = first + r < k && left + p < n ? b[(first + r) * n + left + p] : 0;
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
