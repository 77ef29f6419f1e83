/*
 * replay.c: see replay.h. Every warp may have an equal share of the events. Where one has had its
 * share the replay is cut at that time for all, so that what is left is whole up to there.
 */
#include "watch/replay.h"

#include "watch/chosen.h"

#include <math.h>
#include <stdlib.h>

enum replay_kind {
    REPLAY_RUN,
    REPLAY_LOAD,
    REPLAY_STORE,
    REPLAY_ATOMIC,
    REPLAY_BARRIER,
    REPLAY_WAIT,
    REPLAY_RELEASE,
    REPLAY_END
};
static const char *const kind_names[] = {
    [REPLAY_RUN] = "run",         [REPLAY_LOAD] = "load",       [REPLAY_STORE] = "store",
    [REPLAY_ATOMIC] = "atomic",   [REPLAY_BARRIER] = "barrier", [REPLAY_WAIT] = "wait",
    [REPLAY_RELEASE] = "release", [REPLAY_END] = "end",
};

struct event {
    double time;    /* cycles since the first block began */
    uint64_t order; /* in which it came */
    uint64_t block;
    uint32_t warp, inst;
    uint32_t active, mask;
    uint32_t count; /* instructions that it stands for */
    enum replay_kind kind;
    /* Of accesses: */
    enum ptx_space space;
    uint32_t bytes;
    uint32_t sectors, l1, l2, dram; /* of these came from the L1, the L2, or DRAM */
    uint32_t passes;                /* of shared memory */
    size_t addresses;               /* where those of its lanes begin */
};

/* Of a warp: */
struct track {
    uint64_t events, last; /* last: one of all events */
};

struct replay {
    struct chosen_range launches, blocks;
    uint64_t limit, launch_count;
    bool is_chosen; /* this launch */
    uint32_t warps; /* of a block */
    uint64_t block_count, share;
    struct track *tracks; /* [block_count][warps] */
    struct event *events;
    uint64_t count, capacity, dropped;
    double cut; /* INFINITY: nothing is cut */
    uint64_t *addresses;
    size_t address_count, address_capacity;
};

/* Opening and closing ----------------------------------------------------------------------------
 */

static void choose(void *context, const char *name, const char *value)
{
    struct replay *replay = context;
    if (strcmp(name, "launches") == 0)
        replay->launches = chosen_range(value);
    else if (strcmp(name, "blocks") == 0)
        replay->blocks = chosen_range(value);
    else if (strcmp(name, "events") == 0)
        replay->limit = strtoull(value, NULL, 10);
}

struct replay *replay_open(void)
{
    struct replay replay = {.launches = {0, 3}, .limit = 16000};
    if (!chosen_read("LOCKSTEP_REPLAY", choose, &replay))
        return NULL;
    struct replay *kept = lk_alloc(sizeof(*kept));
    *kept = replay;
    return kept;
}

void replay_close(struct replay *replay)
{
    if (!replay)
        return;
    free(replay->tracks);
    free(replay->events);
    free(replay->addresses);
    free(replay);
}

bool replay_launch(struct replay *replay, const struct simt_launch_state *launch)
{
    replay->is_chosen = chosen_has(replay->launches, replay->launch_count++) &&
                        replay->blocks.first < launch->block_count;
    if (!replay->is_chosen)
        return false;
    uint64_t last = launch->block_count - 1;
    replay->warps = (launch->threads_per_block + SIMT_LANES - 1) / SIMT_LANES;
    replay->block_count =
        (replay->blocks.last < last ? replay->blocks.last : last) - replay->blocks.first + 1;
    /* More blocks than events: a block without a single event tells nothing. */
    if (replay->block_count * replay->warps > replay->limit)
        replay->block_count = replay->limit / replay->warps + 1;
    replay->share = replay->limit / (replay->block_count * replay->warps);
    replay->share = replay->share ? replay->share : 1;
    free(replay->tracks);
    replay->tracks = lk_alloc_zeroed(replay->block_count * replay->warps * sizeof(*replay->tracks));
    replay->count = replay->dropped = 0;
    replay->address_count = 0;
    replay->cut = INFINITY;
    return true;
}

bool replay_has(const struct replay *replay, const struct simt_block *block)
{
    return replay->is_chosen && block->linear >= replay->blocks.first &&
           block->linear - replay->blocks.first < replay->block_count;
}

/* Events -----------------------------------------------------------------------------------------
 */

static struct track *track_of(const struct replay *replay, const struct simt_block *block,
                              uint32_t warp)
{
    return &replay->tracks[(block->linear - replay->blocks.first) * replay->warps + warp];
}

/* Do both come from the same line, inlined at the same lines? */
static bool same_place(const struct ptx_module *module, const struct simt_inst *a,
                       const struct simt_inst *b)
{
    uint32_t i = a->ptx->loc, k = b->ptx->loc;
    for (int depth = 0; depth < 16 && i != k; depth++) {
        if (!i || !k || module->locs[i].line != module->locs[k].line ||
            module->locs[i].file != module->locs[k].file)
            return false;
        i = module->locs[i].inlined_at;
        k = module->locs[k].inlined_at;
    }
    return true;
}

/* Its place among the events; NULL if there are enough of this warp. */
static struct event *add(struct replay *replay, const struct simt_warp *w, double time,
                         enum replay_kind kind, uint32_t inst)
{
    struct track *track = track_of(replay, w->block, w->index);
    if (track->events == replay->share || time >= replay->cut) {
        replay->cut = time < replay->cut ? time : replay->cut;
        replay->dropped++;
        return NULL;
    }
    if (replay->count == replay->capacity) {
        replay->capacity = replay->capacity * 2 + 256;
        replay->events = lk_realloc(replay->events, replay->capacity * sizeof(*replay->events));
    }
    track->events++;
    track->last = replay->count;
    struct event *event = &replay->events[replay->count++];
    *event = (struct event){.time = time,
                            .order = replay->count,
                            .block = w->block->linear,
                            .warp = w->index,
                            .inst = inst,
                            .active = w->path_mask,
                            .mask = w->mask,
                            .count = 1,
                            .kind = kind};
    return event;
}

static enum replay_kind kind_of(enum ptx_op op)
{
    switch (op) {
    case PTX_OP_BAR_SYNC:
    case PTX_OP_BAR_RED_POPC:
    case PTX_OP_BAR_RED_BOOL:
    case PTX_OP_BARRIER_SYNC:
    case PTX_OP_BARRIER_RED_POPC:
    case PTX_OP_BARRIER_RED_BOOL:
        return REPLAY_BARRIER;
    case PTX_OP_BARRIER_CLUSTER_WAIT:
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TEST_WAIT_PARITY:
    case PTX_OP_MBARRIER_TRY_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT_PARITY:
    case PTX_OP_CP_ASYNC_WAIT_GROUP:
    case PTX_OP_CP_ASYNC_WAIT_ALL:
    case PTX_OP_CP_BULK_WAIT:
    case PTX_OP_WGMMA_WAIT:
        return REPLAY_WAIT;
    default:
        return REPLAY_RUN;
    }
}

/* Instructions of one line in a row are one event; a wait takes in the loop that asks again. */
static bool joins(const struct replay *replay, const struct simt_warp *w,
                  const struct simt_inst *in, enum replay_kind kind)
{
    const struct track *track = track_of(replay, w->block, w->index);
    const struct simt_launch_state *launch = w->block->launch;
    if (track->events == 0 || kind == REPLAY_BARRIER)
        return false;
    struct event *last = &replay->events[track->last];
    bool same = (last->kind == kind && kind != REPLAY_BARRIER) ||
                (last->kind == REPLAY_WAIT && kind == REPLAY_RUN);
    if (!same || last->active != w->path_mask ||
        !same_place(launch->kernel->ptx->module, &launch->code->insts[last->inst], in))
        return false;
    last->mask |= w->mask;
    last->count++;
    return true;
}

void replay_step(struct replay *replay, struct units *units, const struct simt_warp *w,
                 const struct simt_inst *in)
{
    enum replay_kind kind = kind_of(in->ptx->op);
    if (!replay_has(replay, w->block) || in->flags & SIMT_FLAG_HIDDEN || joins(replay, w, in, kind))
        return;
    add(replay, w, units_now(units, w, 0), kind, (uint32_t)(in - w->block->launch->code->insts));
}

static size_t keep_addresses(struct replay *replay, const struct watch_access *access)
{
    size_t from = replay->address_count;
    if (from + SIMT_LANES > replay->address_capacity) {
        replay->address_capacity = 2 * replay->address_capacity + 1024;
        replay->addresses =
            lk_realloc(replay->addresses, replay->address_capacity * sizeof(uint64_t));
    }
    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        replay->addresses[replay->address_count++] = access->addresses[__builtin_ctz(rest)];
    return from;
}

void replay_access(struct replay *replay, const struct watch_access *access,
                   const struct replay_before *before, const struct count_memory *now)
{
    enum replay_kind kind = access->is_write && access->is_read ? REPLAY_ATOMIC
                            : access->is_write                  ? REPLAY_STORE
                                                                : REPLAY_LOAD;
    struct event *event = add(replay, access->w, before->time, kind, access->number);
    if (!event)
        return;
    event->mask = access->mask;
    event->space = access->space;
    event->bytes = access->bytes;
    event->sectors = (uint32_t)(now->sectors - before->memory.sectors);
    event->l1 = (uint32_t)(now->l1_hits - before->memory.l1_hits);
    event->l2 = (uint32_t)(now->l2_hits - before->memory.l2_hits);
    event->dram = (uint32_t)(now->dram_sectors - before->memory.dram_sectors);
    event->passes = (uint32_t)(now->wavefronts - before->memory.wavefronts);
    event->addresses = keep_addresses(replay, access);
}

void replay_barrier(struct replay *replay, struct units *units, const struct simt_block *block,
                    uint32_t id)
{
    if (!replay_has(replay, block))
        return;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        const struct simt_warp *w = &block->warps[i].w;
        const struct track *track = track_of(replay, block, i);
        if (!block->barriers[id].lanes[i] || track->events == 0)
            continue;
        uint32_t inst = replay->events[track->last].inst;
        struct event *event = add(replay, w, units_now(units, w, 0), REPLAY_RELEASE, inst);
        if (event)
            event->active = event->mask = block->barriers[id].lanes[i];
    }
}

void replay_end(struct replay *replay, struct units *units, const struct simt_block *block)
{
    for (uint32_t i = 0; replay_has(replay, block) && i < block->warp_count; i++) {
        const struct simt_warp *w = &block->warps[i].w;
        const struct track *track = track_of(replay, block, i);
        uint32_t inst = track->events ? replay->events[track->last].inst : 0;
        struct event *event = add(replay, w, units_now(units, w, 0), REPLAY_END, inst);
        if (event)
            event->active = event->mask = 0;
    }
}

/* Writing ----------------------------------------------------------------------------------------
 */

static int by_time(const void *a, const void *b)
{
    const struct event *one = a, *two = b;
    if (one->time != two->time)
        return one->time < two->time ? -1 : 1;
    return one->order < two->order ? -1 : 1;
}

/* [first, step] where they are as far apart as their lanes, else all: [[..]]. Signed: JSON's
 * integers end at 2^63. */
static void put_addresses(FILE *file, const struct event *event, const uint64_t *addresses)
{
    unsigned count = (unsigned)__builtin_popcount(event->mask), at = 0;
    unsigned first = event->mask ? (unsigned)__builtin_ctz(event->mask) : 0;
    uint32_t others = event->mask & (event->mask - 1);
    int64_t apart = others ? (int64_t)(addresses[1] - addresses[0]) /
                                 ((int64_t)__builtin_ctz(others) - (int64_t)first)
                           : 0;
    bool is_even = true;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1, at++)
        is_even &= addresses[at] ==
                   addresses[0] + (uint64_t)apart * ((unsigned)__builtin_ctz(rest) - first);
    if (is_even && count) {
        fprintf(file, "[%lld,%lld]", (long long)addresses[0], (long long)apart);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "%s%lld", i ? "," : "[[", (long long)addresses[i]);
    fprintf(file, "]]");
}

static void put_event(const struct replay *replay, const struct event *event, FILE *file)
{
    static const char *const spaces[] = {
        [PTX_SPACE_GLOBAL] = "global",
        [PTX_SPACE_SHARED] = "shared",
        [PTX_SPACE_LOCAL] = "local",
        [PTX_SPACE_CONST] = "const",
    };
    fprintf(file, "[%.1f,%llu,%u,%u,%u,%u,%u,\"%s\"", event->time, (unsigned long long)event->block,
            event->warp, event->inst, event->active, event->mask, event->count,
            kind_names[event->kind]);
    if (event->bytes) {
        fprintf(file, ",\"%s\",%u,%u,%u,%u,%u,%u,", spaces[event->space], event->bytes,
                event->sectors, event->l1, event->l2, event->dram, event->passes);
        put_addresses(file, event, replay->addresses + event->addresses);
    }
    fprintf(file, "]");
}

/* What pointers the kernel was given, and where its variables in shared memory lie. */
static void put_memory(const struct simt_launch_state *launch, FILE *file)
{
    const struct ptx_function *entry = launch->kernel->ptx;
    const struct simt_code *code = launch->code;
    struct lk_buf name = {0};
    fprintf(file, ",\"parameters\":[");
    for (uint32_t i = 0; i < entry->param_count; i++) {
        const struct ptx_var *var = entry->params[i].var;
        int64_t value = 0;
        if (var && var->size == sizeof(value))
            memcpy(&value, (const uint8_t *)launch->launch->params + var->offset, sizeof(value));
        fprintf(file, "%s%lld", i ? "," : "", (long long)value);
    }
    fprintf(file, "],\"shared_bytes\":%u,\"shared\":[", launch->shared_bytes);
    for (uint32_t i = 0; i < code->shared_var_count; i++) {
        name.size = 0;
        lk_buf_json(&name, code->shared_vars[i].var->name);
        fprintf(file, "%s[%s,%u,%llu]", i ? "," : "", name.data, code->shared_vars[i].offset,
                (unsigned long long)code->shared_vars[i].var->size);
    }
    fprintf(file, "]");
    lk_buf_free(&name);
}

void replay_write(struct replay *replay, const struct simt_launch_state *launch, FILE *file)
{
    if (!replay->is_chosen)
        return;
    uint64_t shown = 0;
    if (replay->count)
        qsort(replay->events, replay->count, sizeof(*replay->events), by_time);
    while (shown < replay->count && replay->events[shown].time < replay->cut)
        shown++;
    fprintf(file, "{\"replay\":[");
    for (uint64_t i = 0; i < shown; i++) {
        fprintf(file, i ? "," : "");
        put_event(replay, &replay->events[i], file);
    }
    fprintf(file, "],\"dropped\":%llu",
            (unsigned long long)(replay->dropped + replay->count - shown));
    put_memory(launch, file);
    fprintf(file, "}\n");
    replay->is_chosen = false;
}
