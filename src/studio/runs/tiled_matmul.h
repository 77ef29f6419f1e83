/*
 * tiled_matmul.h: launches the tiled matmul of the course, for the runs of hierarchy.cu, tiles.cu
 * and occupancy.cu.
 */
#include "../../../course/week1/day6_tiling/tiled/solution.cu"

static int tiled_matmul(int n)
{
    size_t bytes = (size_t)n * n * sizeof(float);
    float *a, *b, *c;
    cudaMalloc((void **)&a, bytes);
    cudaMalloc((void **)&b, bytes);
    cudaMalloc((void **)&c, bytes);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    tiled<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, c, n, n, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
