/*
 * points.h: what the tiled kernels share: sets of vectors with zero around them, so that tiles at
 * the edges need no code of their own, and filling a tile of shared memory with some of them.
 */
#include "device.h"

typedef struct {
    const f32 *at; /* [count][length] */
    i64 count, length;
} points;

DEVICE points points_of(const f32 *at, i64 count, i64 length)
{
    points p = {at, count, length};
    return p;
}

/* tile[rows][row] = `across` elements of `rows` vectors, from (first, from) on, by all threads, who
 * read neighbours. All but p, first and from are constants, so that the loop goes away. */
DEVICE void fill_tile(f32 *tile, u32 rows, u32 across, u32 row, points p, i64 first, i64 from,
                      u32 thread, u32 threads)
{
    u32 count = rows * across;
#pragma unroll
    for (u32 t = 0; t < count; t += threads) {
        u32 i = t + thread;
        if (count % threads != 0 && i >= count)
            continue;
        i64 vector = first + i / across, element = from + i % across;
        bool inside = vector < p.count && element < p.length;
        tile[i / across * row + i % across] = inside ? p.at[vector * p.length + element] : 0.0f;
    }
}
