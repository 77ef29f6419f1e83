/*
 * search.c: the search itself; tune.h says how it goes. One problem after the other; what was
 * compiled for one serves the next.
 */
#include "tune/tune.h"

#include "base/arena.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 1.5         /* variants that are slower than the best by more are not tuned */
#define BETTER 0.99      /* at most this fraction of the time counts as faster */
#define SLOW_BYTES 512e6 /* from here on, results are compared on a smaller problem */
#define SLOW_FLOPS 4e9
enum { CONTENDERS = 3, PATIENCE = 8, BATCH = 64 };

/* A variant with values for its tunables, and its PTX once that is there. */
struct config {
    const struct zoo_variant *variant;
    struct zoo_tuning tuning;
    bool normal, compiled;
    char *ptx, *message;
};

struct trial {
    const struct config *config;
    double seconds; /* negative: skipped */
};

struct search {
    const struct zoo_device *device;
    const struct tune_request *request;
    struct tune_workshop *workshop;
    struct config **configs; /* of all problems */
    size_t config_count;
    double start, deadline; /* deadline: of this problem */
    uint64_t drawn;         /* random numbers so far */
    bool dead;              /* the device took an error that stays */
    /* This problem */
    struct tune_row *row;
    struct zoo_instance target, small; /* small: where the target's reference takes too long */
    bool has_small;
    struct trial *trials;
    size_t trial_count;
};

static bool time_is_up(const struct search *search)
{
    return search->dead || lk_seconds() > search->deadline;
}

/* Configurations --------------------------------------------------------------------------------*/

static void print_config(const struct search *search, const struct config *config,
                         struct lk_buf *text)
{
    const struct zoo_source *source = zoo_source(search->request->family, config->variant);
    lk_buf_printf(text, "%s", config->variant->name);
    for (unsigned i = 0; i < source->tunable_count; i++)
        lk_buf_printf(text, " %s=%d", source->tunables[i].name, config->tuning.value[i]);
}

static struct config *find_config(struct search *search, const struct zoo_variant *variant,
                                  const struct zoo_tuning *tuning)
{
    const struct zoo_source *source = zoo_source(search->request->family, variant);
    struct zoo_tuning normal = zoo_tuning_normal(source);
    for (size_t i = 0; i < search->config_count; i++)
        if (search->configs[i]->variant == variant &&
            memcmp(&search->configs[i]->tuning, tuning, sizeof *tuning) == 0)
            return search->configs[i];
    struct config *config = lk_alloc_zeroed(sizeof *config);
    *config = (struct config){.variant = variant, .tuning = *tuning};
    config->normal = memcmp(&normal, tuning, sizeof normal) == 0;
    config->compiled = zoo_tuning_is_built_in(source, tuning);
    search->configs =
        lk_realloc(search->configs, (search->config_count + 1) * sizeof(struct config *));
    search->configs[search->config_count++] = config;
    return config;
}

static void compile(struct search *search, struct config **configs, size_t count)
{
    struct tune_job jobs[BATCH];
    struct config *waiting[BATCH];
    size_t job_count = 0;
    for (size_t i = 0; i < count && job_count < BATCH; i++)
        if (!configs[i]->compiled) {
            waiting[job_count] = configs[i];
            jobs[job_count++] = (struct tune_job){.family = search->request->family,
                                                  .variant = configs[i]->variant,
                                                  .tuning = configs[i]->tuning};
        }
    if (job_count)
        tune_compile(search->workshop, jobs, job_count, search->request->jobs);
    for (size_t i = 0; i < job_count; i++) {
        waiting[i]->compiled = true;
        waiting[i]->ptx = jobs[i].ptx;
        waiting[i]->message = jobs[i].message;
    }
}

/* Trials ----------------------------------------------------------------------------------------*/

static bool verify(const struct zoo_instance *instance, const struct search *search,
                   const struct config *config, struct zoo_kernels *kernels, char **message)
{
    struct zoo_run run;
    if (!zoo_run_open(&run, instance, config->variant, search->device, kernels, NULL, message))
        return false;
    bool fine = zoo_run_reset(&run) == CUDA_SUCCESS && zoo_run_launch(&run, message) &&
                zoo_run_verify(&run, message);
    zoo_run_close(&run);
    return fine;
}

/* Verified and timed; negative if it is to be skipped, and then a message. */
static double measure(struct search *search, const struct config *config, char **message)
{
    double seconds = -1;
    struct zoo_run run;
    struct zoo_kernels *kernels =
        zoo_kernels_load(search->device, search->request->family, config->variant, config->ptx,
                         &config->tuning, message);
    if (!kernels)
        return -1;
    double budget = (search->deadline - lk_seconds()) / 20;
    budget = budget > 0.2 ? 0.2 : budget < 0.01 ? 0.01 : budget;
    if (verify(search->has_small ? &search->small : &search->target, search, config, kernels,
               message) &&
        zoo_run_open(&run, &search->target, config->variant, search->device, kernels, NULL,
                     message)) {
        if (zoo_run_reset(&run) != CUDA_SUCCESS || !tune_time(&run, budget, &seconds, message))
            seconds = -1;
        zoo_run_close(&run);
    }
    zoo_kernels_free(kernels);
    search->dead = search->device->cuda->cuCtxSynchronize() != CUDA_SUCCESS;
    return seconds;
}

static void print_trial(const struct search *search, const struct config *config, double seconds,
                        const char *message)
{
    struct lk_buf text = {0};
    if (!search->request->verbose)
        return;
    print_config(search, config, &text);
    if (seconds >= 0)
        fprintf(stderr, "  %s: %.2f us\n", text.data, seconds * 1e6);
    else
        fprintf(stderr, "  %s: skipped: %.*s\n", text.data, (int)strcspn(message, "\n"), message);
    lk_buf_free(&text);
}

static void show_progress(const struct search *search)
{
    if (search->request->progress)
        search->request->progress(search->request->context, search->request->family->name,
                                  (lk_seconds() - search->start) / search->request->seconds);
}

/* The seconds of a configuration on this problem, tried once. */
static double try_config(struct search *search, const struct config *config)
{
    for (size_t i = 0; i < search->trial_count; i++)
        if (search->trials[i].config == config)
            return search->trials[i].seconds;
    show_progress(search);
    char *message = NULL;
    bool failed = config->message != NULL;
    double seconds = failed ? -1 : measure(search, config, &message);
    const char *why = failed ? config->message : message ? message : "the device took no input";
    search->row->tried++;
    search->row->skipped += seconds < 0;
    if (seconds < 0 && !search->row->message)
        search->row->message = strdup(why);
    print_trial(search, config, seconds, why);
    free(message);
    search->trials = lk_realloc(search->trials, (search->trial_count + 1) * sizeof(struct trial));
    search->trials[search->trial_count++] = (struct trial){config, seconds};
    return seconds;
}

static const struct trial *best_trial(const struct search *search, bool only_normal)
{
    const struct trial *best = NULL;
    for (size_t i = 0; i < search->trial_count; i++) {
        const struct trial *trial = &search->trials[i];
        if (trial->seconds >= 0 && (!only_normal || trial->config->normal) &&
            (!best || trial->seconds < best->seconds))
            best = trial;
    }
    return best;
}

/* The search ------------------------------------------------------------------------------------*/

static void try_normal_ones(struct search *search)
{
    const struct zoo_family *family = search->request->family;
    for (const struct zoo_variant *variant = family->variants; variant->name; variant++) {
        const struct zoo_source *source = zoo_source(family, variant);
        if ((search->request->only && variant != search->request->only) || !variant->launch ||
            !source || !zoo_runs_on(source, search->device->arch) ||
            !zoo_takes(variant, &search->row->problem) || search->dead)
            continue;
        struct zoo_tuning normal = zoo_tuning_normal(source);
        try_config(search, find_config(search, variant, &normal));
    }
}

/* The variants worth tuning, the fastest first. */
static size_t contenders(const struct search *search, const struct zoo_variant **variants)
{
    const struct trial *best = best_trial(search, true);
    size_t count = 0;
    for (double above = -1; best && count < CONTENDERS; count++) {
        const struct trial *next = NULL;
        for (size_t i = 0; i < search->trial_count; i++) {
            const struct trial *trial = &search->trials[i];
            if (trial->config->normal && trial->seconds > above &&
                trial->seconds <= NEAR * best->seconds && (!next || trial->seconds < next->seconds))
                next = trial;
        }
        if (!next)
            break;
        variants[count] = next->config->variant;
        above = next->seconds;
    }
    return count;
}

/* Can it have other values? Without a compiler, only what is chosen at launch can. */
static bool is_free(const struct search *search, const struct zoo_source *source, unsigned tunable)
{
    return search->workshop || tunable >= source->written_count;
}

/* All other choices of one tunable; the best becomes *at. True if it is a better one. */
static bool descend(struct search *search, unsigned tunable, struct config **at)
{
    const struct zoo_source *source = zoo_source(search->request->family, (*at)->variant);
    const struct zoo_tunable *choices = &source->tunables[tunable];
    struct config *configs[12], *best = *at;
    size_t count = 0;
    if (!is_free(search, source, tunable))
        return false;
    for (unsigned i = 0; i < choices->choice_count; i++) {
        struct zoo_tuning tuning = (*at)->tuning;
        tuning.value[tunable] = choices->choices[i];
        if (choices->choices[i] != (*at)->tuning.value[tunable])
            configs[count++] = find_config(search, (*at)->variant, &tuning);
    }
    double least = try_config(search, *at) * BETTER;
    compile(search, configs, count);
    for (size_t i = 0; i < count && !search->dead; i++) {
        double seconds = try_config(search, configs[i]);
        if (seconds >= 0 && seconds < least) {
            least = seconds;
            best = configs[i];
        }
    }
    bool better = best != *at;
    *at = best;
    return better;
}

static void climb(struct search *search, const struct zoo_variant *variant)
{
    const struct zoo_source *source = zoo_source(search->request->family, variant);
    struct zoo_tuning normal = zoo_tuning_normal(source);
    struct config *at = find_config(search, variant, &normal);
    unsigned idle = 0; /* tunables in a row that did not help */
    for (unsigned i = 0; idle < source->tunable_count && !time_is_up(search); i++)
        idle = descend(search, i % source->tunable_count, &at) ? 1 : idle + 1;
}

static uint64_t draw(struct search *search)
{
    return zoo_random(search->request->seed, 77, search->drawn++);
}

static struct config *random_config(struct search *search, const struct zoo_variant **variants,
                                    size_t count)
{
    const struct zoo_variant *variant = variants[draw(search) % count];
    const struct zoo_source *source = zoo_source(search->request->family, variant);
    struct zoo_tuning tuning = zoo_tuning_normal(source);
    for (unsigned i = 0; i < source->tunable_count; i++)
        if (is_free(search, source, i))
            tuning.value[i] =
                source->tunables[i].choices[draw(search) % source->tunables[i].choice_count];
    return find_config(search, variant, &tuning);
}

static bool was_tried(const struct search *search, const struct config *config)
{
    for (size_t i = 0; i < search->trial_count; i++)
        if (search->trials[i].config == config)
            return true;
    return false;
}

/* Random ones until time is up, or PATIENCE in a row were no better or already tried. */
static void wander(struct search *search, const struct zoo_variant **variants, size_t count)
{
    for (unsigned idle = 0; idle < PATIENCE && !time_is_up(search);) {
        struct config *batch[BATCH];
        size_t batch_count = 0;
        for (unsigned i = 0; i < search->request->jobs && i < BATCH && idle < PATIENCE; i++) {
            struct config *config = random_config(search, variants, count);
            bool old = was_tried(search, config);
            for (size_t k = 0; k < batch_count; k++)
                old = old || batch[k] == config;
            if (old)
                idle++;
            else
                batch[batch_count++] = config;
        }
        compile(search, batch, batch_count);
        for (size_t i = 0; i < batch_count && !search->dead; i++) {
            double least = best_trial(search, false)->seconds;
            double seconds = try_config(search, batch[i]);
            idle = seconds >= 0 && seconds < BETTER * least ? 0 : idle + 1;
        }
    }
}

static void tune_near_the_best(struct search *search)
{
    const struct zoo_variant *variants[CONTENDERS];
    size_t count = contenders(search, variants);
    for (size_t i = 0; i < count && !time_is_up(search); i++)
        climb(search, variants[i]);
    if (count && !time_is_up(search))
        wander(search, variants, count);
}

/* The winner's time and that of the best built-in one, taken again side by side: of many trials the
 * best is partly luck. */
static void confirm(struct search *search, struct trial *tuned, struct trial *normal)
{
    if (search->device->cuda->simulated || tuned->config == normal->config)
        return;
    double times[2] = {1e9, 1e9};
    const struct config *configs[2] = {tuned->config, normal->config};
    for (int i = 0; i < 6 && !search->dead; i++) {
        char *message = NULL;
        double seconds = measure(search, configs[i % 2], &message);
        if (seconds >= 0 && seconds < times[i % 2])
            times[i % 2] = seconds;
        free(message);
    }
    tuned->seconds = times[0];
    normal->seconds = times[1];
}

static void keep_best(struct search *search)
{
    struct tune_row *row = search->row;
    const struct trial *found = best_trial(search, false), *normal = best_trial(search, true);
    if (!found || !normal)
        return;
    struct trial tuned = *found, built_in = *normal;
    confirm(search, &tuned, &built_in);
    if (tuned.seconds > BETTER * built_in.seconds)
        tuned = built_in;
    row->variant = tuned.config->variant;
    row->tuning = tuned.config->tuning;
    row->normal = tuned.config->normal;
    row->ptx = tuned.config->ptx ? strdup(tuned.config->ptx) : NULL;
    row->seconds = tuned.seconds;
    row->normal_variant = built_in.config->variant;
    row->normal_seconds = built_in.seconds;
}

/* A problem with the target's words and scalars, and the sizes of the family's profile. */
static bool make_small(struct search *search, char **message)
{
    const struct zoo_family *family = search->request->family;
    size_t count;
    struct zoo_problem *profile = zoo_problems(family, family->profile, &count, message);
    if (!profile)
        return false;
    struct zoo_problem small = search->row->problem;
    for (size_t i = 0; family->parameters[i].name; i++)
        if (!family->parameters[i].words && !family->parameters[i].scalar)
            small.value[i] = profile->value[i];
    free(profile);
    return zoo_instance_make(&search->small, &small, true, message);
}

static bool search_problem(struct search *search, char **message)
{
    const struct zoo_problem *problem = &search->row->problem;
    const struct zoo_family *family = search->request->family;
    search->has_small = family->bytes(problem) > SLOW_BYTES || family->flops(problem) > SLOW_FLOPS;
    if (search->has_small && !make_small(search, message))
        return false;
    bool fine = zoo_instance_make(&search->target, problem, !search->has_small, message);
    if (fine) {
        try_normal_ones(search);
        tune_near_the_best(search);
        keep_best(search);
        zoo_instance_free(&search->target);
    }
    if (search->has_small)
        zoo_instance_free(&search->small);
    free(search->trials);
    search->trials = NULL;
    search->trial_count = 0;
    return fine;
}

static void search_free(struct search *search)
{
    for (size_t i = 0; i < search->config_count; i++) {
        free(search->configs[i]->ptx);
        free(search->configs[i]->message);
        free(search->configs[i]);
    }
    free(search->configs);
    tune_workshop_close(search->workshop);
}

bool tune_run(const struct zoo_device *device, const struct tune_request *request,
              struct tune_row *rows, char **message)
{
    struct search search = {.device = device, .request = request, .start = lk_seconds()};
    double end = search.start + request->seconds;
    *message = NULL;
    if (request->compiler && !(search.workshop = tune_workshop_open(request->compiler, message)))
        return false;
    for (size_t i = 0; i < request->count; i++) {
        rows[i] = (struct tune_row){.problem = request->problems[i]};
        search.row = &rows[i];
        /* What is left, shared by the problems that are left. */
        search.deadline = lk_seconds() + (end - lk_seconds()) / (double)(request->count - i);
        if (search.dead)
            rows[i].message = strdup("the device failed before; nothing more can run on it");
        else if (!search_problem(&search, &rows[i].message) && !rows[i].message)
            rows[i].message = strdup("the problem cannot be set up");
        if (rows[i].variant && request->found)
            request->found(request->context, &rows[i]);
    }
    search_free(&search);
    return true;
}

void tune_rows_free(struct tune_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(rows[i].ptx);
        free(rows[i].message);
    }
}
