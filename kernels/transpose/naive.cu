/*
 * naive.cu: each thread moves its elements straight to their places. A warp reads 32 neighbours
 * of a row, 128 bytes in one request, and writes them into 32 rows of the result: 32 sectors of
 * 32 bytes, 4 bytes used of each.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define TILE 32

KERNEL __launch_bounds__(BLOCK) transpose(const f32 *in, f32 *out, i64 rows, i64 cols)
{
    u32 across = (u32)((cols + TILE - 1) / TILE);
    i64 row0 = (i64)(block_x() / across) * TILE;
    i64 col = block_x() % across * TILE + thread_x() % TILE;
    for (u32 y = thread_x() / TILE; y < TILE; y += BLOCK / TILE)
        if (row0 + y < rows && col < cols)
            out[col * rows + row0 + y] = in[(row0 + y) * cols + col];
}
