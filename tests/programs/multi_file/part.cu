// part.cu: the second file of multi_file.cu; it calls back into the first.

#include "part.h"

__device__ int table_of_part[4] = {100, 200, 300, 400};
__device__ int counter_of_part = 3;
__constant__ int constant_of_part = 10000;

__device__ int twice_plus(int x)
{
    return defined_here(x) + 1;
}

__device__ static int negate(int x)
{
    return -x;
}

__device__ static int square(int x)
{
    return x * x;
}

__device__ unary choose(int which)
{
    return which ? square : negate;
}

struct derived : base {
    int x;
    __device__ explicit derived(int v) : x(v)
    {
    }
    __device__ int value() const override
    {
        return defined_here(x) * 10;
    }
};

__device__ base *make_object(int x)
{
    return new derived(x);
}

__global__ void kernel_of_part(int *out)
{
    out[threadIdx.x] = defined_here(counter_of_part) + threadIdx.x;
}

void launch_part(int *out)
{
    kernel_of_part<<<1, 32>>>(out);
}
