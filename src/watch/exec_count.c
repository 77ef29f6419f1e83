/*
 * exec_count.c: what an access of a warp adds up to: requests, sectors, wavefronts and cache hits
 * of its instruction. Built per instruction set, as bodies are.
 */
#include "watch/count.h"
#include "watch/replay.h"

#include "gpu/model.h"
#include "simt/access.h"
#include "simt/lanes.h"

#include <stdlib.h>

/* Caches -----------------------------------------------------------------------------------------
 */

static void find_l1(struct counters *counters, const struct simt_block *block)
{
    if (counters->block == block)
        return;
    struct cache *l1 = &counters->l1s[block->linear % counters->machine->gpu->sms];
    if (!l1->sets)
        cache_open(l1, counters->l1_bytes);
    l1->crowd = counters->l1_crowd;
    l1->owner = counters->l2.owner = (uint32_t)block->linear;
    counters->l1 = l1;
    counters->block = block;
}

/* Sectors of a line that this launch touches for the first time. */
static unsigned first_touch(struct counters *counters, uint64_t line, unsigned sectors)
{
    uint64_t offset = (line << CACHE_LINE_BITS) - counters->machine->memory.base;
    if (offset >= SIMT_ARENA)
        return 0;
    uint64_t **chunk = &counters->touched[offset >> COUNT_CHUNK_BITS];
    if (!*chunk) {
        *chunk = lk_alloc_zeroed((size_t)1 << (COUNT_CHUNK_BITS - CACHE_SECTOR_BITS - 3));
        if (counters->chunk_count == counters->chunk_capacity) {
            counters->chunk_capacity = counters->chunk_capacity * 2 + 64;
            counters->chunks =
                lk_realloc(counters->chunks, counters->chunk_capacity * sizeof(*counters->chunks));
        }
        counters->chunks[counters->chunk_count++] = (uint32_t)(offset >> COUNT_CHUNK_BITS);
    }
    uint64_t bit = (offset & ((1u << COUNT_CHUNK_BITS) - 1)) >> CACHE_SECTOR_BITS;
    uint64_t bits = (uint64_t)sectors << bit % 64, *word = &(*chunk)[bit / 64];
    uint64_t fresh = bits & ~*word;
    *word |= bits;
    return (unsigned)__builtin_popcountll(fresh);
}

/* A warp waits for the slowest of what it loads together. */
static void note_latency(struct counters *counters, uint32_t cycles)
{
    counters->latency = cycles > counters->latency ? cycles : counters->latency;
}

enum cache_use { USE_LOAD, USE_LOAD_L2, USE_STORE, USE_ATOMIC, USE_LOCAL_STORE };

/* One line of an access, through both caches. partial: stores that write only a part of a sector.
 */
static void use_line(struct counters *counters, struct count_memory *memory, struct cache *l1,
                     uint64_t line, unsigned sectors, enum cache_use use, bool partial)
{
    unsigned missing = sectors;
    bool is_local = line >> (62 - CACHE_LINE_BITS);
    memory->lines++;
    if (use == USE_LOAD)
        missing &= ~cache_access(l1, line, sectors, false, true);
    else if (use == USE_LOCAL_STORE)
        missing = 0, cache_access(l1, line, sectors, true, true);
    else if (use == USE_STORE)
        cache_access(l1, line, sectors, false, false);
    memory->l1_hits += (unsigned)__builtin_popcount(sectors & ~missing);
    note_latency(counters, GPU_L1_CYCLES);
    if (!missing)
        return;
    __builtin_prefetch(cache_set_of(&counters->l2, line)); /* the L2's tags are megabytes */
    __builtin_prefetch((const char *)cache_set_of(&counters->l2, line) + 64);
    if (!is_local)
        memory->first += first_touch(counters, line, missing);
    unsigned hits = cache_access(&counters->l2, line, missing, use >= USE_STORE, true);
    unsigned asked = (unsigned)__builtin_popcount(missing);
    unsigned found = (unsigned)__builtin_popcount(hits & missing);
    memory->l2_sectors += asked;
    note_latency(counters, asked == found ? GPU_L2_CYCLES : GPU_DRAM_CYCLES);
    /* A store needs nothing from DRAM: it counts as a hit, as ncu has it. */
    memory->l2_hits += use == USE_STORE ? asked : found;
    counters->partial_lines += partial;
    if (use == USE_STORE) {
        counters->fill_sectors += partial ? asked - found : 0;
        return;
    }
    unsigned bursts = cache_bursts(missing & ~hits);
    memory->dram_sectors += 2 * ((bursts & 1) + (bursts >> 1));
}

/* Global memory ----------------------------------------------------------------------------------
 */

/* One stride between all lanes of a full warp, or 0. */
static int64_t stride_of(const uint64_t *addresses)
{
    int64_t step = (int64_t)(addresses[1] - addresses[0]);
    for (int i = 2; i < SIMT_LANES; i++)
        if ((int64_t)(addresses[i] - addresses[i - 1]) != step)
            return 0;
    return step;
}

static enum cache_use use_of(const struct watch_access *access)
{
    switch ((enum watch_kind)access->what->kind) {
    case WATCH_RED:
    case WATCH_ATOM:
        return USE_ATOMIC;
    default:
        return access->is_write ? USE_STORE : access->what->skips_l1 ? USE_LOAD_L2 : USE_LOAD;
    }
}

/* A load/store unit takes a pass, or two lines, a cycle. */
static unsigned busy(unsigned passes, unsigned lines)
{
    return passes > (lines + 1) / 2 ? passes : (lines + 1) / 2;
}

/* Neighbours, or all the same: no list of lines is needed. */
static void count_simple(struct counters *counters, struct count_memory *memory,
                         const struct watch_access *access, enum cache_use use)
{
    const uint64_t *a = access->addresses;
    uint32_t bytes = access->bytes;
    uint64_t first = a[0], last = a[SIMT_LANES - 1] + bytes - 1;
    unsigned unique = (unsigned)(last - first) + 1;
    memory->sectors += (unsigned)((last >> 5) - (first >> 5)) + 1;
    memory->sectors_ideal += (unique + 31) / 32;
    memory->misaligned += access->pattern == WATCH_NEIGHBOURS && (first & 31) != 0;
    unsigned passes = bytes > 4 ? bytes / 4 : 1;
    unsigned sectors = (unsigned)((last >> 5) - (first >> 5)) + 1;
    memory->wavefronts += passes;
    memory->l1_cycles += busy(passes, (unsigned)((last >> 7) - (first >> 7)) + 1);
    unsigned partial =
        unique < 32 ? sectors : (unsigned)((first & 31) != 0) + (unsigned)(((last + 1) & 31) != 0);
    memory->partial += use == USE_STORE ? partial : 0;
    for (uint64_t line = first >> 7; line <= last >> 7; line++) {
        unsigned low = line == first >> 7 ? (unsigned)(first >> 5 & 3) : 0;
        unsigned high = line == last >> 7 ? (unsigned)(last >> 5 & 3) : 3;
        use_line(counters, memory, counters->l1, line, (15u >> (3 - high)) & (15u << low), use,
                 use == USE_STORE && partial);
    }
}

/* Passes of words of 4 bytes or less in a simple pattern: two, if the halves of the warp meet in a
 * bank and are not the same. */
static unsigned simple_passes(const struct watch_access *access)
{
    const uint64_t *a = access->addresses;
    if (access->pattern != WATCH_HALVES || a[0] == a[ACCESS_HALF])
        return 1;
    uint32_t banks[2];
    for (int half = 0; half < 2; half++, a += ACCESS_HALF) {
        uint32_t first = (uint32_t)(a[0] / 4), last = (uint32_t)(a[ACCESS_HALF - 1] / 4);
        uint64_t bits = ((UINT64_C(2) << (last - first)) - 1) << first % 32;
        banks[half] = (uint32_t)(bits | bits >> 32);
    }
    return banks[0] & banks[1] ? 2 : 1;
}

/* Each half of the warp is one stretch of at most two lines. */
static void count_halves(struct counters *counters, struct count_memory *memory,
                         const struct watch_access *access, enum cache_use use)
{
    const uint64_t *a = access->addresses;
    uint64_t lines[6], from[2], to[2];
    unsigned masks[6], count = 0, sectors = 0, partial = 0;
    for (int half = 0; half < 2; half++) {
        from[half] = a[half * ACCESS_HALF];
        to[half] = a[half * ACCESS_HALF + ACCESS_HALF - 1] + access->bytes;
    }
    bool same = from[0] == from[1] && to[0] == to[1];
    for (int half = 0; half < (same ? 1 : 2); half++) {
        uint64_t first = from[half] >> 5, last = (to[half] - 1) >> 5;
        partial += (from[half] & 31 || to[half] & 31) ? 1 : 0;
        for (uint64_t line = first >> 2; line <= last >> 2; line++) {
            unsigned low = line == first >> 2 ? first & 3 : 0;
            unsigned high = line == last >> 2 ? last & 3 : 3;
            unsigned mask = (15u >> (3 - high)) & (15u << low), i = 0;
            while (i < count && lines[i] != line)
                i++;
            if (i == count) {
                lines[count] = line;
                masks[count++] = 0;
            }
            masks[i] |= mask;
        }
    }
    uint64_t unique = to[0] - from[0];
    if (!same)
        unique += from[1] >= to[0] || from[0] >= to[1] ? to[1] - from[1] : 0;
    for (unsigned i = 0; i < count; i++) {
        sectors += (unsigned)__builtin_popcount(masks[i]);
        use_line(counters, memory, counters->l1, lines[i], masks[i], use,
                 use == USE_STORE && partial);
    }
    unsigned passes = access->bytes > 4 ? access->bytes / 4 : simple_passes(access);
    memory->sectors += sectors;
    memory->sectors_ideal += (unique + 31) / 32;
    memory->partial += use == USE_STORE ? partial : 0;
    memory->wavefronts += passes;
    memory->l1_cycles += busy(passes, count);
}

static bool is_float_atomic(const struct ptx_inst *ptx)
{
    return ptx_type_kind(ptx->types[ptx->type_count - 1]) == PTX_KIND_FLOAT;
}

static void note_hot(struct count_hot *table, uint64_t key, unsigned count, bool floats)
{
    struct count_hot *hot = &table[key * UINT64_C(0x9e3779b97f4a7c15) >> 52];
    if (hot->key != key && hot->lead > count) {
        hot->lead -= count;
        return;
    }
    if (hot->key != key)
        *hot = (struct count_hot){.key = key};
    hot->lead += count;
    hot->count += count;
    hot->floats += floats ? count : 0;
}

/* Where the atomics of a launch crowd: by pieces of memory, and by the address of their first lane.
 * turns: those that lanes at the same address take, of which the first line has the rest. */
static void note_atomics(struct counters *counters, const struct watch_access *access,
                         const struct lanes_line *lines, unsigned count, unsigned more,
                         unsigned turns)
{
    bool floats = is_float_atomic(access->in->ptx);
    for (unsigned i = 0; i < count; i++) {
        unsigned sectors = (unsigned)__builtin_popcount(lanes_line_sectors(&lines[i]));
        note_hot(counters->hot, lines[i].line >> (COUNT_HOT_BITS - CACHE_LINE_BITS),
                 sectors + (i ? 0 : more), floats);
    }
    note_hot(counters->turns, access->addresses[__builtin_ctz(access->mask)], turns, floats);
}

static void count_global(struct counters *counters, struct count_memory *memory,
                         const struct watch_access *access, bool is_part);

/* A fragment is loaded in four instructions: halves of its rows, of half its columns each. */
static void count_tile(struct counters *counters, struct count_memory *memory,
                       const struct watch_access *access)
{
    unsigned rows = (unsigned)__builtin_popcount(access->mask);
    struct watch_access part = *access;
    uint64_t addresses[SIMT_LANES];
    part.bytes = access->bytes / 2;
    part.mask = (1u << rows / 2) - 1;
    part.addresses = addresses;
    part.pattern = WATCH_SCATTERED;
    for (unsigned quarter = 0; quarter < 4; quarter++) {
        for (unsigned i = 0; i < rows / 2; i++)
            addresses[i] =
                access->addresses[i + quarter / 2 * (rows / 2)] + quarter % 2 * part.bytes;
        count_global(counters, memory, &part, true);
    }
}

static void count_global(struct counters *counters, struct count_memory *memory,
                         const struct watch_access *access, bool is_part)
{
    enum cache_use use = use_of(access);
    if (access->what->kind == WATCH_TILE && access->bytes <= 64 && !is_part) {
        count_tile(counters, memory, access);
        return;
    }
    memory->requests++;
    if (use != USE_ATOMIC && access->what->kind != WATCH_BULK)
        access->w->block->warps[access->w->index].requests++;
    memory->bytes += (uint64_t)(unsigned)__builtin_popcount(access->mask) * access->bytes;
    bool is_simple =
        access->pattern != WATCH_SCATTERED && use != USE_ATOMIC && access->what->kind != WATCH_COPY;
    if (is_simple) {
        if (access->pattern == WATCH_HALVES)
            count_halves(counters, memory, access, use);
        else
            count_simple(counters, memory, access, use);
        return;
    }
    struct lanes_line lines[LANES_LINES];
    unsigned count = lanes_lines(access->addresses, access->mask, access->bytes, lines);
    unsigned unique = 0, sectors = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned mask = lanes_line_sectors(&lines[i]);
        sectors += (unsigned)__builtin_popcount(mask);
        unique += lanes_line_bytes(&lines[i]);
        unsigned partial = use == USE_STORE ? lanes_line_partial(&lines[i]) : 0;
        memory->partial += partial;
        use_line(counters, memory, counters->l1, lines[i].line, mask, use, partial != 0);
    }
    memory->sectors_ideal += (unique + 31) / 32;
    if (use == USE_ATOMIC) {
        uint32_t mask = access->what->one_lane ? access->mask & -access->mask : access->mask;
        unsigned turns, all = lanes_atomic_sectors(access->addresses, mask, &turns);
        memory->l2_sectors += all - sectors; /* later turns find it in the L2 */
        memory->l2_hits += all - sectors;
        memory->turns += turns;
        note_atomics(counters, access, lines, count, all - sectors, turns);
        sectors = all;
    } else if (access->what->kind == WATCH_COPY && access->what->skips_l1 && access->partner) {
        sectors = lanes_bypass_sectors(access->addresses, access->partner, access->mask);
    }
    memory->sectors += sectors;
    unsigned passes = (count + 3) / 4; /* four lines a pass */
    if (access->bytes <= 16) {
        unsigned by_bank =
            lanes_shared(LANES_LOAD, access->addresses, access->mask, access->bytes).wavefronts;
        passes = by_bank > passes ? by_bank : passes;
    }
    memory->wavefronts += passes;
    memory->l1_cycles += busy(passes, count);
    int64_t stride = access->mask == SIMT_ALL ? stride_of(access->addresses) : 0;
    if (stride) {
        memory->strided++;
        memory->stride = (uint64_t)stride;
    }
}

/* Shared and local memory ------------------------------------------------------------------------
 */

/* Rows of 16 x 16 tiles, as ptxas has it on an H200: 16-bit elements come by one ldmatrix of four
 * matrices of 8 x 8, f32 sums leave by four stores of 8 bytes a lane, four lanes to half a row. */
static struct lanes_passes tile_passes(const struct watch_access *access)
{
    unsigned rows = (unsigned)__builtin_popcount(access->mask);
    unsigned all = (rows * access->bytes + 127) / 128;
    struct lanes_passes passes = {all, 0};
    uint64_t addresses[SIMT_LANES];
    if (rows != 16 || access->bytes != (access->is_write ? 64 : 32))
        return passes;
    passes.wavefronts = 0;
    for (unsigned part = 0; part < (access->is_write ? 4u : 1u); part++) {
        for (unsigned i = 0; i < SIMT_LANES; i++)
            addresses[i] = access->is_write
                               ? access->addresses[part / 2 * 8 + i / 4] + part % 2 * 32 + i % 4 * 8
                               : access->addresses[i % 16] + i / 16 * 16;
        struct lanes_passes each = lanes_shared(access->is_write ? LANES_STORE : LANES_ROWS,
                                                addresses, SIMT_ALL, access->is_write ? 8 : 16);
        passes.wavefronts += each.wavefronts;
        passes.conflicts += each.conflicts;
    }
    return passes;
}

static void count_shared(struct count_memory *memory, const struct watch_access *access)
{
    enum watch_kind kind = (enum watch_kind)access->what->kind;
    uint32_t bytes = access->bytes, mask = access->mask;
    unsigned lanes = (unsigned)__builtin_popcount(mask);
    memory->requests++;
    memory->bytes += (uint64_t)lanes * bytes;
    if (kind == WATCH_BULK)
        return;
    bool is_atomic = kind == WATCH_RED || kind == WATCH_ATOM;
    if (access->what->one_lane)
        mask &= -mask;
    enum lanes_shared how = access->what->counts_lanes ? LANES_STORE
                            : is_atomic                ? LANES_ATOMIC
                            : kind == WATCH_MATRIX     ? LANES_ROWS
                            : access->is_write         ? LANES_STORE
                                                       : LANES_LOAD;
    struct lanes_passes passes;
    if (kind == WATCH_COPY) {
        unsigned groups = bytes > 4 ? bytes / 4 : 1;
        unsigned conflicts =
            access->what->skips_l1
                ? 0
                : lanes_copy_conflicts(access->partner, access->addresses, mask, bytes);
        passes = (struct lanes_passes){groups + conflicts, conflicts};
    } else if (kind == WATCH_TILE) {
        passes = tile_passes(access);
    } else if (how <= LANES_STORE && bytes == 4 && access->pattern != WATCH_SCATTERED) {
        unsigned all = simple_passes(access);
        passes = (struct lanes_passes){all, all - 1};
    } else {
        passes = lanes_shared(how, access->addresses, mask, bytes);
    }
    if (is_atomic && is_float_atomic(access->in->ptx)) /* a loop around cas, a turn each */
        passes = (struct lanes_passes){2 * lanes_turns(access->addresses, mask), 0};
    memory->wavefronts_ideal += passes.wavefronts - passes.conflicts;
    memory->conflicts += passes.conflicts;
    if (access->what->is_cas)
        passes.wavefronts *= 2;
    memory->wavefronts += passes.wavefronts;
    if (passes.conflicts && mask == SIMT_ALL) {
        int64_t stride = stride_of(access->addresses);
        memory->strided += stride != 0;
        memory->stride = stride ? (uint64_t)stride : memory->stride;
    }
    memory->turns += is_atomic ? passes.wavefronts : 0;
}

/* A load that stands for its neighbours too. */
static void count_folded(struct count_memory *memory, const struct watch_access *access)
{
    struct watch_access whole = *access;
    uint64_t addresses[SIMT_LANES];
    if (access->pattern == WATCH_SAME && !access->is_write) { /* as lanes_shared would have it */
        unsigned passes = access->what->counted_bytes / 8;
        memory->requests++;
        memory->bytes += (uint64_t)SIMT_LANES * access->what->counted_bytes;
        memory->wavefronts += passes;
        memory->wavefronts_ideal += passes;
        return;
    }
    for (int i = 0; i < SIMT_LANES; i++)
        addresses[i] = access->addresses[i] + (uint64_t)(int64_t)access->what->counted_offset;
    whole.addresses = addresses;
    whole.bytes = access->what->counted_bytes;
    whole.pattern = WATCH_SCATTERED;
    count_shared(memory, &whole);
}

/* A thread's local words lie 32 lanes apart, so that equal offsets of a warp are neighbours. An
 * H200 finds them in its caches even where those of all its warps would not fit (local_array): a
 * warp that has its own there goes on with them. */
static void count_local(struct counters *counters, struct count_memory *memory,
                        const struct watch_access *access)
{
    const struct simt_block *block = access->w->block;
    uint64_t stride = (uint64_t)block->launch->local_stride * SIMT_LANES;
    uint64_t base = UINT64_C(1) << 62;
    base += (block->linear * block->warp_count + access->w->index) * ((stride + 127) & ~127ull);
    uint64_t addresses[SIMT_LANES];
    unsigned words = (access->bytes + 3) / 4;
    const uint32_t crowds[] = {counters->l1->crowd, counters->l2.crowd};
    counters->l1->crowd = counters->l2.crowd = 1;
    memory->requests++;
    memory->bytes += (uint64_t)(unsigned)__builtin_popcount(access->mask) * access->bytes;
    for (unsigned k = 0; k < words; k++) {
        for (unsigned i = 0; i < SIMT_LANES; i++)
            addresses[i] = base + (access->addresses[i] / 4 + k) * 128 + i * 4;
        struct lanes_line lines[LANES_LINES];
        unsigned count = lanes_lines(addresses, access->mask, 4, lines), sectors = 0;
        for (unsigned i = 0; i < count; i++) {
            unsigned mask = lanes_line_sectors(&lines[i]);
            sectors += (unsigned)__builtin_popcount(mask);
            use_line(counters, memory, counters->l1, lines[i].line, mask,
                     access->is_write ? USE_LOCAL_STORE : USE_LOAD, false);
        }
        memory->sectors += sectors;
        memory->sectors_ideal += ((unsigned)__builtin_popcount(access->mask) * 4 + 31) / 32;
        memory->wavefronts += (count + 3) / 4;
        memory->l1_cycles += busy((count + 3) / 4, count);
    }
    counters->l1->crowd = crowds[0];
    counters->l2.crowd = crowds[1];
}

static enum count_cluster_kind cluster_kind(const struct watch_access *access)
{
    switch ((enum watch_kind)access->what->kind) {
    case WATCH_RED:
    case WATCH_ATOM:
        return access->in->ptx->op == PTX_OP_RED_ASYNC ? COUNT_CLUSTER_RED : COUNT_CLUSTER_ATOM;
    default:
        return access->is_write ? COUNT_CLUSTER_STORE : COUNT_CLUSTER_LOAD;
    }
}

static unsigned cluster_sectors(const struct watch_access *access)
{
    enum watch_kind kind = (enum watch_kind)access->what->kind;
    unsigned turns, sectors = 0;
    if (kind == WATCH_RED || kind == WATCH_ATOM)
        return lanes_atomic_sectors(access->addresses, access->mask, &turns);
    struct lanes_line lines[LANES_LINES];
    unsigned count = lanes_lines(access->addresses, access->mask, access->bytes, lines);
    for (unsigned i = 0; i < count; i++)
        sectors += (unsigned)__builtin_popcount(lanes_line_sectors(&lines[i]));
    return sectors;
}

/* Memory of another block: the request leaves the SM by sectors, and its passes are over there. The
 * lanes of a warp may go to several blocks; that is one request. */
static void count_cluster(struct counters *counters, struct count_memory *memory,
                          const struct watch_access *access)
{
    struct count_cluster *cluster = &counters->cluster;
    enum count_cluster_kind kind = cluster_kind(access);
    uint64_t execution = access->w->block->launch->watch->tallies[access->number].warps;
    if (cluster->number != access->number || cluster->execution != execution) {
        cluster->requests[kind]++;
        memory->requests++;
    }
    cluster->number = access->number;
    cluster->execution = execution;
    cluster->sectors[kind] += cluster_sectors(access);
    struct count_memory there = {0};
    count_shared(&there, access);
    cluster->passes += there.wavefronts;
    memory->bytes += there.bytes;
}

static struct units_access taken_so_far(const struct counters *counters,
                                        const struct count_memory *memory, bool is_shared)
{
    return (struct units_access){.l2_sectors = memory->l2_sectors,
                                 .partial = memory->partial,
                                 .partial_lines = counters->partial_lines,
                                 .passes = is_shared ? memory->wavefronts : memory->l1_cycles};
}

/* What the access added to its instruction's counters, for units.c. */
static uint32_t follow(struct counters *counters, const struct watch_access *access,
                       struct units_access before, const struct count_memory *now)
{
    struct units_access took = taken_so_far(counters, now, access->space == PTX_SPACE_SHARED);
    took.l2_sectors -= before.l2_sectors;
    took.passes -= before.passes;
    took.partial -= before.partial;
    took.partial_lines -= before.partial_lines;
    took.latency = counters->latency;
    uint32_t late = units_access(counters->units, access, &took);
    if (!counters->follows_replay)
        return late;
    if (access->what->waits) /* the replay shows it; counters are as without a replay */
        units_now(counters->units, access->w, late);
    return 0;
}

/* Cycles that they have kept an SM's L1, or shared memory, busy for. */
static uint64_t passes_of(const struct count_memory *memory, enum gpu_space space)
{
    return space == GPU_SPACE_SHARED ? memory->wavefronts : memory->l1_cycles;
}

uint32_t SIMT_NAME(count_access)(struct simt_watcher *watcher, const struct watch_access *access)
{
    struct counters *counters = (struct counters *)watcher;
    if (!counters->insts || access->audience == WATCH_FOR_CHECKS)
        return 0;
    struct count_inst *inst = &counters->insts[access->number];
    if (counters->trace)
        trace_access(counters->trace, access);
    uint32_t *latency = &access->w->block->launch->watch->latency;
    enum gpu_space space = access->space == PTX_SPACE_SHARED  ? GPU_SPACE_SHARED
                           : access->space == PTX_SPACE_LOCAL ? GPU_SPACE_LOCAL
                                                              : GPU_SPACE_GLOBAL;
    struct units_access before = {0};
    bool is_followed = counters->units && access->w->block->units;
    if (is_followed)
        before = taken_so_far(counters, &inst->memory[space], space == GPU_SPACE_SHARED);
    struct replay_before unplayed;
    bool is_played =
        is_followed && counters->replay && replay_has(counters->replay, access->w->block);
    if (is_played)
        unplayed =
            (struct replay_before){units_now(counters->units, access->w, 0), inst->memory[space]};
    uint64_t *taken = &access->w->block->warps[access->w->index].passes;
    uint64_t passes = passes_of(&inst->memory[space], space);
    if (access->space == PTX_SPACE_SHARED) {
        *latency = GPU_SHARED_CYCLES;
        if (access->block != access->w->block && access->what->kind != WATCH_BULK)
            count_cluster(counters, &inst->memory[GPU_SPACE_SHARED], access);
        else if (access->what->counted_bytes)
            count_folded(&inst->memory[GPU_SPACE_SHARED], access);
        else if (!access->what->folded)
            count_shared(&inst->memory[GPU_SPACE_SHARED], access);
        *taken += passes_of(&inst->memory[space], space) - passes;
        if (is_followed)
            *latency += follow(counters, access, before, &inst->memory[space]);
        if (is_played)
            replay_access(counters->replay, access, &unplayed, &inst->memory[space]);
        return 0;
    }
    find_l1(counters, access->w->block);
    counters->latency = 0;
    if (access->space == PTX_SPACE_LOCAL)
        count_local(counters, &inst->memory[GPU_SPACE_LOCAL], access);
    else if (access->space == PTX_SPACE_GLOBAL)
        count_global(counters, &inst->memory[GPU_SPACE_GLOBAL], access, false);
    *taken += passes_of(&inst->memory[space], space) - passes;
    *latency = counters->latency > *latency ? counters->latency : *latency;
    if (is_followed)
        *latency += follow(counters, access, before, &inst->memory[space]);
    if (is_played)
        replay_access(counters->replay, access, &unplayed, &inst->memory[space]);
    return 0;
}
