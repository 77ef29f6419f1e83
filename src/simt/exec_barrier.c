/*
 * exec_barrier.c: bar and barrier. The waiting itself is in barrier.c.
 */
#include "simt/core.h"

/* Barrier number and count are the same in all lanes of a warp that executes the barrier. */
static uint32_t first_lane(struct simt_warp *w, uint32_t slot)
{
    return SIMT_SLOT(const uint32_t, slot)[__builtin_ctz(w->mask)];
}

SIMT_BODY(run_sync)
{
    return simt_barrier_arrive(w, in, SIMT_BARRIER_SYNC, first_lane(w, in->a), 0, 0);
}

SIMT_BODY(run_sync_count)
{
    return simt_barrier_arrive(w, in, SIMT_BARRIER_SYNC, first_lane(w, in->a), first_lane(w, in->b),
                               0);
}

SIMT_BODY(run_arrive)
{
    return simt_barrier_arrive(w, in, SIMT_BARRIER_ARRIVE, first_lane(w, in->a),
                               first_lane(w, in->b), 0);
}

/* bar.red d, a, p  and  bar.red d, a, count, p */
SIMT_BODY(run_red)
{
    return simt_barrier_arrive(w, in, SIMT_BARRIER_POPC, first_lane(w, in->a), 0,
                               simt_predicate(w, in->b));
}

SIMT_BODY(run_red_count)
{
    return simt_barrier_arrive(w, in, SIMT_BARRIER_POPC, first_lane(w, in->a), first_lane(w, in->b),
                               simt_predicate(w, in->c));
}

simt_body *SIMT_NAME(barrier_select)(const struct simt_operands *operands)
{
    switch (operands->ptx->op) {
    case PTX_OP_BAR_SYNC:
    case PTX_OP_BARRIER_SYNC:
        return operands->b_bits ? run_sync_count : run_sync;
    case PTX_OP_BAR_ARRIVE:
    case PTX_OP_BARRIER_ARRIVE:
        return run_arrive;
    case PTX_OP_BAR_RED_POPC:
    case PTX_OP_BAR_RED_BOOL:
    case PTX_OP_BARRIER_RED_POPC:
    case PTX_OP_BARRIER_RED_BOOL:
        return operands->c_bits ? run_red_count : run_red;
    default:
        return NULL;
    }
}
