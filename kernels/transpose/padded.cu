/*
 * padded.cu: one word more in each row of the tile. The words of a column are now 33 apart, and
 * lie in 32 different banks.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define TILE 32

KERNEL __launch_bounds__(BLOCK) transpose(const f32 *in, f32 *out, i64 rows, i64 cols)
{
    __shared__ f32 tile[TILE][TILE + 1];
    u32 across = (u32)((cols + TILE - 1) / TILE), x = thread_x() % TILE;
    i64 row0 = (i64)(block_x() / across) * TILE, col0 = block_x() % across * TILE;
    for (u32 y = thread_x() / TILE; y < TILE; y += BLOCK / TILE)
        if (row0 + y < rows && col0 + x < cols)
            tile[y][x] = in[(row0 + y) * cols + col0 + x];
    sync_block();
    for (u32 y = thread_x() / TILE; y < TILE; y += BLOCK / TILE)
        if (row0 + x < rows && col0 + y < cols)
            out[(col0 + y) * rows + row0 + x] = tile[x][y];
}
