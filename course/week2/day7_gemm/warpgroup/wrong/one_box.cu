// warpgroup, wrong: both halves of the columns come from the first box.
#include <cuda_fp16.h>
#include "tma.h"
#include "wgmma.h"

// Thread t of a warpgroup has columns 8 i + t % 4 * 2 and the next one, of two rows that are 8 apart.
__device__ __forceinline__ void store(float *c, const float (&sums)[64], int row, int column, int n)
{
    int t = threadIdx.x % 128;
    row += t / 32 * 16 + t % 32 / 4;
    column += t % 4 * 2;
#pragma unroll
    for (int i = 0; i < 64; i += 4) {
        *(float2 *)(c + row * n + column + 2 * i) = make_float2(sums[i], sums[i + 1]);
        *(float2 *)(c + (row + 8) * n + column + 2 * i) = make_float2(sums[i + 2], sums[i + 3]);
    }
}

__global__ void __launch_bounds__(256)
    warpgroup(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c, int n, int k)
{
    __shared__ __align__(1024) half tile_a[128][64], tile_b[2][64][64];
    __shared__ barrier full;
    int top = blockIdx.y * 128, left = blockIdx.x * 128, group = threadIdx.x / 128;
    float sums[64] = {0};
    if (threadIdx.x == 0) {
        barrier_make(&full, 1);
        barrier_made();
    }
    __syncthreads();
    for (int p = 0, turn = 0; p < k; p += 64, turn++) {
        if (threadIdx.x == 0) {
            barrier_arrive_expecting(&full, sizeof tile_a + sizeof tile_b);
            tma_load(tile_a, &a, p, top, &full);
            tma_load(tile_b[0], &b, left, p, &full);
            tma_load(tile_b[1], &b, left + 64, p, &full);
        }
        barrier_wait(&full, turn % 2);
        unsigned rows = shared_address(tile_a[64 * group]), columns = shared_address(tile_b);
        wgmma_hold(sums);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < 4; i++)
            wgmma_f16<0, 1>(sums, wgmma_tile(rows + 32 * i, 1024, 0), wgmma_tile(columns + 2048 * i, 1024, 0), 1);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_hold(sums);
        __syncthreads(); // all are done with the tiles: thread 0 may fill them again
    }
    store(c, sums, top + 64 * group, left, n);
}
