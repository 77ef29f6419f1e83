/*
 * naive.cu: one thread for each element. Coalesced, and therefore not bad; but a thread that lives
 * for 4 bytes of each array asks for too little at a time, and every 256 elements cost a block.
 */
// arch: sm_75
#include "operations.h"

#define BLOCK 256 // tune: 128 256 512 1024

template <class Op>
static __device__ void naive(const float *x, const float *y, float *out, float scalar, long long n)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = Op::of(x[i], y[i], scalar);
}

KERNELS(naive, BLOCK)
