/*
 * test_api_scaled.c: lk_gemm where a and b have 8 bits, with random shapes, layouts, pitches, types
 * and scales. The numbers are small whole ones and the scales are powers of two, so that every sum
 * is exact and the result is one rounding away from it; what lies between rows must stay as it was.
 * LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_tools.h"

#include <math.h>

enum { ROUNDS = 80, BLOCK = 128 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

struct scales {
    float *host;
    void *device;
    int64_t each; /* of a matrix of the batch; 0: all have the same */
};

static struct scales make_scales(int64_t each, int64_t batch, bool same)
{
    struct scales s = {.each = same ? 0 : each};
    size_t count = (size_t)(same ? each : each * batch);
    s.host = malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        s.host[i] = ldexpf(1, (int)any(4) - 2);
    s.device = on_device(s.host, count * sizeof(float));
    return s;
}

struct case_ {
    lk_gemm_desc desc;
    struct matrix a, b, c, d, bias;
    struct scales a_scale, b_scale, d_scale, computed;
    void *workspace;
};

static double scale_at(const struct scales *s, int64_t matrix, int64_t index)
{
    return (double)s->host[matrix * s->each + index];
}

/* Before the activation. */
static double sum_at(const struct case_ *t, int64_t matrix, int64_t row, int64_t column)
{
    const lk_gemm_desc *desc = &t->desc;
    int64_t blocks = (desc->k + BLOCK - 1) / BLOCK;
    double sum = 0, scale = (double)desc->alpha;
    for (int64_t i = 0; i < desc->k; i++) {
        double product = number_at(&t->a, matrix, row, i) * number_at(&t->b, matrix, i, column);
        if (desc->scaling == LK_SCALE_BLOCKS)
            product *= scale_at(&t->a_scale, matrix, i / BLOCK * desc->m + row) *
                       scale_at(&t->b_scale, matrix, column / BLOCK * blocks + i / BLOCK);
        sum += product;
    }
    if (desc->scaling != LK_SCALE_BLOCKS) {
        bool lines = desc->scaling == LK_SCALE_LINES;
        scale *= desc->a_scale ? scale_at(&t->a_scale, matrix, lines ? row : 0) : 1;
        scale *= desc->b_scale ? scale_at(&t->b_scale, matrix, lines ? column : 0) : 1;
    }
    sum *= scale;
    if (desc->beta != 0)
        sum += (double)desc->beta * number_at(&t->c, matrix, row, column);
    if (t->bias.device)
        sum += number_at(&t->bias, 0, 0, desc->bias_for_rows ? row : column);
    return sum;
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

static double result_at(const struct case_ *t, int64_t matrix, int64_t row, int64_t column)
{
    if (t->desc.activation == LK_SILU_GATE)
        return silu(sum_at(t, matrix, row, 2 * column)) * sum_at(t, matrix, row, 2 * column + 1);
    double x = sum_at(t, matrix, row, column);
    return t->desc.activation == LK_RELU   ? fmax(x, 0)
           : t->desc.activation == LK_GELU ? x * 0.5 * erfc(-x * M_SQRT1_2)
           : t->desc.activation == LK_SILU ? silu(x)
                                           : x;
}

static bool is_exact(const struct case_ *t)
{
    return t->desc.activation == LK_IDENTITY || t->desc.activation == LK_RELU;
}

/* `count` neighbours of a row that have one scale: the largest of them must have become 448. Where
 * an activation is an approximation, its results may be off by `slack`. */
static void compare_quantised(struct case_ *t, int64_t matrix, int64_t row, int64_t from,
                              int64_t count, double scale)
{
    double largest = 0, slack = is_exact(t) ? 0 : 1e-5;
    for (int64_t i = from; i < from + count; i++)
        largest = fmax(largest, fabs(result_at(t, matrix, row, i)));
    double want = largest > 0x1p-110 ? largest / 448 : 1;
    if (largest > 100 * slack || slack == 0)
        if (!(fabs(scale - want) <= 1e-5 * want + slack / 448))
            fail_msg("the scale of matrix %lld, row %lld, column %lld is %g, not %g",
                     (long long)matrix, (long long)row, (long long)from, scale, want);
    for (int64_t i = from; i < from + count; i++) {
        double x = result_at(t, matrix, row, i), is = number_at(&t->d, matrix, row, i) * scale;
        /* Half a unit, and what a division may be off. */
        double bound = fmax(fabs(x) * (0x1p-4 + 1e-4), 0x1p-10 * 1.0001 * scale);
        if (!(fabs(is - x) <= bound + slack * (1 + fabs(x))))
            fail_msg("d[%lld][%lld][%lld] is %g, not %g", (long long)matrix, (long long)row,
                     (long long)i, is, x);
    }
}

/* Every number of D, its scales, and everything around it. */
static void compare(struct case_ *t)
{
    static const double two_units[] = {
        [ZOO_BF16] = 0x1p-7, [ZOO_F16] = 0x1p-10, [ZOO_F32] = 1e-5, [ZOO_E4M3] = 0x1p-3};
    bool by_blocks = t->desc.d_scaling == LK_SCALE_BLOCKS;
    double given = t->desc.d_scale ? (double)t->d_scale.host[0] : 1;
    int64_t width = by_blocks ? BLOCK : t->d.columns;
    fetch_matrix(&t->d);
    if (t->computed.device)
        must(lk_copy_from(t->computed.host, t->computed.device,
                          (size_t)(t->computed.each * t->d.batch) * sizeof(float)));
    for (int64_t matrix = 0; matrix < t->d.batch; matrix++)
        for (int64_t row = 0; row < t->d.rows; row++) {
            for (int64_t i = 0; t->computed.device && i < t->d.columns; i += width)
                compare_quantised(t, matrix, row, i,
                                  t->d.columns - i < width ? t->d.columns - i : width,
                                  scale_at(&t->computed, matrix, i / width * t->d.rows + row));
            for (int64_t column = 0; !t->computed.device && column < t->d.columns; column++)
                must_be(&t->d, matrix, row, column, given * result_at(t, matrix, row, column),
                        is_exact(t) ? 0 : two_units[t->d.type]);
        }
}

static void make_case(struct case_ *t, bool wide)
{
    lk_gemm_desc *desc = &t->desc;
    int64_t blocks = (desc->k + BLOCK - 1) / BLOCK, batch = desc->batch;
    bool lines = desc->scaling == LK_SCALE_LINES, by_blocks = desc->scaling == LK_SCALE_BLOCKS;
    bool same_a = any(4) == 0, same_b = any(4) == 0;
    int64_t columns = desc->activation == LK_SILU_GATE ? desc->n / 2 : desc->n;
    lk_type added = desc->d_type == LK_E4M3 ? LK_BF16 : desc->d_type;
    t->a =
        make_matrix(zoo_type_of(desc->type), desc->a_order, desc->m, desc->k, batch, wide, same_a);
    t->b = make_matrix(zoo_type_of(desc->b_type ? desc->b_type : desc->type), desc->b_order,
                       desc->k, desc->n, batch, wide, same_b);
    t->c = make_matrix(zoo_type_of(added), desc->d_order, desc->m, desc->n, batch, wide, false);
    t->d =
        make_matrix(zoo_type_of(desc->d_type), desc->d_order, desc->m, columns, batch, wide, false);
    if (any(2))
        t->bias = make_matrix(zoo_type_of(added), LK_ROWS, 1,
                              desc->bias_for_rows ? desc->m : desc->n, 1, false, false);
    t->a_scale = make_scales(by_blocks ? blocks * desc->m : lines ? desc->m : 1, batch, same_a);
    t->b_scale = make_scales(by_blocks ? blocks * ((desc->n + BLOCK - 1) / BLOCK)
                             : lines   ? desc->n
                                       : 1,
                             batch, same_b);
    t->d_scale = make_scales(1, 1, true);
    if (desc->d_scaling)
        t->computed = make_scales(
            desc->d_scaling == LK_SCALE_LINES ? desc->m : desc->m * ((columns + BLOCK - 1) / BLOCK),
            batch, false);
    desc->a_pitch = t->a.pitch;
    desc->b_pitch = t->b.pitch;
    desc->c_pitch = t->c.pitch;
    desc->d_pitch = t->d.pitch;
    desc->a_stride = same_a ? LK_SAME : t->a.stride;
    desc->b_stride = same_b ? LK_SAME : t->b.stride;
    desc->c_stride = t->c.stride;
    desc->d_stride = t->d.stride;
    desc->a_scale = by_blocks || any(4) ? t->a_scale.device : NULL;
    desc->b_scale = by_blocks || any(4) ? t->b_scale.device : NULL;
    desc->d_scale = !desc->d_scaling && any(2) ? t->d_scale.device : NULL;
    desc->d_scale_out = t->computed.device;
    must(lk_gemm_workspace(desc, &desc->workspace_bytes));
    desc->workspace = t->workspace = on_device(NULL, desc->workspace_bytes);
}

static void run_case(struct case_ *t, bool wide)
{
    make_case(t, wide);
    poison(&t->d);
    must(lk_gemm(NULL, &t->desc, t->a.device, t->b.device, t->c.device, t->bias.device,
                 t->d.device));
    must(lk_wait(NULL));
    compare(t);
    struct matrix *const matrices[] = {&t->a, &t->b, &t->c, &t->d, &t->bias};
    struct scales *const scales[] = {&t->a_scale, &t->b_scale, &t->d_scale, &t->computed};
    for (int i = 0; i < 5; i++)
        free_matrix(matrices[i]);
    for (int i = 0; i < 4; i++) {
        free(scales[i]->host);
        if (scales[i]->device)
            must(lk_free(scales[i]->device));
    }
    must(lk_free(t->workspace));
}

static void random_products(void **state)
{
    (void)state;
    static const lk_type factors[][2] = {
        {LK_E4M3, 0}, {LK_E4M3, 0}, {LK_E4M3, LK_E5M2}, {LK_E5M2, LK_E4M3}, {LK_S8, 0}};
    static const lk_type outs[] = {LK_BF16, LK_F16, LK_F32, LK_E4M3, LK_E4M3};
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        struct case_ t = {0};
        bool wide = any(4) != 0, usual = any(3) != 0;
        const lk_type *pair = factors[any(5)];
        t.desc = (lk_gemm_desc){
            .type = pair[0],
            .b_type = pair[1],
            .d_type = outs[any(5)],
            .scaling = (lk_scaling)any(pair[0] == LK_S8 ? 2 : 3),
            .m = any(5) == 0 ? any(300) : any(70) + 1,
            .n = any(4) == 0 ? any(200) : (any(20) + 1) * 16,
            .k = any(4) == 0 ? any(300) : any(20) * 16,
            .batch = any(3) ? 1 : any(3) + 1,
            .a_order = usual ? LK_ROWS : (lk_order)any(2),
            .b_order = usual ? LK_COLUMNS : (lk_order)any(2),
            .alpha = any(2) ? 1 : 0.5F,
            .beta = any(3) ? 0 : -2,
            .activation = any(2) ? LK_IDENTITY : (lk_activation)any(5),
            .bias_for_rows = (int)any(2),
        };
        t.desc.n += t.desc.activation == LK_SILU_GATE && t.desc.n % 2;
        if (t.desc.d_type == LK_E4M3)
            t.desc.d_scaling = (lk_scaling)any(3);
        if (t.desc.scaling != LK_SCALE_BLOCKS)
            t.desc.fast_sums = (int)any(2);
        if (t.desc.scaling != LK_SCALE_BLOCKS && t.desc.activation != LK_SILU_GATE &&
            !t.desc.d_scaling)
            t.desc.d_order = (lk_order)any(2);
        print_message(
            "# %d: types %d %d %d, scaling %d %d, m %lld n %lld k %lld batch %lld, orders "
            "%d%d%d, activation %d, %s\n",
            round, t.desc.type, t.desc.b_type, t.desc.d_type, t.desc.scaling, t.desc.d_scaling,
            (long long)t.desc.m, (long long)t.desc.n, (long long)t.desc.k, (long long)t.desc.batch,
            t.desc.a_order, t.desc.b_order, t.desc.d_order, t.desc.activation,
            wide ? "wide" : "narrow");
        run_case(&t, wide);
    }
}

/* The same product with other scales, sums and types of D is another plan. */
static void remembered_plans(void **state)
{
    (void)state;
    enum { SIDE = 16 };
    unsigned char ones[SIDE * SIDE];
    float scales[2] = {2, 4}, got[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        ones[i] = zoo_to_e4m3(1);
    void *a = on_device(ones, sizeof ones), *d = on_device(NULL, sizeof got);
    float *s = on_device(scales, sizeof scales);
    lk_gemm_desc desc = LK_GEMM_DESC(LK_E4M3, SIDE, SIDE, SIDE);
    desc.b_order = LK_COLUMNS;
    desc.d_type = LK_F32;
    for (int round = 0; round < 6; round++) {
        desc.a_scale = round % 3 ? s + round % 3 - 1 : NULL;
        must(lk_gemm(NULL, &desc, a, a, NULL, NULL, d));
        must(lk_copy_from(got, d, sizeof got));
        assert_true(got[0] == (round % 3 == 0 ? 16 : round % 3 == 1 ? 32 : 64));
    }
    must(lk_free(a));
    must(lk_free(d));
    must(lk_free(s));
}

static void refused(void **state)
{
    (void)state;
    void *a = on_device(NULL, 8192), *b = on_device(NULL, 8192), *d = on_device(NULL, 8192);
    float *s = on_device(NULL, 64);
    lk_gemm_desc good = LK_GEMM_DESC(LK_E4M3, 16, 16, 16);
    good.b_order = LK_COLUMNS;
#define REFUSES(change, words, ...)                                                                \
    do {                                                                                           \
        lk_gemm_desc desc = good;                                                                  \
        change;                                                                                    \
        must_fail(lk_gemm(NULL, &desc, __VA_ARGS__), LK_BAD_ARGUMENT, words);                      \
    } while (0)
    must(lk_gemm(NULL, &good, a, b, NULL, NULL, d));
    REFUSES(desc.b_type = LK_S8, "b_type does not go with type", a, b, NULL, NULL, d);
    REFUSES((desc.type = LK_E5M2), "one of them must be LK_E4M3", a, b, NULL, NULL, d);
    REFUSES(desc.d_type = LK_S8, "d_type is none of", a, b, NULL, NULL, d);
    REFUSES(desc.scaling = (lk_scaling)3, "scaling is none of", a, b, NULL, NULL, d);
    REFUSES(desc.beta = 1, "c is NULL", a, b, NULL, NULL, d);
    REFUSES((desc.activation = LK_SILU_GATE, desc.n = 15), "even", a, b, NULL, NULL, d);
    REFUSES((void)0, "bias (0x", a, b, NULL, (char *)s + 1, d);
    REFUSES(desc.d_scaling = LK_SCALE_LINES, "is for a d in LK_E4M3", a, b, NULL, NULL, d);
    good.d_type = LK_E4M3;
    REFUSES(desc.d_scaling = (lk_scaling)3, "d_scaling is none of", a, b, NULL, NULL, d);
    REFUSES((desc.d_scaling = LK_SCALE_BLOCKS, desc.d_scale = s), "set one of them", a, b, NULL,
            NULL, d);
    REFUSES((desc.d_scaling = LK_SCALE_BLOCKS, desc.d_order = LK_COLUMNS), "need d by rows", a, b,
            NULL, NULL, d);
    REFUSES(desc.d_scaling = LK_SCALE_BLOCKS, "d_scale_out is NULL", a, b, NULL, NULL, d);
    REFUSES((desc.d_scaling = LK_SCALE_BLOCKS, desc.d_scale_out = d), "d and d_scale_out overlap",
            a, b, NULL, NULL, d);
    REFUSES((desc.d_scaling = LK_SCALE_LINES, desc.d_scale_out = s),
            "workspace_bytes is 0; lk_gemm_workspace asks for 1024", a, b, NULL, NULL, d);
    REFUSES((desc.d_scaling = LK_SCALE_LINES, desc.d_scale_out = s, desc.workspace_bytes = 1024,
             desc.workspace = b),
            "b and workspace overlap", a, b, NULL, NULL, d);
    good.d_type = LK_BF16;
    REFUSES((desc.type = LK_S8, desc.k = 131072), "above 131071", a, b, NULL, NULL, d);
    REFUSES((desc.type = LK_S8, desc.scaling = LK_SCALE_BLOCKS), "not for LK_S8", a, b, NULL, NULL,
            d);
    REFUSES((desc.fast_sums = 1, desc.scaling = LK_SCALE_BLOCKS), "fast_sums does not go", a, b,
            NULL, NULL, d);
    REFUSES((desc.d_order = LK_COLUMNS, desc.scaling = LK_SCALE_BLOCKS), "needs d by rows", a, b,
            NULL, NULL, d);
    REFUSES(desc.scaling = LK_SCALE_BLOCKS, "a_scale is NULL", a, b, NULL, NULL, d);
    REFUSES(desc.a_scale = (float *)(void *)((char *)s + 2), "not aligned to 4", a, b, NULL, NULL,
            d);
    REFUSES((desc.scaling = LK_SCALE_LINES, desc.a_scale = s, desc.m = 64), "a_scale", a, b, NULL,
            NULL, d);
    REFUSES(desc.b_scale = d, "b_scale and d overlap", a, b, NULL, NULL, d);
    REFUSES((desc.type = LK_BF16, desc.a_scale = s), "belong to types of 8 bits", a, b, NULL, NULL,
            d);
    REFUSES((desc.type = LK_F16, desc.d_type = LK_F32), "belong to types of 8 bits", a, b, NULL,
            NULL, d);
    must(lk_free(a));
    must(lk_free(b));
    must(lk_free(d));
    must(lk_free(s));
}

static void explained(void **state)
{
    (void)state;
    char text[500];
    lk_gemm_desc desc = LK_GEMM_DESC(LK_E4M3, 4096, 4096, 4096);
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "gemm_scaled/mma_sync, kernel mma_any_e4m3"));
    desc.b_order = LK_COLUMNS;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "gemm_scaled/tiles_e4m3, kernel tiles_"));
    desc.fast_sums = 1;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "tiles_e4m3_fast"));
    desc.type = LK_S8;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "tiles_s8"));
    desc.m = 20;
    must(lk_gemm_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "gemm_scaled/skinny_s8, kernel skinny_32"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_products),
        cmocka_unit_test(remembered_plans),
        cmocka_unit_test(refused),
        cmocka_unit_test(explained),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
