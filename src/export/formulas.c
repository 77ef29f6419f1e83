/*
 * formulas.c: records samples and fits expressions; see formulas.h. Samples come in groups: one for
 * each size, each tunable and each property of the GPU. A group that no expressions are found for
 * is dropped, and what depends on it stays a number.
 */
#include "export/formulas.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
    const struct export_request *request;
    const struct ptx_module *ptx;
    struct zoo_tuning tuning;
    const struct zoo_source *source;
    struct export_formulas *formulas;
    double (*value)[EXPORT_SAMPLES]; /* [slot][sample] */
};

/* A problem on a GPU with tunables. */
struct setting {
    struct zoo_problem problem;
    struct zoo_tuning tuning;
    struct zoo_device device;
    unsigned resident[EXPORT_STEPS];
};

/* Samples ---------------------------------------------------------------------------------------*/

static struct export_atom *add_atom(struct export_fit *fit, enum export_atom_kind kind,
                                    const char *name)
{
    if (fit->atom_count == EXPORT_ATOMS)
        return NULL;
    struct export_atom *atom = &fit->atom[fit->atom_count++];
    atom->kind = kind;
    snprintf(atom->name, sizeof atom->name, "%s", name);
    return atom;
}

static void add_sum(struct export_fit *fit, unsigned a, unsigned b)
{
    char name[96];
    snprintf(name, sizeof name, "(%s + %s)", fit->atom[a].name, fit->atom[b].name);
    if (strlen(name) < sizeof fit->atom[0].name)
        add_atom(fit, fit->atom[a].kind == EXPORT_SIZE ? EXPORT_SIZE_SUM : EXPORT_TUNABLE_SUM,
                 name);
}

/* The names, in the order in which set_atoms gives their values. */
static void add_atoms(struct work *work, const struct export_pieces *pieces)
{
    struct export_fit *fit = &work->formulas->fit;
    char name[24];
    for (unsigned i = 0; i < pieces->constant_count; i++)
        add_atom(fit, EXPORT_SIZE, pieces->constant[i].name);
    for (unsigned i = 0; i < work->source->tunable_count; i++)
        add_atom(fit, EXPORT_TUNABLE, work->source->tunables[i].name);
    add_atom(fit, EXPORT_DEVICE, "sms");
    add_atom(fit, EXPORT_DEVICE, "threads_per_sm");
    for (unsigned i = 0; i < work->formulas->base.resident_count && i < 4; i++) {
        snprintf(name, sizeof name, i ? "resident_%u" : "resident", i + 1);
        add_atom(fit, EXPORT_DEVICE, name);
    }
    for (unsigned a = 0, count = fit->atom_count; a < count; a++)
        for (unsigned b = a + 1; b < count; b++)
            if (fit->atom[a].kind == fit->atom[b].kind && fit->atom[a].kind != EXPORT_DEVICE)
                add_sum(fit, a, b);
    work->formulas->named = fit->atom_count;
}

static void set_atoms(const struct work *work, const struct setting *setting,
                      const struct export_pieces *pieces, unsigned sample)
{
    struct export_fit *fit = &work->formulas->fit;
    unsigned at = 0, plain;
    for (unsigned i = 0; i < pieces->constant_count; i++)
        fit->atom[at++].value[sample] = pieces->constant[i].value;
    for (unsigned i = 0; i < work->source->tunable_count; i++)
        fit->atom[at++].value[sample] = setting->tuning.value[i];
    fit->atom[at++].value[sample] = setting->device.sm_count;
    fit->atom[at++].value[sample] = setting->device.threads_per_sm;
    for (unsigned i = 0; i < work->formulas->base.resident_count && i < 4; i++)
        fit->atom[at++].value[sample] = setting->resident[i];
    plain = at;
    for (unsigned a = 0; a < plain; a++)
        for (unsigned b = a + 1; b < plain; b++)
            if (at < work->formulas->named && fit->atom[a].kind == fit->atom[b].kind &&
                fit->atom[a].kind != EXPORT_DEVICE)
                fit->atom[at++].value[sample] =
                    fit->atom[a].value[sample] + fit->atom[b].value[sample];
}

static void set_values(const struct work *work, const struct setting *setting,
                       const struct export_recording *recording, unsigned sample)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    const struct export_formulas *formulas = work->formulas;
    unsigned count = setting->problem.family->shape(&setting->problem, buffers);
    for (unsigned i = 0; i < recording->number_count; i++)
        work->value[i][sample] = recording->number[i];
    work->value[formulas->workspace][sample] = (double)recording->workspace_bytes;
    for (unsigned i = 0; i < count; i++)
        work->value[formulas->buffers + i][sample] = (double)buffers[i].count;
}

/* One more sample; false if the variant does something else there, or nothing. */
static bool add_sample(const struct work *work, const struct setting *setting)
{
    struct export_fit *fit = &work->formulas->fit;
    struct export_recording *recording = lk_alloc(sizeof *recording);
    struct export_pieces pieces = {0};
    char *message = NULL;
    bool fine =
        fit->sample_count < EXPORT_SAMPLES &&
        zoo_takes(work->request->variant, &setting->problem) &&
        zoo_fits(&setting->device, work->request->variant, &setting->tuning, &setting->problem) &&
        export_record(&setting->device, &setting->problem, work->request->variant, &setting->tuning,
                      work->ptx, setting->resident, recording, &message) &&
        export_same_steps(recording, &work->formulas->base) &&
        export_pieces(&setting->problem, &pieces, &message);
    if (fine) {
        set_atoms(work, setting, &pieces, fit->sample_count);
        set_values(work, setting, recording, fit->sample_count);
        fit->sample_count++;
    }
    export_pieces_free(&pieces);
    free(recording);
    free(message);
    return fine;
}

static struct setting base_setting(const struct work *work)
{
    struct setting setting = {.problem = work->request->problem,
                              .tuning = work->tuning,
                              .device = *work->request->device};
    memcpy(setting.resident, work->formulas->base.resident, sizeof setting.resident);
    return setting;
}

/* Fitting ---------------------------------------------------------------------------------------*/

static bool still_right(const struct work *work, unsigned slot)
{
    const struct export_fit *fit = &work->formulas->fit;
    for (unsigned s = 0; s < fit->sample_count; s++)
        if (export_value(fit, &work->formulas->expression[slot], s) != work->value[slot][s])
            return false;
    return true;
}

static bool same_expression(const struct export_fit *fit, const struct export_expression *a,
                            const struct export_expression *b)
{
    struct lk_buf of_a = {0}, of_b = {0};
    export_print(fit, a, &of_a);
    export_print(fit, b, &of_b);
    bool same = strcmp(of_a.data, of_b.data) == 0;
    lk_buf_free(&of_a);
    lk_buf_free(&of_b);
    return same;
}

int export_name_of(const struct export_formulas *formulas, const struct export_expression *wanted)
{
    for (unsigned i = formulas->named; i < formulas->fit.atom_count; i++)
        if (same_expression(&formulas->fit, &formulas->meaning[i], wanted))
            return (int)i;
    return -1;
}

static void set_named(struct export_formulas *formulas, unsigned atom)
{
    struct export_fit *fit = &formulas->fit;
    for (unsigned s = 0; s < fit->sample_count; s++)
        fit->atom[atom].value[s] = export_value(fit, &formulas->meaning[atom], s);
}

/* Expressions that divide up get a name, which others may use. */
static void name_expression(struct export_formulas *formulas,
                            const struct export_expression *expression)
{
    struct export_fit *fit = &formulas->fit;
    char name[24];
    if (expression->form == EXPORT_TERM || export_name_of(formulas, expression) >= 0)
        return;
    snprintf(name, sizeof name, "blocks_%u", fit->atom_count);
    struct export_atom *atom = add_atom(fit, EXPORT_SIZE, name);
    if (!atom)
        return;
    formulas->meaning[atom - fit->atom] = *expression;
    set_named(formulas, (unsigned)(atom - fit->atom));
}

/* All numbers; what is still right stays. Twice more with the names that came up. */
static bool fit_all(struct work *work)
{
    struct export_formulas *formulas = work->formulas;
    struct export_fit *fit = &formulas->fit;
    unsigned missing = 0;
    for (unsigned i = formulas->named; i < fit->atom_count; i++)
        set_named(formulas, i);
    for (unsigned round = 0; round < 3; round++) {
        unsigned known = fit->atom_count;
        missing = 0;
        for (unsigned i = 0; i < formulas->slot_count; i++)
            if (still_right(work, i) || export_fit(fit, work->value[i], &formulas->expression[i]))
                name_expression(formulas, &formulas->expression[i]);
            else
                missing++;
        if (!missing || fit->atom_count == known)
            break;
    }
    return missing == 0;
}

/* Keeps the samples from `first` on if expressions are found for them too. */
static bool settle(struct work *work, unsigned first)
{
    struct export_formulas *formulas = work->formulas;
    struct export_formulas *before = lk_alloc(sizeof *before);
    bool fine = formulas->fit.sample_count > first;
    *before = *formulas;
    if (fine && !fit_all(work)) {
        *formulas = *before;
        formulas->fit.sample_count = first;
        fine = false;
    }
    free(before);
    return fine;
}

/* Groups of samples -----------------------------------------------------------------------------*/

/* Multiples keep what hangs on alignment as it is; others show what does not divide evenly. */
static int64_t other_size(int64_t size, unsigned number)
{
    const int64_t sizes[] = {2 * size,      3 * size + 4, 5 * size,      16 * size + 4,
                             61 * size,     size / 2,     size / 4,      size + 1,
                             16 * size + 5, size / 2 + 3, size / 16 + 1, 0};
    return sizes[number];
}

static bool is_size(const struct work *work, unsigned parameter)
{
    const struct zoo_parameter *p = &work->request->problem.family->parameters[parameter];
    struct export_pieces here = {0}, there = {0};
    struct zoo_problem other = work->request->problem;
    char *message = NULL;
    bool differs = false;
    other.value[parameter] =
        other.value[parameter] < p->most ? other.value[parameter] + 1 : other.value[parameter] - 1;
    if (!p->words && !p->scalar && export_pieces(&work->request->problem, &here, &message) &&
        export_pieces(&other, &there, &message))
        for (unsigned i = 0; i < here.constant_count; i++)
            differs |= here.constant[i].value != there.constant[i].value;
    export_pieces_free(&here);
    export_pieces_free(&there);
    free(message);
    return differs;
}

/* Other values of one size, alone and with all others changed too. */
static void try_size(struct work *work, unsigned parameter)
{
    const struct zoo_parameter *all = work->request->problem.family->parameters;
    unsigned first = work->formulas->fit.sample_count;
    for (unsigned number = 0; other_size(1, number); number++)
        for (int together = 0; together < 2; together++) {
            struct setting setting = base_setting(work);
            int64_t *value = setting.problem.value;
            value[parameter] = other_size(value[parameter], number);
            for (unsigned i = 0; together && i < parameter; i++)
                if (is_size(work, i))
                    value[i] = other_size(value[i], (number + 3 * i) % 5);
            bool possible = true;
            for (unsigned i = 0; all[i].name; i++)
                possible &= all[i].scalar || (value[i] >= all[i].least && value[i] <= all[i].most);
            if (possible && !add_sample(work, &setting) &&
                zoo_takes(work->request->variant, &setting.problem))
                work->formulas->fixed = true;
        }
    if (!settle(work, first))
        work->formulas->fixed = true;
}

static void try_tunable(struct work *work, unsigned number)
{
    const struct zoo_tunable *tunable = &work->source->tunables[number];
    unsigned first = work->formulas->fit.sample_count;
    for (unsigned i = 0; i < tunable->choice_count; i++) {
        struct setting setting = base_setting(work);
        if (setting.tuning.value[number] == tunable->choices[i])
            continue;
        setting.tuning.value[number] = tunable->choices[i];
        add_sample(work, &setting);
    }
    settle(work, first);
}

static void try_device(struct work *work)
{
    static const int others[] = {7, 108, 1000};
    unsigned first = work->formulas->fit.sample_count;
    for (unsigned i = 0; i < 3; i++) {
        struct setting setting = base_setting(work);
        setting.device.sm_count = others[i];
        add_sample(work, &setting);
    }
    settle(work, first);
    first = work->formulas->fit.sample_count;
    for (unsigned i = 0; i < 3; i++) {
        struct setting setting = base_setting(work);
        setting.device.threads_per_sm = (int)(1024 + 512 * i);
        for (unsigned k = 0; k < EXPORT_STEPS; k++)
            setting.resident[k] = 1 + (k + 3 * i) % 16;
        add_sample(work, &setting);
    }
    settle(work, first);
}

/* Names ----------------------------------------------------------------------------------------*/

static void mark_used(struct export_formulas *formulas, const struct export_expression *expression,
                      bool *used)
{
    const struct export_term *terms[] = {&expression->a, &expression->b, &expression->c,
                                         &expression->d};
    for (unsigned t = 0; t < 4; t++)
        for (unsigned i = 0; i < terms[t]->over_count; i++) {
            unsigned atom = terms[t]->over[i];
            used[atom] = true;
            if (atom >= formulas->named)
                mark_used(formulas, &formulas->meaning[atom], used);
        }
    for (unsigned t = 0; t < 4; t++)
        for (unsigned i = 0; i < terms[t]->under_count; i++)
            used[terms[t]->under[i]] = true;
    int name = export_name_of(formulas, expression);
    if (name >= 0)
        used[name] = true;
}

/* Names that nothing uses go; the others are numbered. */
static void name_all(struct export_formulas *formulas)
{
    unsigned number = 0;
    for (unsigned i = 0; i < formulas->slot_count; i++)
        mark_used(formulas, &formulas->expression[i], formulas->used);
    for (unsigned i = formulas->named; i < formulas->fit.atom_count; i++)
        if (formulas->used[i] && ++number)
            snprintf(formulas->fit.atom[i].name, sizeof formulas->fit.atom[i].name,
                     number > 1 ? "blocks_%u" : "blocks", number);
}

bool export_formulas(const struct export_request *request, const struct zoo_tuning *tuning,
                     const struct ptx_module *ptx, struct export_formulas *formulas, char **message)
{
    const struct zoo_family *family = request->problem.family;
    struct zoo_buffer buffers[ZOO_BUFFERS];
    struct export_pieces pieces = {0};
    struct work work = {.request = request,
                        .ptx = ptx,
                        .tuning = *tuning,
                        .source = zoo_source(family, request->variant),
                        .formulas = formulas};
    memset(formulas, 0, sizeof *formulas);
    bool fine = export_pieces(&request->problem, &pieces, message) &&
                export_record(request->device, &request->problem, request->variant, tuning, ptx,
                              NULL, &formulas->base, message);
    if (fine) {
        formulas->workspace = formulas->base.number_count;
        formulas->buffers = formulas->workspace + 1;
        formulas->slot_count = formulas->buffers + family->shape(&request->problem, buffers);
        work.value = lk_alloc_zeroed(formulas->slot_count * sizeof *work.value);
        struct setting base = base_setting(&work);
        add_atoms(&work, &pieces);
        add_sample(&work, &base);
        fit_all(&work);
        for (unsigned i = 0; family->parameters[i].name; i++)
            if (is_size(&work, i))
                try_size(&work, i);
        for (unsigned i = 0; i < work.source->tunable_count; i++)
            try_tunable(&work, i);
        try_device(&work);
        name_all(formulas);
        free(work.value);
    }
    export_pieces_free(&pieces);
    return fine;
}
