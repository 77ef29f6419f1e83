/*
 * vectorised.cu: 16 bytes of pairs' first numbers and the 16 bytes of their second ones at a time; of
 * neighbours 16 bytes with both. A thread loads twice as many bytes of the table as of x, though from
 * the caches. Heads that are no multiple of two vectors are done pair by pair.
 */
// arch: sm_80
#include "turn.h"

#define BLOCK 256 // tune: 128 256 512

template <bool halves, class T>
static __device__ __forceinline__ void vectorised(T *x, table t, long long tokens, int heads, int dim,
                                                  float sign)
{
    bool vectors = in_vectors(x, t, dim);
    int pairs = dim / 2, step = vectors ? PAIRS<halves, T> : 1;
    long long all = tokens * heads * pairs;
    long long i = ((long long)blockIdx.x * BLOCK + threadIdx.x) * step;
#pragma unroll 1
    for (; i < all; i += (long long)gridDim.x * BLOCK * step) {
        long long head = i / pairs, token = head / heads;
        int p = (int)(i - head * pairs);
        if (!vectors) {
            turn_pair<halves>(x + head * dim, dim, p, t.cosines[token * pairs + p],
                              sign * t.sines[token * pairs + p]);
            continue;
        }
        float cosine[PAIRS<halves, T>], sine[PAIRS<halves, T>];
        pairs_of_thread v = load_pairs<halves>(x + head * dim, dim, p);
        load_angles(t, token * pairs + p, sign, cosine, sine);
        turn_pairs<halves>(x + head * dim, dim, p, v, cosine, sine);
    }
}

KERNELS(vectorised, BLOCK)
