// grid_some_blocks.cu: a grid barrier that one block does not reach
// options: --limit 2000000
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void go(int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i;
#ifndef FIXED
    if (blockIdx.x == 3)
        return;
#endif
    cg::this_grid().sync(); // expect: timeout
    b[i] = a[i ^ 64];
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    void *args[] = {&a, &b};
    cudaLaunchCooperativeKernel((void *)go, 4, 64, args, 0, 0);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
