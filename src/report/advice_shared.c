/*
 * advice_shared.c: rules about accesses that take turns: bank conflicts of shared memory, atomics
 * to the same address.
 */
#include "report/advice.h"
#include "report/report.h"

#include <stdlib.h>

void advice_bank_conflicts(struct advice_context *context)
{
    unsigned kinds = ~(ADVICE_ATOMICS | ADVICE_KIND(BULK));
    struct advice_sum *sums = advice_sums(context, GPU_SPACE_SHARED, kinds);
    struct advice_sum *stores = advice_sums(context, GPU_SPACE_SHARED, ADVICE_STORES);
    for (unsigned i = 0; i < context->launch->line_count; i++) {
        const struct profile_memory *m = &sums[i].memory;
        const struct profile_line *line = &context->launch->lines[i];
        if (!m->conflicts)
            continue;
        struct advice_change change = advice_start(context);
        advice_take(&change.counters.shared_wavefronts, (double)m->conflicts);
        advice_take(&change.counters.shared_conflicts, (double)m->conflicts);
        bool is_store = 2 * stores[i].memory.conflicts > m->conflicts;
        char stride[64] = "";
        if (2 * m->strided >= m->requests)
            snprintf(stride, sizeof stride, " (stride %lld B between lanes)", (long long)m->stride);
        advice_say(context, line->source, line->line, advice_gain(context, &change),
                   "a warp's shared %s takes %.3g passes where %.3g suffice%s: lanes meet in the "
                   "same banks; pad the rows by one element, as in tile[32][33], or swizzle the "
                   "index",
                   is_store ? "store" : "load", (double)m->wavefronts / (double)m->requests,
                   (double)m->wavefronts_ideal / (double)m->requests, stride);
    }
    free(sums);
    free(stores);
}

/* Global ------------------------------------------------------------------------------------------
 */

/* Sectors of atomics that the L2 does for all lines; the busiest slice has the hottest of them. */
static void global_atomics(struct advice_context *context)
{
    unsigned most;
    struct advice_sum *sums = advice_sums(context, GPU_SPACE_GLOBAL, ADVICE_ATOMICS);
    double all = (double)advice_total(context, sums, &most).memory.sectors;
    for (unsigned i = 0; i < context->launch->line_count; i++) {
        const struct profile_memory *m = &sums[i].memory;
        const struct profile_line *line = &context->launch->lines[i];
        double sectors = (double)m->sectors, first = m->first ? (double)m->first : 1;
        double then =
            (double)context->launch->shape.blocks * first; /* each block adds what it has */
        if (!m->requests || then >= 0.8 * sectors)
            continue;
        double less = 1 - then / sectors;
        struct advice_change change = advice_start(context);
        struct gpu_counters *c = &change.counters;
        double share = less * sectors / all;
        advice_take(&c->global_atomic_hottest, share * (double)c->global_atomic_hottest);
        advice_take(&c->global_atomic_turns, share * (double)c->global_atomic_turns);
        advice_take(&c->global_float_turns, share * (double)c->global_float_turns);
        advice_take(&c->l2_red_sectors, less * (double)m->l2_sectors);
        advice_take(&c->l2_hit_sectors, less * (double)m->l2_hits);
        advice_take(&c->l1_cycles, less * (double)m->l1_cycles);
        double gain = advice_gain(context, &change);
        char count[REPORT_UNIT];
        if (first <= 4)
            advice_say(context, line->source, line->line, gain,
                       "%s threads update the same few addresses, one after the other: add up "
                       "within the warp (__reduce_add_sync or __shfl_down_sync) and the block, "
                       "then do one atomic a block",
                       report_count(count, (double)sums[i].threads));
        else
            advice_say(context, line->source, line->line, gain,
                       "%s threads update %.3g sectors of global memory, in %.3g turns a warp: "
                       "gather in shared memory first, and add that to global memory once a block",
                       report_count(count, (double)sums[i].threads), first,
                       (double)m->turns / (double)m->requests);
    }
    free(sums);
}

static void shared_atomics(struct advice_context *context)
{
    struct advice_sum *sums = advice_sums(context, GPU_SPACE_SHARED, ADVICE_ATOMICS);
    for (unsigned i = 0; i < context->launch->line_count; i++) {
        const struct profile_memory *m = &sums[i].memory;
        const struct profile_line *line = &context->launch->lines[i];
        if (!m->requests || m->wavefronts < 2 * m->requests)
            continue;
        struct advice_change change = advice_start(context);
        advice_take(&change.counters.shared_wavefronts, (double)(m->wavefronts - m->requests));
        advice_take(&change.counters.shared_conflicts, (double)m->conflicts);
        advice_say(context, line->source, line->line, advice_gain(context, &change),
                   "a warp's shared atomic takes %.3g turns, because its lanes hit the same "
                   "addresses or banks: give each warp a copy of its own, or combine equal "
                   "addresses first (__match_any_sync)",
                   (double)m->wavefronts / (double)m->requests);
    }
    free(sums);
}

void advice_atomics(struct advice_context *context)
{
    global_atomics(context);
    shared_atomics(context);
}
