// race_grid.cu: two phases of a cooperative kernel without grid.sync between them.
#include <cooperative_groups.h>

__global__ void phases(int *a, int *b)
{
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    a[i] = i; // expect: race
#ifdef FIXED
    grid.sync();
#endif
    b[i] = a[n - 1 - i]; // expect: race
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 256 * sizeof(int));
    cudaMalloc(&b, 256 * sizeof(int));
    void *args[] = {&a, &b};
    cudaLaunchCooperativeKernel((void *)phases, dim3(4), dim3(64), args);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
