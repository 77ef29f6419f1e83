/*
 * output.c: where results go: colours for the terminal, and files; see cli.h.
 */
#include "cli/cli.h"
#include "host/files.h"
#include "report/report.h"

#include <stdlib.h>

struct report_paint cli_paint(FILE *stream)
{
    return (struct report_paint){host_style(stream, HOST_PLAIN), host_style(stream, HOST_BOLD),
                                 host_style(stream, HOST_DIM),   host_style(stream, HOST_GREEN),
                                 host_style(stream, HOST_RED),   host_style(stream, HOST_YELLOW)};
}

bool cli_write_file(const char *path, const char *text, size_t size)
{
    char *message = NULL;
    bool written = host_write_file(path, text, size, &message);
    if (!written)
        host_error("%s", message);
    free(message);
    return written;
}
