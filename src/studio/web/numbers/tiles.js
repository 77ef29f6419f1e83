/*
 * tiles.js: who computes what in a tiled product of two n x n matrices: a block of tile x tile
 * threads makes a tile of C, and goes through A and B in steps of a tile.
 */

/* Blocks in each direction, and steps along k. */
export function tileCount(n, tile) {
    return Math.ceil(n / tile);
}

/* What a thread owns in C, and which elements it carries into shared memory in a step. */
export function coordinates({ n, tile, bx, by, tx, ty, step }) {
    const row = by * tile + ty, col = bx * tile + tx;
    const first = step * tile;
    const element = (r, c) =>
        ({ row: r, col: c, index: r * n + c, inside: r < n && c < n });
    return { first, c: element(row, col), a: element(row, first + tx),
        b: element(first + ty, col) };
}

/* The tiles as rectangles, cut at the edge: [row, col, rows, cols] in elements. */
export function tileOf(n, tile, tileRow, tileCol) {
    const row = tileRow * tile, col = tileCol * tile;
    return { row, col, rows: Math.max(0, Math.min(tile, n - row)),
        cols: Math.max(0, Math.min(tile, n - col)) };
}

/* Threads of the whole grid that own no element of C: the guard turns them away. */
export function guarded(n, tile) {
    const side = tileCount(n, tile) * tile;
    return side * side - n * n;
}

/* The length of a row, from the first global load of a warp that spans two rows of its block: lanes
 * one block's width apart read one row apart. null where the trace does not show it, or shows the
 * impossible: a row ends in the grid's last block. */
export function rowFromTrace(launch) {
    const wide = launch.block[0], blocks = Math.max(launch.grid[0], launch.grid[1]);
    const load = (launch.records ?? []).find((record) => record.block === 0 && record.warp === 0 &&
        record.kind === "load" && record.space === "global" && record.bytes === 4 &&
        record.addresses[0] !== 0 && record.addresses[wide]);
    if (!load)
        return null;
    const row = (load.addresses[wide] - load.addresses[0]) / 4;
    return row > (blocks - 1) * wide && row <= blocks * wide ? row : null;
}
