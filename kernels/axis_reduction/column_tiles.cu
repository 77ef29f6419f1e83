/*
 * column_tiles.cu: 32 columns a block: each warp takes every eighth row of them, a line at a time,
 * and shared memory brings the warps' sums together. Columns need no longer be as many as threads:
 * the rows keep a block busy. One column leaves 31 lanes idle.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define WARPS (BLOCK / 32)

KERNEL __launch_bounds__(BLOCK) reduce(const f32 *in, i64 middle, i64 inner, u32 tiles, f32 *out)
{
    __shared__ f32 part[WARPS][32];
    u32 lane = thread_x() % 32, warp = thread_x() / 32;
    i64 plane = block_x() / tiles, column = (i64)(block_x() % tiles) * 32 + lane;
    const f32 *at = in + plane * middle * inner + column;
    f32 sum = 0;
    if (column < inner)
        for (i64 row = warp; row < middle; row += WARPS)
            sum += at[row * inner];
    part[warp][lane] = sum;
    sync_block();
    if (warp > 0 || column >= inner)
        return;
    for (u32 k = 1; k < WARPS; k++)
        sum += part[k][lane];
    out[plane * inner + column] = sum;
}
