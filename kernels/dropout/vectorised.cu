/*
 * vectorised.cu: 16 bytes at a time, by a grid that walks over the array. One call of Philox is enough
 * for eight elements, and so for 16 bytes of bf16. Where an array is misaligned, one element at a time.
 */
// arch: sm_80
#include "elements.h"

#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16 32

template <class T> static __device__ __forceinline__ void vectorised(arrays<T> a, dropout d)
{
    long long me = (long long)blockIdx.x * BLOCK + threadIdx.x, all = (long long)gridDim.x * BLOCK;
    long long whole = in_vectors(a) ? a.n / PER<T> * PER<T> : 0;
#pragma unroll 1
    for (long long i = me * PER<T>; i < whole; i += all * PER<T>)
        do_vector(a, d, i, load_once((const uint4 *)(a.x + i)));
#pragma unroll 1
    for (long long i = whole + me; i < a.n; i += all)
        do_element(a, d, i);
}

KERNELS(vectorised, BLOCK)
