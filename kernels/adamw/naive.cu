/*
 * naive.cu: a launch for each tensor, and a thread for each parameter. A model has hundreds of tensors,
 * most of them too small to keep a GPU busy.
 */
// arch: sm_80
#include "step.h"

#define BLOCK 256 // tune: 128 256 512 1024

template <class Kind>
static __device__ __forceinline__ void naive(const bases &b, const tensor *table, int tensors, int from,
                                             const rates &r)
{
    arrays<Kind> a = arrays_of<Kind>(b, table[from]);
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < a.count)
        do_element(a, r, i);
}

KERNELS(naive, BLOCK)
