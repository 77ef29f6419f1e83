// units_other.cu: the second translation unit of units.cu.
#include "check.h"

static __device__ int same_name = 2;
static __global__ void same_kernel(int *p)
{
    *p = same_name;
}

int other(int *p)
{
    int host;
    same_kernel<<<1, 1>>>(p);
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    return host;
}
