/*
 * check.c: lockstep check: runs a program with the machine's checker on, and reports what it found.
 * The checker (src/check) writes a file of JSON lines while the program runs; here it is
 * read, host addresses become source lines, and the errors are printed with the lines they mean.
 */
#include "report/check.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/request.h"
#include "cli/start.h"
#include "host/files.h"
#include "toolchain/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Warp instructions without a block that ends: at the checker's speed, some seconds. */
#define DEFAULT_LIMIT "200000000"

static const char help[] =
    "usage: lockstep check [options] FILE.cu ... [nvcc's options] [-- ARGUMENTS]\n"
    "       lockstep check [options] PROGRAM [ARGUMENTS]\n"
    "       lockstep check [options] SCRIPT.py | -m MODULE | COMMAND [ARGUMENTS]\n"
    "       lockstep check [options] FAMILY[/VARIANT] [PARAMETER=VALUE ...]\n"
    "\n"
    "Runs a program on a simulated GPU and looks for errors in its kernels:\n"
    "  memory    out of bounds, misaligned, freed or never written; bad frees\n"
    "  races     in shared and global memory, between streams and graph nodes, with the host\n"
    "  barriers  that not all threads reach, wrong .sync masks, clusters that end too early\n"
    "  progress  deadlocks, endless loops\n"
    "Remarks (leaks, unused reads, harmless reads before an atomic) are shown apart and are not\n"
    "errors.\n"
    "\n"
    "  --json         print JSON; the program's own output goes to stderr\n"
    "  --limit N      report an endless loop after this many warp instructions without a block\n"
    "                 that ends (default " DEFAULT_LIMIT ")\n"
    "  --no-host-lines  compile without -g, as 'run' does: host calls (where memory was allocated\n"
    "                 or freed) are then reported without line numbers\n"
    "  --at-most N    of a family: N of each variant's edge problems, spread over all of them\n"
    "Every other option is as for 'lockstep run'.\n"
    "\n"
    "The exit status is 1 if there are errors, otherwise the program's own, or 2 if it does not\n"
    "compile.\n"
    "docs/check.md says what is found and how races are judged.\n"
    "\n"
    "examples:\n"
    "  lockstep check saxpy.cu\n"
    "  lockstep check matmul.cu -O3 --gpu sim:a100 -- 512\n"
    "  lockstep check --json ./program\n"
    "  lockstep check scan/look_back n=1000,100000\n";

struct options {
    bool json, plain, limited;
    int count;
    char **words;
};

/* Takes our own options out; the rest is for start_prepare. */
static void take_options(struct lk_arena *arena, int count, char **words, struct options *options)
{
    bool source = false;
    int client = client_at(count, words), rest = client;
    options->words = lk_arena_alloc(arena, (size_t)(count + 2) * sizeof(char *));
    for (int at = 0; at < client;) {
        if (strcmp(words[at], "--") == 0) {
            rest = at;
            break;
        } else if (cli_flag(words, &at, "--json")) {
            options->json = true;
        } else if (cli_flag(words, &at, "--no-host-lines")) {
            options->plain = true;
        } else {
            options->limited |= strncmp(words[at], "--limit", 7) == 0;
            source |= words[at][0] != '-' && build_is_source(words[at]);
            options->words[options->count++] = words[at++];
        }
    }
    if (source && !options->plain)
        options->words[options->count++] = "-g";
    char **all = lk_arena_alloc(arena, (size_t)(count + 3) * sizeof(char *));
    memcpy(all, options->words, (size_t)options->count * sizeof(char *));
    memcpy(all + options->count, words + rest, (size_t)(count - rest) * sizeof(char *));
    options->words = all;
    options->count += count - rest;
}

static int run(int count, char **words)
{
    struct lk_arena *arena = lk_arena_create();
    struct start start = {.only_simulated = "check", .family_verb = "test"};
    struct options options = {0};
    char *message = NULL, *folder = NULL;
    int status = CLI_USAGE;
    client_part_arguments(arena, &count, &words);
    take_options(arena, count, words, &options);
    if (!options.limited && !getenv("LOCKSTEP_LIMIT"))
        start_put("LOCKSTEP_LIMIT", DEFAULT_LIMIT);
    if (!start_prepare(arena, options.count, options.words, &start))
        goto out;
    if (!(folder = host_temporary_folder("check", &message))) {
        host_error("%s", message);
        goto out;
    }
    char *path = lk_arena_printf(arena, "%s/findings", folder);
    host_write_file(path, "", 0, NULL); /* a program without kernels writes none */
    start_put("LOCKSTEP_CHECK", path);
    status = start_wait(&start, options.json);
    struct check_findings findings;
    if (!check_read(path, start.path, NULL, &findings, &message)) {
        host_error("%s", message);
    } else {
        struct report_paint paint = cli_paint(stdout);
        if (options.json)
            cli_print_json(report_findings_json(&findings));
        else
            report_findings_text(stdout, &paint, &findings, status);
        if (findings.errors)
            status = json_array_size(findings.errors) ? CLI_FINDINGS : status;
        check_free(&findings);
    }
out:
    if (folder)
        host_remove_tree(folder);
    free(folder);
    free(message);
    lk_arena_destroy(arena);
    return status;
}

const struct cli_command cli_check = {"check", "find errors and races in kernels", help, run};
