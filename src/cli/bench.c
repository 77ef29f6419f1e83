/*
 * bench.c: lockstep bench: how long variants and peers take, side by side; results as a table,
 * JSON, CSV or HTML, kept in the history and compared with what was measured before.
 */
#include "cli/bench.h"
#include "bench/history.h"
#include "cli/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep bench [FAMILY[/VARIANT] ...] [PARAMETER=VALUE ...] [options]\n"
    "       lockstep bench history FAMILY[/VARIANT] [--json]\n"
    "\n"
    "Times variants and peers (CUB, cuBLAS, PyTorch ..) on the same problems, taking turns launch "
    "by\n"
    "launch, after each has passed the reference. Without families it takes all; without "
    "parameters\n"
    "a family's own list of problems, or one small problem on a simulated GPU, where times are\n"
    "modelled. Every run is kept; 'history' draws them.\n"
    "\n"
    "  --gpu GPU        cuda:0, sim:h200 .., or cpu for the variants that run there\n"
    "  --all            all families, as if none was named\n"
    "  --time SECONDS   for each problem (default 2); less if the medians are known to 0.5 % "
    "before\n"
    "  --quick          of a family's own list only the main problems\n"
    "  --no-peers       only ours\n"
    "  --only-peers     only others'\n"
    "  --save NAME      keeps the run under a name\n"
    "  --against NAME   compares with a saved run, or with a file that --json wrote: better, the\n"
    "                   same, worse or ambiguous\n"
    "  --json           the same for programs\n"
    "  --json-file FILE the table on stdout, and the JSON into a file\n"
    "  --csv FILE       a row for each time\n"
    "  --html FILE      one page with tables and plots\n"
    "\n"
    "Numbers may end in K, M or G (powers of 1024); commas make several problems.\n"
    "The history is $LOCKSTEP_HISTORY, or lockstep/history.db where XDG_DATA_HOME says.\n"
    "The exit status is 1 if a result was wrong or a variant got worse.\n"
    "\n"
    "examples:\n"
    "  lockstep bench reduction\n"
    "  lockstep bench reduction/vectorised n=256M type=f32,bf16 --gpu cuda:0\n"
    "  lockstep bench --all --save before\n"
    "  lockstep bench reduction --against before\n"
    "  lockstep bench history reduction\n";

struct options {
    struct measure_request request;
    const char *save, *against, *csv, *html, *json_file;
    struct bench_saved *saved; /* of against */
    bool all, json;
};

static bool parse_word(struct options *options, int count, char **words, int *at)
{
    bool bad = false;
    const struct {
        const char *name;
        const char **value;
    } texts[] = {{"--save", &options->save},
                 {"--against", &options->against},
                 {"--csv", &options->csv},
                 {"--html", &options->html},
                 {"--json-file", &options->json_file}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (cli_option(count, words, at, texts[i].name, texts[i].value)) {
            if (*texts[i].value && !**texts[i].value)
                host_error("%s needs a value", texts[i].name);
            return *texts[i].value && **texts[i].value;
        }
    if (cli_flag(words, at, "--json"))
        return options->json = true;
    if (cli_flag(words, at, "--quick"))
        return options->request.quick = true;
    if (cli_flag(words, at, "--all"))
        return options->all = true;
    if (!measure_word(&options->request, count, words, at, &bad)) {
        host_error("there is no option '%s' here; see 'lockstep bench --help'", words[*at]);
        return false;
    }
    return !bad;
}

static bool parse(int count, char **words, struct options *options)
{
    for (int at = 0; at < count;)
        if (!parse_word(options, count, words, &at))
            return false;
    if (options->all && options->request.names.count) {
        host_error("--all and '%s': one of them", options->request.names.items[0]);
        return false;
    }
    options->request.print = !options->json;
    return measure_check(&options->request);
}

/* What was before -------------------------------------------------------------------------------*/

struct bench_history *bench_open_history(bool writable, char **message)
{
    char *path = bench_history_path();
    struct bench_history *history = NULL;
    *message = NULL;
    if (path)
        history = bench_history_open(path, writable, message);
    else
        *message = strdup("no home folder is known; set LOCKSTEP_HISTORY to a file");
    free(path);
    return history;
}

/* A file if there is one, or it looks like one; else a name in the history. */
static struct bench_saved *find_saved(const char *name)
{
    char *message = NULL;
    struct bench_saved *saved = NULL;
    size_t length = strlen(name);
    bool file = strchr(name, '/') || access(name, F_OK) == 0 ||
                (length > 5 && strcmp(name + length - 5, ".json") == 0);
    if (file) {
        saved = bench_saved_read(name, &message);
    } else {
        struct bench_history *history = bench_open_history(false, &message);
        if (history)
            saved = bench_history_find(history, name, &message);
        bench_history_close(history);
    }
    if (!saved)
        host_error("--against %s: %s", name, message);
    free(message);
    return saved;
}

/* Every run goes to the history; only one that was to be saved fails with it. */
static bool keep(const struct options *options, const struct bench_report *report)
{
    char *message = NULL;
    struct bench_history *history = bench_open_history(true, &message);
    bool kept = history && bench_history_add(history, report, options->save, &message);
    bench_history_close(history);
    if (!kept)
        host_error("%sthe history is not kept: %s", options->save ? "" : "remark: ", message);
    free(message);
    return kept || !options->save;
}

/* Reporting -------------------------------------------------------------------------------------*/

static bool any_wrong(const struct bench_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].count; k++)
            if (report->results[i].entries[k].state == BENCH_WRONG)
                return true;
    return false;
}

static bool any_measured(const struct bench_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; k < report->results[i].count; k++)
            if (report->results[i].entries[k].state == BENCH_MEASURED)
                return true;
    return false;
}

/* Better to know it before a long measurement than after. */
static bool can_write(const char *path)
{
    FILE *file = path ? fopen(path, "ae") : NULL;
    if (path && !file)
        host_error("%s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return !path || file;
}

static bool write_files(const struct options *options, const struct bench_report *report)
{
    struct lk_buf csv = {0}, html = {0};
    bool fine = true;
    if (options->csv) {
        bench_report_csv(&csv, report);
        fine = cli_write_file(options->csv, csv.data, csv.size);
    }
    if (options->html) {
        bench_report_html(&html, report);
        fine = cli_write_file(options->html, html.data, html.size) && fine;
    }
    lk_buf_free(&csv);
    lk_buf_free(&html);
    return fine;
}

static bool put_json(const struct options *options, json_t *object)
{
    enum { FLAGS = JSON_INDENT(2) | JSON_REAL_PRECISION(10) };
    if (options->json) {
        json_dumpf(object, stdout, FLAGS);
        putchar('\n');
    }
    if (!options->json_file || json_dump_file(object, options->json_file, FLAGS) == 0)
        return true;
    host_error("%s: %s", options->json_file, strerror(errno));
    return false;
}

/* A long run that is stopped leaves what it had. */
static void write_so_far(const struct bench_report *report, void *context)
{
    const struct options *options = context;
    if (!options->json_file)
        return;
    json_t *object = bench_report_json(report);
    (void)json_dump_file(object, options->json_file, JSON_INDENT(2)); /* the end says what fails */
    json_decref(object);
}

/* JSON, and the comparison; true if a variant got slower. */
static bool report_changes(const struct options *options, const struct bench_report *report,
                           bool *fine)
{
    size_t count = 0;
    bool worse = false;
    struct bench_change *changes =
        options->saved ? bench_changes(report, options->saved, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        worse = worse || (changes[i].before && changes[i].verdict == BENCH_WORSE);
    if (options->json || options->json_file) {
        json_t *object = bench_report_json(report);
        if (options->saved)
            json_object_set_new(object, "against", bench_changes_json(changes, count));
        *fine = put_json(options, object) && *fine;
        json_decref(object);
    }
    if (options->saved && !options->json) {
        struct report_paint paint = cli_paint(stdout);
        bench_print_changes(stdout, &paint, changes, count, options->saved, options->against);
    }
    free(changes);
    return worse;
}

static bool accepts(const struct bench_place *place, void *context)
{
    const struct options *options = context;
    char *message = NULL;
    if (!options->saved || bench_comparable(place, options->saved, &message))
        return true;
    host_error("--against %s: %s", options->against, message);
    free(message);
    return false;
}

static int measure(const struct options *options)
{
    struct measure measure;
    if (!measure_run(&options->request, &measure))
        return CLI_USAGE;
    bool fine = !measure.failed, worse = report_changes(options, &measure.report, &fine);
    fine = write_files(options, &measure.report) && fine;
    if (any_measured(&measure.report))
        fine = keep(options, &measure.report) && fine;
    int status = !fine ? CLI_USAGE : any_wrong(&measure.report) || worse ? CLI_FINDINGS : CLI_OK;
    measure_free(&measure);
    return status;
}

static int run(int count, char **words)
{
    struct options options = {.request.seconds = 2};
    int status = CLI_USAGE;
    if (count > 0 && strcmp(words[0], "history") == 0)
        return bench_show_history(count - 1, words + 1);
    options.request.accepts = accepts;
    options.request.after = write_so_far;
    options.request.context = &options;
    if (parse(count, words, &options) && can_write(options.csv) && can_write(options.html) &&
        can_write(options.json_file) &&
        (!options.against || (options.saved = find_saved(options.against))))
        status = measure(&options);
    bench_saved_free(options.saved);
    measure_request_free(&options.request);
    return status;
}

const struct cli_command cli_bench = {"bench", "how long kernels take, beside their peers", help,
                                      run};
