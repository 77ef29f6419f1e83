/*
 * vectors.h: one thread's share of each of the two passes that vectorised and overlapped make, over
 * elements in vectors of 16 bytes and over the partial results that those leave. UNROLL loads are
 * in flight at a time, also at the end, where fewer are left. Included once for each operation and
 * element type.
 */
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

DEVICE A NAME(of_elements)(const T *in, i64 n)
{
    A a = IDENTITY();
    i64 head = least(n, (i64)((16 - (u64)in % 16) % 16 / sizeof(T)));
    i64 vectors = (n - head) / VECTOR, tail = head + vectors * VECTOR;
    i64 me = global_thread(), all_threads = global_threads(), i = me;
    const T *body = in + head;
    for (; i + (UNROLL - 1) * all_threads < vectors; i += UNROLL * all_threads) {
        NAME(vector) v[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            v[k].words = load_stream_u32x4(body + (i + k * all_threads) * VECTOR);
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            a = NAME(add_vector)(a, v[k], head + (i + k * all_threads) * VECTOR);
    }
    NAME(vector) rest[UNROLL];
#pragma unroll
    for (u32 k = 0; k < UNROLL - 1; k++)
        if (i + k * all_threads < vectors)
            rest[k].words = load_stream_u32x4(body + (i + k * all_threads) * VECTOR);
    /* Elements before the first 16-byte boundary and behind the last, by the first threads. */
    if (me < head)
        a = COMBINE(a, LIFT(in[me], me));
    if (me < n - tail)
        a = COMBINE(a, LIFT(in[tail + me], tail + me));
#pragma unroll
    for (u32 k = 0; k < UNROLL - 1; k++)
        if (i + k * all_threads < vectors)
            a = NAME(add_vector)(a, rest[k], head + (i + k * all_threads) * VECTOR);
    return a;
}

/* They are few: 32 bits count them, and one turn does for most. */
DEVICE A NAME(of_partials)(const A *in, u32 n)
{
    A a = IDENTITY();
    u32 all_threads = blocks_x() * threads_x();
#pragma unroll 1
    for (u32 i = (u32)global_thread(); i < n; i += UNROLL * all_threads) {
        A v[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            v[k] = i + k * all_threads < n ? in[i + k * all_threads] : IDENTITY();
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            a = COMBINE(a, v[k]);
    }
    return a;
}
#undef VECTOR
