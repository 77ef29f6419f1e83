/*
 * test_draw.c: what is drawn for a check can be drawn again, lies in its ranges or far beyond, and
 * is not what the lesson lists; and a worker's output is taken apart rightly.
 */
#include "learn/draw.h"
#include "learn/log.h"
#include "learn/reader.h"
#include "learn/values.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h comes last: it needs the ones above. */
#include <cmocka.h>

/* m and n: multiples of 16, alpha: quarters, eps: neither. The last of three sizes is measured. */
static struct learn_problem listed(void)
{
    static const double values[3][4] = {
        {16, 48, 2.5, 0.001}, {128, 16, -1, 0.2}, {256, 64, 0.5, 0.001}};
    static const char *const names[] = {"m", "n", "alpha", "eps"};
    struct learn_problem problem = {.size_count = 3, .listed = 3, .measured = 2};
    problem.names.variable_count = 4;
    for (unsigned i = 0; i < 4; i++)
        problem.names.variable[i] = names[i];
    for (unsigned i = 0; i < 3; i++) {
        memcpy(problem.value[i], values[i], sizeof values[i]);
        problem.seed[i] = 1;
        problem.size[i] = "listed";
    }
    return problem;
}

static void test_ranges(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed < 200; seed++) {
        struct lk_arena *arena = lk_arena_create();
        struct learn_problem problem = listed();
        char *message = NULL;
        assert_true(draw_sizes(arena, &problem, 0, seed, &message));
        assert_int_equal(problem.size_count, 3 + LEARN_DRAWN);
        assert_int_equal(problem.seed[2], seed + 1); /* 1: values of listed sizes */
        assert_int_equal(problem.seed[0], 1);
        for (unsigned i = 3; i < problem.size_count; i++) {
            const double *value = problem.value[i];
            assert_true(value[0] >= 16 && value[0] <= 256 && fmod(value[0], 16) == 0);
            assert_true(value[1] >= 16 && value[1] <= 64 && fmod(value[1], 16) == 0);
            assert_true(value[0] * value[1] <= 256 * 64);
            assert_true(value[2] >= -1 && value[2] <= 2.5 && fmod(value[2], 0.25) == 0);
            assert_true(value[2] != 0);
            assert_true(value[3] == 0.001 || value[3] == 0.2);
            assert_true(problem.seed[i] > seed);
        }
        /* The first is a little smaller than the measured one. */
        assert_true(problem.value[3][0] <= 256 && problem.value[3][0] >= 176);
        assert_true(problem.value[3][1] <= 64 && problem.value[3][1] >= 32);
        lk_arena_destroy(arena);
    }
}

/* The last one is beyond what is listed, in one of the extents; never in alpha. */
static void test_beyond(void **unused)
{
    (void)unused;
    struct lk_arena *arena = lk_arena_create();
    struct expression_names names = listed().names;
    char *message = NULL;
    unsigned beyond[2] = {0};
    for (uint64_t seed = 1; seed < 100; seed++) {
        struct learn_problem problem = listed();
        problem.buffer_count = 1;
        problem.buffer[0].rank = 2;
        problem.buffer[0].extent[0] = expression_parse(arena, "2 * m", &names, &message);
        problem.buffer[0].extent[1] = expression_parse(arena, "n", &names, &message);
        assert_null(message);
        assert_true(draw_sizes(arena, &problem, 0, seed, &message));
        const double *last = problem.value[3 + LEARN_DRAWN - 1]; /* before those far beyond */
        assert_true(last[0] <= 320 && last[1] <= 80 && last[2] <= 2.5);
        assert_true((last[0] > 256) != (last[1] > 64));
        assert_true(last[0] * last[1] <= 256 * 64);
        beyond[last[1] > 64]++;
    }
    assert_true(beyond[0] > 20 && beyond[1] > 20);
    lk_arena_destroy(arena);
}

/* Behind them, one far size for each extent, 2 to 16 times the largest listed value; less where it
 * would take too long. Extents of a lesson's own "far" are taken from there. */
static void test_far(void **unused)
{
    (void)unused;
    struct lk_arena *arena = lk_arena_create();
    struct expression_names names = listed().names;
    char *message = NULL;
    unsigned ragged = 0;
    for (uint64_t seed = 1; seed < 100; seed++) {
        struct learn_problem problem = listed();
        problem.buffer_count = 1;
        problem.buffer[0].rank = 2;
        problem.buffer[0].extent[0] = expression_parse(arena, "m", &names, &message);
        problem.buffer[0].extent[1] = expression_parse(arena, "n + 1", &names, &message);
        assert_true(draw_sizes(arena, &problem, 1000, seed, &message)); /* of 256 * 64 */
        assert_int_equal(problem.first_far, 3 + LEARN_DRAWN);
        assert_int_equal(problem.size_count, 3 + LEARN_DRAWN + 2);
        const double *tall = problem.value[problem.first_far], *wide = tall + EXPRESSION_VARIABLES;
        assert_true(tall[0] >= 2 * 256 && tall[0] <= 16 * 256 + 96);
        assert_true(wide[1] >= 2 * 64 && wide[1] <= 16 * 64 + 96);
        assert_true(fmod(tall[0], 16) == 0 && fmod(wide[1], 16) == 0);
        ragged += fmod(tall[0], 256) != 0;
        /* Ten times the budget: as little as is beyond. */
        assert_true(draw_sizes(arena, &problem, 1000000, seed, &message));
        assert_true(problem.value[problem.first_far][0] > 256);
        assert_true(problem.value[problem.first_far][0] <= 272);
    }
    assert_true(ragged > 50);
    struct learn_problem problem = listed();
    problem.far = json_pack("[ss]", "m=1000..2000 n=1", "m=3 n=70..90");
    assert_true(draw_sizes(arena, &problem, 0, 5, &message));
    assert_int_equal(problem.size_count, problem.first_far + 2);
    assert_true(problem.value[problem.first_far][0] >= 1000 &&
                problem.value[problem.first_far][1] == 1);
    assert_true(problem.value[problem.first_far + 1][0] == 3 &&
                problem.value[problem.first_far + 1][1] >= 70);
    json_decref(problem.far);
    lk_arena_destroy(arena);
}

/* A family has words for some of its parameters, and its sizes are drawn as any other's. */
static void test_family(void **unused)
{
    (void)unused;
    struct lk_arena *arena = lk_arena_create();
    struct lesson_reader reader = {.arena = arena, .path = "test"};
    struct learn_problem problem = {0};
    char *message = NULL;
    json_t *object =
        json_pack("{ss s[ss]}", "family", "transpose", "sizes", "rows=32 cols=64", "rows=5 cols=7");
    assert_true(lesson_read_problem(&reader, object, &problem));
    assert_true(draw_sizes(arena, &problem, 0, 3, &message));
    assert_int_equal(problem.size_count, 2 + LEARN_DRAWN + 2);
    json_decref(object);
    lk_arena_destroy(arena);
}

static void test_again(void **unused)
{
    (void)unused;
    struct lk_arena *arena = lk_arena_create();
    struct learn_problem first = listed(), again = listed(), other = listed();
    char *message = NULL;
    assert_true(draw_sizes(arena, &first, 0, 7, &message));
    assert_true(draw_sizes(arena, &again, 0, 7, &message));
    assert_true(draw_sizes(arena, &other, 0, 8, &message));
    assert_memory_equal(first.value, again.value, sizeof first.value);
    assert_memory_not_equal(first.value, other.value, sizeof first.value);
    assert_true(draw_seed() != draw_seed() || draw_seed() != draw_seed());
    lk_arena_destroy(arena);
}

static void test_hidden(void **unused)
{
    (void)unused;
    struct lk_arena *arena = lk_arena_create();
    struct learn_problem problem = listed();
    char *message = NULL;
    problem.hidden = json_pack("[s]", "m=32|64 n=8..24:8");
    for (uint64_t seed = 1; seed < 100; seed++) {
        assert_true(draw_sizes(arena, &problem, 0, seed, &message));
        for (unsigned i = 4; i < problem.size_count; i++) {
            assert_true(problem.value[i][0] == 32 || problem.value[i][0] == 64);
            assert_true(problem.value[i][1] >= 8 && problem.value[i][1] <= 24);
            assert_true(fmod(problem.value[i][1], 8) == 0);
        }
    }
    /* Near the measured size by the line that it is of, not by any. */
    json_decref(problem.hidden);
    problem.hidden = json_pack("[ss]", "m=16 n=1..32", "m=256 n=60..64");
    for (uint64_t seed = 1; seed < 100; seed++) {
        assert_true(draw_sizes(arena, &problem, 0, seed, &message));
        assert_true(problem.value[3][0] == 16 || problem.value[3][1] >= 60);
    }
    json_array_clear(problem.hidden);
    assert_true(draw_sizes(arena, &problem, 0, 1, &message));
    assert_int_equal(problem.size_count, 3);
    json_array_append_new(problem.hidden, json_string("q=1..2"));
    assert_false(draw_sizes(arena, &problem, 0, 1, &message));
    assert_non_null(strstr(message, "'q=1..2'"));
    free(message);
    json_decref(problem.hidden);
    lk_arena_destroy(arena);
}

static void test_log(void **unused)
{
    (void)unused;
    struct learn_log log = log_read("thread 3\n"
                                    "lockstep: trap\n"
                                    "  at add.cu:5\n"
                                    "  PTX line 47: trap\n"
                                    "  in kernel _Z3addPf, block (1,0,0), thread (44,0,0)\n");
    assert_string_equal(log.printed, "thread 3\n");
    assert_string_equal(log.what, "trap");
    assert_string_equal(log.file, "add.cu");
    assert_int_equal(log.line, 5);
    assert_string_equal(log.where, "block (1,0,0), thread (44,0,0)");
    free(log.printed);
    log_free(&log);
    log = log_read("a.cu:9: add: block: [1,0,0], thread: [2,0,0] Assertion `i < 5` failed.\n"
                   "lockstep: a device-side assertion failed\n");
    assert_null(log.printed);
    assert_string_equal(log.what, "assertion `i < 5` failed");
    assert_int_equal(log.line, 9);
    log_free(&log);
    struct lk_buf text = {0};
    for (int i = 0; i < 100; i++)
        lk_buf_printf(&text, "line %d\n", i);
    log = log_read(text.data);
    assert_non_null(strstr(log.printed, "line 15\n(and 84 more lines)\n"));
    assert_null(log.what);
    free(log.printed);
    log_free(&log);
    lk_buf_free(&text);
}

/* Numbers that fill the mantissa: all of them, or one in each quarter of the longest extent. */
static void test_deep(void **unused)
{
    (void)unused;
    enum { COUNT = 4096, LONGEST = 1024 };
    static float all[COUNT], few[COUNT];
    struct learn_buffer buffer = {.name = "x", .type = ZOO_F32, .role = ZOO_IN, .times = 1};
    unsigned odd = 0, kept = 0;
    values_fill(&buffer, 7, 0, DEEP, 64, LONGEST, all, COUNT);
    values_fill(&buffer, 7, 0, DEEP_FEW, 64, LONGEST, few, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        uint32_t bits;
        memcpy(&bits, &all[i], sizeof bits);
        odd += bits & 1;
        assert_true(fabsf(all[i]) >= 0.125f && fabsf(all[i]) < 0.25f);
        assert_true(few[i] == 0 || few[i] == all[i]);
        kept += few[i] != 0;
    }
    assert_int_equal(odd, COUNT);
    assert_int_equal(kept, COUNT / (LONGEST / 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges), cmocka_unit_test(test_beyond), cmocka_unit_test(test_far),
        cmocka_unit_test(test_deep),   cmocka_unit_test(test_family), cmocka_unit_test(test_again),
        cmocka_unit_test(test_hidden), cmocka_unit_test(test_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
