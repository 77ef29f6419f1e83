/*
 * test_peaks.c: every softmax of the course is tried with rows that lie far below 0, with a single
 * number far above the rest, and with largest values at the end of what they are taken of; and rows
 * with a mean lie where the lesson says. No exercise may be left out.
 */
#include "learn/draw.h"
#include "learn/peaks.h"
#include "learn/problem.h"
#include "learn/values.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h comes last: it needs the ones above. */
#include <cmocka.h>

/* Not half_rows, which is about what happens without a largest value, and not the largest sizes of
 * quantisation, which are of no sign. */
static bool needs_peaks(const struct learn_exercise *exercise)
{
    static const char *const softmaxes[] = {"softmax", "log_sum_exp",     "stable",  "lse",
                                            "attend",  "causal",          "online",  "merge",
                                            "running", "tiled_attention", "combine", "flash",
                                            "decode",  "fused",           "layer",   "row_largest"};
    for (size_t i = 0; i < sizeof softmaxes / sizeof *softmaxes; i++)
        if (strcmp(exercise->name, softmaxes[i]) == 0)
            return true;
    return false;
}

/* The largest size of a number among those that a largest value is taken of. */
static double largest(const struct learn_problem *problem, unsigned size, unsigned buffer)
{
    struct zoo_instance instance;
    char *message = NULL;
    assert_true(problem_make(problem, size, &instance, &message));
    double most = 0;
    for (size_t i = 0; i < instance.buffer[buffer].count; i++)
        most = fmax(most, fabs(zoo_get(instance.buffer[buffer].type, instance.host[buffer], i)));
    zoo_instance_free(&instance);
    return most;
}

/* Of some buffer, numbers are larger than any of the usual ones (at most 8 times its .times). */
static bool is_changed(const struct learn_problem *problem, unsigned size, double times)
{
    for (unsigned b = 0; b < problem->buffer_count; b++)
        if (problem->buffer[b].role == ZOO_IN && problem->buffer[b].type == ZOO_F32 &&
            largest(problem, size, b) > times * 8.5 * problem->buffer[b].times)
            return true;
    return false;
}

static void try_exercise(const struct learn_exercise *exercise)
{
    for (uint64_t seed = 1; seed < 4; seed++) {
        struct lk_arena *arena = lk_arena_create();
        struct learn_problem problem = exercise->problem;
        char *message = NULL;
        assert_true(draw_sizes(arena, &problem, exercise->best.value[LEARN_TOTAL_warp_instructions],
                               seed, &message));
        bool needs = needs_peaks(exercise);
        if (needs != (peaks_length(&problem, problem.measured) > 0))
            fail_msg("%s: a largest value is %s", exercise->key, needs ? "not found" : "found");
        if (needs && (!problem.peaked || !problem.peaked_early))
            fail_msg("%s: there are no sizes with peaks", exercise->key);
        if (needs && !is_changed(&problem, problem.peaked_early, 1))
            fail_msg("%s: %s has no peak", exercise->key, problem.size[problem.peaked_early]);
        if (needs && !problem.is_exact) /* costs are compared there */
            assert_false(is_changed(&problem, problem.measured, 1) ||
                         is_changed(&problem, problem.listed, 1));
        if (!needs)
            assert_int_equal(problem.peaked, 0);
        lk_arena_destroy(arena);
    }
}

static void test_all(void **unused)
{
    (void)unused;
    struct learn_course course;
    char *message;
    unsigned tried = 0;
    assert_true(learn_course_open("course", &course, &message));
    for (unsigned i = 0; i < course.count; i++)
        for (unsigned j = 0; j < course.lesson[i]->exercise_count; j++) {
            const struct learn_exercise *exercise = &course.lesson[i]->exercise[j];
            tried += needs_peaks(exercise);
            if (!exercise->problem.family)
                try_exercise(exercise);
        }
    learn_course_free(&course);
    assert_int_equal(tried, 16);
}

/* Rows of 16 to 128: three of four around the mean, on both sides; listed sizes have none. */
static void test_mean(void **unused)
{
    (void)unused;
    enum { ROWS = 64, COLS = 40 };
    static float data[ROWS * COLS];
    struct learn_buffer buffer = {
        .name = "x", .type = ZOO_F32, .role = ZOO_IN, .times = 1, .mean = 24};
    unsigned above = 0, below = 0;
    values_fill(&buffer, 9, 0, FINE, COLS, COLS, data, ROWS * COLS);
    for (unsigned i = 0; i < ROWS * COLS; i++) {
        above += data[i] >= 22 && data[i] < 26;
        below += data[i] >= -26 && data[i] < -22;
        assert_true(fabsf(data[i]) < 26 && (fabsf(data[i]) < 9 || fabsf(data[i]) >= 22));
    }
    assert_true(above >= 16 * COLS && below >= 4 * COLS && above + below < 60 * COLS);
    values_fill(&buffer, LESSON_LISTED_SEED, 0, UNCHANGED, COLS, COLS, data, ROWS * COLS);
    for (unsigned i = 0; i < ROWS * COLS; i++)
        assert_true(fabsf(data[i]) <= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_mean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
