/*
 * exec_watch.c: the run loop of a watched launch: counts what runs, and passes the accesses of a
 * warp to the watchers. Built per instruction set, as bodies are.
 */
#include "simt/access.h"
#include "simt/cluster.h"
#include "simt/slice.h"
#include "simt/stall.h"
#include "simt/watch.h"

/* Accesses ---------------------------------------------------------------------------------------
 */

static void slot_addresses(const struct simt_warp *w, uint32_t slot, bool narrow, uint64_t imm,
                           uint64_t addresses[SIMT_LANES])
{
    if (narrow) {
        const uint32_t *a = SIMT_SLOT(const uint32_t, slot);
        for (int i = 0; i < SIMT_LANES; i++)
            addresses[i] = (uint32_t)(a[i] + (uint32_t)imm);
    } else {
        const uint64_t *a = SIMT_SLOT(const uint64_t, slot);
        for (int i = 0; i < SIMT_LANES; i++)
            addresses[i] = a[i] + imm;
    }
}

static enum watch_pattern pattern_of(const struct watch_access *access)
{
    const uint64_t *a = access->addresses;
    uint32_t bytes = access->bytes;
    if (access->mask != SIMT_ALL || bytes > 16)
        return WATCH_SCATTERED;
    switch (access_pattern_64(a, bytes, SIMT_LANES)) {
    case ACCESS_ONE:
        return WATCH_SAME;
    case ACCESS_NEIGHBOURS:
        return WATCH_NEIGHBOURS;
    default:
        return access_pattern_64(a, bytes, ACCESS_HALF) != ACCESS_SCATTERED &&
                       access_pattern_64(a + ACCESS_HALF, bytes, ACCESS_HALF) != ACCESS_SCATTERED
                   ? WATCH_HALVES
                   : WATCH_SCATTERED;
    }
}

static uint32_t tell(struct simt_watch *watch, struct watch_access *access);

/* Lanes of an access to shared memory of a cluster, by block: with offsets, as without clusters.
 * Where an instruction must not go, the address stays as it is, outside of the block's own. */
static uint32_t tell_cluster(struct simt_watch *watch, struct watch_access *access)
{
    struct simt_block *own = access->w->block;
    const struct simt_cluster *cluster = own->cluster;
    bool anywhere = access->what->space == PTX_SPACE_GENERIC ||
                    ptx_has(access->in->ptx, PTX_MOD_SHARED_CLUSTER);
    uint64_t offsets[SIMT_LANES];
    uint32_t of_rank[SIMT_CLUSTER_MOST] = {0}, refused = 0, all = access->mask;
    const uint64_t *addresses = access->addresses;
    for (uint32_t rest = all; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t rank, offset, mine = simt_block_rank(own);
        simt_shared_split(addresses[lane], &rank, &offset);
        bool allowed = rank == mine || (anywhere ? rank < cluster->size : rank == 0);
        of_rank[anywhere && allowed ? rank : mine] |= 1u << lane;
        offsets[lane] = allowed ? offset : addresses[lane];
    }
    access->addresses = offsets;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        access->mask = of_rank[rank];
        access->block = cluster->blocks[rank];
        if (access->mask)
            refused |= tell(watch, access);
    }
    access->block = NULL;
    access->mask = all;
    access->addresses = addresses;
    return refused;
}

static uint32_t tell(struct simt_watch *watch, struct watch_access *access)
{
    uint32_t refused = 0;
    if (!access->mask)
        return 0;
    if (!access->block && access->space == PTX_SPACE_SHARED && access->w->block->cluster)
        return tell_cluster(watch, access);
    struct simt_block *owner = access->block;
    if (!owner)
        access->block = access->w->block;
    access->pattern = pattern_of(access);
    EACH_WATCHER(watch, access) refused |= watcher->access(watcher, access);
    access->block = owner;
    return refused;
}

/* Lanes of a generic access, by where their address leads. */
static uint32_t tell_generic(struct simt_watch *watch, struct watch_access *access)
{
    uint64_t addresses[SIMT_LANES];
    const uint64_t *generic = access->addresses;
    uint32_t shared = 0, local = 0, all = access->mask, refused = 0;
    for (uint32_t rest = all; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = addresses[lane] = access->addresses[lane];
        if (address < SIMT_SHARED_WINDOW)
            continue;
        if (address - SIMT_SHARED_WINDOW < SIMT_SHARED_WINDOWS) {
            shared |= 1u << lane;
            addresses[lane] = address - SIMT_SHARED_WINDOW;
        } else if (address - SIMT_LOCAL_WINDOW < SIMT_LOCAL_WINDOW_SIZE) {
            local |= 1u << lane;
            addresses[lane] = address - SIMT_LOCAL_WINDOW;
        }
    }
    access->addresses = addresses;
    access->space = PTX_SPACE_GLOBAL;
    access->mask = all & ~shared & ~local;
    refused |= tell(watch, access);
    access->space = PTX_SPACE_SHARED;
    access->mask = shared;
    refused |= tell(watch, access);
    access->space = PTX_SPACE_LOCAL;
    access->mask = local;
    refused |= tell(watch, access);
    access->addresses = generic;
    return refused;
}

/* How many bytes each lane of a cp.async reads; the lanes that read at all. */
static uint32_t copied_bytes(const struct watch_access *access, uint32_t bytes[SIMT_LANES])
{
    struct simt_warp *w = access->w;
    const struct simt_inst *in = access->in;
    bool predicate = in->ptx->operand_count > 3 && in->ptx->operands[3].type == PTX_PRED;
    bool sized = in->ptx->operand_count > 3 && !predicate;
    uint32_t reading = access->mask & ~(predicate ? simt_predicate(w, in->e) : 0);
    for (int i = 0; i < SIMT_LANES; i++) {
        uint32_t wanted = sized ? SIMT_SLOT(const uint32_t, in->e)[i] : access->bytes;
        bytes[i] = wanted < access->bytes ? wanted : access->bytes;
        if (!bytes[i])
            reading &= ~(1u << i);
    }
    return reading;
}

/* Counters see one request; checkers see the bytes that each lane reads, lanes of a size together.
 */
static uint32_t tell_copy_read(struct simt_watch *watch, struct watch_access *access,
                               const uint32_t bytes[SIMT_LANES])
{
    uint32_t whole = access->bytes, all = access->mask, partly = 0, refused = 0;
    for (uint32_t rest = all; rest; rest &= rest - 1)
        partly |= bytes[__builtin_ctz(rest)] < whole ? rest & -rest : 0;
    if (!partly)
        return tell(watch, access);
    access->audience = WATCH_FOR_COUNTERS;
    tell(watch, access);
    access->audience = WATCH_FOR_CHECKS;
    for (uint32_t left = all; left; left &= ~access->mask) {
        access->bytes = bytes[__builtin_ctz(left)];
        access->mask = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            access->mask |= bytes[__builtin_ctz(rest)] == access->bytes ? rest & -rest : 0;
        refused |= tell(watch, access);
    }
    access->audience = WATCH_FOR_ALL;
    access->bytes = whole;
    return refused;
}

/* cp.async: lanes that are told to read nothing still write zeros. */
static uint32_t tell_copy(struct simt_watch *watch, struct watch_access *access)
{
    struct simt_warp *w = access->w;
    const struct simt_inst *in = access->in;
    uint64_t from[SIMT_LANES], to[SIMT_LANES];
    uint32_t bytes[SIMT_LANES], all = access->mask, reading = copied_bytes(access, bytes);
    slot_addresses(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, (uint64_t)in->imm, to);
    slot_addresses(w, in->b, false, 0, from);
    for (int i = 0; i < SIMT_LANES; i++)
        if (to[i] >= SIMT_SHARED_WINDOW)
            to[i] -= SIMT_SHARED_WINDOW;
    access->space = PTX_SPACE_GLOBAL;
    access->is_read = true;
    access->is_write = false;
    access->mask = reading;
    access->addresses = from;
    access->partner = to;
    uint32_t refused = tell_copy_read(watch, access, bytes);
    access->space = PTX_SPACE_SHARED;
    access->is_read = false;
    access->is_write = true;
    access->mask = all;
    access->addresses = to;
    access->partner = from;
    return refused | tell(watch, access);
}

/* One lane's bulk copy: what it reads, then what it writes, in each block of a multicast. */
static uint32_t tell_bulk_lane(struct simt_watch *watch, struct watch_access *access, int lane,
                               const uint64_t *from, uint64_t *to)
{
    const struct simt_inst *in = access->in;
    struct simt_warp *w = access->w;
    enum ptx_op op = in->ptx->op;
    access->is_read = true;
    access->is_write = false;
    access->addresses = from;
    access->space = op == PTX_OP_CP_BULK_G2S ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    uint32_t refused = tell(watch, access);
    access->is_read = false;
    access->is_write = true;
    access->addresses = to;
    access->space = op == PTX_OP_CP_BULK_S2G ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    if (!ptx_has(in->ptx, PTX_MOD_MULTICAST_CLUSTER))
        return refused | tell(watch, access);
    uint64_t offset = to[lane] & SIMT_OFFSET_MASK;
    for (uint32_t ranks = SIMT_SLOT(const uint16_t, in->list[0])[lane]; ranks; ranks &= ranks - 1) {
        to[lane] = offset | (uint64_t)__builtin_ctz(ranks) << SIMT_RANK_SHIFT;
        refused |= tell(watch, access);
    }
    return refused;
}

static uint32_t tell_bulk(struct simt_watch *watch, struct watch_access *access)
{
    struct simt_warp *w = access->w;
    const struct simt_inst *in = access->in;
    uint64_t to[SIMT_LANES], from[SIMT_LANES];
    uint32_t all = access->mask, refused = 0;
    slot_addresses(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, (uint64_t)in->imm, to);
    slot_addresses(w, in->b, in->counts[0] == 32, 0, from);
    for (int i = 0; i < SIMT_LANES; i++) {
        if (in->ptx->op != PTX_OP_CP_BULK_S2G && to[i] >= SIMT_SHARED_WINDOW)
            to[i] -= SIMT_SHARED_WINDOW;
        if (in->ptx->op != PTX_OP_CP_BULK_G2S && from[i] >= SIMT_SHARED_WINDOW)
            from[i] -= SIMT_SHARED_WINDOW;
    }
    for (uint32_t rest = all; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        access->mask = rest & -rest;
        /* More than all of shared memory is wrong however much it is, and takes time to look at. */
        uint32_t bytes = SIMT_SLOT(const uint32_t, in->c)[lane];
        uint32_t most = w->block->shared_bytes + 16;
        access->bytes = bytes < most ? bytes : most;
        refused |= tell_bulk_lane(watch, access, lane, from, to);
        EACH_WATCHER(watch, bulk) watcher->bulk(watcher, w, in, lane);
    }
    return refused;
}

static uint32_t matrix_lanes(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_X4) ? SIMT_ALL : ptx_has(ptx, PTX_MOD_X2) ? 0xffff : 0xff;
}

/* Rows of a wmma fragment in memory: how many, and bytes of each. */
static void tile_shape(const struct ptx_inst *ptx, unsigned *rows, unsigned *bytes)
{
    static const struct {
        enum ptx_mod mod;
        uint8_t m, n, k;
    } shapes[] = {{PTX_MOD_M16N16K16, 16, 16, 16}, {PTX_MOD_M8N32K16, 8, 32, 16},
                  {PTX_MOD_M32N8K16, 32, 8, 16},   {PTX_MOD_M8N8K32, 8, 8, 32},
                  {PTX_MOD_M8N8K128, 8, 8, 128},   {PTX_MOD_M16N16K8, 16, 16, 8},
                  {PTX_MOD_M8N8K4, 8, 8, 4}};
    unsigned m = 16, n = 16, k = 16;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        if (ptx_has(ptx, shapes[i].mod)) {
            m = shapes[i].m;
            n = shapes[i].n;
            k = shapes[i].k;
        }
    bool is_a = ptx_has(ptx, PTX_MOD_A), is_b = ptx_has(ptx, PTX_MOD_B);
    unsigned height = is_b ? k : m, width = is_a ? k : n;
    bool by_column = ptx_has(ptx, PTX_MOD_COL);
    unsigned elements = by_column ? height : width;
    *rows = by_column ? width : height;
    *bytes = elements * ptx_type_bits(ptx->types[0]) / 8;
}

static uint32_t tell_tile(struct simt_watch *watch, struct watch_access *access)
{
    struct simt_warp *w = access->w;
    const struct simt_inst *in = access->in;
    unsigned rows, bytes, strided = in->ptx->operand_count > 2;
    tile_shape(in->ptx, &rows, &bytes);
    uint64_t base[SIMT_LANES], addresses[SIMT_LANES];
    slot_addresses(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, (uint64_t)in->imm, base);
    int lane = __builtin_ctz(access->mask);
    uint64_t stride = strided ? (uint64_t)SIMT_SLOT(const uint32_t, in->b)[lane] *
                                    ptx_type_bits(in->ptx->types[0]) / 8
                              : bytes;
    for (unsigned i = 0; i < SIMT_LANES; i++)
        addresses[i] = base[lane] + i * stride;
    access->addresses = addresses;
    access->bytes = bytes;
    access->mask = rows >= SIMT_LANES ? SIMT_ALL : (1u << rows) - 1;
    uint32_t refused =
        access->space == PTX_SPACE_GENERIC ? tell_generic(watch, access) : tell(watch, access);
    return refused ? SIMT_ALL : 0;
}

/* Tells the watchers; returns the lanes that may go on. */
static uint32_t watch_access(struct simt_watch *watch, struct simt_warp *w,
                             const struct simt_inst *in, const struct watch_inst *what)
{
    uint64_t addresses[SIMT_LANES];
    bool is_atomic = what->kind == WATCH_RED || what->kind == WATCH_ATOM;
    struct watch_access access = {.w = w,
                                  .in = in,
                                  .what = what,
                                  .number = (uint32_t)(in - watch->code->insts),
                                  .space = (enum ptx_space)what->space,
                                  .mask = w->mask,
                                  .bytes = what->bytes,
                                  .is_write = what->is_write,
                                  .is_read = is_atomic || !what->is_write,
                                  .addresses = addresses};
    uint32_t refused;
    switch ((enum watch_kind)what->kind) {
    case WATCH_COPY:
        return w->mask & ~tell_copy(watch, &access);
    case WATCH_BULK:
        return w->mask &
               ~(ptx_op_infos[in->ptx->op].group == PTX_GROUP_BULK ? simt_watch_bulk(watch, &access)
                                                                   : tell_bulk(watch, &access));
    case WATCH_TILE:
        return w->mask & ~tell_tile(watch, &access);
    case WATCH_TEXTURE:
        return w->mask & ~simt_watch_texture(watch, &access);
    case WATCH_MATRIX:
        access.mask = matrix_lanes(in->ptx);
        break;
    default:
        break;
    }
    slot_addresses(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, (uint64_t)in->imm, addresses);
    if (access.space == PTX_SPACE_SHARED && !(in->flags & SIMT_FLAG_ADDRESS_32))
        for (int i = 0; i < SIMT_LANES; i++) /* a 64-bit shared address may be a generic one */
            addresses[i] -= addresses[i] >= SIMT_SHARED_WINDOW ? SIMT_SHARED_WINDOW : 0;
    refused =
        access.space == PTX_SPACE_GENERIC ? tell_generic(watch, &access) : tell(watch, &access);
    if (what->kind == WATCH_MATRIX && refused)
        return 0;
    return w->mask & ~refused;
}

/* Loads of refused lanes give zeros. */
static void clear_results(struct simt_warp *w, const struct simt_inst *in, uint32_t lanes)
{
    unsigned bytes = in->flags >> SIMT_FLAG_BYTES_SHIFT;
    unsigned count = in->counts[0] ? in->counts[0] : 1;
    if (ptx_op_infos[in->ptx->op].group != PTX_GROUP_MEMORY || !bytes)
        return;
    for (unsigned k = 0; k < count; k++) {
        uint8_t *slot = w->regs + (in->counts[0] ? in->list[k] : in->d);
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            memset(slot + (unsigned)__builtin_ctz(rest) * bytes, 0, bytes);
    }
}

/* The loop ---------------------------------------------------------------------------------------
 */

/* Loads that the instruction needs have come; what the warp has done since they began was hidden.
 */
static void await_loads(struct simt_path_time *path, unsigned scoreboards)
{
    for (; scoreboards; scoreboards &= scoreboards - 1) {
        int k = __builtin_ctz(scoreboards);
        if (!path->arrives[k])
            continue;
        uint64_t since = path->now - path->begins[k];
        path->loads += path->takes[k];
        path->hidden += since < path->takes[k] ? since : path->takes[k];
        path->now = path->arrives[k] > path->now ? path->arrives[k] : path->now;
        path->arrives[k] = path->takes[k] = 0;
    }
}

static void begin_load(struct simt_path_time *path, const struct watch_inst *what, uint32_t latency)
{
    enum { NOMINAL = 400 }; /* cycles: between the L2's and DRAM's */
    uint32_t takes = latency * what->quarters;
    if (!what->scoreboard) {
        path->now += what->waits ? takes : 0;
        return;
    }
    unsigned k = what->scoreboard - 1u;
    if (!path->arrives[k])
        path->begins[k] = path->now;
    path->arrives[k] = path->now + (uint64_t)NOMINAL * what->quarters;
    path->takes[k] = takes > path->takes[k] ? takes : path->takes[k];
}

static const struct simt_inst *step(struct simt_watch *watch, struct simt_warp *w,
                                    const struct simt_inst *in)
{
    size_t number = (size_t)(in - watch->code->insts);
    const struct watch_inst *what = &watch->insts[number];
    struct watch_tally *tally = &watch->tallies[number];
    uint32_t path_mask = w->path_mask, on = w->mask;
    tally->warps++;
    tally->threads += (unsigned)__builtin_popcount(path_mask);
    tally->on += (unsigned)__builtin_popcount(on);
    struct simt_path_time *time = &simt_state(w)->path;
    simt_state(w)->alone_cycles += what->alone;
    simt_state(w)->quarter_slots += what->slots_of_4;
    if (what->awaits)
        await_loads(time, what->awaits);
    time->now += what->path_of_4;
    if (watch->follows)
        EACH_WATCHER(watch, follow) watcher->follow(watcher, w, in);
    if (!w->mask) {
        if (watch->wants_all && in->ptx->op == PTX_OP_BRA) /* which no lane takes */
            EACH_WATCHER(watch, step) watcher->step(watcher, w, in);
        return in + 1;
    }
    if (what->kind) {
        watch->latency = 0;
        uint32_t allowed = watch_access(watch, w, in, what);
        if (what->waits) {
            simt_state(w)->clock += (uint64_t)watch->latency << SIMT_CLOCK_BITS;
            simt_state(w)->alone_cycles += watch->latency;
        }
        if (what->waits || what->scoreboard)
            begin_load(time, what, watch->latency);
        if (allowed != w->mask) {
            if (!what->is_write)
                clear_results(w, in, w->mask & ~allowed);
            w->mask = allowed;
            if (!allowed)
                return in + 1;
        }
    } else {
        if (what->is_order)
            EACH_WATCHER(watch, order) watcher->order(watcher, w, in);
        if (watch->wants_all)
            EACH_WATCHER(watch, step) watcher->step(watcher, w, in);
        if (in->ptx->op == PTX_OP_BRA && w->mask != path_mask)
            tally->divergent++;
    }
    struct simt_path *path = w->path;
    const struct simt_inst *next =
        w->block->launch->suspect ? simt_stall_step(w, in) : in->run(w, in);
    bool again =
        next == in &&
        (in->ptx->op == PTX_OP_WGMMA_WAIT || in->ptx->op == PTX_OP_SETMAXNREG ||
         in->ptx->op == PTX_OP_CP_ASYNC_WAIT_GROUP || in->ptx->op == PTX_OP_CP_ASYNC_WAIT_ALL);
    if (again || (!next && path->state == SIMT_PATH_SYNC && path->ip == in)) { /* it comes again */
        tally->warps--;
        tally->threads -= (unsigned)__builtin_popcount(path_mask);
        tally->on -= (unsigned)__builtin_popcount(on);
    } else if (what->is_product) {
        EACH_WATCHER(watch, product) watcher->product(watcher, w, in);
    }
    tally->waits += !next && path->state == SIMT_PATH_BARRIER;
    return next;
}

bool SIMT_NAME(simt_watched_slice)(struct simt_warp_state *warp, struct simt_path *path,
                                   int32_t fuel)
{
    struct simt_warp *w = &warp->w;
    struct simt_watch *watch = w->block->launch->watch;
    const struct simt_inst *in = simt_slice_begin(warp, path, fuel);
    uint64_t count = 0;
    do {
        count++;
        if (in->flags & SIMT_FLAG_HIDDEN) {
            in = in->run(w, in);
        } else {
            warp->steps++;
            if (in->guard != SIMT_NO_GUARD) {
                uint32_t guard = *SIMT_SLOT(uint32_t, in->guard);
                w->mask = (in->flags & SIMT_FLAG_GUARD_NOT ? ~guard : guard) & w->path_mask;
            }
            in = step(watch, w, in);
        }
        w->mask = w->path_mask;
    } while (in && --warp->fuel > 0);
    return simt_slice_end(warp, in, count);
}
