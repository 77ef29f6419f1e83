/*
 * naive.cu: one thread for each element. Eight neighbours compute the same four words, and each takes 16
 * bits of them.
 */
// arch: sm_80
#include "elements.h"

#define BLOCK 256 // tune: 128 256 512 1024

template <class T> static __device__ __forceinline__ void naive(arrays<T> a, dropout d)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < a.n)
        do_element(a, d, i);
}

KERNELS(naive, BLOCK)
