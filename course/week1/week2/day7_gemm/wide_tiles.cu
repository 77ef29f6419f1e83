// wide_tiles: c = a * b, in f16 with sums in f32. m and n are multiples of 128, k of 32.
//
// A block has 8 warps and makes 128 x 128 elements of c. Here it makes four squares of 64 x 64, one after the
// other, with the tiles of yesterday: every tile of a and of b comes into the block twice.
#include <mma.h>
#include <cuda_pipeline.h>
using namespace nvcuda;

__global__ void wide_tiles(const half *a, const half *b, float *c, int m, int n, int k)
{
    __shared__ __align__(128) half tile_a[64][24], tile_b[16][72];
    int t = threadIdx.x, warp = t / 32, down = warp / 4 * 32, across = warp % 4 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2];
    // TODO: one square of 128 x 128: tiles of 128 x 32 and 32 x 128, and 4 x 2 fragments of sums in each warp.
    for (int square = 0; square < 4; square++) {
        int top = blockIdx.y * 128 + square / 2 * 64, left = blockIdx.x * 128 + square % 2 * 64;
        for (int i = 0; i < 2; i++)
            wmma::fill_fragment(sums[i], 0.0f);
        for (int p = 0; p < k; p += 16) {
            if (t < 128)
                *(uint4 *)&tile_a[t / 2][t % 2 * 8] = *(const uint4 *)(a + (top + t / 2) * k + p + t % 2 * 8);
            else
                *(uint4 *)&tile_b[t % 128 / 8][t % 8 * 8] =
                    *(const uint4 *)(b + (p + t % 128 / 8) * n + left + t % 8 * 8);
            __syncthreads();
            wmma::load_matrix_sync(of_b, &tile_b[0][across], 72);
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(of_a[i], &tile_a[down + 16 * i][0], 24);
                wmma::mma_sync(sums[i], of_a[i], of_b, sums[i]);
            }
            __syncthreads();
        }
        for (int i = 0; i < 2; i++)
            wmma::store_matrix_sync(c + (top + down + 16 * i) * n + left + across, sums[i], n,
                                    wmma::mem_row_major);
    }
}
