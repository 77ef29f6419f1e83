/*
 * profile_read.c: from the counters' file to struct profile.
 * A line is a kernel, a launch, a launch's trace or replay, or a part of the timeline; unknown
 * parts of a line are ignored.
 */
#include "report/profile.h"

#include "host/demangle.h"
#include "host/headers.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static const char *text_of(const struct profile *profile, const char *path, size_t *size)
{
    return profile->text_of ? profile->text_of(path, size) : NULL;
}

static FILE *open_source(const struct profile *profile, const char *path)
{
    size_t size;
    const char *text = text_of(profile, path, &size);
    if (text) /* an empty stream cannot be opened */
        return size ? fmemopen((void *)(uintptr_t)text, size, "r") : NULL;
    return fopen(path, "re");
}

static void read_lines(struct profile *profile, struct profile_source *source)
{
    FILE *stream = open_source(profile, source->path);
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
static enum profile_owner owner_of(const struct profile *profile, const char *path)
{
    size_t size;
    if (text_of(profile, path, &size) && !strstr(path, "/include/"))
        return PROFILE_PROGRAM;
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
    source->owner = owner_of(profile, path);
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
        if (json_array_size(row) < GPU_CODE_COLUMNS)
            continue;
        uint64_t class = number_at(row, GPU_CODE_class), kind = number_at(row, GPU_CODE_kind);
        code->ptx_line = (unsigned)number_at(row, GPU_CODE_ptx_line);
        code->class = class < GPU_CLASS_COUNT ? (enum gpu_class) class : GPU_CLASS_OTHER;
        code->kind = kind < PROFILE_KINDS ? (enum profile_kind)kind : PROFILE_NOTHING;
        code->traits = (unsigned)number_at(row, GPU_CODE_traits);
        code->bytes = (unsigned)number_at(row, GPU_CODE_bytes);
        code->slots = (unsigned)number_at(row, GPU_CODE_slots);
        code->load_phases = (unsigned)number_at(row, GPU_CODE_load_phases);
        code->shared_phases = (unsigned)number_at(row, GPU_CODE_shared_phases);
        code->text = keep(profile, json_array_get(row, GPU_CODE_TEXT));
        place_code(profile, json_array_get(row, GPU_CODE_PLACES), files, code);
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
    char *name = host_demangle(kernel->mangled);
    kernel->name = lk_arena_strndup(profile->arena, name, strlen(name));
    free(name);
    kernel->registers = (unsigned)number_of(object, "registers");
    unsigned assembled = (unsigned)number_of(object, "assembled_registers");
    kernel->registers = assembled ? assembled : kernel->registers;
    kernel->registers_from = assembled ? "ptxas" : "estimated";
    kernel->spill_bytes = (unsigned)number_of(object, "spill_bytes");
    kernel->static_shared = (unsigned)number_of(object, "static_shared");
    kernel->local_bytes = (unsigned)number_of(object, "local_bytes");
    kernel->target = (unsigned)number_of(object, "target");
    kernel->target_suffix = suffix ? *suffix : 0;
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
#define MEMORY(name) memory->name = json_integer_value(json_array_get(row, GPU_MEMORY_##name + 1));
#include "gpu/profile_columns.def"
    return memory;
}

static void read_insts(struct profile *profile, const json_t *rows, struct profile_launch *launch)
{
    const json_t *row;
    size_t index;
    launch->insts =
        lk_arena_alloc(profile->arena, (json_array_size(rows) + 1) * sizeof(*launch->insts));
    json_array_foreach((json_t *)rows, index, row)
    {
        uint64_t number = number_at(row, GPU_TALLY_inst);
        if (number >= launch->kernel->code_count || !launch->kernel->code[number].text)
            continue;
        struct profile_inst *inst = &launch->insts[launch->inst_count++];
        inst->code = &launch->kernel->code[number];
        inst->warps = number_at(row, GPU_TALLY_warps);
        inst->threads = number_at(row, GPU_TALLY_threads);
        inst->on = number_at(row, GPU_TALLY_on);
        inst->divergent = number_at(row, GPU_TALLY_divergent);
        inst->waits = number_at(row, GPU_TALLY_waits);
        inst->idle = number_at(row, GPU_TALLY_idle);
        for (size_t at = GPU_TALLY_COLUMNS; at < json_array_size(row); at++) {
            const json_t *part = json_array_get(row, at);
            uint64_t space = number_at(part, 0);
            if (json_is_array(part) && space < GPU_SPACES)
                inst->memory[space] = read_memory(profile, part);
        }
    }
}

static bool read_record(struct profile *profile, const struct profile_launch *launch,
                        const json_t *row, struct profile_record *record)
{
    const json_t *addresses = json_array_get(row, GPU_TRACE_addresses);
    uint64_t inst = number_at(row, GPU_TRACE_inst);
    record->kind = keep(profile, json_array_get(row, GPU_TRACE_kind));
    if (!record->kind || inst >= launch->kernel->code_count)
        return false;
    record->code = &launch->kernel->code[inst];
    record->block = number_at(row, GPU_TRACE_block);
    record->warp = (unsigned)number_at(row, GPU_TRACE_warp);
    record->active = (uint32_t)number_at(row, GPU_TRACE_active);
    record->mask = (uint32_t)number_at(row, GPU_TRACE_mask);
    record->space = keep(profile, json_array_get(row, GPU_TRACE_space));
    record->bytes = (unsigned)number_at(row, GPU_TRACE_bytes);
    for (unsigned lane = 0; lane < 32; lane++)
        record->addresses[lane] = json_integer_value(json_array_get(addresses, lane));
    return true;
}

bool profile_is_in(const struct profile_record *record, enum gpu_space space)
{
    return record->space && strcmp(record->space, gpu_space_keys[space]) == 0;
}

static void read_trace(struct profile *profile, const json_t *object, struct profile_launch *launch)
{
    const json_t *rows = json_object_get(object, "trace");
    size_t count = json_array_size(rows);
    launch->trace = lk_arena_alloc(profile->arena, (count + 1) * sizeof(*launch->trace));
    for (size_t i = 0; i < count; i++)
        launch->trace_count += read_record(profile, launch, json_array_get(rows, i),
                                           &launch->trace[launch->trace_count]);
    launch->trace_dropped = number_of(object, "dropped");
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
    return true;
}

static bool is_wanted(const struct profile_filter *filter, const struct profile_launch *launch)
{
    if (filter->launch >= 0 && launch->number != (unsigned long)filter->launch &&
        (filter->also <= 0 || launch->number < (unsigned long)filter->also))
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
    if (json_object_get(object, "kernel"))
        return read_kernel(profile, object);
    if (json_object_get(object, "timeline"))
        return timeline_read(&profile->timelines, profile->arena, object);
    if (json_object_get(object, "trace") && reading->last)
        read_trace(profile, object, reading->last);
    if (json_object_get(object, "replay") && reading->last)
        reading->last->replay = json_incref((json_t *)object);
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
    static const struct profile_filter all = {.launch = -1};
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
    profile->text_of = reading.filter->text_of;
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
            lk_buf_printf(&problem, "%s:%zu: not a line of a counters file", path, number);
        json_decref(object);
    }
    free(line);
    fclose(stream);
    if (problem.data) {
        profile_free(profile);
        *message = problem.data;
        return NULL;
    }
    timelines_evaluate(&profile->timelines, profile->arena);
    return profile;
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    timelines_free(&profile->timelines);
    for (unsigned i = 0; i < profile->launch_count; i++)
        json_decref(profile->launches[i]->replay);
    free(profile->launches);
    free(profile->kernels);
    lk_map_free(&profile->kernels_by_id);
    lk_map_free(&profile->sources_by_path);
    lk_arena_destroy(profile->arena);
    free(profile);
}
