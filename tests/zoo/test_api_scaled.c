/*
 * test_api_scaled.c: lk_gemm where a and b have 8 bits, with random shapes, layouts, pitches, types
 * and scales. The numbers are small whole ones and the scales are powers of two, so that every sum
 * is exact and the result is one rounding away from it; what lies between rows must stay as it was.
 * LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_tools.h"

#include "zoo/types.h"

#include <math.h>
#include <time.h>

enum { ROUNDS = 60, POISON = 0x5a, BLOCK = 128 };

static uint64_t seed, counter;

static int64_t any(int64_t below)
{
    uint64_t x = seed + ++counter * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (int64_t)((x ^ x >> 31) % (uint64_t)below);
}

static int open_all(void **state)
{
    const char *given = getenv("LOCKSTEP_TEST_SEED");
    seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("# LOCKSTEP_TEST_SEED=%llu\n", (unsigned long long)seed);
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static const enum zoo_type types[] = {
    [LK_BF16] = ZOO_BF16, [LK_F16] = ZOO_F16,   [LK_F32] = ZOO_F32,
    [LK_E4M3] = ZOO_E4M3, [LK_E5M2] = ZOO_E5M2, [LK_S8] = ZOO_S8};

struct matrix {
    enum zoo_type type;
    lk_order order;
    int64_t rows, columns, pitch;
    size_t count;
    void *host, *device;
};

static size_t place(const struct matrix *x, int64_t row, int64_t column)
{
    return (size_t)(x->order == LK_ROWS ? row * x->pitch + column : column * x->pitch + row);
}

/* wide: rows at multiples of 16 bytes, as most programs have them. */
static struct matrix make(enum zoo_type type, lk_order order, int64_t rows, int64_t columns,
                          bool wide)
{
    int64_t along = order == LK_ROWS ? columns : rows, lines = order == LK_ROWS ? rows : columns;
    struct matrix x = {.type = type, .order = order, .rows = rows, .columns = columns};
    x.pitch = wide ? (along + 15) / 16 * 16 + any(2) * 16 : along + any(4);
    x.count = (size_t)(lines * x.pitch + 16);
    x.host = malloc(x.count * zoo_type_bytes[type]);
    for (size_t i = 0; i < x.count; i++)
        zoo_put(type, x.host, i, (double)(any(5) - 2));
    x.device = on_device(x.host, x.count * zoo_type_bytes[type]);
    return x;
}

struct scales {
    float *host;
    void *device;
};

static struct scales make_scales(int64_t count)
{
    struct scales s = {.host = malloc((size_t)(count + 1) * sizeof(float))};
    for (int64_t i = 0; i < count; i++)
        s.host[i] = ldexpf(1, (int)any(4) - 2);
    s.device = on_device(s.host, (size_t)count * sizeof(float));
    return s;
}

struct case_ {
    lk_gemm_desc desc;
    struct matrix a, b, d;
    struct scales a_scale, b_scale, d_scale;
};

static double result_at(const struct case_ *t, int64_t row, int64_t column)
{
    const lk_gemm_desc *desc = &t->desc;
    int64_t blocks = (desc->k + BLOCK - 1) / BLOCK;
    double sum = 0, scale = (double)desc->alpha;
    for (int64_t i = 0; i < desc->k; i++) {
        double product = zoo_get(t->a.type, t->a.host, place(&t->a, row, i)) *
                         zoo_get(t->b.type, t->b.host, place(&t->b, i, column));
        if (desc->scaling == LK_SCALE_BLOCKS)
            product *= (double)t->a_scale.host[i / BLOCK * desc->m + row] *
                       (double)t->b_scale.host[column / BLOCK * blocks + i / BLOCK];
        sum += product;
    }
    if (desc->scaling != LK_SCALE_BLOCKS) {
        bool lines = desc->scaling == LK_SCALE_LINES;
        scale *= desc->a_scale ? (double)t->a_scale.host[lines ? row : 0] : 1;
        scale *= desc->b_scale ? (double)t->b_scale.host[lines ? column : 0] : 1;
    }
    return sum * scale * (desc->d_scale ? (double)t->d_scale.host[0] : 1);
}

/* Every number of D, and everything around it. */
static void compare(const struct case_ *t)
{
    size_t each = zoo_type_bytes[t->d.type];
    unsigned char *got = malloc(t->d.count * each);
    bool *belongs = calloc(t->d.count, 1);
    must(lk_copy_from(got, t->d.device, t->d.count * each));
    for (int64_t row = 0; row < t->d.rows; row++)
        for (int64_t column = 0; column < t->d.columns; column++) {
            size_t at = place(&t->d, row, column);
            unsigned char bits[8];
            zoo_put(t->d.type, bits, 0, result_at(t, row, column));
            double want = zoo_get(t->d.type, bits, 0), is = zoo_get(t->d.type, got, at);
            belongs[at] = true;
            if (is != want)
                fail_msg("d[%lld][%lld] is %g, not %g", (long long)row, (long long)column, is,
                         want);
        }
    for (size_t i = 0; i < t->d.count; i++)
        for (size_t j = 0; !belongs[i] && j < each; j++)
            if (got[i * each + j] != POISON)
                fail_msg("element %zu is none of d, and was written", i);
    free(belongs);
    free(got);
}

static void run_case(struct case_ *t, bool wide)
{
    lk_gemm_desc *desc = &t->desc;
    int64_t blocks = (desc->k + BLOCK - 1) / BLOCK;
    bool lines = desc->scaling == LK_SCALE_LINES, by_blocks = desc->scaling == LK_SCALE_BLOCKS;
    t->a = make(types[desc->type], desc->a_order, desc->m, desc->k, wide);
    t->b = make(types[desc->b_type ? desc->b_type : desc->type], desc->b_order, desc->k, desc->n,
                wide);
    t->d = make(types[desc->d_type], desc->d_order, desc->m, desc->n, wide);
    t->a_scale = make_scales(by_blocks ? blocks * desc->m : lines ? desc->m : 1);
    t->b_scale = make_scales(by_blocks ? blocks * ((desc->n + BLOCK - 1) / BLOCK)
                             : lines   ? desc->n
                                       : 1);
    t->d_scale = make_scales(1);
    desc->a_pitch = t->a.pitch;
    desc->b_pitch = t->b.pitch;
    desc->d_pitch = t->d.pitch;
    desc->a_scale = by_blocks || any(4) ? t->a_scale.device : NULL;
    desc->b_scale = by_blocks || any(4) ? t->b_scale.device : NULL;
    desc->d_scale = any(2) ? t->d_scale.device : NULL;
    size_t bytes = t->d.count * zoo_type_bytes[t->d.type];
    memset(t->d.host, POISON, bytes);
    must(lk_copy_to(t->d.device, t->d.host, bytes));
    must(lk_gemm(NULL, desc, t->a.device, t->b.device, NULL, NULL, t->d.device));
    must(lk_wait(NULL));
    compare(t);
    struct matrix *const matrices[] = {&t->a, &t->b, &t->d};
    struct scales *const scales[] = {&t->a_scale, &t->b_scale, &t->d_scale};
    for (int i = 0; i < 3; i++) {
        free(matrices[i]->host);
        free(scales[i]->host);
        must(lk_free(matrices[i]->device));
        must(lk_free(scales[i]->device));
    }
}

static void random_products(void **state)
{
    (void)state;
    static const lk_type factors[][2] = {
        {LK_E4M3, 0}, {LK_E4M3, 0}, {LK_E4M3, LK_E5M2}, {LK_E5M2, LK_E4M3}, {LK_S8, 0}};
    static const lk_type outs[] = {LK_BF16, LK_F16, LK_F32, LK_E4M3};
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ t = {0};
        bool wide = any(4) != 0, usual = any(3) != 0;
        const lk_type *pair = factors[any(5)];
        t.desc = (lk_gemm_desc){
            .type = pair[0],
            .b_type = pair[1],
            .d_type = outs[any(4)],
            .scaling = (lk_scaling)any(pair[0] == LK_S8 ? 2 : 3),
            .m = any(5) == 0 ? any(300) : any(70) + 1,
            .n = any(4) == 0 ? any(200) : (any(20) + 1) * 16,
            .k = any(4) == 0 ? any(300) : any(20) * 16,
            .a_order = usual ? LK_ROWS : (lk_order)any(2),
            .b_order = usual ? LK_COLUMNS : (lk_order)any(2),
            .alpha = any(2) ? 1 : 0.5F,
        };
        if (t.desc.scaling != LK_SCALE_BLOCKS) {
            t.desc.d_order = (lk_order)any(2);
            t.desc.fast_sums = (int)any(2);
        }
        print_message("# %d: types %d %d %d, scaling %d, m %lld n %lld k %lld, orders %d%d%d, %s\n",
                      round, t.desc.type, t.desc.b_type, t.desc.d_type, t.desc.scaling,
                      (long long)t.desc.m, (long long)t.desc.n, (long long)t.desc.k, t.desc.a_order,
                      t.desc.b_order, t.desc.d_order, wide ? "wide" : "narrow");
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
    REFUSES(desc.batch = 2, "batch is not 1", a, b, NULL, NULL, d);
    REFUSES(desc.beta = 1, "beta and activation must be 0", a, b, d, NULL, d);
    REFUSES(desc.activation = LK_RELU, "beta and activation must be 0", a, b, NULL, NULL, d);
    REFUSES((void)0, "bias must be NULL", a, b, NULL, s, d);
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
