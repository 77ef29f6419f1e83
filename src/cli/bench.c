/*
 * bench.c: lockstep bench: how long variants and peers take, side by side.
 */
#include "bench/results.h"
#include "cli/cli.h"
#include "cli/families.h"
#include "cli/peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep bench [FAMILY[/VARIANT] ...] [PARAMETER=VALUE ...] [options]\n"
    "\n"
    "Times variants and peers (CUB, cuBLAS, PyTorch ..) on the same problems, taking turns launch by\n"
    "launch, after each has passed the reference. Without families it takes all; without parameters\n"
    "a family's own list of problems, or one small problem on a simulated GPU, where times are\n"
    "modelled.\n"
    "\n"
    "  --gpu GPU        cuda:0, sim:h200 .., or cpu for the variants that run there\n"
    "  --all            all families, as if none was named\n"
    "  --time SECONDS   for each problem (default 2); less if the medians are known to 0.5 % before\n"
    "  --no-peers       only ours\n"
    "  --only-peers     only others'\n"
    "  --json           the same for programs\n"
    "\n"
    "Numbers may end in K, M or G (powers of 1024); commas make several problems.\n"
    "The exit status is 1 if a result was wrong.\n"
    "\n"
    "examples:\n"
    "  lockstep bench reduction\n"
    "  lockstep bench reduction/vectorised n=256M type=f32,bf16 --gpu cuda:0\n"
    "  lockstep bench --all --time 1 --json > results.json\n";

struct options {
    struct cli_list names;
    struct lk_buf problems;
    const char *gpu;
    double seconds;
    bool no_peers, only_peers, all, json;
};

/* Words -----------------------------------------------------------------------------------------*/

static bool parse_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end != text && !*end && isfinite(*seconds) && *seconds > 0 && *seconds <= 3600)
        return true;
    cli_error("--time takes seconds above 0 and up to 3600, not '%s'", text);
    return false;
}

static bool parse_word(struct options *options, int count, char **words, int *at)
{
    const char *value;
    if (cli_flag(words, at, "--json"))
        return options->json = true;
    if (cli_flag(words, at, "--all"))
        return options->all = true;
    if (cli_flag(words, at, "--no-peers"))
        return options->no_peers = true;
    if (cli_flag(words, at, "--only-peers"))
        return options->only_peers = true;
    if (cli_option(count, words, at, "--gpu", &options->gpu))
        return options->gpu != NULL;
    if (cli_option(count, words, at, "--time", &value))
        return value && parse_seconds(value, &options->seconds);
    if (words[*at][0] == '-') {
        cli_error("there is no option '%s' here; see 'lockstep bench --help'", words[*at]);
        return false;
    }
    if (strchr(words[*at], '='))
        lk_buf_printf(&options->problems, "%s ", words[(*at)++]);
    else
        cli_list_add(&options->names, words[(*at)++]);
    return true;
}

static bool parse(int count, char **words, struct options *options)
{
    *options = (struct options){.seconds = 2};
    for (int at = 0; at < count;)
        if (!parse_word(options, count, words, &at))
            return false;
    if (options->no_peers && options->only_peers) {
        cli_error("--no-peers and --only-peers leave nothing to measure");
        return false;
    }
    if (options->all && options->names.count) {
        cli_error("--all and '%s': one of them", options->names.items[0]);
        return false;
    }
    if (!options->names.count)
        for (size_t i = 0; zoo_families[i]; i++)
            cli_list_add(&options->names, zoo_families[i]->name);
    return true;
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

static void clear_progress(bool shown)
{
    if (shown)
        fprintf(stderr, "\r%75s\r", "");
}

/* Running ---------------------------------------------------------------------------------------*/

struct bench {
    const struct options *options;
    struct bench_session *session;
    struct bench_report report;
    bool progress;
    bool failed; /* something could not be measured at all */
};

static struct zoo_problem *choose_problems(const struct bench *bench,
                                           const struct zoo_family *family, size_t *count)
{
    char *message = NULL;
    const struct lk_buf *text = &bench->options->problems;
    bool real = strncmp(bench_place(bench->session)->gpu, "cuda:", 5) == 0;
    struct zoo_problem *problems =
        text->size ? zoo_problems(family, text->data, count, &message)
        : real     ? zoo_problem_list(family, family->bench, count, &message)
                   : zoo_problems(family, family->profile, count, &message);
    if (!problems)
        cli_error("%s: %s", family->name, message);
    free(message);
    return problems;
}

static void run_problem(struct bench *bench, const struct zoo_problem *problem,
                        const struct zoo_variant *only)
{
    const struct options *options = bench->options;
    struct bench_request request = {.problem = *problem,
                                    .only = only,
                                    .seconds = options->seconds,
                                    .variants = !options->only_peers,
                                    .peers = !options->no_peers};
    struct bench_result *result = bench_report_add(&bench->report);
    char *message = NULL;
    bool fine = bench_problem(bench->session, &request, result, &message);
    clear_progress(bench->progress);
    if (!fine) {
        cli_error("%s %s: %s", result->family->name, result->text,
                  message ? message : "it cannot be measured");
        bench->failed = true;
    } else if (!options->json) {
        struct report_paint paint = cli_paint(stdout);
        bench_print_result(stdout, &paint, bench_place(bench->session), result);
    }
    free(message);
}

static bool run_family(struct bench *bench, const char *name)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    size_t count;
    if (!families_find(name, &family, &variant))
        return false;
    struct zoo_problem *problems = choose_problems(bench, family, &count);
    for (size_t i = 0; problems && i < count && !bench_is_dead(bench->session); i++)
        run_problem(bench, &problems[i], variant);
    free(problems);
    return problems != NULL;
}

static bool any_wrong(const struct bench_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].count; k++)
            if (report->results[i].entries[k].state == BENCH_WRONG)
                return true;
    return false;
}

static int measure(const struct options *options)
{
    struct bench bench = {.options = options, .progress = isatty(STDERR_FILENO)};
    struct bench_host host = {.build_peer = peer_build,
                              .progress = bench.progress ? show_progress : NULL};
    char gpu[FAMILIES_GPU], *message = NULL;
    if (!families_gpu(options->gpu, gpu))
        return CLI_USAGE;
    bench.session = bench_open(gpu, &host, &message);
    if (!bench.session) {
        cli_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    bench_report_begin(&bench.report, bench_place(bench.session));
    if (!options->json) {
        struct report_paint paint = cli_paint(stdout);
        bench_print_place(stdout, &paint, &bench.report);
    }
    bool fine = true;
    for (size_t i = 0; i < options->names.count && fine; i++)
        fine = run_family(&bench, options->names.items[i]);
    if (bench_is_dead(bench.session)) {
        cli_error("the GPU stopped with an error; what follows was not measured");
        fine = false;
    }
    if (options->json) {
        json_t *report = bench_report_json(&bench.report);
        json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
        putchar('\n');
        json_decref(report);
    }
    int status = !fine || bench.failed         ? CLI_USAGE
                 : any_wrong(&bench.report)    ? CLI_FINDINGS
                                               : CLI_OK;
    bench_report_free(&bench.report);
    bench_close(bench.session);
    return status;
}

static int run(int count, char **words)
{
    struct options options;
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    int status = CLI_USAGE;
    bool fine = parse(count, words, &options);
    for (size_t i = 0; i < options.names.count && fine; i++)
        fine = families_find(options.names.items[i], &family, &variant);
    if (fine)
        status = measure(&options);
    cli_list_free(&options.names);
    lk_buf_free(&options.problems);
    return status;
}

const struct cli_command cli_bench = {"bench", "how long kernels take, beside their peers", help,
                                      run};
