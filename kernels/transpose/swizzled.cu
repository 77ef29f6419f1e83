/*
 * swizzled.cu: no padding: the word of column x lies at x ^ y in row y. A row is still a
 * permutation of 32 banks, and so is a column. The tile stays a power of two, which is what
 * 16-byte accesses and bulk copies need.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define TILE 32

KERNEL __launch_bounds__(BLOCK) transpose(const f32 *in, f32 *out, i64 rows, i64 cols)
{
    __shared__ f32 tile[TILE][TILE];
    u32 across = (u32)((cols + TILE - 1) / TILE), x = thread_x() % TILE;
    i64 row0 = (i64)(block_x() / across) * TILE, col0 = block_x() % across * TILE;
    for (u32 y = thread_x() / TILE; y < TILE; y += BLOCK / TILE)
        if (row0 + y < rows && col0 + x < cols)
            tile[y][x ^ y] = in[(row0 + y) * cols + col0 + x];
    sync_block();
    for (u32 y = thread_x() / TILE; y < TILE; y += BLOCK / TILE)
        if (row0 + x < rows && col0 + y < cols)
            out[(col0 + y) * rows + row0 + x] = tile[x][y ^ x];
}
