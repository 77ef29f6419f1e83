/*
 * count_sample.c: the counters of a whole grid, from those of the blocks that were run in its place
 * (simt/sample.h).
 */
#include "watch/count.h"

#include "simt/sample.h"

enum { MOST_ALLOCATIONS = 64 };

struct used {
    struct simt_allocation in;
    uint64_t first, last; /* sectors of it that the launch has touched */
};

/* The allocation that has the address, which may be a new one; NULL: there are too many. */
static struct used *find_used(const struct counters *counters, uint64_t address, struct used *all,
                              unsigned *count)
{
    for (unsigned i = 0; i < *count; i++)
        if (address - all[i].in.address < all[i].in.size)
            return &all[i];
    if (*count == MOST_ALLOCATIONS)
        return NULL;
    struct used *used = &all[*count];
    used->first = used->last = address;
    if (!simt_find(counters->machine, address, &used->in)) /* module variables and the like */
        used->in = (struct simt_allocation){.address = address, .size = 1 << CACHE_SECTOR_BITS};
    ++*count;
    return used;
}

/* Bytes of the allocations between the first and the last that was touched; UINT64_MAX: of too many
 * to tell. */
static uint64_t bytes_in_use(const struct counters *counters)
{
    enum { SECTORS = 1 << (COUNT_CHUNK_BITS - CACHE_SECTOR_BITS) };
    struct used all[MOST_ALLOCATIONS], *used = NULL;
    unsigned count = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < counters->chunk_count; i++) {
        const uint64_t *bits = counters->touched[counters->chunks[i]];
        uint64_t base =
            counters->machine->memory.base + ((uint64_t)counters->chunks[i] << COUNT_CHUNK_BITS);
        for (uint64_t sector = 0; sector < SECTORS; sector++) {
            uint64_t address = base + (sector << CACHE_SECTOR_BITS);
            if (!(bits[sector / 64] >> sector % 64 & 1))
                continue;
            if (!used || address - used->in.address >= used->in.size)
                used = find_used(counters, address, all, &count);
            if (!used)
                return UINT64_MAX;
            used->first = address < used->first ? address : used->first;
            used->last = address > used->last ? address : used->last;
        }
    }
    for (unsigned i = 0; i < count; i++)
        bytes += all[i].last - all[i].first + (1 << CACHE_SECTOR_BITS);
    return bytes;
}

/* Blocks of some SMs share little of what they read; with all others' it comes from DRAM once,
 * where the L2 has room for it, and in products, which are made so that it has. */
static void limit_reads(const struct counters *counters, const struct simt_launch_state *launch,
                        uint64_t by_sample, struct gpu_counters *sum)
{
    uint64_t once = bytes_in_use(counters);
    if (once == UINT64_MAX ||
        (!simt_sample_has_products(launch) && once > count_l2_holds(launch->machine->gpu)))
        return;
    once = once > sum->dirty_bytes ? once - sum->dirty_bytes : 0;
    once = once > by_sample ? once : by_sample;
    if (sum->dram_read_bytes <= once)
        return;
    sum->lone_reads =
        (uint64_t)((double)sum->lone_reads * (double)once / (double)sum->dram_read_bytes);
    sum->dram_read_bytes = once;
}

void count_scale(const struct counters *counters, const struct simt_launch_state *launch,
                 struct gpu_counters *sum)
{
    uint64_t most[] = {sum->longest_warp, sum->unit_cycles, sum->clock_cycles,
                       sum->busiest_requests};
    uint64_t dram_read = sum->dram_read_bytes;
    double times = (double)launch->block_count / (double)launch->sampled;
    for (unsigned i = 0; i < gpu_counter_count; i++) {
        uint64_t *counter = gpu_counter(sum, i);
        *counter = (uint64_t)((double)*counter * times + 0.5);
    }
    sum->longest_warp = most[0];
    sum->unit_cycles = most[1];
    sum->clock_cycles = most[2];
    sum->busiest_requests = most[3];
    if (sum->dealt_cycles) /* of the others' lengths nothing is known: the longest warp counts */
        sum->path_cycles = sum->warp_cycles = sum->late_cycles = 0;
    sum->dealt_cycles = sum->even_cycles = 0;
    if (simt_sample_is_by_sm(launch)) {
        double part = simt_sample_part(launch);
        sum->unit_cycles = (uint64_t)((double)most[1] / part);
        sum->clock_cycles = (uint64_t)((double)most[2] / part);
        limit_reads(counters, launch, dram_read, sum);
        return;
    }
    /* What ran fits on the GPU at once, and the whole grid may not. */
    uint64_t units = launch->block_count / launch->cluster_size; /* blocks, or clusters */
    uint64_t rounds = (units + launch->resident_limit - 1) /
                      (launch->resident_limit ? launch->resident_limit : 1);
    sum->unit_cycles = most[1] * (rounds ? rounds : 1);
}
