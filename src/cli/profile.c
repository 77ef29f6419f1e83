/*
 * profile.c: lockstep profile: runs a CUDA program on a simulated GPU with its counters on, and
 * shows what its kernels did, line by line, what bounds them, and what to do about it. The program
 * writes its counters to a file of ours (LOCKSTEP_PROFILE); src/report reads it.
 */
#include "cli/client.h"
#include "cli/start.h"
#include "host/files.h"
#include "report/advice.h"
#include "report/report.h"
#include "zoo/embedded.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep profile [options] FILE.cu ... [nvcc's options] [-- ARGUMENTS]\n"
    "       lockstep profile [options] PROGRAM [ARGUMENTS]\n"
    "       lockstep profile [options] SCRIPT.py | -m MODULE | COMMAND [ARGUMENTS]\n"
    "       lockstep profile [options] FAMILY[/VARIANT] [PARAMETER=VALUE ...]\n"
    "       lockstep profile --compare A B [options]\n"
    "\n"
    "Runs the program on a simulated GPU and reports for each kernel: the modelled time and what\n"
    "bounds it, occupancy, the source with its hot lines, and advice with the gain to expect.\n"
    "\n"
    "  --kernel NAME          only kernels with NAME in their name\n"
    "  --launch N             only launch number N of the program, from 0\n"
    "  --json                 everything, for programs; the program's own output goes to stderr\n"
    "  --html FILE            one page with roofline, heat map and pictures of the accesses\n"
    "  --compare A B          two programs, or two results of --json: what changed\n"
    "  --timeline FILE        the whole program's copies, kernels and calls, for Perfetto\n"
    "  --trace FILE           what single warps did, as JSON (docs/trace.md)\n"
    "  --trace-blocks A-B     of these blocks (default 0-1)\n"
    "  --trace-warps A-B      of these warps of a block (default 0-3)\n"
    "  --trace-records N      at most this many records of a launch (default 4096)\n"
    "  --replay FILE          the start of a launch, event by event in modelled time, as JSON to\n"
    "                         play back in the studio at /replay (docs/replay.md)\n"
    "  --replay-blocks A-B    of these blocks, with all their warps (default 0)\n"
    "  --replay-events N      at most this many events of a launch (default 16000)\n"
    "  --gpu sim:NAME         the GPU (default sim:h200); 'lockstep gpus' lists them\n"
    "  --threads --schedule --limit --poison --keep --verbose   as 'lockstep run'\n"
    "\n"
    "The exit status is 0, the program's own if it failed, 1 if no kernel ran, 2 for bad input.\n"
    "\n"
    "examples:\n"
    "  lockstep profile transpose.cu\n"
    "  lockstep profile matmul.cu -O3 --kernel tiled --gpu sim:a100 -- 1024\n"
    "  lockstep profile --compare naive.cu tiled.cu\n"
    "  lockstep profile reduction/vectorised n=4M type=f64\n"
    "  lockstep profile reduce.cu --json > before.json\n"
    "  lockstep profile gemm/shared_tiled m=64 n=64 k=64 --replay tiled.json\n";

struct options {
    struct profile_filter filter;
    bool json;
    const char *html, *timeline, *trace, *blocks, *warps, *records;
    const char *replay, *replay_blocks, *replay_events;
    const char *compare[2]; /* NULL: no comparison */
    struct lk_list rest;    /* for start_prepare */
};

/* Options ---------------------------------------------------------------------------------------*/

static bool is_range(const char *name, const char *text)
{
    size_t length = strspn(text, "0123456789");
    if (length && (!text[length] || (text[length] == '-' && text[length + 1] &&
                                     !text[length + 1 + strspn(text + length + 1, "0123456789")])))
        return true;
    host_error("%s takes a number or two with - between, as in 0-3, not '%s'", name, text);
    return false;
}

static bool compare_option(int count, char **words, int *at, struct options *options, bool *bad)
{
    if (!cli_flag(words, at, "--compare"))
        return false;
    for (int i = 0; i < 2 && !*bad; i++) {
        *bad = *at >= count || words[*at][0] == '-';
        options->compare[i] = *bad ? NULL : words[(*at)++];
    }
    if (*bad)
        host_error("--compare needs two programs or two saved results, as in "
                   "'lockstep profile --compare before.json after.cu'");
    return true;
}

/* One of our own options; *bad if it is one but wrong. */
static bool our_option(int count, char **words, int *at, struct options *options, bool *bad)
{
    const char *value;
    unsigned long long number;
    if (cli_flag(words, at, "--json"))
        return options->json = true;
    if (compare_option(count, words, at, options, bad))
        return true;
    const struct {
        const char *name;
        const char **value;
    } plain[] = {{"--html", &options->html},
                 {"--timeline", &options->timeline},
                 {"--trace", &options->trace},
                 {"--kernel", &options->filter.kernel},
                 {"--trace-blocks", &options->blocks},
                 {"--trace-warps", &options->warps},
                 {"--trace-records", &options->records},
                 {"--replay", &options->replay},
                 {"--replay-blocks", &options->replay_blocks},
                 {"--replay-events", &options->replay_events}};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (cli_option(count, words, at, plain[i].name, plain[i].value)) {
            value = *plain[i].value;
            *bad = !value;
            const char *name = plain[i].name;
            if (value &&
                (plain[i].value == &options->records || plain[i].value == &options->replay_events))
                *bad = !cli_number(name, value, 1, INT_MAX, &number);
            else if (value && (strstr(name, "-blocks") || strstr(name, "-warps")))
                *bad = !is_range(name, value);
            return true;
        }
    if (cli_option(count, words, at, "--launch", &value)) {
        *bad = !value || !cli_number("--launch", value, 0, INT_MAX, &number);
        options->filter.launch = *bad ? -1 : (long)number;
        return true;
    }
    return false;
}

static bool parse(int count, char **words, struct options *options)
{
    bool bad = false, ours = true;
    int client = client_at(count, words);
    *options = (struct options){.filter.launch = -1};
    for (int at = 0; at < count && !bad;) {
        ours = ours && at < client && strcmp(words[at], "--") != 0;
        if (!ours || !our_option(count, words, &at, options, &bad))
            lk_list_add(&options->rest, words[at++]);
    }
    if (bad)
        return false;
    bool named = options->rest.count > 0 && strcmp(options->rest.items[0], "--") != 0;
    if (!named && !options->compare[0]) {
        host_error("which program? as in 'lockstep profile prog.cu'");
        return false;
    }
    if (options->compare[0] &&
        (options->html || options->trace || options->timeline || options->replay)) {
        host_error("--compare goes with --json or with nothing");
        return false;
    }
    return true;
}

/* Running ---------------------------------------------------------------------------------------*/

struct measured {
    struct profile *profile;
    struct report_run run;
};

static void ask_for_trace(struct lk_arena *arena, const struct options *options)
{
    if (options->trace)
        start_put("LOCKSTEP_TRACE", lk_arena_printf(arena, "blocks:%s,warps:%s,records:%s",
                                                    options->blocks ? options->blocks : "0-1",
                                                    options->warps ? options->warps : "0-3",
                                                    options->records ? options->records : "4096"));
    else if (options->html) /* enough for its pictures */
        start_put("LOCKSTEP_TRACE", "blocks:0,warps:0,records:512");
    else
        unsetenv("LOCKSTEP_TRACE");
}

/* Of the launches that are wanted; the first ones, if all are. */
static void ask_for_replay(struct lk_arena *arena, const struct options *options)
{
    const struct profile_filter *filter = &options->filter;
    if (!options->replay) {
        unsetenv("LOCKSTEP_REPLAY");
        return;
    }
    const char *launches = filter->launch >= 0 ? lk_arena_printf(arena, "%ld", filter->launch)
                           : filter->kernel    ? "0-999999999"
                                               : "0-3";
    start_put("LOCKSTEP_REPLAY",
              lk_arena_printf(arena, "launches:%s,blocks:%s,events:%s", launches,
                              options->replay_blocks ? options->replay_blocks : "0",
                              options->replay_events ? options->replay_events : "16000"));
}

/* Compiles and runs; the profile is NULL after printing an error. */
static struct measured measure(struct lk_arena *arena, const struct options *options,
                               const struct lk_list *words, bool aside)
{
    struct measured measured = {0};
    struct start start = {.only_simulated = "profile", .family_verb = "run"};
    char *message = NULL;
    if (!start_prepare(arena, (int)words->count, (char **)words->items, &start))
        return measured;
    char *folder = host_temporary_folder("profile", &message);
    if (!folder) {
        host_error("%s", message);
        free(message);
        return measured;
    }
    char *file = lk_arena_printf(arena, "%s/counters", folder);
    host_write_file(file, "", 0, NULL); /* a program without kernels writes none */
    start_put("LOCKSTEP_PROFILE", file);
    ask_for_trace(arena, options);
    ask_for_replay(arena, options);
    measured.run =
        (struct report_run){start.title ? start.title : start.name, start_wait(&start, aside)};
    struct profile_filter filter = options->filter;
    if (start_is_family((int)words->count, (char **)words->items))
        filter.text_of = zoo_embedded_text; /* what was built in, wherever this runs */
    measured.profile = profile_read(file, &filter, &message);
    if (measured.profile) {
        profile_evaluate(measured.profile);
        advice_find(measured.profile);
    } else {
        host_error("%s", message);
        free(message);
    }
    host_remove_tree(folder);
    free(folder);
    return measured;
}

/* Reporting -------------------------------------------------------------------------------------*/

/* Takes json over. */
static bool write_json(const char *path, json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(12));
    bool written = cli_write_file(path, text ? text : "", text ? strlen(text) : 0);
    free(text);
    json_decref(json);
    return written;
}

static bool write_html(const char *path, const struct measured *measured)
{
    struct lk_buf page = {0};
    report_profile_html(&page, measured->profile, &measured->run);
    bool written = cli_write_file(path, page.data, page.size);
    lk_buf_free(&page);
    return written;
}

static const char *nothing_ran(struct lk_arena *arena, const struct options *options)
{
    if (options->filter.kernel)
        return lk_arena_printf(arena, "no kernel with '%s' in its name ran",
                               options->filter.kernel);
    if (options->filter.launch >= 0)
        return lk_arena_printf(arena, "there was no launch number %ld", options->filter.launch);
    return "the program ran no kernel";
}

/* A launch that was counted, or a call of a library such as cuBLAS, which the timeline shows. */
static bool anything_ran(const struct options *options, const struct profile *profile)
{
    if (profile->launch_count || options->filter.kernel || options->filter.launch >= 0)
        return profile->launch_count;
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i]->engines[TIMELINE_COMPUTE].operations)
            return true;
    return false;
}

static int report(struct lk_arena *arena, const struct options *options,
                  const struct measured *measured)
{
    const struct profile *profile = measured->profile;
    int status = measured->run.status;
    if (options->json)
        cli_print_json(report_profile_json(profile, &measured->run));
    if (status)
        host_error("%s ended with status %d%s", measured->run.program, status,
                   profile->launch_count ? "; this is what was counted" : "");
    bool ran = anything_ran(options, profile);
    if (!ran)
        host_error("%s", nothing_ran(arena, options));
    if (options->trace && !write_json(options->trace, report_trace_json(profile)))
        return CLI_USAGE;
    if (options->replay && !write_json(options->replay, report_replay_json(profile)))
        return CLI_USAGE;
    if (options->timeline && !write_json(options->timeline, timelines_chrome(&profile->timelines)))
        return CLI_USAGE;
    if (options->html && !write_html(options->html, measured))
        return CLI_USAGE;
    if (!options->json) {
        struct report_paint paint = cli_paint(stdout);
        if (profile->launch_count)
            putchar('\n'); /* after what the program printed */
        report_profile_text(stdout, &paint, profile);
    }
    return status ? status : ran ? CLI_OK : CLI_FINDINGS;
}

/* Comparing -------------------------------------------------------------------------------------*/

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

/* A saved report, or that of a program that is run now. */
static json_t *report_of(struct lk_arena *arena, const struct options *options, const char *name)
{
    if (ends_in(name, ".json")) {
        json_error_t error;
        json_t *saved = json_load_file(name, 0, &error);
        if (saved && json_is_array(json_object_get(saved, "kernels")))
            return saved;
        if (saved)
            host_error("%s: not a result of 'lockstep profile --json'", name);
        else
            host_error("%s:%d:%d: %s", name, error.line, error.column, error.text);
        json_decref(saved);
        return NULL;
    }
    struct lk_list words = {0};
    lk_list_add(&words, name);
    for (size_t i = 0; i < options->rest.count; i++)
        lk_list_add(&words, options->rest.items[i]);
    struct measured measured = measure(arena, options, &words, true);
    lk_list_free(&words);
    if (!measured.profile)
        return NULL;
    if (measured.run.status)
        host_error("%s ended with status %d", measured.run.program, measured.run.status);
    json_t *report = report_profile_json(measured.profile, &measured.run);
    profile_free(measured.profile);
    return report;
}

static int compare(struct lk_arena *arena, const struct options *options)
{
    json_t *reports[2] = {0};
    const char *names[2] = {options->compare[0], options->compare[1]};
    int status = CLI_USAGE;
    for (int i = 0; i < 2; i++)
        if (!(reports[i] = report_of(arena, options, names[i])))
            goto out;
    if (options->json) {
        cli_print_json(report_compare_json(names, reports));
    } else {
        struct report_paint paint = cli_paint(stdout);
        report_compare_text(stdout, &paint, names, reports);
    }
    status = CLI_OK;
out:
    json_decref(reports[0]);
    json_decref(reports[1]);
    return status;
}

static int run(int count, char **words)
{
    struct lk_arena *arena = lk_arena_create();
    struct options options;
    int status = CLI_USAGE;
    client_part_arguments(arena, &count, &words);
    if (parse(count, words, &options)) {
        if (options.compare[0]) {
            status = compare(arena, &options);
        } else {
            struct measured measured = measure(arena, &options, &options.rest, options.json);
            if (measured.profile)
                status = report(arena, &options, &measured);
            profile_free(measured.profile);
        }
    }
    lk_list_free(&options.rest);
    lk_arena_destroy(arena);
    return status;
}

const struct cli_command cli_profile = {
    "profile", "show what bounds each kernel, line by line, and what to change", help, run};
