/*
 * vectorised.cu: 16 bytes of each array at a time. A quarter of the instructions, and four times
 * as many bytes asked for by a warp before it has to wait.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#include "align.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 2 4 8 16 32
#define EACH "vectorised.cu"
#include "each_operation.h"
#else

KERNEL __launch_bounds__(BLOCK) NAME(const f32 *x, const f32 *y, f32 *out, f32 scalar, i64 n)
{
    parts p = split(x, y, out, n);
    i64 me = global_thread(), all_threads = global_threads();
    if (me < p.head)
        out[me] = APPLY(x[me], y[me], scalar);
    for (i64 i = p.tail + me; i < n; i += all_threads)
        out[i] = APPLY(x[i], y[i], scalar);

    for (i64 v = me; v < p.vectors; v += all_threads) {
        i64 i = p.head + 4 * v;
        f32x4 a = load_f32x4(x + i);
#if TWO
        f32x4 b = load_f32x4(y + i);
#endif
        f32x4 c = {APPLY(a.x, b.x, scalar), APPLY(a.y, b.y, scalar), APPLY(a.z, b.z, scalar),
                   APPLY(a.w, b.w, scalar)};
        store_global_f32x4(out + i, c);
    }
}
#endif
