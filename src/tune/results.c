/*
 * results.c: the results of a search, as text and as JSON.
 */
#include "tune/tune.h"

#include "host/terminal.h"

#include <string.h>

static void print_tunables(FILE *out, const struct zoo_family *family, const struct tune_row *row)
{
    const struct zoo_source *source = zoo_source(family, row->variant);
    for (unsigned i = 0; i < source->tunable_count; i++)
        fprintf(out, " %s=%d", source->tunables[i].name, row->tuning.value[i]);
}

static void print_row(FILE *out, const struct zoo_family *family, const struct tune_row *row)
{
    struct lk_buf problem = {0};
    zoo_problem_print(&row->problem, &problem);
    fprintf(out, "%s%s%s\n", host_style(out, HOST_BOLD), problem.data, host_style(out, HOST_PLAIN));
    lk_buf_free(&problem);
    if (!row->variant) {
        fprintf(out, "  no variant works: %s\n", row->message ? row->message : "none takes it");
        return;
    }
    fprintf(out, "  best     %10.2f us  %s", row->seconds * 1e6, row->variant->name);
    print_tunables(out, family, row);
    fprintf(out, "%s\n", row->normal ? "  (built in)" : "");
    if (!row->normal)
        fprintf(out, "  built in %10.2f us  %s: %.3g x\n", row->normal_seconds * 1e6,
                row->normal_variant->name, row->normal_seconds / row->seconds);
    fprintf(out, "  %u configuration%s tried", row->tried, row->tried == 1 ? "" : "s");
    if (row->skipped)
        fprintf(out, ", %u skipped; the first: %.*s", row->skipped,
                (int)strcspn(row->message, "\n"), row->message);
    fprintf(out, "\n");
}

static json_t *row_json(const struct zoo_family *family, const struct tune_row *row)
{
    struct lk_buf problem = {0};
    zoo_problem_print(&row->problem, &problem);
    json_t *object = json_pack("{s:s, s:i, s:i}", "problem", problem.data, "tried", (int)row->tried,
                               "skipped", (int)row->skipped);
    lk_buf_free(&problem);
    if (!row->variant)
        return object;
    const struct zoo_source *source = zoo_source(family, row->variant);
    json_t *tunables = json_object();
    for (unsigned i = 0; i < source->tunable_count; i++)
        json_object_set_new(tunables, source->tunables[i].name, json_integer(row->tuning.value[i]));
    json_object_set_new(object, "variant", json_string(row->variant->name));
    json_object_set_new(object, "tunables", tunables);
    json_object_set_new(object, "built_in", json_boolean(row->normal));
    json_object_set_new(object, "microseconds", json_real(row->seconds * 1e6));
    json_object_set_new(object, "normal_variant", json_string(row->normal_variant->name));
    json_object_set_new(object, "normal_microseconds", json_real(row->normal_seconds * 1e6));
    return object;
}

void tune_print(FILE *out, const struct zoo_device *device, const struct tune_request *request,
                const struct tune_row *rows)
{
    fprintf(out, "%s on %s%s\n", request->family->name, device->name,
            device->cuda->simulated ? ", simulated: times are modelled" : "");
    for (size_t i = 0; i < request->count; i++)
        print_row(out, request->family, &rows[i]);
}

json_t *tune_json(const struct zoo_device *device, const struct tune_request *request,
                  const struct tune_row *rows)
{
    json_t *list = json_array();
    for (size_t i = 0; i < request->count; i++)
        json_array_append_new(list, row_json(request->family, &rows[i]));
    return json_pack("{s:s, s:s, s:s, s:o}", "family", request->family->name, "gpu", device->name,
                     "time", device->cuda->simulated ? "modelled" : "measured", "rows", list);
}
