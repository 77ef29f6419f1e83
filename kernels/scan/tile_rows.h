/*
 * tile_rows.h: a tile of BLOCK threads with ROWS vectors each, scanned by itself in registers while
 * nobody knows yet what comes before it. Included once for each element type.
 */

/* This thread's part: its vectors, each summed up from its own beginning. */
typedef struct {
    T4 row[ROWS];
    T before[ROWS]; /* in this warp: the row's lanes below, and the rows above */
} NAME(tile);

DEVICE i64 NAME(first_of)(i64 tile)
{
    return tile * TILE + thread_x() / 32 * WARP_ELEMENTS + thread_x() % 32 * 4;
}

/* From the elements as they were loaded; returns the sum of the warp's. */
DEVICE T NAME(scan_rows)(NAME(tile) * tile)
{
    T sum = 0;
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        T4 v = tile->row[row];
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        tile->row[row] = v;
        tile->before[row] = SCAN_WARP(v.w);
    }
#pragma unroll
    for (u32 row = 0; row < ROWS; row++) {
        T whole = OF_LANE(tile->before[row], 31), below = UP(tile->before[row], 1);
        tile->before[row] = sum + (thread_x() % 32 ? below : 0);
        sum += whole;
    }
    return sum;
}

/* before: of the warp. */
DEVICE void NAME(write_rows)(const NAME(tile) * mine, T *out, i64 n, i64 tile, T before,
                             bool aligned, bool exclusive)
{
    i64 at = NAME(first_of)(tile);
#pragma unroll
    for (u32 row = 0; row < ROWS; row++, at += 128) {
        T4 v = mine->row[row];
        T base = before + mine->before[row];
        T4 with = {base + v.x, base + v.y, base + v.z, base + v.w};
        T4 without = {base, with.x, with.y, with.z};
        STORE4(out + at, n - at, aligned, exclusive ? without : with);
    }
}
