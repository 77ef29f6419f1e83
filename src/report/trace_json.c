/*
 * trace_json.c: the trace of chosen warps for programs, as docs/trace.md describes it.
 */
#include "report/report.h"

static json_t *record_json(const struct profile_launch *launch, json_t *row)
{
    json_int_t number = json_integer_value(json_array_get(row, 2));
    if (number < 0 || number >= (json_int_t)launch->kernel->code_count)
        return NULL;
    const struct profile_code *code = &launch->kernel->code[number];
    json_t *what = json_array_get(row, 5);
    const char *space = json_string_value(what);
    bool is_branch = space && space[0] == 'b';
    json_t *record =
        json_pack("{sO sO so si si ss* sO sO ss}", "block", json_array_get(row, 0), "warp",
                  json_array_get(row, 1), "file",
                  code->source ? json_string(code->source->shown) : json_null(), "line",
                  (int)code->line, "ptx_line", (int)code->ptx_line, "text", code->text, "active",
                  json_array_get(row, 3), "mask", json_array_get(row, 4), "kind",
                  is_branch ? "branch" : json_string_value(json_array_get(row, 6)));
    if (!is_branch && record) {
        json_object_set(record, "space", what);
        json_object_set(record, "bytes", json_array_get(row, 7));
        json_object_set(record, "addresses", json_array_get(row, 8));
    }
    return record;
}

static json_t *launch_json(const struct profile_launch *launch)
{
    json_t *records = json_array(), *row;
    size_t index;
    json_array_foreach(launch->trace, index, row)
    {
        json_t *record = record_json(launch, row);
        if (record)
            json_array_append_new(records, record);
    }
    return json_pack("{si ss s[iii] s[iii] so sI}", "launch", (int)launch->number, "name",
                     launch->kernel->name, "grid", (int)launch->grid[0], (int)launch->grid[1],
                     (int)launch->grid[2], "block", (int)launch->block[0], (int)launch->block[1],
                     (int)launch->block[2], "records", records, "dropped",
                     (json_int_t)launch->trace_dropped);
}

json_t *report_trace_json(const struct profile *profile)
{
    json_t *launches = json_array();
    for (unsigned i = 0; i < profile->launch_count; i++)
        json_array_append_new(launches, launch_json(profile->launches[i]));
    const char *gpu = profile->launch_count ? profile->launches[0]->gpu->id : "none";
    return json_pack("{si ss so}", "trace", 1, "gpu",
                     lk_arena_printf(profile->arena, "sim:%s", gpu), "launches", launches);
}
