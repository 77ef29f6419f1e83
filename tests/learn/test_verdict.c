/*
 * test_verdict.c: messages of a verdict: from the grader's own words and from what compilers print.
 */
#include "learn/verdict.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>

static void messages_become_text(void **state)
{
    struct learn_verdict verdict = {0};
    verdict_add_message(&verdict, 0, "wrong result for n=%d", 7);
    verdict_stop(&verdict, LEARN_WRONG, 0);
    verdict_add_message(&verdict, 12, "a race\nbetween two blocks");
    verdict_add_detail(&verdict, "no barrier");
    verdict_stop(&verdict, LEARN_CHECK, 12);
    verdict_finish(&verdict, "add.cu");
    assert_int_equal(verdict.stage, LEARN_WRONG); /* the first stays */
    assert_int_equal(verdict.message_count, 2);
    assert_int_equal(verdict.message[1].line, 12);
    assert_string_equal(verdict.message[1].text, "a race");
    assert_string_equal(verdict.message[1].detail, "between two blocks\nno barrier");
    assert_string_equal(verdict.text,
                        "add.cu: wrong result for n=7\n"
                        "add.cu:12: a race\n    between two blocks\n    no barrier\n");
    json_t *object = learn_verdict_json(&verdict);
    json_t *second = json_array_get(json_object_get(object, "messages"), 1);
    assert_int_equal(json_integer_value(json_object_get(second, "line")), 12);
    assert_string_equal(json_string_value(json_object_get(second, "text")), "a race");
    json_decref(object);
    learn_verdict_free(&verdict);
}

struct expected {
    unsigned line;
    const char *text, *detail;
};

static void expect_messages(const char *said, const struct expected *expected, unsigned count)
{
    struct learn_verdict verdict = {0};
    verdict_take_compiler(&verdict, strdup(said), "add.cu");
    verdict_finish(&verdict, "add.cu");
    assert_string_equal(verdict.text, said);
    assert_int_equal(verdict.message_count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(verdict.message[i].line, expected[i].line);
        assert_string_equal(verdict.message[i].text, expected[i].text);
        if (expected[i].detail)
            assert_string_equal(verdict.message[i].detail, expected[i].detail);
        else
            assert_null(verdict.message[i].detail);
    }
    learn_verdict_free(&verdict);
}

static void clang_is_understood(void **state)
{
    static const struct expected expected[] = {
        {4, "error: expected ';' after expression", "    c[i] = 1\n            ^\n            ;"},
        {9, "warning: unused variable 'x'", "add.cu:2:1: note: declared here"},
        {0, "1 error generated.", NULL}};
    expect_messages(
        "add.cu:4:13: error: expected ';' after expression\n    c[i] = 1\n            ^\n"
        "            ;\nadd.cu:9:5: warning: unused variable 'x'\n"
        "add.cu:2:1: note: declared here\n",
        expected, 2);
    expect_messages("1 error generated.\n", &expected[2], 1);
}

static void nvcc_is_understood(void **state)
{
    static const struct expected expected[] = {
        {4, "error: expected a \";\"", "      c[i] = 1\n1 error detected in \"add.cu\"."}};
    expect_messages("add.cu(4): error: expected a \";\"\n      c[i] = 1\n"
                    "1 error detected in \"add.cu\".\n",
                    expected, 1);
}

static void other_files_are_details(void **state)
{
    static const struct expected expected[] = {{0, "other.h:3:1: error: here", NULL},
                                               {0, "the compiler was stopped", NULL}};
    expect_messages("other.h:3:1: error: here\nadd.cu: the compiler was stopped\n", expected, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_become_text),
        cmocka_unit_test(clang_is_understood),
        cmocka_unit_test(nvcc_is_understood),
        cmocka_unit_test(other_files_are_details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
