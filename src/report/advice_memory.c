/*
 * advice_memory.c: rules about global and local memory: accesses that touch too many sectors, data
 * that is loaded again and again, loads narrower than they need be, arrays in local memory.
 */
#include "report/advice.h"

#include <stdlib.h>

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* The part of a counter that an access stands for: `of` of `all` in another one. */
static void take_part(uint64_t *counter, double of, uint64_t all)
{
    if (all > 0)
        advice_take(counter, (double)*counter * least(of / (double)all, 1));
}

/* What an access would do if it touched `sectors`, all of each, and kept the L1 busy for `cycles`:
 * everything below the L1 shrinks to what is left of it. */
static void shrink_global(struct gpu_counters *counters, const struct profile_memory *now,
                          double sectors, double cycles, bool is_store)
{
    double l2 = least((double)now->l2_sectors, sectors);
    double dram = least((double)now->dram_sectors, l2);
    double l2_less = (double)now->l2_sectors - l2, dram_less = (double)now->dram_sectors - dram;
    advice_take(&counters->l1_cycles, (double)now->l1_cycles - cycles);
    take_part(&counters->store_partial_lines, (double)now->partial, counters->global_store_partial);
    take_part(&counters->fill_sectors, (double)now->partial, counters->global_store_partial);
    take_part(&counters->lone_reads, 32 * dram_less, counters->dram_read_bytes);
    advice_take(&counters->global_store_partial, (double)now->partial);
    advice_take(&counters->dram_read_bytes, 32 * dram_less);
    advice_take(&counters->l2_miss_sectors, dram_less);
    advice_take(&counters->l2_hit_sectors, l2_less - dram_less);
    if (is_store) {
        take_part(&counters->lone_writes, l2_less, counters->l2_write_sectors);
        advice_take(&counters->global_store_sectors, (double)now->sectors - sectors);
        advice_take(&counters->l2_write_sectors, l2_less);
    } else {
        advice_take(&counters->global_load_sectors, (double)now->sectors - sectors);
        advice_take(&counters->global_load_l1_hits, (double)now->l1_hits - (sectors - l2));
        advice_take(&counters->l2_read_sectors, l2_less);
    }
}

static double least_cycles(const struct profile_memory *m)
{
    return least((double)m->l1_cycles, most((double)m->requests, (double)m->sectors_ideal / 2));
}

/* Uncoalesced -------------------------------------------------------------------------------------
 */

/* Does any access of the launch go along neighbouring addresses already? Swapping the indices would
 * only move the problem there, as in a transpose. */
static bool has_coalesced(const struct profile_launch *launch)
{
    for (unsigned i = 0; i < launch->inst_count; i++) {
        const struct profile_inst *inst = &launch->insts[i];
        const struct profile_memory *m = inst->memory[GPU_SPACE_GLOBAL];
        bool moves = inst->code->kind == PROFILE_LOAD || inst->code->kind == PROFILE_STORE;
        if (moves && m && 2 * m->sectors_ideal > 3 * m->requests &&
            4 * m->sectors <= 5 * m->sectors_ideal)
            return true;
    }
    return false;
}

static const char *remedy(const struct advice_context *context, const struct advice_sum *sum)
{
    const struct profile_memory *m = &sum->memory;
    long long stride = llabs((long long)m->stride);
    if (advice_is_triton(context))
        return "let the last dimension of the offsets, tl.arange(0, BLOCK), be the contiguous one "
               "in memory: swap the strides, or transpose the block after the load (tl.trans)";
    if (!m->strided || 2 * m->strided < m->requests)
        return "neighbouring threads go to far addresses: group the work by address, or stage the "
               "data in shared memory";
    if (stride <= 64)
        return "keep each member in an array of its own, or move whole elements with one vector "
               "access (float4)";
    if (!has_coalesced(context->launch))
        return "swap the two indices: let the one that comes from threadIdx.x be the last, so that "
               "neighbouring threads take neighbouring elements";
    if (sum->repeated && context->launch->shape.shared == 0)
        return "let neighbouring threads take neighbouring elements, or stage the tile in shared "
               "memory";
    return "stage the tile in shared memory";
}

static bool is_uncoalesced(const struct profile_memory *m)
{
    return (double)m->sectors >= 1.5 * (double)m->sectors_ideal && 2 * m->misaligned <= m->requests;
}

static void uncoalesced_lines(struct advice_context *context, unsigned kinds, bool is_store)
{
    struct advice_sum *sums = advice_sums_of(context, GPU_SPACE_GLOBAL, kinds, is_uncoalesced);
    for (unsigned i = 0; i < context->launch->line_count; i++) {
        const struct profile_memory *m = &sums[i].memory;
        const struct profile_line *line = &context->launch->lines[i];
        double requests = (double)m->requests;
        if (!m->requests)
            continue;
        struct advice_change change = advice_start(context);
        shrink_global(&change.counters, m, (double)m->sectors_ideal, least_cycles(m), is_store);
        char stride[40] = "";
        if (2 * m->strided >= m->requests)
            snprintf(stride, sizeof stride, " (stride %lld B)", (long long)m->stride);
        advice_say(context, line->source, line->line, advice_gain(context, &change),
                   "a warp's %s touches %.3g sectors where %.3g suffice%s: %s",
                   is_store ? "store" : "load", (double)m->sectors / requests,
                   most(1, (double)m->sectors_ideal / requests), stride, remedy(context, &sums[i]));
    }
    free(sums);
}

void advice_uncoalesced(struct advice_context *context)
{
    uncoalesced_lines(context, ADVICE_LOADS, false);
    uncoalesced_lines(context, ADVICE_STORES, true);
}

/* Misaligned --------------------------------------------------------------------------------------
 */

static bool is_misaligned(const struct profile_memory *m)
{
    return 2 * m->misaligned > m->requests && m->sectors > m->sectors_ideal;
}

static void misaligned_lines(struct advice_context *context, unsigned kinds, bool is_store)
{
    struct advice_sum *sums = advice_sums_of(context, GPU_SPACE_GLOBAL, kinds, is_misaligned);
    for (unsigned i = 0; i < context->launch->line_count; i++) {
        const struct profile_memory *m = &sums[i].memory;
        const struct profile_line *line = &context->launch->lines[i];
        if (!m->requests)
            continue;
        struct advice_change change = advice_start(context);
        shrink_global(&change.counters, m, (double)m->sectors_ideal, least_cycles(m), is_store);
        advice_say(
            context, line->source, line->line, advice_gain(context, &change),
            "a warp's %s begins inside a 32-byte sector and touches %.3g where %.3g suffice: "
            "align its base (pad rows to a multiple of 32 B, as cudaMallocPitch does)",
            is_store ? "store" : "load", (double)m->sectors / (double)m->requests,
            (double)m->sectors_ideal / (double)m->requests);
    }
    free(sums);
}

void advice_misaligned(struct advice_context *context)
{
    misaligned_lines(context, ADVICE_LOADS, false);
    misaligned_lines(context, ADVICE_STORES, true);
}

/* Redundant loads ---------------------------------------------------------------------------------
 */

/* Each sector comes from global memory many times: as if a tile in shared memory served most of
 * it, and registers some of that. */
void advice_redundant(struct advice_context *context)
{
    unsigned at;
    struct advice_sum *sums = advice_sums(context, GPU_SPACE_GLOBAL, ADVICE_LOADS);
    struct advice_sum total = advice_total(context, sums, &at);
    const struct profile_memory *m = &total.memory;
    const struct profile_line *line = &context->launch->lines[at];
    double requests = (double)m->requests, first = (double)m->first;
    double reuse = first > 0 ? (double)m->sectors_ideal / first : 0;
    bool broadcast = sums[at].memory.sectors_ideal <= sums[at].memory.requests;
    free(sums);
    const struct gpu_counters *now = &context->launch->counters;
    bool staged = 2 * now->shared_store_bytes > now->global_load_bytes; /* already */
    if (reuse < 8 || staged)
        return;
    double kept = least(reuse, 16);
    struct advice_change change = advice_start(context);
    struct gpu_counters *c = &change.counters;
    shrink_global(c, m, most((double)m->sectors / kept, first), (double)m->l1_cycles / kept, false);
    double phases = (double)c->load_phases * (1 - 1 / kept);
    advice_take(&c->load_phases, phases);
    c->shared_phases += (uint64_t)phases;
    advice_take(&c->global_load_requests, requests - requests / kept);
    advice_take(&c->global_load_instructions, requests - requests / kept);
    c->shared_load_instructions += (uint64_t)(requests / 4);
    c->shared_wavefronts += (uint64_t)(requests / 4);
    advice_say(context, line->source, line->line, advice_gain(context, &change),
               "global loads ask for every sector %.3g times: %s", reuse,
               broadcast ? "stage a tile in shared memory and let each thread make several "
                           "results from what it reads (or __constant__ for a small table)"
                         : "stage a tile in shared memory, and keep in registers what a thread "
                           "uses more than once");
}

/* Narrow loads ------------------------------------------------------------------------------------
 */

static bool is_overhead(enum gpu_class class)
{
    return class == GPU_CLASS_INTEGER || class == GPU_CLASS_COMPARE || class == GPU_CLASS_MOVE ||
           class == GPU_CLASS_PARAM || class == GPU_CLASS_CONTROL || class == GPU_CLASS_MEMORY;
}

/* Neighbours that a vector access could move together. */
static bool is_narrow(const struct advice_sum *sum)
{
    const struct profile_memory *m = &sum->memory;
    double per_request = m->requests ? (double)m->bytes / (double)m->requests : 0;
    return m->requests && sum->bytes <= 4 && per_request >= 28.0 * sum->bytes &&
           (double)m->sectors_ideal * 32 >= 0.9 * (double)m->bytes &&
           (double)m->sectors <= 1.3 * (double)m->sectors_ideal;
}

/* Bytes are what this kernel is about: less than an operation for each, and memory has not much
 * less to do than the rest. */
static bool moves_bytes(const struct profile_launch *launch)
{
    const struct gpu_counters *c = &launch->counters;
    const double *parts = launch->model.parts;
    double memory = most(parts[GPU_BOUND_DRAM], most(parts[GPU_BOUND_L2], parts[GPU_BOUND_L1]));
    double rest = parts[GPU_BOUND_SHARED];
    for (int i = GPU_BOUND_ISSUE; i <= GPU_BOUND_TENSOR; i++)
        rest = most(rest, parts[i]);
    double operations = (double)(c->f32_threads + c->f64_threads + c->f16_threads) +
                        32.0 * (double)(c->special_warps + c->tensor_warps);
    double bytes = (double)(c->global_load_bytes + c->global_store_bytes);
    return operations < bytes && (double)c->shared_load_bytes <= bytes && memory > 0.5 * rest;
}

void advice_narrow(struct advice_context *context)
{
    const struct profile_launch *launch = context->launch;
    struct advice_sum *sums = advice_sums(context, GPU_SPACE_GLOBAL, ADVICE_LOADS | ADVICE_STORES);
    struct advice_change change = advice_start(context);
    unsigned worst = launch->line_count, width = 4;
    double bytes = 0, all = 0;
    for (unsigned i = 0; i < launch->line_count; i++) {
        all += (double)sums[i].memory.bytes;
        if (!is_narrow(&sums[i]))
            continue;
        bytes += (double)sums[i].memory.bytes;
        if (worst == launch->line_count || sums[i].bytes < sums[worst].bytes)
            worst = i;
    }
    if (worst < launch->line_count)
        width = sums[worst].bytes;
    if (worst == launch->line_count || !width || bytes < 0.5 * all || !moves_bytes(launch)) {
        free(sums);
        return;
    }
    double factor = 16.0 / width, less = 1 - 1 / factor;
    for (unsigned i = 0; i < launch->line_count; i++)
        if (is_narrow(&sums[i])) {
            const struct profile_memory *m = &sums[i].memory;
            double cycles = most((double)m->requests / factor, (double)m->sectors_ideal / 2);
            advice_take(&change.counters.l1_cycles, (double)m->l1_cycles - cycles);
        }
    for (unsigned i = 0; i < launch->inst_count; i++)
        if (is_overhead(launch->insts[i].code->class))
            advice_take_inst(&change.counters, launch->insts[i].code,
                             less * (double)launch->insts[i].warps);
    if (!sums[worst].repeated) { /* a thread that moves more leaves fewer threads */
        double blocks = (double)change.shape.blocks / factor;
        change.shape.blocks = (uint64_t)most(blocks, 1);
    }
    const struct profile_line *line = &launch->lines[worst];
    const char *vector = width == 4 ? "float4, int4" : "a uint4";
    advice_say(
        context, line->source, line->line, advice_gain(context, &change),
        "a thread moves %u byte%s at a time in a kernel that mostly moves data: 16 at a time "
        "(%s) need %.0fx fewer instructions",
        width, width > 1 ? "s" : "", vector, factor);
    free(sums);
}

/* Local memory ------------------------------------------------------------------------------------
 */

void advice_spills(struct advice_context *context)
{
    unsigned at;
    const struct profile_kernel *kernel = context->launch->kernel;
    unsigned kinds = ADVICE_LOADS | ADVICE_STORES;
    struct advice_sum *sums = advice_sums(context, GPU_SPACE_LOCAL, kinds);
    struct advice_sum total = advice_total(context, sums, &at);
    const struct profile_memory *m = &total.memory;
    free(sums);
    if (m->requests) {
        const struct profile_line *line = &context->launch->lines[at];
        struct advice_change change = advice_start(context);
        struct gpu_counters *c = &change.counters;
        double hits = (double)m->l2_hits, misses = (double)(m->l2_sectors - m->l2_hits);
        c->local_load_requests = c->local_load_sectors = 0;
        c->local_store_requests = c->local_store_sectors = 0;
        advice_take(&c->l1_cycles, (double)m->l1_cycles);
        advice_take(&c->l2_read_sectors, (double)m->l2_sectors);
        advice_take(&c->l2_hit_sectors, hits);
        advice_take(&c->l2_miss_sectors, misses);
        advice_take(&c->dram_read_bytes, 32.0 * (double)m->dram_sectors);
        advice_take(&c->warp_instructions, (double)total.warps);
        advice_take(&c->issue_slots, (double)total.warps);
        advice_say(context, line->source, line->line, advice_gain(context, &change),
                   "a thread's array (%u B) lies in local memory, which is DRAM behind the caches: "
                   "index it with constants only (#pragma unroll the loops over it), so that it "
                   "becomes registers, or use shared memory",
                   kernel->local_bytes);
    }
    const struct profile_code *place = advice_kernel_place(context);
    if (kernel->spill_bytes)
        advice_note(context, place->source, place->line,
                    "ptxas spills %u B a thread to local memory: allow more registers (%s) or keep "
                    "fewer values at a time",
                    kernel->spill_bytes,
                    advice_is_triton(context) ? "smaller blocks, more num_warps"
                                              : "__launch_bounds__, -maxrregcount");
}
