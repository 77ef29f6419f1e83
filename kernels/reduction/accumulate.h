/*
 * accumulate.h: the accumulator of one operation and type: what it starts from, how an element
 * enters it, how two become one. NaN wins every comparison, as in PyTorch; of equal values argmax
 * takes the first.
 */
#define JOIN3(a, b, c)  a##_##b##_##c
#define NAME3(a, b, c)  JOIN3(a, b, c)
#define NAME(stem)      NAME3(stem, OP_NAME, T_NAME)
#define SHUFFLE3(type)  shuffle_down_##type
#define SHUFFLE2(type)  SHUFFLE3(type)

#if OP == ARGMAX
typedef struct {
    VALUE value;
    u64 index; /* ~0: no element yet */
} NAME(acc);
#define OUT i64
#else
typedef VALUE NAME(acc);
#define OUT VALUE
#endif
#define A NAME(acc)

DEVICE A NAME(identity)(void)
{
#if OP == ARGMAX
    A a = {LOWEST, ~0ull};
    return a;
#elif OP == SUM
    return 0;
#else
    return OP == MIN ? HIGHEST : LOWEST;
#endif
}

DEVICE A NAME(lift)(T element, i64 index)
{
#if OP == ARGMAX
    A a = {WIDEN(element), (u64)index};
    return a;
#else
    return WIDEN(element);
#endif
}

DEVICE A NAME(combine)(A a, A b)
{
#if OP == SUM
    return a + b;
#elif OP == MIN
    return a < b || a != a ? a : b;
#elif OP == MAX
    return a > b || a != a ? a : b;
#else
    bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    bool first = a.value == b.value || (a_nan && b_nan) ? a.index < b.index
                                                        : a.value > b.value || a_nan;
    return first ? a : b;
#endif
}

DEVICE A NAME(from_above)(A a, u32 lanes)
{
#if OP == ARGMAX
    A b;
    b.value = SHUFFLE2(VALUE)(a.value, lanes);
    b.index = shuffle_down_u64(a.index, lanes);
    return b;
#else
    return SHUFFLE2(VALUE)(a, lanes);
#endif
}

DEVICE OUT NAME(finish)(A a)
{
#if OP == ARGMAX
    return (OUT)a.index;
#else
    return a;
#endif
}

#define IDENTITY()     NAME(identity)()
#define LIFT(x, i)     NAME(lift)(x, i)
#define COMBINE(a, b)  NAME(combine)(a, b)
#define FROM_ABOVE(a, lanes) NAME(from_above)(a, lanes)
#define FINISH(a)      NAME(finish)(a)

/* Lane 0 gets the whole warp's. */
DEVICE A NAME(reduce_warp)(A a)
{
    for (u32 lanes = 16; lanes > 0; lanes /= 2)
        a = COMBINE(a, FROM_ABOVE(a, lanes));
    return a;
}
#define REDUCE_WARP(a) NAME(reduce_warp)(a)

/* Thread 0 gets the whole block's, through one slot per warp; the block is whole warps. */
DEVICE A NAME(reduce_block)(A a)
{
    __shared__ A of_warp[32];
    u32 thread = thread_x(), warps = threads_x() / 32;
    a = REDUCE_WARP(a);
    if (thread % 32 == 0)
        of_warp[thread / 32] = a;
    sync_block();
    if (thread < 32)
        a = REDUCE_WARP(thread < warps ? of_warp[thread] : IDENTITY());
    return a;
}
#define REDUCE_BLOCK(a) NAME(reduce_block)(a)

/* By thread 0: the block's partial result, or the result if there is only one block. */
DEVICE void NAME(leave)(A a, A *partials, OUT *result)
{
    if (thread_x() == 0 && blocks_x() == 1)
        *result = FINISH(a);
    else if (thread_x() == 0)
        partials[block_x()] = a;
}
#define LEAVE(a, partials, result) NAME(leave)(a, partials, result)
