// milestone: c = a * b, in f16 with sums in f32. m and n are multiples of 128, k of 32.
//
// This is wide_tiles, solved. In every step it loads, waits, multiplies, waits: the tensor cores stand still while the
// tiles come.
#include <mma.h>
#include <cuda_pipeline.h>
using namespace nvcuda;

__global__ void milestone(const half *a, const half *b, float *c, int m, int n, int k)
{
    __shared__ __align__(128) half tile_a[128][40], tile_b[32][136];
    int t = threadIdx.x, warp = t / 32, down = warp / 4 * 64, across = warp % 4 * 32;
    int top = blockIdx.y * 128, left = blockIdx.x * 128;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a[4];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
    for (int i = 0; i < 8; i++)
        wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    // TODO: two pairs of tiles, filled by asynchronous copies, one step ahead.
    for (int p = 0; p < k; p += 32) {
        for (int i = t; i < 512; i += 256) {
            *(uint4 *)&tile_a[i / 4][i % 4 * 8] = *(const uint4 *)(a + (top + i / 4) * k + p + i % 4 * 8);
            *(uint4 *)&tile_b[i / 16][i % 16 * 8] =
                *(const uint4 *)(b + (p + i / 16) * n + left + i % 16 * 8);
        }
        __syncthreads();
        for (int q = 0; q < 32; q += 16) {
            for (int i = 0; i < 4; i++)
                wmma::load_matrix_sync(of_a[i], &tile_a[down + 16 * i][q], 40);
            for (int i = 0; i < 2; i++)
                wmma::load_matrix_sync(of_b[i], &tile_b[q][across + 16 * i], 136);
            for (int i = 0; i < 8; i++)
                wmma::mma_sync(sums[i / 2][i % 2], of_a[i / 2], of_b[i % 2], sums[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        wmma::store_matrix_sync(c + (top + down + i / 2 * 16) * n + left + across + i % 2 * 16,
                                sums[i / 2][i % 2], n, wmma::mem_row_major);
}
