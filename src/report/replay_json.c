/*
 * replay_json.c: a replay with its sources, as docs/replay.md describes it: what the studio's page
 * /replay plays.
 */
#include "report/report.h"

#include "base/buf.h"
#include "host/demangle.h"

#include <stdlib.h>
#include <string.h>

struct sources {
    json_t *array; /* [{"file", "text"}] */
    struct profile_source *known[64];
    unsigned count;
};

/* Its place in the list, to which it is added; -1 if it is not known or there is no room. */
static int source_number(struct sources *sources, struct profile_source *source)
{
    for (unsigned i = 0; i < sources->count; i++)
        if (sources->known[i] == source)
            return (int)i;
    if (!source || sources->count == sizeof sources->known / sizeof sources->known[0])
        return -1;
    struct lk_buf text = {0};
    for (unsigned i = 0; i < source->line_count; i++)
        lk_buf_printf(&text, "%s\n", source->lines[i]);
    json_t *words = json_stringn(text.data ? text.data : "", text.size);
    json_array_append_new(sources->array, json_pack("{ss so}", "file", source->shown, "text",
                                                    words ? words : json_string("")));
    lk_buf_free(&text);
    sources->known[sources->count] = source;
    return (int)sources->count++;
}

static void put_access(json_t *event, const json_t *row)
{
    static const struct {
        const char *name;
        enum gpu_replay_column column;
    } counts[] = {{"sectors", GPU_REPLAY_sectors},
                  {"l1", GPU_REPLAY_l1},
                  {"l2", GPU_REPLAY_l2},
                  {"dram", GPU_REPLAY_dram},
                  {"passes", GPU_REPLAY_passes}};
    json_object_set(event, "space", json_array_get(row, GPU_REPLAY_space));
    json_object_set(event, "bytes", json_array_get(row, GPU_REPLAY_bytes));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        json_t *value = json_array_get(row, counts[i].column);
        if (json_integer_value(value))
            json_object_set(event, counts[i].name, value);
    }
    json_t *addresses = json_array_get(row, GPU_REPLAY_addresses), *first;
    first = json_array_get(addresses, 0);
    if (json_is_array(first)) {
        json_object_set(event, "addresses", first);
    } else {
        json_object_set(event, "first", first);
        json_object_set(event, "step", json_array_get(addresses, 1));
    }
}

/* Two lines of the machine's may be one of the reader's: both inlined from a header. */
static bool joins(json_t *last, const json_t *event)
{
    static const char *const same[] = {"source", "line", "active", "kind"};
    if (!last || strcmp(json_string_value(json_object_get(event, "kind")), "run") != 0)
        return false;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (!json_equal(json_object_get(last, same[i]), json_object_get(event, same[i])))
            return false;
    json_int_t lanes = json_integer_value(json_object_get(last, "lanes")) |
                       json_integer_value(json_object_get(event, "lanes"));
    json_int_t count = json_integer_value(json_object_get(last, "count")) +
                       json_integer_value(json_object_get(event, "count"));
    json_object_set_new(last, "lanes", json_integer(lanes));
    json_object_set_new(last, "count", json_integer(count));
    return true;
}

static json_t *event_json(const struct profile_launch *launch, const json_t *row,
                          struct sources *sources)
{
    size_t inst = (size_t)json_integer_value(json_array_get(row, GPU_REPLAY_inst));
    if (inst >= launch->kernel->code_count || !json_is_string(json_array_get(row, GPU_REPLAY_kind)))
        return NULL;
    const struct profile_code *code = &launch->kernel->code[inst];
    int source = source_number(sources, code->source);
    json_t *event = json_pack(
        "{sO sO sO si si sO sO sO sO}", "time", json_array_get(row, GPU_REPLAY_time), "block",
        json_array_get(row, GPU_REPLAY_block), "warp", json_array_get(row, GPU_REPLAY_warp),
        "source", source, "line", source < 0 ? 0 : (int)code->line, "active",
        json_array_get(row, GPU_REPLAY_active), "lanes", json_array_get(row, GPU_REPLAY_mask),
        "kind", json_array_get(row, GPU_REPLAY_kind), "count",
        json_array_get(row, GPU_REPLAY_count));
    if (event && json_array_size(row) > GPU_REPLAY_addresses)
        put_access(event, row);
    return event;
}

/* The last event of each warp, to which the next may belong. */
static json_t *events_json(const struct profile_launch *launch, struct sources *sources)
{
    json_t *rows = json_object_get(launch->replay, "replay"), *events = json_array(), *row;
    json_t *lasts = json_object();
    size_t i;
    json_array_foreach(rows, i, row)
    {
        char key[48];
        json_t *event = event_json(launch, row, sources);
        if (!event)
            continue;
        snprintf(key, sizeof key, "%lld.%lld",
                 (long long)json_integer_value(json_object_get(event, "block")),
                 (long long)json_integer_value(json_object_get(event, "warp")));
        if (joins(json_object_get(lasts, key), event)) {
            json_decref(event);
            continue;
        }
        json_object_set(lasts, key, event);
        json_array_append_new(events, event);
    }
    json_decref(lasts);
    return events;
}

static json_t *shared_json(const json_t *replay)
{
    json_t *variables = json_array(), *row;
    size_t i;
    json_array_foreach(json_object_get(replay, "shared"), i, row)
    {
        const char *mangled = json_string_value(json_array_get(row, 0));
        char *name = host_demangle_briefly(mangled ? mangled : "");
        json_array_append_new(variables,
                              json_pack("{ss sO sO}", "name", name, "offset",
                                        json_array_get(row, 1), "bytes", json_array_get(row, 2)));
        free(name);
    }
    return variables;
}

static json_t *launch_json(const struct profile_launch *launch, struct sources *sources)
{
    const unsigned *grid = launch->grid, *block = launch->block;
    return json_pack("{si ss s[iii] s[iii] sO sO so sO so}", "launch", (int)launch->number, "name",
                     launch->kernel->name, "grid", (int)grid[0], (int)grid[1], (int)grid[2],
                     "block", (int)block[0], (int)block[1], (int)block[2], "parameters",
                     json_object_get(launch->replay, "parameters"), "shared_bytes",
                     json_object_get(launch->replay, "shared_bytes"), "shared",
                     shared_json(launch->replay), "dropped",
                     json_object_get(launch->replay, "dropped"), "events",
                     events_json(launch, sources));
}

json_t *report_replay_json(const struct profile *profile)
{
    struct sources sources = {.array = json_array()};
    json_t *launches = json_array();
    const struct gpu_info *gpu = NULL;
    for (unsigned i = 0; i < profile->launch_count; i++) {
        const struct profile_launch *launch = profile->launches[i];
        if (!launch->replay)
            continue;
        gpu = launch->gpu;
        json_array_append_new(launches, launch_json(launch, &sources));
    }
    return json_pack("{si ss si so so}", "replay", 1, "gpu",
                     gpu ? lk_arena_printf(profile->arena, "sim:%s", gpu->id) : "none", "mhz",
                     gpu ? (int)gpu->boost_mhz : 0, "launches", launches, "sources", sources.array);
}
