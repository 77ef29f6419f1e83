/*
 * align.h: an array as 16-byte vectors, with the few elements before the first boundary and behind
 * the last. Vectors need all arrays to lie alike; where they do not, there are none.
 */
typedef struct {
    i64 head;    /* elements before the first vector */
    i64 vectors; /* of four elements */
    i64 tail;    /* index of the first element behind them */
} parts;

DEVICE parts split(const f32 *x, const f32 *y, const f32 *out, i64 n)
{
    parts p;
    bool alike = (((u64)x ^ (u64)out) & 15) == 0 && (((u64)y ^ (u64)out) & 15) == 0;
    p.head = least(n, (i64)(((16 - ((u64)out & 15)) & 15) / 4));
    p.vectors = alike ? (n - p.head) / 4 : 0;
    p.tail = p.head + p.vectors * 4;
    return p;
}
