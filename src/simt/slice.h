/*
 * slice.h: how a path's turn begins and ends, for both run loops (run.c, exec_watch.c).
 */
#ifndef LOCKSTEP_SIMT_SLICE_H
#define LOCKSTEP_SIMT_SLICE_H

#include "simt/core.h"

static inline const struct simt_inst *simt_slice_begin(struct simt_warp_state *warp,
                                                       struct simt_path *path, int32_t fuel)
{
    simt_path_enter(warp, path);
    warp->fuel = warp->slice_fuel = fuel;
    warp->sync_ops = 0;
    return path->ip;
}

/* in: where it goes on; NULL if it waits or has ended. True: its slice was used up. */
static inline bool simt_slice_end(struct simt_warp_state *warp, const struct simt_inst *in,
                                  uint64_t count)
{
    struct simt_worker *worker = warp->w.block->worker;
    worker->instructions += count;
    worker->ticks += (uint64_t)(warp->slice_fuel - warp->fuel);
    if (in)
        warp->w.path->ip = in;
    return in != NULL;
}

#endif
