/*
 * vectorised.cu: 16-byte loads, UNROLL of them in flight a thread, past the L1; two passes in a
 * fixed order, so that the same input gives the same bits. This one reaches the memory's limit.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 1024 // tune: 256 512 1024
#define UNROLL 4 // tune: 2 4 8
#define BLOCKS_PER_SM 4 // tune: 2 4 8 16 32 64
#define EACH "vectorised.cu"
#include "each_operation.h"
#else

#define VECTOR ((i64)(16 / sizeof(T))) /* elements of a 16-byte load */

typedef union {
    u32x4 words;
    T element[16 / sizeof(T)];
} NAME(vector);

DEVICE A NAME(add_vector)(A a, NAME(vector) v, i64 index)
{
#pragma unroll
    for (i64 k = 0; k < VECTOR; k++)
        a = COMBINE(a, LIFT(v.element[k], index + k));
    return a;
}

KERNEL __launch_bounds__(BLOCK) NAME(reduce)(const T *in, i64 n, A *partials, OUT *result)
{
    A a = IDENTITY();
    /* Elements before the first 16-byte boundary and behind the last, by the first threads. */
    i64 head = least(n, (i64)((16 - (u64)in % 16) % 16 / sizeof(T)));
    i64 vectors = (n - head) / VECTOR, tail = head + vectors * VECTOR;
    i64 me = global_thread(), all_threads = global_threads();
    if (me < head)
        a = COMBINE(a, LIFT(in[me], me));
    if (me < n - tail)
        a = COMBINE(a, LIFT(in[tail + me], tail + me));

    const T *body = in + head;
    i64 i = me;
    for (; i + (UNROLL - 1) * all_threads < vectors; i += UNROLL * all_threads) {
        NAME(vector) v[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            v[k].words = load_stream_u32x4(body + (i + k * all_threads) * VECTOR);
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            a = NAME(add_vector)(a, v[k], head + (i + k * all_threads) * VECTOR);
    }
    for (; i < vectors; i += all_threads) {
        NAME(vector) v;
        v.words = load_stream_u32x4(body + i * VECTOR);
        a = NAME(add_vector)(a, v, head + i * VECTOR);
    }
    LEAVE(REDUCE_BLOCK(a), partials, result);
}

KERNEL __launch_bounds__(BLOCK) NAME(again)(const A *in, i64 n, A *partials, OUT *result)
{
    A a = IDENTITY();
    for (i64 i = global_thread(); i < n; i += global_threads())
        a = COMBINE(a, in[i]);
    LEAVE(REDUCE_BLOCK(a), partials, result);
}
#undef VECTOR
#endif
