/*
 * run.c: from names of families to results; see run.h.
 */
#include "bench/run.h"

#include <stdlib.h>
#include <string.h>

struct chosen {
    const struct zoo_family *family;
    uint64_t variants; /* bits; 0: all */
};

/* The families that the names ask for, each once: its variants take turns. */
static struct chosen *choose_families(const struct lk_list *names, size_t *count, char **message)
{
    struct chosen *chosen = lk_alloc_zeroed((names->count + 1) * sizeof *chosen);
    *count = 0;
    for (size_t i = 0; i < names->count; i++) {
        const struct zoo_family *family;
        const struct zoo_variant *variant;
        size_t at = 0;
        if (!zoo_find(names->items[i], &family, &variant, message)) {
            free(chosen);
            return NULL;
        }
        while (at < *count && chosen[at].family != family)
            at++;
        bool all = !variant || (at < *count && !chosen[at].variants);
        chosen[at].family = family;
        chosen[at].variants =
            all ? 0 : chosen[at].variants | (uint64_t)1 << (variant - family->variants);
        *count += at == *count;
    }
    return chosen;
}

static struct chosen *choose_all(size_t *count)
{
    struct chosen *chosen = NULL;
    for (*count = 0; zoo_families[*count]; ++*count) {
        chosen = lk_realloc(chosen, (*count + 1) * sizeof *chosen);
        chosen[*count] = (struct chosen){zoo_families[*count], 0};
    }
    return chosen;
}

static struct zoo_problem *choose_problems(const struct bench_run_request *request,
                                           const struct bench_place *place,
                                           const struct zoo_family *family, size_t *count,
                                           char **message)
{
    const char *text = request->problems;
    bool real = strncmp(place->gpu, "cuda:", 5) == 0;
    const char *only = text ? text : real ? family->bench[0] : family->profile;
    struct zoo_problem *problems = real && !text && !request->quick
                                       ? zoo_problem_list(family, family->bench, count, message)
                                       : zoo_problems(family, only, count, message);
    bool first_only = request->first_only || (request->quick && !real);
    if (problems && !text && first_only && *count > 1)
        *count = 1;
    return problems;
}

static void report_problem(const struct bench_run_request *request, struct bench_run *run,
                           const char *trouble)
{
    run->failed = run->failed || trouble;
    if (request->done)
        request->done(request->context, &run->report, trouble);
}

static void run_problem(const struct bench_run_request *request, struct bench_run *run,
                        const struct zoo_problem *problem, uint64_t variants)
{
    struct bench_request wanted = {.problem = *problem,
                                   .chosen = variants,
                                   .seconds = request->seconds,
                                   .variants = !request->only_peers,
                                   .peers = !request->no_peers};
    struct bench_result *result = bench_report_add(&run->report);
    char *message = NULL, *trouble = NULL;
    if (!bench_problem(run->session, &wanted, result, &message))
        trouble = lk_format("%s %s: %s", result->family->name, result->text,
                            message ? message : "it cannot be measured");
    report_problem(request, run, trouble);
    free(trouble);
    free(message);
}

/* False if its problems are not understood. */
static bool run_family(const struct bench_run_request *request, struct bench_run *run,
                       const struct chosen *chosen)
{
    char *message = NULL;
    size_t count = 0;
    struct zoo_problem *problems =
        choose_problems(request, run->report.place, chosen->family, &count, &message);
    if (!problems) {
        char *trouble = lk_format("%s: %s", chosen->family->name, message);
        report_problem(request, run, trouble);
        free(trouble);
        count = 0;
    }
    for (size_t i = 0; i < count && !bench_is_dead(run->session); i++)
        run_problem(request, run, &problems[i], chosen->variants);
    free(problems);
    free(message);
    return problems != NULL;
}

bool bench_run(const struct bench_run_request *request, const char *gpu, struct bench_run *run,
               char **message)
{
    size_t count;
    struct bench_host host = {request->context, request->progress};
    *run = (struct bench_run){0};
    *message = NULL;
    struct chosen *chosen = request->names->count ? choose_families(request->names, &count, message)
                                                  : choose_all(&count);
    if (!chosen || !(run->session = bench_open(gpu, &host, message))) {
        free(chosen);
        return false;
    }
    bench_report_begin(&run->report, bench_place(run->session));
    run->refused = request->begin && !request->begin(request->context, &run->report);
    for (size_t i = 0; i < count && !run->refused; i++)
        if (!run_family(request, run, &chosen[i]))
            break;
    if (bench_is_dead(run->session))
        report_problem(request, run,
                       "the GPU stopped with an error; what follows was not measured");
    free(chosen);
    return true;
}

void bench_run_free(struct bench_run *run)
{
    bench_report_free(&run->report);
    bench_close(run->session);
}
