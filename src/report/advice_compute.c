/*
 * advice_compute.c: rules about instructions: divergent branches, unwanted f64, matrix
 * products without tensor cores, barriers at which warps wait.
 */
#include "report/advice.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Divergence --------------------------------------------------------------------------------------
 */

void advice_divergence(struct advice_context *context)
{
    const struct profile_launch *launch = context->launch;
    unsigned threads = launch->shape.threads, warps = (threads + 31) / 32, worst = 0;
    double full = warps ? (double)threads / warps : 0; /* lanes of a warp that there are */
    double split_warps = 0, split_threads = 0, branches = 0;
    struct advice_change change = advice_start(context);
    for (unsigned i = 1; i < launch->line_count; i++)
        if (launch->lines[i].divergent > launch->lines[worst].divergent)
            worst = i;
    if (!launch->line_count || !launch->lines[worst].divergent || full <= 0)
        return;
    const struct profile_line *line = &launch->lines[worst];
    for (unsigned i = 0; i < launch->inst_count; i++) {
        const struct profile_inst *inst = &launch->insts[i];
        if (inst->divergent && inst->line == worst)
            branches += (double)inst->warps;
        if ((double)inst->threads > 0.95 * full * (double)inst->warps)
            continue;
        split_warps += (double)inst->warps;
        split_threads += (double)inst->threads;
        advice_take_inst(&change.counters, inst->code,
                         (double)inst->warps - (double)inst->threads / full);
    }
    if (split_warps == 0)
        return;
    advice_say(
        context, line->source, line->line, advice_gain(context, &change),
        "%.0f %% of the branches here split their warp, and %.3g of 32 lanes work on average "
        "in what follows: let whole warps go one way (decide by threadIdx.x / 32, sort the "
        "work), or compute both and select",
        branches > 0 ? 100.0 * (double)line->divergent / branches : 0, split_threads / split_warps);
}

/* f64 ---------------------------------------------------------------------------------------------
 */

/* Doubles that come from memory or go there are meant. */
static bool keeps_doubles(const struct profile_launch *launch)
{
    for (unsigned i = 0; i < launch->inst_count; i++) {
        const struct profile_code *code = launch->insts[i].code;
        if (launch->insts[i].memory[GPU_SPACE_GLOBAL] && code->traits & GPU_TRAIT_F64)
            return true;
    }
    return false;
}

void advice_f64(struct advice_context *context)
{
    const struct profile_launch *launch = context->launch;
    if (!launch->counters.f64_warps || keeps_doubles(launch))
        return;
    double *arithmetic = lk_alloc_zeroed((launch->line_count + 1) * sizeof(double));
    double all = 0, conversions = 0;
    unsigned worst = launch->line_count;
    struct advice_change change = advice_start(context);
    struct gpu_counters *c = &change.counters;
    for (unsigned i = 0; i < launch->inst_count; i++) {
        const struct profile_inst *inst = &launch->insts[i];
        if (inst->code->traits & GPU_TRAIT_F32_F64) {
            conversions += (double)inst->warps;
            advice_take_inst(c, inst->code, (double)inst->warps);
        }
        if (inst->code->class == GPU_CLASS_F64) {
            all += (double)inst->on;
            arithmetic[inst->line] += (double)inst->warps;
        }
    }
    for (unsigned i = 0; i < launch->line_count; i++)
        if (arithmetic[i] > 0 && (worst == launch->line_count || arithmetic[i] > arithmetic[worst]))
            worst = i;
    free(arithmetic);
    if (conversions == 0 || worst == launch->line_count)
        return;
    char count[REPORT_UNIT];
    c->f32_warps += c->f64_warps;
    c->f32_adds += c->f64_adds, c->f32_muls += c->f64_muls, c->f32_fmas += c->f64_fmas;
    c->f64_warps = c->f64_adds = c->f64_muls = c->f64_fmas = 0;
    const struct profile_line *line = &launch->lines[worst];
    advice_say(context, line->source, line->line, advice_gain(context, &change),
               "%s f64 operations on f32 data, converted there and back: a literal without f "
               "(2.0 for 2.0f) or a double function (sqrt for sqrtf) makes them so",
               report_count(count, all));
}

/* Tensor cores ------------------------------------------------------------------------------------
 */

struct products {
    double fmas, warps; /* of the type that does most of them */
    double others;      /* arithmetic other than multiply-add */
    enum gpu_class class;
    unsigned line;
};

static struct products find_products(const struct profile_launch *launch)
{
    struct products p = {.class = GPU_CLASS_F32};
    const struct gpu_counters *c = &launch->counters;
    double *by_line = lk_alloc_zeroed((launch->line_count + 1) * sizeof(double));
    if (c->f16_fmas * 2 > c->f32_fmas)
        p.class = GPU_CLASS_F16;
    for (unsigned i = 0; i < launch->inst_count; i++) {
        const struct profile_inst *inst = &launch->insts[i];
        enum gpu_class class = inst->code->class;
        if (class == p.class && inst->code->traits & GPU_TRAIT_FMA) {
            p.fmas += (double)inst->on * (class == GPU_CLASS_F16 ? 2 : 1);
            p.warps += (double)inst->warps;
            by_line[inst->line] += (double)inst->warps;
            if (by_line[inst->line] > by_line[p.line])
                p.line = inst->line;
        } else if (class == GPU_CLASS_F32 || class == GPU_CLASS_F16 || class == GPU_CLASS_F64 ||
                   class == GPU_CLASS_SPECIAL) {
            p.others += (double)inst->on;
        }
    }
    free(by_line);
    return p;
}

/* A matrix product: nearly all arithmetic is multiply-adds, each fed from memory (a polynomial is
 * not), and every value that is loaded serves many of them (a dot product's does not). */
static bool is_matrix_product(const struct profile_launch *launch, const struct products *p)
{
    const struct gpu_counters *c = &launch->counters;
    double first = 0, loaded = (double)(c->shared_load_bytes + c->global_load_bytes) / 4;
    for (unsigned i = 0; i < launch->inst_count; i++)
        if (launch->insts[i].memory[GPU_SPACE_GLOBAL] &&
            launch->insts[i].code->kind != PROFILE_STORE)
            first += (double)launch->insts[i].memory[GPU_SPACE_GLOBAL]->first;
    return p->fmas > 0 && p->others < 0.1 * p->fmas && loaded > p->fmas / 16 && first > 0 &&
           2 * p->fmas / (32 * first) >= 8;
}

void advice_tensor(struct advice_context *context)
{
    const struct profile_launch *launch = context->launch;
    const struct gpu_info *gpu = launch->gpu;
    if (launch->counters.tensor_warps || gpu->tensor_f16 <= 0 || !launch->line_count)
        return;
    struct products p = find_products(launch);
    if (!is_matrix_product(launch, &p))
        return;
    bool half = p.class == GPU_CLASS_F16;
    double peak = half ? gpu->tensor_f16 : gpu->tensor_tf32;
    if (peak <= 0)
        peak = gpu->tensor_f16; /* Turing has no tf32: the inputs become f16 */
    struct advice_change change = advice_start(context);
    struct gpu_counters *c = &change.counters;
    char count[REPORT_UNIT];
    const double eighth = 7.0 / 8; /* fragments: each value is read once for 8 or more rows */
    for (unsigned i = 0; i < launch->inst_count; i++) {
        const struct profile_inst *inst = &launch->insts[i];
        if (inst->code->class == p.class && inst->code->traits & GPU_TRAIT_FMA)
            advice_take_inst(c, inst->code, (double)inst->warps);
        else if (inst->code->class == GPU_CLASS_MEMORY || inst->code->class == GPU_CLASS_INTEGER)
            advice_take_inst(c, inst->code, eighth * (double)inst->warps);
    }
    c->tensor_flops += (uint64_t)(2 * p.fmas * gpu->tensor_f16 / peak);
    c->tensor_warps += (uint64_t)(2 * p.fmas / 4096);
    c->issue_slots += (uint64_t)(2 * p.fmas / 4096);
    advice_take(&c->shared_wavefronts, eighth * (double)c->shared_load_wavefronts);
    advice_take(&c->l1_cycles, eighth * (double)c->l1_cycles);
    advice_take(&c->load_phases, eighth * (double)c->load_phases);
    advice_take(&c->shared_phases, eighth * (double)c->shared_phases);
    const struct profile_line *line = &launch->lines[p.line];
    advice_say(context, line->source, line->line, advice_gain(context, &change),
               "%s %s multiply-adds of a matrix product run on the plain units: tensor cores "
               "(wmma, mma.sync) do them in fragments%s",
               report_count(count, p.fmas), half ? "f16" : "f32",
               half ? ""
               : gpu->tensor_tf32 > 0
                   ? "; tf32 keeps 10 bits of the mantissa, f16 and bf16 inputs are faster still"
                   : "; the inputs become f16");
}

/* Barriers ----------------------------------------------------------------------------------------
 */

/* The model takes warps as equally busy. Where one has more to do between barriers, the others
 * wait, and a warp's way through the kernel is longer by that much. */
static void waiting_for_one(struct advice_context *context, unsigned worst)
{
    const struct profile_launch *launch = context->launch;
    const struct profile_line *line = &launch->lines[worst];
    const struct gpu_model *model = &launch->model;
    double idle = 0, ran = (double)launch->counters.warp_instructions;
    for (unsigned i = 0; i < launch->line_count; i++)
        idle += (double)launch->lines[i].idle;
    if (ran <= 0 || line->idle == 0 || model->bound == GPU_BOUND_LAUNCH)
        return;
    double latency = model->parts[GPU_BOUND_LATENCY], longer = latency * (1 + idle / ran);
    double start = model->parts[GPU_BOUND_LAUNCH], work = model->seconds - start;
    double now = start + sqrt(work * work - latency * latency + longer * longer);
    advice_say(context, line->source, line->line, now / model->seconds,
               "warps wait here for the busiest of their block, %.0f %% of the time: spread the "
               "work between the barriers evenly, or "
               "let one warp do it while the others go on",
               100 * idle / (ran + idle));
}

void advice_barriers(struct advice_context *context)
{
    const struct profile_launch *launch = context->launch;
    double *barriers = lk_alloc_zeroed((launch->line_count + 1) * sizeof(double));
    unsigned most = 0, worst = 0;
    for (unsigned i = 0; i < launch->inst_count; i++)
        if (launch->insts[i].code->class == GPU_CLASS_BARRIER) {
            unsigned line = launch->insts[i].line;
            barriers[line] += (double)launch->insts[i].warps;
            most = barriers[line] > barriers[most] ? line : most;
            worst = launch->lines[line].idle > launch->lines[worst].idle ? line : worst;
        }
    double count = barriers[most];
    free(barriers);
    if (count == 0)
        return;
    waiting_for_one(context, worst);
    const struct profile_line *line = &launch->lines[most];
    struct advice_change change = advice_start(context);
    bool one_warp = launch->shape.threads <= 32;
    advice_take(&change.counters.barriers, one_warp ? count : count / 2);
    advice_say(context, line->source, line->line, advice_gain(context, &change),
               "a warp comes to this barrier %.3g times, every %.3g instructions: %s",
               count / context->warps, (double)launch->counters.warp_instructions / count,
               one_warp ? "a block of one warp needs __syncwarp only"
                        : "do more between barriers (larger tiles, two buffers), or the last steps "
                          "within a warp (__shfl_down_sync)");
}
