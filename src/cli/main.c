/*
 * main.c: finds the command and calls it.
 * lockstep --help lists the commands, lockstep help COMMAND explains one.
 */
#include "base/text.h"
#include "cli/cli.h"
#include "gpu/gpu.h"
#include "lockstep.h"

#include <string.h>

static const struct cli_command *const commands[] = {
    &cli_run,      &cli_profile, &cli_check, &cli_zoo,    &cli_bench, &cli_tune,
    &cli_roofline, &cli_gpus,    &cli_learn, &cli_studio, &cli_doctor};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void print_usage(FILE *stream)
{
    host_put(stream,
             "Lockstep runs, checks, profiles and teaches CUDA, with a GPU or without one.\n\n"
             "usage: lockstep COMMAND ...\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %s%-8s%s %s\n", host_style(stream, HOST_BOLD), commands[i]->name,
                host_style(stream, HOST_PLAIN), commands[i]->summary);
    host_put(stream,
             "\n  lockstep help COMMAND   explains a command, with examples\n"
             "  lockstep --version\n\n"
             "examples:\n"
             "  lockstep run prog.cu\n"
             "  lockstep check prog.cu\n"
             "  lockstep profile train.py\n"
             "  lockstep learn\n\n"
             "Exit status: 0 fine, 1 findings, 2 wrong usage or bad input, 3 not supported;\n"
             "'run' returns the program's own.\n");
}

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    struct lk_guess guess = {.wanted = name, .distance = 3};
    for (size_t i = 0; i < COMMANDS; i++)
        lk_guess_try(&guess, commands[i]->name);
    if (guess.nearest)
        host_error("there is no command '%s'; did you mean '%s'?", name, guess.nearest);
    else
        host_error("there is no command '%s'; 'lockstep --help' lists them", name);
    return CLI_USAGE;
}

static int help(const char *name)
{
    if (!name) {
        print_usage(stdout);
        return CLI_OK;
    }
    const struct cli_command *command = find_command(name);
    if (!command)
        return unknown_command(name);
    host_put(stdout, command->help);
    return CLI_OK;
}

static bool asks_for_help(int count, char **words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    host_set_started(argv[0]);
    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--version") == 0) {
        puts("lockstep " LK_VERSION);
        return CLI_OK;
    }
    const struct cli_command *command = find_command(name);
    if (!command)
        return unknown_command(name);
    if (asks_for_help(argc - 2, argv + 2))
        return help(name);
    host_set_command(command->name);
    return command->run(argc - 2, argv + 2);
}
