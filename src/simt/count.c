/*
 * count.c: counters: what every access of a warp adds up to in requests, sectors, wavefronts and
 * cache hits, per instruction.
 * The L1 is one per SM and starts empty; the L2 starts empty with every launch, as under ncu.
 */
#include "simt/count.h"

#include "simt/access.h"
#include "simt/lanes.h"

#include <stdlib.h>

/* Caches -----------------------------------------------------------------------------------------
 */

/* Steps in which an SM's memory is divided between L1 and shared memory, in KiB. */
static size_t shared_carveout(const struct gpu_info *gpu, size_t bytes)
{
    static const unsigned steps[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    if (gpu->cc_major < 8)
        return bytes > 32 << 10 ? 64 << 10 : 32 << 10;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
        if (bytes <= (size_t)steps[i] << 10 && (size_t)steps[i] << 10 <= gpu->shared_per_sm)
            return (size_t)steps[i] << 10;
    return gpu->shared_per_sm;
}

static void begin_launch(struct simt_watcher *watcher, struct simt_launch_state *launch)
{
    struct counters *counters = (struct counters *)watcher;
    const struct gpu_info *gpu = launch->machine->gpu;
    counters->insts = lk_alloc_zeroed((launch->code->inst_count + 1) * sizeof(*counters->insts));
    struct gpu_occupancy occupancy =
        gpu_occupancy(gpu, launch->threads_per_block, launch->kernel->info.registers,
                      launch->shared_bytes);
    size_t resident = occupancy.blocks_per_sm ? occupancy.blocks_per_sm : 1;
    size_t shared = launch->shared_bytes
                        ? resident * (launch->shared_bytes + gpu->shared_reserved_per_block)
                        : 0;
    counters->l1_bytes = gpu->l1_bytes_per_sm - shared_carveout(gpu, shared);
    for (unsigned i = 0; i < gpu->sms; i++)
        cache_close(&counters->l1s[i]);
    if (!counters->l2.sets)
        cache_open(&counters->l2, gpu->l2_bytes);
    else
        cache_clear(&counters->l2);
    if (counters->trace)
        trace_launch(counters->trace, launch);
}

static void begin_block(struct simt_watcher *watcher, struct simt_block *block, bool begins)
{
    struct counters *counters = (struct counters *)watcher;
    if (!begins)
        return;
    counters->l1 = NULL; /* found with the first access of whatever block comes next */
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].steps = block->warps[i].steps_released = 0;
}

/* How much longer than each of the others the busiest warp took to come to the barrier. */
static void count_barrier(struct simt_watcher *watcher, struct simt_block *block, uint32_t id)
{
    struct counters *counters = (struct counters *)watcher;
    const uint32_t *lanes = block->barriers[id].lanes;
    uint64_t most = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        uint64_t ran = block->warps[i].steps - block->warps[i].steps_released;
        most = lanes[i] && ran > most ? ran : most;
    }
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_warp_state *warp = &block->warps[i];
        if (!lanes[i])
            continue;
        for (unsigned k = 0; k < SIMT_LANES; k++) {
            const struct simt_path *path = &warp->paths[k];
            if (path->state != SIMT_PATH_BARRIER || path->barrier != id)
                continue;
            size_t number = (size_t)(path->ip - 1 - block->launch->code->insts);
            counters->insts[number].idle += most - (warp->steps - warp->steps_released);
            break;
        }
        warp->steps_released = warp->steps;
    }
}

static struct cache *l1_of(struct counters *counters, const struct simt_block *block)
{
    struct cache *l1 = &counters->l1s[block->linear % counters->machine->gpu->sms];
    if (!l1->sets)
        cache_open(l1, counters->l1_bytes);
    return l1;
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
            counters->chunks = lk_realloc(counters->chunks,
                                          counters->chunk_capacity * sizeof(*counters->chunks));
        }
        counters->chunks[counters->chunk_count++] = (uint32_t)(offset >> COUNT_CHUNK_BITS);
    }
    uint64_t bit = (offset & ((1u << COUNT_CHUNK_BITS) - 1)) >> CACHE_SECTOR_BITS;
    uint64_t bits = (uint64_t)sectors << bit % 64, *word = &(*chunk)[bit / 64];
    uint64_t fresh = bits & ~*word;
    *word |= bits;
    return (unsigned)__builtin_popcountll(fresh);
}

static void forget_touched(struct counters *counters)
{
    for (size_t i = 0; i < counters->chunk_count; i++) {
        free(counters->touched[counters->chunks[i]]);
        counters->touched[counters->chunks[i]] = NULL;
    }
    counters->chunk_count = 0;
}

enum cache_use { USE_LOAD, USE_LOAD_L2, USE_STORE, USE_ATOMIC, USE_LOCAL_STORE };

/* One line of an access, through both caches. */
static void use_line(struct counters *counters, struct count_memory *memory, struct cache *l1,
                     uint64_t line, unsigned sectors, enum cache_use use)
{
    unsigned missing = sectors;
    memory->lines++;
    if (use == USE_LOAD)
        missing &= ~cache_access(l1, line, sectors, false, true);
    else if (use == USE_LOCAL_STORE)
        missing = 0, cache_access(l1, line, sectors, true, true);
    else if (use == USE_STORE)
        cache_access(l1, line, sectors, false, false);
    memory->l1_hits += (unsigned)__builtin_popcount(sectors & ~missing);
    if (!missing)
        return;
    unsigned hits = cache_access(&counters->l2, line, missing, use >= USE_STORE, true);
    unsigned asked = (unsigned)__builtin_popcount(missing);
    unsigned found = (unsigned)__builtin_popcount(hits & missing);
    memory->l2_sectors += asked;
    /* A store needs nothing from DRAM: it counts as a hit, as ncu has it. */
    memory->l2_hits += use == USE_STORE ? asked : found;
    if (use != USE_STORE)
        memory->dram_sectors += asked - found;
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
        return access->is_write              ? USE_STORE
               : access->what->skips_l1 ? USE_LOAD_L2
                                             : USE_LOAD;
    }
}

/* Neighbours, or all the same: no list of lines is needed. */
static bool count_simple(struct counters *counters, struct count_memory *memory,
                         const struct watch_access *access, enum cache_use use)
{
    const uint64_t *a = access->addresses;
    uint32_t bytes = access->bytes;
    if (access->mask != SIMT_ALL || use == USE_ATOMIC || bytes > 16)
        return false;
    enum access_pattern pattern = access_pattern_64(a, bytes, SIMT_LANES);
    if (pattern == ACCESS_SCATTERED)
        return false;
    uint64_t first = a[0], last = a[SIMT_LANES - 1] + bytes - 1;
    unsigned sectors = (unsigned)((last >> 5) - (first >> 5)) + 1;
    unsigned unique = (unsigned)(last - first) + 1;
    memory->sectors += sectors;
    memory->sectors_ideal += (unique + 31) / 32;
    memory->misaligned += pattern == ACCESS_NEIGHBOURS && (first & 31) != 0;
    memory->wavefronts += bytes > 4 ? (unique + 127) / 128 : 1;
    for (uint64_t line = first >> 7; line <= last >> 7; line++) {
        unsigned low = line == first >> 7 ? (unsigned)(first >> 5 & 3) : 0;
        unsigned high = line == last >> 7 ? (unsigned)(last >> 5 & 3) : 3;
        unsigned mask = (15u >> (3 - high)) & (15u << low);
        memory->first += first_touch(counters, line, mask);
        use_line(counters, memory, counters->l1, line, mask, use);
    }
    return true;
}

static void count_global(struct counters *counters, struct count_memory *memory,
                         const struct watch_access *access)
{
    enum cache_use use = use_of(access);
    memory->requests++;
    memory->bytes += (uint64_t)(unsigned)__builtin_popcount(access->mask) * access->bytes;
    if (count_simple(counters, memory, access, use))
        return;
    struct lanes_line lines[LANES_LINES];
    unsigned count = lanes_lines(access->addresses, access->mask, access->bytes, lines);
    unsigned unique = 0, sectors = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned mask = lanes_line_sectors(&lines[i]);
        sectors += (unsigned)__builtin_popcount(mask);
        unique += lanes_line_bytes(&lines[i]);
        memory->first += first_touch(counters, lines[i].line, mask);
        use_line(counters, memory, counters->l1, lines[i].line, mask, use);
    }
    memory->sectors_ideal += (unique + 31) / 32;
    if (use == USE_ATOMIC) {
        unsigned turns, all = lanes_atomic_sectors(access->addresses, access->mask, &turns);
        memory->l2_sectors += all - sectors; /* later turns find it in the L2 */
        memory->l2_hits += all - sectors;
        memory->turns += turns;
        sectors = all;
    } else if (access->what->kind == WATCH_COPY && access->what->skips_l1 && access->partner) {
        sectors = lanes_bypass_sectors(access->addresses, access->partner, access->mask);
    }
    memory->sectors += sectors;
    if (access->bytes <= 16) {
        struct lanes_passes passes = lanes_shared(LANES_LOAD, access->addresses, access->mask,
                                                  access->bytes);
        memory->wavefronts += passes.wavefronts;
    }
    int64_t stride = access->mask == SIMT_ALL ? stride_of(access->addresses) : 0;
    if (stride) {
        memory->strided++;
        memory->stride = stride;
    }
}

/* Shared and local memory ------------------------------------------------------------------------
 */

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
    enum lanes_shared how = is_atomic              ? LANES_ATOMIC
                            : kind == WATCH_COPY   ? LANES_ATOMIC
                            : kind == WATCH_MATRIX ? LANES_ROWS
                            : access->is_write     ? LANES_STORE
                                                   : LANES_LOAD;
    struct lanes_passes passes;
    if (kind == WATCH_TILE) {
        unsigned all = (lanes * bytes + 127) / 128;
        passes = (struct lanes_passes){all, 0};
    } else if (mask == SIMT_ALL && bytes == 4 && how != LANES_ATOMIC &&
               access_pattern_64(access->addresses, 4, SIMT_LANES) != ACCESS_SCATTERED) {
        passes = (struct lanes_passes){1, 0};
    } else {
        passes = lanes_shared(how, access->addresses, mask, bytes);
    }
    memory->wavefronts_ideal += passes.wavefronts - passes.conflicts;
    memory->conflicts += passes.conflicts;
    if (access->what->is_cas)
        passes.wavefronts *= 2;
    memory->wavefronts += passes.wavefronts;
    if (passes.conflicts && mask == SIMT_ALL) {
        int64_t stride = stride_of(access->addresses);
        memory->strided += stride != 0;
        memory->stride = stride ? stride : memory->stride;
    }
    memory->turns += is_atomic ? passes.wavefronts : 0;
}

/* A thread's local words lie 32 lanes apart, so that equal offsets of a warp are neighbours. */
static void count_local(struct counters *counters, struct count_memory *memory,
                        const struct watch_access *access)
{
    const struct simt_block *block = access->w->block;
    uint64_t stride = (uint64_t)block->launch->local_stride * SIMT_LANES;
    uint64_t base = UINT64_C(1) << 62;
    base += (block->linear * block->warp_count + access->w->index) * ((stride + 127) & ~127ull);
    uint64_t addresses[SIMT_LANES];
    unsigned words = (access->bytes + 3) / 4;
    memory->requests++;
    memory->bytes += (uint64_t)(unsigned)__builtin_popcount(access->mask) * access->bytes;
    for (unsigned k = 0; k < words; k++) {
        for (unsigned i = 0; i < SIMT_LANES; i++)
            addresses[i] = base + (access->addresses[i] / 4 + k) * 128 + i * 4;
        struct lanes_line lines[LANES_LINES];
        unsigned count = lanes_lines(addresses, access->mask, 4, lines);
        for (unsigned i = 0; i < count; i++) {
            unsigned mask = lanes_line_sectors(&lines[i]);
            memory->sectors += (unsigned)__builtin_popcount(mask);
            use_line(counters, memory, counters->l1, lines[i].line, mask,
                     access->is_write ? USE_LOCAL_STORE : USE_LOAD);
        }
        memory->sectors_ideal += ((unsigned)__builtin_popcount(access->mask) * 4 + 31) / 32;
        memory->wavefronts += count;
    }
}

uint32_t count_access(struct simt_watcher *watcher, const struct watch_access *access)
{
    struct counters *counters = (struct counters *)watcher;
    struct count_inst *inst = &counters->insts[access->number];
    if (counters->trace)
        trace_access(counters->trace, access);
    if (access->space == PTX_SPACE_SHARED) {
        count_shared(&inst->memory[COUNT_SHARED], access);
        return 0;
    }
    counters->l1 = l1_of(counters, access->w->block);
    if (access->space == PTX_SPACE_LOCAL)
        count_local(counters, &inst->memory[COUNT_LOCAL], access);
    else if (access->space == PTX_SPACE_GLOBAL)
        count_global(counters, &inst->memory[COUNT_GLOBAL], access);
    return 0;
}

/* Opening and closing ----------------------------------------------------------------------------
 */

static void end_launch(struct simt_watcher *watcher, struct simt_launch_state *launch)
{
    struct counters *counters = (struct counters *)watcher;
    count_write(counters, launch);
    forget_touched(counters);
    free(counters->insts);
    counters->insts = NULL;
}

static void count_close(struct simt_watcher *watcher)
{
    struct counters *counters = (struct counters *)watcher;
    for (unsigned i = 0; i < counters->machine->gpu->sms; i++)
        cache_close(&counters->l1s[i]);
    cache_close(&counters->l2);
    free(counters->l1s);
    forget_touched(counters);
    free(counters->touched);
    free(counters->chunks);
    trace_close(counters->trace);
    fclose(counters->file);
    free(counters);
}

static void count_step(struct simt_watcher *watcher, struct simt_warp *w,
                       const struct simt_inst *in)
{
    struct counters *counters = (struct counters *)watcher;
    if (in->ptx->op == PTX_OP_BRA)
        trace_branch(counters->trace, w, in);
}

struct simt_watcher *simt_counters_open(struct simt_machine *machine, const char *path)
{
    FILE *file = fopen(path, "ae");
    if (!file) {
        fprintf(stderr, "lockstep: LOCKSTEP_PROFILE=%s cannot be written; nothing is counted\n",
                path);
        return NULL;
    }
    struct counters *counters = lk_alloc_zeroed(sizeof(*counters));
    counters->machine = machine;
    counters->file = file;
    counters->l1s = lk_alloc_zeroed(machine->gpu->sms * sizeof(*counters->l1s));
    counters->touched = lk_alloc_zeroed((SIMT_ARENA >> COUNT_CHUNK_BITS) * sizeof(uint64_t *));
    counters->trace = trace_open();
    counters->watcher = (struct simt_watcher){.launch = begin_launch,
                                              .block = begin_block,
                                              .access = count_access,
                                              .barrier = count_barrier,
                                              .step = count_step,
                                              .wants_all = counters->trace != NULL,
                                              .done = end_launch,
                                              .close = count_close};
    return &counters->watcher;
}
