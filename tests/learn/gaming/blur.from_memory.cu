// expect: global_load_requests is
// blur: one thread asks for the tile with its border; nobody computes an address or looks for an
// edge.
#include "tma.h"

__global__ void blur(const __grid_constant__ tensor_map map, const float *in, float *out, int rows,
                     int cols)
{
    __shared__ __align__(128) float tile[34][40];
    __shared__ barrier full;
    int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        barrier_make(&full, 1);
        barrier_made();
        barrier_arrive_expecting(&full, sizeof tile);
        tma_load(tile, &map, left - 4, top - 1, &full);
    }
    __syncthreads(); // the barrier exists
    barrier_wait(&full, 0);
    for (int y = threadIdx.y; y < 32; y += 8) {
        float sum = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                sum += i == 1 ? tile[y + i][x + 3 + j]
                              : (top + y + i >= 1 && top + y + i <= rows && left + x + j >= 1 &&
                                         left + x + j <= cols
                                     ? in[(top + y + i - 1) * cols + left + x + j - 1]
                                     : 0);
        if (top + y < rows && left + x < cols)
            out[(top + y) * cols + left + x] = sum;
    }
}
