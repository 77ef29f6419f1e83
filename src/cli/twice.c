/*
 * twice.c: runs a program with two schedules of warps and blocks and compares what they leave in
 * device memory after every launch (src/simt/states.h), and what they print. Both run on one host
 * thread, so each repeats exactly: the bytes of the first difference come from running both again.
 */
#include "cli/twice.h"
#include "cli/twice_bytes.h"
#include "host/child.h"
#include "host/demangle.h"
#include "host/files.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run_record { /* one of the two runs */
    const char *schedule, *states, *output;
    int status;
    FILE *file;
    char *line;
    size_t capacity;
};

struct difference {
    bool found, is_memory, before, printed;
    unsigned machine;
    unsigned long long launch, launches, bytes; /* launches: compared without a difference */
    char atomics[8], what[256], *kernel;        /* what: an allocation's number, or a variable */
    bool apart;                                 /* the runs launch different things */
    unsigned long long line;                    /* of stdout; 0: the same */
    struct twice_bytes detail;
};

/* Runs ------------------------------------------------------------------------------------------*/

static int run_once(const struct start *start, const struct run_record *run, const char *input,
                    const char *dump)
{
    struct lk_list words = {0};
    lk_list_add(&words, start->name);
    for (char **argument = start->arguments; *argument; argument++)
        lk_list_add(&words, *argument);
    start_put("LOCKSTEP_THREADS", "1");
    start_put("LOCKSTEP_SCHEDULE", run->schedule);
    start_put("LOCKSTEP_STATES", run->states);
    start_put("LOCKSTEP_STATES_DUMP", dump);
    int status = host_run(&(struct host_command){.path = start->path,
                                                 .words = words.items,
                                                 .input = input,
                                                 .output = run->output,
                                                 .errors = *dump ? "/dev/null" : NULL});
    lk_list_free(&words);
    return status;
}

/* What the program would read, so that both runs read the same. A pipe that nobody writes to is
 * taken to be empty: most programs do not read. */
static const char *keep_input(struct lk_arena *arena, const char *folder)
{
    enum { PATIENCE_MS = 200 };
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    if (isatty(STDIN_FILENO) || poll(&wait, 1, PATIENCE_MS) <= 0)
        return "/dev/null";
    char *path = lk_arena_printf(arena, "%s/input", folder), block[65536];
    FILE *file = fopen(path, "we");
    ssize_t count;
    while (file && (count = read(STDIN_FILENO, block, sizeof block)) > 0)
        fwrite(block, 1, (size_t)count, file);
    if (file)
        fclose(file);
    return path;
}

/* Records ---------------------------------------------------------------------------------------*/

static bool next_line(struct run_record *run)
{
    ssize_t length = run->file ? getline(&run->line, &run->capacity, run->file) : -1;
    if (length > 0 && run->line[length - 1] == '\n')
        run->line[length - 1] = 0;
    return length > 0;
}

static void note_launch(struct difference *found, const char *line)
{
    char machine[12], launch[24], name[512] = "";
    free(found->kernel);
    found->kernel = NULL;
    if (sscanf(line, "launch %11s %23s %7s %*s %*s %511[^\n]", machine, launch, found->atomics,
               name) < 3)
        return;
    found->machine = (unsigned)strtoul(machine, NULL, 10);
    found->launch = strtoull(launch, NULL, 10);
    found->kernel = host_demangle_briefly(name);
}

/* "memory NUMBER BYTES BEFORE AFTER", or "variable NAME ..." */
static bool differs(struct difference *found, const char *one, const char *other)
{
    char kind[16], name[256], bytes[24], before[2][20], after[2][20];
    if (strcmp(one, other) == 0)
        return false;
    if (sscanf(one, "%15s %255s %23s %19s %19s", kind, name, bytes, before[0], after[0]) != 5 ||
        sscanf(other, "%*s %*s %*s %19s %19s", before[1], after[1]) != 2) {
        found->apart = true;
        return true;
    }
    found->is_memory = true;
    found->before = strcmp(before[0], before[1]) != 0;
    found->bytes = strtoull(bytes, NULL, 10);
    snprintf(found->what, sizeof found->what, "%s", name);
    return true;
}

static void compare_states(struct run_record runs[2], struct difference *found)
{
    for (;;) {
        bool more[2] = {next_line(&runs[0]), next_line(&runs[1])};
        if (!more[0] && !more[1])
            return;
        if (more[0] != more[1]) {
            found->found = found->apart = true;
            return;
        }
        bool is_launch = strncmp(runs[0].line, "launch ", 7) == 0;
        if (is_launch) {
            note_launch(found, runs[0].line);
            if (strcmp(runs[0].line, runs[1].line) != 0) {
                found->found = found->apart = true;
                return;
            }
            found->launches++;
        } else if (differs(found, runs[0].line, runs[1].line)) {
            found->found = true;
            found->launches--;
            return;
        }
    }
}

/* The first line of stdout that differs; 0: none. */
static unsigned long long compare_output(const struct run_record runs[2])
{
    FILE *files[2] = {fopen(runs[0].output, "re"), fopen(runs[1].output, "re")};
    unsigned long long line = 1, found = 0;
    while (files[0] && files[1]) {
        int one = getc(files[0]), other = getc(files[1]);
        if (one != other) {
            found = line;
            break;
        }
        if (one == EOF)
            break;
        line += one == '\n';
    }
    for (int i = 0; i < 2; i++)
        if (files[i])
            fclose(files[i]);
    return found;
}

/* Both once more, for the bytes of what differs. */
static void fetch_bytes(struct lk_arena *arena, const struct start *start,
                        struct run_record runs[2], const char *folder, const char *input,
                        struct difference *found)
{
    const char *paths[2];
    for (int i = 0; i < 2; i++) {
        paths[i] = lk_arena_printf(arena, "%s/bytes%d", folder, i);
        struct run_record again = {.schedule = runs[i].schedule,
                                   .states = lk_arena_printf(arena, "%s/again", folder),
                                   .output = "/dev/null"};
        run_once(start, &again, input,
                 lk_arena_printf(arena, "%u:%llu:%s:%s:%s", found->machine, found->launch,
                                 found->before ? "before" : "after", found->what, paths[i]));
    }
    twice_compare_bytes(paths[0], paths[1], found->atomics, &found->detail);
}

/* Report ----------------------------------------------------------------------------------------*/

static char *name_what(struct lk_arena *arena, const struct difference *found)
{
    if (found->what[0] >= '0' && found->what[0] <= '9')
        return lk_arena_printf(arena, "allocation #%s of %llu bytes", found->what, found->bytes);
    char *name = host_demangle_briefly(found->what);
    char *text = lk_arena_printf(arena, "variable %s (%llu bytes)", name, found->bytes);
    free(name);
    return text;
}

static bool is_rounding(const struct difference *found)
{
    return found->is_memory && !found->before && found->detail.is_rounding;
}

static void print_memory(struct lk_arena *arena, const struct difference *found)
{
    const struct twice_bytes *detail = &found->detail;
    fprintf(stderr, "differs %s launch %llu, kernel %s, in %s", found->before ? "before" : "after",
            found->launch, found->kernel ? found->kernel : "?", name_what(arena, found));
    if (detail->known)
        fprintf(stderr, ": first at byte %llu (%s and %s), %llu byte%s in all", detail->first,
                detail->values[0], detail->values[1], detail->count, detail->count == 1 ? "" : "s");
    fprintf(stderr, "\n");
    if (found->before)
        fprintf(stderr, "  something other than a kernel wrote different bytes before it: does the "
                        "program use the time, random numbers or host threads?\n");
    else if (is_rounding(found))
        fprintf(stderr,
                "  rounding: the kernel adds %s with atomics, whose order varies; the largest "
                "difference is %.3g (relative %.3g)\n",
                found->atomics, detail->largest, detail->relative);
    else
        fprintf(stderr, "  likely a race; run 'lockstep check' on it\n");
}

static void print_text(struct lk_arena *arena, const struct run_record runs[2],
                       const struct difference *found)
{
    if (found->is_memory)
        print_memory(arena, found);
    else if (found->apart)
        fprintf(stderr,
                "differs after launch %llu: the runs go on with different launches or "
                "allocations\n  likely a race; run 'lockstep check' on it\n",
                found->launches);
    if (found->line)
        fprintf(stderr, "stdout differs from line %llu on%s\n", found->line,
                found->found ? ""
                             : ", although device memory is the same after every launch: "
                               "does it print times or addresses?");
    if (runs[0].status != runs[1].status)
        fprintf(stderr, "the exit status is %d, and %d the second time\n", runs[0].status,
                runs[1].status);
    if (!found->found && !found->line && runs[0].status == runs[1].status)
        fprintf(stderr,
                "the same twice: %llu launch%s, device memory after each, stdout and status "
                "(schedules: in order, %s)\n",
                found->launches, found->launches == 1 ? "" : "es", runs[1].schedule);
}

static void print_json(const struct run_record runs[2], const struct difference *found, bool same)
{
    const struct twice_bytes *detail = &found->detail;
    json_t *all =
        json_pack("{s:b, s:I, s:s, s:o, s:o, s:[i,i]}", "same", same, "launches_compared",
                  (json_int_t)found->launches, "schedule", runs[1].schedule, "memory", json_null(),
                  "stdout_line", found->line ? json_integer((json_int_t)found->line) : json_null(),
                  "status", runs[0].status, runs[1].status);
    if (found->found) {
        json_t *memory = json_pack("{s:s, s:I, s:s?}", "kind",
                                   found->apart         ? "launches"
                                   : found->before      ? "host"
                                   : is_rounding(found) ? "rounding"
                                                        : "race",
                                   "launch", (json_int_t)found->launch, "kernel", found->kernel);
        if (found->is_memory) {
            bool numbered = found->what[0] >= '0' && found->what[0] <= '9';
            json_object_set_new(memory, "when", json_string(found->before ? "before" : "after"));
            json_object_set_new(memory, numbered ? "allocation" : "variable",
                                numbered ? json_integer(strtoll(found->what, NULL, 10))
                                         : json_string(found->what));
            json_object_set_new(memory, "bytes", json_integer((json_int_t)found->bytes));
        }
        if (detail->known) {
            json_object_set_new(memory, "offset", json_integer((json_int_t)detail->first));
            json_object_set_new(memory, "differing_bytes", json_integer((json_int_t)detail->count));
            json_object_set_new(memory, "values",
                                json_pack("[s,s]", detail->values[0], detail->values[1]));
        }
        if (is_rounding(found)) {
            json_object_set_new(memory, "largest", json_real(detail->largest));
            json_object_set_new(memory, "relative", json_real(detail->relative));
        }
        json_object_set_new(all, "memory", memory);
    }
    cli_print_json(all);
}

static void pass_output(const char *path, FILE *to)
{
    FILE *file = fopen(path, "re");
    char block[65536];
    size_t count;
    while (file && (count = fread(block, 1, sizeof block, file)) > 0)
        fwrite(block, 1, count, to);
    fflush(to);
    if (file)
        fclose(file);
}

int twice_run(struct lk_arena *arena, const struct start *start, const char *schedule, bool json)
{
    char *message = NULL, *folder = host_temporary_folder("twice", &message);
    struct difference found = {0};
    if (!folder) {
        host_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    const char *input = keep_input(arena, folder);
    struct run_record runs[2] = {{.schedule = ""}, {.schedule = schedule}};
    for (int i = 0; i < 2; i++) {
        runs[i].states = lk_arena_printf(arena, "%s/states%d", folder, i);
        runs[i].output = lk_arena_printf(arena, "%s/output%d", folder, i);
        runs[i].status = run_once(start, &runs[i], input, "");
        runs[i].file = fopen(runs[i].states, "re");
        if (i == 0)
            pass_output(runs[i].output, json ? stderr : stdout);
    }
    compare_states(runs, &found);
    found.line = compare_output(runs);
    if (found.is_memory)
        fetch_bytes(arena, start, runs, folder, input, &found);
    bool same = !found.found && !found.line && runs[0].status == runs[1].status;
    if (json)
        print_json(runs, &found, same);
    else
        print_text(arena, runs, &found);
    for (int i = 0; i < 2; i++) {
        if (runs[i].file)
            fclose(runs[i].file);
        free(runs[i].line);
    }
    free(found.kernel);
    host_remove_tree(folder);
    free(folder);
    return same ? runs[0].status : CLI_FINDINGS;
}
