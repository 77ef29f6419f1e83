/*
 * count.c: counters: their beginning and end with launches and programs. What an access adds up to
 * is in exec_count.c.
 * The L1 is one per SM and starts empty; the L2 starts empty with every launch, as under ncu.
 */
#include "watch/count.h"

#include "simt/isa.h"
#include "simt/sample.h"
#include "watch/counters.h"
#include "watch/replay.h"

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

/* The L2 of large GPUs has two halves, and what SMs of both sides use is in both. */
size_t count_l2_holds(const struct gpu_info *gpu)
{
    bool has_halves = gpu->cc_major >= 8 && gpu->l2_bytes >= (size_t)40 << 20 && gpu->cc_minor != 9;
    return has_halves ? gpu->l2_bytes / 2 : gpu->l2_bytes;
}

static void count_order(struct simt_watcher *watcher, struct simt_warp *w,
                        const struct simt_inst *in)
{
    if (w->block->units)
        units_order(((struct counters *)watcher)->units, w, in);
}

static void count_product(struct simt_watcher *watcher, struct simt_warp *w,
                          const struct simt_inst *in)
{
    if (w->block->units)
        units_product(((struct counters *)watcher)->units, w, in);
}

static void begin_launch(struct simt_watcher *watcher, struct simt_launch_state *launch)
{
    struct counters *counters = (struct counters *)watcher;
    const struct gpu_info *gpu = launch->machine->gpu;
    if (!counters->file && !launch->launch->timed)
        return;
    counters->insts = lk_alloc_zeroed((launch->code->inst_count + 1) * sizeof(*counters->insts));
    struct gpu_occupancy occupancy =
        gpu_occupancy(gpu, launch->threads_per_block, simt_kernel_registers(launch->kernel),
                      launch->shared_bytes);
    size_t resident = occupancy.blocks_per_sm ? occupancy.blocks_per_sm : 1;
    size_t shared = launch->shared_bytes
                        ? resident * (launch->shared_bytes + gpu->shared_reserved_per_block)
                        : 0;
    counters->l1_bytes = gpu->l1_bytes_per_sm - shared_carveout(gpu, shared);
    for (unsigned i = 0; i < gpu->sms; i++)
        cache_close(&counters->l1s[i]);
    if (!counters->l2.sets)
        cache_open(&counters->l2, count_l2_holds(gpu));
    else
        cache_clear(&counters->l2);
    counters->l2.by_bursts = true;
    uint64_t per_sm = (launch->block_count + gpu->sms - 1) / gpu->sms;
    uint64_t beside = resident * gpu->sms;
    counters->l1_crowd = (uint32_t)(per_sm < resident ? per_sm : resident);
    counters->l2.crowd = (uint32_t)(launch->block_count < beside ? launch->block_count : beside);
    counters->fill_sectors = counters->partial_lines = 0;
    counters->units = units_open(launch, (unsigned)resident, false);
    simt_sample_begin(launch, counters->units != NULL);
    bool is_played = counters->replay && replay_launch(counters->replay, launch);
    counters->follows_replay = is_played && !counters->units;
    if (counters->follows_replay)
        counters->units = units_open(launch, (unsigned)resident, true);
    counters->watcher.order = counters->units ? count_order : NULL;
    counters->watcher.product = counters->units ? count_product : NULL;
    if (counters->trace)
        trace_launch(counters->trace, launch);
}

static void begin_or_end_block(struct simt_watcher *watcher, struct simt_block *block, bool begins)
{
    struct counters *counters = (struct counters *)watcher;
    counters->block = NULL; /* blocks are used again for others */
    if (counters->replay && block->units && !begins)
        replay_end(counters->replay, counters->units, block);
    if (counters->units &&
        (!counters->follows_replay || !begins || replay_has(counters->replay, block)))
        units_block(counters->units, block, begins);
    if (counters->insts && count_has_blocks(counters)) {
        if (begins)
            count_blocks_begin(block);
        else
            count_blocks_end(&counters->blocks, block);
    }
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_warp_state *warp = &block->warps[i];
        if (begins)
            warp->steps = warp->steps_released = warp->requests = 0;
        else {
            if (warp->steps > counters->longest_warp)
                counters->longest_warp = warp->steps;
            if (warp->requests > counters->busiest_requests)
                counters->busiest_requests = warp->requests;
        }
    }
}

/* How much longer than each of the others the busiest warp took to come to the barrier. */
static void count_barrier(struct simt_watcher *watcher, struct simt_block *block, uint32_t id)
{
    struct counters *counters = (struct counters *)watcher;
    const uint32_t *lanes = block->barriers[id].lanes;
    if (!counters->insts)
        return;
    if (counters->units && block->units)
        units_barrier(counters->units, block, id);
    if (count_has_blocks(counters))
        count_blocks_barrier(&counters->blocks, block, lanes);
    if (counters->replay && block->units)
        replay_barrier(counters->replay, counters->units, block, id);
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

static void count_cluster_barrier(struct simt_watcher *watcher, struct simt_block *block)
{
    struct counters *counters = (struct counters *)watcher;
    if (counters->units)
        units_cluster_barrier(counters->units, block);
}

static void forget_touched(struct counters *counters)
{
    for (size_t i = 0; i < counters->chunk_count; i++) {
        free(counters->touched[counters->chunks[i]]);
        counters->touched[counters->chunks[i]] = NULL;
    }
    counters->chunk_count = 0;
}

/* Opening and closing ----------------------------------------------------------------------------
 */

static void end_launch(struct simt_watcher *watcher, struct simt_launch_state *launch)
{
    struct counters *counters = (struct counters *)watcher;
    if (!counters->insts)
        return;
    struct gpu_counters sum;
    count_sum(counters, launch, &sum);
    if (launch->sampled)
        count_scale(counters, launch, &sum);
    count_model(launch, &sum);
    if (counters->file)
        count_write(counters, launch, &sum);
    forget_touched(counters);
    units_close(counters->units);
    counters->units = NULL;
    counters->watcher.order = counters->watcher.product = NULL;
    memset(counters->hot, 0, COUNT_HOT * sizeof(*counters->hot));
    memset(counters->turns, 0, COUNT_HOT * sizeof(*counters->turns));
    counters->longest_warp = counters->busiest_requests = 0;
    count_blocks_close(&counters->blocks);
    memset(&counters->cluster, 0, sizeof(counters->cluster));
    memset(&counters->bulk, 0, sizeof(counters->bulk));
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
    free(counters->hot);
    free(counters->turns);
    trace_close(counters->trace);
    replay_close(counters->replay);
    if (counters->file)
        fclose(counters->file);
    free(counters);
}

static void count_step(struct simt_watcher *watcher, struct simt_warp *w,
                       const struct simt_inst *in)
{
    struct counters *counters = (struct counters *)watcher;
    if (counters->trace && in->ptx->op == PTX_OP_BRA)
        trace_branch(counters->trace, w, in);
    if (counters->replay && w->block->units)
        replay_step(counters->replay, counters->units, w, in);
}

/* exec_count.c, for this host. */
typedef uint32_t count_access(struct simt_watcher *watcher, const struct watch_access *access);
#define DECLARE_COUNT(isa) count_access count_access_##isa;
#define COUNT(isa) count_access_##isa,
SIMT_ISAS(DECLARE_COUNT)
static count_access *const access_counters[] = {SIMT_ISAS(COUNT)};

static struct counters *new_counters(struct simt_machine *machine)
{
    struct counters *counters = lk_alloc_zeroed(sizeof(*counters));
    counters->machine = machine;
    counters->l1s = lk_alloc_zeroed(machine->gpu->sms * sizeof(*counters->l1s));
    counters->touched = lk_alloc_zeroed((SIMT_ARENA >> COUNT_CHUNK_BITS) * sizeof(uint64_t *));
    counters->hot = lk_alloc_zeroed(COUNT_HOT * sizeof(*counters->hot));
    counters->turns = lk_alloc_zeroed(COUNT_HOT * sizeof(*counters->turns));
    counters->watcher = (struct simt_watcher){.launch = begin_launch,
                                              .block = begin_or_end_block,
                                              .access = access_counters[simt_isa()],
                                              .bulk = count_bulk,
                                              .barrier = count_barrier,
                                              .cluster_barrier = count_cluster_barrier,
                                              .done = end_launch,
                                              .close = count_close};
    return counters;
}

struct simt_watcher *counters_open(struct simt_machine *machine, const char *path)
{
    FILE *file = fopen(path, "ae");
    if (!file) {
        fprintf(stderr, "lockstep: LOCKSTEP_PROFILE=%s cannot be written; nothing is counted\n",
                path);
        return NULL;
    }
    struct counters *counters = new_counters(machine);
    counters->file = file;
    counters->trace = trace_open();
    counters->replay = replay_open();
    counters->watcher.step = count_step;
    counters->watcher.wants_all = counters->trace || counters->replay;
    return &counters->watcher;
}

struct simt_watcher *counters_open_timer(struct simt_machine *machine)
{
    return &new_counters(machine)->watcher;
}

struct simt_watcher *counters_open_beside(struct simt_machine *machine)
{
    struct simt_watcher *watcher = counters_open(machine, getenv("LOCKSTEP_PROFILE"));
    return watcher ? watcher : counters_open_timer(machine);
}
