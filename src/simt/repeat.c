/*
 * repeat.c: the steps of a launch that is suspected of repeating itself for ever (stall.c). Its
 * warps' registers are compared with earlier ones there; here is what they leave elsewhere. A store
 * or an atomic is news if it changes what was there; whatever is not known to leave nothing behind
 * is news.
 */
#include "simt/access.h"
#include "simt/stall.h"

enum effect { EFFECT_NONE, EFFECT_READS, EFFECT_WRITES, EFFECT_ANY };

static enum effect effect_of(const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_LD:
    case PTX_OP_LD_NC:
    case PTX_OP_LD_SYNC:
    case PTX_OP_LDU:
        return EFFECT_READS;
    case PTX_OP_ST:
    case PTX_OP_ST_SYNC:
    case PTX_OP_ATOM:
    case PTX_OP_ATOM_NOFTZ:
    case PTX_OP_ATOM_CAS:
    case PTX_OP_ATOM_VEC:
    case PTX_OP_RED:
    case PTX_OP_RED_NOFTZ:
    case PTX_OP_RED_VEC:
        return EFFECT_WRITES;
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_MEMBAR_PROXY:
    case PTX_OP_FENCE_PROXY:
    case PTX_OP_FENCE_INIT:
    case PTX_OP_FENCE_RESTRICT:
    case PTX_OP_FENCE_PROXY_RESTRICT:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TEST_WAIT_PARITY:
    case PTX_OP_MBARRIER_TRY_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT_PARITY:
        return EFFECT_NONE;
    case PTX_OP_BAR_ARRIVE:
    case PTX_OP_BARRIER_ARRIVE: /* counted in the block, where no state of a warp has it */
        return EFFECT_ANY;
    default:
        break;
    }
    switch (ptx_op_infos[inst->op].group) {
    case PTX_GROUP_INTEGER:
    case PTX_GROUP_VIDEO:
    case PTX_GROUP_FLOAT:
    case PTX_GROUP_APPROX:
    case PTX_GROUP_HALF:
    case PTX_GROUP_COMPARE:
    case PTX_GROUP_MOVE:
    case PTX_GROUP_CONVERT:
    case PTX_GROUP_BARRIER:
    case PTX_GROUP_WARP:
        return EFFECT_NONE;
    default:
        return EFFECT_ANY;
    }
}

/* Printing, allocating, launching: the machine's own functions. */
static bool is_builtin_call(const struct simt_inst *in)
{
    const struct simt_call *call = (const struct simt_call *)(const void *)in->list;
    return in->ptx->op == PTX_OP_CALL && in->ptx->operands[1].kind == PTX_OPERAND_FUNCTION &&
           !call->callee;
}

/* May the host or another launch write what it reads? Notes it. */
static void note_outside(struct simt_warp *w, const struct simt_inst *in)
{
    enum ptx_space space = access_space(in->ptx);
    if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_GENERIC)
        return;
    bool narrow = in->flags & SIMT_FLAG_ADDRESS_32, outside = narrow;
    for (uint32_t rest = narrow ? 0 : w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        outside |= SIMT_SLOT(const uint64_t, in->a)[lane] + (uint64_t)in->imm < SIMT_SHARED_WINDOW;
    }
    if (outside)
        w->block->launch->asks_outside = true;
}

static uint32_t width_of(const struct simt_inst *in)
{
    enum ptx_type type = in->ptx->types[in->ptx->type_count - 1];
    return ptx_type_bits(type) / 8 * (in->counts[0] ? in->counts[0] : 1);
}

/* What a warp's own memory holds is part of its state (stall.c). */
static bool is_own(const struct simt_warp *w, const uint8_t *place)
{
    uint64_t bytes = (uint64_t)SIMT_LANES * w->block->launch->local_stride;
    const struct simt_warp_state *warp = (const struct simt_warp_state *)(const void *)w;
    return (uintptr_t)place - (uintptr_t)warp->local < bytes;
}

static const struct simt_inst *run_write(struct simt_warp *w, const struct simt_inst *in)
{
    enum { MOST = 32 };
    uint8_t *hosts[SIMT_LANES], before[SIMT_LANES][MOST];
    uint32_t mask = w->mask, bytes = width_of(in);
    if (bytes > MOST || !simt_access_hosts(w, in, bytes, true, hosts)) {
        w->block->launch->news++;
        return bytes > MOST ? in->run(w, in) : NULL;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        memcpy(before[__builtin_ctz(rest)], hosts[__builtin_ctz(rest)], bytes);
    const struct simt_inst *next = in->run(w, in);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (memcmp(before[lane], hosts[lane], bytes) != 0 && !is_own(w, hosts[lane])) {
            w->block->launch->news++;
            break;
        }
    }
    return next;
}

const struct simt_inst *simt_stall_step(struct simt_warp *w, const struct simt_inst *in)
{
    if (in->flags & SIMT_FLAG_HIDDEN)
        return in->run(w, in);
    switch (is_builtin_call(in) ? EFFECT_ANY : effect_of(in->ptx)) {
    case EFFECT_NONE:
        return in->run(w, in);
    case EFFECT_READS:
        note_outside(w, in);
        return in->run(w, in);
    case EFFECT_WRITES:
        if (ptx_op_infos[in->ptx->op].group == PTX_GROUP_ATOMIC)
            note_outside(w, in);
        return run_write(w, in);
    default:
        break;
    }
    struct simt_launch_state *launch = w->block->launch;
    const struct simt_inst *next = in->run(w, in);
    if (next != in) /* else it waits in place */
        launch->news++;
    return next;
}
