/*
 * test_api_fused.c: lk_bias_gelu_dropout and lk_bias_dropout_residual beside formulas in double
 * with the mask of lk_dropout; their gradients beside finite differences of those formulas; wrong
 * arguments. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include "zoo/philox.h"

#include <math.h>

enum { ROUNDS = 20 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static const double unit[] = {[LK_BF16] = 0x1.02p-8, [LK_F16] = 0x1.02p-11, [LK_F32] = 1e-6};

struct case_ {
    lk_fused_desc desc;
    int64_t n;
    enum zoo_type type;
    struct numbers x, bias, other; /* other: the residual, or dy */
};

static struct case_ draw(void)
{
    struct case_ c = {.desc = LK_FUSED_DESC((lk_type)any(3), any(20), any(200), (float)any(10) / 10,
                                            (uint64_t)any(1 << 30), (uint64_t)any(1 << 30) << 20)};
    c.desc.function = any(2) ? LK_GELU : LK_GELU_TANH;
    if (any(2)) /* rows at multiples of 16 bytes */
        c.desc.cols &= ~(int64_t)7;
    c.type = zoo_type_of(c.desc.type);
    c.n = c.desc.rows * c.desc.cols;
    c.x = make_numbers(c.type, c.n, -3, 3);
    c.bias = make_numbers(c.type, c.desc.cols, -1, 1);
    c.other = make_numbers(c.type, c.n, -2, 2);
    return c;
}

static void free_case(struct case_ *c)
{
    free_numbers(&c->x);
    free_numbers(&c->bias);
    free_numbers(&c->other);
}

static double scale_of(const struct case_ *c, int64_t i)
{
    struct zoo_dropout d = zoo_dropout_of((double)c->desc.p);
    bool dropped = zoo_dropped(d, c->desc.seed, c->desc.offset, (uint64_t)i);
    return dropped ? 0 : (double)d.scale;
}

static double gelu(lk_activation function, double x)
{
    if (function == LK_GELU)
        return x / 2 * (1 + erf(x / sqrt(2)));
    return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double slope(lk_activation function, double x)
{
    const double h = 1e-5;
    return (gelu(function, x + h) - gelu(function, x - h)) / (2 * h);
}

static double sum_of(const struct case_ *c, int64_t i)
{
    return number_of(&c->x, i) + number_of(&c->bias, i % c->desc.cols);
}

static void must_be_near(double is, double want, double bound, const char *name, int64_t i)
{
    if (!(fabs(is - want) <= bound))
        fail_msg("%s[%lld] is %.9g, must be %.9g", name, (long long)i, is, want);
}

static void test_forward(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = draw();
        struct output y = make_output(c.type, c.n), z = make_output(c.type, c.n);
        must(lk_bias_gelu_dropout(NULL, &c.desc, c.x.device, c.bias.device, y.device + AROUND));
        must(lk_bias_dropout_residual(NULL, &c.desc, c.x.device, c.bias.device, c.other.device,
                                      z.device + AROUND));
        fetch_output(&y);
        fetch_output(&z);
        for (int64_t i = 0; i < c.n; i++) {
            double s = sum_of(&c, i), scale = scale_of(&c, i);
            double one = scale * gelu(c.desc.function, s),
                   other = scale * s + number_of(&c.other, i);
            double slack = 1e-6 * (1 + scale * (1 + fabs(s)));
            must_be_near(output_of(&y, i), one, unit[c.desc.type] * fabs(one) + slack, "y", i);
            must_be_near(output_of(&z, i), other, unit[c.desc.type] * fabs(other) + slack, "y", i);
        }
        free_output(&z);
        free_output(&y);
        free_case(&c);
    }
}

/* dx of every element, and dbias of every column. */
static void compare(const struct case_ *c, bool residual, const struct output *dx,
                    const struct output *dbias)
{
    for (int64_t column = 0; column < c->desc.cols; column++) {
        double sum = 0, size = 0;
        for (int64_t i = column; i < c->n; i += c->desc.cols) {
            double rise = residual ? 1 : slope(c->desc.function, sum_of(c, i));
            double want = scale_of(c, i) * number_of(&c->other, i) * rise;
            double slack = 2e-6 * (1 + scale_of(c, i) * 4 * fabs(number_of(&c->other, i)));
            must_be_near(output_of(dx, i), want, unit[c->desc.type] * fabs(want) + slack, "dx", i);
            sum += want;
            size += fabs(want) + slack;
        }
        must_be_near(output_of(dbias, column), sum,
                     unit[c->desc.type] * fabs(sum) + 4e-6 * size + 2e-6 * (double)c->desc.rows,
                     "dbias", column);
    }
}

static void test_backward(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = draw();
        for (int residual = 0; residual < 2; residual++) {
            struct output dx = make_output(c.type, c.n), dbias = make_output(c.type, c.desc.cols);
            size_t bytes;
            must(residual ? lk_bias_dropout_residual_backward_workspace(&c.desc, &bytes)
                          : lk_bias_gelu_dropout_backward_workspace(&c.desc, &bytes));
            void *workspace = on_device(NULL, bytes);
            if (residual)
                must(lk_bias_dropout_residual_backward(NULL, &c.desc, c.other.device,
                                                       dx.device + AROUND, dbias.device + AROUND,
                                                       workspace, bytes));
            else
                must(lk_bias_gelu_dropout_backward(NULL, &c.desc, c.x.device, c.bias.device,
                                                   c.other.device, dx.device + AROUND,
                                                   dbias.device + AROUND, workspace, bytes));
            fetch_output(&dx);
            fetch_output(&dbias);
            compare(&c, residual, &dx, &dbias);
            must(lk_free(workspace));
            free_output(&dbias);
            free_output(&dx);
        }
        free_case(&c);
    }
}

/* The same mask as lk_dropout's: with x = 1 and nothing else. */
static void test_mask(void **state)
{
    lk_fused_desc desc = LK_FUSED_DESC(LK_F32, 9, 33, 0.4F, 77, 5);
    lk_dropout_desc alone = LK_DROPOUT_DESC(LK_F32, 9 * 33, 0.4F, 77, 5);
    struct numbers x = make_numbers(ZOO_F32, 297, 1, 1), zero = make_numbers(ZOO_F32, 297, 0, 0);
    float one[297], other[297];
    void *y = on_device(NULL, sizeof one);
    must(lk_bias_dropout_residual(NULL, &desc, x.device, zero.device, zero.device, y));
    must(lk_copy_from(one, y, sizeof one));
    must(lk_dropout(NULL, &alone, x.device, y));
    must(lk_copy_from(other, y, sizeof other));
    assert_memory_equal(one, other, sizeof one);
    must(lk_free(y));
    free_numbers(&zero);
    free_numbers(&x);
}

static void test_wrong(void **state)
{
    lk_fused_desc desc = LK_FUSED_DESC(LK_BF16, 2, 8, 0.5F, 1, 2);
    struct numbers x = make_numbers(ZOO_BF16, 16, -1, 1), y = make_numbers(ZOO_BF16, 16, -1, 1);
    char text[500];
    desc.rows = 1; /* a row is as large as the bias */
    must_fail(lk_bias_gelu_dropout(NULL, &desc, x.device, y.device, y.device), LK_BAD_ARGUMENT,
              "bias and y overlap; give");
    must_fail(lk_bias_dropout_residual_backward(NULL, &desc, x.device, y.device, x.device, NULL, 0),
              LK_BAD_ARGUMENT, "dy and dbias overlap; give");
    desc.rows = 2;
    must_fail(lk_bias_gelu_dropout(NULL, NULL, x.device, x.device, y.device), LK_BAD_ARGUMENT,
              "LK_FUSED_DESC makes one");
    must_fail(lk_bias_gelu_dropout(NULL, &desc, x.device, NULL, y.device), LK_BAD_ARGUMENT,
              "bias is NULL");
    must_fail(lk_bias_dropout_residual(NULL, &desc, x.device, x.device, NULL, y.device),
              LK_BAD_ARGUMENT, "residual is NULL");
    must_fail(lk_bias_dropout_residual_backward(NULL, &desc, x.device, y.device, NULL, NULL, 0),
              LK_BAD_ARGUMENT, "dbias is NULL");
    must(lk_bias_gelu_dropout_explain(&desc, 1, text, sizeof text));
    assert_non_null(strstr(text, "fused/overlapped"));
    must(lk_bias_dropout_residual_explain(&desc, 0, text, sizeof text));
    assert_non_null(strstr(text, "lk_bias_dropout_residual(rows=2 cols=8 op=residual"));
    desc.function = LK_SILU;
    must_fail(lk_bias_gelu_dropout(NULL, &desc, x.device, x.device, y.device), LK_BAD_ARGUMENT,
              "it is LK_GELU or LK_GELU_TANH");
    desc.p = -1;
    must_fail(lk_bias_dropout_residual(NULL, &desc, x.device, x.device, x.device, y.device),
              LK_BAD_ARGUMENT, "p is -1");
    free_numbers(&y);
    free_numbers(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_backward),
        cmocka_unit_test(test_mask),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
