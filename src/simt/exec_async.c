/*
 * exec_async.c: asynchronous copies and mbarriers.
 * A copy is done when it is issued: a program that waits as it must cannot tell. An mbarrier is the
 * 8 bytes of shared memory that PTX gives it, in a layout of our own: expected and pending
 * arrivals, bytes still to come, and the phase.
 */
#include "simt/access.h"
#include "simt/bulk.h"

/* mbarrier
 * ------------------------------------------------------------------------------------------- */

struct mbarrier {
    uint64_t pending : 20;  /* arrivals missing in this phase */
    uint64_t expected : 20; /* arrivals of a whole phase */
    uint64_t phase : 1;
    uint64_t ready : 1;  /* initialised */
    uint64_t bytes : 22; /* to come, as a signed number (may be counted before it is expected) */
};
_Static_assert(sizeof(struct mbarrier) == 8, "an mbarrier has 64 bits");
enum { COUNT_MASK = (1 << 20) - 1, BYTES_MASK = (1 << 22) - 1 };

static inline void add_bytes(struct mbarrier *barrier, uint32_t bytes)
{
    barrier->bytes = (barrier->bytes + bytes) & BYTES_MASK;
}

static uint64_t address_of(const struct simt_warp *w, uint32_t slot, bool narrow, int lane)
{
    return narrow ? SIMT_SLOT(const uint32_t, slot)[lane] : SIMT_SLOT(const uint64_t, slot)[lane];
}

static enum ptx_space barrier_space(const struct ptx_inst *ptx)
{
    return access_space(ptx) == PTX_SPACE_SHARED ? PTX_SPACE_SHARED : PTX_SPACE_GENERIC;
}

static struct mbarrier *barrier_at(struct simt_warp *w, const struct simt_inst *in, int lane)
{
    uint64_t address = address_of(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane);
    return (struct mbarrier *)(void *)simt_translate(w, in, barrier_space(in->ptx),
                                                     address + (uint64_t)in->imm, 8, lane, true);
}

static void end_phase_if_done(struct mbarrier *barrier)
{
    if (barrier->pending || barrier->bytes)
        return;
    barrier->phase ^= 1;
    barrier->pending = barrier->expected;
}

static uint64_t state_of(const struct mbarrier *barrier)
{
    uint64_t bits;
    memcpy(&bits, barrier, 8);
    return bits;
}

enum arrival { ARRIVE, ARRIVE_DROP };

/* false: more arrivals than the phase has left. */
static bool arrive(struct mbarrier *barrier, uint32_t count, enum arrival kind)
{
    if (count > barrier->pending)
        return false;
    if (kind == ARRIVE_DROP)
        barrier->expected = (barrier->expected - count) & COUNT_MASK;
    barrier->pending = (barrier->pending - count) & COUNT_MASK;
    end_phase_if_done(barrier);
    return true;
}

SIMT_BODY(run_init)
{
    const uint32_t *counts = SIMT_SLOT(const uint32_t, in->b);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        if (!counts[lane] || counts[lane] > COUNT_MASK)
            return simt_raise(w, in, SIMT_FAULT_BARRIER, lane,
                              "mbarrier.init with a count of %u (1 to 1048575 are valid)",
                              counts[lane]);
        *barrier = (struct mbarrier){.pending = counts[lane] & COUNT_MASK,
                                     .expected = counts[lane] & COUNT_MASK,
                                     .ready = 1};
    }
    return in + 1;
}

SIMT_BODY(run_inval)
{
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        struct mbarrier *barrier = barrier_at(w, in, __builtin_ctz(rest));
        if (!barrier)
            return NULL;
        memset(barrier, 0, sizeof(*barrier));
    }
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

static inline const struct simt_inst *run_arrivals(struct simt_warp *w, const struct simt_inst *in,
                                                   enum arrival kind, bool expects_bytes)
{
    const uint32_t *operand = SIMT_SLOT(const uint32_t, in->b);
    uint64_t *d = SIMT_SLOT(uint64_t, in->d);
    bool counted = has_count(in->ptx) && !expects_bytes, gives = returns_state(in->ptx);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        uint64_t state = state_of(barrier);
        if (expects_bytes)
            add_bytes(barrier, operand[lane]);
        if (!barrier->ready || !arrive(barrier, counted ? operand[lane] : 1, kind))
            return simt_raise(w, in, SIMT_FAULT_BARRIER, lane, "mbarrier arrival: %s",
                              barrier->ready ? "more arrivals than the phase expects"
                                             : "the mbarrier was not initialised");
        if (gives)
            d[lane] = state;
    }
    return in + 1;
}

SIMT_BODY(run_arrive)
{
    return run_arrivals(w, in, ARRIVE, false);
}
SIMT_BODY(run_arrive_drop)
{
    return run_arrivals(w, in, ARRIVE_DROP, false);
}
SIMT_BODY(run_arrive_tx)
{
    return run_arrivals(w, in, ARRIVE, true);
}
SIMT_BODY(run_arrive_drop_tx)
{
    return run_arrivals(w, in, ARRIVE_DROP, true);
}

SIMT_BODY(run_expect_tx)
{
    const uint32_t *bytes = SIMT_SLOT(const uint32_t, in->b);
    bool completes = in->ptx->op == PTX_OP_MBARRIER_COMPLETE_TX;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        add_bytes(barrier, completes ? -bytes[lane] : bytes[lane]);
        if (completes)
            end_phase_if_done(barrier);
    }
    return in + 1;
}

bool SIMT_NAME(mbarrier_complete)(struct simt_warp *w, const struct simt_inst *in, uint64_t at,
                                  uint32_t bytes, int lane)
{
    struct mbarrier *barrier =
        (struct mbarrier *)(void *)simt_translate(w, in, PTX_SPACE_SHARED, at, 8, lane, true);
    if (!barrier)
        return false;
    add_bytes(barrier, -bytes);
    end_phase_if_done(barrier);
    return true;
}

/* Has the phase ended that the state (or the parity) names? */
static inline const struct simt_inst *run_wait(struct simt_warp *w, const struct simt_inst *in,
                                               bool by_parity)
{
    uint32_t done = 0;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        uint64_t phase;
        if (by_parity) {
            phase = SIMT_SLOT(const uint32_t, in->b)[lane] & 1;
        } else {
            struct mbarrier then;
            memcpy(&then, &SIMT_SLOT(const uint64_t, in->b)[lane], 8);
            phase = then.phase;
        }
        done |= (uint32_t)(barrier->phase != phase) << lane;
    }
    simt_set_predicate(w, in->d, done);
    if ((done & w->mask) != w->mask)
        simt_charge(w, 512);
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
        memset(target, 0, size);
        if (!wanted)
            continue;
        /* Only what is wanted is read, but the address is aligned to the whole. */
        uint32_t checked = from & (size - 1) ? size : wanted;
        const uint8_t *source = simt_translate(w, in, PTX_SPACE_GLOBAL, from, checked, lane, false);
        if (!source)
            return NULL;
        memcpy(target, source, wanted);
    }
    return in + 1;
}

/* The copies before it are done: noinc arrives as an ordinary arrival; without it the pending count
 * was raised by one first, which cancels out. */
SIMT_BODY(run_cp_async_mbarrier)
{
    bool counts = ptx_has(in->ptx, PTX_MOD_NOINC);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct mbarrier *barrier = barrier_at(w, in, lane);
        if (!barrier)
            return NULL;
        if (counts && !arrive(barrier, 1, ARRIVE))
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

/* Register widths of the second and later addresses are not kept in flags: counts[] has them. */
SIMT_BODY(run_bulk_to_shared)
{
    bool to_narrow = in->flags & SIMT_FLAG_ADDRESS_32, barrier_narrow = in->counts[1] == 32;
    bool from_narrow = in->counts[0] == 32;
    enum ptx_space from_space =
        in->ptx->op == PTX_OP_CP_BULK_S2S ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t size = SIMT_SLOT(const uint32_t, in->c)[lane];
        uint64_t to = shared_address(w, in->a, to_narrow, lane) + (uint64_t)in->imm;
        uint64_t at = shared_address(w, in->e, barrier_narrow, lane);
        struct mbarrier *barrier =
            (struct mbarrier *)(void *)simt_translate(w, in, PTX_SPACE_SHARED, at, 8, lane, true);
        uint64_t from = from_space == PTX_SPACE_SHARED ? shared_address(w, in->b, from_narrow, lane)
                                                       : SIMT_SLOT(const uint64_t, in->b)[lane];
        if (!barrier || !copy_bulk(w, in, PTX_SPACE_SHARED, to, from_space, from, size, lane))
            return NULL;
        add_bytes(barrier, -size);
        end_phase_if_done(barrier);
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
    case PTX_OP_CP_ASYNC_WAIT_GROUP:
    case PTX_OP_CP_ASYNC_WAIT_ALL:
    case PTX_OP_CP_BULK_COMMIT:
    case PTX_OP_CP_BULK_WAIT:
    case PTX_OP_CP_BULK_PREFETCH:
        return run_done;
    case PTX_OP_CP_ASYNC_MBARRIER:
        return run_cp_async_mbarrier;
    case PTX_OP_CP_BULK_G2S:
        return ptx_has(operands->ptx, PTX_MOD_MULTICAST_CLUSTER) ? NULL : run_bulk_to_shared;
    case PTX_OP_CP_BULK_S2S: /* a cluster has one block: the other side is this one */
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
