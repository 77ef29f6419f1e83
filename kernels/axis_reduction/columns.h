/*
 * columns.h: the sum of a block's columns, WIDTH (1 or 4) neighbours a lane. Included once for each
 * WIDTH; the file that includes it has defined BLOCK and UNROLL.
 */
#if WIDTH == 4
#define V f32x4
#define NAME(stem) stem##_4
#define ADD(a, b) add_4(a, b)
#define LOAD(at) load_stream_f32x4(at)
#else
#define V f32
#define NAME(stem) stem##_1
#define ADD(a, b) ((a) + (b))
#define LOAD(at) load_stream_f32(at)
#endif

/* Rows [from, to) of a plane [..][inner], from column `first` on. A warp covers `wide` lanes'
 * columns, and as many rows as it then has lanes for: narrow planes keep it busy too. The first
 * `wide` threads get the sums of their columns. */
DEVICE V NAME(sum_columns)(const f32 *plane, i64 from, i64 to, i64 inner, i64 first, u32 wide)
{
    __shared__ V part[BLOCK];
    u32 thread = thread_x(), lane = thread % 32, rows = 32 / wide, step = BLOCK / 32 * rows;
    i64 column = first + lane % wide * WIDTH, row = from + thread / 32 * rows + lane / wide;
    const f32 *at = plane + column;
    V zero = {}, sum = zero;
    if (lane / wide >= rows || column >= inner)
        row = to;
    for (; row < to; row += UNROLL * step) {
        V v[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            v[k] = row + k * step < to ? LOAD(at + (row + k * step) * inner) : zero;
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            sum = ADD(sum, v[k]);
    }
    part[thread] = sum;
    sync_block();
    if (thread >= wide)
        return sum;
    for (u32 warp = 0; warp < BLOCK / 32; warp++)
        for (u32 k = 0; k < rows; k++)
            if (warp + k > 0)
                sum = ADD(sum, part[warp * 32 + k * wide + thread]);
    return sum;
}

DEVICE void NAME(store)(f32 *to, i64 step, V sum)
{
#if WIDTH == 4
    to[0] = sum.x;
    to[step] = sum.y;
    to[2 * step] = sum.z;
    to[3 * step] = sum.w;
#else
    (void)step;
    to[0] = sum;
#endif
}
