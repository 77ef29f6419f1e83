/*
 * watch.c: the run loop of a watched launch, and how the accesses of a warp reach the watchers.
 */
#include "simt/note.h"
#include "simt/watch.h"

#include <stdlib.h>

/* Watchers -------------------------------------------------------------------------------------- */

struct simt_watch *simt_watch_open(struct simt_machine *machine)
{
    const char *profile = getenv("LOCKSTEP_PROFILE"), *check = getenv("LOCKSTEP_CHECK");
    if (profile && *profile)
        simt_watch_add(machine, simt_counters_open(machine, profile));
    if (check && *check)
        simt_watch_add(machine, simt_check_open(machine, check));
    return machine->watch;
}

void simt_watch_add(struct simt_machine *machine, struct simt_watcher *watcher)
{
    if (!watcher)
        return;
    if (!machine->watch)
        machine->watch = lk_alloc_zeroed(sizeof(*machine->watch));
    watcher->next = machine->watch->first;
    machine->watch->first = watcher;
}

void simt_watch_close(struct simt_machine *machine)
{
    if (!machine->watch)
        return;
    for (struct simt_watcher *watcher = machine->watch->first, *next; watcher; watcher = next) {
        next = watcher->next;
        if (watcher->close)
            watcher->close(watcher);
    }
    free(machine->watch);
    machine->watch = NULL;
}

#define EACH_WATCHER(watch, hook)                                                                  \
    for (struct simt_watcher *watcher = (watch)->first; watcher; watcher = watcher->next)          \
        if (watcher->hook)

void simt_watch_launch(struct simt_launch_state *launch)
{
    struct simt_watch *watch = launch->machine->watch;
    watch->code = launch->code;
    watch->insts = simt_watch_describe(launch->code);
    watch->tallies = lk_alloc_zeroed((launch->code->inst_count + 1) * sizeof(*watch->tallies));
    EACH_WATCHER(watch, launch) watcher->launch(watcher, launch);
}

void simt_watch_done(struct simt_launch_state *launch)
{
    struct simt_watch *watch = launch->machine->watch;
    EACH_WATCHER(watch, done) watcher->done(watcher, launch);
    free(watch->insts);
    free(watch->tallies);
    watch->insts = NULL;
    watch->tallies = NULL;
    watch->code = NULL;
}

void simt_watch_block(struct simt_block *block, bool begins)
{
    EACH_WATCHER(block->launch->machine->watch, block) watcher->block(watcher, block, begins);
}

void simt_watch_warp_sync(struct simt_warp *w, const struct simt_inst *in, uint32_t lanes)
{
    EACH_WATCHER(w->block->launch->machine->watch, warp_sync)
        watcher->warp_sync(watcher, w, in, lanes);
}

void simt_watch_barrier(struct simt_block *block, uint32_t id)
{
    EACH_WATCHER(block->launch->machine->watch, barrier) watcher->barrier(watcher, block, id);
}

void simt_watch_stuck(struct simt_warp *w, bool barrier)
{
    EACH_WATCHER(w->block->launch->machine->watch, stuck) watcher->stuck(watcher, w, barrier);
}

/* Memory, as the host uses it ---------------------------------------------------------------------
 */

void simt_watch_allocated(struct simt_machine *machine, uint64_t address, size_t size)
{
    EACH_WATCHER(machine->watch, allocated) watcher->allocated(watcher, address, size);
}

void simt_watch_freed(struct simt_machine *machine, uint64_t address)
{
    EACH_WATCHER(machine->watch, freed) watcher->freed(watcher, address);
}

void simt_note_bad_free(struct simt_machine *machine, uint64_t address)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, bad_free) watcher->bad_free(watcher, address);
}

void simt_note_bad_range(struct simt_machine *machine, uint64_t address, size_t size)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, bad_range) watcher->bad_range(watcher, address, size);
}

void simt_note_written(struct simt_machine *machine, uint64_t to, uint64_t from, size_t size)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, written) watcher->written(watcher, to, from, size);
}

void simt_note_left(struct simt_machine *machine, uint64_t address)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, left) watcher->left(watcher, address);
}

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

static uint32_t tell(struct simt_watch *watch, struct watch_access *access)
{
    uint32_t refused = 0;
    if (!access->mask)
        return 0;
    EACH_WATCHER(watch, access) refused |= watcher->access(watcher, access);
    return refused;
}

/* Lanes of a generic access, by where their address leads. */
static uint32_t tell_generic(struct simt_watch *watch, struct watch_access *access)
{
    uint64_t addresses[SIMT_LANES];
    uint32_t shared = 0, local = 0, all = access->mask, refused = 0;
    for (uint32_t rest = all; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = addresses[lane] = access->addresses[lane];
        if (address < SIMT_SHARED_WINDOW)
            continue;
        if (address - SIMT_SHARED_WINDOW < SIMT_SHARED_WINDOW_SIZE) {
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
    return refused | tell(watch, access);
}

/* cp.async: lanes that are told to read nothing still write zeros. */
static uint32_t tell_copy(struct simt_watch *watch, struct watch_access *access)
{
    struct simt_warp *w = access->w;
    const struct simt_inst *in = access->in;
    uint64_t from[SIMT_LANES], to[SIMT_LANES];
    uint32_t all = access->mask, reading = all;
    slot_addresses(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, (uint64_t)in->imm, to);
    slot_addresses(w, in->b, false, 0, from);
    if (in->ptx->operand_count > 3) {
        bool predicate = in->ptx->operands[3].type == PTX_PRED;
        if (predicate)
            reading &= ~simt_predicate(w, in->e);
        for (int i = 0; !predicate && i < SIMT_LANES; i++)
            if (!SIMT_SLOT(const uint32_t, in->e)[i])
                reading &= ~(1u << i);
    }
    for (int i = 0; i < SIMT_LANES; i++)
        if (to[i] >= SIMT_SHARED_WINDOW)
            to[i] -= SIMT_SHARED_WINDOW;
    access->space = PTX_SPACE_GLOBAL;
    access->is_read = true;
    access->is_write = false;
    access->mask = reading;
    access->addresses = from;
    access->partner = to;
    uint32_t refused = tell(watch, access);
    access->space = PTX_SPACE_SHARED;
    access->is_read = false;
    access->is_write = true;
    access->mask = all;
    access->addresses = to;
    access->partner = from;
    return refused | tell(watch, access);
}

static uint32_t tell_bulk(struct simt_watch *watch, struct watch_access *access)
{
    struct simt_warp *w = access->w;
    const struct simt_inst *in = access->in;
    uint64_t to[SIMT_LANES], from[SIMT_LANES];
    uint32_t all = access->mask, refused = 0;
    bool writes_global = access->what->is_write;
    slot_addresses(w, in->a, in->flags & SIMT_FLAG_ADDRESS_32, (uint64_t)in->imm, to);
    slot_addresses(w, in->b, in->counts[0] == 32, 0, from);
    uint64_t *shared = writes_global ? from : to;
    for (int i = 0; i < SIMT_LANES; i++)
        if (shared[i] >= SIMT_SHARED_WINDOW)
            shared[i] -= SIMT_SHARED_WINDOW;
    for (uint32_t rest = all; rest; rest &= rest - 1) {
        access->mask = rest & -rest;
        access->bytes = SIMT_SLOT(const uint32_t, in->c)[__builtin_ctz(rest)];
        for (int side = 0; side < 2; side++) {
            access->is_write = side == 1;
            access->is_read = side == 0;
            access->addresses = side ? to : from;
            access->space = (side == 1) == writes_global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
            refused |= tell(watch, access);
        }
    }
    return refused;
}

static uint32_t matrix_lanes(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_X4)   ? SIMT_ALL
           : ptx_has(ptx, PTX_MOD_X2) ? 0xffff
                                      : 0xff;
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
    uint64_t stride =
        strided ? (uint64_t)SIMT_SLOT(const uint32_t, in->b)[lane] *
                      ptx_type_bits(in->ptx->types[0]) / 8
                : bytes;
    for (unsigned i = 0; i < SIMT_LANES; i++)
        addresses[i] = base[lane] + i * stride;
    access->addresses = addresses;
    access->bytes = bytes;
    access->mask = rows >= SIMT_LANES ? SIMT_ALL : (1u << rows) - 1;
    uint32_t refused = access->space == PTX_SPACE_GENERIC ? tell_generic(watch, access)
                                                          : tell(watch, access);
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
        return w->mask & ~tell_bulk(watch, &access);
    case WATCH_TILE:
        return w->mask & ~tell_tile(watch, &access);
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
    refused = access.space == PTX_SPACE_GENERIC ? tell_generic(watch, &access)
                                                : tell(watch, &access);
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

static const struct simt_inst *step(struct simt_watch *watch, struct simt_warp *w,
                                    const struct simt_inst *in)
{
    size_t number = (size_t)(in - watch->code->insts);
    const struct watch_inst *what = &watch->insts[number];
    struct watch_tally *tally = &watch->tallies[number];
    uint32_t path_mask = w->path_mask;
    tally->warps++;
    tally->threads += (unsigned)__builtin_popcount(path_mask);
    tally->on += (unsigned)__builtin_popcount(w->mask);
    if (!w->mask)
        return in + 1;
    if (what->kind) {
        uint32_t allowed = watch_access(watch, w, in, what);
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
        EACH_WATCHER(watch, step) if (watcher->wants_all) watcher->step(watcher, w, in);
        if (in->ptx->op == PTX_OP_BRA && w->mask != path_mask)
            tally->divergent++;
    }
    struct simt_path *path = w->path;
    const struct simt_inst *next = in->run(w, in);
    if (!next && path->state == SIMT_PATH_SYNC && path->ip == in) { /* it will come here again */
        tally->warps--;
        tally->threads -= (unsigned)__builtin_popcount(path_mask);
        tally->on -= (unsigned)__builtin_popcount(path_mask);
    }
    tally->waits += !next && path->state == SIMT_PATH_BARRIER;
    return next;
}

bool simt_watch_slice(struct simt_warp_state *warp, struct simt_path *path, int32_t fuel)
{
    struct simt_warp *w = &warp->w;
    struct simt_watch *watch = w->block->launch->machine->watch;
    simt_path_enter(warp, path);
    warp->fuel = warp->slice_fuel = fuel;
    warp->sync_ops = 0;
    const struct simt_inst *in = path->ip;
    uint64_t count = 0;
    do {
        count++;
        if (in->flags & SIMT_FLAG_HIDDEN) {
            in = in->run(w, in);
        } else {
            if (in->guard != SIMT_NO_GUARD) {
                uint32_t guard = *SIMT_SLOT(uint32_t, in->guard);
                w->mask = (in->flags & SIMT_FLAG_GUARD_NOT ? ~guard : guard) & w->path_mask;
            }
            in = step(watch, w, in);
        }
        w->mask = w->path_mask;
    } while (in && --warp->fuel > 0);
    struct simt_worker *worker = w->block->worker;
    worker->instructions += count;
    worker->ticks += (uint64_t)(fuel - warp->fuel);
    if (in) {
        w->path->ip = in;
        return true;
    }
    return false;
}
