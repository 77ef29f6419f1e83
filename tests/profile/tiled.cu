// A tiled product whose loop over tiles the assembler may unroll: it takes few registers, or all.
#include <cstdio>

enum { TILE = 16, SIDE = 64 };

__global__ void tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        as[y][x] = a[row * n + t + x];
        bs[y][x] = b[(t + y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

int main()
{
    float *a, *b, *c;
    size_t bytes = SIDE * SIDE * sizeof(float);
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    tiled<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(a, b, c, SIDE);
    cudaDeviceSynchronize();
    puts(cudaGetErrorString(cudaGetLastError()));
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return 0;
}
