/*
 * table_read.c: tables of choices from JSON: those in the library, and the file of 'lockstep tune'.
 * A bad row is ignored and remembered as a remark: a call never fails because of it.
 */
#include "zoo/table.h"

#include "base/arena.h"
#include "host/files.h"
#include "zoo/embedded.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILE = 4 << 20, MAX_ROWS = 10000 };

/* What all rows of one table of one file share. */
struct context {
    struct zoo_table *table;
    const struct zoo_device *device;
    const struct zoo_family *family;
    enum zoo_table_gpu gpus;
    const char *name, *folder; /* of the file */
    json_t *object;            /* the table */
};

static const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Rows ------------------------------------------------------------------------------------------*/

static bool read_tunables(const struct zoo_source *source, json_t *tunables,
                          struct zoo_tuning *tuning, struct lk_buf *wrong)
{
    const char *name;
    json_t *value;
    *tuning = zoo_tuning_normal(source);
    json_object_foreach(tunables, name, value)
    {
        unsigned i = 0;
        while (i < source->tunable_count && strcmp(source->tunables[i].name, name) != 0)
            i++;
        if (i == source->tunable_count || !json_is_integer(value)) {
            lk_buf_printf(wrong, "it has no tunable '%s'", name);
            return false;
        }
        tuning->value[i] = (int)json_integer_value(value);
    }
    return true;
}

/* The PTX of a row whose kernels are not the built-in ones, made from the source as it is now. */
static bool find_ptx(const struct context *context, struct zoo_row *row, json_t *object,
                     struct lk_buf *wrong)
{
    const char *file = text_of(object, "ptx");
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx",
             (unsigned long long)zoo_source_hash(row->family, row->variant));
    if (!*file || strchr(file, '/') || !context->folder) {
        lk_buf_printf(wrong, "it names no PTX file for its tunables");
        return false;
    }
    if (strcmp(text_of(object, "source"), hash) != 0) {
        lk_buf_printf(wrong, "it was made from another version of the source; tune again");
        return false;
    }
    struct lk_buf path = {0};
    lk_buf_printf(&path, "%s/%s", context->folder, file);
    row->ptx = path.data;
    if (access(row->ptx, R_OK) == 0)
        return true;
    lk_buf_printf(wrong, "%s is not there", row->ptx);
    return false;
}

static bool read_problem(struct zoo_row *row, json_t *object, struct lk_buf *wrong)
{
    char *message = NULL;
    size_t count = 0;
    row->measured = strdup(text_of(object, "problem"));
    struct zoo_problem *parsed = zoo_problems(row->family, row->measured, &count, &message);
    if (parsed && count == 1)
        row->near = *parsed;
    else
        lk_buf_printf(wrong, "%s", parsed ? "its problem is several" : message);
    free(message);
    free(parsed);
    return count == 1 && !wrong->size;
}

static bool fill_row(const struct context *context, struct zoo_row *row, json_t *object,
                     struct lk_buf *wrong)
{
    const char *variant = text_of(object, "variant");
    row->variant = zoo_find_variant(row->family, variant);
    const struct zoo_source *source = row->variant ? zoo_source(row->family, row->variant) : NULL;
    if (!source || !row->variant->launch) {
        lk_buf_printf(wrong, "there is no variant '%s'", variant);
        return false;
    }
    row->where = strdup(text_of(object, "where"));
    row->seconds = json_number_value(json_object_get(object, "microseconds")) * 1e-6;
    struct lk_buf origin = {0};
    lk_buf_printf(&origin, "%s on %s%s%s%s, in %s", text_of(context->object, "time"),
                  text_of(context->object, "gpu"),
                  context->gpus == ZOO_OTHER_GPUS ? ", for want of a table for this GPU" : "",
                  *text_of(context->object, "date") ? ", " : "", text_of(context->object, "date"),
                  context->name);
    row->origin = origin.data;
    return zoo_parse_where(row, row->where, wrong) && read_problem(row, object, wrong) &&
           read_tunables(source, json_object_get(object, "tunables"), &row->tuning, wrong) &&
           (zoo_tuning_is_built_in(source, &row->tuning) || find_ptx(context, row, object, wrong));
}

static void add_row(const struct context *context, json_t *object, size_t index)
{
    struct zoo_table *table = context->table;
    struct lk_buf wrong = {0};
    if (table->count == MAX_ROWS)
        return;
    table->rows = lk_realloc(table->rows, (table->count + 1) * sizeof *table->rows);
    struct zoo_row *row = &table->rows[table->count++];
    *row = (struct zoo_row){.family = context->family, .table = table->tables};
    if (!fill_row(context, row, object, &wrong)) {
        lk_buf_printf(&table->remarks, "%s: row %zu of %s is ignored: %s\n", context->name,
                      index + 1, context->family->name, wrong.data);
        row->broken = true;
    }
    lk_buf_free(&wrong);
}

/* Files -----------------------------------------------------------------------------------------*/

static bool is_wanted(const struct context *context)
{
    const struct zoo_device *device = context->device;
    const char *gpu = text_of(context->object, "gpu");
    bool modelled = strcmp(text_of(context->object, "time"), "modelled") == 0;
    bool ours = strcmp(gpu, "any") == 0 ||
                (strcmp(gpu, device->name) == 0 && modelled == device->cuda->simulated);
    return context->gpus == ZOO_THIS_GPU ? ours : !ours && !modelled && *gpu;
}

static void add_table(struct context *context)
{
    const char *name = text_of(context->object, "family");
    json_t *object;
    size_t i;
    context->family = NULL;
    for (size_t k = 0; zoo_families[k]; k++)
        if (strcmp(zoo_families[k]->name, name) == 0)
            context->family = zoo_families[k];
    if (!context->family) {
        lk_buf_printf(&context->table->remarks, "%s: there is no family '%s'\n", context->name,
                      name);
        return;
    }
    json_array_foreach(json_object_get(context->object, "rows"), i, object)
    {
        add_row(context, object, i);
    }
    context->table->tables++;
}

void zoo_table_add(struct zoo_table *table, const struct zoo_device *device,
                   enum zoo_table_gpu gpus, const char *text, size_t size, const char *name,
                   const char *folder)
{
    struct context context = {
        .table = table, .device = device, .gpus = gpus, .name = name, .folder = folder};
    json_error_t error;
    size_t i;
    json_t *root = json_loadb(text, size, 0, &error);
    if (!root)
        lk_buf_printf(&table->remarks, "%s:%d:%d: %s; it is not used\n", name, error.line,
                      error.column, error.text);
    else if (strcmp(text_of(root, "format"), ZOO_TABLE_FORMAT) != 0)
        lk_buf_printf(&table->remarks, "%s: its format is not '%s'; it is not used\n", name,
                      ZOO_TABLE_FORMAT);
    else
        json_array_foreach(json_object_get(root, "tables"), i, context.object)
        {
            if (is_wanted(&context))
                add_table(&context);
        }
    json_decref(root);
}

static void tuned_folder(struct lk_buf *path)
{
    char *folder = host_data_path("tuned");
    if (folder)
        lk_buf_printf(path, "%s", folder);
    free(folder);
}

void zoo_tuned_file(const struct zoo_device *device, struct lk_buf *path)
{
    tuned_folder(path);
    if (!path->size)
        return;
    lk_buf_printf(path, "/%s", device->cuda->simulated ? "sim-" : "");
    for (const char *at = device->name; *at; at++)
        lk_buf_printf(path, "%c", isalnum((unsigned char)*at) ? tolower((unsigned char)*at) : '-');
    lk_buf_printf(path, ".json");
}

static void add_file(struct zoo_table *table, const struct zoo_device *device)
{
    struct lk_buf path = {0}, folder = {0}, text = {0};
    tuned_folder(&folder);
    zoo_tuned_file(device, &path);
    bool there = path.size && host_read_file(path.data, &text, NULL);
    if (there && text.size > MAX_FILE)
        lk_buf_printf(&table->remarks, "%s: it is larger than %d MiB; it is not used\n", path.data,
                      MAX_FILE >> 20);
    else if (there)
        zoo_table_add(table, device, ZOO_THIS_GPU, text.data, text.size, path.data, folder.data);
    lk_buf_free(&path);
    lk_buf_free(&folder);
    lk_buf_free(&text);
}

static void add_embedded(struct zoo_table *table, const struct zoo_device *device,
                         enum zoo_table_gpu gpus)
{
    for (size_t i = 0; i < zoo_embedded_file_count; i++) {
        const struct zoo_embedded_file *file = &zoo_embedded_files[i];
        size_t length = strlen(file->path);
        if (length > 11 && strcmp(file->path + length - 11, "/tuned.json") == 0)
            zoo_table_add(table, device, gpus, file->text, (size_t)(file->text_end - file->text),
                          file->path, NULL);
    }
}

void zoo_table_read(struct zoo_table *table, const struct zoo_device *device)
{
    *table = (struct zoo_table){0};
    add_file(table, device);
    add_embedded(table, device, ZOO_THIS_GPU);
    add_embedded(table, device, ZOO_OTHER_GPUS);
}
