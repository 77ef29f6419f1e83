/*
 * test_mutate.c: the mistakes that are put into a solution are where they should be, and nowhere
 * else.
 */
#include "learn/mutate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h comes last: it needs the ones above. */
#include <cmocka.h>

/* names: what there must be, in order, ended by NULL. */
static void expect(const char *source, const char *const *names)
{
    size_t count;
    struct mutant *mutants = mutants_find(source, &count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(names[i]);
        assert_string_equal(mutants[i].name, names[i]);
    }
    assert_null(names[count]);
    free(mutants);
}

static void test_kinds(void **unused)
{
    static const char source[] = "__shared__ float tile[32][33], other[N + 1];\n"
                                 "int i = blockIdx.x * 8 + threadIdx.y;\n"
                                 "if (i < n && i >= 0)\n"
                                 "    tile[i][0] += in[i + at[i]];\n"
                                 "__syncthreads();\n";
    static const char *const names[] = {"1:27 33 to 32",
                                        "1:39 no padding",
                                        "2:9 blockIdx.x to blockIdx.y",
                                        "2:26 threadIdx.y to threadIdx.x",
                                        "3:7 < to <=",
                                        "3:16 >= to >",
                                        "4:11 one further",
                                        "4:14 one further",
                                        "4:16 += to =",
                                        "4:30 one further",
                                        "4:31 one further",
                                        "5:1 __syncthreads(); dropped",
                                        NULL};
    expect(source, names);
}

static void test_left_alone(void **unused)
{
    static const char source[] = "#include <math.h>\n"
                                 "// a[i] < b\n"
                                 "/* x += 1;\n"
                                 "   __syncthreads(); */\n"
                                 "const char *text = \"a[1] < \\\" b\";\n"
                                 "int part[9], x = 1 << 3, y = x >> 1; y <<= 2; p->x = '<';\n"
                                 "int threadIdx_x = my__syncthreads;\n";
    static const char *const names[] = {NULL};
    expect(source, names);
    expect("", names);
}

static void test_apply(void **unused)
{
    static const char source[] = "__syncthreads();\nx[i] += s[3];";
    static const char *const wanted[] = {";\nx[i] += s[3];", "__syncthreads();\nx[i + 1] += s[3];",
                                         "__syncthreads();\nx[i] = s[3];",
                                         "__syncthreads();\nx[i] += s[3 + 1];"};
    size_t count;
    struct mutant *mutants = mutants_find(source, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        char *text = mutant_apply(source, &mutants[i]);
        assert_string_equal(text, wanted[i]);
        free(text);
    }
    free(mutants);
}

/* Brackets that do not match, and a text that ends anywhere. */
static void test_odd(void **unused)
{
    static const char source[] = "]]][[[[[[[[[[[[i]]]]]]]]]]]]]] \"open\n'x /* <";
    char part[sizeof source];
    for (size_t length = 0; length < sizeof source; length++) {
        size_t count;
        memcpy(part, source, length);
        part[length] = 0;
        struct mutant *mutants = mutants_find(part, &count);
        for (size_t i = 0; i < count; i++)
            free(mutant_apply(part, &mutants[i]));
        free(mutants);
    }
}

/* Kernels that game the limits: what they are called, and that they are whole. */
static void test_whole(void **unused)
{
    (void)unused;
    static const char source[] = "// the kernel twice\n"
                                 "__global__ void twice(const float *x, float *y, int n)\n"
                                 "{\n"
                                 "    int i = blockIdx.x * 32 + threadIdx.x;\n"
                                 "    if (i < n)\n"
                                 "        y[i] = 2 * x[i];\n"
                                 "}\n";
    static const char *const names[] = {"thread 0 only",   "lane 0 only",  "all blocks all work",
                                        "last n left out", "6:9 constant", "6:9 by atomics"};
    size_t count;
    struct mutant *mutants = mutants_find_whole(source, "twice", false, &count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(mutants[i].name, names[i]);
        assert_non_null(strstr(mutants[i].whole, "__global__ void twice("));
    }
    assert_non_null(strstr(mutants[0].whole, "int i = lk_block.x * 32 + lk_thread.x;"));
    assert_non_null(strstr(mutants[3].whole, "lk_body(x, y, n - 1, thread, block)"));
    assert_non_null(strstr(mutants[4].whole, "        y[i] = 3;\n"));
    assert_non_null(strstr(mutants[5].whole, "        atomicExch(&y[i], 2 * x[i]);\n"));
    mutants_free(mutants, count);
    mutants = mutants_find_whole("void dot(const float *x, float *s, int n)\n{\n    s[0] = n;\n}\n",
                                 "dot", true, &count);
    assert_int_equal(count, 2);
    assert_string_equal(mutants[0].name, "last n left out");
    assert_non_null(
        strstr(mutants[0].whole, "static void lk_body(const float *x, float *s, int n)"));
    assert_string_equal(mutants[1].name, "3:5 constant");
    mutants_free(mutants, count);
    assert_null(mutants_find_whole("int x;", "dot", true, &count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds), cmocka_unit_test(test_left_alone),
        cmocka_unit_test(test_apply), cmocka_unit_test(test_odd),
        cmocka_unit_test(test_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
