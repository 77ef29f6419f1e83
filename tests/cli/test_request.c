/*
 * test_request.c: lockstep's own words told apart from nvcc's and the program's.
 */
#include "cli/request.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>

static void check_words(const struct lk_list *list, const char *expected)
{
    char joined[1024] = "";
    for (size_t i = 0; i < list->count; i++) {
        strcat(joined, i ? " " : "");
        strcat(joined, list->items[i]);
    }
    assert_string_equal(joined, expected);
}

static void request_tells_words_apart(void **state)
{
    struct lk_arena *arena = lk_arena_create();
    struct request request;
    const char *self = __FILE__; /* a source file that is there */
    char *words[] = {"-O3",
                     "-I",
                     "x.cu",
                     (char *)self,
                     "--gpu",
                     "sim:t4",
                     "-Xcompiler",
                     "-Wall",
                     "-arch",
                     "sm_80",
                     "-code=sm_80",
                     "-gencode=arch=compute_90a,code=sm_90a",
                     "-cudart=static",
                     "-G",
                     "--threads=3",
                     "-lm",
                     "--",
                     "-c",
                     NULL};
    assert_true(request_parse(arena, "run", 18, words, &request));
    char expected[512];
    snprintf(expected, sizeof expected, "-O3 -I x.cu %s -Xcompiler -Wall -G -lm", self);
    check_words(&request.nvcc.words, expected);
    check_words(&request.nvcc.inputs, self);
    check_words(&request.nvcc.archs, "80 90a");
    check_words(&request.nvcc.cudart_words, "-cudart=static");
    assert_string_equal(request.gpu, "sim:t4");
    assert_string_equal(request.threads, "3");
    assert_null(request.limit);
    assert_true(request.nvcc.device_debug);
    assert_string_equal(request.arguments[0], "-c");
    assert_null(request.arguments[1]);

    struct lk_list command = {0};
    nvcc_command(arena, &request.nvcc, "nvcc", "75", true, &command);
    snprintf(expected, sizeof expected,
             "nvcc -cudart shared -gencode arch=compute_80,code=compute_80 -gencode "
             "arch=compute_90a,code=compute_90a -O3 -I x.cu %s -Xcompiler -Wall -G -lm",
             self);
    check_words(&command, expected);
    lk_list_free(&command);

    nvcc_command(arena, &request.nvcc, "nvcc", "90", false, &command);
    snprintf(expected, sizeof expected,
             "nvcc -arch sm_80 -code=sm_80 -gencode=arch=compute_90a,code=sm_90a -cudart=static "
             "-O3 -I x.cu %s -Xcompiler -Wall -G -lm",
             self);
    check_words(&command, expected);
    lk_list_free(&command);
    request_free(&request);
    lk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_tells_words_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
