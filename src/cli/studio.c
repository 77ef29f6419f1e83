/*
 * studio.c: lockstep studio: the course in a browser. Finds what the studio needs, starts it, opens
 * a browser and waits; src/studio does the rest.
 */
#include "studio/studio.h"
#include "cli/cli.h"
#include "cli/learn.h"
#include "host/child.h"
#include "host/files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: lockstep studio [OPTIONS]\n"
    "\n"
    "The course in your browser: lesson beside editor and results, with the same verdicts and the\n"
    "same progress as 'lockstep learn'; both can be used at once. It needs no network: the server\n"
    "listens on this computer alone and answers only to the browser that opens the address with\n"
    "its token. Ctrl-C ends it.\n"
    "\n"
    "  --port N         listen on this port (default: a free one)\n"
    "  --no-open        print the address and do not start a browser\n"
    "  --folder DIR     your folder of exercises, if not that of 'lockstep learn init'\n"
    "  --gpu sim:NAME   the simulated GPU (default sim:h200)\n"
    "  --json           print {\"url\": ...}, and start no browser\n"
    "\n"
    "LOCKSTEP_COURSE, LOCKSTEP_PROGRESS and LOCKSTEP_WEB name other places for the lessons, the\n"
    "progress and the pages. docs/studio.md describes the requests that it answers.\n"
    "\n"
    "examples:\n"
    "  lockstep studio\n"
    "  lockstep studio --port 8080 --no-open\n"
    "  lockstep studio --folder ~/gpu-course --gpu sim:t4\n";

struct options {
    unsigned long long port;
    bool no_open;
};

static bool parse(int count, char **words, struct cli_learn_session *session,
                  struct options *options)
{
    const char *port = NULL;
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--json")) {
            session->json = true;
        } else if (cli_flag(words, &at, "--no-open")) {
            options->no_open = true;
        } else if (cli_option(count, words, &at, "--gpu", &session->gpu)) {
            if (!session->gpu)
                return false;
        } else if (cli_option(count, words, &at, "--folder", &session->folder)) {
            if (!session->folder)
                return false;
        } else if (cli_option(count, words, &at, "--port", &port)) {
            if (!port || !cli_number("--port", port, 0, 65535, &options->port))
                return false;
        } else {
            host_error("there is no '%s' here; see 'lockstep studio --help'", words[at]);
            return false;
        }
    }
    return true;
}

/* A folder that --folder names is made as 'init' makes it, but not remembered for other runs. */
static bool prepare_folder(struct cli_learn_session *session, struct studio_options *options)
{
    const char *home = getenv("HOME");
    char *message = NULL, folder[PATH_MAX];
    if (session->folder) {
        if (!host_make_folder(session->folder, &message) || !realpath(session->folder, folder)) {
            host_error("%s", message ? message : "--folder names no folder");
            free(message);
            return false;
        }
        options->folder = lk_arena_printf(session->arena, "%s", folder);
    } else if (home && *home == '/') {
        options->begin = lk_arena_printf(session->arena, "%s/gpu-course", home);
    }
    return true;
}

/* What a desktop has for it. A computer without a screen has none. */
static void open_browser(struct cli_learn_session *session, const char *url)
{
    const char *opener = host_find_program(session->arena, "xdg-open");
    if (!opener || (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")))
        return;
    const char *const words[] = {opener, url, NULL};
    /* It is not waited for. */
    host_start(&(struct host_command){.words = words,
                                      .input = "/dev/null",
                                      .output = "/dev/null",
                                      .joined = true,
                                      .own_group = true});
}

static void announce(struct cli_learn_session *session, const struct studio *studio)
{
    if (session->json) {
        printf("{\"url\": \"%s\"}\n", studio_url(studio));
    } else {
        printf("The studio is open at\n  %s\nThe token in it is yours alone. Ctrl-C ends the "
               "studio.\n",
               studio_url(studio));
        if (!session->grader.compiler)
            printf("There is no compiler for kernels here, so nothing can be run: 'apt install "
                   "clang-19' gets one.\n");
    }
    fflush(stdout);
}

static int serve(struct cli_learn_session *session, const struct options *options)
{
    struct studio_options wanted = {.course = &session->course,
                                    .progress = session->progress,
                                    .grader = session->grader,
                                    .port = (unsigned)options->port};
    char *message = NULL;
    if (!prepare_folder(session, &wanted))
        return CLI_USAGE;
    wanted.web = toolchain_find_folder(session->arena, "LOCKSTEP_WEB", "/../src/studio/web",
                                       "/../share/lockstep/web");
    if (!wanted.web || access(wanted.web, R_OK) != 0) {
        host_error("the studio's pages are not beside lockstep; LOCKSTEP_WEB says where they are");
        return CLI_USAGE;
    }
    wanted.kernels = toolchain_find_folder(session->arena, "LOCKSTEP_KERNELS", "/../kernels",
                                           "/../share/lockstep/kernels");
    struct studio *studio = studio_start(&wanted, &message);
    if (!studio) {
        host_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    announce(session, studio);
    if (!options->no_open && !session->json)
        open_browser(session, studio_visit(studio));
    studio_wait(studio);
    studio_stop(studio);
    return CLI_OK;
}

static int run(int count, char **words)
{
    struct cli_learn_session session = {.arena = lk_arena_create(), .gpu = "sim:h200"};
    struct options options = {0};
    int status = CLI_USAGE;
    if (parse(count, words, &session, &options) && cli_learn_open(&session))
        status = serve(&session, &options);
    cli_learn_close(&session);
    return status;
}

const struct cli_command cli_studio = {"studio", "the course in a browser", help, run};
