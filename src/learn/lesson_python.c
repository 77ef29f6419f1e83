/*
 * lesson_python.c: python.json beside lesson.json: the exercises of a day that are also given in
 * Python, as Triton kernels. The problem, its sizes and its reference are those of lesson.json; a
 * grid, limits, wrong kernels and hints are given anew.
 *
 *   {"add": {"grid": ["ceil_div(n, BLOCK)"], "constants": ["BLOCK"], "wrong": {..}, "hints": {..},
 * ..}}
 */
#include "learn/reader.h"

#include <string.h>
#include <unistd.h>

/* What the grid may name: the problem's parameters, and the file's constants behind them. */
static bool read_constants(struct lesson_reader *reader, json_t *object,
                           struct learn_exercise *exercise, struct expression_names *names)
{
    json_t *list = reader_array(reader, object, "constants", false), *each;
    size_t i;
    *names = exercise->problem.names;
    names->array_count = 0;
    if (json_array_size(list) > LEARN_CONSTANTS ||
        names->variable_count + json_array_size(list) > EXPRESSION_VARIABLES)
        return reader_fail(reader, "constants", "must be at most %d", LEARN_CONSTANTS);
    json_array_foreach(list, i, each)
    {
        if (!json_is_string(each))
            return reader_fail(reader, "constants", "must be names");
        exercise->constant[exercise->constant_count++] = json_string_value(each);
        names->variable[names->variable_count++] = json_string_value(each);
    }
    return !reader->error;
}

/* What the twin does not share with the exercise in C. */
static void clear_own(struct learn_exercise *exercise)
{
    exercise->is_c = false;
    exercise->is_python = true;
    exercise->shared = NULL;
    for (unsigned i = 0; i < 3; i++)
        exercise->grid[i] = exercise->block[i] = NULL;
    exercise->limit_count = exercise->wrong_count = 0;
    exercise->has_figures = false;
}

/* "runs": the file has a function that is called, not a kernel that is compiled. */
static bool read_package(struct lesson_reader *reader, json_t *object,
                         struct learn_exercise *exercise)
{
    exercise->package = reader_text(reader, object, "runs", false);
    if (!exercise->package)
        return !reader->error;
    if (strcmp(exercise->package, "numpy") != 0 && strcmp(exercise->package, "cupy") != 0)
        return reader_fail(reader, "runs", "must be \"numpy\" or \"cupy\"");
    if (json_object_get(object, "grid") || json_object_get(object, "totals"))
        return reader_fail(reader, "runs", "a function that is called has no grid and no totals");
    if (!json_object_get(object, "arguments"))
        return reader_fail(reader, "arguments", "is missing");
    exercise->problem.large = exercise->problem.huge = NULL;
    return true;
}

static bool check_arguments(struct lesson_reader *reader, const struct learn_exercise *exercise)
{
    for (unsigned i = 0; i < exercise->argument_count; i++) {
        const struct learn_argument *argument = &exercise->argument[i];
        if (argument->kind == LEARN_MAP)
            return reader_fail(reader, "arguments", "a kernel in Python takes no tensor map");
        if (exercise->package && argument->kind == LEARN_BUFFER &&
            exercise->problem.buffer[argument->buffer].role == ZOO_OUT)
            return reader_fail(reader, "arguments", "'%s' is what the function returns",
                               argument->text);
    }
    return true;
}

static bool read_twin(struct lesson_reader *reader, json_t *object, struct learn_exercise *exercise)
{
    const struct learn_exercise *other = exercise->twin;
    struct expression_names names;
    clear_own(exercise);
    if (!reader_keys(reader, object,
                     "title kernel runs arch grid constants arguments limits totals "
                     "several_writers before shipped wrong equivalent hints far large") ||
        !read_package(reader, object, exercise))
        return false;
    if (!lesson_read_beyond(reader, object, &exercise->problem))
        return false;
    const char *title = reader_text(reader, object, "title", false);
    const char *kernel = reader_text(reader, object, "kernel", false);
    const char *arch = reader_text(reader, object, "arch", false);
    exercise->title = title ? title : other->title;
    exercise->kernel = kernel ? kernel : other->name; /* CUDA C may have to avoid that: int4 */
    exercise->arch = arch ? arch : "80";
    exercise->shipped = reader_text(reader, object, "shipped", true);
    if (reader->error || !read_constants(reader, object, exercise, &names) ||
        (!exercise->package && !lesson_read_grid(reader, object, &names, exercise)))
        return false;
    if (json_object_get(object, "arguments")) {
        memset(exercise->argument, 0, sizeof exercise->argument);
        exercise->argument_count = 0;
    }
    if (!lesson_read_verdicts(reader, object, exercise))
        return false;
    if (!exercise->several_writers)
        exercise->several_writers = other->several_writers;
    return check_arguments(reader, exercise);
}

static struct learn_exercise *find(struct learn_lesson *lesson, const char *name)
{
    for (unsigned i = 0; i < lesson->exercise_count; i++)
        if (strcmp(lesson->exercise[i].name, name) == 0)
            return &lesson->exercise[i];
    return NULL;
}

bool lesson_read_python(struct lesson_reader *reader, struct learn_lesson *lesson)
{
    const char *path = lk_arena_printf(reader->arena, "%s/python.json", lesson->folder), *name;
    json_error_t error;
    json_t *object;
    if (access(path, F_OK) != 0)
        return true;
    reader->path = path;
    lesson->python = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(lesson->python)) {
        reader->error = lk_format("%s:%d:%d: %s", path, error.line, error.column,
                                  lesson->python ? "must be an object" : error.text);
        return false;
    }
    json_object_foreach(lesson->python, name, object)
    {
        struct learn_exercise *exercise = find(lesson, name);
        reader->where[0] = 0;
        if (!exercise)
            return reader_fail(reader, name, "lesson.json has no such exercise");
        struct learn_exercise *twin = lk_arena_alloc(reader->arena, sizeof *twin);
        *twin = *exercise;
        twin->twin = exercise;
        exercise->twin = twin;
        reader_enter(reader, name);
        if (!read_twin(reader, object, twin))
            return false;
    }
    return true;
}
