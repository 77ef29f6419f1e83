/*
 * block_per_row.cu: a whole block for each row: with long rows and fewer of them than there are
 * warps, more threads have something to do, at the price of a barrier for each row. Rows only.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 64 128 256 512 1024
#include "sums.h"

KERNEL __launch_bounds__(BLOCK) reduce(const f32 *in, i64 length, f32 *out)
{
    const f32 *at = in + (i64)block_x() * length;
    f32 sum = 0;
    for (i64 k = thread_x(); k < length; k += BLOCK)
        sum += at[k];
    sum = sum_block(sum);
    if (thread_x() == 0)
        out[block_x()] = sum;
}
