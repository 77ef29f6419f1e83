/*
 * timeline_read.c: the lines of the counters' file that driver/timeline.c writes, into timelines.
 */
#include "report/timeline.h"

#include "host/demangle.h"

#include <stdlib.h>
#include <string.h>

const char *const timeline_kind_words[TIMELINE_KINDS] = {[TIMELINE_KERNEL] = "kernel",
                                                         [TIMELINE_TO] = "copy to the device",
                                                         [TIMELINE_FROM] = "copy from the device",
                                                         [TIMELINE_INSIDE] =
                                                             "copy inside the device",
                                                         [TIMELINE_MEMSET] = "memset",
                                                         [TIMELINE_HOST] = "host function",
                                                         [TIMELINE_EVENT] = "event",
                                                         [TIMELINE_STALL] = "wait in the stream",
                                                         [TIMELINE_GRAPH] = "graph launch",
                                                         [TIMELINE_WAIT] = "wait"};

static double seconds_of(const json_t *line, const char *key)
{
    return json_number_value(json_object_get(line, key)) * 1e-6;
}

static uint64_t whole(const json_t *line, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(line, key));
}

static const char *keep(struct lk_arena *arena, const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return text ? lk_arena_strndup(arena, text, strlen(text)) : "";
}

static bool kind_of(const json_t *line, const char *word, enum timeline_kind *kind)
{
    static const struct {
        const char *word;
        enum timeline_kind kind;
    } kinds[] = {{"library call", TIMELINE_KERNEL}, {"kernel", TIMELINE_KERNEL},
                 {"memset", TIMELINE_MEMSET},       {"host function", TIMELINE_HOST},
                 {"event", TIMELINE_EVENT},         {"event wait", TIMELINE_STALL},
                 {"value wait", TIMELINE_STALL},    {"value", TIMELINE_EVENT},
                 {"graph", TIMELINE_GRAPH},         {"wait", TIMELINE_WAIT}};
    if (strcmp(word, "copy") == 0) {
        const char *way = json_string_value(json_object_get(line, "way"));
        *kind = !way                       ? TIMELINE_INSIDE
                : strcmp(way, "to") == 0   ? TIMELINE_TO
                : strcmp(way, "from") == 0 ? TIMELINE_FROM
                                           : TIMELINE_INSIDE;
        return way != NULL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i].word) == 0) {
            *kind = kinds[i].kind;
            return true;
        }
    return false;
}

static struct timeline *timeline_of(struct timelines *timelines, const json_t *line)
{
    long process = (long)whole(line, "process");
    int device = (int)whole(line, "device");
    for (size_t i = 0; i < timelines->count; i++)
        if (timelines->items[i]->process == process && timelines->items[i]->device == device)
            return timelines->items[i];
    const char *gpu = json_string_value(json_object_get(line, "gpu"));
    if (!gpu || !gpu_find(gpu))
        return NULL;
    struct timeline *timeline = lk_alloc_zeroed(sizeof *timeline);
    timeline->process = process;
    timeline->device = device;
    timeline->gpu = gpu_find(gpu);
    timelines->items =
        lk_realloc(timelines->items, (timelines->count + 1) * sizeof *timelines->items);
    timelines->items[timelines->count++] = timeline;
    return timeline;
}

static void read_more(struct timeline *timeline, const json_t *line)
{
    timeline->more.operations = whole(line, "operations");
    timeline->more.kernels = whole(line, "kernels");
    timeline->more.copies = whole(line, "copies");
    timeline->more.kernel_seconds = seconds_of(line, "kernel_time");
    timeline->more.copy_seconds = seconds_of(line, "copy_time");
    timeline->more.until = seconds_of(line, "end");
}

static const char *kernel_name(struct lk_arena *arena, const json_t *line)
{
    const char *mangled = json_string_value(json_object_get(line, "name"));
    if (!mangled)
        return "";
    char *name = host_demangle(mangled);
    const char *kept = lk_arena_strndup(arena, name, strlen(name));
    free(name);
    return kept;
}

bool timeline_read(struct timelines *timelines, struct lk_arena *arena, const json_t *line)
{
    const char *word = json_string_value(json_object_get(line, "timeline"));
    struct timeline *timeline = timeline_of(timelines, line);
    struct timeline_op op = {0};
    if (!word || !timeline)
        return false;
    if (strcmp(word, "more") == 0) {
        read_more(timeline, line);
        return true;
    }
    if (!kind_of(line, word, &op.kind))
        return false;
    op.stream = whole(line, "stream");
    op.graph = whole(line, "graph");
    op.begin = seconds_of(line, "begin");
    op.end = seconds_of(line, "end");
    op.asked = json_object_get(line, "asked") ? seconds_of(line, "asked") : op.begin;
    op.issued = json_object_get(line, "issued") ? seconds_of(line, "issued") : op.asked;
    op.call = keep(arena, line, "call");
    op.name = kernel_name(arena, line);
    op.bytes = (double)whole(line, "bytes");
    for (size_t i = 0; i < 3; i++) {
        const json_t *grid = json_object_get(line, "grid"), *block = json_object_get(line, "block");
        op.grid[i] = (unsigned)json_integer_value(json_array_get(grid, i));
        op.block[i] = (unsigned)json_integer_value(json_array_get(block, i));
    }
    if (timeline->count == timeline->capacity) {
        timeline->capacity = timeline->capacity ? 2 * timeline->capacity : 64;
        timeline->ops = lk_realloc(timeline->ops, timeline->capacity * sizeof *timeline->ops);
    }
    timeline->ops[timeline->count++] = op;
    return true;
}

void timelines_free(struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->count; i++) {
        free(timelines->items[i]->ops);
        free(timelines->items[i]->rows);
        free(timelines->items[i]);
    }
    free(timelines->items);
    *timelines = (struct timelines){0};
}
