/*
 * naive.cu: one thread for each element. In bf16 a warp asks for 64 bytes of each array.
 */
// arch: sm_80
#include "passes.h"

#define BLOCK 256 // tune: 128 256 512 1024

template <class Pass, class T> static __device__ __forceinline__ void naive(arrays<T> a, long long rows)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= rows * a.cols)
        return;
    if (a.stride == a.cols) // one long row
        do_element<Pass>(a, 0, i);
    else
        do_element<Pass>(a, i / a.cols, i % a.cols);
}

KERNELS(naive, BLOCK)
