/*
 * test_client_terms.c: findings and advice in the words of Numba and of Triton, and in CUDA C's
 * where it is neither.
 */
#include "report/client_terms.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void clients_are_told_apart(void **state)
{
    assert_int_equal(terms_client(terms_is_python("a/b.py"), "_ZN8__main__3addB2v1Ew"),
                     TERMS_NUMBA);
    assert_int_equal(terms_client(terms_is_python("a/b.py"), "add_kernel"), TERMS_TRITON);
    assert_int_equal(terms_client(terms_is_python("a/b.cu"), "_Z3addPf"), TERMS_CUDA);
    assert_int_equal(terms_client(terms_is_python(NULL), "add"), TERMS_CUDA);
    assert_int_equal(terms_client(terms_is_python("b.py"), NULL), TERMS_CUDA);
    assert_false(terms_is_python(".py"));
}

static void cuda_in_a_string_of_python_is_not_python(void **state)
{
    static const char text[] = "@triton.jit\ndef add(x):\n    tl.store(x, 1)\nsource = r'''\n"
                               "__global__ void add(float *x)\n{\n    *x = 1;\n}'''\n"
                               "def main():\n    add()\n";
    static const bool is_python[] = {true,  true,  true,  true, false,
                                     false, false, false, true, true};
    char path[] = "/tmp/lockstep.test.XXXXXX.py";
    int fd = mkstemps(path, 3);
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(fd);
    for (unsigned i = 0; i < sizeof is_python / sizeof *is_python; i++)
        assert_int_equal(terms_is_python_line(path, i + 1), is_python[i]);
    unlink(path);
    assert_true(terms_is_python_line("is/not/there.py", 3));
    assert_false(terms_is_python_line("b.cu", 3));
}

static void words_are_replaced(void **state)
{
    static const char text[] = "no __syncwarp() here; __syncthreads() (decide by threadIdx.x / 32)";
    struct lk_buf changed = {0};
    assert_ptr_equal(terms_of(TERMS_CUDA, text, &changed), text);
    assert_string_equal(
        terms_of(TERMS_NUMBA, text, &changed),
        "no cuda.syncwarp() here; cuda.syncthreads() (decide by cuda.threadIdx.x // 32)");
    assert_string_equal(terms_of(TERMS_TRITON, "", &changed), "");
    lk_buf_free(&changed);
}

/* A race as the checker writes it; `more` is what its count says at the end of the launch. */
static json_t *race(const char *file, const char *symbol, const char *text, const char *more)
{
    struct check_findings findings;
    char path[] = "/tmp/lockstep.test.XXXXXX", *message = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    char *lines =
        lk_format("{\"id\":3,\"kind\":\"race\",\"kernel\":\"k\",\"symbol\":\"%s\",\"file\":"
                  "\"%s\",\"line\":4,\"block\":[0,0,0],\"thread\":[1,0,0],\"text\":\"%s\","
                  "\"other\":{\"symbol\":\"%s\"}}\n{\"id\":3,\"count\":2%s}\n",
                  symbol, file, text, symbol, more);
    assert_int_equal(write(fd, lines, strlen(lines)), (ssize_t)strlen(lines));
    close(fd);
    free(lines);
    assert_true(check_read(path, NULL, NULL, &findings, &message));
    unlink(path);
    json_t *error = json_incref(json_array_get(findings.errors, 0));
    assert_null(json_object_get(error, "symbol"));
    assert_null(json_object_get(error, "also"));
    assert_null(json_object_get(json_object_get(error, "other"), "symbol"));
    assert_int_equal(json_integer_value(json_object_get(error, "count")), 2);
    check_free(&findings);
    return error;
}

static void remedies_fit_the_scope(void **state)
{
    static const char near[] = "race between threads of a warp: no __syncwarp()";
    static const char far[] = "race between blocks: nothing orders the two blocks";
    static const struct {
        const char *file, *symbol, *text, *more, *told, *remedy;
    } cases[] = {
        {"k.cu", "_Z1kv", near, "", "no __syncwarp()", NULL},
        {"k.cu", "_Z1kv", near, ",\"also\":\"warps\"", "which need __syncthreads()", NULL},
        {"k.cu", "_Z1kv", near, ",\"also\":\"blocks\"", "also between blocks", NULL},
        {"k.py", "_Z1kv", near, "", "no cuda.syncwarp()", "cuda.syncwarp(), or"},
        {"k.py", "_Z1kv", near, ",\"also\":\"warps\"", "need cuda.syncthreads()",
         "cuda.syncthreads() between them"},
        {"k.py", "_Z1kv", near, ",\"also\":\"blocks\"", "also between blocks", "cuda.atomic"},
        {"k.py", "_Z1kv", far, "", far, "cuda.atomic"},
        {"k.py", "k", near, "", "no tl.debug_barrier()", "tl.debug_barrier()"},
        {"k.py", "k", far, "", far, "tl.atomic_add"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *error = race(cases[i].file, cases[i].symbol, cases[i].text, cases[i].more);
        const char *remedy = json_string_value(json_object_get(error, "remedy"));
        assert_non_null(strstr(json_string_value(json_object_get(error, "text")), cases[i].told));
        assert_int_equal(remedy != NULL, cases[i].remedy != NULL);
        if (remedy)
            assert_non_null(strstr(remedy, cases[i].remedy));
        json_decref(error);
    }
}

/* What a person at a Numba or Triton kernel can do about it, for each kind that such kernels have.
 */
static void kinds_have_remedies(void **state)
{
    static const enum finding_kind kinds[] = {FINDING_OUT_OF_BOUNDS, FINDING_MISALIGNED,
                                              FINDING_UNINITIALIZED, FINDING_RACE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        assert_null(terms_remedy(TERMS_CUDA, kinds[i], true, false));
        assert_non_null(terms_remedy(TERMS_NUMBA, kinds[i], true, false));
        assert_non_null(terms_remedy(TERMS_TRITON, kinds[i], true, false));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_are_told_apart),
        cmocka_unit_test(cuda_in_a_string_of_python_is_not_python),
        cmocka_unit_test(words_are_replaced),
        cmocka_unit_test(remedies_fit_the_scope),
        cmocka_unit_test(kinds_have_remedies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
