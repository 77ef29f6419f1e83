/*
 * terminal.c: messages and colours; see terminal.h.
 */
#include "host/terminal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *command, *started = "lockstep";

void host_set_started(const char *typed)
{
    if (typed && *typed)
        started = typed;
}

void host_set_command(const char *name)
{
    command = name;
}

/* Is this "lockstep learn" or the like: the command, with something to type after it? */
static bool is_command(const char *text, const char *at)
{
    static const char name[] = "lockstep ";
    const char *next = at + sizeof name - 1;
    if (strncmp(at, name, sizeof name - 1) != 0 || (at > text && !strchr(" '`(\n", at[-1])))
        return false;
    return islower((unsigned char)*next) || *next == '-' || strncmp(next, "COMMAND", 7) == 0;
}

void host_put(FILE *stream, const char *text)
{
    for (const char *at = text; *at;) {
        if (is_command(text, at)) {
            fputs(started, stream);
            at += strlen("lockstep");
        } else {
            fputc(*at++, stream);
        }
    }
}

static void put_format(FILE *stream, const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) < 0)
        return;
    host_put(stream, text);
    free(text);
}

void host_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_format(stdout, format, arguments);
    va_end(arguments);
}

void host_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%slockstep%s%s:%s ", host_style(stderr, HOST_BOLD), command ? " " : "",
            command ? command : "", host_style(stderr, HOST_PLAIN));
    put_format(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

const char *host_style(FILE *stream, enum host_style style)
{
    static const char *const sequences[] = {
        [HOST_PLAIN] = "\033[0m",  [HOST_BOLD] = "\033[1m", [HOST_DIM] = "\033[2m",
        [HOST_GREEN] = "\033[32m", [HOST_RED] = "\033[31m", [HOST_YELLOW] = "\033[33m",
    };
    const char *no_color = getenv("NO_COLOR");
    if ((no_color && *no_color) || !isatty(fileno(stream)))
        return "";
    return sequences[style];
}
