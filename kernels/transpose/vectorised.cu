/*
 * vectorised.cu: 16-byte accesses all the way: from global memory, through shared memory without
 * conflicts (tile.h), and back. All loads of a thread are in flight before it waits for the first.
 * The order in which blocks take tiles decides how the accesses spread over DRAM: on the H200,
 * going down whole columns of tiles (the largest GROUP) was fastest; narrower bands and a diagonal
 * order are there to try.
 */
// arch: sm_75
#define TILE_ROWS 128 // tune: 32 64 128
#define TILE_COLS 64 // tune: 32 64 128
#define UNROLL 1 // tune: 1 2
#define GROUP 1024 // tune: 1 2 4 8 16 32 64 1024
#define DIAGONAL 0 // tune: 0 1
#define STORE_STREAMING 1 // tune: 0 1
#include "tile.h"

extern "C" __global__ void __launch_bounds__(BLOCK)
transpose(const float *in, float *out, long long rows, long long cols)
{
    extern __shared__ float4 tile[]; // [TILE_COLS][TILE_ROWS / 4], swizzled

    /* Tiles are taken in bands of GROUP rows of tiles: down a band first, then to the right.
     * DIAGONAL starts each row of tiles one further to the right. */
    unsigned down = (rows + TILE_ROWS - 1) / TILE_ROWS, across = (cols + TILE_COLS - 1) / TILE_COLS;
    unsigned band_height = down < GROUP ? down : GROUP;
    unsigned band = blockIdx.x / (band_height * across);
    unsigned within = blockIdx.x % (band_height * across);
    unsigned height = min(band_height, down - band * band_height); /* the last band may be lower */
    unsigned tile_row = band * band_height + within % height, tile_col = within / height;
    if (DIAGONAL)
        tile_col = (tile_col + tile_row) % across;

    long long row0 = (long long)tile_row * TILE_ROWS, col0 = (long long)tile_col * TILE_COLS;
    long long here_rows = rows - row0, here_cols = cols - col0;
    bool whole = here_rows >= TILE_ROWS && here_cols >= TILE_COLS;
    in += row0 * cols + col0;
    out += col0 * rows + row0;

    if (whole && cols % 4 == 0 && (unsigned long long)in % 16 == 0) {
        square s[UNROLL];
        load_squares(s, in, cols);
        store_squares(tile, s);
    } else {
        load_elements(tile, in, cols, here_rows, here_cols);
    }
    __syncthreads();
    if (whole && rows % 4 == 0 && (unsigned long long)out % 16 == 0)
        write_columns(tile, out, rows);
    else
        write_elements(tile, out, rows, here_rows, here_cols);
}
