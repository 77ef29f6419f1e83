// expect: wrong result for 
// The first matrix a for every product beyond 32.
#include <mma.h>
using namespace nvcuda;

__global__ void one_product(const half *a, const half *b, float *c, float bias)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, bias);
    wmma::load_matrix_sync(of_a, a + min(blockIdx.x, 32) * 256, 16);
    wmma::load_matrix_sync(of_b, b + blockIdx.x * 256, 16);
    wmma::mma_sync(sums, of_a, of_b, sums);
    wmma::store_matrix_sync(c + blockIdx.x * 256, sums, 16, wmma::mem_row_major);
}
