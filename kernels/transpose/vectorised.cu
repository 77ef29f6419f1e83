/*
 * vectorised.cu: 16-byte accesses all the way: from global memory, through shared memory without
 * conflicts (tile.h), and back. All loads of a thread are in flight before it waits for the
 * first. The order in which blocks take tiles decides how the accesses spread over DRAM: going
 * down all of a column of tiles first (GROUP as large as it gets) was the fastest on the H200;
 * narrower bands and a diagonal order can be tried.
 */
// arch: sm_75
#include "device.h"
#define TILE_ROWS 128 // tune: 32 64 128
#define TILE_COLS 64 // tune: 32 64 128
#define UNROLL 1 // tune: 1 2
#define GROUP 1024 // tune: 1 2 4 8 16 32 64 1024
#define DIAGONAL 0 // tune: 0 1
#define STORE_STREAMING 1 // tune: 0 1
#include "tile.h"

typedef struct {
    u32 row, col;
} position;

/* Which tile a block takes: down the GROUP tiles of a band first, then to the right. DIAGONAL
 * starts each row of tiles one further to the right. */
DEVICE position tile_of(u32 block, u32 down, u32 across)
{
    position p;
    u32 most = (u32)least(GROUP, down), band = block / (most * across);
    u32 within = block % (most * across), height = (u32)least(most, down - band * most);
    p.row = band * most + within % height;
    p.col = DIAGONAL ? (within / height + p.row) % across : within / height;
    return p;
}

KERNEL __launch_bounds__(BLOCK) transpose(const f32 *in, f32 *out, i64 rows, i64 cols)
{
    DYNAMIC_SHARED(bytes);
    f32x4 *tile = (f32x4 *)bytes;
    position at = tile_of(block_x(), (u32)((rows + TILE_ROWS - 1) / TILE_ROWS),
                          (u32)((cols + TILE_COLS - 1) / TILE_COLS));
    i64 row0 = (i64)at.row * TILE_ROWS, col0 = (i64)at.col * TILE_COLS;
    i64 here_rows = rows - row0, here_cols = cols - col0;
    bool whole = here_rows >= TILE_ROWS && here_cols >= TILE_COLS;
    in += row0 * cols + col0;
    out += col0 * rows + row0;

    if (whole && cols % 4 == 0 && is_aligned(in, 16)) {
        square s[UNROLL];
        fetch(s, in, cols);
        put(tile, s);
    } else {
        fetch_and_put_some(tile, in, cols, here_rows, here_cols);
    }
    sync_block();
    if (whole && rows % 4 == 0 && is_aligned(out, 16))
        leave(tile, out, rows);
    else
        leave_some(tile, out, rows, here_rows, here_cols);
}
