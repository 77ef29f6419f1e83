// Only lane 0 loads: a fragment belongs to the whole warp.
#include <mma.h>
using namespace nvcuda;

__global__ void fragments(const half *a, const half *b, float *c, int m, int n, int k)
{
    int top = blockIdx.y * 16, left = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int p = 0; p < k; p += 16) {
        if (threadIdx.x == 0)
            wmma::load_matrix_sync(of_a, a + top * k + p, k);
        wmma::load_matrix_sync(of_b, b + p * n + left, n);
        wmma::mma_sync(sums, of_a, of_b, sums);
    }
    wmma::store_matrix_sync(c + top * n + left, sums, n, wmma::mem_row_major);
}
