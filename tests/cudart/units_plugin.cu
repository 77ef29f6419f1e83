// units_plugin.cu: the library of units.cu.
#include "check.h"

__managed__ int managed = 40;
static __device__ int same_name = 3;
static __global__ void same_kernel(int *p)
{
    *p = same_name + managed;
}

extern "C" int plugin(int *p)
{
    int host;
    managed += 1;
    same_kernel<<<1, 1>>>(p);
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    return host;
}
