/*
 * timeline_sum.c: what a timeline says: how busy each engine is, how much copies and kernels
 * overlap, what the host spends on issuing and waiting, and the largest gaps between kernels with
 * what they waited for.
 */
#include "report/timeline.h"

#include "gpu/model.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const timeline_engine_words[TIMELINE_ENGINES] = {
    [TIMELINE_COMPUTE] = "compute",
    [TIMELINE_COPY_TO] = "copies to the device",
    [TIMELINE_COPY_FROM] = "copies from the device"};

#define SAME 1e-9 /* times this close are one: the file has tenths of nanoseconds */

/* Words ------------------------------------------------------------------------------------------
 */

static size_t put_shape(char *buf, size_t size, const unsigned *d)
{
    if (d[2] > 1)
        return (size_t)snprintf(buf, size, "%u x %u x %u", d[0], d[1], d[2]);
    if (d[1] > 1)
        return (size_t)snprintf(buf, size, "%u x %u", d[0], d[1]);
    return (size_t)snprintf(buf, size, "%u", d[0]);
}

const char *timeline_op_words(char *buf, size_t size, const struct timeline_op *op)
{
    char bytes[REPORT_UNIT], grid[48], block[48];
    if (timeline_is_library(op)) {
        snprintf(buf, size, "%.*s", 40, op->name);
    } else if (op->kind == TIMELINE_KERNEL) {
        put_shape(grid, sizeof grid, op->grid);
        put_shape(block, sizeof block, op->block);
        snprintf(buf, size, "%.*s <<<%s, %s>>>", 40, op->name, grid, block);
    } else if (op->bytes > 0) {
        snprintf(buf, size, "%s, %s", timeline_kind_words[op->kind],
                 report_bytes(bytes, op->bytes));
    } else {
        snprintf(buf, size, "%s", timeline_kind_words[op->kind]);
    }
    return buf;
}

const char *timeline_row_words(char *buf, size_t size, const struct timeline_row *row)
{
    if (row->lane)
        snprintf(buf, size, "  beside it");
    else
        snprintf(buf, size, "stream %llu", (unsigned long long)row->stream);
    return buf;
}

/* Spans of time: sorted, none touches the next ---------------------------------------------------
 */

struct span {
    double begin, end;
};
struct spans {
    struct span *items;
    size_t count;
};

static bool is_copy(const struct timeline_op *op)
{
    return op->kind == TIMELINE_TO || op->kind == TIMELINE_FROM;
}

static bool is_kernel(const struct timeline_op *op)
{
    return op->kind == TIMELINE_KERNEL;
}

static bool is_to(const struct timeline_op *op)
{
    return op->kind == TIMELINE_TO;
}

static bool is_from(const struct timeline_op *op)
{
    return op->kind == TIMELINE_FROM;
}

static bool is_wait(const struct timeline_op *op)
{
    return op->kind == TIMELINE_WAIT;
}

/* When any of them runs. */
static struct spans unite(const struct timeline *timeline, bool (*test)(const struct timeline_op *))
{
    struct spans spans = {lk_alloc((timeline->count + 1) * sizeof *spans.items), 0};
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_op *op = &timeline->ops[i];
        struct span *last = spans.count ? &spans.items[spans.count - 1] : NULL;
        if (!test(op) || op->end <= op->begin)
            continue;
        if (last && op->begin <= last->end + SAME)
            last->end = op->end > last->end ? op->end : last->end;
        else
            spans.items[spans.count++] = (struct span){op->begin, op->end};
    }
    return spans;
}

static double length_of(const struct spans *spans)
{
    double sum = 0;
    for (size_t i = 0; i < spans->count; i++)
        sum += spans->items[i].end - spans->items[i].begin;
    return sum;
}

static double common(const struct spans *a, const struct spans *b)
{
    double sum = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        double begin =
            a->items[i].begin > b->items[k].begin ? a->items[i].begin : b->items[k].begin;
        double end = a->items[i].end < b->items[k].end ? a->items[i].end : b->items[k].end;
        if (end > begin)
            sum += end - begin;
        if (a->items[i].end < b->items[k].end)
            i++;
        else
            k++;
    }
    return sum;
}

/* Rows -------------------------------------------------------------------------------------------
 */

static int by_stream(const void *left, const void *right)
{
    const struct timeline_row *a = left, *b = right;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static unsigned find_row(struct timeline *timeline, uint64_t stream, unsigned lane)
{
    for (unsigned i = 0; i < timeline->row_count; i++)
        if (timeline->rows[i].stream == stream && timeline->rows[i].lane == lane)
            return i;
    timeline->rows =
        lk_realloc(timeline->rows, (timeline->row_count + 1) * sizeof(*timeline->rows));
    timeline->rows[timeline->row_count] = (struct timeline_row){stream, lane};
    return timeline->row_count++;
}

/* Nodes of one graph run side by side: each takes the first lane that is free. */
static void put_in_rows(struct timeline *timeline)
{
    double *ends = lk_alloc_zeroed((timeline->count + 1) * sizeof *ends);
    for (size_t i = 0; i < timeline->count; i++) {
        struct timeline_op *op = &timeline->ops[i];
        if (op->kind == TIMELINE_WAIT || op->kind == TIMELINE_GRAPH)
            continue;
        for (unsigned lane = 0;; lane++) {
            op->row = find_row(timeline, op->stream, lane);
            if (op->end <= op->begin || op->begin + SAME >= ends[op->row])
                break;
        }
        if (op->end > op->begin)
            ends[op->row] = op->end;
    }
    free(ends);
    struct timeline_row *before = lk_alloc((timeline->row_count + 1) * sizeof *before);
    memcpy(before, timeline->rows, timeline->row_count * sizeof *before);
    if (timeline->row_count)
        qsort(timeline->rows, timeline->row_count, sizeof *timeline->rows, by_stream);
    for (size_t i = 0; i < timeline->count; i++) {
        struct timeline_op *op = &timeline->ops[i];
        if (op->kind != TIMELINE_WAIT && op->kind != TIMELINE_GRAPH)
            op->row = find_row(timeline, before[op->row].stream, before[op->row].lane);
    }
    free(before);
    for (unsigned i = 0; i < timeline->row_count; i++)
        timeline->stream_count += timeline->rows[i].lane == 0;
}

/* Gaps -------------------------------------------------------------------------------------------
 */

/* What ended when this began: in its own stream, or else anywhere. */
static const struct timeline_op *ended_at(const struct timeline *timeline, double time,
                                          const struct timeline_op *next)
{
    const struct timeline_op *found = NULL;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_op *op = &timeline->ops[i];
        if (op == next || op->kind == TIMELINE_WAIT || op->kind == TIMELINE_GRAPH ||
            op->end <= op->begin || op->end < time - SAME || op->end > time + SAME)
            continue;
        if (!found || (next && op->stream == next->stream))
            found = op;
    }
    return found;
}

/* The operation that takes most of the gap, if that is half of it or more. */
static const struct timeline_op *fills(const struct timeline *timeline, double begin, double end)
{
    const struct timeline_op *found = NULL;
    double most = (end - begin) / 2;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_op *op = &timeline->ops[i];
        double from = op->begin > begin ? op->begin : begin, to = op->end < end ? op->end : end;
        if (op->kind == TIMELINE_WAIT || op->kind == TIMELINE_GRAPH || to - from < most)
            continue;
        most = to - from;
        found = op;
    }
    return found;
}

static const char *why_host(const struct timeline *timeline, struct lk_arena *arena,
                            const struct timeline_op *next)
{
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_op *op = &timeline->ops[i];
        if (op->kind == TIMELINE_WAIT && op->end >= next->asked - SAME &&
            op->end <= next->asked + SAME)
            return lk_arena_printf(arena, "the host, which waited in %s for stream %llu", op->call,
                                   (unsigned long long)op->stream);
    }
    return next->graph ? "the graph's launch" : "the host, which was issuing calls";
}

/* next: the kernel that ends the gap; NULL at the end of the program. */
static const char *why(const struct timeline *timeline, struct lk_arena *arena, double begin,
                       double end, const struct timeline_op *next)
{
    char words[128];
    if (next && next->asked >= end - SAME)
        return why_host(timeline, arena, next);
    const struct timeline_op *before = ended_at(timeline, end, next);
    const struct timeline_op *longest = fills(timeline, begin, end);
    before = before && longest ? longest : before;
    if (before)
        return lk_arena_printf(arena, "%s in stream %llu",
                               timeline_op_words(words, sizeof words, before),
                               (unsigned long long)before->stream);
    if (next && next->graph)
        return "the graph's launch";
    return next && next->asked > begin ? why_host(timeline, arena, next) : "nothing that is known";
}

static void add_gap(struct timeline *timeline, struct timeline_gap gap)
{
    unsigned at = timeline->gap_count;
    if (gap.end - gap.begin < SAME)
        return;
    while (at > 0 &&
           timeline->gaps[at - 1].end - timeline->gaps[at - 1].begin < gap.end - gap.begin - SAME)
        at--;
    if (at == TIMELINE_GAPS)
        return;
    if (timeline->gap_count < TIMELINE_GAPS)
        timeline->gap_count++;
    memmove(timeline->gaps + at + 1, timeline->gaps + at,
            (timeline->gap_count - 1 - at) * sizeof gap);
    timeline->gaps[at] = gap;
}

static const struct timeline_op *begins_at(const struct timeline *timeline, double time)
{
    for (size_t i = 0; i < timeline->count; i++)
        if (is_kernel(&timeline->ops[i]) && timeline->ops[i].begin >= time - SAME)
            return &timeline->ops[i];
    return NULL;
}

static void find_gaps(struct timeline *timeline, struct lk_arena *arena,
                      const struct spans *kernels)
{
    double from = 0;
    if (!kernels->count)
        return;
    for (size_t i = 0; i <= kernels->count; i++) {
        bool last = i == kernels->count;
        double to = last ? timeline->seconds : kernels->items[i].begin;
        add_gap(timeline, (struct timeline_gap){from, to, NULL});
        from = last ? to : kernels->items[i].end;
    }
    for (unsigned i = 0; i < timeline->gap_count; i++) {
        struct timeline_gap *gap = &timeline->gaps[i];
        gap->reason = why(timeline, arena, gap->begin, gap->end, begins_at(timeline, gap->end));
    }
}

/* All --------------------------------------------------------------------------------------------
 */

static int by_begin(const void *left, const void *right)
{
    const struct timeline_op *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

/* Times from the first call on; waits of one call that follow each other become one. */
static void tidy(struct timeline *timeline)
{
    double first = 1e300;
    size_t kept = 0;
    for (size_t i = 0; i < timeline->count; i++)
        first = timeline->ops[i].asked < first ? timeline->ops[i].asked : first;
    if (timeline->count)
        qsort(timeline->ops, timeline->count, sizeof *timeline->ops, by_begin);
    struct timeline_op *wait = NULL;
    for (size_t i = 0; i < timeline->count; i++) {
        struct timeline_op op = timeline->ops[i];
        op.asked -= first, op.issued -= first, op.begin -= first, op.end -= first;
        if (op.end > timeline->seconds)
            timeline->seconds = op.end;
        bool joins = is_wait(&op) && wait && strcmp(wait->call, op.call) == 0 &&
                     op.begin <= wait->end + SAME;
        if (joins) {
            wait->end = op.end, wait->stream = op.stream;
            continue;
        }
        timeline->ops[kept] = op;
        if (is_wait(&op))
            wait = &timeline->ops[kept];
        kept++;
    }
    timeline->count = kept;
}

static void sum_ops(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_op *op = &timeline->ops[i];
        bool is_node = op->graph && op->kind != TIMELINE_GRAPH;
        int engine = is_kernel(op) ? TIMELINE_COMPUTE
                     : is_to(op)   ? TIMELINE_COPY_TO
                     : is_from(op) ? TIMELINE_COPY_FROM
                                   : -1;
        if (engine >= 0)
            timeline->engines[engine].operations++, timeline->engines[engine].bytes += op->bytes;
        if (is_kernel(op))
            timeline->launching += op->graph ? GPU_NODE_SECONDS : GPU_LAUNCH_SECONDS;
        if (is_wait(op))
            timeline->waits++, timeline->waiting += op->end - op->begin;
        else if (!is_node && op->issued > op->asked)
            timeline->calls++, timeline->issuing += op->issued - op->asked;
    }
}

static void evaluate(struct timeline *timeline, struct lk_arena *arena)
{
    tidy(timeline);
    put_in_rows(timeline);
    sum_ops(timeline);
    struct spans kernels = unite(timeline, is_kernel), copies = unite(timeline, is_copy),
                 to = unite(timeline, is_to), from = unite(timeline, is_from);
    timeline->engines[TIMELINE_COMPUTE].busy = length_of(&kernels);
    timeline->engines[TIMELINE_COPY_TO].busy = length_of(&to);
    timeline->engines[TIMELINE_COPY_FROM].busy = length_of(&from);
    timeline->copy_busy = length_of(&copies);
    timeline->both_busy = common(&kernels, &copies);
    double shorter =
        timeline->copy_busy < length_of(&kernels) ? timeline->copy_busy : length_of(&kernels);
    timeline->overlap = shorter > 0 ? timeline->both_busy / shorter : 0;
    find_gaps(timeline, arena, &kernels);
    free(kernels.items);
    free(copies.items);
    free(to.items);
    free(from.items);
}

static int most_first(const void *left, const void *right)
{
    const struct timeline *a = *(struct timeline *const *)left,
                          *b = *(struct timeline *const *)right;
    return a->count > b->count ? -1 : a->count < b->count;
}

/* From 0, in the order in which they come; the system's numbers say nothing to a reader. */
static void number_processes(struct timelines *timelines)
{
    long count = 0;
    for (size_t i = 0; i < timelines->count; i++) {
        long process = timelines->items[i]->process;
        if (process < 0)
            continue;
        count++;
        for (size_t k = i; k < timelines->count; k++)
            if (timelines->items[k]->process == process)
                timelines->items[k]->process = -count;
    }
    for (size_t i = 0; i < timelines->count; i++)
        timelines->items[i]->process = -timelines->items[i]->process - 1;
}

void timelines_evaluate(struct timelines *timelines, struct lk_arena *arena)
{
    number_processes(timelines);
    for (size_t i = 0; i < timelines->count; i++)
        evaluate(timelines->items[i], arena);
    if (timelines->count)
        qsort(timelines->items, timelines->count, sizeof *timelines->items, most_first);
}
