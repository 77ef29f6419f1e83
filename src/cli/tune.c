/*
 * tune.c: lockstep tune: searches a family's tunables on the GPU at hand and writes the table that
 * the public calls choose from.
 */
#include "tune/tune.h"
#include "cli/cli.h"
#include "cli/target.h"
#include "zoo/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep tune FAMILY[/VARIANT] [PARAMETER=VALUE ...] [options]\n"
    "\n"
    "Looks for the variant and the values of its tunables (block size, unrolling ..) that are\n"
    "fastest on this GPU, compiles them from the built-in sources, and writes the table that\n"
    "liblockstep's calls read from then on. Without parameters it takes the family's own list of\n"
    "problems, or one small problem on a simulated GPU, where times are modelled.\n"
    "\n"
    "  --gpu GPU            cuda:0, sim:h200 ..\n"
    "  --time SECONDS       for all problems together (default 60); every variant is tried once\n"
    "                       with its normal values even if that takes longer\n"
    "  --normal             only chooses between the built-in kernels; needs no compiler\n"
    "  --compiler NAME      nvcc or clang; default: whichever is found first\n"
    "  --output FILE        the table, in place of the one in ~/.local/share/lockstep/tuned\n"
    "  --dry-run            writes nothing\n"
    "  --resume             leaves out problems that the table has already: a search that was\n"
    "                       stopped goes on where it was\n"
    "  --seed N             seed of the random part of the search\n"
    "  --verbose            a line for each configuration\n"
    "  --json               the result for programs\n"
    "\n"
    "examples:\n"
    "  lockstep tune reduction --time 300\n"
    "  lockstep tune reduction/vectorised n=1M,256M type=f32\n"
    "  lockstep tune gemm m=1,16,4096 n=4096 k=14336 type=bf16 --resume\n"
    "  lockstep tune scan n=100K --gpu sim:t4 --dry-run --verbose\n";

struct options {
    const char *name, *gpu, *compiler, *output;
    struct lk_buf problems;
    double seconds;
    unsigned long long seed;
    bool normal, dry, resume, verbose, json;
};

/* Words -----------------------------------------------------------------------------------------*/

static bool parse_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end != text && !*end && isfinite(*seconds) && *seconds > 0 && *seconds <= 86400)
        return true;
    host_error("--time takes seconds above 0 and up to 86400, not '%s'", text);
    return false;
}

static bool parse_compiler(struct options *options)
{
    if (!options->compiler)
        return false;
    if (strcmp(options->compiler, "nvcc") == 0 || strcmp(options->compiler, "clang") == 0)
        return true;
    host_error("--compiler is nvcc or clang, not '%s'", options->compiler);
    return false;
}

static bool parse_word(struct options *options, int count, char **words, int *at)
{
    const char *value;
    if (cli_flag(words, at, "--normal"))
        return options->normal = true;
    if (cli_flag(words, at, "--dry-run"))
        return options->dry = true;
    if (cli_flag(words, at, "--resume"))
        return options->resume = true;
    if (cli_flag(words, at, "--verbose"))
        return options->verbose = true;
    if (cli_flag(words, at, "--json"))
        return options->json = true;
    if (cli_option(count, words, at, "--gpu", &options->gpu))
        return options->gpu != NULL;
    if (cli_option(count, words, at, "--output", &options->output))
        return options->output != NULL;
    if (cli_option(count, words, at, "--compiler", &options->compiler))
        return parse_compiler(options);
    if (cli_option(count, words, at, "--seed", &value))
        return value && cli_number("--seed", value, 0, INT64_MAX, &options->seed);
    if (cli_option(count, words, at, "--time", &value))
        return value && parse_seconds(value, &options->seconds);
    if (words[*at][0] == '-') {
        host_error("there is no option '%s' here; see 'lockstep tune --help'", words[*at]);
        return false;
    }
    if (strchr(words[*at], '=')) {
        lk_buf_printf(&options->problems, "%s ", words[(*at)++]);
        return true;
    }
    if (options->name) {
        host_error("one family at a time: '%s' or '%s'", options->name, words[*at]);
        return false;
    }
    options->name = words[(*at)++];
    return true;
}

static bool parse(int count, char **words, struct options *options)
{
    *options = (struct options){.seconds = 60, .seed = 1};
    for (int at = 0; at < count;)
        if (!parse_word(options, count, words, &at))
            return false;
    if (!options->name)
        host_error("which family? 'lockstep zoo list' names them");
    return options->name != NULL;
}

/* The compiler ----------------------------------------------------------------------------------*/

/* nvcc makes the kernels that are built in, where it is there, so it also makes other versions. */
static bool find_compiler(struct lk_arena *arena, const struct options *options,
                          struct toolchain_compiler *compiler)
{
    *compiler = toolchain_find_compiler(arena, options->compiler, "nvcc");
    if (!compiler->path)
        host_error("there is no %s here; 'apt install clang-19' or scripts/get-nvcc gets one, and "
                   "--normal needs none",
                   options->compiler ? options->compiler : "nvcc and no clang 16 or newer");
    return compiler->path != NULL;
}

/* Running ---------------------------------------------------------------------------------------*/

static struct zoo_problem *choose_problems(const struct options *options, bool simulated,
                                           const struct zoo_family *family, size_t *count)
{
    char *message = NULL;
    struct zoo_problem *problems =
        options->problems.size ? zoo_problems(family, options->problems.data, count, &message)
        : simulated            ? zoo_problems(family, family->profile, count, &message)
                               : zoo_problem_list(family, family->bench, count, &message);
    if (!problems)
        host_error("%s: %s", family->name, message);
    free(message);
    return problems;
}

/* Where the table goes; NULL if nowhere. */
static const char *table_path(const struct options *options, const struct zoo_device *device,
                              struct lk_buf *path)
{
    if (options->dry)
        return NULL;
    if (options->output)
        return options->output;
    zoo_tuned_file(device, path);
    if (!path->size)
        host_error("neither XDG_DATA_HOME nor HOME is set: --output says where the table goes");
    return path->data;
}

/* A search for one family, and where its rows go as soon as they are found: one that is stopped
 * can be resumed. */
struct search {
    const struct options *options;
    const struct zoo_device *device;
    struct tune_request request;
    const char *path; /* of the table; NULL: nowhere */
    bool written, failed;
};

static void write_row(void *context, const struct tune_row *row)
{
    struct search *search = context;
    char *message = NULL;
    if (!search->path || search->failed)
        return;
    search->written = tune_write(search->device, &search->request, row, search->path, &message);
    search->failed = !search->written;
    if (message)
        host_error("%s", message);
    free(message);
}

/* Leaves out the problems that the table has already; how many are left. */
static size_t drop_known(const struct search *search, struct zoo_problem *problems, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (!search->options->resume || !search->path ||
            !tune_has_row(search->device, &problems[i], search->path))
            problems[left++] = problems[i];
    return left;
}

static int report(const struct search *search, const struct tune_row *rows, json_t *results)
{
    const struct tune_request *request = &search->request;
    size_t found = 0;
    for (size_t i = 0; i < request->count; i++)
        found += rows[i].variant != NULL;
    if (search->options->json) {
        json_t *object = tune_json(search->device, request, rows);
        if (search->written)
            json_object_set_new(object, "written", json_string(search->path));
        json_array_append_new(results, object);
    } else {
        tune_print(stdout, search->device, request, rows);
        if (search->written)
            printf("written to %s\n", search->path);
    }
    return found < request->count || search->failed ? CLI_FINDINGS : CLI_OK;
}

static int tune_family(struct search *search, json_t *results)
{
    struct tune_request *request = &search->request;
    char *message = NULL;
    struct zoo_problem *problems = choose_problems(search->options, search->device->cuda->simulated,
                                                   request->family, &request->count);
    if (!problems)
        return CLI_USAGE;
    size_t all = request->count;
    request->problems = problems;
    request->count = drop_known(search, problems, all);
    if (request->count < all)
        fprintf(stderr, "%s: %zu of %zu problems are in %s already\n", request->family->name,
                all - request->count, all, search->path);
    struct tune_row *rows = lk_alloc_zeroed((request->count + 1) * sizeof *rows);
    int status = CLI_FINDINGS;
    bool done = tune_run(search->device, request, rows, &message);
    if (request->progress)
        cli_progress(NULL, NULL, 0);
    if (done)
        status = report(search, rows, results);
    else
        host_error("%s", message);
    free(message);
    tune_rows_free(rows, request->count);
    free(rows);
    free(problems);
    return status;
}

/* The family, and one that is tuned with it unless a variant was named. */
static int tune(const struct options *options, struct tune_request request,
                const struct zoo_device *device)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct lk_buf path = {0};
    struct search search = {.options = options, .device = device, .request = request};
    const struct zoo_family *other = request.only ? NULL : request.family->tuned_with;
    json_t *results = json_array();
    search.request.seconds = options->seconds / (other ? 2 : 1);
    search.request.seed = options->seed;
    search.request.verbose = options->verbose;
    search.request.jobs = cores > 1 ? (unsigned)cores : 1;
    search.request.progress = options->verbose ? NULL : cli_progress;
    search.request.found = write_row;
    search.request.context = &search;
    search.path = table_path(options, device, &path);
    search.failed = !search.path && !options->dry;
    int status = search.failed ? CLI_FINDINGS : tune_family(&search, results);
    if (other && status != CLI_USAGE && !search.failed) {
        search.request.family = other;
        int second = tune_family(&search, results);
        status = second > status ? second : status;
    }
    if (options->json && json_array_size(results))
        cli_print_json(json_array_size(results) == 1 ? json_incref(json_array_get(results, 0))
                                                     : json_incref(results));
    json_decref(results);
    lk_buf_free(&path);
    return status;
}

static int run(int count, char **words)
{
    struct options options;
    struct tune_request request = {0};
    struct toolchain_compiler compiler = {0};
    struct zoo_device device;
    char gpu[TARGET_NAME], *message;
    struct lk_arena *arena = lk_arena_create();
    int status = CLI_USAGE;
    if (!parse(count, words, &options) ||
        !cli_find_family(options.name, &request.family, &request.only) ||
        !target_choose(options.gpu, gpu))
        goto out;
    if (strcmp(gpu, "cpu") == 0) {
        host_error("there is nothing to tune on the CPU: --gpu cuda:0 or sim:h200");
        goto out;
    }
    if (!options.normal && !find_compiler(arena, &options, &compiler))
        goto out;
    request.compiler = options.normal ? NULL : &compiler;
    if (zoo_device_open(gpu, &device, &message)) {
        status = tune(&options, request, &device);
    } else {
        host_error("%s", message);
        free(message);
    }
out:
    lk_buf_free(&options.problems);
    lk_arena_destroy(arena);
    return status;
}

const struct cli_command cli_tune = {"tune", "fit a family's kernels to this GPU", help, run};
