// Adds the bias afterwards, with 32 lanes and 8 additions each.
#include <mma.h>
using namespace nvcuda;

__global__ void one_product(const half *a, const half *b, float *c, float bias)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(of_a, a + blockIdx.x * 256, 16);
    wmma::load_matrix_sync(of_b, b + blockIdx.x * 256, 16);
    wmma::mma_sync(sums, of_a, of_b, sums);
    for (int i = 0; i < sums.num_elements; i++)
        sums.x[i] += bias;
    wmma::store_matrix_sync(c + blockIdx.x * 256, sums, 16, wmma::mem_row_major);
}
