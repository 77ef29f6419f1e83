/*
 * exec_cluster.c: barrier.cluster, and what writes to the shared memory of another block and counts
 * the bytes at an mbarrier there: st.async and red.async. The barrier itself is in cluster.c.
 * The store is done when it is issued, as copies are (exec_async.c).
 */
#include "simt/cluster.h"

SIMT_BODY(run_cluster_arrive)
{
    return simt_cluster_arrive(w, in);
}

SIMT_BODY(run_cluster_wait)
{
    return simt_cluster_wait(w, in);
}

/* st.async and red.async
 * --------------------------------------------------------------------------- */

static uint64_t lane_address(const struct simt_warp *w, uint32_t slot, bool narrow, int lane)
{
    return narrow ? SIMT_SLOT(const uint32_t, slot)[lane] : SIMT_SLOT(const uint64_t, slot)[lane];
}

static unsigned element_bytes(const struct ptx_inst *ptx)
{
    return ptx_type_bits(ptx->types[ptx->type_count - 1]) / 8;
}

/* Value and mbarrier must be of one block. Gives the bytes, and where the mbarrier lies. */
static uint8_t *remote(struct simt_warp *w, const struct simt_inst *in, uint32_t mbarrier_slot,
                       bool mbarrier_narrow, uint32_t size, int lane, uint32_t *rank,
                       uint32_t *mbarrier)
{
    uint32_t offset, mbarrier_rank;
    uint64_t to = lane_address(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane);
    simt_shared_split(to + (uint64_t)in->imm, rank, &offset);
    simt_shared_split(lane_address(w, mbarrier_slot, mbarrier_narrow, lane), &mbarrier_rank,
                      mbarrier);
    if (mbarrier_rank != *rank) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "the mbarrier is in block %u of the cluster, what it counts in block %u: both "
                   "must be in the same block",
                   mbarrier_rank, *rank);
        return NULL;
    }
    return simt_cluster_shared(w, in, *rank, offset, size, lane, true);
}

/* st.async [a], b, [mbarrier]: the value is in b, or in the list if it is a vector. The H200
 * refuses it in a launch without a cluster, but not in one with a cluster of one block. */
SIMT_BODY(run_st_async)
{
    if (!w->block->launch->launch->cluster[0])
        return simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, __builtin_ctz(w->mask),
                          "st.async needs a launch with a cluster, if only of one block "
                          "(cudaLaunchAttributeClusterDimension)");
    const struct ptx_operand *value = &in->ptx->operands[1];
    bool is_vector = value->kind == PTX_OPERAND_VECTOR;
    uint32_t count = is_vector ? value->item_count : 1, each = element_bytes(in->ptx);
    uint32_t mbarrier_slot = is_vector ? in->b : in->c;
    bool narrow = in->counts[1] == 32;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t rank, mbarrier;
        uint8_t *to = remote(w, in, mbarrier_slot, narrow, each * count, lane, &rank, &mbarrier);
        if (!to)
            return NULL;
        for (uint32_t k = 0; k < count; k++)
            memcpy(to + k * each,
                   w->regs + (is_vector ? in->list[k] : in->b) + (unsigned)lane * each, each);
        if (!simt_cluster_complete(w, in, rank, mbarrier, each * count, lane))
            return NULL;
    }
    return in + 1;
}

static uint64_t combine(const struct ptx_inst *ptx, uint64_t x, uint64_t y)
{
    enum ptx_type type = ptx->types[ptx->type_count - 1];
    bool is_signed = ptx_type_kind(type) == PTX_KIND_SIGNED;
    bool below = is_signed ? (int32_t)x < (int32_t)y : x < y;
    if (ptx_has(ptx, PTX_MOD_INC))
        return x >= y ? 0 : x + 1;
    if (ptx_has(ptx, PTX_MOD_DEC))
        return x == 0 || x > y ? y : x - 1;
    if (ptx_has(ptx, PTX_MOD_MIN))
        return below ? x : y;
    if (ptx_has(ptx, PTX_MOD_MAX))
        return below ? y : x;
    if (ptx_has(ptx, PTX_MOD_AND))
        return x & y;
    if (ptx_has(ptx, PTX_MOD_OR))
        return x | y;
    if (ptx_has(ptx, PTX_MOD_XOR))
        return x ^ y;
    return x + y;
}

SIMT_BODY(run_red_async)
{
    uint32_t each = element_bytes(in->ptx);
    bool narrow = in->counts[1] == 32;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t rank, mbarrier;
        uint64_t x = 0, y = 0;
        uint8_t *to = remote(w, in, in->c, narrow, each, lane, &rank, &mbarrier);
        if (!to)
            return NULL;
        memcpy(&x, to, each);
        memcpy(&y, w->regs + in->b + (unsigned)lane * each, each);
        x = combine(in->ptx, x, y);
        memcpy(to, &x, each);
        if (!simt_cluster_complete(w, in, rank, mbarrier, each, lane))
            return NULL;
    }
    return in + 1;
}

simt_body *SIMT_NAME(cluster_select)(const struct simt_operands *operands)
{
    switch (operands->ptx->op) {
    case PTX_OP_BARRIER_CLUSTER_ARRIVE:
        return run_cluster_arrive;
    case PTX_OP_BARRIER_CLUSTER_WAIT:
        return run_cluster_wait;
    case PTX_OP_ST_ASYNC:
        return run_st_async;
    case PTX_OP_RED_ASYNC:
        return run_red_async;
    default:
        return NULL;
    }
}
