// grid_second_phase.cu: a grid barrier in a loop, but the buffers are not exchanged
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void go(int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < 3; step++) {
        int left = a[(i + 255) & 255]; // expect: race
#ifdef FIXED
        cg::this_grid().sync();
#endif
        a[i] = left + 1; // expect: race
        cg::this_grid().sync();
    }
    b[i] = a[i];
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
