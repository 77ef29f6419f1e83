/*
 * reused.cu: a block for each token. A thread keeps the angles of its pairs in registers and takes them
 * to every head in turn: the table is read once, not once for each head, and the vectors of HEADS heads
 * are loaded before the first is stored.
 */
// arch: sm_80
#include "turn.h"

#define BLOCK 128 // tune: 32 64 128 256
#define HEADS 1 // tune: 1 2 4 8

/* What the threads cannot share out evenly. */
template <bool halves, class T>
static __device__ __forceinline__ void one_by_one(T *token, table t, int heads, int dim, float sign)
{
    int pairs = dim / 2;
    long long row = (long long)blockIdx.x * pairs;
#pragma unroll 1
    for (int i = threadIdx.x; i < heads * pairs; i += BLOCK) {
        int head = i / pairs, p = i - head * pairs;
        turn_pair<halves>(token + (long long)head * dim, dim, p, t.cosines[row + p],
                          sign * t.sines[row + p]);
    }
}

template <bool halves, class T>
static __device__ __forceinline__ void reused(T *x, table t, long long tokens, int heads, int dim,
                                              float sign)
{
    T *token = x + (long long)blockIdx.x * heads * dim;
    int wide = dim / (2 * PAIRS<halves, T>); // threads for one head
    if (!in_vectors(x, t, dim) || wide > BLOCK) {
        one_by_one<halves>(token, t, heads, dim, sign);
        return;
    }
    int at_once = BLOCK / wide, first = threadIdx.x / wide, p = threadIdx.x % wide * PAIRS<halves, T>;
    if (first >= at_once)
        return;
    float cosine[PAIRS<halves, T>], sine[PAIRS<halves, T>];
    load_angles(t, (long long)blockIdx.x * (dim / 2) + p, sign, cosine, sine);
#pragma unroll 1
    for (int from = first; from < heads; from += at_once * HEADS) {
        pairs_of_thread v[HEADS];
#pragma unroll
        for (int k = 0; k < HEADS; k++)
            if (from + k * at_once < heads)
                v[k] = load_pairs<halves>(token + (long long)(from + k * at_once) * dim, dim, p);
#pragma unroll
        for (int k = 0; k < HEADS; k++)
            if (from + k * at_once < heads)
                turn_pairs<halves>(token + (long long)(from + k * at_once) * dim, dim, p, v[k],
                                   cosine, sine);
    }
}

KERNELS(reused, BLOCK)
