/*
 * advice.c: the table of rules, and what they share: what the model says of a changed launch.
 */
#include "report/advice.h"

#include <stdarg.h>
#include <stdlib.h>

static const struct {
    const char *name;
    advice_rule *find;
} rules[] = {
    {"none", NULL},
};

struct advice_change advice_start(const struct advice_context *context)
{
    return (struct advice_change){context->launch->counters, context->launch->shape};
}

double advice_gain(const struct advice_context *context, const struct advice_change *change)
{
    struct gpu_model then;
    gpu_model(context->launch->gpu, &change->shape, &change->counters, &then);
    return then.seconds > 0 ? context->launch->model.seconds / then.seconds : 1;
}

void advice_take(uint64_t *counter, double amount)
{
    if (amount > 0)
        *counter = (double)*counter > amount ? *counter - (uint64_t)amount : 0;
}

void advice_take_class(struct gpu_counters *counters, enum gpu_class class, double warps)
{
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
    advice_take(&counters->warp_instructions, warps);
}

void advice_say(struct advice_context *context, struct profile_source *source, unsigned line,
                double gain, const char *format, ...)
{
    if (gain < ADVICE_LEAST_GAIN)
        return;
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    if (context->count == context->capacity) {
        context->capacity = context->capacity ? 2 * context->capacity : 16;
        context->found = lk_realloc(context->found, context->capacity * sizeof(*context->found));
    }
    context->found[context->count++] =
        (struct advice){context->rule, source, line,
                        lk_arena_strndup(context->profile->arena, text.data, text.size), gain};
    lk_buf_free(&text);
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

static unsigned repeats_of(const struct profile *profile, const struct profile_launch *launch)
{
    unsigned repeats = 0;
    for (unsigned i = 0; i < profile->launch_count; i++)
        repeats += profile_same(profile->launches[i], launch);
    return repeats;
}

void advice_find(struct profile *profile)
{
    for (unsigned i = 0; i < profile->launch_count; i++) {
        struct profile_launch *launch = profile->launches[i];
        struct advice_context context = {.profile = profile, .launch = launch};
        if (launch->fault)
            continue; /* half a launch says little */
        context.repeats = repeats_of(profile, launch);
        for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
            context.rule = rules[k].name;
            if (rules[k].find)
                rules[k].find(&context);
        }
        if (context.count > 0)
            qsort(context.found, context.count, sizeof(*context.found), most_gain_first);
        launch->advice = lk_arena_dup(profile->arena, context.found ? (void *)context.found : "",
                                      context.count * sizeof(*context.found));
        launch->advice_count = context.count;
        free(context.found);
    }
}
