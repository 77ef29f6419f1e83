/*
 * test_ready.c: the questions of 'learn ready': what is refused in ready.json, and the start that
 * follows from what was missed.
 */
#include "learn/ready.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h comes last: it needs the ones above. */
#include <cmocka.h>

static struct learn_lesson lessons[] = {{.id = "preflight/day1_a"},
                                        {.id = "preflight/day2_b"},
                                        {.id = "week1/day1_c"},
                                        {.id = "week1/day2_d"}};
static struct learn_lesson *list[] = {&lessons[0], &lessons[1], &lessons[2], &lessons[3]};
static struct learn_course course = {.lesson = list, .count = 4};

#define QUESTION                                                                                   \
    "\"question\": {\"question\": \"?\", \"choices\": [\"1\", \"2\"], \"answer\": 2, "             \
    "\"why\": \"so\"}"
#define TOPIC(name, lesson) "{\"topic\": \"" name "\", \"lesson\": \"" lesson "\", " QUESTION "}"

/* Reads text as a course's ready.json. */
static struct learn_ready *read_text(const char *text, char **message)
{
    char folder[] = "/tmp/lockstep-ready-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/ready.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    course.folder = folder;
    struct learn_ready *ready = learn_ready_read(&course, message);
    unlink(path);
    rmdir(folder);
    return ready;
}

static void test_start(void **unused)
{
    char *message;
    struct learn_ready *ready =
        read_text("[" TOPIC("b", "preflight/day2_b") ", " TOPIC("a", "preflight/day1_a") ", " TOPIC(
                      "d", "week1/day2_d") "]",
                  &message);
    assert_non_null(ready);
    assert_int_equal(ready->quiz->question_count, 3);
    assert_string_equal(ready->topic[2], "d");
    assert_int_equal(ready->quiz->question[0].answer, 1);
    static const struct {
        bool right[3];
        unsigned start;
    } rows[] = {{{true, true, true}, 2},    /* nothing missed: the first week */
                {{false, true, true}, 1},   /* the lesson of what was missed */
                {{false, false, false}, 0}, /* the earliest of several */
                {{true, true, false}, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(learn_ready_start(ready, &course, rows[i].right), rows[i].start);
    learn_ready_free(ready);
}

static void test_begin(void **unused)
{
    assert_int_equal(learn_course_begin(&course, NULL), 2);
    assert_int_equal(learn_course_begin(&course, "preflight/day2_b"), 1);
    assert_int_equal(learn_course_begin(&course, "gone/day9"), 2);
    assert_true(learn_is_before(&lessons[0]));
    assert_false(learn_is_before(&lessons[2]));
}

static void test_refused(void **unused)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"{", "ready.json:1:"},
               {"{}", "must be a list"},
               {"[]", "must be a list"},
               {"[1]", "[0]"},
               {"[" TOPIC("a", "preflight/day1_a") ", " TOPIC("x", "preflight/day9") "]",
                "[1].lesson: the course has no lesson 'preflight/day9'"},
               {"[{\"topic\": \"a\", \"lesson\": \"preflight/day1_a\"}]", "[0].question"},
               {"[{\"lesson\": \"preflight/day1_a\", " QUESTION "}]", "[0].topic"},
               {"[{\"topic\": \"a\", \"lesson\": \"preflight/day1_a\", \"extra\": 1, " QUESTION
                "}]",
                "extra"},
               {"[{\"topic\": \"a\", \"lesson\": \"preflight/day1_a\", \"question\": "
                "{\"question\": \"?\", \"choices\": [\"1\", \"2\"], \"answer\": 3, \"why\": "
                "\"so\"}}]",
                "[0].question.answer: must be the number of a choice"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *message = NULL;
        assert_null(read_text(bad[i].text, &message));
        if (!message || !strstr(message, bad[i].says))
            fail_msg("%s: %s", bad[i].text, message ? message : "no message");
        free(message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_start), cmocka_unit_test(test_begin),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
