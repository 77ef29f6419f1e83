// A tiled product of matrices in plain multiply-adds; fixed: wmma.
#include <cuda_fp16.h>
#include <mma.h>
#define N 256
using namespace nvcuda;

#ifdef FIXED
__global__ void product(float *c, const half *a, const half *b)
{
    __shared__ half as[32][40], bs[32][40];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < N; k += 32) {
        for (int i = 0; i < 4; i++) {
            as[y + 8 * i][x] = a[(row + 8 * i) * N + k + x];
            bs[y + 8 * i][x] = b[(k + y + 8 * i) * N + column];
        }
        __syncthreads();
        for (int i = 0; i < 32 && y < 4; i += 16) { // four warps make the four quarters
            wmma::load_matrix_sync(of_a, &as[y / 2 * 16][i], 40);
            wmma::load_matrix_sync(of_b, &bs[i][y % 2 * 16], 40);
            wmma::mma_sync(sum, of_a, of_b, sum);
        }
        __syncthreads();
    }
    if (y < 4)
        wmma::store_matrix_sync(c + (blockIdx.y * 32 + y / 2 * 16) * N + blockIdx.x * 32 +
                                    y % 2 * 16,
                                sum, N, wmma::mem_row_major);
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
    product<<<dim3(N / 32, N / 32), dim3(32, 8)>>>(c, (half *)a, (half *)b);
#else
    product<<<dim3(N / 32, N / 32), dim3(32, 8)>>>(c, a, b);
#endif
    return cudaDeviceSynchronize();
}
