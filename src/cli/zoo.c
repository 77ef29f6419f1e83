/*
 * zoo.c: lockstep zoo: lists the kernel families, shows one, and runs their variants against the
 * reference. 'profile' and 'check' of a family start 'zoo run' with watchers on.
 */
#include "cli/zoo.h"
#include "cli/target.h"
#include "zoo/describe.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: lockstep zoo list [--json]\n"
    "       lockstep zoo show FAMILY[/VARIANT] [--json]\n"
    "       lockstep zoo test [FAMILY[/VARIANT] ...] [PARAMETER=VALUE ...] [options]\n"
    "       lockstep zoo run FAMILY[/VARIANT] [PARAMETER=VALUE ...] [options]\n"
    "       lockstep zoo memory FAMILY[/VARIANT] [PARAMETER=VALUE ...] [--gpu GPU] [--json]\n"
    "       lockstep zoo export FAMILY/VARIANT [PARAMETER=VALUE ...] [-o FILE [--force]]\n"
    "\n"
    "The kernel library: families of problems, each with variants from naive to the limit.\n"
    "  list   the families, a line each\n"
    "  show   a family's parameters and variants; of a variant, its source\n"
    "  test   runs variants on their edge problems and compares with the reference\n"
    "  run    one problem of each variant named, compared with the reference\n"
    "  memory what a problem's buffers take, and the workspace of each variant; nothing runs\n"
    "  export a variant as one CUDA file that nvcc compiles by itself: the kernel, and a main "
    "that\n"
    "         checks and times it; to stdout, or to FILE\n"
    "\n"
    "  --gpu GPU        sim:h200 .., cuda:0, or cpu for the variants that run there\n"
    "  --ptx FOLDER     kernels from FOLDER/FAMILY/VARIANT.ptx, not the built-in ones\n"
    "  --repeat N       each problem N times; variants that claim to be deterministic must give\n"
    "                   the same bits each time\n"
    "  --at-most N      N of each variant's edge problems, spread over all of them\n"
    "  --launches N     instead: launch one small problem (or each one named) N times and check\n"
    "                   that no GPU memory leaks\n"
    "  --shift N        buffers begin N, 2N, 3N .. elements after an aligned address, or as many\n"
    "                   times 16 bytes for variants that take no other addresses\n"
    "  --verbose        a line for each problem\n"
    "  --json           print JSON\n"
    "  -o FILE          export: the file to write; --force overwrites one that exists\n"
    "\n"
    "Numbers may end in K, M or G (powers of 1024); commas make several problems.\n"
    "The exit status is 1 if a result was wrong.\n"
    "\n"
    "examples:\n"
    "  lockstep zoo list\n"
    "  lockstep zoo show reduction/warp_shuffle\n"
    "  lockstep zoo test reduction n=0,1,33,1M type=f32,i32\n"
    "  lockstep zoo run reduction/vectorised n=1000 dist=special --gpu sim:t4\n"
    "  lockstep zoo memory attention batch=1 heads=16 queries=1K,16K,128K\n"
    "  lockstep zoo export scan/look_back n=16M -o look_back.cu && nvcc look_back.cu && ./a.out\n";

/* list and show ---------------------------------------------------------------------------------*/

static int list(bool json)
{
    if (json)
        cli_print_json(zoo_families_json());
    else
        zoo_print_families(stdout);
    return CLI_OK;
}

/* Of a family, what there is; of a variant, its source. */
static int show(const char *name, bool json)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    if (!cli_find_family(name, &family, &variant))
        return CLI_USAGE;
    const struct zoo_source *source = variant ? zoo_source(family, variant) : NULL;
    if (json)
        cli_print_json(variant ? zoo_variant_json(family, variant) : zoo_family_json(family));
    else if (source)
        fputs(source->text, stdout);
    else
        zoo_print_family(stdout, family);
    return CLI_OK;
}

/* test and run ----------------------------------------------------------------------------------*/

/* A number; *bad after printing an error. */
static unsigned take_number(const char *option, const char *value, unsigned least, unsigned most,
                            bool *bad)
{
    unsigned long long number = 0;
    *bad = !value || !cli_number(option, value, least, most, &number);
    return *bad ? 0 : (unsigned)number;
}

/* The word at *at, which moves on; *bad if it is wrong, after printing an error. */
static void take_word(struct cli_zoo *options, int count, char **words, int *at, bool *bad)
{
    struct zoo_trial_request *trial = &options->trial;
    const char *value;
    if (cli_flag(words, at, "--json")) {
        options->json = true;
    } else if (cli_flag(words, at, "--force")) {
        options->force = true;
    } else if (cli_option(count, words, at, "-o", &options->file)) {
        *bad = !options->file;
    } else if (cli_option(count, words, at, "--gpu", &options->gpu)) {
        *bad = !options->gpu;
    } else if (cli_option(count, words, at, "--ptx", &trial->ptx)) {
        *bad = !trial->ptx;
    } else if (cli_flag(words, at, "--verbose")) {
        options->verbose = true;
    } else if (cli_option(count, words, at, "--repeat", &value)) {
        trial->repeat = take_number("--repeat", value, 1, 1000000, bad);
    } else if (cli_option(count, words, at, "--shift", &value)) {
        trial->shift = take_number("--shift", value, 0, 1000, bad);
    } else if (cli_option(count, words, at, "--at-most", &value)) {
        trial->at_most = take_number("--at-most", value, 1, 1000000, bad);
    } else if (cli_option(count, words, at, "--launches", &value)) {
        trial->launches = take_number("--launches", value, 1, 1000000, bad);
    } else if (words[*at][0] == '-') {
        host_error("there is no option '%s' here; see 'lockstep zoo --help'", words[*at]);
        *bad = true;
    } else if (strchr(words[*at], '=')) {
        lk_buf_printf(&options->problems, "%s ", words[(*at)++]);
    } else {
        lk_list_add(&options->names, words[(*at)++]);
    }
}

static void print_problem(void *context, const struct zoo_trial *trial, const char *problem,
                          const char *message)
{
    printf("%s %s/%s %s%s%s\n", message ? "WRONG" : "right", trial->family->name,
           trial->variant->name, problem, message ? ": " : "", message ? message : "");
}

static void print_trial(void *context, const struct zoo_trial *trial)
{
    const char *colour = host_style(stdout, trial->failed ? HOST_RED : HOST_GREEN);
    const char *plain = host_style(stdout, HOST_PLAIN);
    char name[80];
    snprintf(name, sizeof name, "%s/%s", trial->family->name, trial->variant->name);
    if (trial->problems == 0 && !trial->failed)
        printf("%-40s %stakes none of the problems%s\n", name, host_style(stdout, HOST_DIM), plain);
    else if (trial->failed)
        printf("%-40s %sWRONG%s %u of %u problems\n    %s\n", name, colour, plain, trial->failed,
               trial->problems, trial->message);
    else
        printf("%-40s %sright%s %u problem%s\n", name, colour, plain, trial->problems,
               trial->problems == 1 ? "" : "s");
    fflush(stdout);
}

static int report(const struct zoo_trial *trials, size_t count, bool json)
{
    size_t failed = 0, skipped = 0;
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct zoo_trial *trial = &trials[i];
        failed += trial->failed > 0;
        skipped += trial->problems == 0 && trial->failed == 0;
        json_array_append_new(all, json_pack("{s:s, s:s, s:i, s:i, s:s*}", "family",
                                             trial->family->name, "variant", trial->variant->name,
                                             "problems", (int)trial->problems, "failed",
                                             (int)trial->failed, "message", trial->message));
    }
    if (json) {
        cli_print_json(all);
    } else {
        size_t right = count - failed - skipped;
        printf("%zu variant%s right, %zu wrong", right, right == 1 ? "" : "s", failed);
        printf(skipped ? ", %zu took none of the problems\n" : "\n", skipped);
        json_decref(all);
    }
    return failed ? CLI_FINDINGS : CLI_OK;
}

static int test(struct cli_zoo *options, bool edges)
{
    struct zoo_trial *trials = NULL;
    size_t count = 0;
    char gpu[TARGET_NAME], *message = NULL;
    int status = CLI_USAGE;
    options->trial.edges = edges;
    options->trial.names = &options->names;
    options->trial.problems = options->problems.size ? options->problems.data : NULL;
    options->trial.problem_done = options->verbose && !options->json ? print_problem : NULL;
    options->trial.variant_done = options->json ? NULL : print_trial;
    if (!target_choose(options->gpu, gpu))
        return CLI_USAGE;
    if (zoo_try(&options->trial, gpu, &trials, &count, &message))
        status = report(trials, count, options->json);
    else
        host_error("%s", message);
    free(message);
    zoo_trials_free(trials, count);
    return status;
}

static int run(int count, char **words)
{
    struct cli_zoo options = {0};
    const char *verb = count > 0 ? words[0] : "list";
    int status = CLI_USAGE;
    bool bad = false;
    for (int at = 1; at < count && !bad;)
        take_word(&options, count, words, &at, &bad);
    if (bad)
        goto out;
    if (strcmp(verb, "list") == 0) {
        status = list(options.json);
    } else if (strcmp(verb, "show") == 0) {
        if (options.names.count == 1)
            status = show(options.names.items[0], options.json);
        else
            host_error("show: which family? as in 'lockstep zoo show reduction'");
    } else if (strcmp(verb, "test") == 0 || strcmp(verb, "run") == 0) {
        status = test(&options, verb[0] == 't');
    } else if (strcmp(verb, "memory") == 0) {
        status = cli_zoo_memory(&options);
    } else if (strcmp(verb, "export") == 0) {
        status = cli_zoo_export(&options);
    } else {
        host_error("there is no '%s'; it is list, show, test, run, memory or export", verb);
    }
out:
    lk_list_free(&options.names);
    lk_buf_free(&options.problems);
    return status;
}

const struct cli_command cli_zoo = {"zoo", "the kernel library: list, show, test, memory, export",
                                    help, run};
