/*
 * row.h: how a warp reads and writes rows of 32, a lane an element.
 */
#ifndef LOCKSTEP_WARP_VOTE_ROW_H
#define LOCKSTEP_WARP_VOTE_ROW_H

/* A warp's first row, and how far it is to its next one. */
DEVICE i64 first_row(void)
{
    return global_thread() / 32;
}
DEVICE i64 row_step(void)
{
    return global_threads() / 32;
}

/* Elements that stay go to the front, the zeros behind them: every place is written once. */
DEVICE void store_compacted(i32 *out, i64 row, i32 value, u32 before, u32 count)
{
    u32 place = value ? before : count + lane_id() - before;
    out[row * 32 + place] = value;
}

#endif
