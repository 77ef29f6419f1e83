/*
 * taint_lanes.c: undefined values that go from lane to lane: shuffles, votes and the like, of all
 * lanes that have come together; and shuffles from lanes that do not take part.
 */
#include "check/taint.h"

/* The instruction by which a lane takes part, and its frame: lanes may come from elsewhere. */
static const struct simt_inst *part_of(struct simt_warp *w, const struct simt_inst *in, int lane,
                                       const struct simt_frame **frame)
{
    const struct simt_warp_state *state = simt_state(w);
    *frame = w->path->frame;
    if (w->mask >> lane & 1)
        return in;
    for (int i = 0; i < SIMT_LANES; i++) {
        const struct simt_path *path = &state->paths[i];
        if (path->state != SIMT_PATH_SYNC || !(path->sync_lanes >> lane & 1))
            continue;
        *frame = path->frame;
        return path->ip;
    }
    return in;
}

/* Which lane a shuffle reads; -1: its own value, because that lane is out of range. */
static int source_of(const struct simt_inst *in, const struct simt_frame *frame, int lane)
{
    uint32_t offset = ((const uint32_t *)(const void *)(frame->regs + in->b))[lane] & 31;
    uint32_t c = ((const uint32_t *)(const void *)(frame->regs + in->c))[lane];
    int segment = c >> 8 & 31, clamp = c & 31;
    int highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment, from;
    if (ptx_has(in->ptx, PTX_MOD_UP)) {
        from = lane - (int)offset;
        return from >= highest ? from & 31 : -1;
    }
    from = ptx_has(in->ptx, PTX_MOD_DOWN)   ? lane + (int)offset
           : ptx_has(in->ptx, PTX_MOD_BFLY) ? lane ^ (int)offset
                                            : lowest | ((int)offset & ~segment);
    return from <= highest ? from & 31 : -1;
}

/* An undefined lane is read: is the value used later? */
static uint64_t undefined_shuffle(struct check *check, struct simt_warp *w,
                                  const struct simt_inst *in, int lane, int from, uint32_t mask)
{
    struct check_pending pending = {.kind = CHECK_SYNC_MASK,
                                    .side = check_side_of(w, in, lane, in->ptx->text),
                                    .inst = (uint32_t)(in - check->launch->code->insts),
                                    .lane = from,
                                    .why = !(w->live >> from & 1) ? "has exited"
                                           : mask >> from & 1     ? "does not execute it"
                                                                  : "the mask does not name",
                                    .mask = mask};
    return check_pending_add(check, &pending);
}

static void shuffle(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                    uint32_t lanes)
{
    struct check_warp *warp = check_warp_of(w);
    struct taint values = {0};
    uint32_t named = SIMT_ALL;
    for (int i = 0; i < SIMT_LANES; i++)
        named &= SIMT_SLOT(const uint32_t, in->e)[i];
    if (!warp->taint && w->mask == SIMT_ALL && named == SIMT_ALL)
        return; /* all lanes are here, and name all */
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_frame *frame, *their_frame;
        const struct simt_inst *mine = part_of(w, in, lane, &frame);
        uint32_t mask = ((const uint32_t *)(const void *)(frame->regs + mine->e))[lane];
        int from = source_of(mine, frame, lane);
        from = from < 0 ? lane : from;
        if (!(lanes >> from & 1) || !(mask >> from & 1)) {
            values.origins[lane] = undefined_shuffle(check, w, mine, lane, from, mask);
            values.lanes |= 1u << lane;
            continue;
        }
        const struct simt_inst *theirs = part_of(w, in, from, &their_frame);
        struct taint value = taint_of(taint_find(warp, their_frame), &theirs->ptx->operands[1]);
        values.lanes |= (value.lanes >> from & 1) << lane;
        values.origins[lane] = value.origins[from];
    }
    for (uint32_t rest = values.lanes || warp->taint ? lanes : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_frame *frame;
        const struct simt_inst *mine = part_of(w, in, lane, &frame);
        if (mine->ptx->operands[0].kind == PTX_OPERAND_REG)
            taint_set(check, warp, frame, mine->ptx->operands[0].reg, &values, 1u << lane);
    }
}

void check_taint_sync(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                      uint32_t lanes)
{
    struct check_warp *warp = check_warp_of(w);
    const struct simt_frame *frame;
    if (in->ptx->op == PTX_OP_SHFL) {
        shuffle(check, w, in, lanes);
        return;
    }
    if (!warp->taint || ptx_op_infos[in->ptx->op].group != PTX_GROUP_WARP)
        return;
    struct taint all = {0};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const struct simt_inst *part = part_of(w, in, __builtin_ctz(rest), &frame);
        struct taint mine = taint_sources(taint_find(warp, frame), part->ptx);
        taint_join(&all, &mine, rest & -rest);
    }
    all = taint_spread(&all, SIMT_ALL);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const struct simt_inst *part = part_of(w, in, __builtin_ctz(rest), &frame);
        taint_set_results(check, warp, frame, part->ptx, &all, rest & -rest);
    }
}
