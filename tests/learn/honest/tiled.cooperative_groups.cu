// tiled: the block as a cooperative group.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    auto block = cg::this_thread_block();
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < k; first += 16) {
        as[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
        bs[y][x] = col < n && first + y < k ? b[(first + y) * n + col] : 0.0f;
        block.sync();
#pragma unroll
        for (int p = 0; p < 16; p++)
            sum = fmaf(as[y][p], bs[p][x], sum);
        block.sync();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
