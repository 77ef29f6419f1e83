// fragments: a warp multiplies fragments of 16 x 16 x 16 and keeps the sums in a third one.
#include <mma.h>
using namespace nvcuda;

__global__ void fragments(const half *a, const half *b, float *c, int m, int n, int k)
{
    int top = blockIdx.y * 16, left = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> more;
    wmma::fill_fragment(sums, 0.0f);
    wmma::fill_fragment(more, 0.0f);
    int turn = 0;
    for (int p = 0; p < k; p += 16, turn++) {
        wmma::load_matrix_sync(of_a, a + top * k + p, k);
        wmma::load_matrix_sync(of_b, b + p * n + left, n);
        if (turn % 2)
            wmma::mma_sync(more, of_a, of_b, more);
        else
            wmma::mma_sync(sums, of_a, of_b, sums);
    }
    for (int e = 0; e < sums.num_elements; e++)
        sums.x[e] += more.x[e];
    wmma::store_matrix_sync(c + top * n + left, sums, n, wmma::mem_row_major);
}
