/*
 * output.c: where results go: the terminal with its colours and progress bar, JSON, files; see
 * cli.h.
 */
#include "cli/cli.h"
#include "host/files.h"
#include "report/report.h"

#include <stdlib.h>
#include <unistd.h>

struct report_paint cli_paint(FILE *stream)
{
    return (struct report_paint){host_style(stream, HOST_PLAIN), host_style(stream, HOST_BOLD),
                                 host_style(stream, HOST_DIM),   host_style(stream, HOST_GREEN),
                                 host_style(stream, HOST_RED),   host_style(stream, HOST_YELLOW)};
}

void cli_progress(void *context, const char *what, double fraction)
{
    enum { WIDTH = 30 };
    int filled = fraction >= 1 ? WIDTH : fraction > 0 ? (int)(fraction * WIDTH) : 0;
    if (!isatty(STDERR_FILENO))
        return;
    if (what)
        fprintf(stderr, "\r[%.*s%*s] %-40.40s", filled, "##############################",
                WIDTH - filled, "", what);
    else
        fprintf(stderr, "\r%75s\r", "");
    fflush(stderr);
}

void cli_print_json(json_t *object)
{
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(object);
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
