/*
 * count_blocks.c: see count_blocks.h.
 */
#include "watch/count_blocks.h"

#include <math.h>
#include <stdlib.h>

#define ALIKE 0.01f /* neighbours that differ by less are kept as one */
#define UNEVEN 1.1  /* blocks are dealt out if one has so many times the mean to do */

enum { QUARTERS = 4 }; /* of a cycle, in simt_path_time */

void count_blocks_begin(struct simt_block *block)
{
    block->released = block->released_slots = block->released_passes = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_warp_state *warp = &block->warps[i];
        warp->quarter_slots = warp->passes = 0;
        warp->path = (struct simt_path_time){0};
    }
}

/* When the last of these warps has come, or what the block has done since its last barrier has gone
 * through its SM's schedulers and memory. */
static uint64_t latest_of(const struct simt_block *block, const uint32_t *lanes)
{
    uint64_t latest = 0;
    for (uint32_t i = 0; i < block->warp_count; i++)
        if ((!lanes || lanes[i]) && block->warps[i].path.now > latest)
            latest = block->warps[i].path.now;
    return latest;
}

static void work_of(const struct simt_block *block, uint64_t *slots, uint64_t *passes)
{
    *slots = *passes = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        *slots += block->warps[i].quarter_slots;
        *passes += block->warps[i].passes;
    }
}

/* Quarters of a cycle for which it keeps its SM busy, since its last barrier. */
static uint64_t busy_of(const struct simt_block *block, uint64_t slots, uint64_t passes)
{
    unsigned schedulers = block->launch->machine->gpu->schedulers_per_sm;
    uint64_t issue = (slots - block->released_slots) / schedulers;
    uint64_t memory = (passes - block->released_passes) * QUARTERS;
    return issue > memory ? issue : memory;
}

void count_blocks_barrier(struct count_blocks *blocks, struct simt_block *block,
                          const uint32_t *lanes)
{
    uint64_t slots, passes, latest = latest_of(block, lanes), slowest = latest;
    bool all = true;
    for (uint32_t i = 0; i < block->warp_count; i++)
        all &= lanes[i] != 0 || !block->warps[i].w.live;
    if (all) {
        work_of(block, &slots, &passes);
        uint64_t busy = block->released + busy_of(block, slots, passes);
        latest = busy > latest ? busy : latest;
        block->released = latest;
        block->released_slots = slots;
        block->released_passes = passes;
    }
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (lanes[i]) {
            blocks->late += (double)(slowest - block->warps[i].path.now);
            blocks->waited += (double)(latest - block->warps[i].path.now);
            block->warps[i].path.now = latest;
        }
}

static bool is_alike(float a, float b)
{
    return fabsf(a - b) <= ALIKE * fmaxf(a, b);
}

void count_blocks_end(struct count_blocks *blocks, const struct simt_block *block)
{
    uint64_t slots, passes, alone = latest_of(block, NULL), slowest = alone;
    work_of(block, &slots, &passes);
    uint64_t busy = block->released + busy_of(block, slots, passes);
    alone = busy > alone ? busy : alone;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        blocks->late += (double)(slowest - block->warps[i].path.now);
        blocks->waited += (double)(alone - block->warps[i].path.now);
        blocks->loads += (double)block->warps[i].path.loads;
        blocks->hidden += (double)block->warps[i].path.hidden;
    }
    blocks->path += (double)alone * block->warp_count;
    double issue = (double)slots / QUARTERS / block->launch->machine->gpu->schedulers_per_sm;
    struct gpu_blocks its = {1, (float)alone / QUARTERS, (float)fmax(issue, (double)passes)};
    struct gpu_blocks *last = blocks->count ? &blocks->runs[blocks->count - 1] : NULL;
    if (last && is_alike(last->alone, its.alone) && is_alike(last->busy, its.busy)) {
        last->count++;
        return;
    }
    if (blocks->count == blocks->capacity) {
        blocks->capacity = blocks->capacity * 2 + 64;
        blocks->runs = lk_realloc(blocks->runs, blocks->capacity * sizeof(*blocks->runs));
    }
    blocks->runs[blocks->count++] = its;
}

void count_blocks_sum(const struct count_blocks *blocks, const struct simt_launch_state *launch,
                      struct gpu_counters *sum)
{
    const struct gpu_info *gpu = launch->machine->gpu;
    double alone = 0, busy = 0, count = 0, most_alone = 0, most_busy = 0;
    sum->path_cycles = (uint64_t)(blocks->path / QUARTERS);
    sum->warp_cycles = (uint64_t)((blocks->path - blocks->waited) / QUARTERS);
    sum->late_cycles = (uint64_t)(blocks->late / QUARTERS);
    sum->load_cycles = (uint64_t)(blocks->loads / QUARTERS);
    sum->hidden_cycles = (uint64_t)(blocks->hidden / QUARTERS);
    for (size_t i = 0; i < blocks->count; i++) {
        const struct gpu_blocks *run = &blocks->runs[i];
        count += (double)run->count;
        alone += (double)run->count * run->alone;
        busy += (double)run->count * run->busy;
        most_alone = fmax(most_alone, run->alone);
        most_busy = fmax(most_busy, run->busy);
    }
    if (most_alone * count <= UNEVEN * alone && most_busy * count <= UNEVEN * busy)
        return;
    struct gpu_occupancy occupancy =
        gpu_occupancy(gpu, launch->threads_per_block, simt_kernel_registers(launch->kernel),
                      launch->shared_bytes);
    struct gpu_blocks mean = {launch->block_count, (float)(alone / count), (float)(busy / count)};
    sum->dealt_cycles =
        (uint64_t)gpu_deal(gpu, occupancy.blocks_per_sm, blocks->runs, blocks->count);
    sum->even_cycles = (uint64_t)gpu_deal(gpu, occupancy.blocks_per_sm, &mean, 1);
}

void count_blocks_close(struct count_blocks *blocks)
{
    free(blocks->runs);
    *blocks = (struct count_blocks){0};
}
