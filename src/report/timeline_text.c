/*
 * timeline_text.c: the timeline on a terminal of 80 columns: a row a stream, the host above, and
 * what the timeline says in figures below.
 */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 80, LABEL = 14, DRAWN = 64, ROWS = 12 };

/* What a column shows, by kind of operation; the host's calls are L. */
static const char *const marks[TIMELINE_KINDS] = {
    [TIMELINE_KERNEL] = "█", [TIMELINE_TO] = ">",     [TIMELINE_FROM] = "<", [TIMELINE_WAIT] = "w",
    [TIMELINE_INSIDE] = "=", [TIMELINE_MEMSET] = "m", [TIMELINE_HOST] = "h"};
enum { CALLS = TIMELINE_KINDS, MARKS };

struct drawing {
    FILE *out;
    const struct report_paint *paint;
    const struct timeline *timeline;
};

/* Adds the time of [begin, end) to the columns that it touches. */
static void add_time(double columns[DRAWN][MARKS], const struct timeline *timeline, double begin,
                     double end, int mark)
{
    double width = timeline->seconds / DRAWN;
    for (int at = (int)(begin / width); at < DRAWN && at * width < end; at++) {
        double from = begin > at * width ? begin : at * width;
        double to = end < (at + 1) * width ? end : (at + 1) * width;
        if (to > from)
            columns[at][mark] += to - from;
    }
}

static void put_columns(const struct drawing *d, double columns[DRAWN][MARKS])
{
    int last = DRAWN - 1;
    for (; last >= 0; last--) {
        bool any = false;
        for (int mark = 0; mark < MARKS; mark++)
            any = any || columns[last][mark] > 0;
        if (any)
            break;
    }
    const char *style = "";
    for (int at = 0; at <= last; at++) {
        int most = -1;
        for (int mark = 0; mark < MARKS; mark++)
            if (columns[at][mark] > 0 && (most < 0 || columns[at][mark] > columns[at][most]))
                most = mark;
        const char *wanted = most < 0                                 ? style
                             : most == CALLS || most == TIMELINE_WAIT ? d->paint->dim
                             : most == TIMELINE_KERNEL                ? d->paint->green
                                                                      : d->paint->yellow;
        if (wanted != style)
            fprintf(d->out, "%s%s", *style ? d->paint->plain : "", wanted);
        style = wanted;
        fputs(most < 0 ? " " : most == CALLS ? "L" : marks[most], d->out);
    }
    fputs(*style ? d->paint->plain : "", d->out);
    fputc('\n', d->out);
}

static void put_host(const struct drawing *d)
{
    double columns[DRAWN][MARKS] = {{0}};
    for (size_t i = 0; i < d->timeline->count; i++) {
        const struct timeline_op *op = &d->timeline->ops[i];
        bool is_node = op->graph && op->kind != TIMELINE_GRAPH;
        if (op->kind == TIMELINE_WAIT)
            add_time(columns, d->timeline, op->begin, op->end, TIMELINE_WAIT);
        else if (!is_node)
            add_time(columns, d->timeline, op->asked, op->issued, CALLS);
    }
    fprintf(d->out, "  %-*s", LABEL - 2, "host");
    put_columns(d, columns);
}

static void put_row(const struct drawing *d, unsigned row)
{
    double columns[DRAWN][MARKS] = {{0}};
    char label[LABEL + 8];
    for (size_t i = 0; i < d->timeline->count; i++) {
        const struct timeline_op *op = &d->timeline->ops[i];
        if (op->kind != TIMELINE_WAIT && marks[op->kind] && op->row == row)
            add_time(columns, d->timeline, op->begin, op->end, (int)op->kind);
    }
    fprintf(d->out, "  %-*s", LABEL - 2,
            timeline_row_words(label, sizeof label, &d->timeline->rows[row]));
    put_columns(d, columns);
}

static void put_scale(const struct drawing *d)
{
    char label[REPORT_UNIT];
    fprintf(d->out, "  %s%-*s", d->paint->dim, LABEL - 2, "");
    for (int at = 0; at < DRAWN; at += DRAWN / 4)
        fprintf(d->out, "|%-*s", DRAWN / 4 - 1,
                at ? report_seconds(label, d->timeline->seconds * at / DRAWN) : "0");
    fprintf(d->out, "|%s\n", d->paint->plain);
}

static void put_title(const struct drawing *d)
{
    const struct timeline *t = d->timeline;
    char time[REPORT_UNIT];
    unsigned copies =
        t->engines[TIMELINE_COPY_TO].operations + t->engines[TIMELINE_COPY_FROM].operations;
    unsigned kernels = t->engines[TIMELINE_COMPUTE].operations;
    fprintf(d->out, "%stimeline%s of %s on %s, modelled: %u kernel%s, %u cop%s, %u stream%s\n",
            d->paint->bold, d->paint->plain, report_seconds(time, t->seconds), t->gpu->name,
            kernels, kernels == 1 ? "" : "s", copies, copies == 1 ? "y" : "ies", t->stream_count,
            t->stream_count == 1 ? "" : "s");
}

static double share(const struct timeline *timeline, double part)
{
    return timeline->seconds > 0 ? 100 * part / timeline->seconds : 0;
}

static void put_engines(const struct drawing *d)
{
    const struct timeline *t = d->timeline;
    char busy[REPORT_UNIT], bytes[REPORT_UNIT];
    for (int i = 0; i < TIMELINE_ENGINES; i++) {
        const struct timeline_engine_sum *engine = &t->engines[i];
        if (!engine->operations)
            continue;
        fprintf(d->out, "  %-22s busy %7s, %3.0f %%; idle %3.0f %%", timeline_engine_words[i],
                report_seconds(busy, engine->busy), share(t, engine->busy),
                share(t, t->seconds - engine->busy));
        if (engine->bytes > 0 && engine->busy > 0)
            fprintf(d->out, "; %s, %.3g GB/s", report_bytes(bytes, engine->bytes),
                    engine->bytes / engine->busy / 1e9);
        fputc('\n', d->out);
    }
    if (t->copy_busy > 0 && t->engines[TIMELINE_COMPUTE].busy > 0)
        fprintf(d->out, "  %-22s %s%.0f %%%s: copies and kernels together for %s of %s\n",
                "overlap", d->paint->bold, 100 * t->overlap, d->paint->plain,
                report_seconds(busy, t->both_busy),
                report_seconds(bytes, t->copy_busy < t->engines[TIMELINE_COMPUTE].busy
                                          ? t->copy_busy
                                          : t->engines[TIMELINE_COMPUTE].busy));
}

static void put_host_sums(const struct drawing *d)
{
    const struct timeline *t = d->timeline;
    char a[REPORT_UNIT], b[REPORT_UNIT];
    double kernels = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->ops[i].kind == TIMELINE_KERNEL)
            kernels += t->ops[i].end - t->ops[i].begin;
    if (t->calls)
        fprintf(d->out, "  %-22s %u call%s, %s; waiting %s in %u\n", "host: issuing", t->calls,
                t->calls == 1 ? "" : "s", report_seconds(a, t->issuing),
                report_seconds(b, t->waiting), t->waits);
    if (kernels > 0)
        fprintf(d->out, "  %-22s %s, %.0f %% of the kernels' time\n", "launch overhead",
                report_seconds(a, t->launching), 100 * t->launching / kernels);
}

/* Breaks lines between words; those that follow are set in as far as the text. */
static void put_wrapped(FILE *out, const char *text, int indent)
{
    int column = indent;
    for (const char *word = text; *word;) {
        size_t length = strcspn(word, " ");
        if (word != text && column + 1 + (int)length > COLUMNS)
            column = indent, fprintf(out, "\n%*s", indent, "");
        else if (word != text)
            column++, fputc(' ', out);
        fprintf(out, "%.*s", (int)length, word);
        column += (int)length;
        word += length + (word[length] == ' ');
    }
    fputc('\n', out);
}

static void put_gaps(const struct drawing *d)
{
    const struct timeline *t = d->timeline;
    char a[REPORT_UNIT], b[REPORT_UNIT], words[256];
    for (unsigned i = 0; i < t->gap_count && i < 3; i++) {
        const struct timeline_gap *gap = &t->gaps[i];
        if (gap->end - gap->begin < t->seconds / 100)
            break;
        snprintf(words, sizeof words, "%s from %s: %s", report_seconds(a, gap->end - gap->begin),
                 report_seconds(b, gap->begin), gap->reason);
        fprintf(d->out, "%s    ", i ? "" : "  no kernel runs, and what the next waits for\n");
        put_wrapped(d->out, words, 4);
    }
}

/* Calls of cuBLAS and the like, which have no kernel that a profile could show: by name. */
static void put_library_calls(const struct drawing *d)
{
    const struct timeline *t = d->timeline;
    char time[REPORT_UNIT];
    bool titled = false;
    for (size_t i = 0; i < t->count; i++) {
        const struct timeline_op *op = &t->ops[i];
        unsigned count = 0;
        double seconds = 0;
        if (!timeline_is_library(op))
            continue;
        for (size_t j = 0; j < t->count; j++) {
            bool same = timeline_is_library(&t->ops[j]) && strcmp(op->name, t->ops[j].name) == 0;
            if (same && j < i) {
                count = 0; /* listed already */
                break;
            }
            count += same;
            seconds += same ? t->ops[j].end - t->ops[j].begin : 0;
        }
        if (!count)
            continue;
        fprintf(d->out, "  %-22s %u x %s, %s by roofline\n", titled ? "" : "library calls", count,
                op->name, report_seconds(time, seconds));
        titled = true;
    }
}

static void put_timeline(const struct drawing *d)
{
    const struct timeline *t = d->timeline;
    char time[REPORT_UNIT];
    put_title(d);
    put_scale(d);
    put_host(d);
    for (unsigned i = 0; i < t->row_count && i < ROWS; i++)
        put_row(d, i);
    if (t->row_count > ROWS)
        fprintf(d->out, "  %sand %u more rows%s\n", d->paint->dim, t->row_count - ROWS,
                d->paint->plain);
    fprintf(d->out,
            "  %s> < = copy to, from, inside the device  █ kernel  m memset  L calls  w waits%s\n",
            d->paint->dim, d->paint->plain);
    put_engines(d);
    put_host_sums(d);
    put_library_calls(d);
    put_gaps(d);
    if (t->more.operations)
        fprintf(d->out, "  %-22s %llu more operations, until %s: %llu kernels, %llu copies\n",
                "not drawn", (unsigned long long)t->more.operations,
                report_seconds(time, t->more.until), (unsigned long long)t->more.kernels,
                (unsigned long long)t->more.copies);
}

void report_timeline_text(FILE *out, const struct report_paint *paint,
                          const struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->count; i++) {
        const struct timeline *timeline = timelines->items[i];
        if (timeline->seconds <= 0)
            continue;
        put_timeline(&(struct drawing){out, paint, timeline});
        fputc('\n', out);
    }
}
