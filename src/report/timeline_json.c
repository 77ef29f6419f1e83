/*
 * timeline_json.c: timelines for programs: in `profile --json` (docs/profile.md), and in Chrome's
 * trace format, which Perfetto opens: a process a GPU, in it the host's calls, the streams, and
 * the engines.
 */
#include "report/report.h"

static json_t *us(double seconds)
{
    return json_real(seconds * 1e6);
}

static json_t *triple(const unsigned *values)
{
    return json_pack("[iii]", (int)values[0], (int)values[1], (int)values[2]);
}

/* What is known of an operation beside its time. */
static json_t *facts(const struct timeline_op *op)
{
    json_t *object = json_pack("{ss}", "call", op->call);
    if (op->kind == TIMELINE_KERNEL) {
        json_object_set_new(object, "name", json_string(op->name));
        json_object_set_new(object, "grid", triple(op->grid));
        json_object_set_new(object, "block", triple(op->block));
    }
    if (op->bytes > 0) {
        json_object_set_new(object, "bytes", json_integer((json_int_t)op->bytes));
        if (op->end > op->begin)
            json_object_set_new(object, "gb_s", json_real(op->bytes / (op->end - op->begin) / 1e9));
    }
    if (op->graph)
        json_object_set_new(object, "graph", json_integer((json_int_t)op->graph));
    return object;
}

static json_t *op_json(const struct timeline_op *op)
{
    json_t *object = facts(op);
    json_object_set_new(object, "kind", json_string(timeline_kind_words[op->kind]));
    json_object_set_new(object, "stream", json_integer((json_int_t)op->stream));
    json_object_set_new(object, "begin_us", us(op->begin));
    json_object_set_new(object, "end_us", us(op->end));
    if (op->kind != TIMELINE_WAIT) {
        json_object_set_new(object, "asked_us", us(op->asked));
        json_object_set_new(object, "issued_us", us(op->issued));
    }
    if (op->kind != TIMELINE_WAIT && op->kind != TIMELINE_GRAPH)
        json_object_set_new(object, "row", json_integer(op->row));
    return object;
}

static json_t *engines(const struct timeline *timeline)
{
    static const char *const keys[TIMELINE_ENGINES] = {"compute", "copy_to", "copy_from"};
    json_t *object = json_object();
    for (int i = 0; i < TIMELINE_ENGINES; i++) {
        const struct timeline_engine_sum *sum = &timeline->engines[i];
        double all = timeline->seconds > 0 ? timeline->seconds : 1;
        json_object_set_new(object, keys[i],
                            json_pack("{si sf sf sf sI}", "operations", (int)sum->operations,
                                      "busy_us", sum->busy * 1e6, "busy", sum->busy / all, "idle",
                                      1 - sum->busy / all, "bytes", (json_int_t)sum->bytes));
    }
    return object;
}

static json_t *timeline_json(const struct timeline *t)
{
    json_t *ops = json_array(), *gaps = json_array(), *rows = json_array();
    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(ops, op_json(&t->ops[i]));
    for (unsigned i = 0; i < t->gap_count; i++)
        json_array_append_new(gaps,
                              json_pack("{sf sf ss}", "begin_us", t->gaps[i].begin * 1e6, "end_us",
                                        t->gaps[i].end * 1e6, "waits_for", t->gaps[i].reason));
    for (unsigned i = 0; i < t->row_count; i++)
        json_array_append_new(rows, json_pack("{sI si}", "stream", (json_int_t)t->rows[i].stream,
                                              "lane", (int)t->rows[i].lane));
    json_t *host = json_pack("{si sf si sf sf}", "calls", (int)t->calls, "issuing_us",
                             t->issuing * 1e6, "waits", (int)t->waits, "waiting_us",
                             t->waiting * 1e6, "launch_overhead_us", t->launching * 1e6);
    json_t *object = json_pack(
        "{sI si ss sf si sf sf so so so so so}", "process", (json_int_t)t->process, "device",
        t->device, "gpu", t->gpu->id, "time_us", t->seconds * 1e6, "streams", (int)t->stream_count,
        "overlap", t->overlap, "together_us", t->both_busy * 1e6, "engines", engines(t), "host",
        host, "gaps", gaps, "rows", rows, "operations", ops);
    if (t->more.operations)
        json_object_set_new(
            object, "more",
            json_pack("{sI sI sI sf sf sf}", "operations", (json_int_t)t->more.operations,
                      "kernels", (json_int_t)t->more.kernels, "copies", (json_int_t)t->more.copies,
                      "kernels_us", t->more.kernel_seconds * 1e6, "copies_us",
                      t->more.copy_seconds * 1e6, "end_us", t->more.until * 1e6));
    return object;
}

json_t *timelines_json(const struct timelines *timelines)
{
    json_t *list = json_array();
    for (size_t i = 0; i < timelines->count; i++)
        json_array_append_new(list, timeline_json(timelines->items[i]));
    return list;
}

/* Chrome's trace format --------------------------------------------------------------------------
 */

enum { HOST_TRACK = 1, ENGINE_TRACKS = 2, STREAM_TRACKS = 100 };

static void name_it(json_t *events, int process, unsigned track, const char *what, const char *name)
{
    json_array_append_new(events, json_pack("{ss ss si si s{ss}}", "ph", "M", "name", what, "pid",
                                            process, "tid", (int)track, "args", "name", name));
    if (track)
        json_array_append_new(events, json_pack("{ss ss si si s{si}}", "ph", "M", "name",
                                                "thread_sort_index", "pid", process, "tid",
                                                (int)track, "args", "sort_index", (int)track));
}

static void put_event(json_t *events, int process, unsigned track, const char *name,
                      const struct timeline_op *op, double begin, double end)
{
    bool instant = end <= begin;
    json_t *event = json_pack("{ss ss ss si si sf so}", "name", name, "cat",
                              timeline_kind_words[op->kind], "ph", instant ? "i" : "X", "pid",
                              process, "tid", (int)track, "ts", begin * 1e6, "args", facts(op));
    if (instant)
        json_object_set_new(event, "s", json_string("t"));
    else
        json_object_set_new(event, "dur", us(end - begin));
    json_array_append_new(events, event);
}

static void put_tracks(json_t *events, const struct timeline *t, int process)
{
    char words[64];
    name_it(events, process, 0, "process_name", t->gpu->name);
    name_it(events, process, HOST_TRACK, "thread_name", "host");
    for (unsigned i = TIMELINE_COPY_TO; i < TIMELINE_ENGINES; i++)
        if (t->engines[i].operations)
            name_it(events, process, ENGINE_TRACKS + i, "thread_name", timeline_engine_words[i]);
    for (unsigned i = 0; i < t->row_count; i++)
        name_it(events, process, STREAM_TRACKS + i, "thread_name",
                timeline_row_words(words, sizeof words, &t->rows[i]));
}

/* Kernels may run side by side, which one track cannot show: only the copies' engines have one. */
static int engine_of(const struct timeline_op *op)
{
    return op->kind == TIMELINE_TO     ? TIMELINE_COPY_TO
           : op->kind == TIMELINE_FROM ? TIMELINE_COPY_FROM
                                       : -1;
}

json_t *timelines_chrome(const struct timelines *timelines)
{
    json_t *events = json_array();
    char words[160];
    for (size_t k = 0; k < timelines->count; k++) {
        const struct timeline *t = timelines->items[k];
        int process = (int)k + 1;
        put_tracks(events, t, process);
        for (size_t i = 0; i < t->count; i++) {
            const struct timeline_op *op = &t->ops[i];
            bool is_node = op->graph && op->kind != TIMELINE_GRAPH;
            timeline_op_words(words, sizeof words, op);
            if (op->kind == TIMELINE_WAIT)
                put_event(events, process, HOST_TRACK, op->call, op, op->begin, op->end);
            else if (!is_node && op->issued > op->asked)
                put_event(events, process, HOST_TRACK, op->call, op, op->asked, op->issued);
            if (op->kind == TIMELINE_WAIT || op->kind == TIMELINE_GRAPH)
                continue;
            put_event(events, process, STREAM_TRACKS + op->row, words, op, op->begin, op->end);
            if (engine_of(op) >= 0)
                put_event(events, process, ENGINE_TRACKS + (unsigned)engine_of(op), words, op,
                          op->begin, op->end);
        }
    }
    return json_pack("{ss so}", "displayTimeUnit", "ns", "traceEvents", events);
}
