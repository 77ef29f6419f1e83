/*
 * test_expression.c: formulas of lessons: values, references, and what is refused.
 */
#include "learn/expression.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka.h comes last: it needs the ones above. */
#include <cmocka.h>

static const struct expression_names names = {.variable = {"n", "m"},
                                              .variable_count = 2,
                                              .array = {"x", "a"},
                                              .rank = {1, 2},
                                              .array_count = 2};
static const float x[4] = {1, 2, 3, 4};
static const int a[2][3] = {{1, 2, 3}, {4, 5, 6}};

static struct expression_state state_with(double n, double m)
{
    return (struct expression_state){.variable = {n, m},
                                     .array = {{ZOO_F32, x, {4}}, {ZOO_I32, a, {2, 3}}}};
}

static double value_of(const char *text, const char **error)
{
    struct lk_arena *arena = lk_arena_create();
    char *message;
    struct expression *made = expression_parse(arena, text, &names, &message);
    struct expression_state state = state_with(10, 3);
    assert_non_null(made);
    double value = expression_eval(made, &state);
    if (error)
        *error = state.error;
    lk_arena_destroy(arena);
    return value;
}

static void test_values(void **unused)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {{"1 + 2 * 3", 7},
                {"(1 + 2) * 3", 9},
                {"n - m - 1", 6},
                {"n / 4", 2.5},
                {"div(n, 4)", 2},
                {"ceil_div(n, m)", 4},
                {"floor(-2.5) + round(2.5) + round(3.5)", 3},
                {"highest(i, 4, 10 - abs(i - 2))", 10},
                {"highest(i, 0, i) < -1e300", 1},
                {"e4m3(1000) + e4m3(0.3)", 448.3125},
                {"e5m2(1.1) + f16(2049) + bf16(257)", 2305},
                {"e2m1(2.5) + e2m1(3.5) + e2m1(-100) + e2m1(0.25)", 0},
                {"f32(0.1) == 0.1", 0},
                {"n % m", 1},
                {"-n + 1", -9},
                {"min(n, m) + max(n, m)", 13},
                {"sqrt(16) + abs(-2) + exp(0)", 7},
                {"log(exp(2)) + log(1)", 2},
                {"n > m && m >= 3 && n != m", 1},
                {"n < m || n == m", 0},
                {"!(n < m)", 1},
                {"n < m ? 1 : m == 3 ? 2 : 3", 2},
                {"x[m]", 4},
                {"a[1][2] - a[0][1]", 4},
                {"sum(i, 4, x[i])", 10},
                {"sum(i, 2, sum(j, 3, a[i][j]))", 21},
                {"sum(i, 2, i) + sum(i, 3, i)", 4},
                {"sum(i, 0, 1)", 0},
                /* Products of elements, all at once after the first elements that were read. */
                {"sum(i, 4, x[i]) + sum(i, 4, x[i] * x[i])", 40},
                {"sum(i, 4, x[i]) + sum(i, 3, a[1][i] * x[i])", 42},
                {"sum(i, 4, x[i]) + sum(j, 2, a[j][m - 1] * x[m])", 46},
                {"sum(i, 4, x[i]) + sum(j, 2, sum(i, 2.5, a[j][i] * x[i]))", 56},
                {"1e3", 1000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(value_of(rows[i].text, NULL) == rows[i].value);
}

static void test_refused(void **unused)
{
    static const char *const texts[] = {"",
                                        "1 +",
                                        "(1",
                                        "1 2",
                                        "k",
                                        "x",
                                        "x[1",
                                        "a[1]",
                                        "min(1)",
                                        "sum(1, 2, 3)",
                                        "sum(i, 2, i) + i",
                                        "n @ m",
                                        "min(1, 2, 3)",
                                        "x[1][2]",
                                        "system(1)",
                                        "a_name_that_is_much_longer_than_any_name"};
    struct lk_arena *arena = lk_arena_create();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *message = NULL;
        assert_null(expression_parse(arena, texts[i], &names, &message));
        assert_non_null(message);
        free(message);
    }
    lk_arena_destroy(arena);
}

/* Nothing that a lesson says may overflow the stack. */
static void test_depth(void **unused)
{
    struct lk_arena *arena = lk_arena_create();
    enum { DEEP = 100000 };
    char *text = malloc(DEEP + 1), *message = NULL;
    const char *const openings[] = {"(", "-", "!"};
    for (int i = 0; i < 3; i++) {
        memset(text, openings[i][0], DEEP);
        text[DEEP] = 0;
        assert_null(expression_parse(arena, text, &names, &message));
        free(message);
    }
    free(text);
    lk_arena_destroy(arena);
}

static void test_errors(void **unused)
{
    const char *error;
    value_of("x[4]", &error);
    assert_non_null(error);
    value_of("x[-1]", &error);
    assert_non_null(error);
    value_of("x[0 / 0]", &error);
    assert_non_null(error);
    value_of("a[0][3]", &error);
    assert_non_null(error);
    value_of("x[3]", &error);
    assert_null(error);
}

static void test_rules(void **unused)
{
    struct lk_arena *arena = lk_arena_create();
    struct expression_rule rule;
    struct expression_state state = state_with(10, 3);
    char *message;
    assert_true(expression_parse_rule(arena, "a[r][c] = x[r] * 10 + c", &names, &rule, &message));
    assert_int_equal(rule.array, 1);
    state.variable[rule.index[0]] = 1;
    state.variable[rule.index[1]] = 2;
    assert_true(expression_eval(rule.value, &state) == 22);
    assert_int_equal(state.seen_count, 1);
    assert_int_equal(state.seen[0].at, 1);
    assert_true(expression_parse_rule(arena, "x[i] = x[2] * x[2] + x[0]", &names, &rule, &message));
    state.seen_count = 0;
    expression_eval(rule.value, &state); /* each is named once, however often it is read */
    assert_int_equal(state.seen_count, 2);
    assert_int_equal(state.seen[1].at, 0);
    assert_false(state.saw_others);
    static const char *const bad[] = {"a[r] = 1", "y[i] = 1", "x[i] + 1",  "x[1] = 1",
                                      "x[i] = ",  "= 1",      "x[i] = 1 1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(expression_parse_rule(arena, bad[i], &names, &rule, &message));
        free(message);
    }
    lk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_depth),
                                       cmocka_unit_test(test_errors), cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
