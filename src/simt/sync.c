/*
 * sync.c: .sync instructions wait for the lanes they name.
 * Lanes may come from different places: PTX asks only that they execute the same operation with the
 * same mask (a compiler that unrolls a loop makes several instructions of one). When all are here,
 * the instruction runs once for all of them; lanes whose operands lie elsewhere, in other registers
 * or in another call's frame, lend them for that one run.
 */
#include "simt/watch.h"

#define FIELDS 6

/* The operand slots of a warp instruction: four that are read, then the two that are written. */
static void fields_of(const struct simt_inst *in, uint32_t slots[FIELDS])
{
    const uint32_t list[FIELDS] = {in->a, in->b, in->c, in->e, in->d, in->d2};
    memcpy(slots, list, sizeof(list));
}

/* Width of each field: all are 32 bits but votes' predicates and 64-bit matches. */
static unsigned field_bits(const struct ptx_inst *ptx, unsigned field)
{
    bool is_vote = ptx->op == PTX_OP_VOTE_PRED || ptx->op == PTX_OP_VOTE_BALLOT;
    switch (field) {
    case 0:
        return is_vote ? 1 : ptx->type_count && ptx->types[0] == PTX_B64 ? 64 : 32;
    case 4:
        return ptx->op == PTX_OP_VOTE_PRED ? 1 : 32;
    case 5:
        return 1;
    default:
        return 32;
    }
}

static void copy_field(uint8_t *to, const uint8_t *from, unsigned bits, uint32_t lanes)
{
    if (bits == 1) {
        uint32_t *d = (uint32_t *)(void *)to;
        *d = (*d & ~lanes) | (*(const uint32_t *)(const void *)from & lanes);
        return;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        size_t at = (size_t)__builtin_ctz(rest) * bits / 8;
        memcpy(to + at, from + at, bits / 8);
    }
}

static bool same_operation(const struct ptx_inst *a, const struct ptx_inst *b)
{
    return a->op == b->op && memcmp(a->mods, b->mods, sizeof(a->mods)) == 0 &&
           memcmp(a->types, b->types, sizeof(a->types)) == 0;
}

static bool waits_here(const struct simt_path *path, const struct simt_inst *in, uint32_t members)
{
    return path->state == SIMT_PATH_SYNC &&
           (path->ip == in ||
            (path->sync_members == members && same_operation(path->ip->ptx, in->ptx)));
}

static bool is_elsewhere(const struct simt_path *path, const struct simt_path *here,
                         const struct simt_inst *in)
{
    return (path->ip != in || path->frame != here->frame) && in->ptx->op != PTX_OP_BAR_WARP_SYNC;
}

/* Runs the instruction once for lanes, of which some have their operands elsewhere. */
static void run_together(struct simt_warp_state *warp, const struct simt_inst *in,
                         struct simt_path *const *others, unsigned count, uint32_t lanes)
{
    struct simt_warp *w = &warp->w;
    uint32_t here[FIELDS], there[FIELDS], mine = w->mask;
    uint8_t saved[FIELDS][SIMT_LANES * 8];
    fields_of(in, here);
    for (unsigned k = 0; k < FIELDS; k++)
        memcpy(saved[k], w->regs + here[k],
               field_bits(in->ptx, k) == 1 ? 4 : SIMT_LANES * field_bits(in->ptx, k) / 8);
    for (unsigned i = 0; i < count; i++) {
        fields_of(others[i]->ip, there);
        for (unsigned k = 0; k < 4; k++)
            copy_field(w->regs + here[k], others[i]->frame->regs + there[k], field_bits(in->ptx, k),
                       others[i]->sync_lanes);
    }
    w->mask = lanes;
    warp->gathered = true;
    in->run(w, in);
    warp->gathered = false;
    uint8_t results[2][SIMT_LANES * 8];
    for (unsigned k = 4; k < FIELDS; k++) {
        unsigned bits = field_bits(in->ptx, k);
        memcpy(results[k - 4], w->regs + here[k], bits == 1 ? 4 : SIMT_LANES * bits / 8);
    }
    for (unsigned k = 0; k < FIELDS; k++)
        copy_field(w->regs + here[k], saved[k], field_bits(in->ptx, k), lanes & ~mine);
    for (unsigned i = 0; i < count; i++) {
        fields_of(others[i]->ip, there);
        for (unsigned k = 4; k < FIELDS; k++)
            copy_field(others[i]->frame->regs + there[k], results[k - 4], field_bits(in->ptx, k),
                       others[i]->sync_lanes);
    }
}

bool simt_wait_lanes(struct simt_warp *w, const struct simt_inst *in, uint32_t members)
{
    struct simt_warp_state *warp = simt_state(w);
    struct simt_path *path = w->path, *others[SIMT_LANES];
    uint32_t missing = members & w->live & ~w->mask, here = 0;
    unsigned count = 0;
    bool elsewhere = false;
    if (!missing || warp->gathered) {
        if (w->block->launch->watch)
            simt_watch_warp_sync(w, in, members & w->live);
        return true;
    }
    for (int i = 0; i < SIMT_LANES; i++) {
        struct simt_path *other = &warp->paths[i];
        if (other == path || !(other->sync_lanes & missing) || !waits_here(other, in, members))
            continue;
        others[count++] = other;
        here |= other->sync_lanes;
        elsewhere |= is_elsewhere(other, path, in);
    }
    if (missing & ~here) {
        path->state = SIMT_PATH_SYNC;
        path->ip = in;
        path->sync_lanes = w->mask;
        path->sync_members = members;
        return false;
    }
    if (elsewhere && ptx_op_infos[in->ptx->op].group != PTX_GROUP_WARP) {
        simt_raise(w, in, SIMT_FAULT_UNSUPPORTED, -1,
                   "%s, whose lanes come from different places of the program", in->ptx->text);
        return false;
    }
    uint32_t lanes = w->mask | here;
    if (w->block->launch->watch)
        simt_watch_warp_sync(w, in, lanes);
    if (elsewhere)
        run_together(warp, in, others, count, lanes);
    path->ip = in + 1;
    for (unsigned i = 0; i < count; i++) {
        others[i]->state = SIMT_PATH_READY;
        others[i]->ip++;
    }
    simt_paths_merge(warp, path);
    w->path_mask = path->mask;
    w->mask = lanes;
    return !elsewhere; /* it has run; the path goes on from path->ip, in its turn */
}
