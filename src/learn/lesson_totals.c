/*
 * lesson_totals.c: the fields of an exercise that bound what a kernel costs in all and tell what it
 * has gained, and figures.json beside lesson.json: what the solution costs, as 'learn check-course
 * --figures' measured it.
 */
#include "learn/reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct total {
    const char *name;
    double factor;
} totals[LEARN_TOTALS] = {
#define TOTAL(name, factor, slack, words) {#name, factor},
#include "learn/totals.def"
#undef TOTAL
};

static bool read_factors(struct lesson_reader *reader, json_t *object,
                         struct learn_exercise *exercise)
{
    json_t *given = json_object_get(object, "totals"), *value;
    const char *name;
    for (unsigned i = 0; i < LEARN_TOTALS; i++)
        exercise->total_most[i] = totals[i].factor;
    if (exercise->is_python) { /* Triton lays out shared memory, and says how wide an access is */
        exercise->total_most[LEARN_TOTAL_bank_conflicts] = 0;
        exercise->total_most[LEARN_TOTAL_requests] = 4;
    }
    if (given && !json_is_object(given))
        return reader_fail(reader, "totals", "must be an object: {\"time_us\": 1.5}");
    json_object_foreach(given, name, value)
    {
        unsigned i = 0;
        while (i < LEARN_TOTALS && strcmp(totals[i].name, name) != 0)
            i++;
        double factor = json_number_value(value);
        if (i == LEARN_TOTALS)
            return reader_fail(reader, "totals", "there is no '%s'; src/learn/totals.def has them",
                               name);
        if (!json_is_number(value) || factor < 0 || (factor > 0 && factor < 1))
            return reader_fail(reader, "totals", "%s is a multiple of the solution's, or 0", name);
        exercise->total_most[i] = factor;
    }
    return true;
}

static bool is_buffer(const struct learn_problem *problem, const char *name)
{
    for (unsigned i = 0; i < problem->buffer_count; i++)
        if (strcmp(problem->buffer[i].name, name) == 0)
            return true;
    return false;
}

static bool read_writers(struct lesson_reader *reader, json_t *object,
                         struct learn_exercise *exercise)
{
    json_t *list = reader_array(reader, object, "several_writers", false), *each;
    size_t i;
    json_array_foreach(list, i, each)
    {
        const char *name = json_string_value(each);
        if (!name || (strcmp(name, "*") != 0 && !is_buffer(&exercise->problem, name)))
            return reader_fail(reader, "several_writers", "must name buffers, or be [\"*\"]");
    }
    exercise->several_writers = list;
    return !reader->error;
}

static bool read_work(struct lesson_reader *reader, json_t *object, struct learn_exercise *exercise)
{
    json_t *work = json_object_get(object, "work");
    if (!work)
        return true;
    json_t *flops = json_object_get(work, "flops"), *bytes = json_object_get(work, "bytes");
    if (!json_is_object(work) || json_object_size(work) != 1 || (!flops && !bytes))
        return reader_fail(reader, "work", "must be {\"flops\": formula} or {\"bytes\": formula}");
    exercise->work_is_flops = flops != NULL;
    exercise->work =
        reader_formula(reader, flops ? flops : bytes, "work", &exercise->problem.names, NULL);
    return exercise->work != NULL;
}

bool lesson_read_totals(struct lesson_reader *reader, json_t *object,
                        struct learn_exercise *exercise)
{
    exercise->before = reader_text(reader, object, "before", false);
    if (!exercise->before)
        exercise->before = learn_given(exercise);
    if (exercise->before[0] == '/' || strstr(exercise->before, ".."))
        return reader_fail(reader, "before", "must be a file of the exercise's folder");
    return !reader->error && read_factors(reader, object, exercise) &&
           read_writers(reader, object, exercise) && read_work(reader, object, exercise);
}

/* figures.json ----------------------------------------------------------------------------------*/

const char *learn_figures_name(const struct learn_exercise *exercise)
{
    return exercise->is_python ? lk_arena_printf(exercise->lesson->arena, "%s.py", exercise->name)
                               : exercise->name;
}

static void take(json_t *figures, struct learn_exercise *exercise)
{
    json_t *of = json_object_get(figures, learn_figures_name(exercise));
    if (!json_is_object(of))
        return;
    exercise->has_figures = true;
    for (unsigned i = 0; i < LEARN_TOTALS; i++)
        exercise->best.value[i] = json_number_value(json_object_get(of, totals[i].name));
    exercise->best.lanes = json_number_value(json_object_get(of, "lanes"));
    exercise->best.warps = json_number_value(json_object_get(of, "warps"));
    exercise->best.large_us = json_number_value(json_object_get(of, "large_us"));
    exercise->best.large_instructions =
        json_number_value(json_object_get(of, "large_instructions"));
    exercise->best.large_requests = json_number_value(json_object_get(of, "large_requests"));
    exercise->before_us = json_number_value(json_object_get(of, "before_us"));
}

bool lesson_read_figures(struct lesson_reader *reader, struct learn_lesson *lesson)
{
    json_error_t error;
    const char *path = lk_arena_printf(reader->arena, "%s/figures.json", lesson->folder);
    if (access(path, F_OK) != 0)
        return true;
    json_t *figures = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!figures) {
        reader->error = lk_format("%s:%d:%d: %s", path, error.line, error.column, error.text);
        return false;
    }
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        take(figures, &lesson->exercise[i]);
        if (lesson->exercise[i].twin)
            take(figures, lesson->exercise[i].twin);
    }
    json_decref(figures);
    return true;
}
