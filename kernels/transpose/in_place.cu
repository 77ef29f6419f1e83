/*
 * in_place.cu: transposes a square matrix within its own memory. A block takes a tile and its
 * mirror image into shared memory and writes each to where the other was. No other block touches
 * either, so none waits for another. Half the memory, and the same bytes moved.
 */
// arch: sm_75
#define TILE 64 // tune: 32 64 128
#define UNROLL 1 // tune: 1 2
#define STORE_STREAMING 1 // tune: 0 1
#define TILE_ROWS TILE
#define TILE_COLS TILE
#include "tile.h"

/* Swaps the tile at (i, j) with the one at (j, i), where i <= j; a tile on the diagonal is its own
 * mirror image. tiles has room for both. */
static __device__ __forceinline__ void swap_tiles(float4 *tiles, float *a, long long n, long long i,
                                                  long long j)
{
    float4 *mirror = tiles + TILE * TILE / 4;
    float *here = a + i * TILE * n + j * TILE, *there = a + j * TILE * n + i * TILE;
    long long here_rows = n - i * TILE, here_cols = n - j * TILE;
    bool vectors = here_cols >= TILE && n % 4 == 0 && (unsigned long long)a % 16 == 0;
    if (vectors) {
        square s[UNROLL], m[UNROLL];
        load_squares(s, here, n);
        load_squares(m, there, n);
        store_squares(tiles, s);
        store_squares(mirror, m);
    } else {
        load_elements(tiles, here, n, here_rows, here_cols);
        load_elements(mirror, there, n, here_cols, here_rows);
    }
    __syncthreads();
    if (vectors) {
        write_columns(tiles, there, n);
        if (i < j)
            write_columns(mirror, here, n);
    } else {
        write_elements(tiles, there, n, here_rows, here_cols);
        if (i < j)
            write_elements(mirror, here, n, here_cols, here_rows);
    }
}

/* The triangle of pairs is folded into a rectangle of `odd` columns: row i of the triangle has
 * odd - i pairs and row odd - i has i, together one row of the rectangle. An even number of tiles
 * counts as one more, and the blocks of that one have nothing to do. */
extern "C" __global__ void __launch_bounds__(BLOCK) transpose_square(float *a, long long n)
{
    extern __shared__ float4 tiles[];
    unsigned count = (n + TILE - 1) / TILE, odd = count | 1;
    unsigned row = blockIdx.x / odd, col = blockIdx.x % odd;
    unsigned i = col >= row ? row : odd - row, j = col >= row ? col : odd - 1 - col;
    if (j < count)
        swap_tiles(tiles, a, n, i, j);
}
