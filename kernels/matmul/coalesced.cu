/*
 * coalesced.cu: as naive.cu, but the threads of a warp stand side by side in a row of C: they read
 * 32 neighbours of B, which are four whole sectors, and one element of A for all. Every element
 * still comes from the caches as often as there are elements of C that need it.
 */
// arch: sm_75
#include "device.h"
#define DOWN 8 // tune: 4 8 16 32

KERNEL matmul(const f32 *a, const f32 *b, f32 *c, i64 m, i64 n, i64 k)
{
    i64 row = (i64)block_x() * DOWN + thread_y();
    i64 column = (i64)block_y() * 32 + thread_x();
    if (row >= m || column >= n)
        return;
    f32 sum = 0;
    for (i64 i = 0; i < k; i++)
        sum = fma_f32(a[row * k + i], b[i * n + column], sum);
    c[row * n + column] = sum;
}
