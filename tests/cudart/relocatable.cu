// relocatable.cu: device code in two units that is linked when the program starts (-rdc=true).
// nvcc: -rdc=true
// with: relocatable_other.cu
#include "check.h"

extern __device__ int twice(int x);
extern __device__ int shared_variable;
__constant__ int factor = 3;

__global__ void kernel(int *p)
{
    p[threadIdx.x] = twice(threadIdx.x) * factor + shared_variable;
}

int main()
{
    int *p, host[4], value = 1000;
    MUST(cudaMalloc(&p, 16));
    kernel<<<1, 4>>>(p);
    MUST(cudaGetLastError());
    MUST(cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
    MUST(cudaMemcpyToSymbol(shared_variable, &value, 4));
    kernel<<<1, 4>>>(p);
    MUST(cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
}
