/*
 * naive.cu: a thread for each element of C, a dot product each. The threads of a warp stand one
 * below the other in C, so that each load of A and each store to C touches 32 rows: 32 sectors of
 * which one word each is used. The mapping is the only mistake; coalesced.cu corrects it.
 */
// arch: sm_75
#include "device.h"
#define ACROSS 16 // tune: 16 32

KERNEL matmul(const f32 *a, const f32 *b, f32 *c, i64 m, i64 n, i64 k)
{
    i64 row = (i64)block_x() * 32 + thread_x();
    i64 column = (i64)block_y() * ACROSS + thread_y();
    if (row >= m || column >= n)
        return;
    f32 sum = 0;
    for (i64 i = 0; i < k; i++)
        sum = fma_f32(a[row * k + i], b[i * n + column], sum);
    c[row * n + column] = sum;
}
