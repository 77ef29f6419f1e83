// expect: race
// pipelined: two pairs of tiles. The copies of the next step run while this one is multiplied;
// where a tile hangs over the edge, the copy writes zeros and reads nothing.
#include <cuda_pipeline.h>

struct tiles {
    float a[32][16], b[16][32];
};

__device__ void fetch(tiles *to, const float *a, const float *b, int m, int n, int k, int top,
                      int left, int first, int thread)
{
    for (int i = thread; i < 512; i += 256) {
        int r = i / 16, p = i % 16;
        bool inside = top + r < m && first + p < k;
        __pipeline_memcpy_async(&to->a[r][p], inside ? a + (top + r) * k + first + p : a, 4,
                                inside ? 0 : 4);
        r = i / 32, p = i % 32;
        inside = first + r < k && left + p < n;
        __pipeline_memcpy_async(&to->b[r][p], inside ? b + (first + r) * n + left + p : b, 4,
                                inside ? 0 : 4);
    }
    __pipeline_commit();
}

__global__ void pipelined(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ tiles two[2];
    int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    float sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0; // of row y or y + 16, column x or x + 16
    fetch(&two[0], a, b, m, n, k, top, left, 0, thread);
    for (int first = 0; first < k; first += 16) {
        const tiles *now = &two[0];
        __pipeline_wait_prior(0);
        __syncthreads();
        if (first + 16 < k)
            fetch(&two[0], a, b, m, n, k, top, left, first + 16, thread);
        for (int p = 0; p < 16; p++) {
            float a0 = now->a[y][p], a1 = now->a[y + 16][p];
            float b0 = now->b[p][x], b1 = now->b[p][x + 16];
            sum00 += a0 * b0;
            sum01 += a0 * b1;
            sum10 += a1 * b0;
            sum11 += a1 * b1;
        }
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
