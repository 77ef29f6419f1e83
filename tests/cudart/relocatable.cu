// relocatable.cu: device code in two units that is linked when the program starts (-rdc=true).
// nvcc: -rdc=true
// with: relocatable_other.cu
#include "check.h"

extern __device__ int twice(int x);
extern __device__ int shared_variable;
__constant__ int factor = 3;

// Both units have such names, each its own.
static __constant__ int own[4];
static __device__ int sum;
static __managed__ int kept = 5;
int other_unit();

static __device__ __noinline__ int total(const int *x)
{
    return x[0] + x[1] + x[2] + x[3];
}

static __global__ void add_up()
{
    sum = total(own) + kept;
}

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
    int values[4] = {1, 2, 3, 4}, result = 0;
    MUST(cudaMemcpyToSymbol(own, values, sizeof values));
    kept += 10;
    add_up<<<1, 1>>>();
    MUST(cudaMemcpyFromSymbol(&result, sum, sizeof result));
    printf("%d %d %d\n", result, kept, other_unit());
    MUST(cudaMemcpyFromSymbol(&result, sum, sizeof result));
    printf("%d\n", result);
}
