/*
 * naive.cu: one thread for each element of the output, with a division to find its token.
 */
// arch: sm_80
#include "rows_of.h"

#define BLOCK 256 // tune: 128 256 512 1024

#define MAKE(suffix, T, I)                                                                         \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        forward_##suffix(const I *ids, const T *table, T *out, long long tokens, long long vocab,  \
                         long long dim, int lanes)                                                 \
    {                                                                                              \
        long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;                                 \
        if (i >= tokens * dim)                                                                     \
            return;                                                                                \
        I id = ids[i / dim];                                                                       \
        narrow(is_known(id, vocab) ? widen(table[id * dim + i % dim]) : 0.0f, &out[i]);            \
    }
FOR_TYPES(MAKE)
