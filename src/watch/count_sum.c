/*
 * count_sum.c: the counters of a launch, summed up from those of its instructions.
 */
#include "watch/count.h"

#include "gpu/model.h"
#include "simt/clock.h"
#include "simt/tensor_shape.h"

static bool is_x2(const struct ptx_inst *ptx)
{
    enum ptx_type type = ptx->type_count ? ptx->types[ptx->type_count - 1] : PTX_TYPE_NONE;
    return type == PTX_F32X2;
}

static void add_float(struct gpu_counters *sum, const struct ptx_inst *ptx,
                      const struct watch_inst *what, uint64_t threads)
{
    uint64_t *adds, *muls, *fmas;
    if (what->class == GPU_CLASS_F32) {
        adds = &sum->f32_adds, muls = &sum->f32_muls, fmas = &sum->f32_fmas;
        threads <<= is_x2(ptx);
    } else if (what->class == GPU_CLASS_F64) {
        adds = &sum->f64_adds, muls = &sum->f64_muls, fmas = &sum->f64_fmas;
    } else {
        adds = &sum->f16_adds, muls = &sum->f16_muls, fmas = &sum->f16_fmas;
    }
    if (what->traits & GPU_TRAIT_ADD)
        *adds += threads;
    else if (what->traits & GPU_TRAIT_MUL)
        *muls += threads;
    else if (what->traits & GPU_TRAIT_FMA)
        *fmas += threads;
}

static uint64_t tensor_flops(const struct ptx_inst *ptx)
{
    struct tensor_shape shape = tensor_shape_of(ptx);
    if (ptx_is_wgmma(ptx->op)) /* a warp does its quarter of the rows */
        shape.m /= 4;
    return 2ull * shape.m * shape.n * shape.k;
}

static void add_class(struct gpu_counters *sum, const struct gpu_info *gpu,
                      const struct ptx_inst *ptx, const struct watch_inst *what,
                      const struct watch_tally *tally)
{
    sum->warp_instructions += tally->warps;
    sum->thread_instructions += tally->threads;
    sum->thread_instructions_on += tally->on;
    switch ((enum gpu_class)what->class) {
    case GPU_CLASS_INTEGER:
    case GPU_CLASS_COMPARE:
        sum->integer_threads += tally->on;
        sum->integer_warps += tally->warps;
        if (what->traits & GPU_TRAIT_PRODUCT)
            sum->integer_mul_warps += tally->warps;
        break;
    case GPU_CLASS_F32:
        sum->f32_threads += tally->on;
        sum->f32_warps += tally->warps;
        add_float(sum, ptx, what, tally->on);
        break;
    case GPU_CLASS_F64:
        sum->f64_threads += tally->on;
        sum->f64_warps += tally->warps;
        add_float(sum, ptx, what, tally->on);
        break;
    case GPU_CLASS_F16:
        sum->f16_threads += tally->on;
        sum->f16_warps += tally->warps;
        add_float(sum, ptx, what, tally->on);
        break;
    case GPU_CLASS_SPECIAL:
        sum->special_warps += tally->warps;
        break;
    case GPU_CLASS_CONVERT:
        sum->convert_threads += tally->on;
        sum->convert_warps += tally->warps;
        break;
    case GPU_CLASS_TENSOR:
        sum->tensor_warps += tally->warps;
        sum->tensor_flops += tally->warps * tensor_flops(ptx);
        count_tensor(sum, gpu, ptx, tally->warps);
        break;
    case GPU_CLASS_MEMORY:
        sum->memory_threads += tally->on;
        break;
    case GPU_CLASS_MOVE:
    case GPU_CLASS_PARAM:
        sum->free_warps += tally->warps;
        break;
    case GPU_CLASS_BARRIER:
        sum->barriers += tally->warps;
        sum->barrier_waits += tally->waits;
        break;
    case GPU_CLASS_CONTROL:
        sum->control_threads += tally->on;
        break;
    default:
        break;
    }
    if (ptx->op == PTX_OP_BRA || ptx->op == PTX_OP_BRX) {
        sum->branches += tally->warps;
        sum->divergent_branches += tally->divergent;
    }
}

static void add_bulk(struct gpu_counters *sum, const struct watch_inst *what,
                     const struct count_memory *memory)
{
    uint64_t bytes = memory->sectors << CACHE_SECTOR_BITS;
    sum->bulk_bytes += memory->bytes;
    if (what->is_reduction)
        sum->bulk_red_bytes += bytes;
    else if (what->is_write)
        sum->bulk_store_bytes += bytes;
    *(what->is_write ? &sum->l2_write_sectors : &sum->l2_read_sectors) += memory->l2_sectors;
}

static void add_global(struct gpu_counters *sum, const struct watch_inst *what,
                       const struct count_memory *memory, const struct watch_tally *tally)
{
    switch ((enum watch_kind)what->kind) {
    case WATCH_RED:
        sum->global_red_requests += memory->requests;
        sum->global_red_sectors += memory->sectors;
        sum->global_atomic_passes += memory->turns;
        sum->l2_red_sectors += memory->l2_sectors;
        break;
    case WATCH_ATOM:
        sum->global_atom_requests += memory->requests;
        sum->global_atom_sectors += memory->sectors;
        sum->global_atomic_passes += memory->turns;
        sum->l2_atom_sectors += memory->l2_sectors;
        break;
    case WATCH_COPY:
        *(what->skips_l1 ? &sum->copy_bypass_requests : &sum->copy_requests) += memory->requests;
        *(what->skips_l1 ? &sum->copy_bypass_sectors : &sum->copy_sectors) += memory->sectors;
        sum->global_load_requests += memory->requests; /* ncu counts copies among loads */
        sum->global_load_sectors += memory->sectors;
        sum->global_load_sectors_ideal += memory->sectors_ideal;
        sum->l2_read_sectors += memory->l2_sectors;
        break;
    case WATCH_BULK:
        add_bulk(sum, what, memory);
        break;
    default:
        if (what->is_write) {
            sum->global_store_instructions += tally->warps;
            sum->global_store_requests += memory->requests;
            sum->global_store_sectors += memory->sectors;
            sum->global_store_sectors_ideal += memory->sectors_ideal;
            sum->global_store_bytes += memory->bytes;
            sum->l2_write_sectors += memory->l2_sectors;
        } else {
            sum->global_load_instructions += tally->warps;
            sum->global_load_requests += memory->requests;
            sum->global_load_sectors += memory->sectors;
            sum->global_load_sectors_ideal += memory->sectors_ideal;
            sum->global_load_bytes += memory->bytes;
            sum->global_load_l1_hits += memory->l1_hits;
            sum->global_load_first += memory->first;
            sum->l2_read_sectors += memory->l2_sectors;
        }
    }
    sum->global_wavefronts += memory->wavefronts;
    sum->global_store_partial += memory->partial;
    if (what->kind != WATCH_BULK) /* goes past the L1 */
        sum->l1_cycles += memory->l1_cycles;
}

/* st.async and red.async have counters of their own in ncu. */
static bool is_async(enum ptx_op op)
{
    return op == PTX_OP_ST_ASYNC || op == PTX_OP_RED_ASYNC;
}

static void add_shared(struct gpu_counters *sum, enum ptx_op op, const struct watch_inst *what,
                       const struct count_memory *memory)
{
    uint64_t instructions = is_async(op) ? 0 : memory->requests;
    sum->shared_wavefronts += memory->wavefronts;
    sum->shared_wavefronts_ideal += memory->wavefronts_ideal;
    sum->shared_conflicts += memory->conflicts;
    switch ((enum watch_kind)what->kind) {
    case WATCH_RED:
    case WATCH_ATOM:
        sum->shared_atom_instructions += instructions;
        sum->shared_atom_wavefronts += memory->wavefronts;
        sum->shared_atom_conflicts += memory->conflicts;
        break;
    case WATCH_COPY:
        sum->shared_copy_conflicts += memory->conflicts;
        break;
    case WATCH_BULK:
        break;
    default:
        if (what->is_write) {
            *(what->kind == WATCH_MATRIX ? &sum->matrix_store_instructions
                                         : &sum->shared_store_instructions) += instructions;
            sum->shared_store_wavefronts += memory->wavefronts;
            sum->shared_store_conflicts += memory->conflicts;
            sum->shared_store_bytes += memory->bytes;
        } else {
            *(what->kind == WATCH_MATRIX ? &sum->matrix_load_instructions
                                         : &sum->shared_load_instructions) += instructions;
            sum->shared_load_wavefronts += memory->wavefronts;
            sum->shared_load_conflicts += memory->conflicts;
            sum->shared_load_bytes += memory->bytes;
        }
    }
}

static void add_local(struct gpu_counters *sum, const struct watch_inst *what,
                      const struct count_memory *memory)
{
    *(what->is_write ? &sum->local_store_requests : &sum->local_load_requests) += memory->requests;
    *(what->is_write ? &sum->local_store_sectors : &sum->local_load_sectors) += memory->sectors;
    sum->l2_read_sectors += memory->l2_sectors;
    sum->global_wavefronts += memory->wavefronts;
    sum->l1_cycles += memory->l1_cycles;
}

static void add_cluster(struct gpu_counters *sum, const struct count_cluster *cluster)
{
    sum->cluster_load_requests = cluster->requests[COUNT_CLUSTER_LOAD];
    sum->cluster_store_requests = cluster->requests[COUNT_CLUSTER_STORE];
    sum->cluster_atom_requests = cluster->requests[COUNT_CLUSTER_ATOM];
    sum->cluster_red_requests = cluster->requests[COUNT_CLUSTER_RED];
    sum->cluster_load_sectors = cluster->sectors[COUNT_CLUSTER_LOAD];
    sum->cluster_store_sectors = cluster->sectors[COUNT_CLUSTER_STORE];
    sum->cluster_atom_sectors = cluster->sectors[COUNT_CLUSTER_ATOM];
    sum->cluster_red_sectors = cluster->sectors[COUNT_CLUSTER_RED];
    for (int kind = 0; kind < COUNT_CLUSTER_KINDS; kind++) {
        sum->cluster_requests += cluster->requests[kind];
        sum->cluster_sectors += cluster->sectors[kind];
    }
    sum->cluster_bytes = sum->cluster_sectors << CACHE_SECTOR_BITS;
    sum->cluster_passes = cluster->passes;
}

/* A warp that asks again and again until another has done something: how often depends on when it
 * asks, and does not count as work. */
static bool is_poll(const struct ptx_inst *ptx, const struct watch_inst *what)
{
    switch (ptx->op) {
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TEST_WAIT_PARITY:
    case PTX_OP_MBARRIER_TRY_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT_PARITY:
        return true;
    default:
        return what->kind == WATCH_LOAD && what->is_ordered;
    }
}

static void keep_larger(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

void count_sum(const struct counters *counters, const struct simt_launch_state *launch,
               struct gpu_counters *sum)
{
    const struct simt_watch *watch = launch->watch;
    uint64_t all = 0, hits = 0, from_dram = 0;
    bool polls = false;
    memset(sum, 0, sizeof(*sum));
    /* ncu's total has one more for each warp, and shuffles. */
    sum->shared_wavefronts =
        (launch->sampled ? launch->sampled : launch->block_count) * launch->warps_per_block;
    for (uint32_t i = 0; i < launch->code->inst_count; i++) {
        const struct watch_tally *tally = &watch->tallies[i];
        if (!tally->warps)
            continue;
        const struct watch_inst *what = &watch->insts[i];
        const struct count_memory *memory = counters->insts[i].memory;
        polls |= is_poll(launch->code->insts[i].ptx, what);
        if (launch->code->insts[i].ptx->op == PTX_OP_SHFL)
            sum->shared_wavefronts += tally->warps;
        sum->issue_slots += tally->warps * what->slots_of_4;
        sum->load_phases += tally->warps * what->load_phases_of_4;
        sum->shared_phases += tally->warps * what->shared_phases_of_4;
        sum->chain_cycles += tally->warps * what->chain_of_4;
        add_class(sum, launch->machine->gpu, launch->code->insts[i].ptx, what, tally);
        count_bulk_instructions(sum, launch->code->insts[i].ptx->op, tally);
        if (memory[GPU_SPACE_GLOBAL].requests)
            add_global(sum, what, &memory[GPU_SPACE_GLOBAL], tally);
        if (memory[GPU_SPACE_SHARED].requests)
            add_shared(sum, launch->code->insts[i].ptx->op, what, &memory[GPU_SPACE_SHARED]);
        if (memory[GPU_SPACE_LOCAL].requests)
            add_local(sum, what, &memory[GPU_SPACE_LOCAL]);
        for (int space = 0; space < GPU_SPACES; space++) {
            all += memory[space].l2_sectors;
            hits += memory[space].l2_hits;
            from_dram += memory[space].dram_sectors;
        }
    }
    for (unsigned i = 0; i < COUNT_HOT; i++) {
        keep_larger(&sum->global_atomic_hottest, counters->hot[i].count);
        keep_larger(&sum->global_atomic_turns, counters->turns[i].count);
        keep_larger(&sum->global_float_turns, counters->turns[i].floats);
    }
    sum->issue_slots /= 4;
    sum->load_phases /= 4;
    sum->shared_phases /= 4;
    sum->chain_cycles /= 4;
    sum->longest_warp = polls ? 0 : counters->longest_warp;
    sum->busiest_requests = counters->busiest_requests;
    if (!polls && count_has_blocks(counters))
        count_blocks_sum(&counters->blocks, launch, sum);
    sum->unit_cycles =
        counters->units && !counters->follows_replay ? (uint64_t)units_cycles(counters->units) : 0;
    sum->clock_cycles = launch->keeps_time ? launch->ended >> SIMT_CLOCK_BITS : 0;
    sum->dirty_bytes = counters->l2.dirtied << CACHE_SECTOR_BITS;
    add_cluster(sum, &counters->cluster);
    sum->bulk_load_self_bytes = counters->bulk.self << CACHE_SECTOR_BITS;
    sum->bulk_load_multicast_bytes = counters->bulk.multicast << CACHE_SECTOR_BITS;
    sum->bulk_load_bytes = sum->bulk_load_self_bytes + sum->bulk_load_multicast_bytes;
    sum->bulk_cluster_bytes = counters->bulk.cluster << CACHE_SECTOR_BITS;
    sum->fill_sectors = counters->fill_sectors;
    sum->lone_reads = counters->l2.read_alone;
    sum->lone_writes = counters->l2.dirty_alone;
    sum->store_partial_lines = counters->partial_lines;
    sum->l2_hit_sectors = hits;
    sum->l2_miss_sectors = all - hits;
    sum->dram_read_bytes = from_dram << CACHE_SECTOR_BITS;
    sum->dram_write_bytes = counters->l2.written_back << CACHE_SECTOR_BITS;
}

void count_model(struct simt_launch_state *launch, const struct gpu_counters *sum)
{
    struct gpu_model model;
    struct gpu_shape shape = {.blocks = launch->block_count,
                              .threads = launch->threads_per_block,
                              .registers = simt_kernel_registers(launch->kernel),
                              .shared = launch->shared_bytes};
    gpu_model(launch->machine->gpu, &shape, sum, &model);
    launch->watch->modelled_seconds = model.seconds;
    launch->watch->modelled_share = model.share;
}
