// Waits for the next tiles before it multiplies these.
#include <mma.h>
#include <cuda_pipeline.h>
using namespace nvcuda;

struct tiles {
    half a[128][40], b[32][136];
};

__device__ void fetch(tiles *to, const half *a, const half *b, int n, int k, int top, int left, int p)
{
    for (int i = threadIdx.x; i < 512; i += 256) {
        __pipeline_memcpy_async(&to->a[i / 4][i % 4 * 8], a + (top + i / 4) * k + p + i % 4 * 8, 16);
        __pipeline_memcpy_async(&to->b[i / 16][i % 16 * 8], b + (p + i / 16) * n + left + i % 16 * 8, 16);
    }
    __pipeline_commit();
}

__global__ void milestone(const half *a, const half *b, float *c, int m, int n, int k)
{
    __shared__ __align__(128) tiles two[2];
    int warp = threadIdx.x / 32, down = warp / 4 * 64, across = warp % 4 * 32;
    int top = blockIdx.y * 128, left = blockIdx.x * 128;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a[4];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
    for (int i = 0; i < 8; i++)
        wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    fetch(&two[0], a, b, n, k, top, left, 0);
    for (int p = 0; p < k; p += 32) {
        const tiles *now = &two[p / 32 % 2];
        __pipeline_wait_prior(0);
        __syncthreads();
        if (p + 32 < k)
            fetch(&two[(p / 32 + 1) % 2], a, b, n, k, top, left, p + 32);
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int q = 0; q < 32; q += 16) {
            for (int i = 0; i < 4; i++)
                wmma::load_matrix_sync(of_a[i], &now->a[down + 16 * i][q], 40);
            for (int i = 0; i < 2; i++)
                wmma::load_matrix_sync(of_b[i], &now->b[q][across + 16 * i], 136);
            for (int i = 0; i < 8; i++)
                wmma::mma_sync(sums[i / 2][i % 2], of_a[i / 2], of_b[i % 2], sums[i / 2][i % 2]);
        }
    }
    for (int i = 0; i < 8; i++)
        wmma::store_matrix_sync(c + (top + down + i / 2 * 16) * n + left + across + i % 2 * 16,
                                sums[i / 2][i % 2], n, wmma::mem_row_major);
}
