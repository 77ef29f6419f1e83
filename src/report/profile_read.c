/*
 * profile_read.c: from the counters' file to struct profile.
 * A line is a kernel, a launch or a launch's trace; what is not understood in one is left out.
 */
#include "report/profile.h"

#include "host/headers.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const profile_space_names[PROFILE_SPACES] = {"global", "shared", "local"};

static uint64_t number_at(const json_t *array, size_t index)
{
    return (uint64_t)json_integer_value(json_array_get(array, index));
}

static uint64_t number_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *keep(struct profile *profile, const json_t *string)
{
    const char *text = json_string_value(string);
    return text ? lk_arena_strndup(profile->arena, text, strlen(text)) : NULL;
}

/* Sources -----------------------------------------------------------------------------------------
 */

static void read_lines(struct profile *profile, struct profile_source *source)
{
    FILE *stream = fopen(source->path, "re");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    struct lk_buf lines = {0}; /* of pointers */
    static const char *no_lines[1];
    source->lines = no_lines;
    if (!stream)
        return;
    while ((length = getline(&line, &capacity, stream)) >= 0) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            length--;
        const char *text = lk_arena_strndup(profile->arena, line, (size_t)length);
        lk_buf_add(&lines, &text, sizeof(text));
        source->line_count++;
    }
    if (lines.data)
        source->lines = lk_arena_dup(profile->arena, lines.data, lines.size);
    lk_buf_free(&lines);
    free(line);
    fclose(stream);
}

/* Headers of libraries mostly lie in a folder called include; a program's own may, too. */
static enum profile_owner owner_of(const char *path)
{
    if (host_is_toolkit_header(path) || host_is_system_header(path))
        return PROFILE_SYSTEM;
    return access(path, R_OK) == 0 && !strstr(path, "/include/") ? PROFILE_PROGRAM
                                                                 : PROFILE_LIBRARY;
}

static struct profile_source *source_of(struct profile *profile, const char *path)
{
    struct profile_source *source = lk_map_get(&profile->sources_by_path, path, strlen(path));
    if (source || !*path)
        return source;
    char folder[PATH_MAX];
    source = lk_arena_alloc(profile->arena, sizeof(*source));
    source->path = source->shown = lk_arena_strndup(profile->arena, path, strlen(path));
    size_t length = getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    if (length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/')
        source->shown = source->path + length + 1;
    source->owner = owner_of(path);
    lk_map_put(&profile->sources_by_path, source->path, strlen(path), source);
    return source;
}

const char *profile_source_line(const struct profile_source *source, unsigned line)
{
    return source && line > 0 && line <= source->line_count ? source->lines[line - 1] : NULL;
}

/* Kernels -----------------------------------------------------------------------------------------
 */

/* The innermost place in a file of the program's, else of a library's, else of any. */
static void place_code(struct profile *profile, const json_t *places, const json_t *files,
                       struct profile_code *code)
{
    for (size_t i = 0; i + 1 < json_array_size(places); i += 2) {
        const char *path = json_string_value(json_array_get(files, number_at(places, i)));
        struct profile_source *source = path ? source_of(profile, path) : NULL;
        if (!source || (code->source && source->owner <= code->source->owner))
            continue;
        code->source = source;
        code->line = (unsigned)number_at(places, i + 1);
    }
    if (code->source && !code->source->lines)
        read_lines(profile, code->source);
}

static void read_code(struct profile *profile, const json_t *object, struct profile_kernel *kernel)
{
    const json_t *insts = json_object_get(object, "insts"),
                 *files = json_object_get(object, "files");
    kernel->code_count = (unsigned)json_array_size(insts);
    kernel->code = lk_arena_alloc(profile->arena, (kernel->code_count + 1) * sizeof(*kernel->code));
    for (unsigned i = 0; i < kernel->code_count; i++) {
        const json_t *row = json_array_get(insts, i);
        struct profile_code *code = &kernel->code[i];
        if (json_array_size(row) < 6)
            continue;
        uint64_t class = number_at(row, 1), kind = number_at(row, 2);
        code->ptx_line = (unsigned)number_at(row, 0);
        code->class = class < GPU_CLASS_COUNT ? (enum gpu_class) class : GPU_CLASS_OTHER;
        code->kind = kind < PROFILE_KINDS ? (enum profile_kind)kind : PROFILE_NOTHING;
        code->bytes = (unsigned)number_at(row, 3);
        code->text = keep(profile, json_array_get(row, 4));
        code->slots = (unsigned)number_at(row, 6);
        code->load_phases = (unsigned)number_at(row, 7);
        code->shared_phases = (unsigned)number_at(row, 8);
        place_code(profile, json_array_get(row, 5), files, code);
    }
}

/* One more place for a pointer. */
#define GROW(items, count, capacity)                                                               \
    do {                                                                                           \
        if ((count) == (capacity)) {                                                               \
            (capacity) = (capacity) ? 2 * (capacity) : 64;                                         \
            (items) = lk_realloc((items), (capacity) * sizeof(void *));                            \
        }                                                                                          \
    } while (0)

static bool read_kernel(struct profile *profile, const json_t *object)
{
    struct profile_kernel *kernel = lk_arena_alloc(profile->arena, sizeof(*kernel));
    const char *id = keep(profile, json_object_get(object, "kernel"));
    const char *suffix = json_string_value(json_object_get(object, "target_suffix"));
    kernel->mangled = keep(profile, json_object_get(object, "name"));
    if (!id || !kernel->mangled)
        return false;
    kernel->name = profile_demangle(profile->arena, kernel->mangled);
    kernel->registers = (unsigned)number_of(object, "registers");
    kernel->registers_from = "estimated";
    kernel->static_shared = (unsigned)number_of(object, "static_shared");
    kernel->local_bytes = (unsigned)number_of(object, "local_bytes");
    kernel->target = (unsigned)number_of(object, "target");
    kernel->target_suffix = suffix ? *suffix : 0;
    kernel->ptx = keep(profile, json_object_get(object, "ptx"));
    read_code(profile, object, kernel);
    GROW(profile->kernels, profile->kernel_count, profile->kernel_capacity);
    profile->kernels[profile->kernel_count++] = kernel;
    lk_map_put(&profile->kernels_by_id, id, strlen(id), kernel);
    return true;
}

/* Launches ----------------------------------------------------------------------------------------
 */

static struct profile_memory *read_memory(struct profile *profile, const json_t *row)
{
    struct profile_memory *memory = lk_arena_alloc(profile->arena, sizeof(*memory));
    size_t column = 1;
#define COLUMN(name) memory->name = json_integer_value(json_array_get(row, column++));
#include "gpu/profile_columns.def"
#undef COLUMN
    return memory;
}

static void read_insts(struct profile *profile, const json_t *rows, struct profile_launch *launch)
{
    const json_t *row, *part;
    size_t index, at;
    launch->insts =
        lk_arena_alloc(profile->arena, (json_array_size(rows) + 1) * sizeof(*launch->insts));
    json_array_foreach((json_t *)rows, index, row)
    {
        uint64_t number = number_at(row, 0);
        if (number >= launch->kernel->code_count || !launch->kernel->code[number].text)
            continue;
        struct profile_inst *inst = &launch->insts[launch->inst_count++];
        inst->code = &launch->kernel->code[number];
        inst->warps = number_at(row, 1);
        inst->threads = number_at(row, 2);
        inst->on = number_at(row, 3);
        inst->divergent = number_at(row, 4);
        inst->waits = number_at(row, 5);
        json_array_foreach((json_t *)row, at, part) if (json_is_array(part))
        {
            uint64_t space = number_at(part, 0);
            if (space < PROFILE_SPACES)
                inst->memory[space] = read_memory(profile, part);
        }
    }
}

/* "barriers": [[number, idle] ..] */
static void read_barriers(const json_t *rows, struct profile_launch *launch)
{
    const json_t *row;
    size_t index;
    json_array_foreach((json_t *)rows, index, row)
    {
        uint64_t number = number_at(row, 0);
        for (unsigned i = 0; i < launch->inst_count; i++)
            if ((uint64_t)(launch->insts[i].code - launch->kernel->code) == number)
                launch->insts[i].idle = number_at(row, 1);
    }
}

static bool read_launch(struct profile *profile, const json_t *object,
                        struct profile_launch *launch)
{
    const char *id = json_string_value(json_object_get(object, "launch"));
    const char *gpu = json_string_value(json_object_get(object, "gpu"));
    launch->kernel = id ? lk_map_get(&profile->kernels_by_id, id, strlen(id)) : NULL;
    launch->gpu = gpu ? gpu_find(gpu) : NULL;
    if (!launch->kernel || !launch->gpu)
        return false;
    for (size_t i = 0; i < 3; i++) {
        launch->grid[i] = (unsigned)number_at(json_object_get(object, "grid"), i);
        launch->block[i] = (unsigned)number_at(json_object_get(object, "block"), i);
    }
    launch->dynamic_shared = (unsigned)number_of(object, "dynamic_shared");
    launch->fault = keep(profile, json_object_get(object, "fault"));
    const json_t *counters = json_object_get(object, "counters");
    for (unsigned i = 0; i < gpu_counter_count; i++)
        *gpu_counter(&launch->counters, i) = number_of(counters, gpu_counter_infos[i].name);
    read_insts(profile, json_object_get(object, "insts"), launch);
    read_barriers(json_object_get(object, "barriers"), launch);
    return true;
}

static bool is_wanted(const struct profile_filter *filter, const struct profile_launch *launch)
{
    if (filter->launch >= 0 && launch->number != (unsigned long)filter->launch)
        return false;
    return !filter->kernel || strstr(launch->kernel->name, filter->kernel) ||
           strstr(launch->kernel->mangled, filter->kernel);
}

/* The file ----------------------------------------------------------------------------------------
 */

struct reading {
    struct profile *profile;
    const struct profile_filter *filter;
    unsigned launches;           /* of the program, wanted or not */
    struct profile_launch *last; /* NULL: not wanted */
};

static bool read_object(struct reading *reading, json_t *object)
{
    struct profile *profile = reading->profile;
    json_t *trace = json_object_get(object, "trace");
    if (json_object_get(object, "kernel"))
        return read_kernel(profile, object);
    if (trace && reading->last) {
        reading->last->trace = json_incref(trace);
        reading->last->trace_dropped = number_of(object, "dropped");
    }
    if (!json_object_get(object, "launch"))
        return true;
    struct profile_launch *launch = lk_arena_alloc(profile->arena, sizeof(*launch));
    launch->number = reading->launches++;
    if (!read_launch(profile, object, launch))
        return false;
    reading->last = is_wanted(reading->filter, launch) ? launch : NULL;
    if (reading->last) {
        GROW(profile->launches, profile->launch_count, profile->launch_capacity);
        profile->launches[profile->launch_count++] = launch;
    }
    return true;
}

struct profile *profile_read(const char *path, const struct profile_filter *filter, char **message)
{
    static const struct profile_filter all = {NULL, -1};
    struct lk_buf problem = {0};
    FILE *stream = fopen(path, "re");
    if (!stream) {
        lk_buf_printf(&problem, "%s: %s", path, strerror(errno));
        *message = problem.data;
        return NULL;
    }
    struct profile *profile = lk_alloc_zeroed(sizeof(*profile));
    struct reading reading = {.profile = profile, .filter = filter ? filter : &all};
    profile->arena = lk_arena_create();
    char *line = NULL;
    size_t capacity = 0, number = 0;
    ssize_t length;
    while (!problem.data && (length = getline(&line, &capacity, stream)) > 0) {
        json_error_t error;
        number++;
        if (line[length - 1] != '\n')
            break; /* the program ended while it was written */
        json_t *object = json_loadb(line, (size_t)length, 0, &error);
        if (!object)
            lk_buf_printf(&problem, "%s:%zu: %s", path, number, error.text);
        else if (!read_object(&reading, object))
            lk_buf_printf(&problem, "%s:%zu: is no line of a counters' file", path, number);
        json_decref(object);
    }
    free(line);
    fclose(stream);
    if (problem.data) {
        profile_free(profile);
        *message = problem.data;
        return NULL;
    }
    return profile;
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    for (unsigned i = 0; i < profile->launch_count; i++)
        json_decref(profile->launches[i]->trace);
    free(profile->launches);
    free(profile->kernels);
    lk_map_free(&profile->kernels_by_id);
    lk_map_free(&profile->sources_by_path);
    lk_arena_destroy(profile->arena);
    free(profile);
}
