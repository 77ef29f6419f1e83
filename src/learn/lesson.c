/*
 * lesson.c: reads a lesson's lesson.json and checks every field; see lesson.h.
 */
#include "learn/lesson.h"

#include "host/files.h"
#include "learn/limits.h"
#include "learn/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const learn_hint_names[LEARN_HINTS] = {"concept", "line", "diff"};

const char *learn_path(const struct learn_exercise *exercise, const char *file)
{
    return lk_arena_printf(exercise->lesson->arena, "%s/%s/%s", exercise->lesson->folder,
                           exercise->name, file);
}

const char *learn_extension(const struct learn_exercise *exercise)
{
    return exercise->is_python ? "py" : exercise->is_c ? "c" : "cu";
}

const char *learn_given(const struct learn_exercise *exercise)
{
    return exercise->is_python ? "exercise.py" : exercise->is_c ? "exercise.c" : "exercise.cu";
}

const char *learn_solution(const struct learn_exercise *exercise)
{
    return exercise->is_python ? "solution.py" : exercise->is_c ? "solution.c" : "solution.cu";
}

/* Launch and arguments --------------------------------------------------------------------------*/

static bool read_dimensions(struct lesson_reader *reader, json_t *launch, const char *field,
                            const struct expression_names *names, struct expression *dimensions[3])
{
    json_t *list = reader_array(reader, launch, field, true), *each;
    size_t i;
    if (!list || json_array_size(list) == 0 || json_array_size(list) > 3)
        return reader_fail(reader, field, "must be 1 to 3 formulas");
    json_array_foreach(list, i, each)
    {
        dimensions[i] = reader_formula(reader, each, field, names, NULL);
        if (!dimensions[i])
            return false;
    }
    return true;
}

bool lesson_read_grid(struct lesson_reader *reader, json_t *object,
                      const struct expression_names *names, struct learn_exercise *exercise)
{
    return read_dimensions(reader, object, "grid", names, exercise->grid);
}

static bool read_launch(struct lesson_reader *reader, json_t *object,
                        struct learn_exercise *exercise)
{
    json_t *launch = json_object_get(object, "launch");
    struct expression_names names = exercise->problem.names;
    names.array_count = 0;
    if (exercise->is_c)
        return !launch || reader_fail(reader, "launch", "is for kernels: C runs on one thread");
    if (!launch)
        return reader_fail(reader, "launch", "is missing");
    size_t place = reader_enter(reader, "launch");
    if (!reader_keys(reader, launch, "grid block shared cluster") ||
        !lesson_read_grid(reader, launch, &names, exercise) ||
        !read_dimensions(reader, launch, "block", &names, exercise->block))
        return false;
    json_t *shared = json_object_get(launch, "shared");
    if (shared)
        exercise->shared = reader_formula(reader, shared, "shared", &names, NULL);
    json_t *cluster = json_object_get(launch, "cluster");
    exercise->cluster = cluster ? (unsigned)json_integer_value(cluster) : 1;
    if (exercise->cluster < 1 || exercise->cluster > 8)
        return reader_fail(reader, "cluster", "is a number of blocks along x, from 1 to 8");
    reader_leave(reader, place);
    return !shared || exercise->shared;
}

/* "tensor_map x 32 16": a buffer of rank 2 for TMA, in tiles of 32 rows and 16 columns; with
 * "swizzled" behind it, 16-byte chunks of lines of 128 bytes are permuted, as wgmma.h wants them.
 */
static bool read_map(struct lesson_reader *reader, const char *text,
                     const struct learn_problem *problem, struct learn_argument *argument)
{
    const char *name = text + strlen("tensor_map ");
    size_t length = strcspn(name, " ");
    char *end = NULL;
    unsigned long rows = strtoul(name + length, &end, 10), columns = strtoul(end, &end, 10);
    argument->kind = LEARN_MAP;
    argument->box[0] = (unsigned)rows;
    argument->box[1] = (unsigned)columns;
    argument->is_swizzled = strcmp(end, " swizzled") == 0;
    if (length == 0 || rows - 1 >= 256 || columns - 1 >= 256 || (*end && !argument->is_swizzled))
        return reader_fail(reader, "arguments",
                           "'%s' is not of the form 'tensor_map x 32 16' or 'tensor_map x 64 64 "
                           "swizzled'",
                           text);
    for (unsigned i = 0; i < problem->buffer_count; i++) {
        const struct learn_buffer *buffer = &problem->buffer[i];
        if (strlen(buffer->name) != length || strncmp(buffer->name, name, length) != 0 ||
            buffer->rank != 2 || (buffer->type != ZOO_F32 && buffer->type != ZOO_F16))
            continue;
        if (argument->is_swizzled && columns * zoo_type_bytes[buffer->type] != 128)
            return reader_fail(reader, "arguments", "'%s': swizzled lines have 128 bytes", text);
        argument->buffer = i;
        return true;
    }
    return reader_fail(reader, "arguments",
                       "'%s': there is no f32 or f16 buffer '%.*s' with two extents", text,
                       (int)length, name);
}

/* "x" is a buffer; "int n", "float alpha", "long rows * cols" are values. */
static bool read_argument(struct lesson_reader *reader, const char *text,
                          const struct learn_problem *problem, struct learn_argument *argument)
{
    static const struct {
        const char *name;
        unsigned kind;
    } types[] = {{"int ", LEARN_INT},
                 {"long ", LEARN_LONG},
                 {"float ", LEARN_FLOAT},
                 {"double ", LEARN_DOUBLE}};
    struct expression_names names = problem->names;
    names.array_count = 0;
    argument->text = text;
    for (unsigned i = 0; i < problem->buffer_count; i++)
        if (strcmp(problem->buffer[i].name, text) == 0) {
            argument->buffer = i;
            return true;
        }
    if (strncmp(text, "tensor_map ", 11) == 0)
        return read_map(reader, text, problem, argument);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strncmp(text, types[i].name, strlen(types[i].name)) == 0) {
            json_t *formula = json_string(text + strlen(types[i].name));
            argument->kind = types[i].kind;
            argument->value = reader_formula(reader, formula, "arguments", &names, NULL);
            json_decref(formula);
            return argument->value != NULL;
        }
    return reader_fail(reader, "arguments", "'%s' is neither a buffer nor a value such as 'int n'",
                       text);
}

static bool read_arguments(struct lesson_reader *reader, json_t *object,
                           struct learn_exercise *exercise)
{
    json_t *list = reader_array(reader, object, "arguments", true), *each;
    size_t i;
    if (!list || json_array_size(list) > LEARN_ARGUMENTS)
        return reader_fail(reader, "arguments", "must be at most %d", LEARN_ARGUMENTS);
    json_array_foreach(list, i, each)
    {
        if (!json_is_string(each))
            return reader_fail(reader, "arguments", "must be texts");
        if (!read_argument(reader, json_string_value(each), &exercise->problem,
                           &exercise->argument[exercise->argument_count++]))
            return false;
    }
    return true;
}

/* Limits, wrong kernels, hints ------------------------------------------------------------------*/

static bool read_limits(struct lesson_reader *reader, json_t *object,
                        struct learn_exercise *exercise)
{
    json_t *list = reader_array(reader, object, "limits", false), *each;
    struct expression_names names = exercise->problem.names;
    size_t i;
    names.array_count = 0;
    if (list && json_array_size(list) > LEARN_LIMITS)
        return reader_fail(reader, "limits", "must be at most %d", LEARN_LIMITS);
    json_array_foreach(list, i, each)
    {
        struct learn_limit *limit = &exercise->limit[exercise->limit_count++];
        size_t place = reader_enter(reader, lk_arena_printf(reader->arena, "limits[%zu]", i));
        if (!reader_keys(reader, each, "counter most why far"))
            return false;
        limit->counter = reader_text(reader, each, "counter", true);
        limit->why = reader_text(reader, each, "why", false);
        limit->most =
            reader_formula(reader, json_object_get(each, "most"), "most", &names, &limit->text);
        if (!limit->counter || !limit->most)
            return false;
        if (!(exercise->package ? limits_knows_host : limits_knows)(limit->counter))
            return reader_fail(reader, "counter",
                               "there is no counter '%s'; src/gpu/counters.def and docs/learn.md "
                               "list them",
                               limit->counter);
        json_t *far = json_object_get(each, "far");
        if (far && !(json_number_value(far) >= 1 && exercise->problem.far))
            return reader_fail(reader, "far",
                               "must be 1 or more, for a problem with \"far\" sizes");
        limit->far = json_number_value(far);
        reader_leave(reader, place);
    }
    return !reader->error;
}

static bool read_wrong(struct lesson_reader *reader, json_t *object,
                       struct learn_exercise *exercise)
{
    json_t *wrong = json_object_get(object, "wrong"), *verdict;
    const char *file;
    unsigned least = exercise->is_python ? 1 : 3;
    if (!json_is_object(wrong) || json_object_size(wrong) < least)
        return reader_fail(reader, "wrong", "needs %u file%s or more, each with its verdict", least,
                           least == 1 ? "" : "s");
    exercise->wrong =
        lk_arena_alloc(reader->arena, json_object_size(wrong) * sizeof *exercise->wrong);
    json_object_foreach(wrong, file, verdict)
    {
        if (!json_is_string(verdict) || strchr(file, '/'))
            return reader_fail(reader, "wrong", "'%s' must be a file's name with an expression",
                               file);
        exercise->wrong[exercise->wrong_count++] =
            (struct learn_wrong){file, json_string_value(verdict)};
    }
    return true;
}

static bool read_equivalent(struct lesson_reader *reader, json_t *object,
                            struct learn_exercise *exercise)
{
    const char *name;
    json_t *reason;
    exercise->equivalent = json_object_get(object, "equivalent");
    if (exercise->equivalent && !json_is_object(exercise->equivalent))
        return reader_fail(reader, "equivalent", "must be an object: mutants and reasons");
    json_object_foreach(exercise->equivalent, name, reason)
    {
        if (!json_is_string(reason) || !*json_string_value(reason))
            return reader_fail(reader, "equivalent", "'%s' must have a sentence that says why",
                               name);
    }
    return true;
}

static bool read_hints(struct lesson_reader *reader, json_t *object,
                       struct learn_exercise *exercise)
{
    json_t *hints = json_object_get(object, "hints");
    if (!json_is_object(hints))
        return reader_fail(reader, "hints", "must be an object: concept, line, diff");
    size_t place = reader_enter(reader, "hints");
    for (unsigned i = 0; i < LEARN_HINTS; i++)
        exercise->hint[i] = reader_text(reader, hints, learn_hint_names[i], true);
    bool fine = reader_keys(reader, hints, "concept line diff") && !reader->error;
    reader_leave(reader, place);
    return fine;
}

bool lesson_read_verdicts(struct lesson_reader *reader, json_t *object,
                          struct learn_exercise *exercise)
{
    return (!json_object_get(object, "arguments") || read_arguments(reader, object, exercise)) &&
           read_limits(reader, object, exercise) && lesson_read_totals(reader, object, exercise) &&
           read_wrong(reader, object, exercise) && read_equivalent(reader, object, exercise) &&
           read_hints(reader, object, exercise);
}

/* Names become folders and files of the learner. */
static bool is_plain_name(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static bool read_kind(struct lesson_reader *reader, json_t *object, struct learn_exercise *exercise)
{
    const char *language = reader_text(reader, object, "language", false);
    json_t *kata = json_object_get(object, "kata");
    if (reader->error)
        return false;
    if (language && strcmp(language, "c") != 0 && strcmp(language, "cuda") != 0)
        return reader_fail(reader, "language", "must be \"cuda\" or \"c\"");
    if (kata && !json_is_boolean(kata))
        return reader_fail(reader, "kata", "must be true or false");
    exercise->is_c = language && strcmp(language, "c") == 0;
    exercise->is_kata = json_is_true(kata);
    return true;
}

static bool read_exercise(struct lesson_reader *reader, json_t *object,
                          struct learn_exercise *exercise)
{
    json_t *problem = json_object_get(object, "problem");
    if (!reader_keys(reader, object,
                     "name title kernel language kata arch launch arguments problem limits shipped "
                     "wrong equivalent hints totals several_writers before work") ||
        !read_kind(reader, object, exercise))
        return false;
    exercise->name = reader_text(reader, object, "name", true);
    exercise->title = reader_text(reader, object, "title", true);
    exercise->kernel = reader_text(reader, object, "kernel", true);
    exercise->shipped = reader_text(reader, object, "shipped", true);
    exercise->arch = reader_text(reader, object, "arch", false);
    if (reader->error)
        return false;
    if (!exercise->arch)
        exercise->arch = "75";
    if (strlen(exercise->arch) > 4 || !is_plain_name(exercise->arch))
        return reader_fail(reader, "arch", "must be as in \"80\" or \"90a\"");
    if (!is_plain_name(exercise->name))
        return reader_fail(reader, "name", "'%s' must be of a-z, 0-9 and _", exercise->name);
    exercise->key = lk_arena_printf(reader->arena, "%s/%s", exercise->lesson->id, exercise->name);
    if (!problem)
        return reader_fail(reader, "problem", "is missing");
    size_t place = reader_enter(reader, "problem");
    if (!lesson_read_problem(reader, problem, &exercise->problem))
        return false;
    reader_leave(reader, place);
    if (!json_object_get(object, "arguments"))
        return reader_fail(reader, "arguments", "is missing");
    return read_launch(reader, object, exercise) && lesson_read_verdicts(reader, object, exercise);
}

/* Quiz ------------------------------------------------------------------------------------------*/

bool lesson_read_question(struct lesson_reader *reader, json_t *object,
                          struct learn_question *question)
{
    json_t *choices = reader_array(reader, object, "choices", true), *each;
    json_t *answer = json_object_get(object, "answer");
    size_t i;
    if (!choices || !reader_keys(reader, object, "question choices answer why"))
        return false;
    question->question = reader_text(reader, object, "question", true);
    question->why = reader_text(reader, object, "why", true);
    if (json_array_size(choices) < 2 || json_array_size(choices) > 9)
        return reader_fail(reader, "choices", "must be 2 to 9");
    question->choices =
        lk_arena_alloc(reader->arena, json_array_size(choices) * sizeof *question->choices);
    json_array_foreach(choices, i, each)
    {
        if (!json_is_string(each) || !*json_string_value(each))
            return reader_fail(reader, "choices", "must be texts");
        for (unsigned j = 0; j < question->choice_count; j++)
            if (strcmp(question->choices[j], json_string_value(each)) == 0)
                return reader_fail(reader, "choices", "'%s' is there twice", question->choices[j]);
        question->choices[question->choice_count++] = json_string_value(each);
    }
    if (!json_is_integer(answer) || json_integer_value(answer) < 1 ||
        json_integer_value(answer) > question->choice_count)
        return reader_fail(reader, "answer", "must be the number of a choice, from 1");
    question->answer = (unsigned)json_integer_value(answer) - 1;
    return !reader->error;
}

/* The whole -------------------------------------------------------------------------------------*/

static bool read_lists(struct lesson_reader *reader, struct learn_lesson *lesson)
{
    json_t *exercises = reader_array(reader, lesson->json, "exercises", true), *each;
    json_t *quiz = reader_array(reader, lesson->json, "quiz", true);
    size_t i;
    if (!exercises || !quiz)
        return false;
    lesson->exercise =
        lk_arena_alloc(lesson->arena, (json_array_size(exercises) + 1) * sizeof *lesson->exercise);
    lesson->question =
        lk_arena_alloc(lesson->arena, (json_array_size(quiz) + 1) * sizeof *lesson->question);
    json_array_foreach(exercises, i, each)
    {
        struct learn_exercise *exercise = &lesson->exercise[lesson->exercise_count++];
        exercise->lesson = lesson;
        snprintf(reader->where, sizeof reader->where, "exercises[%zu]", i);
        if (!read_exercise(reader, each, exercise))
            return false;
    }
    json_array_foreach(quiz, i, each)
    {
        snprintf(reader->where, sizeof reader->where, "quiz[%zu]", i);
        if (!lesson_read_question(reader, each, &lesson->question[lesson->question_count++]))
            return false;
    }
    return true;
}

static bool read_all(struct lesson_reader *reader, struct learn_lesson *lesson)
{
    json_error_t error;
    char *message, *text = host_read_text(reader->path, &message);
    if (!text) {
        reader->error = message;
        return false;
    }
    lesson->json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!lesson->json) {
        reader->error =
            lk_format("%s:%d:%d: %s", reader->path, error.line, error.column, error.text);
        return false;
    }
    if (!reader_keys(reader, lesson->json, "title minutes exercises quiz"))
        return false;
    lesson->title = reader_text(reader, lesson->json, "title", true);
    json_t *minutes = json_object_get(lesson->json, "minutes");
    if (!json_is_integer(minutes) || json_integer_value(minutes) < 1 ||
        json_integer_value(minutes) > 600)
        return reader_fail(reader, "minutes", "must be a whole number from 1 to 600");
    lesson->minutes = (unsigned)json_integer_value(minutes);
    return lesson->title && read_lists(reader, lesson) && lesson_read_python(reader, lesson) &&
           lesson_read_figures(reader, lesson);
}

struct learn_lesson *learn_lesson_read(const char *folder, const char *id, char **message)
{
    struct lk_arena *arena = lk_arena_create();
    struct learn_lesson *lesson = lk_arena_alloc(arena, sizeof *lesson);
    struct lesson_reader reader = {.arena = arena};
    lesson->arena = arena;
    lesson->folder = lk_arena_printf(arena, "%s", folder);
    lesson->id = lk_arena_printf(arena, "%s", id);
    reader.path = lk_arena_printf(arena, "%s/lesson.json", folder);
    *message = NULL;
    if (read_all(&reader, lesson) && !reader.error)
        return lesson;
    *message = reader.error;
    learn_lesson_free(lesson);
    return NULL;
}

void learn_lesson_free(struct learn_lesson *lesson)
{
    json_decref(lesson->json);
    json_decref(lesson->python);
    lk_arena_destroy(lesson->arena);
}

json_t *learn_quiz_json(const struct learn_lesson *lesson)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < lesson->question_count; i++) {
        const struct learn_question *question = &lesson->question[i];
        json_t *choices = json_array();
        for (unsigned j = 0; j < question->choice_count; j++)
            json_array_append_new(choices, json_string(question->choices[j]));
        json_array_append_new(
            list, json_pack("{ss so}", "question", question->question, "choices", choices));
    }
    return list;
}
