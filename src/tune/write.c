/*
 * write.c: what was found, into the table that the public calls read (zoo/table.h), and the PTX of
 * the winners beside it. The file is replaced as a whole, so that a reader never sees half of it.
 */
#include "tune/tune.h"

#include "host/files.h"
#include "zoo/table.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Rows ------------------------------------------------------------------------------------------*/

/* "reduction-vectorised-BLOCK256-UNROLL8-0123abcd.ptx" */
static void print_ptx_name(const struct zoo_family *family, const struct tune_row *row,
                           struct lk_buf *name)
{
    const struct zoo_source *source = zoo_source(family, row->variant);
    lk_buf_printf(name, "%s-%s", family->name, row->variant->name);
    for (unsigned i = 0; i < source->tunable_count; i++)
        lk_buf_printf(name, "-%s%d", source->tunables[i].name, row->tuning.value[i]);
    lk_buf_printf(name, "-%08x.ptx", (unsigned)zoo_source_hash(family, row->variant));
}

/* The problem's enumerations, which a row holds for exactly: "op=sum type=f32". */
static void print_words(const struct zoo_problem *problem, struct lk_buf *text)
{
    const struct zoo_parameter *parameter = problem->family->parameters;
    lk_buf_printf(text, "%s", "");
    for (size_t i = 0; parameter[i].name; i++)
        if (parameter[i].words)
            lk_buf_printf(text, "%s%s=%s", text->size ? " " : "", parameter[i].name,
                          parameter[i].words[problem->value[i]]);
}

static void print_hash(char hash[17], const struct zoo_family *family,
                       const struct zoo_variant *variant)
{
    snprintf(hash, 17, "%016llx", (unsigned long long)zoo_source_hash(family, variant));
}

static json_t *row_object(const struct zoo_family *family, const struct tune_row *row,
                          const char *problem, const char *ptx)
{
    const struct zoo_source *source = zoo_source(family, row->variant);
    struct lk_buf words = {0};
    char hash[17];
    json_t *tunables = json_object();
    for (unsigned i = 0; i < source->tunable_count; i++)
        json_object_set_new(tunables, source->tunables[i].name, json_integer(row->tuning.value[i]));
    print_hash(hash, family, row->variant);
    print_words(&row->problem, &words);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:o, s:s, s:f, s:s, s:f}", "where", words.data ? words.data : "",
                  "problem", problem, "variant", row->variant->name, "tunables", tunables, "source",
                  hash, "microseconds", row->seconds * 1e6, "normal_variant",
                  row->normal_variant->name, "normal_microseconds", row->normal_seconds * 1e6);
    if (ptx)
        json_object_set_new(object, "ptx", json_string(ptx));
    lk_buf_free(&words);
    return object;
}

/* Does the row speak of this problem, and of a source that has not changed since? */
static bool is_current(const struct zoo_problem *problem, const char *text, json_t *row)
{
    const char *its_problem = json_string_value(json_object_get(row, "problem"));
    const char *its_variant = json_string_value(json_object_get(row, "variant"));
    const char *its_hash = json_string_value(json_object_get(row, "source"));
    const struct zoo_variant *variant =
        its_variant ? zoo_find_variant(problem->family, its_variant) : NULL;
    char hash[17];
    if (!variant || !its_problem || !its_hash || strcmp(its_problem, text) != 0)
        return false;
    print_hash(hash, problem->family, variant);
    return strcmp(its_hash, hash) == 0;
}

/* One that speaks of the same problem goes. */
static void set_row(json_t *rows, const char *problem, json_t *object)
{
    for (size_t i = json_array_size(rows); i > 0; i--) {
        const char *old =
            json_string_value(json_object_get(json_array_get(rows, i - 1), "problem"));
        if (old && strcmp(old, problem) == 0)
            json_array_remove(rows, i - 1);
    }
    json_array_append_new(rows, object);
}

/* Tables ----------------------------------------------------------------------------------------*/

static bool is_table(json_t *table, const char *family, const char *gpu, const char *time)
{
    const char *its_family = json_string_value(json_object_get(table, "family"));
    const char *its_gpu = json_string_value(json_object_get(table, "gpu"));
    const char *its_time = json_string_value(json_object_get(table, "time"));
    return its_family && its_gpu && its_time && strcmp(its_family, family) == 0 &&
           strcmp(its_gpu, gpu) == 0 && strcmp(its_time, time) == 0;
}

/* The table of this family and GPU, in front of the others if it is new. */
static json_t *find_table(json_t *root, const char *family, const char *gpu, const char *time)
{
    json_t *tables = json_object_get(root, "tables"), *table;
    size_t i;
    if (!json_is_array(tables)) {
        tables = json_array();
        json_object_set_new(root, "tables", tables);
    }
    json_array_foreach(tables, i, table)
    {
        if (is_table(table, family, gpu, time))
            return table;
    }
    table = json_pack("{s:s, s:s, s:s}", "family", family, "gpu", gpu, "time", time);
    json_array_insert_new(tables, 0, table);
    return table;
}

static void set_origin(json_t *table, const struct zoo_device *device,
                       const struct tune_request *request)
{
    char date[16], driver[32];
    int version = 0;
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(date, sizeof date, "%Y-%m-%d", &parts);
    device->cuda->cuDriverGetVersion(&version);
    snprintf(driver, sizeof driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    json_object_set_new(table, "date", json_string(date));
    json_object_set_new(table, "driver", json_string(driver));
    json_object_set_new(table, "compiler", json_string(zoo_compiler));
    if (!json_is_array(json_object_get(table, "rows")))
        json_object_set_new(table, "rows", json_array());
}

static bool add_row(json_t *rows, const struct zoo_family *family, const struct tune_row *row,
                    const char *folder, char **message)
{
    struct lk_buf problem = {0}, ptx = {0}, path = {0};
    bool fine = true;
    zoo_problem_print(&row->problem, &problem);
    if (row->ptx) {
        print_ptx_name(family, row, &ptx);
        lk_buf_printf(&path, "%s/%s", folder, ptx.data);
        fine = host_replace_file(path.data, row->ptx, strlen(row->ptx), message);
    }
    if (fine)
        set_row(rows, problem.data, row_object(family, row, problem.data, ptx.data));
    lk_buf_free(&problem);
    lk_buf_free(&ptx);
    lk_buf_free(&path);
    return fine;
}

bool tune_has_row(const struct zoo_device *device, const struct zoo_problem *problem,
                  const char *path)
{
    const char *time = device->cuda->simulated ? "modelled" : "measured";
    struct lk_buf text = {0};
    json_t *root = json_load_file(path, 0, NULL), *table, *row;
    size_t i, k;
    bool found = false;
    zoo_problem_print(problem, &text);
    json_array_foreach(json_object_get(root, "tables"), i, table)
    {
        if (!is_table(table, problem->family->name, device->name, time))
            continue;
        json_array_foreach(json_object_get(table, "rows"), k, row)
        {
            found = found || is_current(problem, text.data, row);
        }
    }
    json_decref(root);
    lk_buf_free(&text);
    return found;
}

bool tune_write(const struct zoo_device *device, const struct tune_request *request,
                const struct tune_row *row, const char *path, char **message)
{
    const char *time = device->cuda->simulated ? "modelled" : "measured";
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    bool fine;
    *message = NULL;
    json_t *root = json_load_file(path, 0, NULL);
    const char *format = json_string_value(json_object_get(root, "format"));
    if (!format || strcmp(format, ZOO_TABLE_FORMAT) != 0) {
        json_decref(root);
        root = json_pack("{s:s}", "format", ZOO_TABLE_FORMAT);
    }
    json_t *table = find_table(root, request->family->name, device->name, time);
    set_origin(table, device, request);
    fine = add_row(json_object_get(table, "rows"), request->family, row, folder, message);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    fine = fine && text && host_replace_file(path, text, strlen(text), message);
    free(text);
    json_decref(root);
    free(folder);
    return fine;
}
