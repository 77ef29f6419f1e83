/*
 * test_huge.c: every kernel whose grid can grow is run beyond 2^16 blocks, with buffers that can be
 * made; what cannot is listed here with its reason.
 */
#include "learn/lesson.h"
#include "learn/problem.h"
#include "learn/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h comes last: it needs the ones above. */
#include <cmocka.h>

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

static bool may_stay_small(const char *name)
{
    /* The grid is fixed, or there are no more than 254 codes. */
    static const char *const fixed[] = {"saxpy", "triad", "decode_fp8", NULL};
    /* A block has at least 64 x 64 results, or 64 keys and values: 2^16 of them take gigabytes. */
    static const char *const wide[] = {"tensor_tiles", "wide_tiles", "milestone", "warpgroup",
                                       "hopper",       "pairs",      "decode",    NULL};
    /* As many columns as rows: a row of the last quarter is long, and so is the whole. */
    static const char *const long_walks[] = {"causal", "flash", NULL};
    return is_among(name, fixed) || is_among(name, wide) || is_among(name, long_walks);
}

static void try_exercise(const struct learn_exercise *exercise)
{
    struct lk_arena *arena = lk_arena_create();
    struct learn_problem problem = exercise->problem;
    struct lesson_reader reader = {.arena = arena, .path = "lesson.json"};
    struct zoo_buffer shape[ZOO_BUFFERS];
    struct expression_state state = {0};
    char *message = NULL;
    if (!problem.huge)
        fail_msg("%s: no size of more than 2^16 blocks", exercise->key);
    problem.size_count = 0;
    assert_true(lesson_add_size(&reader, &problem, problem.huge));
    if (!problem_shape(&problem, 0, shape, &message))
        fail_msg("%s: %s", exercise->key, message);
    memcpy(state.variable, problem.value[0], sizeof state.variable);
    double blocks = expression_eval(exercise->grid[0], &state);
    if (blocks * 3 / 4 <= 65536) /* blocks of the last quarter are run */
        fail_msg("%s: %s has %g blocks", exercise->key, problem.huge, blocks);
    lk_arena_destroy(arena);
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
            if (exercise->is_c || exercise->problem.family || may_stay_small(exercise->name))
                continue;
            try_exercise(exercise);
            tried++;
        }
    learn_course_free(&course);
    assert_true(tried > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
