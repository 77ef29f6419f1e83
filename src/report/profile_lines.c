/*
 * profile_lines.c: the time model of every launch, and its counters summed by line of the source.
 */
#include "report/client_terms.h"
#include "report/profile.h"

#include <stdlib.h>
#include <string.h>

void profile_add_memory(struct profile_memory *sum, const struct profile_memory *more)
{
    int64_t stride = sum->strided >= more->strided && sum->stride ? sum->stride : more->stride;
#define MEMORY(name) sum->name += more->name;
#include "gpu/profile_columns.def"
    sum->stride = stride;
}

/* Index of the instruction's line, which is added if it is new. */
static unsigned line_of(struct profile_launch *launch, const struct profile_code *code)
{
    for (unsigned i = launch->line_count; i-- > 0;)
        if (launch->lines[i].line == code->line && launch->lines[i].source == code->source)
            return i;
    launch->lines[launch->line_count] =
        (struct profile_line){.source = code->source, .line = code->line};
    return launch->line_count++;
}

/* How much of what bounds the kernel an instruction uses. */
static double weight(enum gpu_bound bound, const struct profile_inst *inst)
{
    static const enum gpu_class classes[GPU_BOUND_COUNT] = {
        [GPU_BOUND_INTEGER] = GPU_CLASS_INTEGER, [GPU_BOUND_F32] = GPU_CLASS_F32,
        [GPU_BOUND_F64] = GPU_CLASS_F64,         [GPU_BOUND_F16] = GPU_CLASS_F16,
        [GPU_BOUND_SPECIAL] = GPU_CLASS_SPECIAL, [GPU_BOUND_TENSOR] = GPU_CLASS_TENSOR,
        [GPU_BOUND_POWER] = GPU_CLASS_TENSOR};
    const struct profile_memory none = {0};
    const struct profile_memory *global = inst->memory[GPU_SPACE_GLOBAL];
    const struct profile_memory *shared = inst->memory[GPU_SPACE_SHARED];
    const struct profile_memory *local = inst->memory[GPU_SPACE_LOCAL];
    global = global ? global : &none;
    shared = shared ? shared : &none;
    local = local ? local : &none;
    switch (bound) {
    case GPU_BOUND_DRAM:
        return (double)(global->l2_sectors + local->l2_sectors);
    case GPU_BOUND_L2: /* a sector that is written in part is read first */
        return (double)(global->l2_sectors + local->l2_sectors) + 7.0 * (double)global->partial;
    case GPU_BOUND_L1:
        return (double)(global->l1_cycles + local->l1_cycles);
    case GPU_BOUND_SHARED:
        return (double)shared->wavefronts;
    case GPU_BOUND_ATOMICS:
        return (double)global->turns;
    case GPU_BOUND_LATENCY: /* a load keeps a warp longer than arithmetic does */
        return 1.8 * (double)(inst->warps * inst->code->slots) +
               250.0 * (double)(global->requests + local->requests) +
               30.0 * (double)shared->requests;
    default:
        break;
    }
    enum gpu_class class = inst->code->class;
    class = class == GPU_CLASS_COMPARE   ? GPU_CLASS_INTEGER
            : class == GPU_CLASS_CONVERT ? GPU_CLASS_SPECIAL
                                         : class; /* as the model has them */
    if (classes[bound])
        return class == classes[bound] ? (double)inst->warps : 0;
    return (double)(inst->warps * inst->code->slots);
}

static int hottest_first(const void *left, const void *right)
{
    const struct profile_line *a = left, *b = right;
    if (a->heat != b->heat)
        return a->heat < b->heat ? 1 : -1;
    if (a->issue != b->issue)
        return a->issue < b->issue ? 1 : -1;
    return a->line < b->line ? -1 : 1;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void sum_lines(struct profile *profile, struct profile_launch *launch)
{
    double issued = 0, traffic = 0, heat = 0;
    launch->line_count = 0;
    launch->lines =
        lk_arena_alloc(profile->arena, (launch->inst_count + 1) * sizeof(*launch->lines));
    for (unsigned i = 0; i < launch->inst_count; i++) {
        struct profile_inst *inst = &launch->insts[i];
        struct profile_line *line = &launch->lines[line_of(launch, inst->code)];
        uint64_t cost = inst->warps * inst->code->slots;
        double bound = weight(launch->model.bound, inst);
        line->warps += inst->warps;
        line->issued += cost;
        line->threads += inst->threads;
        line->on += inst->on;
        line->divergent += inst->divergent;
        line->waits += inst->waits;
        line->idle += inst->idle;
        line->heat += bound;
        heat += bound;
        issued += (double)cost;
        for (int space = 0; space < GPU_SPACES; space++)
            if (inst->memory[space]) {
                profile_add_memory(&line->memory[space], inst->memory[space]);
                line->traffic += (double)inst->memory[space]->l2_sectors;
                traffic += (double)inst->memory[space]->l2_sectors;
            }
    }
    for (unsigned i = 0; i < launch->line_count; i++) {
        struct profile_line *line = &launch->lines[i];
        line->issue = share((double)line->issued, issued);
        line->traffic = share(line->traffic, traffic);
        line->heat = heat > 0 ? line->heat / heat : line->issue;
    }
    qsort(launch->lines, launch->line_count, sizeof(*launch->lines), hottest_first);
    for (unsigned i = 0; i < launch->inst_count; i++)
        launch->insts[i].line = line_of(launch, launch->insts[i].code);
}

void profile_evaluate(struct profile *profile)
{
    for (unsigned i = 0; i < profile->launch_count; i++) {
        struct profile_launch *launch = profile->launches[i];
        launch->shape = (struct gpu_shape){
            .blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
            .threads = launch->block[0] * launch->block[1] * launch->block[2],
            .registers = launch->kernel->registers,
            .shared = (size_t)launch->kernel->static_shared + launch->dynamic_shared};
        gpu_model(launch->gpu, &launch->shape, &launch->counters, &launch->model);
        sum_lines(profile, launch);
    }
}

/* Of a kernel in Python, not of CUDA C in a string. */
static bool is_python_line(const struct profile_source *source, unsigned line)
{
    int told = 0;
    if (!source || !terms_is_python(source->path))
        return false;
    for (; line && !told; line--) {
        const char *text = profile_source_line(source, line);
        told = text ? terms_line_tells(text) : 0;
    }
    return told <= 0;
}

/* The hottest line may have no source: any line will do. */
bool profile_is_python(const struct profile_launch *launch)
{
    for (unsigned i = 0; i < launch->line_count; i++)
        if (is_python_line(launch->lines[i].source, launch->lines[i].line))
            return true;
    return false;
}

bool profile_same(const struct profile_launch *a, const struct profile_launch *b)
{
    return a->kernel == b->kernel && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           a->dynamic_shared == b->dynamic_shared && !a->fault && !b->fault;
}
