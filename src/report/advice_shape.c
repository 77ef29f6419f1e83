/*
 * advice_shape.c: rules about how a kernel is launched: occupancy, too few blocks, a last wave that
 * leaves the GPU half empty, kernels shorter than their launch.
 */
#include "report/advice.h"
#include "report/report.h"

#include <string.h>

/* Low occupancy -----------------------------------------------------------------------------------
 */

/* Another shape that might fit better, by what limits this one. False: no more to try. */
static bool next_shape(const struct gpu_shape *now, const char *limiter, unsigned step,
                       struct gpu_shape *then)
{
    *then = *now;
    if (strcmp(limiter, "registers") == 0) {
        unsigned less = 8 * (step + 1);
        then->registers = (now->registers - 1) / 8 * 8 + 8 - less;
        return less + 16 <= now->registers + 8 && then->registers >= 16;
    }
    if (strcmp(limiter, "shared memory") == 0) {
        static const double parts[] = {0.75, 0.5, 0.375, 0.25, 0.125};
        if (step >= sizeof parts / sizeof parts[0])
            return false;
        then->shared = (size_t)((double)now->shared * parts[step]) / 256 * 256;
        return true;
    }
    if (strcmp(limiter, "blocks") == 0 && step < 4) {
        then->threads = now->threads << (step + 1);
        then->blocks = (now->blocks + (1u << (step + 1)) - 1) >> (step + 1);
        return then->threads <= 1024;
    }
    if (strcmp(limiter, "warps") == 0 && step < 3) { /* blocks that do not divide an SM's warps */
        static const unsigned sizes[] = {512, 256, 128};
        then->threads = sizes[step];
        then->blocks = (now->blocks * now->threads + then->threads - 1) / then->threads;
        return true;
    }
    return false;
}

void advice_occupancy(struct advice_context *context)
{
    const struct profile_launch *launch = context->launch;
    const struct gpu_occupancy *now = &launch->model.occupancy;
    if (now->fraction > 0.76 || now->blocks_per_sm == 0)
        return;
    struct gpu_shape shape, best = launch->shape;
    double gain = 1;
    for (unsigned step = 0; next_shape(&launch->shape, now->limiter, step, &shape); step++) {
        struct advice_change change = advice_start(context);
        change.shape = shape;
        double one = advice_gain(context, &change);
        if (one > gain * 1.02) {
            gain = one;
            best = shape;
        }
    }
    struct gpu_occupancy then =
        gpu_occupancy(launch->gpu, best.threads, best.registers, best.shared);
    const struct profile_code *place = advice_kernel_place(context);
    char change[96] = "", a[REPORT_UNIT], b[REPORT_UNIT];
    if (best.registers != launch->shape.registers)
        snprintf(change, sizeof change, "%u registers a thread instead of %u (%s)", best.registers,
                 launch->shape.registers,
                 advice_is_triton(context) ? "smaller blocks, more num_warps or maxnreg"
                                           : "__launch_bounds__");
    else if (best.shared != launch->shape.shared)
        snprintf(change, sizeof change, "%s of shared memory a block instead of %s",
                 report_bytes(a, (double)best.shared),
                 report_bytes(b, (double)launch->shape.shared));
    else if (advice_is_triton(context))
        snprintf(change, sizeof change, "num_warps=%u instead of %u", best.threads / 32,
                 launch->shape.threads / 32);
    else
        snprintf(change, sizeof change, "blocks of %u threads instead of %u", best.threads,
                 launch->shape.threads);
    advice_say(context, place->source, place->line, gain,
               "occupancy is %.0f %%, limited by %s, and too few warps hide the latency: %s would "
               "give %.0f %%",
               100 * now->fraction, now->limiter, change, 100 * then.fraction);
}

/* Blocks ------------------------------------------------------------------------------------------
 */

void advice_few_blocks(struct advice_context *context)
{
    const struct profile_launch *launch = context->launch;
    uint64_t blocks = launch->shape.blocks, sms = launch->gpu->sms;
    if (blocks == 0 || blocks >= sms)
        return;
    struct advice_change change = advice_start(context);
    uint64_t threads = (launch->shape.threads * blocks + sms - 1) / sms;
    threads = (threads + 31) / 32 * 32;
    change.shape.blocks = sms;
    change.shape.threads = (unsigned)threads;
    const struct profile_code *place = advice_kernel_place(context);
    char smaller[48] = "";
    if (advice_is_triton(context))
        snprintf(smaller, sizeof smaller, "a smaller block size (constexpr): ");
    else if (threads < launch->shape.threads)
        snprintf(smaller, sizeof smaller, "smaller blocks (%u threads), or ", (unsigned)threads);
    advice_say(context, place->source, place->line, advice_gain(context, &change),
               "%llu block%s for %llu SMs: %llu have nothing to do; use %smore blocks with less "
               "work each",
               (unsigned long long)blocks, blocks > 1 ? "s" : "", (unsigned long long)sms,
               (unsigned long long)(sms - blocks), smaller);
}

void advice_tail(struct advice_context *context)
{
    const struct profile_launch *launch = context->launch;
    uint64_t blocks = launch->shape.blocks, sms = launch->gpu->sms;
    if (blocks <= sms || blocks % sms == 0)
        return;
    struct advice_change change = advice_start(context);
    change.shape.blocks = blocks / sms * sms;
    const struct profile_code *place = advice_kernel_place(context);
    advice_say(context, place->source, place->line, advice_gain(context, &change),
               "%llu blocks on %llu SMs: while the last %llu run, %llu SMs wait; launch a multiple "
               "of %llu (a grid-stride loop takes any), or smaller blocks",
               (unsigned long long)blocks, (unsigned long long)sms,
               (unsigned long long)(blocks % sms), (unsigned long long)(sms - blocks % sms),
               (unsigned long long)sms);
}

/* One warp works on while all others have ended. Where most instructions ran is where it was. */
void advice_uneven(struct advice_context *context)
{
    const struct profile_launch *launch = context->launch;
    const struct gpu_counters *c = &launch->counters;
    double mean = gpu_mean_warp(&launch->shape, c);
    if (mean <= 0 || (double)c->longest_warp < 3 * mean || launch->line_count == 0)
        return;
    struct advice_change change = advice_start(context);
    change.counters.longest_warp = 0;
    change.counters.late_cycles = change.counters.dealt_cycles = 0;
    const struct profile_line *most = &launch->lines[0];
    for (unsigned i = 1; i < launch->line_count; i++)
        if (launch->lines[i].issued > most->issued)
            most = &launch->lines[i];
    char times[REPORT_UNIT];
    advice_say(context, most->source, most->line, advice_gain(context, &change),
               "one warp runs %s times the instructions of the mean, and is alone in the end: give "
               "long pieces of work more lanes, or cut all of it into equal shares",
               report_count(times, (double)c->longest_warp / mean));
}

/* Launch overhead ---------------------------------------------------------------------------------
 */

void advice_launch(struct advice_context *context)
{
    const struct gpu_model *model = &context->launch->model;
    double work = model->seconds - model->parts[GPU_BOUND_LAUNCH];
    if (model->bound != GPU_BOUND_LAUNCH)
        return;
    /* A program that launches once has nothing to merge, unless hardly anything is done. */
    if (context->repeats < 2 && work > model->parts[GPU_BOUND_LAUNCH] / 4)
        return;
    /* Many merged into one share one launch; ten are taken for many. */
    double merged = context->repeats > 1 && context->repeats < 10 ? context->repeats : 10;
    double then = work + (model->seconds - work) / merged;
    const struct profile_code *place = advice_kernel_place(context);
    char a[REPORT_UNIT], b[REPORT_UNIT], times[32] = "";
    if (context->repeats > 1)
        snprintf(times, sizeof times, ", %u times", context->repeats);
    advice_say(context, place->source, place->line, then > 0 ? model->seconds / then : 1,
               "the work takes %s, its launch %s%s: do more in one launch (merge kernels, batch "
               "the inputs), or replay launches as a CUDA graph",
               report_seconds(a, work), report_seconds(b, model->parts[GPU_BOUND_LAUNCH]), times);
}
