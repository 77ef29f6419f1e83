/*
 * bench.c: lockstep bench: how long variants and peers take, side by side; results as a table,
 * JSON, CSV or HTML, kept in the history and compared with what was measured before. src/bench does
 * it.
 */
#include "bench/history.h"
#include "cli/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    "  --quick          of a family's own list only the main problems; simulated: only the first\n"
    "  --no-peers       only our variants\n"
    "  --only-peers     only peers\n"
    "  --save NAME      keeps the run under a name\n"
    "  --against NAME   compares with a saved run, or with a file that --json wrote: better, the\n"
    "                   same, worse or ambiguous\n"
    "  --json           print JSON\n"
    "  --json-file FILE the table on stdout, and the JSON into a file\n"
    "  --csv FILE       a row for each time\n"
    "  --html FILE      one page with tables and plots\n"
    "\n"
    "Numbers may end in K, M or G (powers of 1024); commas make several problems.\n"
    "The history is $LOCKSTEP_HISTORY, by default ~/.local/share/lockstep/history.db.\n"
    "The exit status is 1 if a result was wrong or a variant got worse.\n"
    "\n"
    "examples:\n"
    "  lockstep bench reduction\n"
    "  lockstep bench reduction/vectorised n=256M type=f32,bf16 --gpu cuda:0\n"
    "  lockstep bench --all --save before\n"
    "  lockstep bench reduction --against before\n"
    "  lockstep bench history reduction\n";

struct options {
    struct cli_measure measure;
    const char *save, *against, *csv, *html, *json_file;
    struct bench_saved *saved; /* of against */
    bool all, json;
};

/* Words -----------------------------------------------------------------------------------------*/

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
        return options->measure.request.quick = true;
    if (cli_flag(words, at, "--all"))
        return options->all = true;
    if (!cli_measure_option(&options->measure, count, words, at, &bad)) {
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
    if (options->all && options->measure.names.count) {
        host_error("--all and '%s': one of them", options->measure.names.items[0]);
        return false;
    }
    return cli_measure_check(&options->measure);
}

/* Checked before a long measurement, not after it. */
static bool can_write(const char *path)
{
    FILE *file = path ? fopen(path, "ae") : NULL;
    if (path && !file)
        host_error("%s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return !path || file;
}

static bool find_saved(struct options *options)
{
    char *message = NULL;
    if (!options->against)
        return true;
    options->saved = bench_saved_find(options->against, &message);
    if (!options->saved)
        host_error("--against %s: %s", options->against, message);
    free(message);
    return options->saved != NULL;
}

/* While it runs ---------------------------------------------------------------------------------*/

static bool begin(void *context, const struct bench_report *report)
{
    const struct options *options = context;
    struct report_paint paint = cli_paint(stdout);
    char *message = NULL;
    if (options->saved && !bench_comparable(report->place, options->saved, &message)) {
        host_error("--against %s: %s", options->against, message);
        free(message);
        return false;
    }
    if (!options->json)
        bench_print_place(stdout, &paint, report);
    return true;
}

/* A long run that is stopped keeps its results so far; write errors are reported at the end. */
static void done(void *context, const struct bench_report *report, const char *trouble)
{
    const struct options *options = context;
    struct report_paint paint = cli_paint(stdout);
    cli_progress(NULL, NULL, 0);
    if (trouble) {
        host_error("%s", trouble);
        return;
    }
    if (!options->json)
        bench_print_result(stdout, &paint, report->place, &report->results[report->count - 1]);
    if (options->json_file) {
        json_t *object = bench_report_json(report);
        (void)json_dump_file(object, options->json_file, JSON_INDENT(2));
        json_decref(object);
    }
}

/* After it --------------------------------------------------------------------------------------*/

/* Every run goes to the history; failing to write it is an error only with --save. */
static bool keep(const struct options *options, const struct bench_report *report)
{
    char *message = NULL;
    struct bench_history *history = bench_history_open_usual(true, &message);
    bool kept = history && bench_history_add(history, report, options->save, &message);
    bench_history_close(history);
    if (!kept)
        host_error("%sthe run was not saved in the history: %s",
                   options->save ? "" : "remark: ", message);
    free(message);
    return kept || !options->save;
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

/* Takes object. */
static bool put_json(const struct options *options, json_t *object)
{
    enum { FLAGS = JSON_INDENT(2) | JSON_REAL_PRECISION(10) };
    bool written = !options->json_file || json_dump_file(object, options->json_file, FLAGS) == 0;
    if (!written)
        host_error("%s: %s", options->json_file, strerror(errno));
    if (options->json)
        cli_print_json(object);
    else
        json_decref(object);
    return written;
}

/* JSON, and the comparison; true if a variant got slower. */
static bool report_changes(const struct options *options, const struct bench_report *report,
                           bool *fine)
{
    size_t count = 0;
    bool worse = false;
    struct report_paint paint = cli_paint(stdout);
    struct bench_change *changes =
        options->saved ? bench_changes(report, options->saved, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        worse = worse || (changes[i].before && changes[i].verdict == BENCH_WORSE);
    if (options->json || options->json_file) {
        json_t *object = bench_report_json(report);
        if (options->saved)
            json_object_set_new(object, "against", bench_changes_json(changes, count));
        *fine = put_json(options, object) && *fine;
    }
    if (options->saved && !options->json)
        bench_print_changes(stdout, &paint, changes, count, options->saved, options->against);
    free(changes);
    return worse;
}

static int measure(struct options *options)
{
    struct bench_run run;
    int status = CLI_USAGE;
    if (cli_measure_run(&options->measure, &run)) {
        const struct bench_report *report = &run.report;
        bool fine = !run.failed, worse = report_changes(options, report, &fine);
        fine = write_files(options, report) && fine;
        if (bench_report_has(report, BENCH_MEASURED))
            fine = keep(options, report) && fine;
        bool wrong = bench_report_has(report, BENCH_WRONG);
        status = !fine ? CLI_USAGE : wrong || worse ? CLI_FINDINGS : CLI_OK;
    }
    bench_run_free(&run);
    return status;
}

/* History ---------------------------------------------------------------------------------------*/

/* The name after the slash may be a peer's, which is not a variant. */
static bool find_contestant(const char *text, const struct zoo_family **family, const char **name)
{
    const struct zoo_variant *variant;
    const char *slash = strchr(text, '/');
    char *whole = strndup(text, slash ? (size_t)(slash - text) : strlen(text));
    bool found = cli_find_family(whole, family, &variant);
    free(whole);
    *name = slash ? slash + 1 : NULL;
    for (const struct zoo_peer *peer = found && *name ? (*family)->peers : NULL; peer && peer->name;
         peer++)
        if (strcmp(peer->name, *name) == 0)
            return true;
    return found && (!*name || cli_find_family(text, family, &variant));
}

static int show_history(const char *text, bool json)
{
    const struct zoo_family *family;
    const char *name;
    char *message = NULL;
    struct bench_series *series = NULL;
    struct report_paint paint = cli_paint(stdout);
    size_t found = 0;
    if (!find_contestant(text, &family, &name))
        return CLI_USAGE;
    struct bench_history *history = bench_history_open_usual(false, &message);
    bool fine =
        history && bench_history_series(history, family->name, name, &series, &found, &message);
    if (fine && json)
        cli_print_json(bench_series_json(series, found));
    else if (fine && found == 0)
        host_say("%s was never measured here; 'lockstep bench %s' does\n", text, text);
    else if (fine)
        bench_print_series(stdout, &paint, series, found, name != NULL);
    else
        host_error("history: %s", message);
    free(message);
    bench_series_free(series, found);
    bench_history_close(history);
    return fine ? CLI_OK : CLI_USAGE;
}

static int run_history(int count, char **words)
{
    const char *text = NULL;
    bool json = false;
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--json")) {
            json = true;
        } else if (words[at][0] == '-' || text) {
            host_error("history: '%s' is not understood; see 'lockstep bench --help'", words[at]);
            return CLI_USAGE;
        } else {
            text = words[at++];
        }
    }
    if (text)
        return show_history(text, json);
    host_error("history: of which family? as in 'lockstep bench history reduction'");
    return CLI_USAGE;
}

static int run(int count, char **words)
{
    struct options options = {.measure.request.seconds = 2};
    int status = CLI_USAGE;
    if (count > 0 && strcmp(words[0], "history") == 0)
        return run_history(count - 1, words + 1);
    options.measure.request.begin = begin;
    options.measure.request.done = done;
    options.measure.request.context = &options;
    if (parse(count, words, &options) && can_write(options.csv) && can_write(options.html) &&
        can_write(options.json_file) && find_saved(&options))
        status = measure(&options);
    bench_saved_free(options.saved);
    cli_measure_free(&options.measure);
    return status;
}

const struct cli_command cli_bench = {"bench", "time kernels of the library beside their peers",
                                      help, run};
