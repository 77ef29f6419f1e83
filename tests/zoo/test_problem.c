/*
 * test_problem.c: problems as text: what is right, odd or hostile; and names of families with "did
 * you mean".
 */
#include "base/buf.h"
#include "zoo/zoo.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct zoo_family zoo_reduction, zoo_elementwise;

/* text parses to problems that print as wanted, with " | " between them. */
static void expect(const struct zoo_family *family, const char *text, const char *wanted)
{
    struct lk_buf printed = {0};
    char *message;
    size_t count;
    struct zoo_problem *problems = zoo_problems(family, text, &count, &message);
    if (!problems)
        fail_msg("'%s': %s", text, message);
    for (size_t i = 0; i < count; i++) {
        lk_buf_printf(&printed, "%s", i ? " | " : "");
        zoo_problem_print(&problems[i], &printed);
    }
    assert_string_equal(printed.data, wanted);
    lk_buf_free(&printed);
    free(problems);
}

static void refuse(const struct zoo_family *family, const char *text, const char *words)
{
    char *message = NULL;
    size_t count;
    struct zoo_problem *problems = zoo_problems(family, text, &count, &message);
    if (problems)
        fail_msg("'%s' was taken", text);
    assert_non_null(message);
    if (!strstr(message, words))
        fail_msg("'%s' gives '%s', which does not say '%s'", text, message, words);
    free(message);
}

static void good_texts(void **state)
{
    expect(&zoo_reduction, "", "n=1M op=sum type=f32");
    expect(&zoo_reduction, "  n=3 \t op=max ", "n=3 op=max type=f32");
    expect(&zoo_reduction, "n=0", "n=0 op=sum type=f32");
    expect(&zoo_reduction, "n=4k,1G", "n=4K op=sum type=f32 | n=1G op=sum type=f32");
    expect(&zoo_reduction, "n=1024", "n=1K op=sum type=f32");
    expect(&zoo_reduction, "n=1,2 type=i32,bf16",
           "n=1 op=sum type=i32 | n=1 op=sum type=bf16 | n=2 op=sum type=i32 | n=2 op=sum "
           "type=bf16");
    expect(&zoo_reduction, "dist=special seed=7", "n=1M op=sum type=f32 dist=special seed=7");
    expect(&zoo_reduction, "n=5 n=6", "n=6 op=sum type=f32");
    expect(&zoo_reduction, "seed=9223372036854775807",
           "n=1M op=sum type=f32 seed=9223372036854775807");
}

static void scalars(void **state)
{
    expect(&zoo_elementwise, "n=1 op=scale scalar=0.5,-1e3,4",
           "n=1 op=scale scalar=0.5 | n=1 op=scale scalar=-1000 | n=1 op=scale scalar=4");
    refuse(&zoo_elementwise, "scalar=", "not a number");
    refuse(&zoo_elementwise, "scalar=x", "not a number");
    refuse(&zoo_elementwise, "scalar=1.5.2", "not a number");
    refuse(&zoo_reduction, "n=0.5", "not a number");
    const float values[] = {0, -0.0f, 1.5f, -3e38f, 1e-45f};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        float back = zoo_as_float(zoo_from_float(values[i]));
        assert_memory_equal(&back, &values[i], sizeof back);
    }
    assert_true(zoo_as_float(-7) == -7);
}

static void bad_texts(void **state)
{
    refuse(&zoo_reduction, "n", "name=value");
    refuse(&zoo_reduction, "1000", "name=value");
    refuse(&zoo_reduction, "=3", "has the parameters");
    refuse(&zoo_reduction, "m=3", "has the parameters n, op, type, dist and seed");
    refuse(&zoo_reduction, "n=", "not a number");
    refuse(&zoo_reduction, "n=,", "not a number");
    refuse(&zoo_reduction, "n=1,", "not a number");
    refuse(&zoo_reduction, "n=abc", "not a number");
    refuse(&zoo_reduction, "n=1KK", "not a number");
    refuse(&zoo_reduction, "n=0x10", "not a number");
    refuse(&zoo_reduction, "n=--1", "not a number");
    refuse(&zoo_reduction, "n=-1", "goes from 0");
    refuse(&zoo_reduction, "n=17G", "goes from 0 to 17179869184");
    refuse(&zoo_reduction, "n=9223372036854775807", "goes from 0");
    refuse(&zoo_reduction, "n=9223372036854775808", "not a number");
    refuse(&zoo_reduction, "n=9223372036854775807G", "not a number");
    refuse(&zoo_reduction, "n=99999999999999999999999999", "not a number");
    refuse(&zoo_reduction, "op=mean", "op is one of sum, min, max, argmax");
    refuse(&zoo_reduction, "op=", "op is one of");
    refuse(&zoo_reduction, "op=sum,", "op is one of");
    refuse(&zoo_reduction, "op=SUM", "op is one of");
    refuse(&zoo_reduction, "dist=normal", "dist is one of uniform");
    refuse(&zoo_reduction, "seed=-1", "goes from 0");
    refuse(&zoo_reduction, "n=%s%s%n", "not a number");
    refuse(&zoo_reduction, "n=1\x01", "not a number");
}

static void hostile_texts(void **state)
{
    struct lk_buf text = {0};
    for (unsigned i = 0; i < 400; i++)
        lk_buf_printf(&text, "%s%u", i ? "," : "n=", i);
    char *once = strdup(text.data);
    lk_buf_printf(&text, " %s", once);
    refuse(&zoo_reduction, text.data, "more than"); /* 160,000 problems */
    free(once);
    lk_buf_free(&text);
    char *long_word = calloc(1, 1000001);
    memset(long_word, 'n', 1000000);
    refuse(&zoo_reduction, long_word, "name=value");
    memset(long_word + 1, '9', 1000000 - 1);
    long_word[1] = '=';
    refuse(&zoo_reduction, long_word, "not a number");
    free(long_word);
}

/* Whatever a list of words and signs makes: it parses or gives a message, and nothing else. */
static void random_texts(void **state)
{
    static const char *const parts[] = {"n", "op", "type", "dist", "seed", "=",  ",",
                                        " ", "1K", "sum",  "f32",  "-",    "0",  "99",
                                        "G", "\t", "max",  "..",   "%n",   "n=1"};
    for (uint64_t round = 0; round < 5000; round++) {
        struct lk_buf text = {0};
        lk_buf_printf(&text, "%s", "");
        for (uint64_t i = 0; i < zoo_random(11, 0, round) % 12; i++)
            lk_buf_printf(
                &text, "%s",
                parts[zoo_random(11, 1, round * 16 + i) % (sizeof parts / sizeof *parts)]);
        char *message = NULL;
        size_t count;
        struct zoo_problem *problems =
            zoo_problems(&zoo_reduction, text.data ? text.data : "", &count, &message);
        assert_true((problems != NULL) != (message != NULL));
        free(problems);
        free(message);
        lk_buf_free(&text);
    }
}

static void names(void **state)
{
    const struct {
        const char *name, *words; /* words: NULL if it is found */
    } rows[] = {{"reduction", NULL},
                {"reduction/vectorised", NULL},
                {"reductoin", "did you mean 'reduction'?"},
                {"reduction/vectorized", "did you mean 'reduction/vectorised'?"},
                {"red", "did you mean 'reduction'?"},
                {"", "there is no family ''"},
                {"/", "there is no family ''"},
                {"reduction/", "has no variant ''"},
                {"reduction/zzzzzzzz", "'lockstep zoo show reduction' names them"},
                {"zzzzzzzzzzzz", "'lockstep zoo list' names them"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct zoo_family *family;
        const struct zoo_variant *variant;
        char *message;
        bool found = zoo_find(rows[i].name, &family, &variant, &message);
        assert_int_equal(found, rows[i].words == NULL);
        if (!found && !strstr(message, rows[i].words))
            fail_msg("'%s' gives '%s'", rows[i].name, message);
        free(message);
    }
}

/* Every f16 is a double, and the other way round the nearest one, the even one of two. */
static void halves(void **state)
{
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        bool is_nan = (bits & 0x7fff) > 0x7c00;
        assert_int_equal(zoo_to_f16(zoo_from_f16((uint16_t)bits)), is_nan ? 0x7fff : bits);
    }
    assert_true(zoo_from_f16(0x3555) == 0x1.554p-2f && zoo_from_f16(0x8001) == -0x1p-24f);
    static const struct {
        double value;
        unsigned bits;
    } cases[] = {{1 + 0x1p-11, 0x3c00},  {1 + 0x1.8p-10, 0x3c02},
                 {65519.9, 0x7bff},      {65520, 0x7c00},
                 {-1e9, 0xfc00},         {0x1p-25, 0},
                 {-0x1.001p-25, 0x8001}, {0x1.ffbp-15, 0x03ff},
                 {0x1.ffcp-15, 0x0400},  {0x1p-14 * (1 - 0x1p-20), 0x400}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(zoo_to_f16(cases[i].value), cases[i].bits);
}

/* Every number of 8 bits comes back as itself; halfway cases go to the even one; large ones as
 * types.h says. */
static void quarters(void **state)
{
    (void)state;
    static const enum zoo_type types[] = {ZOO_E4M3, ZOO_E5M2, ZOO_S8};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (unsigned bits = 0; bits < 256; bits++) {
            unsigned char given = (unsigned char)bits, back;
            double value = zoo_get(types[i], &given, 0);
            zoo_put(types[i], &back, 0, value);
            if (value == value)
                assert_int_equal(back, given);
            else
                assert_int_equal(back, 0x7f);
        }
    assert_true(zoo_from_e4m3(0x7e) == 448 && zoo_from_e4m3(0x01) == 0x1p-9F);
    assert_int_equal(zoo_to_e4m3(1.0625), 0x38); /* halfway from 1 to 1.125 */
    assert_int_equal(zoo_to_e4m3(1.1875), 0x3a);
    assert_int_equal(zoo_to_e4m3(1e9), 0x7e);
    assert_int_equal(zoo_to_e4m3(-0x1p-10), 0x80);
    assert_int_equal(zoo_to_e5m2(1.125), 0x3c);
    assert_int_equal(zoo_to_e5m2(61439), 0x7b);
    assert_int_equal(zoo_to_e5m2(-61440), 0xfc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts),   cmocka_unit_test(scalars),
        cmocka_unit_test(bad_texts),    cmocka_unit_test(hostile_texts),
        cmocka_unit_test(random_texts), cmocka_unit_test(names),
        cmocka_unit_test(halves),       cmocka_unit_test(quarters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
