/*
 * naive.cu: a thread for each distance. The threads of a warp have neighbouring vectors of y, which
 * lie d elements apart: each load touches 32 rows. Both vectors come from the caches once for every
 * distance that they are part of.
 */
// arch: sm_75
#include "device.h"
#define DOWN 8 // tune: 4 8 16 32

KERNEL pairwise(const f32 *x, const f32 *y, f32 *out, i64 n, i64 m, i64 d)
{
    i64 i = (i64)block_x() * DOWN + thread_y(), j = (i64)block_y() * 32 + thread_x();
    if (i >= n || j >= m)
        return;
    f32 sum = 0;
    for (i64 l = 0; l < d; l++) {
        f32 difference = x[i * d + l] - y[j * d + l];
        sum = fma_f32(difference, difference, sum);
    }
    out[i * m + j] = sum;
}
