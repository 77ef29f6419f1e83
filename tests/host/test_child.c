/*
 * test_child.c: children: words that reach the program as they are, where input and output go,
 * statuses, the environment, and limits that end what exceeds them together with its own children.
 */
#include "base/clock.h"
#include "host/child.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "folder.h"
// clang-format on
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SH(script) ((const char *const[]){"/bin/sh", "-c", script, NULL})

static void statuses(void **state)
{
    assert_int_equal(host_run(&(struct host_command){.words = SH("exit 0")}), 0);
    assert_int_equal(host_run(&(struct host_command){.words = SH("exit 7")}), 7);
    assert_int_equal(host_run(&(struct host_command){.words = SH("kill -9 $$")}), 128 + 9);
    assert_int_equal(host_wait(-1), 127);
}

/* If it cannot start, errno says why, and no child remains. */
static void what_does_not_start(void **state)
{
    struct host_command missing = {.words = (const char *const[]){"/nowhere/program", NULL}};
    assert_int_equal(host_start(&missing), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(host_run(&missing), 127);
    struct host_command text = {.words = (const char *const[]){path_of("no_program"), NULL}};
    assert_true(host_write_file(path_of("no_program"), "echo run by a shell\n", 20, NULL));
    assert_int_equal(host_start(&text), -1);
    assert_int_equal(errno, EACCES);
    struct host_command nowhere = {.words = SH("exit 0"), .folder = "/nowhere"};
    assert_int_equal(host_start(&nowhere), -1);
    assert_int_equal(errno, ENOENT);
    struct host_command unwritable = {.words = SH("exit 0"), .output = "/nowhere/log"};
    assert_int_equal(host_start(&unwritable), -1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* No shell reads the words. */
static void words_stay_words(void **state)
{
    static const char *const words[] = {"/usr/bin/printf", "%s|", "$(touch x)", "a b",
                                        "'\"`;&|<>*",      "",    "\n",         NULL};
    struct lk_buf output = {0};
    assert_int_equal(host_capture(&(struct host_command){.words = words}, &output), 0);
    assert_string_equal(output.data, "$(touch x)|a b|'\"`;&|<>*||\n|");
    lk_buf_free(&output);
}

static void streams(void **state)
{
    const char *script = "read line; echo got $line; echo bad >&2";
    assert_true(host_write_file(path_of("in"), "hello\n", 6, NULL));
    struct host_command apart = {.words = SH(script),
                                 .input = path_of("in"),
                                 .output = path_of("out"),
                                 .errors = path_of("err")};
    assert_int_equal(host_run(&apart), 0);
    check_file("out", "got hello\n");
    check_file("err", "bad\n");
    struct host_command joined = {
        .words = SH(script), .input = path_of("in"), .output = path_of("out"), .joined = true};
    assert_int_equal(host_run(&joined), 0); /* what was in it is gone */
    check_file("out", "got hello\nbad\n");
    struct lk_buf output = {0};
    struct host_command captured = {.words = SH(script), .input = path_of("in"), .joined = true};
    lk_buf_add(&output, "before ", 7);
    assert_int_equal(host_capture(&captured, &output), 0);
    assert_string_equal(output.data, "before got hello\nbad\n");
    lk_buf_free(&output);
}

/* More than a pipe holds. */
static void long_output(void **state)
{
    struct lk_buf output = {0};
    struct host_command command = {.words = SH("head -c 1000000 /dev/zero; exit 3")};
    assert_int_equal(host_capture(&command, &output), 3);
    assert_int_equal(output.size, 1000000);
    lk_buf_free(&output);
}

static void places_and_names(void **state)
{
    struct lk_buf output = {0};
    struct host_command command = {
        .words = (const char *const[]){"./called-so", "-c", "echo $0; pwd", NULL},
        .path = "/bin/sh",
        .folder = folder};
    assert_int_equal(host_capture(&command, &output), 0);
    char expected[600], real[512];
    assert_non_null(realpath(folder, real));
    snprintf(expected, sizeof expected, "./called-so\n%s\n", real);
    assert_string_equal(output.data, expected);
    lk_buf_free(&output);
}

static void environment(void **state)
{
    static const char *const changes[] = {"TEST_NEW=1", "TEST_OLD=changed", "TEST_GONE",
                                          "TEST_EMPTY=", NULL};
    struct lk_buf output = {0};
    setenv("TEST_OLD", "old", 1);
    setenv("TEST_GONE", "x", 1);
    setenv("TEST_OLDER", "kept", 1);
    struct host_command command = {
        .words = SH("echo $TEST_NEW,$TEST_OLD,${TEST_GONE-unset},${TEST_EMPTY-unset},$TEST_OLDER"),
        .environment = changes};
    assert_int_equal(host_capture(&command, &output), 0);
    assert_string_equal(output.data, "1,changed,unset,,kept\n");
    assert_string_equal(getenv("TEST_OLD"), "old");
    lk_buf_free(&output);
}

static void alarms(void **state)
{
    double begin = lk_seconds();
    struct host_command command = {.words = (const char *const[]){"/bin/sleep", "30", NULL},
                                   .seconds = 1};
    assert_int_equal(host_run(&command), 128 + SIGALRM);
    assert_true(lk_seconds() - begin < 20);
}

static void programs_on_path(void **state)
{
    char *before = strdup(getenv("PATH")), expected[600];
    assert_true(host_write_file(path_of("tool"), "#!/bin/sh\n", 10, NULL));
    setenv("PATH", folder, 1);
    assert_null(host_find_program(arena, "tool")); /* not executable */
    assert_int_equal(chmod(path_of("tool"), 0755), 0);
    snprintf(expected, sizeof expected, "%s/tool", folder);
    assert_string_equal(host_find_program(arena, "tool"), expected);
    assert_string_equal(host_find_program(arena, expected), expected);
    assert_null(host_find_program(arena, folder)); /* a folder is not a program, though it is
                                                      executable */
    assert_null(host_find_program(arena, "sh"));
    setenv("PATH", "/nowhere::/bin", 1);
    assert_string_equal(host_find_program(arena, "sh"), "/bin/sh");
    setenv("PATH", before, 1);
    free(before);
}

/* Limits ----------------------------------------------------------------------------------------*/

static enum host_end limited(const char *script, const struct host_limits *limits, int *status)
{
    struct host_command command = {.words = SH(script), .output = path_of("log"), .joined = true};
    return host_run_limited(&command, limits, status);
}

static void within_limits(void **state)
{
    struct host_limits limits = {.seconds = 60, .mib = 1000};
    int status;
    assert_int_equal(limited("cat; echo done; exit 5", &limits, &status), HOST_ENDED);
    assert_int_equal(status, 5);
    check_file("log", "done\n"); /* cat had no input */
    assert_int_equal(limited("exit 127", &limits, &status), HOST_ENDED);
    assert_int_equal(status, 127);
    struct host_command missing = {.words = (const char *const[]){"/nowhere/program", NULL}};
    assert_int_equal(host_run_limited(&missing, &limits, &status), HOST_NOT_STARTED);
}

/* Little processor time, but some in each second: others have the machine. */
static void on_a_busy_machine(void **state)
{
    struct host_limits limits = {.seconds = 1, .mib = 1000};
    int status;
    const char *slow = "i=0; while [ $i -lt 25 ]; do i=$((i + 1)); j=0; "
                       "while [ $j -lt 5000 ]; do j=$((j + 1)); done; sleep 0.1; done; exit 4";
    double begin = lk_seconds();
    assert_int_equal(limited(slow, &limits, &status), HOST_ENDED);
    assert_int_equal(status, 4);
    assert_true(lk_seconds() - begin > 2);
    assert_int_equal(limited("while :; do :; done", &limits, &status), HOST_TOO_SLOW);
}

static void beyond_limits(void **state)
{
    struct host_limits limits = {.seconds = 1, .mib = 1000};
    int status;
    double begin = lk_seconds();
    char script[700];
    snprintf(script, sizeof script, "(sleep 8; echo late > %s) & sleep 60", path_of("late"));
    assert_int_equal(limited(script, &limits, &status), HOST_TOO_SLOW);
    assert_true(lk_seconds() - begin < 20);
    limits.seconds = 60;
    assert_int_equal(limited("while :; do echo 0123456789012345678901234567890123456789; done",
                             &limits, &status),
                     HOST_TOO_LOUD);
    limits.mib = 32;
    limits.reserves = true;
    assert_int_equal(
        limited("x=$(head -c 100000000 /dev/zero | tr '\\0' x); sleep 60", &limits, &status),
        HOST_TOO_BIG);
    volatile sig_atomic_t interrupted = 1;
    limits.mib = 1000;
    limits.interrupted = &interrupted;
    assert_int_equal(limited("sleep 60", &limits, &status), HOST_INTERRUPTED);
    while (lk_seconds() - begin < 9) /* what it had started was killed with it */
        sleep(1);
    assert_int_equal(access(path_of("late"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses),         cmocka_unit_test(what_does_not_start),
        cmocka_unit_test(words_stay_words), cmocka_unit_test(streams),
        cmocka_unit_test(long_output),      cmocka_unit_test(places_and_names),
        cmocka_unit_test(environment),      cmocka_unit_test(alarms),
        cmocka_unit_test(programs_on_path), cmocka_unit_test(within_limits),
        cmocka_unit_test(beyond_limits),    cmocka_unit_test(on_a_busy_machine),
    };
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
