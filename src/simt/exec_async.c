/*
 * exec_async.c: asynchronous copies and mbarriers.
 * A bulk copy is done when it is issued: a program that waits as it must cannot tell. What cp.async
 * copies is seen later (late.c). An mbarrier is the
 * 8 bytes of shared memory that PTX gives it, in a layout of our own: expected and pending
 * arrivals, bytes still to come, and the phase.
 */
#include "simt/access.h"
#include "simt/clock.h"
#include "simt/cluster.h"

/* mbarrier
 * ------------------------------------------------------------------------------------------- */

static uint64_t address_of(const struct simt_warp *w, uint32_t slot, bool narrow, int lane)
{
    return narrow ? SIMT_SLOT(const uint32_t, slot)[lane] : SIMT_SLOT(const uint64_t, slot)[lane];
}

static enum ptx_space barrier_space(const struct ptx_inst *ptx)
{
    return access_space(ptx) == PTX_SPACE_SHARED ? PTX_SPACE_SHARED : PTX_SPACE_GENERIC;
}

static struct simt_mbarrier *barrier_at(struct simt_warp *w, const struct simt_inst *in, int lane)
{
    uint64_t address = address_of(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane);
    return (struct simt_mbarrier *)(void *)simt_translate(
        w, in, barrier_space(in->ptx), address + (uint64_t)in->imm, 8, lane, true);
}

/* Before the mbarrier is made anew. */
static void let_waiters_go(struct simt_block *block, const struct simt_mbarrier *barrier)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_waiting *waiting = &block->warps[i].waiting;
        for (uint32_t rest = waiting->lanes; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            if (waiting->at[lane] == barrier && (waiting->phases >> lane & 1) != barrier->phase)
                waiting->let_go |= 1u << lane;
        }
    }
}

SIMT_BODY(run_init)
{
    const uint32_t *counts = SIMT_SLOT(const uint32_t, in->b);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct simt_mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        if (!counts[lane] || counts[lane] > SIMT_MBARRIER_COUNT_MASK)
            return simt_raise(w, in, SIMT_FAULT_BARRIER, lane,
                              "mbarrier.init with a count of %u (1 to 1048575 are valid)",
                              counts[lane]);
        if (barrier->ready)
            let_waiters_go(w->block, barrier);
        *barrier = (struct simt_mbarrier){.pending = counts[lane] & SIMT_MBARRIER_COUNT_MASK,
                                          .expected = counts[lane] & SIMT_MBARRIER_COUNT_MASK,
                                          .ready = 1};
    }
    return in + 1;
}

/* The bytes stay as they are, as on a GPU: a thread that is late can still wait or arrive. The
 * checker reports that. */
SIMT_BODY(run_inval)
{
    for (uint32_t rest = w->mask; rest; rest &= rest - 1)
        if (!barrier_at(w, in, __builtin_ctz(rest)))
            return NULL;
    return in + 1;
}

static bool has_count(const struct ptx_inst *ptx)
{
    return ptx->operand_count > 2;
}

static bool returns_state(const struct ptx_inst *ptx)
{
    return ptx->operands[0].kind != PTX_OPERAND_SINK;
}

static const struct simt_inst *bad_count(struct simt_warp *w, const struct simt_inst *in, int lane,
                                         const struct simt_mbarrier *barrier, int64_t bytes)
{
    return simt_raise(w, in, SIMT_FAULT_BARRIER, lane,
                      "the tx-count of the mbarrier leaves its range of 1048575 bytes: %lld and "
                      "%d before",
                      (long long)bytes, simt_mbarrier_bytes(barrier));
}

/* Why this arrival is wrong; NULL if it is not. */
static const char *bad_arrival(const struct simt_mbarrier *barrier, const struct ptx_inst *ptx,
                               uint32_t count)
{
    if (!barrier->ready)
        return "the mbarrier was not initialised";
    if (count > barrier->pending)
        return "more arrivals than the phase expects";
    if (ptx_has(ptx, PTX_MOD_NOCOMPLETE) && count == barrier->pending)
        return "a .noComplete arrival would end the phase";
    return NULL;
}

static inline const struct simt_inst *run_arrivals(struct simt_warp *w, const struct simt_inst *in,
                                                   bool drops, bool expects_bytes)
{
    const uint32_t *operand = SIMT_SLOT(const uint32_t, in->b);
    uint64_t *d = SIMT_SLOT(uint64_t, in->d);
    bool counted = has_count(in->ptx) && !expects_bytes, gives = returns_state(in->ptx);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct simt_mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        uint32_t count = counted ? operand[lane] : 1;
        const char *why = bad_arrival(barrier, in->ptx, count);
        if (why)
            return simt_raise(w, in, SIMT_FAULT_BARRIER, lane, "mbarrier arrival: %s", why);
        uint64_t state = simt_mbarrier_state(barrier);
        if (expects_bytes && !simt_mbarrier_expect(barrier, operand[lane]))
            return bad_count(w, in, lane, barrier, operand[lane]);
        simt_mbarrier_arrive(barrier, count, drops);
        if (gives)
            d[lane] = state;
    }
    return in + 1;
}

SIMT_BODY(run_arrive)
{
    return run_arrivals(w, in, false, false);
}
SIMT_BODY(run_arrive_drop)
{
    return run_arrivals(w, in, true, false);
}
SIMT_BODY(run_arrive_tx)
{
    return run_arrivals(w, in, false, true);
}
SIMT_BODY(run_arrive_drop_tx)
{
    return run_arrivals(w, in, true, true);
}

SIMT_BODY(run_expect_tx)
{
    const uint32_t *bytes = SIMT_SLOT(const uint32_t, in->b);
    bool completes = in->ptx->op == PTX_OP_MBARRIER_COMPLETE_TX;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct simt_mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        int64_t change = completes ? -(int64_t)bytes[lane] : bytes[lane];
        if (!simt_mbarrier_expect(barrier, change))
            return bad_count(w, in, lane, barrier, change);
        if (completes)
            simt_mbarrier_settle(barrier);
    }
    return in + 1;
}

/* For the message about a deadlock. */
static void note_vain(struct simt_warp *w, const struct simt_inst *in, int lane, uint64_t phase)
{
    w->path->vain.in = in;
    w->path->vain.address =
        address_of(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane) + (uint64_t)in->imm;
    w->path->vain.phase = phase;
}

/* Has the phase ended that the state (or the parity) names? */
static bool was_let_go(const struct simt_waiting *waiting, int lane,
                       const struct simt_mbarrier *barrier, uint64_t phase)
{
    return waiting->let_go >> lane & 1 && waiting->at[lane] == barrier &&
           (waiting->phases >> lane & 1) == phase;
}

static inline const struct simt_inst *run_wait(struct simt_warp *w, const struct simt_inst *in,
                                               bool by_parity)
{
    struct simt_waiting *waiting = &simt_state(w)->waiting;
    uint32_t done = 0;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct simt_mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        uint64_t phase;
        if (by_parity) {
            phase = SIMT_SLOT(const uint32_t, in->b)[lane] & 1;
        } else {
            struct simt_mbarrier then;
            memcpy(&then, &SIMT_SLOT(const uint64_t, in->b)[lane], 8);
            phase = then.phase;
        }
        if (barrier->phase != phase || was_let_go(waiting, lane, barrier, phase)) {
            done |= 1u << lane;
        } else {
            note_vain(w, in, lane, phase);
            waiting->at[lane] = barrier;
            waiting->phases = (waiting->phases & ~(1u << lane)) | (uint32_t)phase << lane;
        }
    }
    if (waiting->lanes & done)
        simt_clock_follow(w, 0, w->block->warp_count);
    waiting->lanes = (waiting->lanes & ~w->mask) | (w->mask & ~done);
    waiting->let_go &= ~w->mask;
    simt_set_predicate(w, in->d, done);
    if ((done & w->mask) != w->mask) {
        simt_charge_turns(w, SIMT_MBARRIER_VAIN);
        simt_state(w)->vain_waits++;
    }
    return in + 1;
}

SIMT_BODY(run_wait_state)
{
    return run_wait(w, in, false);
}
SIMT_BODY(run_wait_parity)
{
    return run_wait(w, in, true);
}

SIMT_BODY(run_pending)
{
    const uint64_t *states = SIMT_SLOT(const uint64_t, in->a);
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    SIMT_STORE_LANES(uint32_t, (uint32_t)(states[i] & 0xfffff))
}

/* Copies
 * -------------------------------------------------------------------------------------------------
 */

/* cp.async [shared], [global], size {, source size or ignore predicate} */
SIMT_BODY(run_cp_async)
{
    bool predicate = in->ptx->operand_count > 3 && in->ptx->operands[3].type == PTX_PRED;
    bool sized = in->ptx->operand_count > 3 && !predicate;
    uint32_t ignored = predicate ? simt_predicate(w, in->e) : 0;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t size = SIMT_SLOT(const uint32_t, in->c)[lane];
        uint32_t wanted = sized ? SIMT_SLOT(const uint32_t, in->e)[lane] : size;
        wanted = ignored >> lane & 1 ? 0 : wanted > size ? size : wanted;
        uint64_t to = address_of(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane);
        uint64_t from = SIMT_SLOT(const uint64_t, in->b)[lane];
        uint8_t *target =
            simt_translate(w, in, PTX_SPACE_SHARED, to + (uint64_t)in->imm, size, lane, true);
        if (!target)
            return NULL;
        uint8_t *bytes = simt_late_copy(w, target, size); /* zeros */
        if (!wanted)
            continue;
        /* Only what is wanted is read, but the address is aligned to the whole. */
        uint32_t checked = from & (size - 1) ? size : wanted;
        const uint8_t *source = simt_translate(w, in, PTX_SPACE_GLOBAL, from, checked, lane, false);
        if (!source)
            return NULL;
        memcpy(bytes, source, wanted);
    }
    return in + 1;
}

SIMT_BODY(run_cp_async_commit)
{
    simt_late_commit(w);
    return in + 1;
}

SIMT_BODY(run_cp_async_wait)
{
    bool all = in->ptx->op == PTX_OP_CP_ASYNC_WAIT_ALL;
    uint32_t pending = all ? 0 : (uint32_t)in->ptx->operands[0].imm;
    return simt_late_wait(w, pending, all) ? in + 1 : in;
}

/* The copies before it are done: noinc arrives as an ordinary arrival; without it the pending count
 * was raised by one first, which cancels out. */
SIMT_BODY(run_cp_async_mbarrier)
{
    bool counts = ptx_has(in->ptx, PTX_MOD_NOINC);
    simt_late_see_all(w);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct simt_mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        if (counts && !simt_mbarrier_arrive(barrier, 1, false))
            return simt_raise(w, in, SIMT_FAULT_BARRIER, lane,
                              "mbarrier arrival: more arrivals than the phase expects");
    }
    return in + 1;
}

/* Bytes of a bulk copy: 16-byte pieces, so that every piece is checked as any access is. */
static bool copy_bulk(struct simt_warp *w, const struct simt_inst *in, enum ptx_space to_space,
                      uint64_t to, enum ptx_space from_space, uint64_t from, uint32_t size,
                      int lane)
{
    if (size % 16) {
        simt_raise(w, in, SIMT_FAULT_MISALIGNED, lane,
                   "a bulk copy of %u bytes: the size must be a multiple of 16", size);
        return false;
    }
    for (uint32_t done = 0; done < size; done += 16) {
        uint8_t *target = simt_translate(w, in, to_space, to + done, 16, lane, true);
        const uint8_t *source =
            target ? simt_translate(w, in, from_space, from + done, 16, lane, false) : NULL;
        if (!source)
            return false;
        memcpy(target, source, 16);
    }
    return true;
}

/* Shared addresses come as 32-bit window addresses, or as generic ones in 64 bits. */
static uint64_t shared_address(const struct simt_warp *w, uint32_t slot, bool narrow, int lane)
{
    uint64_t address = address_of(w, slot, narrow, lane);
    return address >= SIMT_SHARED_WINDOW ? address - SIMT_SHARED_WINDOW : address;
}

/* One lane's bulk copy into shared memory of block `rank`, and its bytes at the mbarrier there. */
static bool bulk_to_block(struct simt_warp *w, const struct simt_inst *in, uint32_t rank,
                          uint32_t to, uint32_t mbarrier, enum ptx_space from_space, uint64_t from,
                          uint32_t size, int lane)
{
    for (uint32_t done = 0; done < size; done += 16) {
        uint8_t *target = simt_cluster_shared(w, in, rank, to + done, 16, lane, true);
        const uint8_t *source =
            target ? simt_translate(w, in, from_space, from + done, 16, lane, false) : NULL;
        if (!source)
            return false;
        memmove(target, source, 16);
    }
    return simt_cluster_complete(w, in, rank, mbarrier, size, lane);
}

/* Blocks that the copy goes to: that of its address, or those of the multicast's mask. */
static bool bulk_ranks(struct simt_warp *w, const struct simt_inst *in, uint32_t rank,
                       uint32_t mbarrier_rank, int lane, uint32_t *ranks)
{
    *ranks = rank < SIMT_CLUSTER_MOST ? 1u << rank : 0;
    if (ptx_has(in->ptx, PTX_MOD_MULTICAST_CLUSTER)) {
        *ranks = SIMT_SLOT(const uint16_t, in->list[0])[lane];
        if (*ranks >> w->block->launch->cluster_size) {
            simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                       "a multicast to blocks 0x%x of a cluster of %u", *ranks,
                       w->block->launch->cluster_size);
            return false;
        }
    } else if (rank != mbarrier_rank || !*ranks) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane,
                   "a bulk copy to block %u of the cluster with an mbarrier in block %u: both must "
                   "be in the same block",
                   rank, mbarrier_rank);
        return false;
    }
    return true;
}

/* Register widths of the second and later addresses are not kept in flags: counts[] has them. */
SIMT_BODY(run_bulk_to_shared)
{
    bool to_narrow = in->flags & SIMT_FLAG_ADDRESS_32, barrier_narrow = in->counts[1] == 32;
    bool from_narrow = in->counts[0] == 32;
    bool is_own = !ptx_has(in->ptx, PTX_MOD_SHARED_CLUSTER);
    enum ptx_space from_space =
        in->ptx->op == PTX_OP_CP_BULK_S2S ? PTX_SPACE_GENERIC : PTX_SPACE_GLOBAL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t size = SIMT_SLOT(const uint32_t, in->c)[lane];
        uint32_t rank, mbarrier_rank, to, mbarrier, ranks;
        simt_shared_split(address_of(w, in->a, to_narrow, lane) + (uint64_t)in->imm, &rank, &to);
        simt_shared_split(address_of(w, in->e, barrier_narrow, lane), &mbarrier_rank, &mbarrier);
        if (is_own)
            rank = mbarrier_rank = simt_block_rank(w->block);
        uint64_t from = from_space == PTX_SPACE_GENERIC
                            ? SIMT_SHARED_WINDOW + shared_address(w, in->b, from_narrow, lane)
                            : SIMT_SLOT(const uint64_t, in->b)[lane];
        if (size % 16)
            return simt_raise(w, in, SIMT_FAULT_MISALIGNED, lane,
                              "a bulk copy of %u bytes: the size must be a multiple of 16", size);
        if (!bulk_ranks(w, in, rank, mbarrier_rank, lane, &ranks))
            return NULL;
        for (; ranks; ranks &= ranks - 1)
            if (!bulk_to_block(w, in, (uint32_t)__builtin_ctz(ranks), to, mbarrier, from_space,
                               from, size, lane))
                return NULL;
    }
    return in + 1;
}

SIMT_BODY(run_bulk_to_global)
{
    bool from_narrow = in->counts[0] == 32;
    const uint64_t *to = SIMT_SLOT(const uint64_t, in->a);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t size = SIMT_SLOT(const uint32_t, in->c)[lane];
        uint64_t from = shared_address(w, in->b, from_narrow, lane);
        if (!copy_bulk(w, in, PTX_SPACE_GLOBAL, to[lane] + (uint64_t)in->imm, PTX_SPACE_SHARED,
                       from, size, lane))
            return NULL;
    }
    return in + 1;
}

SIMT_BODY(run_done)
{
    return in + 1;
}

simt_body *SIMT_NAME(async_select)(const struct simt_operands *operands)
{
    switch (operands->ptx->op) {
    case PTX_OP_CP_ASYNC:
        return run_cp_async;
    case PTX_OP_CP_ASYNC_COMMIT:
        return run_cp_async_commit;
    case PTX_OP_CP_ASYNC_WAIT_GROUP:
    case PTX_OP_CP_ASYNC_WAIT_ALL:
        return run_cp_async_wait;
    case PTX_OP_CP_BULK_COMMIT:
    case PTX_OP_CP_BULK_WAIT:
    case PTX_OP_CP_BULK_PREFETCH:
        return run_done;
    case PTX_OP_CP_ASYNC_MBARRIER:
        return run_cp_async_mbarrier;
    case PTX_OP_CP_BULK_G2S:
    case PTX_OP_CP_BULK_S2S:
        return run_bulk_to_shared;
    case PTX_OP_CP_BULK_S2G:
        return run_bulk_to_global;
    case PTX_OP_MBARRIER_INIT:
        return run_init;
    case PTX_OP_MBARRIER_INVAL:
        return run_inval;
    case PTX_OP_MBARRIER_EXPECT_TX:
    case PTX_OP_MBARRIER_COMPLETE_TX:
        return run_expect_tx;
    case PTX_OP_MBARRIER_ARRIVE:
    case PTX_OP_MBARRIER_ARRIVE_NC:
    case PTX_OP_MBARRIER_ARRIVE_CLUSTER:
        return run_arrive;
    case PTX_OP_MBARRIER_ARRIVE_TX:
        return run_arrive_tx;
    case PTX_OP_MBARRIER_ARRIVE_DROP:
    case PTX_OP_MBARRIER_ARRIVE_DROP_NC:
        return run_arrive_drop;
    case PTX_OP_MBARRIER_ARRIVE_DROP_TX:
        return run_arrive_drop_tx;
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT:
        return run_wait_state;
    case PTX_OP_MBARRIER_TEST_WAIT_PARITY:
    case PTX_OP_MBARRIER_TRY_WAIT_PARITY:
        return run_wait_parity;
    case PTX_OP_MBARRIER_PENDING:
        return run_pending;
    default:
        return NULL;
    }
}
