// A tiled product of matrices in plain multiply-adds; fixed: wmma.
#include <cuda_fp16.h>
#include <mma.h>
#define N 256
using namespace nvcuda;

#ifdef FIXED
__global__ void product(float *c, const half *a, const half *b)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> as;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> bs;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < N; k += 16) {
        wmma::load_matrix_sync(as, a + blockIdx.y * 16 * N + k, N);
        wmma::load_matrix_sync(bs, b + k * N + blockIdx.x * 16, N);
        wmma::mma_sync(sum, as, bs, sum);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * N + blockIdx.x * 16, sum, N, wmma::mem_row_major);
}
#else
__global__ void product(float *c, const float *a, const float *b)
{
    __shared__ float as[32][33], bs[32][33];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    float sum[4] = {0};
    for (int k = 0; k < N; k += 32) {
        for (int i = 0; i < 4; i++) {
            as[y + 8 * i][x] = a[(row + 8 * i) * N + k + x];
            bs[y + 8 * i][x] = b[(k + y + 8 * i) * N + column];
        }
        __syncthreads();
        for (int i = 0; i < 32; i++)
            for (int j = 0; j < 4; j++)
                sum[j] += as[y + 8 * j][i] * bs[i][x]; // <- no-tensor-cores
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        c[(row + 8 * j) * N + column] = sum[j];
}
#endif

int main()
{
    float *a, *b, *c;
    cudaMalloc(&a, N * N * sizeof(float));
    cudaMalloc(&b, N * N * sizeof(float));
    cudaMalloc(&c, N * N * sizeof(float));
#ifdef FIXED
    product<<<dim3(N / 16, N / 16), 32>>>(c, (half *)a, (half *)b);
#else
    product<<<dim3(N / 32, N / 32), dim3(32, 8)>>>(c, a, b);
#endif
    return cudaDeviceSynchronize();
}
