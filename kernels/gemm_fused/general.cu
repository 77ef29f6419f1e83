/*
 * general.cu: whatever the TMA unit cannot fetch: rows that do not begin at multiples of 16 bytes,
 * k = 0, f32. Tiles in shared memory and plain multiplications in f32: right, not fast.
 */
// arch: sm_80
#include "generic.h"
#define TILE 64
#define DEPTH 16
#define SIDE 16 /* threads; each makes 4 x 4 results */

template <class numbers>
static __device__ __forceinline__ void multiply(const gemm_arguments &g, int matrix)
{
    typedef typename numbers::stored stored;
    __shared__ float tile_a[DEPTH][TILE + 1], tile_b[DEPTH][TILE + 1];
    int across = (g.n + TILE - 1) / TILE;
    int row = blockIdx.x / across * TILE, column = blockIdx.x % across * TILE;
    const stored *a = (const stored *)g.a_data + matrix * g.a_stride;
    const stored *b = (const stored *)g.b_data + matrix * g.b_stride;
    float sums[4][4] = {};
    for (int k = 0; k < g.k; k += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
            int y = i / DEPTH, z = i % DEPTH, x = i % TILE, w = i / TILE;
            bool has_a = row + y < g.m && k + z < g.k, has_b = column + x < g.n && k + w < g.k;
            tile_a[z][y] =
                has_a ? numbers::wide(a[(row + y) * g.a_row + (k + z) * g.a_column]) : 0.0f;
            tile_b[w][x] =
                has_b ? numbers::wide(b[(k + w) * g.b_row + (column + x) * g.b_column]) : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH && k + i < g.k; i++)
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++)
                    sums[y][x] += tile_a[i][threadIdx.x / SIDE * 4 + y] *
                                  tile_b[i][threadIdx.x % SIDE * 4 + x];
        __syncthreads();
    }
    row += threadIdx.x / SIDE * 4;
    column += threadIdx.x % SIDE * 4;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x += 2) {
            float2 sum = {sums[y][x], sums[y][x + 1]};
            store_pair<numbers>(g, finish<numbers>(g, sum, row + y, column + x, matrix), row + y,
                                column + x, matrix);
        }
}

extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
    general_bf16(const __grid_constant__ gemm_arguments g)
{
    for (int matrix = blockIdx.y; matrix < g.batch; matrix += gridDim.y)
        multiply<bf16_numbers>(g, matrix);
}
extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
    general_f16(const __grid_constant__ gemm_arguments g)
{
    for (int matrix = blockIdx.y; matrix < g.batch; matrix += gridDim.y)
        multiply<f16_numbers>(g, matrix);
}
extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
    general_f32(const __grid_constant__ gemm_arguments g)
{
    for (int matrix = blockIdx.y; matrix < g.batch; matrix += gridDim.y)
        multiply<f32_numbers>(g, matrix);
}
