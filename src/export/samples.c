/*
 * samples.c: recordings side by side; see samples.h.
 */
#include "export/samples.h"

#include "base/arena.h"
#include "base/buf.h"
#include "export/pieces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESIDENT_ATOMS = 4, NAMED_ATOMS = 16 /* at least so many can be named later */ };
static const double MOST_BYTES = 0x1p32; /* larger problems are not asked about */

/* Names -----------------------------------------------------------------------------------------*/

static bool sums_up(const struct export_atom *a, const struct export_atom *b)
{
    return a->kind == b->kind && (a->kind == EXPORT_SIZE || a->kind == EXPORT_TUNABLE);
}

/* An atom that is made of two others, if there is room for it. */
static void add_pair(struct export_samples *samples, enum export_atom_kind kind, const char *name,
                     unsigned a, unsigned b)
{
    struct export_fit *fit = &samples->fit;
    if (fit->atom_count + NAMED_ATOMS >= EXPORT_ATOMS || !export_add_atom(fit, kind, name))
        return;
    samples->pair[fit->atom_count - 1][0] = (unsigned char)a;
    samples->pair[fit->atom_count - 1][1] = (unsigned char)b;
}

static void add_sum(struct export_samples *samples, unsigned a, unsigned b)
{
    const struct export_atom *atom = samples->fit.atom;
    char name[96];
    snprintf(name, sizeof name, "(%s + %s)", atom[a].name, atom[b].name);
    add_pair(samples, atom[a].kind == EXPORT_SIZE ? EXPORT_SIZE_SUM : EXPORT_TUNABLE_SUM, name, a,
             b);
}

static unsigned resident_atoms(const struct export_samples *samples)
{
    unsigned count = samples->base.resident_count;
    return count < RESIDENT_ATOMS ? count : RESIDENT_ATOMS;
}

/* "lesser(BLOCKS_PER_SM, resident)": a tunable that is a limit, under another one. */
static void add_lesser(struct export_samples *samples, unsigned tunable)
{
    char name[96];
    snprintf(name, sizeof name, "lesser(%s, resident)", samples->fit.atom[tunable].name);
    add_pair(samples, EXPORT_DEVICE, name, tunable, tunable);
}

/* In the order in which set_atoms gives their values, as far as they are not made of others. */
static void add_atoms(struct export_samples *samples, const struct export_pieces *pieces)
{
    struct export_fit *fit = &samples->fit;
    char name[24];
    for (unsigned i = 0; i < pieces->constant_count; i++)
        if (pieces->constant[i].whole)
            export_add_atom(fit, EXPORT_SIZE, pieces->constant[i].name);
    unsigned tunables = fit->atom_count;
    for (unsigned i = 0; i < samples->source->written_count; i++)
        export_add_atom(fit, EXPORT_TUNABLE, samples->source->tunables[i].name);
    export_add_atom(fit, EXPORT_DEVICE, "sms");
    export_add_atom(fit, EXPORT_DEVICE, "threads_per_sm");
    for (unsigned i = 0; i < resident_atoms(samples); i++) {
        snprintf(name, sizeof name, i ? "resident_%u" : "resident", i + 1);
        export_add_atom(fit, EXPORT_DEVICE, name);
    }
    for (unsigned a = 0, count = fit->atom_count; a < count; a++)
        for (unsigned b = a + 1; b < count; b++)
            if (sums_up(&fit->atom[a], &fit->atom[b]))
                add_sum(samples, a, b);
    for (unsigned i = 0; i < samples->source->written_count && resident_atoms(samples); i++)
        add_lesser(samples, tunables + i);
    fit->named = fit->atom_count;
}

static void set_atoms(struct export_samples *samples, const struct export_setting *setting,
                      const struct export_pieces *pieces, unsigned sample)
{
    struct export_atom *atom = samples->fit.atom;
    unsigned at = 0;
    for (unsigned i = 0; i < pieces->constant_count; i++)
        if (pieces->constant[i].whole)
            atom[at++].value[sample] = pieces->constant[i].value;
    for (unsigned i = 0; i < samples->source->written_count; i++)
        atom[at++].value[sample] = setting->tuning.value[i];
    atom[at++].value[sample] = setting->device.sm_count;
    atom[at++].value[sample] = setting->device.threads_per_sm;
    for (unsigned i = 0; i < resident_atoms(samples); i++)
        atom[at++].value[sample] = setting->resident[i];
    for (; at < samples->fit.named; at++) {
        double a = atom[samples->pair[at][0]].value[sample];
        double b = atom[samples->pair[at][1]].value[sample];
        atom[at].value[sample] =
            atom[at].kind == EXPORT_DEVICE ? fmin(a, setting->resident[0]) : a + b;
    }
}

/* Samples ---------------------------------------------------------------------------------------*/

static void set_values(struct export_samples *samples, const struct export_setting *setting,
                       const struct export_recording *recording, unsigned sample)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = setting->problem.family->shape(&setting->problem, buffers);
    for (unsigned i = 0; i < recording->number_count; i++)
        samples->value[i][sample] = recording->number[i];
    samples->value[samples->workspace][sample] = (double)recording->workspace_bytes;
    for (unsigned i = 0; i < count; i++)
        samples->value[samples->buffers + i][sample] = (double)buffers[i].count;
}

static bool is_possible(const struct export_samples *samples, const struct export_setting *setting)
{
    const struct zoo_problem *problem = &setting->problem;
    const struct zoo_parameter *parameter = problem->family->parameters;
    for (unsigned i = 0; parameter[i].name; i++)
        if (!parameter[i].scalar &&
            (problem->value[i] < parameter[i].least || problem->value[i] > parameter[i].most))
            return false;
    return problem->family->bytes(problem) < MOST_BYTES &&
           zoo_takes(samples->request->variant, problem) &&
           zoo_fits(&setting->device, samples->request->variant, &setting->tuning, problem);
}

/* Families cut sizes that go together badly (more edges than pairs of vertices); the exported
 * program does not. It is right where both give the same floor. */
static bool is_stated(const struct zoo_problem *problem, const struct export_pieces *pieces)
{
    double bytes = problem->family->bytes(problem);
    return fabs(pieces->bytes_value - bytes) <= 1e-6 * bytes;
}

enum export_added export_add_sample(struct export_samples *samples,
                                    const struct export_setting *setting)
{
    if (samples->fit.sample_count == EXPORT_SAMPLES || !is_possible(samples, setting))
        return EXPORT_IMPOSSIBLE;
    struct export_recording *recording = lk_alloc(sizeof *recording);
    struct export_pieces pieces = {0};
    char *message = NULL;
    enum export_added added = EXPORT_IMPOSSIBLE;
    if (export_record(&setting->device, &setting->problem, samples->request->variant,
                      &setting->tuning, samples->ptx, samples->kernels, setting->resident,
                      recording, &message) &&
        export_pieces(&setting->problem, &pieces, &message) &&
        is_stated(&setting->problem, &pieces))
        added = export_same_steps(recording, &samples->base) ? EXPORT_ADDED : EXPORT_OTHER;
    if (added == EXPORT_ADDED) {
        unsigned sample = samples->fit.sample_count++;
        set_atoms(samples, setting, &pieces, sample);
        set_values(samples, setting, recording, sample);
    }
    export_pieces_free(&pieces);
    free(recording);
    free(message);
    return added;
}

/* Does a constant change with the parameter? 0 asks for the default, and is not a size. */
static bool is_size(const struct zoo_problem *problem, unsigned parameter)
{
    const struct zoo_parameter *p = &problem->family->parameters[parameter];
    struct export_pieces here = {0}, there = {0};
    struct zoo_problem other = *problem;
    char *message = NULL;
    bool differs = false;
    if (p->words || p->scalar || problem->value[parameter] < 1)
        return false;
    other.value[parameter] += other.value[parameter] < p->most ? 1 : -1;
    if (export_pieces(problem, &here, &message) && export_pieces(&other, &there, &message))
        for (unsigned i = 0; i < here.constant_count; i++)
            differs |= here.constant[i].value != there.constant[i].value;
    export_pieces_free(&here);
    export_pieces_free(&there);
    free(message);
    return differs;
}

/* All of them -----------------------------------------------------------------------------------*/

bool export_samples_open(struct export_samples *samples, const struct export_request *request,
                         const struct zoo_tuning *tuning, const struct ptx_module *ptx,
                         const char *kernels, char **message)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    struct export_pieces pieces = {0};
    memset(samples, 0, sizeof *samples);
    samples->request = request;
    samples->source = zoo_source(request->problem.family, request->variant);
    samples->ptx = ptx;
    samples->kernels = kernels;
    bool fine = export_pieces(&request->problem, &pieces, message) &&
                export_record(request->device, &request->problem, request->variant, tuning, ptx,
                              kernels, NULL, &samples->base, message);
    if (fine && !is_stated(&request->problem, &pieces)) {
        *message = lk_format(pieces.bytes_value == 0
                                 ? "no program can be written for these options; choose others"
                                 : "these sizes do not go together; choose others");
        fine = false;
    }
    if (fine && samples->base.step_count == 0) {
        *message = lk_format("this problem is empty, and nothing is launched; choose larger sizes");
        fine = false;
    }
    if (fine) {
        samples->workspace = samples->base.number_count;
        samples->buffers = samples->workspace + 1;
        samples->slot_count =
            samples->buffers + request->problem.family->shape(&request->problem, buffers);
        samples->value = lk_alloc_zeroed(samples->slot_count * sizeof *samples->value);
        samples->setting = (struct export_setting){
            .problem = request->problem, .tuning = *tuning, .device = *request->device};
        memcpy(samples->setting.resident, samples->base.resident, sizeof samples->base.resident);
        for (unsigned i = 0; request->problem.family->parameters[i].name; i++)
            samples->is_size[i] = is_size(&request->problem, i);
        add_atoms(samples, &pieces);
        set_atoms(samples, &samples->setting, &pieces, 0);
        set_values(samples, &samples->setting, &samples->base, 0);
        samples->fit.sample_count = 1;
    }
    export_pieces_free(&pieces);
    return fine;
}

void export_samples_close(struct export_samples *samples)
{
    free(samples->value);
    samples->value = NULL;
}
