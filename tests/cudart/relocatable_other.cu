// relocatable_other.cu: the second translation unit of relocatable.cu.
#include "check.h"

__device__ int shared_variable = 100;
__device__ int twice(int x)
{
    return 2 * x;
}

static __constant__ int own[4];
static __device__ int sum;
static __managed__ int kept = 50;

static __device__ __noinline__ int total(const int *x)
{
    return x[0] * x[1] * x[2] * x[3];
}

static __global__ void add_up()
{
    sum = total(own) + kept;
}

int other_unit()
{
    int values[4] = {5, 6, 7, 8}, result = 0;
    MUST(cudaMemcpyToSymbol(own, values, sizeof values));
    add_up<<<1, 1>>>();
    MUST(cudaMemcpyFromSymbol(&result, sum, sizeof result));
    return result;
}
