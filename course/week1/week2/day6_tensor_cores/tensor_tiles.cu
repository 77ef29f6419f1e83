// tensor_tiles: c = a * b. a has m x k elements, b has k x n, in f16; c has m x n, in f32. m and n are multiples of
// 64, k of 16.
//
// A block has 4 warps and makes 64 x 64 elements of c, a warp 32 x 32 of them: four fragments of sums. Every
// warp loads its fragments from global memory, so that each tile is loaded twice in a block, in small pieces.
#include <mma.h>
using namespace nvcuda;

__global__ void tensor_tiles(const half *a, const half *b, float *c, int m, int n, int k)
{
    int warp = threadIdx.x / 32, down = warp / 2 * 32, across = warp % 2 * 32;
    int top = blockIdx.y * 64, left = blockIdx.x * 64;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int p = 0; p < k; p += 16) {
        // TODO: load a tile of 64 x 16 of a and one of 16 x 64 of b into shared memory, 16 bytes for each
        // thread; then load the fragments from there.
        for (int i = 0; i < 2; i++) {
            wmma::load_matrix_sync(of_a[i], a + (top + down + 16 * i) * k + p, k);
            wmma::load_matrix_sync(of_b[i], b + p * n + left + across + 16 * i, n);
        }
        for (int i = 0; i < 4; i++)
            wmma::mma_sync(sums[i / 2][i % 2], of_a[i / 2], of_b[i % 2], sums[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(c + (top + down + i / 2 * 16) * n + left + across + i % 2 * 16,
                                sums[i / 2][i % 2], n, wmma::mem_row_major);
}
