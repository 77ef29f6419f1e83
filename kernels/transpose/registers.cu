/*
 * registers.cu: no shared memory at all. A thread reads 4 x 4 elements as four vectors, turns
 * them over in registers and writes four vectors. ACROSS lanes of a warp lie side by side and the
 * others below them, so that each request covers whole sectors, reading and writing: what global
 * memory wants is not whole rows but whole sectors of 32 bytes.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512
#define ACROSS 8 // tune: 2 4 8 16
#define STORE_STREAMING 1 // tune: 0 1
#define TILE_COLS (4 * ACROSS)
#define TILE_ROWS (4 * (BLOCK / ACROSS))

DEVICE void store_vector(f32 *at, f32 x, f32 y, f32 z, f32 w)
{
    f32x4 v = {x, y, z, w};
    if (STORE_STREAMING)
        store_stream_f32x4(at, v);
    else
        store_f32x4(at, v);
}

DEVICE void move_square(const f32 *in, f32 *out, i64 rows, i64 cols)
{
    f32x4 r[4];
#pragma unroll
    for (u32 j = 0; j < 4; j++)
        r[j] = load_once_f32x4(in + j * cols);
    store_vector(out, r[0].x, r[1].x, r[2].x, r[3].x);
    store_vector(out + rows, r[0].y, r[1].y, r[2].y, r[3].y);
    store_vector(out + 2 * rows, r[0].z, r[1].z, r[2].z, r[3].z);
    store_vector(out + 3 * rows, r[0].w, r[1].w, r[2].w, r[3].w);
}

KERNEL __launch_bounds__(BLOCK) transpose(const f32 *in, f32 *out, i64 rows, i64 cols)
{
    u32 across = (u32)((cols + TILE_COLS - 1) / TILE_COLS);
    i64 row = (i64)(block_x() / across) * TILE_ROWS + 4 * (thread_x() / ACROSS);
    i64 col = (i64)(block_x() % across) * TILE_COLS + 4 * (thread_x() % ACROSS);
    if (rows % 4 == 0 && cols % 4 == 0 && is_aligned(in, 16) && is_aligned(out, 16)) {
        if (row < rows && col < cols)
            move_square(in + row * cols + col, out + col * rows + row, rows, cols);
        return;
    }
    for (i64 y = row; y < least(row + 4, rows); y++)
        for (i64 x = col; x < least(col + 4, cols); x++)
            out[x * rows + y] = in[y * cols + x];
}
