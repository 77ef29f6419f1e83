/*
 * measure.c: from words to results of src/bench; see measure.h.
 */
#include "cli/measure.h"

#include "cli/families.h"
#include "cli/peer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Words -----------------------------------------------------------------------------------------*/

static bool parse_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end != text && !*end && isfinite(*seconds) && *seconds > 0 && *seconds <= 3600)
        return true;
    host_error("--time takes seconds above 0 and up to 3600, not '%s'", text);
    return false;
}

bool measure_word(struct measure_request *request, int count, char **words, int *at, bool *bad)
{
    const char *value;
    if (cli_option(count, words, at, "--gpu", &request->gpu)) {
        *bad = !request->gpu;
    } else if (cli_option(count, words, at, "--time", &value)) {
        *bad = !value || !parse_seconds(value, &request->seconds);
    } else if (cli_flag(words, at, "--no-peers")) {
        request->no_peers = true;
    } else if (cli_flag(words, at, "--only-peers")) {
        request->only_peers = true;
    } else if (words[*at][0] == '-') {
        return false;
    } else if (strchr(words[*at], '=')) {
        lk_buf_printf(&request->problems, "%s ", words[(*at)++]);
    } else {
        lk_list_add(&request->names, words[(*at)++]);
    }
    return true;
}

bool measure_check(struct measure_request *request)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    if (request->no_peers && request->only_peers) {
        host_error("--no-peers and --only-peers leave nothing to measure");
        return false;
    }
    if (!request->names.count)
        for (size_t i = 0; zoo_families[i]; i++)
            lk_list_add(&request->names, zoo_families[i]->name);
    for (size_t i = 0; i < request->names.count; i++)
        if (!families_find(request->names.items[i], &family, &variant))
            return false;
    return true;
}

void measure_request_free(struct measure_request *request)
{
    lk_list_free(&request->names);
    lk_buf_free(&request->problems);
}

/* Progress --------------------------------------------------------------------------------------*/

static void show_progress(void *context, const char *what, double fraction)
{
    enum { WIDTH = 30 };
    int filled = fraction >= 1 ? WIDTH : fraction > 0 ? (int)(fraction * WIDTH) : 0;
    fprintf(stderr, "\r[%.*s%*s] %-40.40s", filled, "##############################",
            WIDTH - filled, "", what);
    fflush(stderr);
}

static void clear_progress(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%75s\r", "");
}

/* Running ---------------------------------------------------------------------------------------*/

static struct zoo_problem *choose_problems(const struct measure_request *request,
                                           const struct measure *measure,
                                           const struct zoo_family *family, size_t *count)
{
    char *message = NULL;
    const struct lk_buf *text = &request->problems;
    bool real = strncmp(bench_place(measure->session)->gpu, "cuda:", 5) == 0;
    const char *only = text->size ? text->data : real ? family->bench[0] : family->profile;
    struct zoo_problem *problems = real && !text->size && !request->quick
                                       ? zoo_problem_list(family, family->bench, count, &message)
                                       : zoo_problems(family, only, count, &message);
    if (!problems)
        host_error("%s: %s", family->name, message);
    else if (!text->size && request->first_only && *count > 1)
        *count = 1;
    free(message);
    return problems;
}

static void run_problem(const struct measure_request *request, struct measure *measure,
                        const struct zoo_problem *problem, uint64_t chosen)
{
    struct bench_request wanted = {.problem = *problem,
                                   .chosen = chosen,
                                   .seconds = request->seconds,
                                   .variants = !request->only_peers,
                                   .peers = !request->no_peers};
    struct bench_result *result = bench_report_add(&measure->report);
    char *message = NULL;
    bool fine = bench_problem(measure->session, &wanted, result, &message);
    clear_progress();
    if (!fine) {
        host_error("%s %s: %s", result->family->name, result->text,
                   message ? message : "it cannot be measured");
        measure->failed = true;
    } else if (request->print) {
        struct report_paint paint = cli_paint(stdout);
        bench_print_result(stdout, &paint, bench_place(measure->session), result);
    }
    if (fine && request->after)
        request->after(&measure->report, request->context);
    free(message);
}

/* The variants of a family that all the names together ask for, as bits; 0: all. */
static uint64_t chosen_variants(const struct measure_request *request,
                                const struct zoo_family *wanted)
{
    uint64_t chosen = 0;
    for (size_t i = 0; i < request->names.count; i++) {
        const struct zoo_family *family;
        const struct zoo_variant *variant;
        if (!families_find(request->names.items[i], &family, &variant) || family != wanted)
            continue;
        if (!variant)
            return 0;
        chosen |= (uint64_t)1 << (variant - family->variants);
    }
    return chosen;
}

/* A family that several names name runs once, at the first of them: its variants take turns. */
static bool run_family(const struct measure_request *request, struct measure *measure, size_t name)
{
    const struct zoo_family *family, *earlier;
    const struct zoo_variant *variant;
    size_t count;
    if (!families_find(request->names.items[name], &family, &variant))
        return false;
    for (size_t i = 0; i < name; i++)
        if (families_find(request->names.items[i], &earlier, &variant) && earlier == family)
            return true;
    uint64_t chosen = chosen_variants(request, family);
    struct zoo_problem *problems = choose_problems(request, measure, family, &count);
    for (size_t i = 0; problems && i < count && !bench_is_dead(measure->session); i++)
        run_problem(request, measure, &problems[i], chosen);
    free(problems);
    return problems != NULL;
}

bool measure_run(const struct measure_request *request, struct measure *measure)
{
    struct bench_host host = {.build_peer = peer_build,
                              .progress = isatty(STDERR_FILENO) ? show_progress : NULL};
    char gpu[FAMILIES_GPU], *message = NULL;
    *measure = (struct measure){0};
    if (!families_gpu(request->gpu, gpu))
        return false;
    measure->session = bench_open(gpu, &host, &message);
    if (!measure->session) {
        host_error("%s", message);
        free(message);
        return false;
    }
    if (request->accepts && !request->accepts(bench_place(measure->session), request->context)) {
        bench_close(measure->session);
        return false;
    }
    bench_report_begin(&measure->report, bench_place(measure->session));
    if (request->print) {
        struct report_paint paint = cli_paint(stdout);
        bench_print_place(stdout, &paint, &measure->report);
    }
    bool fine = true;
    for (size_t i = 0; i < request->names.count && fine; i++)
        fine = run_family(request, measure, i);
    if (bench_is_dead(measure->session)) {
        host_error("the GPU stopped with an error; what follows was not measured");
        fine = false;
    }
    measure->failed = measure->failed || !fine;
    return true;
}

void measure_free(struct measure *measure)
{
    bench_report_free(&measure->report);
    bench_close(measure->session);
}
