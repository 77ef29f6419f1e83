/*
 * test_api_gemm.c: lk_gemm with random shapes, layouts, pitches, batches and epilogues. The numbers
 * are small whole ones, so that every sum is exact and the result is one rounding away from it;
 * what lies between rows and behind the matrices must stay as it was. LOCKSTEP_TEST_SEED=N repeats
 * a run.
 */
#include "api_tools.h"

#include <math.h>

enum { ROUNDS = 60 };

/* A table of one shape, for which plan.c would choose another kernel, in the empty folder that
 * open_gpu has put in the user's place. */
static bool write_table(void)
{
    char command[128], path[128];
    snprintf(command, sizeof command, "mkdir -p '%s/lockstep/tuned'", getenv("XDG_DATA_HOME"));
    snprintf(path, sizeof path, "%s/lockstep/tuned/sim-nvidia-h200.json", getenv("XDG_DATA_HOME"));
    FILE *file = system(command) == 0 ? fopen(path, "w") : NULL;
    if (!file)
        return false;
    fputs("{\"format\": \"lockstep tuned 1\", \"tables\": [{\"family\": \"gemm_fused\", "
          "\"gpu\": \"NVIDIA H200\", \"time\": \"modelled\", \"rows\": [{\"where\": "
          "\"type=bf16 order=rr epilogue=none\", \"problem\": \"m=40 n=264 k=520 type=bf16\", "
          "\"variant\": \"tiles_bf16_rr\", \"tunables\": {\"WIDTH\": 192, \"GROUP\": 4}}]}]}",
          file);
    return fclose(file) == 0;
}

static int close_all(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s/lockstep'", getenv("XDG_DATA_HOME"));
    return system(command) != 0 ? -1 : close_gpu(state);
}

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || !write_table() || lk_open(NULL) != LK_OK ? -1 : 0;
}

struct case_ {
    lk_gemm_desc desc;
    struct matrix a, b, c, d, bias;
};

static double silu(double x)
{
    return x / (1 + exp(-x));
}

/* Before the activation. */
static double sum_at(const struct case_ *t, int64_t matrix, int64_t row, int64_t column)
{
    double sum = 0;
    for (int64_t i = 0; i < t->desc.k; i++)
        sum += number_at(&t->a, matrix, row, i) * number_at(&t->b, matrix, i, column);
    sum *= (double)t->desc.alpha;
    if (t->desc.beta != 0)
        sum += (double)t->desc.beta * number_at(&t->c, matrix, row, column);
    if (t->bias.device)
        sum += number_at(&t->bias, 0, 0, t->desc.bias_for_rows ? row : column);
    return sum;
}

static double result_at(const struct case_ *t, int64_t matrix, int64_t row, int64_t column)
{
    switch (t->desc.activation) {
    case LK_RELU:
        return fmax(sum_at(t, matrix, row, column), 0);
    case LK_GELU: {
        double x = sum_at(t, matrix, row, column);
        return x * 0.5 * erfc(-x * M_SQRT1_2);
    }
    case LK_SILU:
        return silu(sum_at(t, matrix, row, column));
    case LK_SILU_GATE:
        return silu(sum_at(t, matrix, row, 2 * column)) * sum_at(t, matrix, row, 2 * column + 1);
    case LK_IDENTITY:
    case LK_GELU_TANH: /* lk_gemm refuses it */
        break;
    }
    return sum_at(t, matrix, row, column);
}

/* Every number of D, and everything around it. */
static void compare(struct case_ *t)
{
    /* An approximation may fall to the other side of a rounding; in f32 it has some units itself.
     */
    static const double two_units[] = {[LK_BF16] = 0x1p-7, [LK_F16] = 0x1p-10, [LK_F32] = 1e-5};
    bool exact = t->desc.activation == LK_IDENTITY || t->desc.activation == LK_RELU;
    fetch_matrix(&t->d);
    for (int64_t matrix = 0; matrix < t->d.batch; matrix++)
        for (int64_t row = 0; row < t->d.rows; row++)
            for (int64_t column = 0; column < t->d.columns; column++)
                must_be(&t->d, matrix, row, column, result_at(t, matrix, row, column),
                        exact ? 0 : two_units[t->desc.type]);
}

static void run_case(struct case_ *t, bool wide)
{
    lk_gemm_desc *desc = &t->desc;
    enum zoo_type type = zoo_type_of(desc->type);
    bool gate = desc->activation == LK_SILU_GATE, has_bias = any(2);
    bool same_a = any(4) == 0, same_b = any(4) == 0;
    t->a = make_matrix(type, desc->a_order, desc->m, desc->k, desc->batch, wide, same_a);
    t->b = make_matrix(type, desc->b_order, desc->k, desc->n, desc->batch, wide, same_b);
    t->c = make_matrix(type, desc->d_order, desc->m, desc->n, desc->batch, wide, false);
    t->d = make_matrix(type, desc->d_order, desc->m, gate ? desc->n / 2 : desc->n, desc->batch,
                       wide, false);
    if (has_bias)
        t->bias =
            make_matrix(type, LK_ROWS, 1, desc->bias_for_rows ? desc->m : desc->n, 1, false, false);
    desc->a_pitch = t->a.pitch;
    desc->b_pitch = t->b.pitch;
    desc->c_pitch = t->c.pitch;
    desc->d_pitch = t->d.pitch;
    desc->a_stride = same_a ? LK_SAME : t->a.stride;
    desc->b_stride = same_b ? LK_SAME : t->b.stride;
    desc->c_stride = t->c.stride;
    desc->d_stride = t->d.stride;
    poison(&t->d);
    must(lk_gemm(NULL, desc, t->a.device, t->b.device, desc->beta != 0 ? t->c.device : NULL,
                 t->bias.device, t->d.device));
    must(lk_wait(NULL));
    compare(t);
    free_matrix(&t->a);
    free_matrix(&t->b);
    free_matrix(&t->c);
    free_matrix(&t->d);
    if (has_bias)
        free_matrix(&t->bias);
}

static void random_products(void **state)
{
    (void)state;
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        struct case_ t = {0};
        bool wide = any(4) != 0;
        t.desc = (lk_gemm_desc){
            .type = (lk_type)any(3),
            .m = any(5) == 0 ? any(300) : any(70) + 1,
            .n = any(4) == 0 ? any(200) : (any(30) + 1) * 8,
            .k = any(4) == 0 ? any(300) : any(20) * 8,
            .batch = any(3) == 0 ? any(3) + 1 : 1,
            .a_order = (lk_order)any(2),
            .b_order = (lk_order)any(2),
            .d_order = (lk_order)any(2),
            .alpha = any(2) ? 1 : 0.5F,
            .beta = any(3) ? 0 : -2,
            .activation = (lk_activation)any(5),
            .bias_for_rows = (int)any(2),
        };
        t.desc.tf32 = t.desc.type == LK_F32 && any(2);
        if (t.desc.activation == LK_SILU_GATE) {
            t.desc.n += t.desc.n % 2;
            t.desc.d_order = LK_ROWS;
        }
        print_message(
            "# %d: type %d%s, m %lld n %lld k %lld batch %lld, orders %d%d%d, activation %d, "
            "%s\n",
            round, t.desc.type, t.desc.tf32 ? " in tf32" : "", (long long)t.desc.m,
            (long long)t.desc.n, (long long)t.desc.k, (long long)t.desc.batch, t.desc.a_order,
            t.desc.b_order, t.desc.d_order, t.desc.activation, wide ? "wide" : "narrow");
        run_case(&t, wide);
    }
}

/* More matrices than a grid has blocks in one direction, and a c that is not read. */
static void many_matrices(void **state)
{
    (void)state;
    enum { BATCH = 70000 };
    lk_gemm_desc desc = LK_GEMM_DESC(LK_F32, 1, 1, 1);
    float *numbers = malloc(BATCH * sizeof *numbers);
    for (int i = 0; i < BATCH; i++)
        numbers[i] = (float)(i % 1000);
    float *a = on_device(numbers, BATCH * sizeof *numbers), *d = on_device(NULL, BATCH * sizeof *d);
    desc.batch = BATCH;
    must(lk_gemm(NULL, &desc, a, a, (void *)(uintptr_t)64, NULL, d));
    must(lk_wait(NULL));
    must(lk_copy_from(numbers, d, BATCH * sizeof *numbers));
    for (int i = 0; i < BATCH; i++)
        assert_true(numbers[i] == (float)((i % 1000) * (i % 1000)));
    free(numbers);
    must(lk_free(a));
    must(lk_free(d));
}

/* The same call again finds its plan; with another pointer it must not. */
static void remembered_plans(void **state)
{
    (void)state;
    lk_gemm_desc desc = LK_GEMM_DESC(LK_BF16, 16, 16, 16);
    uint16_t one[256], two[256], got[256];
    for (int i = 0; i < 256; i++) {
        one[i] = zoo_to_bf16(1);
        two[i] = zoo_to_bf16(2);
    }
    void *a = on_device(one, sizeof one), *b = on_device(two, sizeof two);
    void *d = on_device(NULL, sizeof got);
    const void *factors[3][2] = {{a, a}, {a, b}, {b, b}};
    static const float wants[] = {16, 32, 64};
    for (int round = 0; round < 6; round++) {
        must(lk_gemm(NULL, &desc, factors[round % 3][0], factors[round % 3][1], NULL, NULL, d));
        must(lk_wait(NULL));
        must(lk_copy_from(got, d, sizeof got));
        assert_true(zoo_from_bf16(got[255]) == wants[round % 3]);
    }
    must(lk_unload());
    must(lk_gemm(NULL, &desc, a, b, NULL, NULL, d));
    must(lk_free(a));
    must(lk_free(b));
    must(lk_free(d));
}

/* In f32 all digits count; in TF32 a factor has 11 bits. */
static void rounded_to_tf32(void **state)
{
    (void)state;
    enum { SIDE = 16 };
    float fine[SIDE * SIDE], ones[SIDE * SIDE], got[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        fine[i] = 1 + 0x1p-12F;
        ones[i] = 1;
    }
    void *a = on_device(fine, sizeof fine), *b = on_device(ones, sizeof ones);
    void *d = on_device(NULL, sizeof got);
    lk_gemm_desc desc = LK_GEMM_DESC(LK_F32, SIDE, SIDE, SIDE);
    for (int round = 0; round < 8; round++) {
        desc.tf32 = round % 2;
        desc.a_order = (lk_order)(round / 2 % 2);
        desc.b_order = (lk_order)(round / 4);
        must(lk_gemm(NULL, &desc, a, b, NULL, NULL, d));
        must(lk_copy_from(got, d, sizeof got));
        for (int i = 0; i < SIDE * SIDE; i++)
            assert_true(got[i] == (desc.tf32 ? SIDE : SIDE * (1 + 0x1p-12F)));
    }
    must(lk_free(a));
    must(lk_free(b));
    must(lk_free(d));
}

static void refused(void **state)
{
    (void)state;
    void *a = on_device(NULL, 8192), *b = on_device(NULL, 8192), *d = on_device(NULL, 8192);
    const lk_gemm_desc good = LK_GEMM_DESC(LK_BF16, 16, 16, 16);
#define REFUSES(change, words, ...)                                                                \
    do {                                                                                           \
        lk_gemm_desc desc = good;                                                                  \
        change;                                                                                    \
        must_fail(lk_gemm(NULL, &desc, __VA_ARGS__), LK_BAD_ARGUMENT, words);                      \
    } while (0)
    must(lk_gemm(NULL, &good, a, b, NULL, NULL, d));
    must_fail(lk_gemm(NULL, NULL, a, b, NULL, NULL, d), LK_BAD_ARGUMENT, "LK_GEMM_DESC");
    REFUSES(desc.m = -1, "m is -1", a, b, NULL, NULL, d);
    REFUSES(desc.k = (int64_t)1 << 40, "k is", a, b, NULL, NULL, d);
    REFUSES(desc.type = (lk_type)7, "type is 7", a, b, NULL, NULL, d);
    REFUSES(desc.a_pitch = 8, "a_pitch is 8; a row of a has 16", a, b, NULL, NULL, d);
    REFUSES((desc.batch = 2, desc.d_stride = 5), "d_stride is 5", a, b, NULL, NULL, d);
    REFUSES((desc.batch = 2, desc.d_stride = LK_SAME), "a matrix of its own", a, b, NULL, NULL, d);
    REFUSES(desc.tf32 = 1, "tf32 is for LK_F32", a, b, NULL, NULL, d);
    REFUSES(desc.beta = 1, "c is NULL", a, b, NULL, NULL, d);
    REFUSES((desc.activation = LK_SILU_GATE, desc.n = 15), "even", a, b, NULL, NULL, d);
    REFUSES((desc.activation = LK_SILU_GATE, desc.d_order = LK_COLUMNS), "by rows", a, b, NULL,
            NULL, d);
    REFUSES((void)0, "d is NULL", a, b, NULL, NULL, NULL);
    REFUSES((void)0, "a and d overlap", a, b, NULL, NULL, a);
    REFUSES((void)0, "not aligned", (char *)a + 1, b, NULL, NULL, d);
    REFUSES((void)0, "not memory that the GPU can reach", (void *)(uintptr_t)64, b, NULL, NULL, d);
    REFUSES((desc.m = 4096, desc.k = 4096), "fewer than", a, b, NULL, NULL, d);
    must(lk_free(a));
    must(lk_free(b));
    must(lk_free(d));
}

static void explained(void **state)
{
    (void)state;
    char text[400];
    lk_gemm_desc desc = LK_GEMM_DESC(LK_BF16, 4096, 4096, 4096);
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "tiles_256_plain"));
    desc.m = 1;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "skinny_8_plain"));
    desc.type = LK_F32;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "general_f32"));
    desc.tf32 = 1;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "gemm_fused/tiles_tf32_rr, kernel tiles_tf32"));
    desc.a_order = LK_COLUMNS;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "gemm_fused/mma_sync_tf32"));
    desc.k = -1;
    must_fail(lk_gemm_explain(&desc, text, sizeof text), LK_BAD_ARGUMENT, "k is -1");
}

/* A row of a table speaks of its shape and of what is very near. */
static void chosen_by_a_table(void **state)
{
    (void)state;
    if (!is_simulated())
        skip(); /* the table is one for a simulated H200 */
    char text[400];
    lk_gemm_desc desc = LK_GEMM_DESC(LK_BF16, 40, 264, 520);
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "tiles_192_plain"));
    assert_non_null(strstr(text, "table of 'lockstep tune'"));
    desc.m = 42;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "tiles_192_plain"));
    desc.m = 60;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_null(strstr(text, "table"));
    desc.m = 40;
    desc.b_order = LK_COLUMNS;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_null(strstr(text, "table"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_products),   cmocka_unit_test(many_matrices),
        cmocka_unit_test(remembered_plans),  cmocka_unit_test(rounded_to_tf32),
        cmocka_unit_test(refused),           cmocka_unit_test(explained),
        cmocka_unit_test(chosen_by_a_table),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
