/*
 * trace_json.c: the trace of chosen warps for programs, as docs/trace.md describes it.
 */
#include "report/report.h"

static json_t *record_json(const struct profile_record *record)
{
    const struct profile_code *code = record->code;
    json_t *object = json_pack(
        "{sI si so si si ss* sI sI ss}", "block", (json_int_t)record->block, "warp",
        (int)record->warp, "file", code->source ? json_string(code->source->shown) : json_null(),
        "line", (int)code->line, "ptx_line", (int)code->ptx_line, "text", code->text, "active",
        (json_int_t)record->active, "mask", (json_int_t)record->mask, "kind", record->kind);
    if (!record->space)
        return object;
    json_t *addresses = json_array();
    for (unsigned lane = 0; lane < 32; lane++)
        json_array_append_new(addresses, json_integer(record->addresses[lane]));
    json_object_set_new(object, "space", json_string(record->space));
    json_object_set_new(object, "bytes", json_integer(record->bytes));
    json_object_set_new(object, "addresses", addresses);
    return object;
}

static json_t *launch_json(const struct profile_launch *launch)
{
    json_t *records = json_array();
    for (size_t i = 0; i < launch->trace_count; i++)
        json_array_append_new(records, record_json(&launch->trace[i]));
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
