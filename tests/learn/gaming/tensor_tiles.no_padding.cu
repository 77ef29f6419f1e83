// expect: extra passes by bank conflicts, 16 times the solution.*Pad the rows of the tile
// tensor_tiles: tiles of 64 x 16 and 16 x 64 halves in shared memory, 16 bytes for each thread;
// rows are 8 halves longer, so that fragments are read without conflicts.
#include <mma.h>
using namespace nvcuda;

__global__ void tensor_tiles(const half *a, const half *b, float *c, int m, int n, int k)
{
    __shared__ __align__(128) half tile_a[64][16], tile_b[16][64];
    int t = threadIdx.x, warp = t / 32, down = warp / 2 * 32, across = warp % 2 * 32;
    int top = blockIdx.y * 64, left = blockIdx.x * 64;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int p = 0; p < k; p += 16) {
        *(uint4 *)&tile_a[t / 2][t % 2 * 8] =
            *(const uint4 *)(a + (top + t / 2) * k + p + t % 2 * 8);
        *(uint4 *)&tile_b[t / 8][t % 8 * 8] =
            *(const uint4 *)(b + (p + t / 8) * n + left + t % 8 * 8);
        __syncthreads();
        for (int i = 0; i < 2; i++) {
            wmma::load_matrix_sync(of_a[i], &tile_a[down + 16 * i][0], 16);
            wmma::load_matrix_sync(of_b[i], &tile_b[0][across + 16 * i], 64);
        }
        for (int i = 0; i < 4; i++)
            wmma::mma_sync(sums[i / 2][i % 2], of_a[i / 2], of_b[i % 2], sums[i / 2][i % 2]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(c + (top + down + i / 2 * 16) * n + left + across + i % 2 * 16,
                                sums[i / 2][i % 2], n, wmma::mem_row_major);
}
