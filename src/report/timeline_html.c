/*
 * timeline_html.c: the timeline on the page of `profile --html`: cards, a drawing with a row for
 * the host, each stream and each engine, and the largest gaps. Hover text says what an operation
 * is.
 */
#include "base/text.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1050, LEFT = 150, ROW = 22, BAR = 15, TOP = 22, ROWS_MAX = 64 };

/* How the drawing looks; colours are the page's. */
const char report_timeline_style[] =
    ".t-kernel{fill:var(--accent)}.t-to{fill:rgba(var(--hot),.85)}.t-from{fill:rgba(var(--hot),.5)}"
    ".t-inside{fill:rgba(var(--hot),.3)}.t-memset{fill:var(--good)}.t-host{fill:var(--ink)}"
    ".t-call{fill:var(--dim)}.t-wait{fill:var(--line)}.t-event{stroke:var(--ink);stroke-width:1}"
    ".key span{display:inline-block;margin-right:16px}.key svg{width:12px;height:12px;"
    "display:inline-block;margin-right:5px;vertical-align:-1px}\n";

static const char *const classes[TIMELINE_KINDS] = {
    [TIMELINE_KERNEL] = "t-kernel", [TIMELINE_TO] = "t-to",         [TIMELINE_FROM] = "t-from",
    [TIMELINE_INSIDE] = "t-inside", [TIMELINE_MEMSET] = "t-memset", [TIMELINE_HOST] = "t-host",
    [TIMELINE_WAIT] = "t-wait"};

struct picture {
    struct lk_buf *out;
    const struct timeline *timeline;
};

static double place(const struct picture *p, double seconds)
{
    return LEFT + (WIDTH - LEFT - 10) * seconds / p->timeline->seconds;
}

static void put(struct lk_buf *out, const char *text)
{
    lk_buf_add(out, text, strlen(text));
}

static void put_label(const struct picture *p, unsigned row, const char *text)
{
    lk_buf_printf(p->out,
                  "<text x=\"0\" y=\"%d\">%s</text><path class=\"grid\" d=\"M%d %dH%d\"/>\n",
                  TOP + (int)row * ROW + 12, text, LEFT, TOP + (int)row * ROW + BAR + 3, WIDTH);
}

/* A bar with its hover text; count: of operations that are drawn as one. */
static void put_bar(const struct picture *p, unsigned row, const char *class, double begin,
                    double end, const char *words, const struct timeline_op *op, size_t count)
{
    char a[REPORT_UNIT], b[REPORT_UNIT];
    double x = place(p, begin), width = place(p, end) - x;
    lk_buf_printf(p->out,
                  "<rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"><title>",
                  class, x, TOP + (int)row * ROW, width > 0.6 ? width : 0.6, BAR);
    lk_buf_html(p->out, words);
    if (count > 1)
        lk_buf_printf(p->out, " and %zu more", count - 1);
    lk_buf_printf(p->out, ": %s from %s", report_seconds(a, end - begin), report_seconds(b, begin));
    if (count == 1 && op->bytes > 0 && end > begin)
        lk_buf_printf(p->out, ", %.3g GB/s", op->bytes / (end - begin) / 1e9);
    if (*op->call && strcmp(words, op->call) != 0)
        lk_buf_printf(p->out, ", by %s", op->call);
    put(p->out, "</title></rect>\n");
}

/* Draws the chosen operations of a row; what is too narrow to be seen is drawn with its
 * neighbours. */
static void put_ops(const struct picture *p, unsigned row,
                    bool (*chosen)(const struct timeline_op *, unsigned), unsigned which)
{
    const struct timeline *t = p->timeline;
    double pixel = t->seconds / (WIDTH - LEFT);
    char words[160];
    for (size_t i = 0; i < t->count; i++) {
        const struct timeline_op *op = &t->ops[i];
        size_t count = 1;
        if (!chosen(op, which))
            continue;
        double end = op->end;
        for (size_t k = i + 1; end - op->begin < pixel && k < t->count; k++) {
            const struct timeline_op *next = &t->ops[k];
            if (!chosen(next, which))
                continue;
            if (next->kind != op->kind || next->end - op->begin > pixel)
                break;
            end = next->end > end ? next->end : end;
            count++;
            i = k;
        }
        put_bar(p, row, classes[op->kind], op->begin, end,
                op->kind == TIMELINE_WAIT ? op->call : timeline_op_words(words, sizeof words, op),
                op, count);
    }
}

static bool of_row(const struct timeline_op *op, unsigned row)
{
    return op->kind != TIMELINE_WAIT && classes[op->kind] && op->row == row && op->end > op->begin;
}

static bool of_engine(const struct timeline_op *op, unsigned engine)
{
    return (engine == TIMELINE_COMPUTE && op->kind == TIMELINE_KERNEL) ||
           (engine == TIMELINE_COPY_TO && op->kind == TIMELINE_TO) ||
           (engine == TIMELINE_COPY_FROM && op->kind == TIMELINE_FROM);
}

static bool is_wait(const struct timeline_op *op, unsigned unused)
{
    (void)unused;
    return op->kind == TIMELINE_WAIT;
}

static void put_events(const struct picture *p, unsigned at, unsigned row)
{
    char time[REPORT_UNIT];
    for (size_t i = 0; i < p->timeline->count; i++) {
        const struct timeline_op *op = &p->timeline->ops[i];
        if (op->kind == TIMELINE_EVENT && op->row == row)
            lk_buf_printf(p->out,
                          "<path class=\"t-event\" d=\"M%.2f %dv%d\"><title>event at %s</title>"
                          "</path>\n",
                          place(p, op->begin), TOP + (int)at * ROW - 2, BAR + 4,
                          report_seconds(time, op->begin));
    }
}

static void put_host(const struct picture *p)
{
    const struct timeline *t = p->timeline;
    put_label(p, 0, "host");
    put_ops(p, 0, is_wait, 0);
    for (size_t i = 0; i < t->count; i++) {
        const struct timeline_op *op = &t->ops[i];
        bool is_node = op->graph && op->kind != TIMELINE_GRAPH;
        if (op->kind != TIMELINE_WAIT && !is_node && op->issued > op->asked)
            put_bar(p, 0, "t-call", op->asked, op->issued, op->call, op, 1);
    }
}

static void put_scale(const struct picture *p, int height)
{
    char label[REPORT_UNIT];
    for (int i = 0; i <= 8; i++) {
        double at = p->timeline->seconds * i / 8, x = place(p, at);
        lk_buf_printf(p->out,
                      "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"12\" "
                      "text-anchor=\"%s\">%s</text>\n",
                      x, TOP - 5, height, x,
                      i == 8 ? "end"
                      : i    ? "middle"
                             : "start",
                      i ? report_seconds(label, at) : "0");
    }
}

void timeline_svg(struct lk_buf *out, const struct timeline *timeline)
{
    struct picture p = {out, timeline};
    unsigned rows = timeline->row_count < ROWS_MAX ? timeline->row_count : ROWS_MAX, at = 1;
    int height = TOP + (int)(rows + 1 + TIMELINE_ENGINES) * ROW + 8;
    char label[64];
    lk_buf_printf(out, "<svg role=\"img\" aria-label=\"timeline\" viewBox=\"0 0 %d %d\">\n", WIDTH,
                  height);
    put_scale(&p, height);
    put_host(&p);
    for (unsigned i = 0; i < rows; i++, at++) {
        put_label(&p, at, timeline_row_words(label, sizeof label, &timeline->rows[i]));
        put_ops(&p, at, of_row, i);
        put_events(&p, at, i);
    }
    for (unsigned i = 0; i < TIMELINE_ENGINES; i++, at++) {
        put_label(&p, at, timeline_engine_words[i]);
        put_ops(&p, at, of_engine, i);
    }
    put(out, "</svg>\n");
}

/* The section ------------------------------------------------------------------------------------
 */

static void card(struct lk_buf *out, const char *title, const char *value, const char *more)
{
    lk_buf_printf(out,
                  "<div class=\"card\"><span class=\"dim\">%s</span><b>%s</b><span class=\"dim\">"
                  "%s</span></div>\n",
                  title, value, more);
}

static void put_cards(struct lk_buf *out, const struct timeline *t)
{
    char value[64], more[128], a[REPORT_UNIT], b[REPORT_UNIT];
    put(out, "<div class=\"cards\">\n");
    snprintf(more, sizeof more, "%u stream%s, modelled", t->stream_count,
             t->stream_count == 1 ? "" : "s");
    card(out, "time", report_seconds(a, t->seconds), more);
    snprintf(value, sizeof value, "%.0f %%", 100 * t->overlap);
    snprintf(more, sizeof more, "copies and kernels together: %s", report_seconds(a, t->both_busy));
    card(out, "overlap", value, more);
    for (int i = 0; i < TIMELINE_ENGINES; i++) {
        const struct timeline_engine_sum *engine = &t->engines[i];
        if (!engine->operations)
            continue;
        snprintf(value, sizeof value, "%.0f %% busy", 100 * engine->busy / t->seconds);
        if (engine->bytes > 0 && engine->busy > 0)
            snprintf(more, sizeof more, "%s at %.3g GB/s", report_bytes(a, engine->bytes),
                     engine->bytes / engine->busy / 1e9);
        else
            snprintf(more, sizeof more, "%s, launch overhead %s", report_seconds(a, engine->busy),
                     report_seconds(b, t->launching));
        card(out, timeline_engine_words[i], value, more);
    }
    snprintf(value, sizeof value, "%.0f %% waiting", 100 * t->waiting / t->seconds);
    snprintf(more, sizeof more, "issuing %u calls: %s", t->calls, report_seconds(a, t->issuing));
    card(out, "host", value, more);
    put(out, "</div>\n");
}

static void put_key(struct lk_buf *out)
{
    static const struct {
        const char *class, *words;
    } keys[] = {{"t-kernel", "kernel"},        {"t-to", "copy to the device"},
                {"t-from", "copy from it"},    {"t-inside", "copy inside it"},
                {"t-memset", "memset"},        {"t-host", "host function"},
                {"t-call", "call of the API"}, {"t-wait", "waiting"}};
    put(out, "<p class=\"key dim\">");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        lk_buf_printf(out,
                      "<span><svg viewBox=\"0 0 12 12\"><rect class=\"%s\" width=\"12\" "
                      "height=\"12\"/></svg>%s</span>",
                      keys[i].class, keys[i].words);
    put(out, "</p>\n");
}

static void put_gaps(struct lk_buf *out, const struct timeline *t)
{
    char a[REPORT_UNIT], b[REPORT_UNIT];
    if (!t->gap_count)
        return;
    put(out, "<h3>No kernel runs</h3><table><tr><th class=\"number\">for</th>"
             "<th class=\"number\">from</th><th>the next waits for</th></tr>\n");
    for (unsigned i = 0; i < t->gap_count; i++) {
        const struct timeline_gap *gap = &t->gaps[i];
        lk_buf_printf(out, "<tr><td class=\"number\">%s</td><td class=\"number\">%s</td><td>",
                      report_seconds(a, gap->end - gap->begin), report_seconds(b, gap->begin));
        lk_buf_html(out, gap->reason);
        put(out, "</td></tr>\n");
    }
    put(out, "</table>\n");
}

void report_timeline_html(struct lk_buf *out, const struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->count; i++) {
        const struct timeline *timeline = timelines->items[i];
        if (timeline->seconds <= 0)
            continue;
        lk_buf_printf(out, "<h2>Timeline <span class=\"dim\">on %s</span></h2>\n",
                      timeline->gpu->name);
        put_cards(out, timeline);
        timeline_svg(out, timeline);
        put_key(out);
        put_gaps(out, timeline);
        if (timeline->more.operations)
            lk_buf_printf(out, "<p class=\"dim\">%llu more operations are not drawn.</p>\n",
                          (unsigned long long)timeline->more.operations);
    }
}
