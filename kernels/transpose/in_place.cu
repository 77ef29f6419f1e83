/*
 * in_place.cu: a square matrix within its own memory: a block takes a tile and its mirror image,
 * holds both in shared memory, and writes each to where the other was. Nobody else touches
 * either, so that no block waits for another. Half the memory, and the same bytes moved.
 */
// arch: sm_75
#include "device.h"
#define TILE 64 // tune: 32 64 128
#define UNROLL 1 // tune: 1 2
#define STORE_STREAMING 1 // tune: 0 1
#define TILE_ROWS TILE
#define TILE_COLS TILE
#include "tile.h"

/* The tile at (i, j) and the one at (j, i), with i <= j; the same where they are equal. */
DEVICE void swap_tiles(f32x4 *tile, f32 *a, i64 n, i64 i, i64 j)
{
    f32x4 *mirrored = tile + TILE_BYTES / 16;
    f32 *here = a + i * TILE * n + j * TILE, *there = a + j * TILE * n + i * TILE;
    i64 here_rows = n - i * TILE, here_cols = n - j * TILE;
    bool vectors = here_cols >= TILE && n % 4 == 0 && is_aligned(a, 16);
    if (vectors) {
        square s[UNROLL], m[UNROLL];
        fetch(s, here, n);
        fetch(m, there, n);
        put(tile, s);
        put(mirrored, m);
    } else {
        fetch_and_put_some(tile, here, n, here_rows, here_cols);
        fetch_and_put_some(mirrored, there, n, here_cols, here_rows);
    }
    sync_block();
    if (vectors) {
        leave(tile, there, n);
        if (i < j)
            leave(mirrored, here, n);
    } else {
        leave_some(tile, there, n, here_rows, here_cols);
        if (i < j)
            leave_some(mirrored, here, n, here_cols, here_rows);
    }
}

/* Folds the triangle of pairs to a rectangle: row i has odd - i of them and row odd - i has i,
 * which are odd together. An even number of tiles counts as one more, whose blocks have nothing
 * to do. */
KERNEL __launch_bounds__(BLOCK) transpose_square(f32 *a, i64 n)
{
    DYNAMIC_SHARED(bytes);
    u32 tiles = (u32)((n + TILE - 1) / TILE), odd = tiles | 1;
    u32 row = block_x() / odd, col = block_x() % odd;
    u32 i = col >= row ? row : odd - row, j = col >= row ? col : odd - 1 - col;
    if (j < tiles)
        swap_tiles((f32x4 *)bytes, a, n, i, j);
}
