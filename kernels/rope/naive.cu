/*
 * naive.cu: one thread for each pair. Two loads of two bytes in bf16, and two of the table, which the
 * heads of a token share.
 */
// arch: sm_80
#include "turn.h"

#define BLOCK 256 // tune: 128 256 512

template <bool halves, class T>
static __device__ __forceinline__ void naive(T *x, table t, long long tokens, int heads, int dim,
                                             float sign)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    int pairs = dim / 2;
    if (i >= tokens * heads * pairs)
        return;
    long long head = i / pairs, token = head / heads;
    int p = (int)(i - head * pairs);
    turn_pair<halves>(x + head * dim, dim, p, t.cosines[token * pairs + p],
                      sign * t.sines[token * pairs + p]);
}

KERNELS(naive, BLOCK)
