/*
 * formulas.c: finds an expression for every number of a variant's launches; see formulas.h. Samples
 * are added in groups: first one for each size; numbers that no expression is found for stay as
 * they are, and the others are challenged with many more sizes. Then one for each tunable and for
 * the GPU; such a group is dropped again where it leaves a number without expression.
 */
#include "export/formulas.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fitting ---------------------------------------------------------------------------------------*/

static bool is_right(const struct export_formulas *formulas, unsigned slot)
{
    const struct export_samples *samples = &formulas->samples;
    for (unsigned s = 0; s < samples->fit.sample_count; s++)
        if (export_value(&samples->fit, &formulas->expression[slot], s) != samples->value[slot][s])
            return false;
    return true;
}

/* The elements of a buffer are counted before anything else is known. */
static bool fit_slot(struct export_formulas *formulas, unsigned slot)
{
    const struct export_samples *samples = &formulas->samples;
    return formulas->pinned[slot] || is_right(formulas, slot) ||
           export_fit(&samples->fit, samples->value[slot],
                      slot >= samples->buffers ? EXPORT_FIT_SIZES : EXPORT_FIT_ALL,
                      &formulas->expression[slot]);
}

static double common_divisor(double a, double b)
{
    while (b > 0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return a;
}

/* What lies behind a number that is 8 * ceil_div(n, BLOCK) + 16: the division gets a name. */
static void name_part_of(struct export_formulas *formulas, unsigned slot)
{
    struct export_fit *fit = &formulas->samples.fit;
    const double *value = formulas->samples.value[slot];
    double step = 0, part[EXPORT_SAMPLES];
    for (unsigned s = 1; s < fit->sample_count; s++)
        step = common_divisor(step, fabs(value[s] - value[0]));
    if (step == 0)
        return;
    for (double rest = fmod(value[0], step), end = rest + 3 * step; rest < end; rest += step) {
        struct export_expression expression;
        bool positive = true;
        for (unsigned s = 0; s < fit->sample_count; s++) {
            part[s] = (value[s] - rest) / step;
            positive &= part[s] > 0;
        }
        if (positive && export_fit(fit, part, EXPORT_FIT_ALL, &expression) &&
            expression.form > EXPORT_SUM) {
            export_name(fit, &expression);
            return;
        }
    }
}

/* All slots; what is right already stays. Later rounds may use the names of earlier ones. */
static bool fit_all(struct export_formulas *formulas)
{
    struct export_fit *fit = &formulas->samples.fit;
    unsigned missing = 0;
    export_set_named(fit);
    for (unsigned round = 0; round < 4; round++) {
        unsigned known = fit->atom_count;
        missing = 0;
        for (unsigned i = 0; i < formulas->samples.slot_count; i++)
            if (!fit_slot(formulas, i))
                missing++;
            else if (formulas->expression[i].form > EXPORT_SUM)
                export_name(fit, &formulas->expression[i]);
        for (unsigned i = 0; i < formulas->samples.workspace + 1 && missing; i++)
            if (!formulas->pinned[i] && !is_right(formulas, i))
                name_part_of(formulas, i);
        if (!missing || fit->atom_count == known)
            break;
    }
    return missing == 0;
}

/* What no expression is found for stays the number that it is, and so does the size. */
static void pin_missing(struct export_formulas *formulas, unsigned parameter)
{
    for (unsigned i = 0; i < formulas->samples.slot_count; i++)
        if (!formulas->pinned[i] && !is_right(formulas, i)) {
            formulas->expression[i] =
                (struct export_expression){.a = {.factor = formulas->samples.value[i][0]}};
            formulas->pinned[i] = formulas->fixed[parameter] = true;
        }
}

/* What fitting changes. */
struct state {
    struct export_fit fit;
    struct export_expression expression[EXPORT_SLOTS];
};

static struct state *save(const struct export_formulas *formulas)
{
    struct state *state = lk_alloc(sizeof *state);
    state->fit = formulas->samples.fit;
    memcpy(state->expression, formulas->expression, sizeof state->expression);
    return state;
}

static void restore(struct export_formulas *formulas, struct state *state)
{
    formulas->samples.fit = state->fit;
    memcpy(formulas->expression, state->expression, sizeof state->expression);
}

/* Sizes -----------------------------------------------------------------------------------------*/

/* Multiples keep alignment as it is; other sizes show what does not divide evenly. */
static int64_t other_size(int64_t size, unsigned number)
{
    const int64_t sizes[] = {2 * size, 3 * size + 4, 5 * size,      16 * size + 4, 61 * size,
                             size / 2, size + 1,     16 * size + 5, size / 2 + 3,  0};
    return sizes[number];
}

/* How the other sizes change with one: not at all, each in its way, all alike. */
enum together { ALONE, MIXED, ALIKE };

static enum export_added try_size(struct export_formulas *formulas, unsigned parameter,
                                  int64_t size, enum together together, unsigned number)
{
    struct export_samples *samples = &formulas->samples;
    const int64_t *exported = samples->setting.problem.value;
    struct export_setting setting = samples->setting;
    for (unsigned i = 0; setting.problem.family->parameters[i].name; i++)
        if (i != parameter && samples->is_size[i]) {
            if (together == MIXED && i < parameter)
                setting.problem.value[i] = other_size(exported[i], (number + 3 * i + 1) % 5);
            if (together == ALIKE)
                setting.problem.value[i] =
                    (int64_t)((double)exported[i] * (double)size / (double)exported[parameter]);
        }
    setting.problem.value[parameter] = size;
    enum export_added added = export_add_sample(samples, &setting);
    if (added == EXPORT_OTHER && together == ALONE)
        formulas->fixed[parameter] = true;
    for (unsigned i = 0; added == EXPORT_ADDED && together == ALONE && i < samples->slot_count; i++)
        if (formulas->pinned[i] &&
            samples->value[i][samples->fit.sample_count - 1] != samples->value[i][0])
            formulas->fixed[parameter] = true;
    return added;
}

/* One more sample, kept only if an expression is wrong there; false if one was. */
static bool challenge_with(struct export_formulas *formulas, unsigned parameter, int64_t size)
{
    struct export_samples *samples = &formulas->samples;
    int64_t exported = samples->setting.problem.value[parameter];
    if (size < 1 || size < exported / 8 || size > 64 * exported || size == exported)
        return true;
    enum export_added added = try_size(formulas, parameter, size, ALONE, 0);
    if (added == EXPORT_IMPOSSIBLE) /* perhaps sizes hang together */
        added = try_size(formulas, parameter, size, ALIKE, 0);
    if (added != EXPORT_ADDED)
        return true;
    export_set_named(&samples->fit);
    for (unsigned i = 0; i < samples->slot_count; i++)
        if (!formulas->pinned[i] && !is_right(formulas, i))
            return false;
    samples->fit.sample_count--;
    return true;
}

/* Where ceil_div steps, and a number of sizes of every magnitude. */
static bool challenge(struct export_formulas *formulas, unsigned parameter)
{
    struct export_fit *fit = &formulas->samples.fit;
    static const int64_t steps[] = {1, 2, 7, 64, 255, 256, 257, 1024};
    double size = (double)formulas->samples.setting.problem.value[parameter];
    for (unsigned i = 0; i < 24; i++)
        if (!challenge_with(formulas, parameter,
                            (int64_t)(size / 8 * pow(2, i * 9 / 24.0)) + (i % 3 ? 4 * i : i)))
            return false;
    for (unsigned i = fit->named; i < fit->atom_count; i++) {
        double piece = export_piece(fit, i);
        for (unsigned k = 0; k < 8; k++)
            for (int64_t off = -1; off <= 1; off++)
                if (!challenge_with(formulas, parameter, (int64_t)piece * steps[k] + off))
                    return false;
    }
    return true;
}

/* Until no challenge by one of the first `sizes` parameters finds a wrong expression. False if one
 * is missing then. */
static bool prove(struct export_formulas *formulas, unsigned sizes)
{
    const struct zoo_parameter *parameter = formulas->samples.setting.problem.family->parameters;
    for (unsigned round = 0; round < 40; round++) {
        bool right = true;
        for (unsigned i = 0; i < sizes && parameter[i].name && right; i++)
            right = !formulas->samples.is_size[i] || challenge(formulas, i);
        if (right)
            return true;
        if (!fit_all(formulas))
            return false;
    }
    return false;
}

/* Does the variant refuse the next size, as one that takes multiples of 8 does? */
static bool is_picky(const struct export_formulas *formulas, unsigned parameter)
{
    struct zoo_problem next = formulas->samples.setting.problem;
    next.value[parameter]++;
    return !zoo_takes(formulas->samples.request->variant, &next);
}

/* Expressions for other values of one size. */
static void free_size(struct export_formulas *formulas, unsigned parameter)
{
    int64_t size = formulas->samples.setting.problem.value[parameter];
    bool any = false;
    for (unsigned number = 0; other_size(1, number); number++)
        for (int together = ALONE; together <= ALIKE; together++)
            any |= try_size(formulas, parameter, other_size(size, number), (enum together)together,
                            number) == EXPORT_ADDED &&
                   together == ALONE;
    formulas->fixed[parameter] |= !any || is_picky(formulas, parameter);
    fit_all(formulas);
    pin_missing(formulas, parameter);
    for (unsigned round = 0; round < 8 && !prove(formulas, parameter + 1); round++) {
        formulas->fixed[parameter] = true;
        pin_missing(formulas, parameter);
    }
}

/* Tunables and GPUs -----------------------------------------------------------------------------*/

/* With the exported sizes; and with small ones, and some that are large enough for every limit. */
static void add_sizes(struct export_formulas *formulas, struct export_setting setting,
                      unsigned other_sizes)
{
    static const unsigned large[] = {4, 3, 2}; /* 61 times, 16, 5 */
    struct export_samples *samples = &formulas->samples;
    const int64_t *exported = samples->setting.problem.value;
    export_add_sample(samples, &setting);
    for (unsigned i = 0; setting.problem.family->parameters[i].name && other_sizes; i++) {
        if (!samples->is_size[i])
            continue;
        setting.problem.value[i] = exported[i] / 8 + 4;
        export_add_sample(samples, &setting);
        for (unsigned k = 0; k < 3; k++) {
            setting.problem.value[i] = other_size(exported[i], large[k]);
            if (export_add_sample(samples, &setting) == EXPORT_ADDED)
                break;
        }
        setting.problem.value[i] = exported[i];
        other_sizes--;
    }
}

/* A group of settings. They are tried with other sizes too; where sizes and settings together do
 * what no expression is found for, with fewer of them. */
static void free_group(struct export_formulas *formulas, const struct export_setting *settings,
                       unsigned count)
{
    static const unsigned other_sizes[] = {ZOO_PARAMETERS, 1, 0};
    struct state *before = save(formulas);
    bool fine = false;
    for (unsigned i = 0; i < 3 && !fine; i++) {
        for (unsigned k = 0; k < count; k++)
            add_sizes(formulas, settings[k], other_sizes[i]);
        fine = fit_all(formulas) && prove(formulas, ZOO_PARAMETERS);
        if (!fine)
            restore(formulas, before);
    }
    free(before);
}

static void free_tunable(struct export_formulas *formulas, unsigned number)
{
    const struct zoo_tunable *tunable = &formulas->samples.source->tunables[number];
    struct export_setting settings[12];
    unsigned count = 0;
    for (unsigned i = 0; i < tunable->choice_count; i++)
        if (tunable->choices[i] != formulas->samples.setting.tuning.value[number]) {
            settings[count] = formulas->samples.setting;
            settings[count++].tuning.value[number] = tunable->choices[i];
        }
    free_group(formulas, settings, count);
}

/* Which GPUs there are does not matter here: any numbers will do. */
static void free_device(struct export_formulas *formulas)
{
    static const int sms[] = {7, 108, 1000};
    struct export_setting settings[4];
    for (unsigned i = 0; i < 3; i++) {
        settings[i] = formulas->samples.setting;
        settings[i].device.sm_count = sms[i];
    }
    free_group(formulas, settings, 3);
    for (unsigned i = 0; i < 4; i++) {
        settings[i] = formulas->samples.setting;
        settings[i].device.threads_per_sm = (int)(1024 + 512 * i);
        for (unsigned k = 0; k < EXPORT_STEPS; k++)
            settings[i].resident[k] = 1 + (k + 3 * i) % 16;
    }
    free_group(formulas, settings, 4);
}

/* All together ----------------------------------------------------------------------------------*/

/* Once more with all samples, without the names of intermediate steps; if that finds less, what was
 * found before stays. */
static void tidy(struct export_formulas *formulas)
{
    struct state *before = save(formulas);
    for (unsigned i = 0; i < formulas->samples.slot_count; i++)
        if (!formulas->pinned[i])
            formulas->expression[i] = (struct export_expression){0};
    formulas->samples.fit.atom_count = formulas->samples.fit.named;
    if (!fit_all(formulas) || !prove(formulas, ZOO_PARAMETERS))
        restore(formulas, before);
    free(before);
}

/* Some families call one of their sizes "blocks". */
static bool is_taken(const struct export_fit *fit, const char *name)
{
    for (unsigned i = 0; i < fit->named; i++)
        if (strcmp(fit->atom[i].name, name) == 0)
            return true;
    return false;
}

static void mark_used(struct export_formulas *formulas)
{
    struct export_fit *fit = &formulas->samples.fit;
    unsigned number = 0;
    for (unsigned i = 0; i < formulas->samples.slot_count; i++)
        export_mark(fit, &formulas->expression[i], formulas->used);
    for (unsigned i = fit->named; i < fit->atom_count; i++)
        if (formulas->used[i])
            do
                snprintf(fit->atom[i].name, sizeof fit->atom[i].name,
                         number > 0 ? "blocks_%u" : "blocks", number + 1);
            while (number++, is_taken(fit, fit->atom[i].name));
}

bool export_formulas_open(struct export_formulas *formulas, const struct export_request *request,
                          const struct zoo_tuning *tuning, const struct ptx_module *ptx,
                          const char *kernels, char **message)
{
    const struct zoo_family *family = request->problem.family;
    memset(formulas, 0, sizeof *formulas);
    if (!export_samples_open(&formulas->samples, request, tuning, ptx, kernels, message))
        return false;
    fit_all(formulas);
    for (unsigned i = 0; family->parameters[i].name; i++)
        if (formulas->samples.is_size[i])
            free_size(formulas, i);
    for (unsigned i = 0; i < formulas->samples.source->written_count; i++)
        free_tunable(formulas, i);
    free_device(formulas);
    tidy(formulas);
    mark_used(formulas);
    return true;
}

void export_formulas_close(struct export_formulas *formulas)
{
    export_samples_close(&formulas->samples);
}
