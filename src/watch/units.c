/*
 * units.c: see units.h. Constants are latencies and rates of an H200, measured by
 * tests/timing/units.cu; what a GPU's table gives is taken from there.
 */
#include "watch/units.h"
#include "watch/units_remote.h"

#include "gpu/model.h"
#include "simt/cluster.h"
#include "simt/sample.h"
#include "simt/tma.h"
#include "watch/calendar.h"
#include "watch/count.h"

#include <math.h>
#include <stdlib.h>

#define BARRIER_CYCLES 14.0     /* bar.sync, from the last arrival on, */
#define BARRIER_WARP_CYCLES 2.0 /* and more for each warp */
#define CLUSTER_BARRIER_CYCLES 330.0
#define ARRIVE_CYCLES 130.0  /* until an arrival at an mbarrier counts, here or elsewhere, */
#define WAKE_CYCLES 60.0     /* and until a warp that waits there goes on, */
#define PASS_CYCLES 25.0     /* or one that need not wait */
#define REMOTE_CYCLES 165.0  /* of a load from another block, more than from its own */
#define BULK_L2_CYCLES 257.0 /* from a bulk copy's issue to its bytes' arrival */
#define BULK_DRAM_CYCLES 606.0
#define PORT_BYTES 57.0          /* a cycle, from the L2 to an SM, */
#define L2_BYTES 35.0            /* and where all SMs read */
#define WRITE_FACTOR 2.0         /* of the same for writes */
#define STORE_QUEUE_CYCLES 300.0 /* by which a warp's stores may be behind */
#define PIECE_CYCLES 2.0         /* of an SM, per line of which a store writes parts of sectors */
#define PARTIAL_CYCLES 1.11      /* per sector of which a store writes only a part, */
#define PARTIAL_LINE_CYCLES 2.51 /* and per line with such sectors: as in gpu/model.c */
#define WGMMA_CYCLES 50.0        /* from a product's end to the warp that waits for it */

enum { GROUPS = 16 };

/* Copies or products that are waited for in groups. */
struct groups {
    double open;         /* when what was issued so far is done */
    double done[GROUPS]; /* [group % GROUPS] */
    uint32_t count;
};

struct unit_warp {
    double now;
    double waits_from; /* when it first asked at an mbarrier whose phase has not ended */
    bool asks_again;
    uint64_t cycles, slots; /* of its state, as far as they are in now */
    double core_free;       /* when its tensor core has done its products */
    double stored;          /* when its stores have gone */
    struct groups products, copies, bulks, bulk_reads;
};

struct unit_mbarrier {
    uint32_t offset;
    double ends[2]; /* [parity]: when the phase's last arrival comes */
};

struct watch_units {                     /* of a block */
    struct watch_units *next, *previous; /* of those that run */
    uint32_t group;                      /* of SMs: those of its cluster */
    uint32_t slot;
    uint32_t sm;
    struct unit_mbarrier *mbarriers;
    uint32_t mbarrier_count, mbarrier_capacity;
    struct unit_warp warps[];
};

struct sm {
    struct calendar issue[4], tensor[4]; /* by scheduler */
    struct calendar passes;              /* of L1 and shared memory */
    struct calendar port;                /* from and to the L2 */
    struct calendar stores;              /* its part of the L2's time for parts of sectors */
};

struct units {
    const struct gpu_info *gpu;
    unsigned resident, cluster_size, group_count;
    double *free; /* [resident][group_count]: when the last block there ended */
    struct sm *sms;
    double port_bytes; /* a cycle, between the L2 and an SM */
    double active;     /* part of the SMs that have blocks */
    double ended;
    struct watch_units *first; /* block that runs */
    struct {                   /* accesses of the bulk copy that is being shown */
        uint64_t l2_sectors;
        uint32_t latency;
    } bulk;
};

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Opening and closing -------------------------------------------------------------------------- */

static bool works_alone(enum ptx_op op)
{
    switch (op) {
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TEST_WAIT_PARITY:
    case PTX_OP_MBARRIER_TRY_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT_PARITY:
    case PTX_OP_CP_ASYNC_WAIT_GROUP:
    case PTX_OP_CP_ASYNC_WAIT_ALL:
    case PTX_OP_CP_BULK_S2G:
    case PTX_OP_TMA_STORE:
    case PTX_OP_TMA_REDUCE:
    case PTX_OP_BULK_RED_G:
        return true;
    default:
        return ptx_is_wgmma(op);
    }
}

/* How often a warp asks until another has done something depends on when it asks: such waits cannot
 * be followed. */
static bool polls_memory(const struct ptx_inst *ptx)
{
    return ptx->op == PTX_OP_LD_SYNC || (ptx->op == PTX_OP_LD && ptx_has(ptx, PTX_MOD_VOLATILE));
}

struct units *units_open(const struct simt_launch_state *launch, unsigned resident, bool always)
{
    const struct gpu_info *gpu = launch->machine->gpu;
    bool uses = always || launch->code->uses_cluster;
    for (uint32_t i = 0; i < launch->code->inst_count; i++) {
        const struct simt_inst *in = &launch->code->insts[i];
        if (in->flags & SIMT_FLAG_HIDDEN)
            continue;
        if (polls_memory(in->ptx) && !always)
            return NULL;
        uses = uses || works_alone(in->ptx->op);
    }
    if (!uses)
        return NULL;
    struct units *units = lk_alloc_zeroed(sizeof(*units));
    units->gpu = gpu;
    units->resident = resident;
    units->cluster_size = launch->cluster_size;
    units->group_count = gpu_clusters(gpu, launch->cluster_size, 1);
    units->free =
        lk_alloc_zeroed((size_t)units->resident * units->group_count * sizeof(*units->free));
    units->sms = lk_alloc_zeroed(gpu->sms * sizeof(*units->sms));
    /* The L2's bandwidth is shared out evenly. That of DRAM is not looked at here: who reads shared
     * data first is by chance, and the model knows how long DRAM takes for all of it. */
    double blocks = (double)launch->block_count;
    units->active = blocks < gpu->sms ? blocks / gpu->sms : 1;
    units->port_bytes = L2_BYTES / units->active;
    units->port_bytes = units->port_bytes < PORT_BYTES ? units->port_bytes : PORT_BYTES;
    return units;
}

void units_close(struct units *units)
{
    if (!units)
        return;
    for (unsigned i = 0; i < units->gpu->sms; i++) {
        struct sm *sm = &units->sms[i];
        for (unsigned k = 0; k < 4; k++) {
            calendar_close(&sm->issue[k]);
            calendar_close(&sm->tensor[k]);
        }
        calendar_close(&sm->passes);
        calendar_close(&sm->port);
        calendar_close(&sm->stores);
    }
    for (struct watch_units *its = units->first, *next; its; its = next) { /* after a fault */
        next = its->next;
        free(its->mbarriers);
        free(its);
    }
    free(units->sms);
    free(units->free);
    free(units);
}

double units_cycles(const struct units *units)
{
    return units->ended;
}

/* Warps ---------------------------------------------------------------------------------------- */

/* What it has run since it was last looked at is in its time now. */
static struct unit_warp *catch_up(struct units *units, const struct simt_warp *w)
{
    const struct simt_warp_state *state = simt_state((struct simt_warp *)w);
    struct watch_units *block = w->block->units;
    struct unit_warp *warp = &block->warps[w->index];
    double slots = (double)(state->quarter_slots - warp->slots) / 4;
    double cycles = (double)(state->alone_cycles - warp->cycles);
    warp->slots = state->quarter_slots;
    warp->cycles = state->alone_cycles;
    if (slots > 0) {
        double issued = calendar_take(&units->sms[block->sm].issue[w->index % 4], warp->now, slots);
        warp->now = later(warp->now + cycles, issued);
    } else {
        warp->now += cycles;
    }
    return warp;
}

double units_now(struct units *units, const struct simt_warp *w, double delay)
{
    return catch_up(units, w)->now += delay;
}

static void commit(struct groups *groups)
{
    groups->done[groups->count++ % GROUPS] = groups->open;
}

static void wait_for(struct unit_warp *warp, const struct groups *groups, uint64_t pending)
{
    if (pending < groups->count && pending < GROUPS)
        warp->now = later(warp->now, groups->done[(groups->count - 1 - pending) % GROUPS]);
}

/* Blocks --------------------------------------------------------------------------------------- */

/* A cluster has SMs of its own; its first block looks for those that are free first. A sample's
 * blocks are those of some SMs. */
static void place(struct units *units, const struct simt_block *block, struct watch_units *its)
{
    static const double begin = 50; /* to start its warps */
    uint32_t rank = simt_block_rank(block);
    unsigned count = units->resident * units->group_count;
    unsigned step = simt_sample_is_by_sm(block->launch) ? units->group_count : 1;
    unsigned best = (unsigned)(block->linear % step);
    for (unsigned i = best + step; i < count; i += step)
        if (units->free[i] < units->free[best])
            best = i;
    its->slot = best;
    its->group = best % units->group_count;
    its->sm = its->group * units->cluster_size + rank;
    double from = isinf(units->free[best]) ? units->ended : units->free[best];
    for (uint32_t i = 0; i < block->warp_count; i++)
        its->warps[i].now = from + begin;
}

static void begin_block(struct units *units, struct simt_block *block)
{
    struct watch_units *its =
        lk_alloc_zeroed(sizeof(*its) + block->warp_count * sizeof(its->warps[0]));
    place(units, block, its);
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].alone_cycles = block->warps[i].quarter_slots = 0;
    its->next = units->first;
    if (its->next)
        its->next->previous = its;
    units->first = its;
    block->units = its;
    /* The other blocks of its cluster, which come next, have the same slot; then it is taken. */
    if (simt_block_rank(block) == units->cluster_size - 1)
        units->free[its->slot] = INFINITY;
}

static void end_block(struct units *units, struct simt_block *block)
{
    struct watch_units *its = block->units;
    double ends = 0, stored = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct unit_warp *warp = catch_up(units, &block->warps[i].w);
        ends = later(ends, warp->now);
        stored = later(stored, later(warp->stored, warp->bulks.open));
    }
    double *slot = &units->free[its->slot];
    *slot = isinf(*slot) ? ends : later(*slot, ends);
    units->ended = later(units->ended, later(ends, stored));
    *(its->previous ? &its->previous->next : &units->first) = its->next;
    if (its->next)
        its->next->previous = its->previous;
    free(its->mbarriers);
    free(its);
    block->units = NULL;
}

void units_block(struct units *units, struct simt_block *block, bool begins)
{
    if (begins)
        begin_block(units, block);
    else if (block->units)
        end_block(units, block);
}

void units_barrier(struct units *units, struct simt_block *block, uint32_t id)
{
    const uint32_t *lanes = block->barriers[id].lanes;
    double last = 0, takes = BARRIER_CYCLES;
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (lanes[i]) {
            last = later(last, catch_up(units, &block->warps[i].w)->now);
            takes += BARRIER_WARP_CYCLES;
        }
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (lanes[i])
            block->units->warps[i].now = last + takes;
}

void units_cluster_barrier(struct units *units, struct simt_block *block)
{
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&block, &count);
    double last = 0;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; blocks[k]->units && i < blocks[k]->warp_count; i++)
            last = later(last, catch_up(units, &blocks[k]->warps[i].w)->now);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; blocks[k]->units && i < blocks[k]->warp_count; i++)
            blocks[k]->units->warps[i].now = last + CLUSTER_BARRIER_CYCLES;
}

/* mbarriers ------------------------------------------------------------------------------------ */

static struct unit_mbarrier *mbarrier_of(struct watch_units *block, uint32_t offset)
{
    for (uint32_t i = 0; i < block->mbarrier_count; i++)
        if (block->mbarriers[i].offset == offset)
            return &block->mbarriers[i];
    if (block->mbarrier_count == block->mbarrier_capacity) {
        block->mbarrier_capacity = block->mbarrier_capacity * 2 + 16;
        block->mbarriers =
            lk_realloc(block->mbarriers, block->mbarrier_capacity * sizeof(*block->mbarriers));
    }
    struct unit_mbarrier *mbarrier = &block->mbarriers[block->mbarrier_count++];
    *mbarrier = (struct unit_mbarrier){.offset = offset};
    return mbarrier;
}

/* The mbarrier itself; NULL where its body will raise a fault. */
static const struct simt_mbarrier *bytes_of(const struct simt_block *block, uint32_t offset)
{
    bool is_inside = offset % 8 == 0 && offset + 8 <= block->shared_end;
    return is_inside ? (const struct simt_mbarrier *)(const void *)(block->shared + offset) : NULL;
}

static void arrive(struct simt_block *block, uint32_t offset, double when)
{
    const struct simt_mbarrier *bytes = block->units ? bytes_of(block, offset) : NULL;
    if (!bytes)
        return;
    double *ends = &mbarrier_of(block->units, offset)->ends[bytes->phase];
    *ends = later(*ends, when);
}

/* Whose shared memory a lane's address is in, and where. */
static struct simt_block *owner_of(const struct simt_warp *w, const struct simt_inst *in,
                                   uint32_t slot, bool narrow, int lane, uint32_t *offset)
{
    uint64_t address = tma_address(w, slot, narrow, lane);
    struct simt_block *own = w->block;
    uint32_t rank;
    bool anywhere = address >= SIMT_SHARED_WINDOW || ptx_has(in->ptx, PTX_MOD_SHARED_CLUSTER);
    simt_shared_split(address, &rank, offset);
    return anywhere && own->cluster && rank < own->cluster->size ? own->cluster->blocks[rank] : own;
}

static struct simt_block *mbarrier_owner(const struct simt_warp *w, const struct simt_inst *in,
                                         int lane, uint32_t *offset)
{
    struct simt_block *block =
        owner_of(w, in, in->a, in->flags & SIMT_FLAG_ADDRESS_32, lane, offset);
    *offset += (uint32_t)in->imm;
    return block;
}

static void arrive_lanes(const struct simt_warp *w, const struct simt_inst *in, double when)
{
    struct simt_block *before = NULL;
    uint32_t offset_before = 0;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        uint32_t offset;
        struct simt_block *block = mbarrier_owner(w, in, __builtin_ctz(rest), &offset);
        if (block != before || offset != offset_before)
            arrive(block, offset, when + ARRIVE_CYCLES);
        before = block;
        offset_before = offset;
    }
}

/* A warp asks again until the phase has ended; what it does meanwhile takes no time of its own. */
static void wait_at(struct units *units, struct simt_warp *w, const struct simt_inst *in,
                    bool by_parity)
{
    struct unit_warp *warp = &w->block->units->warps[w->index];
    double ends = 0;
    bool is_done = true;
    if (warp->asks_again) {
        warp->now = warp->waits_from;
        warp->slots = simt_state(w)->quarter_slots;
        warp->cycles = simt_state(w)->alone_cycles;
    } else {
        catch_up(units, w);
    }
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t offset;
        struct simt_block *block = mbarrier_owner(w, in, lane, &offset);
        const struct simt_mbarrier *bytes = block->units ? bytes_of(block, offset) : NULL;
        if (!bytes)
            continue;
        unsigned phase;
        if (by_parity) {
            phase = SIMT_SLOT(const uint32_t, in->b)[lane] & 1;
        } else {
            struct simt_mbarrier then;
            memcpy(&then, &SIMT_SLOT(const uint64_t, in->b)[lane], 8);
            phase = then.phase;
        }
        is_done &= bytes->phase != phase;
        ends = later(ends, mbarrier_of(block->units, offset)->ends[phase] + WAKE_CYCLES);
    }
    warp->asks_again = !is_done;
    warp->waits_from = warp->now;
    if (is_done)
        warp->now = later(warp->now + PASS_CYCLES, ends);
}

/* Instructions --------------------------------------------------------------------------------- */

void units_order(struct units *units, struct simt_warp *w, const struct simt_inst *in)
{
    struct unit_warp *warp;
    switch (in->ptx->op) {
    case PTX_OP_MBARRIER_ARRIVE:
    case PTX_OP_MBARRIER_ARRIVE_NC:
    case PTX_OP_MBARRIER_ARRIVE_CLUSTER:
    case PTX_OP_MBARRIER_ARRIVE_TX:
    case PTX_OP_MBARRIER_ARRIVE_DROP:
    case PTX_OP_MBARRIER_ARRIVE_DROP_NC:
    case PTX_OP_MBARRIER_ARRIVE_DROP_TX:
    case PTX_OP_MBARRIER_COMPLETE_TX:
        arrive_lanes(w, in, catch_up(units, w)->now);
        break;
    case PTX_OP_CP_ASYNC_MBARRIER:
        warp = catch_up(units, w);
        arrive_lanes(w, in, later(warp->now, warp->copies.open));
        break;
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT:
        wait_at(units, w, in, false);
        break;
    case PTX_OP_MBARRIER_TEST_WAIT_PARITY:
    case PTX_OP_MBARRIER_TRY_WAIT_PARITY:
        wait_at(units, w, in, true);
        break;
    case PTX_OP_CP_ASYNC_COMMIT:
        commit(&catch_up(units, w)->copies);
        break;
    case PTX_OP_CP_ASYNC_WAIT_GROUP:
        warp = catch_up(units, w);
        wait_for(warp, &warp->copies, (uint32_t)in->ptx->operands[0].imm);
        break;
    case PTX_OP_CP_ASYNC_WAIT_ALL:
        warp = catch_up(units, w);
        warp->now = later(warp->now, warp->copies.open);
        break;
    case PTX_OP_CP_BULK_COMMIT:
        warp = catch_up(units, w);
        commit(&warp->bulks);
        commit(&warp->bulk_reads);
        break;
    case PTX_OP_CP_BULK_WAIT:
        warp = catch_up(units, w);
        wait_for(warp, ptx_has(in->ptx, PTX_MOD_READ) ? &warp->bulk_reads : &warp->bulks,
                 (uint32_t)in->ptx->operands[0].imm);
        break;
    default:
        break;
    }
}

void units_product(struct units *units, struct simt_warp *w, const struct simt_inst *in)
{
    struct unit_warp *warp = catch_up(units, w);
    struct sm *sm = &units->sms[w->block->units->sm];
    struct calendar *core = &sm->tensor[w->index % 4];
    if (in->ptx->op == PTX_OP_WGMMA_COMMIT) {
        commit(&warp->products);
    } else if (in->ptx->op == PTX_OP_WGMMA_WAIT) {
        wait_for(warp, &warp->products, (uint32_t)in->ptx->operands[0].imm);
    } else if (in->ptx->op != PTX_OP_WGMMA_FENCE) {
        double cycles = count_tensor_cycles(units->gpu, in->ptx);
        if (!ptx_is_wgmma(in->ptx->op))
            cycles /= gpu_mma_sync_part(units->gpu);
        double done = calendar_take(core, later(warp->now, warp->core_free), cycles);
        warp->core_free = done;
        if (ptx_is_wgmma(in->ptx->op)) {
            done = later(done, calendar_take(&sm->passes, warp->now, count_wide_passes(in->ptx)));
            warp->products.open = later(warp->products.open, done + WGMMA_CYCLES);
        } else {
            warp->now = later(warp->now, done - cycles);
        }
    }
}

/* Memory --------------------------------------------------------------------------------------- */

/* When sectors have come from the L2. */
static double read_sectors(struct units *units, struct sm *sm, double from, uint64_t sectors)
{
    return calendar_take(&sm->port, from, (double)sectors * 32 / units->port_bytes);
}

/* When sectors have gone there. */
static double write_sectors(struct units *units, struct sm *sm, double from, uint64_t sectors)
{
    return calendar_take(&sm->port, from, (double)sectors * 32 * WRITE_FACTOR / units->port_bytes);
}

/* A warp goes on before its stores have gone, but not long before. What a sector costs of which
 * only a part is written is the L2's time, which all SMs share. */
static void store(struct units *units, struct unit_warp *warp, struct sm *sm,
                  const struct units_access *took)
{
    double partial =
        (double)took->partial * PARTIAL_CYCLES + (double)took->partial_lines * PARTIAL_LINE_CYCLES;
    uint64_t whole = took->partial < took->l2_sectors ? took->l2_sectors - took->partial : 0;
    double done = write_sectors(units, sm, warp->now, whole);
    double pieces = (double)took->partial_lines * PIECE_CYCLES;
    done = later(done, calendar_take(&sm->port, warp->now, pieces));
    done = later(done, calendar_take(&sm->stores, warp->now, partial * units->active));
    warp->stored = later(warp->stored, done);
    warp->now = later(warp->now, done - STORE_QUEUE_CYCLES);
}

uint32_t units_access(struct units *units, const struct watch_access *access,
                      const struct units_access *took)
{
    if (access->what->kind == WATCH_BULK) { /* units_bulk has the rest */
        if (access->space == PTX_SPACE_GLOBAL) {
            units->bulk.l2_sectors += took->l2_sectors;
            if (took->latency > units->bulk.latency)
                units->bulk.latency = took->latency;
        }
        return 0;
    }
    struct unit_warp *warp = catch_up(units, access->w);
    struct sm *sm = &units->sms[access->w->block->units->sm];
    if (access->block != access->w->block) {
        double cycles = units_remote_cycles(access);
        warp->now = later(warp->now, calendar_take(&sm->port, warp->now, cycles));
        return (uint32_t)REMOTE_CYCLES;
    }
    double from = warp->now;
    warp->now = later(from, calendar_take(&sm->passes, from, (double)took->passes));
    if (access->space == PTX_SPACE_SHARED)
        return 0;
    if (access->is_write && access->what->kind == WATCH_STORE) {
        store(units, warp, sm, took);
        return 0;
    }
    double done = read_sectors(units, sm, from, took->l2_sectors);
    if (access->what->kind == WATCH_COPY)
        warp->copies.open = later(warp->copies.open, done + took->latency);
    return done > warp->now ? (uint32_t)(done - warp->now) : 0;
}

/* Into each block that it goes to; the L2 is read once. */
static void load_bulk(struct units *units, struct simt_warp *w, const struct simt_inst *in,
                      int lane, double from)
{
    struct tma_targets targets = tma_targets(w, in, lane);
    struct simt_block *own = w->block;
    uint32_t count;
    struct simt_block *const *blocks = simt_cluster_blocks(&own, &count);
    uint64_t sectors = units->bulk.l2_sectors;
    double latency = units->bulk.latency >= GPU_DRAM_CYCLES ? BULK_DRAM_CYCLES : BULK_L2_CYCLES;
    bool is_multicast = (targets.ranks & (targets.ranks - 1)) != 0;
    for (uint32_t ranks = targets.ranks; ranks; ranks &= ranks - 1) {
        struct simt_block *block = blocks[__builtin_ctz(ranks)];
        if (!block->units)
            continue;
        /* The L2 has it once: the bandwidth of the copies is the SM's alone. */
        struct sm *sm = &units->sms[block->units->sm];
        double share = is_multicast ? later(units->port_bytes, PORT_BYTES) : units->port_bytes;
        double done = calendar_take(&sm->port, from, (double)sectors * 32 / share);
        arrive(block, targets.mbarrier, done + latency);
    }
}

void units_bulk(struct units *units, struct simt_warp *w, const struct simt_inst *in, int lane)
{
    struct unit_warp *warp = catch_up(units, w);
    struct sm *sm = &units->sms[w->block->units->sm];
    if (tma_is_counted(in->ptx->op)) {
        load_bulk(units, w, in, lane, warp->now);
    } else if (units->bulk.l2_sectors) {
        double done = write_sectors(units, sm, warp->now, units->bulk.l2_sectors);
        warp->bulk_reads.open = later(warp->bulk_reads.open, done);
        warp->bulks.open = later(warp->bulks.open, done + BULK_L2_CYCLES);
    }
    memset(&units->bulk, 0, sizeof(units->bulk));
}
