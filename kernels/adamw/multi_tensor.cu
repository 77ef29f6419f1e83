/*
 * multi_tensor.cu: one launch for all tensors: a block takes 2048 neighbours of one of them, and finds
 * by its number which.
 */
// arch: sm_80
#include "step.h"

#define BLOCK 256 // tune: 128 256 512 1024

template <class Kind>
static __device__ __forceinline__ void multi_tensor(const bases &b, const tensor *table, int tensors,
                                                    int from, const rates &r)
{
    tensor t = table[find_tensor(table, tensors, blockIdx.x)];
    arrays<Kind> a = arrays_of<Kind>(b, t);
    long long begin = (blockIdx.x - t.first) * UNIT, end = min(begin + UNIT, t.count);
#pragma unroll 1
    for (long long i = begin + threadIdx.x; i < end; i += BLOCK)
        do_element(a, r, i);
}

KERNELS(multi_tensor, BLOCK)
