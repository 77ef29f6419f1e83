/*
 * slice.h: how a path's turn begins and ends, for both run loops (run.c, exec_watch.c).
 */
#ifndef LOCKSTEP_SIMT_SLICE_H
#define LOCKSTEP_SIMT_SLICE_H

#include "simt/clock.h"

static inline const struct simt_inst *simt_slice_begin(struct simt_warp_state *warp,
                                                       struct simt_path *path, int32_t fuel)
{
    simt_path_enter(warp, path);
    warp->fuel = warp->slice_fuel = fuel;
    warp->sync_ops = 0;
    warp->vain_waits = 0;
    warp->blind_ops = 0;
    warp->waits_for_clock = false;
    return path->ip;
}

/* in: where it goes on; NULL if it waits or has ended. True: its slice was used up. */
static inline bool simt_slice_end(struct simt_warp_state *warp, const struct simt_inst *in,
                                  uint64_t count)
{
    warp->w.block->worker->instructions += count;
    warp->executed = count;
    warp->clock = simt_clock(warp);
    warp->ran = warp->slice_fuel;
    warp->slice_fuel = warp->fuel;
    if (in)
        warp->w.path->ip = in;
    return in != NULL;
}

#endif
