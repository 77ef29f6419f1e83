/*
 * separate.cu: forward: the chain up to the residual in one kernel, and the norm of what it stored in
 * another, which reads it again.
 */
// arch: sm_80
#include "chain.h"

#define BLOCK 256 // tune: 128 256 512

template <class T>
static __device__ __forceinline__ void add_chain(norm_job<T> a, const T *bias, dropout d)
{
    uint4 v[1];
    int filled[1];
    long long row = blockIdx.x;
    for (long long from = 0; from < a.cols; from += BLOCK * PER<T>)
        load_chain<T, 1>(a, bias, d, row, share_of(a.x, threadIdx.x, BLOCK, from, a.cols, a.whole), v,
                         filled);
}

#define SEPARATE(name, T, LAYER)                                                                   \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        chain_##name(NORM_ARGUMENTS(T), const T *bias, DROPOUT)                                    \
    {                                                                                              \
        add_chain<T>(NORM(T), bias, DROP);                                                         \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) norm_##name(NORM_ARGUMENTS(T))              \
    {                                                                                              \
        norm_long<T, LAYER, 2>(NORM(T));                                                           \
    }
FOR_TYPES(SEPARATE)
