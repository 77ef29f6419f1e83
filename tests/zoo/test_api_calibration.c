/*
 * test_api_calibration.c: lk_calibrate, lk_awq_scales and lk_hadamard: what their results must be
 * by definition, in random problems: how many numbers a percentile cuts off, that no other ratio or
 * exponent makes a smaller error through lk_quantise and lk_dequantise, that a rotation keeps
 * lengths and undoes itself; wrong arguments. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

enum { ROUNDS = 12 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static const float largest_of[] = {448, 57344, 127, 7};

struct case_ {
    lk_calibrate_desc desc;
    int64_t n, groups, length; /* length: of a group; the last of a row may be shorter */
    enum zoo_type type;
    struct numbers x;
};

static struct case_ draw(lk_calibration method)
{
    static const lk_sharing sharings[] = {LK_PER_TENSOR, LK_PER_ROW, LK_PER_128};
    int kind = (int)any(3);
    struct case_ c = {.desc = LK_CALIBRATE_DESC((lk_type)any(3), (lk_number_format)any(4),
                                                sharings[kind], method, 1 + any(4), 1 + any(300))};
    c.n = c.desc.rows * c.desc.cols;
    c.type = zoo_type_of(c.desc.type);
    c.length = kind == 0 ? c.n : kind == 1 ? c.desc.cols : 128;
    c.groups = kind == 0 ? 1 : kind == 1 ? c.desc.rows : c.desc.rows * ((c.desc.cols + 127) / 128);
    c.x = make_numbers(c.type, c.n, -1, 1);
    for (int64_t i = 0; i < c.n; i += 1 + any(60)) /* outliers */
        zoo_put(c.type, c.x.host, (size_t)i, 20 * number_of(&c.x, i));
    must(lk_copy_to(c.x.device, c.x.host, c.x.count * zoo_type_bytes[c.type]));
    return c;
}

/* Which group a number is in. */
static int64_t group_of(const struct case_ *c, int64_t i)
{
    int64_t row = i / c->desc.cols, col = i % c->desc.cols;
    if (c->desc.sharing == LK_PER_TENSOR)
        return 0;
    return c->desc.sharing == LK_PER_ROW ? row : row * ((c->desc.cols + 127) / 128) + col / 128;
}

static void calibrate(const struct case_ *c, float *scales)
{
    size_t bytes;
    struct output out = make_output(ZOO_F32, c->groups);
    must(lk_calibrate_workspace(&c->desc, &bytes));
    void *workspace = on_device(NULL, bytes);
    must(lk_calibrate(NULL, &c->desc, c->x.device, (float *)(void *)(out.device + AROUND),
                      workspace, bytes));
    fetch_output(&out);
    memcpy(scales, out.host + AROUND, (size_t)c->groups * sizeof *scales);
    must(lk_free(workspace));
    free_output(&out);
}

/* The squared error of each group with these scales. */
static void errors_of(const struct case_ *c, const float *scales, double *errors)
{
    lk_quantise_desc desc =
        LK_QUANTISE_DESC(c->desc.type, c->desc.format, c->desc.sharing, c->desc.rows, c->desc.cols);
    size_t bytes;
    desc.given = 1;
    must(lk_quantise_workspace(&desc, &bytes));
    float *y = malloc((size_t)c->n * sizeof *y);
    void *q = on_device(NULL, (size_t)c->n), *workspace = on_device(NULL, bytes);
    void *on = on_device(scales, (size_t)c->groups * sizeof *scales);
    void *back = on_device(NULL, (size_t)c->n * sizeof *y);
    must(lk_quantise(NULL, &desc, c->x.device, q, on, NULL, workspace, bytes));
    desc.type = LK_F32; /* so that y is not rounded */
    must(lk_dequantise(NULL, &desc, q, on, NULL, back));
    must(lk_copy_from(y, back, (size_t)c->n * sizeof *y));
    memset(errors, 0, (size_t)c->groups * sizeof *errors);
    for (int64_t i = 0; i < c->n; i++) {
        double d = number_of(&c->x, i) - (double)y[i];
        errors[group_of(c, i)] += d * d;
    }
    void *all[] = {q, workspace, on, back};
    for (int i = 0; i < 4; i++)
        must(lk_free(all[i]));
    free(y);
}

/* As many as asked for are not cut off, and one of them just so. */
static void test_percentile(void **state)
{
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        struct case_ c = draw(round % 3 ? LK_CALIBRATE_PERCENTILE : LK_CALIBRATE_ABSMAX);
        float scales[2000];
        c.desc.percent = (float)(1 + any(100));
        calibrate(&c, scales);
        for (int64_t g = 0; g < c.groups; g++) {
            int64_t all = 0, inside = 0, below = 0;
            double most = (double)scales[g] * (double)largest_of[c.desc.format];
            for (int64_t i = 0; i < c.n; i++) {
                if (group_of(&c, i) != g)
                    continue;
                all++;
                inside += fabs(number_of(&c.x, i)) <= most * (1 + 1e-6);
                below += fabs(number_of(&c.x, i)) < most * (1 - 1e-6);
            }
            double percent = c.desc.method == LK_CALIBRATE_ABSMAX ? 100 : (double)c.desc.percent;
            int64_t wanted = (int64_t)ceil((double)all * (percent / 100));
            assert_true(inside >= wanted && below < wanted);
        }
        free_numbers(&c.x);
    }
}

static void test_least_error(void **state)
{
    for (int round = 0; round < test_rounds(ROUNDS) / 3 + 1; round++) {
        struct case_ c = draw(LK_CALIBRATE_MSE);
        float scales[2000], tried[2000], largest[2000] = {0};
        double least[2000], errors[2000];
        calibrate(&c, scales);
        errors_of(&c, scales, least);
        for (int64_t i = 0; i < c.n; i++) {
            int64_t g = group_of(&c, i);
            largest[g] = fmaxf(largest[g], fabsf((float)number_of(&c.x, i)));
        }
        bool found[2000] = {false};
        for (int r = 0; r < 64; r++) {
            for (int64_t g = 0; g < c.groups; g++) {
                tried[g] = largest[g] * ((float)(80 - r) / 80) / largest_of[c.desc.format];
                found[g] |= tried[g] == scales[g];
            }
            errors_of(&c, tried, errors);
            for (int64_t g = 0; g < c.groups; g++)
                assert_true(least[g] <= errors[g] * (1 + 1e-5) + 1e-30);
        }
        for (int64_t g = 0; g < c.groups; g++)
            assert_true(found[g]);
        free_numbers(&c.x);
    }
}

/* One input in eight is 40 times as large as the others: its weights get finer steps. */
static void test_awq(void **state)
{
    lk_calibrate_desc desc =
        LK_CALIBRATE_DESC(LK_BF16, LK_FORMAT_INT4, LK_PER_128, LK_CALIBRATE_ABSMAX, 32, 256);
    struct numbers w = make_numbers(ZOO_BF16, 32 * 256, -1, 1);
    float means[256], scales[256];
    size_t bytes;
    for (int j = 0; j < 256; j++)
        means[j] = j % 8 == 3 ? 40 : 1;
    must(lk_awq_scales_workspace(&desc, &bytes));
    void *workspace = on_device(NULL, bytes), *of = on_device(means, sizeof means);
    void *to = on_device(NULL, sizeof scales);
    must(lk_awq_scales(NULL, &desc, w.device, of, to, workspace, bytes));
    must(lk_copy_from(scales, to, sizeof scales));
    double e = log((double)scales[3] / (double)scales[0]) / log(40) * 20;
    assert_true(fabs(e - nearbyint(e)) < 1e-3 && e > 0.5 && e < 19.5);
    for (int j = 0; j < 256; j++) /* powers of means around their middle, which is the root of 40 */
        assert_true(fabs((double)scales[j] - pow((double)means[j] / sqrt(40), e / 20)) <
                    1e-4 * (double)scales[j]);
    for (int j = 0; j < 256; j++)
        means[j] = 1;
    must(lk_copy_to(of, means, sizeof means));
    must(lk_awq_scales(NULL, &desc, w.device, of, to, workspace, bytes));
    must(lk_copy_from(scales, to, sizeof scales));
    for (int j = 0; j < 256; j++)
        assert_true(scales[j] == 1);
    must_fail(lk_awq_scales(NULL, &desc, w.device, of, to, NULL, 0), LK_SMALL_WORKSPACE,
              "lk_awq_scales_workspace says how many");
    must(lk_free(to));
    must(lk_free(of));
    must(lk_free(workspace));
    free_numbers(&w);
}

static void test_hadamard(void **state)
{
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        int64_t block = (int64_t)2 << any(15), rows = 1 + any(3);
        lk_hadamard_desc desc =
            LK_HADAMARD_DESC((lk_type)any(3), rows, block * (1 + any(3)), block);
        int64_t n = rows * desc.cols;
        enum zoo_type type = zoo_type_of(desc.type);
        double unit = zoo_precisions[type].unit * 1.01 + 1e-6;
        struct numbers x = make_numbers(type, n, -1, 1);
        struct output y = make_output(type, n);
        must(lk_hadamard(NULL, &desc, x.device, y.device + AROUND));
        fetch_output(&y);
        for (int times = 0; times < 20; times++) { /* by the matrix: signs are parities */
            int64_t at = any(n), from = at / block * block;
            double sum = 0;
            for (int64_t k = 0; k < block; k++) {
                bool odd = __builtin_parityll((unsigned long long)(k & (at - from)));
                sum += (odd ? -1 : 1) * number_of(&x, from + k);
            }
            sum /= sqrt((double)block);
            assert_true(fabs(output_of(&y, at) - sum) <= unit * fabs(sum) + 2e-6 * (double)block);
        }
        must(lk_hadamard(NULL, &desc, y.device + AROUND,
                         y.device + AROUND)); /* in place, and back */
        fetch_output(&y);
        for (int64_t i = 0; i < n;
             i++) /* off by the roundings of a block's numbers, at their worst */
            assert_true(fabs(output_of(&y, i) - number_of(&x, i)) <=
                        unit * (sqrt((double)block) + 2));
        free_output(&y);
        free_numbers(&x);
    }
}

/* Every result of a block with one infinity is an infinity, by its sign in the matrix; of a block
 * with a NaN all are NaN. Neighbours do not notice. */
static void test_not_finite(void **state)
{
    enum { BLOCKS = 4, INFINITE = 1, NAN_IN = 2 };
    for (int log = 1; log <= 15; log++)
        for (int type = LK_BF16; type <= LK_F32; type++) {
            int64_t block = (int64_t)1 << log, n = BLOCKS * block, at = any(block);
            enum zoo_type as = zoo_type_of((lk_type)type);
            lk_hadamard_desc desc = LK_HADAMARD_DESC((lk_type)type, BLOCKS, block, block);
            struct numbers x = make_numbers(as, n, -1, 1);
            struct output y = make_output(as, n);
            zoo_put(as, x.host, (size_t)(INFINITE * block + at), -INFINITY);
            zoo_put(as, x.host, (size_t)(NAN_IN * block + any(block)), NAN);
            must(lk_copy_to(x.device, x.host, x.count * zoo_type_bytes[as]));
            must(lk_hadamard(NULL, &desc, x.device, y.device + AROUND));
            fetch_output(&y);
            for (int64_t i = 0; i < n; i++) {
                double value = output_of(&y, i);
                bool odd = __builtin_parityll((unsigned long long)(i % block & at));
                if (i / block == NAN_IN)
                    assert_true(isnan(value));
                else if (i / block == INFINITE)
                    assert_true(isinf(value) && (value > 0) == odd);
                else
                    assert_true(isfinite(value));
            }
            free_output(&y);
            free_numbers(&x);
        }
}

static void test_wrong(void **state)
{
    lk_calibrate_desc desc =
        LK_CALIBRATE_DESC(LK_BF16, LK_FORMAT_INT8, LK_PER_ROW, LK_CALIBRATE_MSE, 2, 8);
    lk_hadamard_desc rotation = LK_HADAMARD_DESC(LK_BF16, 2, 24, 8);
    struct numbers x = make_numbers(ZOO_BF16, 48, -1, 1);
    char text[500];
    must_fail(lk_calibrate(NULL, NULL, x.device, x.device, NULL, 0), LK_BAD_ARGUMENT,
              "LK_CALIBRATE_DESC makes one");
    must(lk_calibrate_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "calibration/in_registers"));
    desc.sharing = LK_PER_CHANNEL;
    must_fail(lk_calibrate(NULL, &desc, x.device, x.device, NULL, 0), LK_BAD_ARGUMENT,
              "it is LK_PER_TENSOR, LK_PER_ROW or LK_PER_128");
    desc.sharing = LK_PER_ROW;
    desc.method = LK_CALIBRATE_PERCENTILE;
    desc.percent = 0;
    must_fail(lk_calibrate(NULL, &desc, x.device, x.device, NULL, 0), LK_BAD_ARGUMENT,
              "above 0 and at most 100");
    desc.format = LK_FORMAT_NVFP4;
    must_fail(lk_calibrate(NULL, &desc, x.device, x.device, NULL, 0), LK_BAD_ARGUMENT,
              "the others compute their scales");
    must_fail(lk_hadamard(NULL, NULL, x.device, x.device), LK_BAD_ARGUMENT,
              "LK_HADAMARD_DESC makes one");
    must(lk_hadamard_explain(&rotation, text, sizeof text));
    assert_non_null(strstr(text, "hadamard/registers"));
    for (rotation.block = 2048; rotation.block <= 16384; rotation.block *= 2) {
        rotation.cols = rotation.block * 3;
        must(lk_hadamard_explain(&rotation, text, sizeof text));
        assert_non_null(strstr(text, "hadamard/prefetched"));
    }
    rotation.cols = 24;
    rotation.block = 16;
    must_fail(lk_hadamard(NULL, &rotation, x.device, x.device), LK_BAD_ARGUMENT,
              "must be a multiple of block");
    rotation.block = 12;
    must_fail(lk_hadamard(NULL, &rotation, x.device, x.device), LK_BAD_ARGUMENT, "power of two");
    free_numbers(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentile), cmocka_unit_test(test_least_error),
        cmocka_unit_test(test_awq),        cmocka_unit_test(test_hadamard),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
