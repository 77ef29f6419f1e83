/*
 * replay.h: a short piece of a launch, event by event and in modelled time, to be played back
 * (docs/replay.md). LOCKSTEP_REPLAY=launches:0-3,blocks:0-0,events:16000 chooses; each part is
 * optional. All warps of the chosen blocks are in it. Times are those of units.h: a launch that
 * would not be followed in time is, for its chosen blocks only, and its counters stay as they are.
 */
#ifndef LOCKSTEP_WATCH_REPLAY_H
#define LOCKSTEP_WATCH_REPLAY_H

#include "watch/count.h"

struct replay *replay_open(void); /* by LOCKSTEP_REPLAY, or NULL */
void replay_close(struct replay *replay);
/* A launch begins; is it to be played back? */
bool replay_launch(struct replay *replay, const struct simt_launch_state *launch);
bool replay_has(const struct replay *replay, const struct simt_block *block);

/* An instruction that does not touch memory. */
void replay_step(struct replay *replay, struct units *units, const struct simt_warp *w,
                 const struct simt_inst *in);
/* What an access will add to is as in before; then it has been counted. */
struct replay_before {
    double time;
    struct count_memory memory;
};
void replay_access(struct replay *replay, const struct watch_access *access,
                   const struct replay_before *before, const struct count_memory *now);
/* A barrier has let its warps go; a block ends. */
void replay_barrier(struct replay *replay, struct units *units, const struct simt_block *block,
                    uint32_t id);
void replay_end(struct replay *replay, struct units *units, const struct simt_block *block);

/* One line after the launch's, if it was chosen. */
void replay_write(struct replay *replay, const struct simt_launch_state *launch, FILE *file);

#endif
