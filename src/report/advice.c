/*
 * advice.c: the table of rules, and what they share: what the model predicts for a changed launch.
 */
#include "report/advice.h"
#include "report/client_terms.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    advice_rule *find;
} rules[] = {
    {"uncoalesced", advice_uncoalesced},
    {"misaligned", advice_misaligned},
    {"redundant-loads", advice_redundant},
    {"narrow-loads", advice_narrow},
    {"local-memory", advice_spills},
    {"bank-conflicts", advice_bank_conflicts},
    {"contended-atomics", advice_atomics},
    {"divergence", advice_divergence},
    {"low-occupancy", advice_occupancy},
    {"few-blocks", advice_few_blocks},
    {"tail-wave", advice_tail},
    {"uneven-warps", advice_uneven},
    {"f64-by-accident", advice_f64},
    {"no-tensor-cores", advice_tensor},
    {"barrier-waits", advice_barriers},
    {"launch-bound", advice_launch},
};

struct advice_change advice_start(const struct advice_context *context)
{
    return (struct advice_change){context->launch->counters, context->launch->shape};
}

/* Sectors that are no longer touched are often those that a cache would have served, and the model
 * would take the rest for slower loads. Less to load never makes a kernel slower. */
static double without_longer_waits(const struct gpu_model *now, const struct gpu_model *then)
{
    double before = now->parts[GPU_BOUND_LATENCY], after = then->parts[GPU_BOUND_LATENCY];
    double start = then->parts[GPU_BOUND_LAUNCH], work = then->seconds - start;
    if (after <= before || work < after)
        return then->seconds;
    return start + sqrt(work * work - after * after + before * before);
}

double advice_gain(const struct advice_context *context, const struct advice_change *change)
{
    const struct profile_launch *launch = context->launch;
    struct gpu_counters counters = change->counters;
    struct gpu_model then;
    double before = gpu_mean_warp(&launch->shape, &launch->counters);
    double part = before > 0 ? gpu_mean_warp(&change->shape, &counters) / before : 1;
    /* The longest warp, and the busiest SM, stay as much longer than the others as they were. */
    counters.longest_warp = (uint64_t)((double)counters.longest_warp * part);
    counters.dealt_cycles = (uint64_t)((double)counters.dealt_cycles * part);
    counters.even_cycles = (uint64_t)((double)counters.even_cycles * part);
    gpu_model(launch->gpu, &change->shape, &counters, &then);
    bool same_shape = change->shape.blocks == launch->shape.blocks &&
                      change->shape.threads == launch->shape.threads;
    double seconds = same_shape ? without_longer_waits(&launch->model, &then) : then.seconds;
    return seconds > 0 ? launch->model.seconds / seconds : 1;
}

void advice_take(uint64_t *counter, double amount)
{
    if (amount > 0)
        *counter = (double)*counter > amount ? *counter - (uint64_t)amount : 0;
}

void advice_take_inst(struct gpu_counters *counters, const struct profile_code *code, double warps)
{
    enum gpu_class class = code->class;
    uint64_t *const by_class[GPU_CLASS_COUNT] = {
        [GPU_CLASS_INTEGER] = &counters->integer_warps,
        [GPU_CLASS_COMPARE] = &counters->integer_warps,
        [GPU_CLASS_F32] = &counters->f32_warps,
        [GPU_CLASS_F64] = &counters->f64_warps,
        [GPU_CLASS_F16] = &counters->f16_warps,
        [GPU_CLASS_SPECIAL] = &counters->special_warps,
        [GPU_CLASS_CONVERT] = &counters->convert_warps,
        [GPU_CLASS_TENSOR] = &counters->tensor_warps,
        [GPU_CLASS_MOVE] = &counters->free_warps,
        [GPU_CLASS_PARAM] = &counters->free_warps,
    };
    if (by_class[class])
        advice_take(by_class[class], warps);
    if ((class == GPU_CLASS_INTEGER || class == GPU_CLASS_COMPARE) &&
        code->traits & GPU_TRAIT_PRODUCT)
        advice_take(&counters->integer_mul_warps, warps); /* as watch/count_sum.c has it */
    advice_take(&counters->warp_instructions, warps);
    double slots = warps * code->slots, all = (double)counters->issue_slots;
    advice_take(&counters->issue_slots, slots);
    advice_take(&counters->chain_cycles,
                all > 0 ? slots / all * (double)counters->chain_cycles : 0);
    advice_take(&counters->load_phases, warps * code->load_phases);
    advice_take(&counters->shared_phases, warps * code->shared_phases);
}

struct advice_sum *advice_sums(const struct advice_context *context, enum gpu_space space,
                               unsigned kinds)
{
    return advice_sums_of(context, space, kinds, NULL);
}

struct advice_sum *advice_sums_of(const struct advice_context *context, enum gpu_space space,
                                  unsigned kinds, advice_wanted *wanted)
{
    const struct profile_launch *launch = context->launch;
    struct advice_sum *sums = lk_alloc_zeroed((launch->line_count + 1) * sizeof(*sums));
    for (unsigned i = 0; i < launch->inst_count; i++) {
        const struct profile_inst *inst = &launch->insts[i];
        struct advice_sum *sum = &sums[inst->line];
        if (!inst->memory[space] || !(kinds >> inst->code->kind & 1) ||
            (wanted && !wanted(inst->memory[space])))
            continue;
        profile_add_memory(&sum->memory, inst->memory[space]);
        sum->warps += inst->warps;
        sum->threads += inst->on;
        sum->bytes = inst->code->bytes > sum->bytes ? inst->code->bytes : sum->bytes;
        sum->repeated = sum->repeated || (double)inst->warps > 1.5 * context->warps;
    }
    return sums;
}

struct advice_sum advice_total(const struct advice_context *context, const struct advice_sum *sums,
                               unsigned *most)
{
    struct advice_sum total = {0};
    *most = 0;
    for (unsigned i = 0; i < context->launch->line_count; i++) {
        profile_add_memory(&total.memory, &sums[i].memory);
        total.warps += sums[i].warps;
        total.threads += sums[i].threads;
        total.bytes = sums[i].bytes > total.bytes ? sums[i].bytes : total.bytes;
        if (sums[i].memory.wavefronts > sums[*most].memory.wavefronts)
            *most = i;
    }
    return total;
}

static enum terms_client advice_client(const struct advice_context *context)
{
    return terms_client(profile_is_python(context->launch), context->launch->kernel->mangled);
}

static void add(struct advice_context *context, struct profile_source *source, unsigned line,
                double gain, const char *format, va_list arguments)
{
    struct lk_buf text = {0}, changed = {0};
    lk_buf_vprintf(&text, format, arguments);
    const char *told = terms_of(advice_client(context), text.data, &changed);
    if (context->count == context->capacity) {
        context->capacity = context->capacity ? 2 * context->capacity : 16;
        context->found = lk_realloc(context->found, context->capacity * sizeof(*context->found));
    }
    context->found[context->count++] =
        (struct advice){context->rule, source, line,
                        lk_arena_strndup(context->profile->arena, told, strlen(told)), gain};
    lk_buf_free(&text);
    lk_buf_free(&changed);
}

void advice_say(struct advice_context *context, struct profile_source *source, unsigned line,
                double gain, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (gain >= ADVICE_LEAST_GAIN)
        add(context, source, line, gain, format, arguments);
    va_end(arguments);
}

void advice_note(struct advice_context *context, struct profile_source *source, unsigned line,
                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(context, source, line, 1, format, arguments);
    va_end(arguments);
}

bool advice_is_triton(const struct advice_context *context)
{
    return advice_client(context) == TERMS_TRITON;
}

const struct profile_code *advice_kernel_place(const struct advice_context *context)
{
    static const struct profile_code nowhere;
    const struct profile_kernel *kernel = context->launch->kernel;
    const struct profile_code *best = &nowhere;
    for (unsigned i = 0; i < kernel->code_count; i++) {
        const struct profile_code *code = &kernel->code[i];
        if (!code->source || !code->line)
            continue;
        if (!best->source || (code->source == best->source && code->line < best->line))
            best = code;
    }
    return best;
}

static int most_gain_first(const void *left, const void *right)
{
    const struct advice *a = left, *b = right;
    if (a->gain != b->gain)
        return a->gain < b->gain ? 1 : -1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool is_rewrite(const struct advice *advice)
{
    return strcmp(advice->rule, "redundant-loads") == 0 ||
           strcmp(advice->rule, "no-tensor-cores") == 0;
}

/* Two indices are swapped before a line is rewritten with tiles: it is less work, and what remains
 * to gain is seen only then. */
static void put_swaps_first(struct advice *found, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        unsigned to = i;
        if (strcmp(found[i].rule, "uncoalesced") != 0)
            continue;
        for (unsigned j = 0; j < i && to == i; j++)
            if (is_rewrite(&found[j]) && found[j].source == found[i].source &&
                found[j].line == found[i].line)
                to = j;
        struct advice swap = found[i];
        memmove(&found[to + 1], &found[to], (i - to) * sizeof *found);
        found[to] = swap;
    }
}

/* Launches of the same kernel in the same shape, and one of those before with the same counters:
 * it has the same advice. */
static unsigned repeats_of(const struct profile *profile, unsigned index,
                           const struct profile_launch **twin)
{
    const struct profile_launch *launch = profile->launches[index];
    unsigned repeats = 0;
    *twin = NULL;
    for (unsigned i = 0; i < profile->launch_count; i++) {
        const struct profile_launch *other = profile->launches[i];
        if (!profile_same(other, launch))
            continue;
        repeats++;
        if (i < index &&
            memcmp(&other->counters, &launch->counters, sizeof launch->counters) == 0) {
            *twin = other;
            break;
        }
    }
    return repeats;
}

static void find_for(struct profile *profile, unsigned index)
{
    struct profile_launch *launch = profile->launches[index];
    struct advice_context context = {.profile = profile, .launch = launch};
    const struct profile_launch *twin;
    context.repeats = repeats_of(profile, index, &twin);
    if (twin) {
        launch->advice = twin->advice;
        launch->advice_count = twin->advice_count;
        return;
    }
    unsigned warps_per_block = (launch->shape.threads + 31) / 32;
    context.warps = (double)launch->shape.blocks * warps_per_block;
    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
        context.rule = rules[k].name;
        rules[k].find(&context);
    }
    if (context.count > 0)
        qsort(context.found, context.count, sizeof(*context.found), most_gain_first);
    put_swaps_first(context.found, context.count);
    launch->advice = lk_arena_dup(profile->arena, context.found ? (void *)context.found : "",
                                  context.count * sizeof(*context.found));
    launch->advice_count = context.count;
    free(context.found);
}

void advice_find(struct profile *profile)
{
    for (unsigned i = 0; i < profile->launch_count; i++)
        if (!profile->launches[i]->fault) /* half a launch proves little */
            find_for(profile, i);
}
