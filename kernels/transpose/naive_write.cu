/*
 * naive_write.cu: the other way round: a warp writes 32 neighbours of the result and gathers them
 * from 32 rows. As many sectors as before, but reads that fetch too much may find the rest of it
 * in a cache later, whereas a write of 4 bytes is 4 bytes.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define TILE 32

KERNEL __launch_bounds__(BLOCK) transpose(const f32 *in, f32 *out, i64 rows, i64 cols)
{
    u32 across = (u32)((cols + TILE - 1) / TILE);
    i64 row = (i64)(block_x() / across) * TILE + thread_x() % TILE;
    i64 col0 = block_x() % across * TILE;
    for (u32 x = thread_x() / TILE; x < TILE; x += BLOCK / TILE)
        if (row < rows && col0 + x < cols)
            out[(col0 + x) * rows + row] = in[row * cols + col0 + x];
}
