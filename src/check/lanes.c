/*
 * lanes.c: what lanes of one warp know of each other. A .sync instruction orders the lanes that
 * name the same mask, even where one instruction serves several groups of a warp (tiles): what a
 * tile did is unknown to its neighbours until a mask names them both.
 */
#include "check/check.h"

bool check_mask_slot(const struct simt_inst *in, uint32_t *slot)
{
    switch (in->ptx->op) {
    case PTX_OP_BAR_WARP_SYNC:
    case PTX_OP_ELECT:
        *slot = in->a;
        return true;
    case PTX_OP_VOTE_PRED:
    case PTX_OP_VOTE_BALLOT:
    case PTX_OP_MATCH_ANY:
    case PTX_OP_MATCH_ALL:
    case PTX_OP_REDUX:
    case PTX_OP_REDUX_BITS:
    case PTX_OP_REDUX_F32:
        *slot = in->b;
        return true;
    case PTX_OP_SHFL:
        *slot = in->e;
        return true;
    default:
        return false;
    }
}

/* The mask that each of the lanes names. Lanes that waited elsewhere (other registers, another
 * frame) named the union of their group's masks. */
static void masks_of(struct simt_warp *w, const struct simt_inst *in, uint32_t slot, uint32_t lanes,
                     uint32_t masks[SIMT_LANES])
{
    const struct simt_warp_state *state = simt_state(w);
    memcpy(masks, w->regs + slot, SIMT_LANES * sizeof(*masks));
    for (int i = 0; lanes & ~w->mask && i < SIMT_LANES; i++) {
        const struct simt_path *path = &state->paths[i];
        uint32_t theirs = path->sync_lanes & lanes & ~w->mask;
        if (path->state != SIMT_PATH_SYNC || (path->ip == in && path->frame->regs == w->regs))
            continue;
        for (uint32_t rest = theirs; rest; rest &= rest - 1)
            masks[__builtin_ctz(rest)] = path->sync_members;
    }
}

/* Lanes that a .sync has brought together know what each of them knew. */
static void sync_some(struct check_warp *warp, uint32_t lanes, uint32_t base, uint32_t now)
{
    if (!warp->seen) {
        warp->seen = lk_alloc(SIMT_LANES * sizeof(*warp->seen));
        for (int i = 0; i < SIMT_LANES; i++)
            for (int k = 0; k < SIMT_LANES; k++)
                warp->seen[i][k] = base;
    }
    uint32_t row[SIMT_LANES] = {0};
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        for (int k = 0, i = __builtin_ctz(rest); k < SIMT_LANES; k++)
            row[k] = warp->seen[i][k] > row[k] ? warp->seen[i][k] : row[k];
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        row[__builtin_ctz(rest)] = now;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        memcpy(warp->seen[__builtin_ctz(rest)], row, sizeof(row));
}

static bool all_same(const uint32_t masks[SIMT_LANES], uint32_t lanes)
{
    uint32_t first = masks[__builtin_ctz(lanes)], other = 0;
    for (int i = 0; i < SIMT_LANES; i++)
        other |= lanes >> i & 1 ? masks[i] ^ first : 0;
    return !other;
}

void check_order_warp_sync(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                           uint32_t lanes)
{
    struct check_block *block = w->block->check;
    struct check_warp *warp = &block->warps[w->index];
    uint32_t *whole = &check_known_by(block, w->index)[w->index];
    uint32_t masks[SIMT_LANES], slot, live = w->live;
    bool together = true;
    if (!lanes)
        return;
    if (check_mask_slot(in, &slot)) {
        masks_of(w, in, slot, lanes, masks);
        together = all_same(masks, lanes);
    }
    if (together && (lanes & live) == live) {
        if (!warp->segment && *whole == check->time) /* nothing was touched since the last one */
            return;
        *whole = check->time;
    } else {
        for (uint32_t left = lanes, group; left; left &= ~group) {
            group = together ? left : 0;
            uint32_t mask = together ? left : masks[__builtin_ctz(left)];
            for (uint32_t rest = together ? 0 : left; rest; rest &= rest - 1)
                group |= masks[__builtin_ctz(rest)] == mask ? rest & -rest : 0;
            sync_some(warp, group, *whole, check->time);
        }
    }
    check_close_segment(warp);
}

/* Has the lane seen what these lanes of its warp did in the segment? */
bool check_lane_knows(const struct check_warp *warp, uint32_t lane, uint32_t segment, uint32_t info)
{
    uint32_t first = info & CHECK_LANE, second = info >> CHECK_SECOND_SHIFT & CHECK_LANE;
    if (!warp->seen)
        return false;
    bool knows = first == lane || segment <= warp->seen[lane][first];
    if (info & CHECK_MANY)
        knows &= second == lane || segment <= warp->seen[lane][second];
    return knows;
}
