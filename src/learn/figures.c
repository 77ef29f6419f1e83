/*
 * figures.c: figures.json of a lesson: what each solution costs in all, and how long it and the
 * kernel before it take for the large size. Totals of learners' kernels are compared with these, so
 * an audit says when they no longer fit.
 */
#include "learn/audit.h"

#include "base/buf.h"
#include "host/files.h"
#include "learn/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Compilers differ by a few instructions. */
#define OUT_OF_DATE 0.25

/* Three digits are enough, and do not change with every version of a compiler. */
static json_t *rounded(double value)
{
    if (value == floor(value) && fabs(value) < 1e15)
        return json_integer((json_int_t)value);
    double unit = pow(10, floor(log10(fabs(value))) - 3);
    return json_real(round(value / unit) * unit);
}

static struct learn_verdict grade(const struct learn_grader *grader,
                                  const struct learn_exercise *exercise, const char *file)
{
    struct learn_verdict verdict;
    struct learn_exercise bare = *exercise;
    bare.has_figures = false; /* what it costs is asked here */
    learn_grade(grader, &bare, learn_path(exercise, file), file, &verdict);
    return verdict;
}

static json_t *figures_of(const struct learn_grader *grader, const struct learn_exercise *exercise,
                          char **why)
{
    struct learn_verdict best = grade(grader, exercise, learn_solution(exercise));
    json_t *object = NULL;
    if (best.stage == LEARN_PASSED) {
        object = json_object();
        for (unsigned i = 0; i < LEARN_TOTALS; i++)
            json_object_set_new(object, totals_names[i], rounded(best.totals.value[i]));
        json_object_set_new(object, "lanes", rounded(best.totals.lanes));
        json_object_set_new(object, "warps", rounded(best.totals.warps));
        if (best.totals.large_us > 0) {
            struct learn_verdict before = grade(grader, exercise, exercise->before);
            json_object_set_new(object, "large_us", rounded(best.totals.large_us));
            json_object_set_new(object, "large_instructions",
                                rounded(best.totals.large_instructions));
            json_object_set_new(object, "large_requests", rounded(best.totals.large_requests));
            if (before.totals.large_us > 0)
                json_object_set_new(object, "before_us", rounded(before.totals.large_us));
            learn_verdict_free(&before);
        }
    } else {
        *why = lk_format("must pass, and got: %s", best.text);
    }
    learn_verdict_free(&best);
    return object;
}

/* What is not measured now. */
static void keep_figures(json_t *figures, json_t *before, const struct learn_exercise *exercise)
{
    json_t *object = exercise ? json_object_get(before, learn_figures_name(exercise)) : NULL;
    if (object)
        json_object_set(figures, learn_figures_name(exercise), object);
}

unsigned learn_write_figures(const struct learn_grader *grader, const struct learn_lesson *lesson,
                             learn_audit_note *note, void *context)
{
    const char *path = lk_arena_printf(lesson->arena, "%s/figures.json", lesson->folder);
    json_t *before = json_load_file(path, 0, NULL), *figures = json_object();
    unsigned bad = 0;
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        const struct learn_exercise *exercise = &lesson->exercise[i];
        char *why = NULL;
        keep_figures(figures, before, exercise->twin);
        if (exercise->package)
            continue; /* its cost is lines and copies, which lesson and limits state */
        if (exercise->is_aside) {
            keep_figures(figures, before, exercise);
            continue;
        }
        json_t *object = figures_of(grader, exercise, &why);
        if (object)
            json_object_set_new(figures, learn_figures_name(exercise), object);
        bad += why != NULL;
        note(context, lk_arena_printf(lesson->arena, "%s: figures", exercise->key), why);
        free(why);
    }
    char *text = json_dumps(figures, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    char *whole = lk_format("%s\n", text), *why = NULL;
    if (!host_write_file(path, whole, strlen(whole), &why))
        bad++;
    note(context, path, why);
    free(why);
    free(whole);
    free(text);
    json_decref(before);
    json_decref(figures);
    return bad;
}

char *learn_check_figures(const struct learn_exercise *exercise,
                          const struct learn_verdict *verdict)
{
    if (exercise->package)
        return NULL;
    if (!exercise->has_figures)
        return lk_format("figures.json does not have it: 'learn check-course %s --figures' "
                         "writes it%s",
                         exercise->lesson->id, exercise->is_python ? " with --python" : "");
    for (unsigned i = 0; i < LEARN_TOTALS; i++) {
        double now = verdict->totals.value[i], noted = exercise->best.value[i];
        if (fabs(now - noted) > OUT_OF_DATE * fmax(noted, 16))
            return lk_format("figures.json says %s is %g, and it is %g: 'learn check-course %s "
                             "--figures' writes it anew",
                             totals_names[i], noted, now, exercise->lesson->id);
    }
    return NULL;
}
