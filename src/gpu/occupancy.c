/*
 * occupancy.c: how many blocks of a kernel an SM holds at a time.
 * The rules are the ones of CUDA's occupancy calculator for compute capability 7.5 and later;
 * tests/gpu compares with it. Cluster launches and barrier counts are not looked at.
 */
#include "gpu/gpu.h"

#include <limits.h>
#include <stdbool.h>

#define WARP 32u

static size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

/* Registers lie in one file per scheduler, so warps are fitted file by file. A launch is checked
 * as if every file held the same number of the block's warps. */
static unsigned blocks_by_registers(const struct gpu_info *gpu, unsigned warps, unsigned registers)
{
    if (registers > gpu->registers_per_thread)
        return 0;
    if (registers == 0)
        return UINT_MAX;
    unsigned files = gpu->schedulers_per_sm;
    size_t per_warp = round_up((size_t)registers * WARP, gpu->register_granularity);
    if (per_warp * round_up(warps, files) > gpu->registers_per_block)
        return 0;
    size_t warps_per_file = gpu->registers_per_sm / files / per_warp;
    return (unsigned)(warps_per_file * files / warps);
}

static unsigned blocks_by_shared(const struct gpu_info *gpu, size_t bytes)
{
    if (bytes > gpu->shared_per_block_optin)
        return 0;
    size_t per_block = round_up(bytes + gpu->shared_reserved_per_block, gpu->shared_granularity);
    return per_block ? (unsigned)(gpu->shared_per_sm / per_block) : UINT_MAX;
}

struct gpu_occupancy gpu_occupancy(const struct gpu_info *gpu, unsigned threads, unsigned registers,
                                   size_t shared_bytes)
{
    unsigned warps = threads / WARP + (threads % WARP != 0);
    bool runs = threads > 0 && threads <= gpu->threads_per_block;
    struct gpu_occupancy result = {
        .limit_warps = runs ? gpu->warps_per_sm / warps : 0,
        .limit_blocks = gpu->blocks_per_sm,
        .limit_registers = runs ? blocks_by_registers(gpu, warps, registers) : 0,
        .limit_shared = blocks_by_shared(gpu, shared_bytes),
    };
    /* Of equal limits the one that stands first is named. */
    const struct {
        const char *name;
        unsigned blocks;
    } limits[] = {{"warps", result.limit_warps},
                  {"registers", result.limit_registers},
                  {"shared memory", result.limit_shared},
                  {"blocks", result.limit_blocks}};
    result.blocks_per_sm = UINT_MAX;
    for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].blocks < result.blocks_per_sm) {
            result.blocks_per_sm = limits[i].blocks;
            result.limiter = limits[i].name;
        }
    }
    result.warps_per_sm = result.blocks_per_sm ? result.blocks_per_sm * warps : 0;
    result.fraction = (double)result.warps_per_sm / gpu->warps_per_sm;
    return result;
}

/* A cluster lies in one of the GPU's parts, and those do not divide evenly: an H200 holds 66, 30,
 * 15 and 7 clusters of 2, 4, 8 and 16 blocks that take an SM each. */
unsigned gpu_clusters(const struct gpu_info *gpu, unsigned cluster_size, unsigned blocks)
{
    unsigned usable = cluster_size > 2 ? gpu->sms * 10 / 11 : gpu->sms;
    return blocks * usable / cluster_size;
}

unsigned gpu_gpcs(const struct gpu_info *gpu, unsigned first[GPU_GPCS + 1])
{
    enum { MOST_TPCS = 9 };
    unsigned tpcs = (gpu->sms + 1) / 2, count = 0;
    first[0] = 0;
    for (; count < GPU_GPCS && gpu->gpc_tpcs[count]; count++)
        first[count + 1] = first[count] + gpu->gpc_tpcs[count];
    if (count)
        return count;
    count = (tpcs + MOST_TPCS - 1) / MOST_TPCS;
    for (unsigned i = 1; i <= count; i++)
        first[i] = tpcs * i / count;
    return count;
}
