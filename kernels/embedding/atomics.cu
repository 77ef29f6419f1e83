/*
 * atomics.cu: backward: each element of the gradient is added to its place in the table's, which was set
 * to zero before. The order in which tokens of one number come, and so the last bits, differ from run to
 * run; and a sum in bf16 would lose most of a long row, so it is for f32.
 */
// arch: sm_80
#include "rows_of.h"

#define BLOCK 256 // tune: 128 256 512 1024

#define MAKE(suffix, I)                                                                            \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        backward_##suffix(const I *ids, const float *dout, float *dtable, long long tokens,        \
                          long long vocab, long long dim)                                          \
    {                                                                                              \
        long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;                                 \
        if (i >= tokens * dim)                                                                     \
            return;                                                                                \
        I id = ids[i / dim];                                                                       \
        if (is_known(id, vocab))                                                                   \
            atomicAdd(&dtable[id * dim + i % dim], dout[i]);                                       \
    }
MAKE(f32_i32, int)
MAKE(f32_i64, long long)
