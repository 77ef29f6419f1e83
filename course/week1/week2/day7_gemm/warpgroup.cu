// warpgroup: c = a * b, in f16 with sums in f32. m and n are multiples of 128, k of 64.
//
// A block has two warpgroups of 128 threads; each makes 64 x 128 elements of c. The TMA unit brings tiles of a (128 x
// 64, one box) and of b (64 x 128, two boxes of 64 columns), both in lines of 128 bytes with swizzled chunks. Only the
// products are missing.
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
        // TODO: sums += this warpgroup's 64 rows of tile_a times tile_b. wgmma_tile(address, 1024, groups) names a tile:
        // its groups of 8 lines are 1024 bytes apart, its boxes of 64 columns `groups` bytes. wgmma_f16<0, 1>(sums, tile
        // of a, tile of b, 1) multiplies 16 of k: tile_a lies along k (0), tile_b across it (1).
        __syncthreads(); // all are done with the tiles: thread 0 may fill them again
    }
    store(c, sums, top + 64 * group, left, n);
}
