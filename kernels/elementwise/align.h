/*
 * align.h: an array as 16-byte vectors, with the few elements before the first boundary and behind
 * the last. Vectors need all arrays to lie alike; where they do not, there are none.
 */
typedef struct {
    i64 head;    /* elements before the first vector */
    i64 vectors; /* of four elements */
    i64 tail;    /* index of the first element behind them */
} parts;

DEVICE bool lie_alike(const f32 *x, const f32 *y, const f32 *out)
{
    return ((((u64)x ^ (u64)out) | ((u64)y ^ (u64)out)) & 15) == 0;
}

DEVICE i64 before_vectors(const f32 *out) /* elements, if there are so many */
{
    return ((16 - ((u64)out & 15)) & 15) / 4;
}

DEVICE parts split(const f32 *x, const f32 *y, const f32 *out, i64 n)
{
    parts p;
    p.head = least(n, before_vectors(out));
    p.vectors = lie_alike(x, y, out) ? (n - p.head) / 4 : 0;
    p.tail = p.head + p.vectors * 4;
    return p;
}
