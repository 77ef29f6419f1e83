/*
 * log.c: takes a worker's output apart; see log.h.
 */
#include "learn/log.h"

#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 16, MOST_BYTES = 4000 };

/* "  at FILE:LINE" and "  in kernel NAME, block .." */
static void read_detail(struct learn_log *log, const char *row, size_t length)
{
    const char *block = memmem(row, length, ", block (", 9);
    if (strncmp(row, "  at ", 5) == 0 && !log->file) {
        const char *colon = row + length;
        while (colon > row + 5 && *colon != ':')
            colon--;
        log->file = strndup(row + 5, (size_t)(colon - row - 5));
        log->line = (unsigned)strtoul(colon + 1, NULL, 10);
    } else if (block && !log->where) {
        log->where = strndup(block + 2, length - (size_t)(block + 2 - row));
    }
}

/* "FILE:5: add: block: [1,0,0], thread: [244,0,0] Assertion `i < 500` failed." */
static bool read_assertion(struct learn_log *log, const char *row, size_t length)
{
    const char *said = memmem(row, length, "Assertion `", 11);
    const char *number = memchr(row, ':', length);
    if (!said || !number || row[length - 1] != '.')
        return false;
    if (!log->file) {
        log->file = strndup(row, (size_t)(number - row));
        log->line = (unsigned)strtoul(number + 1, NULL, 10);
        log->what = lk_format("assertion %.*s", (int)(row + length - said - 11), said + 10);
    }
    return true;
}

struct learn_log log_read(const char *text)
{
    static const char ours[] = "lockstep: ";
    struct learn_log log = {0};
    struct lk_buf printed = {0};
    unsigned lines = 0, left_out = 0;
    bool is_ours = false;
    for (const char *row = text, *end; *row; row = end) {
        size_t length = strcspn(row, "\n");
        end = row + length + (row[length] == '\n');
        bool begins = strncmp(row, ours, sizeof ours - 1) == 0;
        is_ours = begins || (is_ours && strncmp(row, "  ", 2) == 0);
        if (begins && !log.what)
            log.what = strndup(row + sizeof ours - 1, length - (sizeof ours - 1));
        if (is_ours) {
            read_detail(&log, row, length);
            continue;
        }
        if (read_assertion(&log, row, length))
            continue;
        if (lines == MOST_LINES || printed.size + length > MOST_BYTES) {
            left_out++;
            continue;
        }
        lines++;
        lk_buf_printf(&printed, "%.*s\n", (int)length, row);
    }
    if (left_out)
        lk_buf_printf(&printed, "(and %u more line%s)\n", left_out, left_out == 1 ? "" : "s");
    log.printed = printed.data;
    return log;
}

void log_free(struct learn_log *log)
{
    free(log->what);
    free(log->file);
    free(log->where);
}
