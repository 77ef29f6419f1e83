/*
 * json.c: results for programs, and for --against: docs/bench.md says what each member is.
 */
#include "bench/results.h"

static const char *const state_names[] = {"measured", "wrong", "skipped"};

static json_t *entry_json(const struct bench_entry *entry)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s*, s:s*}", "name", entry->name, "kind",
                               entry->peer ? "peer" : "variant", "state", state_names[entry->state],
                               "message", entry->message, "version", entry->version);
    if (entry->state != BENCH_MEASURED)
        return object;
    const struct bench_summary *time = &entry->time;
    json_t *figures =
        json_pack("{s:s, s:i, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "method",
                  bench_method_names[entry->method], "launches", (int)entry->launches, "samples",
                  (json_int_t)time->count, "discarded", (json_int_t)entry->discarded, "median_us",
                  time->median * 1e6, "q1_us", time->q1 * 1e6, "q3_us", time->q3 * 1e6, "low_us",
                  time->low * 1e6, "high_us", time->high * 1e6);
    json_object_update(object, figures);
    json_decref(figures);
    figures = json_pack("{s:f, s:f, s:f, s:f, s:I, s:i, s:i}", "gb_s", entry->gb_s, "gflop_s",
                        entry->gflop_s, "roof", entry->roof, "copy_roof", entry->copy_roof,
                        "workspace_bytes", (json_int_t)entry->workspace_bytes, "registers",
                        entry->registers, "lines", entry->lines);
    json_object_update(object, figures);
    json_decref(figures);
    return object;
}

static json_t *result_json(const struct bench_result *result)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < result->count; i++)
        json_array_append_new(entries, entry_json(&result->entries[i]));
    return json_pack("{s:s, s:s, s:f, s:f, s:s, s:I, s:i, s:s*, s:s*, s:o}", "family",
                     result->family->name, "problem", result->text, "bytes", result->bytes, "flops",
                     result->flops, "unit", result->unit, "buffer_bytes",
                     (json_int_t)result->buffer_bytes, "copies", (int)result->copies, "verified_on",
                     result->verified_on, "remarks", result->remarks, "entries", entries);
}

json_t *bench_report_json(const struct bench_report *report)
{
    const struct bench_place *place = report->place;
    json_t *results = json_array();
    for (size_t i = 0; i < report->count; i++)
        if (report->results[i].family)
            json_array_append_new(results, result_json(&report->results[i]));
    return json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:f, s:f, s:o}", "gpu", place->gpu,
                     "gpu_name", place->name, "modelled", place->modelled, "driver", place->driver,
                     "compiler", report->compiler, "commit", report->commit, "date", report->date,
                     "memory_gb_s", place->info ? place->info->memory_gb_s : 0.0, "copy_gb_s",
                     place->copy_gb_s, "results", results);
}
