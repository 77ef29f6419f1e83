/*
 * test_lesson.c: lessons of the course are read; every mutilated field is refused with a message
 * that names the file and the field. The words that name lessons and exercises.
 */
#include "host/files.h"
#include "learn/lesson.h"
#include "learn/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka.h comes last: it needs the ones above. */
#include <cmocka.h>

#define DAY4 "course/week1/day4_first_kernel"

static void test_day4(void **unused)
{
    char *message;
    struct learn_lesson *lesson = learn_lesson_read(DAY4, "week1/day4_first_kernel", &message);
    assert_non_null(lesson);
    assert_int_equal(lesson->exercise_count, 3);
    assert_false(lesson->exercise[0].is_kata);
    assert_true(lesson->exercise[2].is_kata);
    const struct learn_exercise *add = &lesson->exercise[0];
    assert_string_equal(add->name, "add");
    assert_int_equal(add->argument_count, 4);
    assert_int_equal(add->argument[3].kind, LEARN_INT);
    assert_int_equal(add->problem.buffer_count, 3);
    assert_int_equal(add->problem.measured, 5);
    assert_true(add->problem.value[5][0] == 100000);
    assert_true(add->wrong_count >= 3);
    assert_true(lesson->question_count >= 3);
    learn_lesson_free(lesson);
}

/* The lesson with one text replaced by another; the message must have wanted. */
static void refuse(const char *from, const char *to, const char *wanted)
{
    char folder[] = "/tmp/lockstep-lesson-XXXXXX", path[64], *message = NULL;
    char *text = host_read_text(DAY4 "/lesson.json", &message);
    assert_non_null(text);
    char *at = strstr(text, from);
    assert_non_null(at);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/lesson.json", folder);
    FILE *file = fopen(path, "w");
    fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(file);
    struct learn_lesson *lesson = learn_lesson_read(folder, "x", &message);
    if (lesson || !strstr(message, wanted) || !strstr(message, "lesson.json"))
        print_error("%s -> %s: wanted '%s', got '%s'\n", from, to, wanted,
                    lesson ? "a lesson" : message);
    assert_null(lesson);
    assert_non_null(strstr(message, wanted));
    unlink(path);
    rmdir(folder);
    free(message);
    free(text);
}

static void test_refused(void **unused)
{
    refuse("\"title\": \"Your", "\"titel\": \"Your", "titel: there is no such field");
    refuse("\"title\": \"Your first kernel\",", "", "title: is missing");
    refuse("\"minutes\": 60", "\"minutes\": \"60\"", "minutes: must be a whole number");
    refuse("\"minutes\": 60", "\"minutes\": 60,,", "lesson.json:3:");
    refuse("\"name\": \"add\"", "\"name\": \"../add\"", "exercises[0].name: '../add' must be of");
    refuse("\"kata\": true", "\"kata\": 1", "exercises[2].kata: must be true or false");
    refuse("\"kernel\": \"add\"", "\"kernel\": 7", "exercises[0].kernel: must be a text");
    refuse("ceil_div(n, 256)", "ceil_div(k, 256)", "exercises[0].launch.grid: formula:1:10");
    refuse("\"block\": [256]", "\"block\": []", "exercises[0].launch.block: must be 1 to 3");
    refuse("\"c\", \"int n\"", "\"d\", \"int n\"",
           "exercises[0].arguments: 'd' is neither a buffer");
    refuse("\"int n\"", "\"int k\"", "exercises[0].arguments: formula");
    refuse("\"n=256\"", "\"m=256\"", "exercises[0].problem.sizes: 'm=256' must name the same");
    refuse("\"n=256\"", "\"n=\"", "sizes: 'n=': n needs a number");
    refuse("\"n=256\"", "\"n\"", "is not of the form");
    refuse("\"measured\": \"n=100000\"", "\"measured\": \"n=5\"", "measured: 'n=5' is not one of");
    refuse("\"type\": \"f32\"", "\"type\": \"f33\"", "there is no type 'f33'");
    refuse("\"role\": \"in\"", "\"role\": \"inn\"", "not 'inn'");
    refuse("\"shape\": [\"n\"]", "\"shape\": [\"q\"]", "shape: formula");
    refuse("c[i] = a[i] + b[i]", "c[i] = a[i] + d[i]", "reference: formula:1:15");
    refuse("c[i] = a[i] + b[i]", "a[i] = a[i] + b[i]", "outputs have one, inputs none");
    refuse("\"reference\": [",
           "\"steps\": [{\"name\": \"s\", \"shape\": [\"n\"], \"rule\": \"a[i] = 1\"}],"
           " \"reference\": [",
           "steps: the rule of s must define it");
    refuse("\"reference\": [",
           "\"steps\": [{\"name\": \"s\", \"shape\": [\"n\"], \"rule\": \"s[i] = t[i]\"}],"
           " \"reference\": [",
           "steps: formula:1:8");
    refuse("\"reference\": [", "\"floor\": \"small\", \"reference\": [", "floor: must be a number");
    refuse("\"arguments\": [\"a\",", "\"arguments\": [\"tensor_map a\",",
           "is not of the form 'tensor_map x 32 16'");
    refuse("\"arguments\": [\"a\",", "\"arguments\": [\"tensor_map a 8 8\",",
           "there is no f32 or f16 buffer 'a' with two extents");
    refuse("\"arguments\": [\"a\",", "\"arguments\": [\"tensor_map a 8 8 turned\",",
           "is not of the form 'tensor_map x 32 16' or 'tensor_map x 64 64 swizzled'");
    refuse("global_load_sectors_per_request", "global_load_sector",
           "exercises[0].limits[0].counter: there is no counter");
    refuse("\"global_load_sectors_per_request\",",
           "\"global_load_sectors_per_request\", \"far\": 2,",
           "exercises[0].limits[0].far: must be 1 or more, for a problem with \"far\" sizes");
    refuse("\"one_short.cu\": \"wrong result for", "\"x/one_short.cu\": \"wrong result for",
           "must be a file's name");
    refuse("\"concept\": \"threadIdx", "\"idea\": \"threadIdx",
           "exercises[0].hints.concept: is missing");
    refuse("\"answer\": 3", "\"answer\": 5", "quiz[0].answer: must be the number of a choice");
    refuse("\"answer\": 3", "\"answer\": 0", "quiz[0].answer");
    refuse("\"133\"", "\"5\"", "quiz[0].choices: '5' is there twice");
}

static const char *found(const struct learn_course *course, const char *word, char **message)
{
    const struct learn_lesson *lesson;
    const struct learn_exercise *exercise;
    *message = NULL;
    if (!learn_course_find(course, word, &lesson, &exercise, message))
        return NULL;
    return exercise ? exercise->name : lesson->id;
}

static void test_words(void **unused)
{
    struct learn_course course;
    char *message;
    assert_true(learn_course_open("course", &course, &message));
    assert_string_equal(found(&course, "day4", &message), "week1/day4_first_kernel");
    assert_string_equal(found(&course, "week1/day4", &message), "week1/day4_first_kernel");
    assert_string_equal(found(&course, "day4_first_kernel", &message), "week1/day4_first_kernel");
    assert_string_equal(found(&course, "add", &message), "add");
    assert_string_equal(found(&course, "day4/add", &message), "add");
    assert_string_equal(found(&course, "week1/day4_first_kernel/add", &message), "add");
    assert_null(found(&course, "day7/add", &message));
    free(message);
    assert_null(found(&course, "sapxy", &message));
    assert_non_null(strstr(message, "did you mean 'saxpy'"));
    free(message);
    assert_null(found(&course, "", &message));
    free(message);
    learn_course_free(&course);
    assert_false(learn_course_open("src", &course, &message));
    free(message);
}

/* Day after day the katas take turns, those of the lessons up to the learner's and no others. */
static void test_katas(void **unused)
{
    struct learn_course course;
    const struct learn_lesson *day4, *day5;
    const struct learn_exercise *none;
    char *message;
    assert_true(learn_course_open("course", &course, &message));
    assert_true(learn_course_find(&course, "week1/day4", &day4, &none, &message));
    assert_true(learn_course_find(&course, "week1/day5", &day5, &none, &message));
    bool triad = false, col_sums = false;
    for (long day = -40; day < 40; day++) {
        const struct learn_exercise *kata = learn_course_kata(&course, day4, day);
        assert_non_null(kata);
        assert_true(kata->is_kata);
        assert_string_not_equal(kata->name, "col_sums");
        assert_ptr_not_equal(kata, learn_course_kata(&course, day4, day + 1));
        triad = triad || strcmp(kata->name, "triad") == 0;
        col_sums = col_sums || strcmp(learn_course_kata(&course, day5, day)->name, "col_sums") == 0;
    }
    assert_true(triad);
    assert_true(col_sums);
    struct learn_course empty = {0};
    assert_null(learn_course_kata(&empty, day4, 0));
    learn_course_free(&course);
}

static void test_progress(void **unused)
{
    char path[] = "/tmp/lockstep-progress-XXXXXX", *message;
    close(mkstemp(path));
    struct learn_lesson *lesson = learn_lesson_read(DAY4, "week1/day4_first_kernel", &message);
    struct learn_progress *progress = learn_progress_open(path, &message);
    const struct learn_exercise *add = &lesson->exercise[0];
    assert_non_null(progress);
    assert_int_equal(learn_progress_streak(progress), 0);
    struct learn_verdict verdict = {.stage = LEARN_WRONG, .text = "no"};
    assert_true(learn_progress_attempt(progress, add, &verdict));
    assert_false(learn_progress_state(progress, add).passed);
    for (int i = 3; i > 0; i--) {
        verdict = (struct learn_verdict){.stage = LEARN_PASSED,
                                         .text = "",
                                         .counter = {{"c", 4 + (i == 2 ? -1 : i), 9, true}},
                                         .counter_count = 1};
        assert_true(learn_progress_attempt(progress, add, &verdict));
    }
    learn_progress_close(progress);
    progress = learn_progress_open(path, &message);
    struct learn_state state = learn_progress_state(progress, add);
    assert_true(state.passed);
    assert_int_equal(state.attempts, 4);
    assert_int_equal(learn_progress_streak(progress), 1);
    json_t *best = learn_progress_best(progress, add);
    assert_true(json_number_value(json_object_get(best, "c")) == 3);
    json_decref(best);
    assert_int_equal(learn_progress_look(progress, add, "hint"), 0);
    assert_int_equal(learn_progress_look(progress, add, "hint"), 1);
    assert_true(learn_progress_answer(progress, lesson, 0, 1, false));
    assert_true(learn_progress_answer(progress, lesson, 0, 3, true));
    assert_true(learn_progress_answer(progress, lesson, 1, 2, true));
    assert_true(learn_progress_answer(progress, lesson, 1, 1, false));
    assert_int_equal(learn_progress_right(progress, lesson), 1);
    learn_progress_close(progress);
    learn_lesson_free(lesson);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_day4), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_words), cmocka_unit_test(test_katas),
                                       cmocka_unit_test(test_progress)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
