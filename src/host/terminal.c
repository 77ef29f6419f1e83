/*
 * terminal.c: messages and colours; see terminal.h.
 */
#include "host/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static const char *command;

void host_set_command(const char *name)
{
    command = name;
}

void host_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%slockstep%s%s:%s ", host_style(stderr, HOST_BOLD), command ? " " : "",
            command ? command : "", host_style(stderr, HOST_PLAIN));
    vfprintf(stderr, format, arguments);
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
