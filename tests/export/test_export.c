/*
 * test_export.c: the parts of 'lockstep zoo export': expressions that are evaluated and found, the
 * families' own account of their floors, headers without what is not used, and every variant
 * exported. What the programs do is tested by run.sh, with nvcc.
 */
#include "export/export.h"
#include "export/fields.h"
#include "export/fit.h"
#include "export/pieces.h"
#include "export/source.h"

#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Expressions -----------------------------------------------------------------------------------*/

static void test_evaluate(void **state)
{
    const struct export_constant names[] = {{"n", 1000, true}, {"rows", 7, true}};
    const struct {
        const char *text;
        enum export_arithmetic arithmetic;
        double value;
    } rows[] = {
        {"n", EXPORT_WHOLE, 1000},
        {"(n + 7) / 8", EXPORT_WHOLE, 125},
        {"(n + 7) / 8", EXPORT_REAL, 125.875},
        {"4.0 * n * (1 + 50.0f / 100) + 8", EXPORT_REAL, 6008},
        {"n < rows ? n : rows", EXPORT_WHOLE, 7},
        {"rows < n ? 1 : 2", EXPORT_WHOLE, 1},
        {"1 - 2 * 30.0f / 100", EXPORT_SINGLE, (double)(1 - 2 * 30.0f / 100)},
        {"-n + 1", EXPORT_WHOLE, -999},
        {"exp(-1.0 * rows)", EXPORT_REAL, exp(-7)},
    };
    double value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(export_evaluate(rows[i].text, names, 2, rows[i].arithmetic, &value));
        assert_true(value == rows[i].value);
    }
    static const char *const wrong[] = {"", "n +", "m", "(n", "n)", "n ? 1", "4 n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(export_evaluate(wrong[i], names, 2, EXPORT_WHOLE, &value));
}

/* Numbers for n, BLOCK, ROWS and sms in some samples. */
static const double samples[][4] = {
    {1048576, 256, 8, 132}, {2097152, 256, 8, 132}, {3145732, 256, 8, 132}, {131072, 256, 8, 132},
    {1048577, 256, 8, 132}, {1048576, 128, 8, 132}, {99999, 512, 8, 132},   {1048576, 256, 2, 132},
    {5000000, 256, 4, 132}, {1048576, 256, 8, 7},   {99999, 256, 8, 1000},  {99999999, 512, 4, 108},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static struct export_fit *make_fit(void)
{
    static const char *const names[] = {"n", "BLOCK", "ROWS", "sms"};
    static const enum export_atom_kind kinds[] = {EXPORT_SIZE, EXPORT_TUNABLE, EXPORT_TUNABLE,
                                                  EXPORT_DEVICE};
    struct export_fit *fit = calloc(1, sizeof *fit);
    for (unsigned i = 0; i < 4; i++) {
        struct export_atom *atom = export_add_atom(fit, kinds[i], names[i]);
        for (unsigned s = 0; s < SAMPLES; s++)
            atom->value[s] = samples[s][i];
    }
    fit->named = 4;
    fit->sample_count = SAMPLES;
    return fit;
}

static double up(double a, double b)
{
    return ceil(a / b);
}
static double of_block(double n, double block, double rows, double sms)
{
    return 2 * block + 64;
}
static double of_shared(double n, double block, double rows, double sms)
{
    return 16 * block * rows;
}
static double of_half(double n, double block, double rows, double sms)
{
    return block / 2;
}
static double of_tiles(double n, double block, double rows, double sms)
{
    return up(n, 4 * block * rows);
}
static double of_warps(double n, double block, double rows, double sms)
{
    return up(n * 32, block);
}
static double of_limited(double n, double block, double rows, double sms)
{
    return fmin(up(n, block), sms * rows);
}
static double of_nothing(double n, double block, double rows, double sms)
{
    return fmod(n * n, 1009) + block;
}

static void test_fit(void **state)
{
    const struct {
        double (*value)(double, double, double, double);
        const char *text; /* NULL: there is none */
    } rows[] = {
        {of_block, "2 * BLOCK + 64"},
        {of_shared, "16 * BLOCK * ROWS"},
        {of_half, "BLOCK / 2"},
        {of_tiles, "ceil_div(n, 4 * BLOCK * ROWS)"},
        {of_warps, "ceil_div(32 * n, BLOCK)"},
        {of_limited, "lesser(ceil_div(n, BLOCK), ROWS * sms)"},
        {of_nothing, NULL},
    };
    struct export_fit *fit = make_fit();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value[EXPORT_SAMPLES];
        struct export_expression expression;
        struct lk_buf text = {0};
        for (unsigned s = 0; s < SAMPLES; s++)
            value[s] = rows[i].value(samples[s][0], samples[s][1], samples[s][2], samples[s][3]);
        bool found = export_fit(fit, value, EXPORT_FIT_ALL, &expression);
        assert_int_equal(found, rows[i].text != NULL);
        if (!found)
            continue;
        export_print(fit, &expression, &text);
        assert_string_equal(text.data, rows[i].text);
        for (unsigned s = 0; s < SAMPLES; s++)
            assert_true(export_value(fit, &expression, s) == value[s]);
        lk_buf_free(&text);
    }
    free(fit);
}

/* What is made of a count gets its name. */
static void test_names(void **state)
{
    struct export_fit *fit = make_fit();
    double value[EXPORT_SAMPLES];
    struct export_expression expression;
    struct lk_buf text = {0};
    for (unsigned s = 0; s < SAMPLES; s++)
        value[s] = of_tiles(samples[s][0], samples[s][1], samples[s][2], samples[s][3]);
    assert_true(export_fit(fit, value, EXPORT_FIT_ALL, &expression));
    export_name(fit, &expression);
    assert_int_equal(export_name_of(fit, &expression), 4);
    export_name(fit, &expression);
    assert_int_equal(fit->atom_count, 5);
    for (unsigned s = 0; s < SAMPLES; s++)
        value[s] = 8 * value[s] + 16;
    assert_true(export_fit(fit, value, EXPORT_FIT_ALL, &expression));
    export_print(fit, &expression, &text);
    assert_string_equal(text.data, "8 * count_4 + 16");
    bool used[EXPORT_ATOMS] = {false};
    export_mark(fit, &expression, used);
    assert_true(used[0] && used[1] && used[2] && !used[3] && used[4]);
    lk_buf_free(&text);
    free(fit);
}

/* Sources ---------------------------------------------------------------------------------------*/

static void test_prune(void **state)
{
    static const char header[] =
        "/* what it is for */\n"
        "\n"
        "/* Loads -----*/\n"
        "\n"
        "/* Adds: { */\n"
        "static __device__ int add(int a, int b)\n"
        "{\n"
        "    return inner(a) + b;\n"
        "}\n"
        "static __device__ int inner(int a) { return a; }\n"
        "\n"
        "// Subtracts.\n"
        "template <class T> static __device__ __forceinline__ T subtract(T a)\n"
        "{\n"
        "    return -a;\n"
        "}\n"
        "#define TWICE(x)  \\\n"
        "    ((x) + (x))\n"
        "#define ONCE(x) (x)\n"
        "struct pair {\n"
        "    static __device__ int of(int a) { return a; }\n"
        "};\n";
    static const char source[] = "__global__ void k() { add(1, ONCE(2)); }\n";
    struct export_parts parts = {0};
    struct lk_buf text = {0};
    export_add_part(&parts, header, strlen(header), true);
    export_add_part(&parts, source, strlen(source), false);
    export_join_parts(&parts, &text);
    assert_string_equal(text.data, "/* what it is for */\n"
                                   "\n"
                                   "/* Adds: { */\n"
                                   "__device__ int add(int a, int b)\n"
                                   "{\n"
                                   "    return inner(a) + b;\n"
                                   "}\n"
                                   "__device__ int inner(int a) { return a; }\n"
                                   "#define ONCE(x) (x)\n"
                                   "struct pair {\n"
                                   "    static __device__ int of(int a) { return a; }\n"
                                   "};\n"
                                   "__global__ void k() { add(1, ONCE(2)); }\n");
    lk_buf_free(&text);
}

/* What a macro names by pasting stays, and only that. */
static void test_prune_pasted(void **state)
{
    static const char header[] = "#define WIDE_8 8\n"
                                 "#define WIDE_16 16\n"
                                 "#define OTHER_8 8\n"
                                 "#define WIDE(n) WIDE_##n\n";
    static const char source[] = "__global__ void k() { WIDE(8); }\n";
    struct export_parts parts = {0};
    struct lk_buf text = {0};
    export_add_part(&parts, header, strlen(header), true);
    export_add_part(&parts, source, strlen(source), false);
    export_join_parts(&parts, &text);
    assert_non_null(strstr(text.data, "#define WIDE_8 8"));
    assert_non_null(strstr(text.data, "#define WIDE_16 16"));
    assert_null(strstr(text.data, "OTHER_8"));
    lk_buf_free(&text);
}

static void test_fields(void **state)
{
    static const char source[] =
        "struct several {\n"
        "    int first;       /* a ; in a comment, and a } */\n"
        "    tensor_map a, b; // two\n"
        "    const void *in, *more;\n"
        "    void *out;\n"
        "    long long pitch,\n        stride;\n"
        "    float scale;\n"
        "};\n"
        "struct odd {\n    short x;\n};\n"
        "#define KERNEL(n) \\\n"
        "    __global__ void name_##n(const __grid_constant__ several g) \\\n    { }\n"
        "__global__ void other(odd x)\n{ }\n"
        "__global__ void pointer(several *x)\n{ }\n";
    static const struct {
        const char *name;
        enum export_field_kind kind;
        size_t offset;
    } wanted[] = {
        {"first", EXPORT_FIELD_INT, 0},      {"a", EXPORT_FIELD_MAP, 128},
        {"b", EXPORT_FIELD_MAP, 256},        {"in", EXPORT_FIELD_POINTER, 384},
        {"more", EXPORT_FIELD_POINTER, 392}, {"out", EXPORT_FIELD_POINTER, 400},
        {"pitch", EXPORT_FIELD_LONG, 408},   {"stride", EXPORT_FIELD_LONG, 416},
        {"scale", EXPORT_FIELD_FLOAT, 424},
    };
    struct export_fields fields;
    assert_true(export_read_fields(source, "name_8", &fields));
    assert_string_equal(fields.type, "several");
    assert_int_equal(fields.bytes, 512);
    assert_int_equal(fields.count, sizeof wanted / sizeof *wanted);
    for (unsigned i = 0; i < fields.count; i++) {
        assert_string_equal(fields.field[i].name, wanted[i].name);
        assert_int_equal(fields.field[i].kind, wanted[i].kind);
        assert_int_equal(fields.field[i].offset, wanted[i].offset);
    }
    assert_false(export_read_fields(source, "other", &fields));
    assert_false(export_read_fields(source, "pointer", &fields));
}

static void test_types(void **state)
{
    static const char source[] =
        "extern \"C\" __global__ void __launch_bounds__(256)\n"
        "scan(const float *in, long long n, float4 *__restrict__ out, unsigned)\n{\n}\n"
        "#define KERNEL(name, T) \\\n"
        "    __global__ void name(const T *in, float *out, int n) \\\n"
        "    { }\n"
        "__global__ void sums(ARGUMENTS(float))\n{\n}\n";
    char type[64];
    assert_true(export_argument_type(source, "scan", 4, 0, type));
    assert_string_equal(type, "const float *");
    assert_true(export_argument_type(source, "scan", 4, 1, type));
    assert_string_equal(type, "long long");
    assert_true(export_argument_type(source, "scan", 4, 2, type));
    assert_string_equal(type, "float4 *");
    assert_false(export_argument_type(source, "scan", 4, 3, type));
    assert_false(export_argument_type(source, "scan", 4, 4, type));
    assert_false(export_argument_type(source, "can", 4, 0, type));
    assert_false(export_argument_type(source, "made", 3, 0, type)); /* of type T */
    assert_true(export_argument_type(source, "made", 3, 1, type));
    assert_string_equal(type, "float *");
    assert_false(export_argument_type(source, "made", 5, 1, type));
    assert_false(export_argument_type(source, "sums", 3, 0, type)); /* of a macro */
    assert_false(export_argument_type(source, "sums", 3, 1, type));
    assert_true(export_argument_name(source, "scan", 4, 1, type));
    assert_string_equal(type, "n");
    assert_true(export_argument_name(source, "made", 3, 2, type));
    assert_string_equal(type, "n");
    assert_false(export_argument_name(source, "scan", 4, 4, type));
}

/* Families --------------------------------------------------------------------------------------*/

/* Variants that run another family's kernels are not exported. */
static bool is_exported(const struct zoo_variant *variant)
{
    return variant->launch && !variant->borrows;
}
static bool has_exports(const struct zoo_family *family)
{
    bool any = false;
    for (const struct zoo_variant *variant = family->variants; variant->name; variant++)
        any |= is_exported(variant);
    return any;
}

/* Exported programs state the floor in C; it is the family's own. */
static void test_floors(void **state)
{
    for (size_t f = 0; zoo_families[f]; f++) {
        const struct zoo_family *family = zoo_families[f];
        const char *const *lists[] = {family->edges, family->bench};
        unsigned compared = 0;
        for (unsigned l = 0; l < 2 && has_exports(family); l++) {
            size_t count;
            char *message;
            struct zoo_problem *problems = zoo_problem_list(family, lists[l], &count, &message);
            assert_non_null(problems);
            for (size_t i = 0; i < count; i++) {
                double bytes, flops, wanted = family->bytes(&problems[i]);
                if (wanted < 1000) /* none of its sizes is zero */
                    continue;
                if (!export_floor(&problems[i], &bytes, &flops, &message))
                    fail_msg("%s: %s", family->name, message);
                if (bytes == 0) /* 'zoo export' refuses such a problem */
                    continue;
                compared++;
                struct lk_buf text = {0};
                zoo_problem_print(&problems[i], &text);
                if (fabs(bytes - wanted) > 1e-9 * wanted || flops != family->flops(&problems[i]))
                    fail_msg("%s %s: %.17g bytes and %.17g operations, not %.17g and %.17g",
                             family->name, text.data, bytes, flops, wanted,
                             family->flops(&problems[i]));
                lk_buf_free(&text);
            }
            free(problems);
        }
        if (has_exports(family) && compared == 0)
            fail_msg("%s: no problem of its lists is exported", family->name);
    }
}

/* Does main use a number only after the line that defines it? */
static void check_order(const char *name, const char *body)
{
    static const char *const types[] = {"    const long long ", "    int ", "    char *"};
    for (const char *line = body; *line; line += strcspn(line, "\n") + 1)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            size_t length = strlen(types[i]);
            char defined[64], *before;
            if (strncmp(line, types[i], length) != 0 ||
                sscanf(line + length, "%63[a-z0-9_]", defined) != 1)
                continue;
            before = strndup(body, (size_t)(line - body));
            for (char *comment = before; (comment = strstr(comment, "//"));)
                memset(comment, ' ', strcspn(comment, "\n"));
            if (export_has_word(before, defined))
                fail_msg("%s uses %s before its definition", name, defined);
            free(before);
        }
}

/* Nothing of ours is left to include, and no directive to carry out. */
static void check_program(const char *name, const char *text)
{
    static const char *const wanted[] = {"int main(", "fill_inputs(", "check_results(",
                                         "cudaEventElapsedTime", "__global__"};
    assert_non_null(text);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(text, wanted[i]))
            fail_msg("%s lacks %s", name, wanted[i]);
    if (strstr(text, "#include \"") || strstr(text, "\n@") || strstr(text, "@{"))
        fail_msg("%s has an #include or a directive left", name);
    const char *host = strstr(text, "/* Running it");
    assert_non_null(host);
    for (const char *line = host; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 100)
            fail_msg("%s has a line of %zu columns: %.80s", name, strcspn(line, "\n"), line);
    check_order(name, strstr(host, "int main("));
    for (const char *at = host; (at = strstr(at, "()")); at += 2)
        if (isalnum((unsigned char)at[2])) /* a type that was a macro's call */
            fail_msg("%s casts to nothing: %.40s", name, at);
}

/* The simulated driver of this build. */
static void load_driver(void)
{
    const char *build = getenv("BUILD");
    char path[4096];
    snprintf(path, sizeof path, "%s/libcuda.so.1", build ? build : "build");
    if (!dlopen(path, RTLD_NOW))
        fail_msg("%s", dlerror());
}

static void test_every_variant(void **state)
{
    struct zoo_device device;
    char *message, name[80];
    unsigned seen = 0, count = 0;
    const char *all = getenv("EXPORT_ALL"); /* else every third of them */
    load_driver();
    if (!zoo_device_open("sim:h200", &device, &message))
        fail_msg("%s", message);
    for (size_t f = 0; zoo_families[f]; f++)
        for (const struct zoo_variant *variant = zoo_families[f]->variants; variant->name;
             variant++) {
            struct export_request request = {
                .device = &device, .variant = variant, .file = "name.cu"};
            struct lk_buf text = {0};
            if (!is_exported(variant) || (!all && seen++ % 3))
                continue;
            snprintf(name, sizeof name, "%s/%s", zoo_families[f]->name, variant->name);
            if (!export_small_problem(&device, zoo_families[f], variant, &request.problem,
                                      &message) ||
                !export_program(&request, &text, &message))
                fail_msg("%s: %s", name, message);
            check_program(name, text.data);
            count++;
            lk_buf_free(&text);
        }
    assert_true(count > (all ? 150 : 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evaluate),      cmocka_unit_test(test_fit),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_prune),
        cmocka_unit_test(test_prune_pasted),  cmocka_unit_test(test_fields),
        cmocka_unit_test(test_types),         cmocka_unit_test(test_floors),
        cmocka_unit_test(test_every_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
