/*
 * test_api_fused_norm.c: lk_bias_dropout_residual_norm beside the same chain in double with the
 * mask of lk_dropout, its gradients beside finite differences of that chain; in place; wrong
 * arguments. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include "zoo/philox.h"

#include <math.h>

enum { ROUNDS = 18 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static const double unit[] = {[LK_BF16] = 0x1.02p-8, [LK_F16] = 0x1.02p-11, [LK_F32] = 2e-6};

enum { X, BIAS, RESIDUAL, GAMMA, BETA, INPUTS };
struct case_ {
    lk_fused_norm_desc desc;
    int64_t n, count[INPUTS];
    enum zoo_type type;
    struct numbers in[INPUTS], dy, dsum;
    double *value[INPUTS];
};

static struct case_ draw(lk_type type)
{
    struct case_ c = {.desc =
                          LK_FUSED_NORM_DESC(type, 1 + any(12), 2 + any(100), (float)any(10) / 10,
                                             (uint64_t)any(1 << 30), (uint64_t)any(1 << 30) << 20)};
    if (any(2)) /* rows at multiples of 16 bytes */
        c.desc.cols = (c.desc.cols + 7) & ~(int64_t)7;
    c.desc.layer = (int)any(2);
    c.desc.eps = 1e-2F; /* differences of nearly equal numbers stay tame */
    c.type = zoo_type_of(type);
    c.n = c.desc.rows * c.desc.cols;
    for (int i = 0; i < INPUTS; i++) {
        c.count[i] = i == X || i == RESIDUAL ? c.n : c.desc.cols;
        c.in[i] = make_numbers(c.type, c.count[i], i == GAMMA ? 0.5 : -1, i == GAMMA ? 1.5 : 1);
        c.value[i] = malloc((size_t)c.count[i] * sizeof(double));
        for (int64_t k = 0; k < c.count[i]; k++)
            c.value[i][k] = number_of(&c.in[i], k);
    }
    c.dy = make_numbers(c.type, c.n, -1, 1);
    c.dsum = make_numbers(c.type, c.n, -1, 1);
    return c;
}

static void free_case(struct case_ *c)
{
    for (int i = 0; i < INPUTS; i++) {
        free_numbers(&c->in[i]);
        free(c->value[i]);
    }
    free_numbers(&c->dy);
    free_numbers(&c->dsum);
}

/* In double -------------------------------------------------------------------------------------*/

static double sum_of(const struct case_ *c, int64_t i)
{
    struct zoo_dropout d = zoo_dropout_of((double)c->desc.p);
    bool dropped = zoo_dropped(d, c->desc.seed, c->desc.offset, (uint64_t)i);
    double scale = dropped ? 0 : (double)d.scale;
    return scale * (c->value[X][i] + c->value[BIAS][i % c->desc.cols]) + c->value[RESIDUAL][i];
}

/* y of a row from its sums. */
static void norm_row(const struct case_ *c, const double *sum, double *y)
{
    double mean = 0, squares = 0, n = (double)c->desc.cols;
    for (int64_t k = 0; c->desc.layer && k < c->desc.cols; k++)
        mean += sum[k] / n;
    for (int64_t k = 0; k < c->desc.cols; k++)
        squares += (sum[k] - mean) * (sum[k] - mean) / n;
    for (int64_t k = 0; k < c->desc.cols; k++)
        y[k] = (sum[k] - mean) / sqrt(squares + (double)c->desc.eps) * c->value[GAMMA][k] +
               (c->desc.layer ? c->value[BETA][k] : 0);
}

/* What the gradients are gradients of: dy y + dsum sum over everything. */
static double loss(const struct case_ *c)
{
    int64_t cols = c->desc.cols;
    double total = 0, *sum = malloc((size_t)cols * 2 * sizeof *sum), *y = sum + cols;
    for (int64_t row = 0; row < c->desc.rows; row++) {
        for (int64_t k = 0; k < cols; k++)
            sum[k] = sum_of(c, row * cols + k);
        norm_row(c, sum, y);
        for (int64_t k = 0; k < cols; k++)
            total += y[k] * number_of(&c->dy, row * cols + k) +
                     sum[k] * number_of(&c->dsum, row * cols + k);
    }
    free(sum);
    return total;
}

static void near(double is, double want, double bound, const char *name, int64_t i)
{
    if (!(fabs(is - want) <= bound))
        fail_msg("%s[%lld] is %.9g, must be %.9g within %g", name, (long long)i, is, want, bound);
}

/* Tests -----------------------------------------------------------------------------------------*/

struct results {
    struct output sum, y, stats, gradient[INPUTS];
};

static struct results run(const struct case_ *c)
{
    struct results r = {.sum = make_output(c->type, c->n),
                        .y = make_output(c->type, c->n),
                        .stats = make_output(ZOO_F32, c->desc.rows * (c->desc.layer ? 2 : 1))};
    size_t bytes;
    for (int i = 0; i < INPUTS; i++)
        r.gradient[i] = make_output(c->type, c->count[i]);
    float *stats = (float *)(void *)(r.stats.device + AROUND);
    must(lk_bias_dropout_residual_norm(NULL, &c->desc, c->in[X].device, c->in[BIAS].device,
                                       c->in[RESIDUAL].device, c->in[GAMMA].device,
                                       c->desc.layer ? c->in[BETA].device : NULL,
                                       r.sum.device + AROUND, r.y.device + AROUND, stats));
    must(lk_bias_dropout_residual_norm_backward_workspace(&c->desc, &bytes));
    void *workspace = on_device(NULL, bytes);
    must(lk_bias_dropout_residual_norm_backward(
        NULL, &c->desc, r.sum.device + AROUND, c->in[GAMMA].device, stats, c->dy.device,
        c->dsum.device, r.gradient[RESIDUAL].device + AROUND, r.gradient[X].device + AROUND,
        r.gradient[BIAS].device + AROUND, r.gradient[GAMMA].device + AROUND,
        c->desc.layer ? r.gradient[BETA].device + AROUND : NULL, workspace, bytes));
    must(lk_free(workspace));
    fetch_output(&r.sum);
    fetch_output(&r.y);
    fetch_output(&r.stats);
    for (int i = 0; i < INPUTS; i++)
        fetch_output(&r.gradient[i]);
    return r;
}

static void free_results(struct results *r)
{
    free_output(&r->sum);
    free_output(&r->y);
    free_output(&r->stats);
    for (int i = 0; i < INPUTS; i++)
        free_output(&r->gradient[i]);
}

/* sum by its formula; y as the norm of the sum that was stored. */
static void compare_forward(const struct case_ *c, const struct results *r)
{
    int64_t cols = c->desc.cols;
    double *sum = malloc((size_t)cols * 2 * sizeof *sum), *y = sum + cols, u = unit[c->desc.type];
    for (int64_t row = 0; row < c->desc.rows; row++) {
        for (int64_t k = 0; k < cols; k++) {
            double want = sum_of(c, row * cols + k);
            sum[k] = output_of(&r->sum, row * cols + k);
            near(sum[k], want, u * fabs(want) + 1e-5, "sum", row * cols + k);
        }
        norm_row(c, sum, y);
        for (int64_t k = 0; k < cols; k++)
            near(output_of(&r->y, row * cols + k), y[k], u * fabs(y[k]) + 1e-5, "y", k);
    }
    free(sum);
}

static void compare_gradients(const struct case_ *c, const struct results *r)
{
    static const char *const names[INPUTS] = {"dx", "dbias", "dresidual", "dgamma", "dbeta"};
    const double step = 1e-5;
    for (int i = 0; i < (c->desc.layer ? INPUTS : BETA); i++)
        for (int times = 0; times < 8; times++) {
            int64_t at = any(c->count[i]);
            double keep = c->value[i][at];
            c->value[i][at] = keep + step;
            double above = loss(c);
            c->value[i][at] = keep - step;
            double want = (above - loss(c)) / (2 * step);
            c->value[i][at] = keep;
            /* The sum was rounded to its type before it was normalised, by up to half a unit. */
            double terms = (i == X || i == RESIDUAL ? 1 : (double)c->desc.rows) * 10 /
                           (1 - (double)c->desc.p + 0.05);
            near(output_of(&r->gradient[i], at), want,
                 unit[c->desc.type] * (fabs(want) + 12 * terms) + 1e-6, names[i], at);
        }
}

static void test_values(void **state)
{
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        struct case_ c = draw((lk_type)(round % 3));
        struct results r = run(&c);
        compare_forward(&c, &r);
        compare_gradients(&c, &r);
        free_results(&r);
        free_case(&c);
    }
}

/* sum over the residual and y over x; dresidual over dsum and dx over dy. */
static void test_in_place(void **state)
{
    for (int round = 0; round < 6; round++) {
        struct case_ c = draw((lk_type)(round % 3));
        struct results r = run(&c);
        size_t bytes, each = (size_t)c.n * zoo_type_bytes[c.type];
        void *beta = c.desc.layer ? c.in[BETA].device : NULL;
        char *fetched = malloc(each + 1);
        must(lk_bias_dropout_residual_norm_backward_workspace(&c.desc, &bytes));
        void *workspace = on_device(NULL, bytes);
        struct output stats = make_output(ZOO_F32, c.desc.rows * 2), columns[3];
        for (int i = 0; i < 3; i++)
            columns[i] = make_output(c.type, c.desc.cols);
        float *at = (float *)(void *)(stats.device + AROUND);
        must(lk_bias_dropout_residual_norm(NULL, &c.desc, c.in[X].device, c.in[BIAS].device,
                                           c.in[RESIDUAL].device, c.in[GAMMA].device, beta,
                                           c.in[RESIDUAL].device, c.in[X].device, at));
        must(lk_bias_dropout_residual_norm_backward(
            NULL, &c.desc, c.in[RESIDUAL].device, c.in[GAMMA].device, at, c.dy.device,
            c.dsum.device, c.dsum.device, c.dy.device, columns[0].device + AROUND,
            columns[1].device + AROUND, beta ? columns[2].device + AROUND : NULL, workspace,
            bytes));
        const struct output *want[] = {&r.sum, &r.y, &r.gradient[RESIDUAL], &r.gradient[X]};
        const void *got[] = {c.in[RESIDUAL].device, c.in[X].device, c.dsum.device, c.dy.device};
        for (int i = 0; i < 4; i++) {
            must(lk_copy_from(fetched, got[i], each));
            assert_memory_equal(fetched, want[i]->host + AROUND, each);
        }
        fetch_output(&columns[1]); /* the same sums, whichever way dy went */
        assert_memory_equal(columns[1].host, r.gradient[GAMMA].host, columns[1].bytes + AROUND);
        for (int i = 0; i < 3; i++)
            free_output(&columns[i]);
        free_output(&stats);
        must(lk_free(workspace));
        free(fetched);
        free_results(&r);
        free_case(&c);
    }
}

static void test_wrong(void **state)
{
    lk_fused_norm_desc desc = LK_FUSED_NORM_DESC(LK_BF16, 2, 8, 0.5F, 1, 2);
    struct numbers x = make_numbers(ZOO_BF16, 16, -1, 1), y = make_numbers(ZOO_BF16, 16, -1, 1);
    struct numbers s = make_numbers(ZOO_F32, 16, -1, 1), z = make_numbers(ZOO_BF16, 16, -1, 1);
    char text[500];
    desc.rows = 1; /* a row is as large as gamma */
    must_fail(lk_bias_dropout_residual_norm(NULL, &desc, x.device, x.device, x.device, y.device,
                                            NULL, y.device, z.device, s.device),
              LK_BAD_ARGUMENT, "gamma and sum overlap; give");
    desc.rows = 2;
    must_fail(lk_bias_dropout_residual_norm(NULL, NULL, x.device, x.device, x.device, x.device,
                                            NULL, y.device, z.device, s.device),
              LK_BAD_ARGUMENT, "LK_FUSED_NORM_DESC makes one");
    must_fail(lk_bias_dropout_residual_norm(NULL, &desc, x.device, x.device, x.device, x.device,
                                            x.device, y.device, z.device, s.device),
              LK_BAD_ARGUMENT, "an rmsnorm has none");
    must_fail(lk_bias_dropout_residual_norm(NULL, &desc, x.device, x.device, x.device, NULL, NULL,
                                            y.device, z.device, s.device),
              LK_BAD_ARGUMENT, "gamma is NULL");
    must_fail(lk_bias_dropout_residual_norm(NULL, &desc, x.device, x.device, x.device, x.device,
                                            NULL, y.device, y.device, s.device),
              LK_BAD_ARGUMENT, "overlap");
    must(lk_bias_dropout_residual_norm_explain(&desc, 1, text, sizeof text));
    assert_non_null(strstr(text, "fused_norm/bands"));
    desc.eps = INFINITY;
    must_fail(lk_bias_dropout_residual_norm(NULL, &desc, x.device, x.device, x.device, x.device,
                                            NULL, y.device, z.device, s.device),
              LK_BAD_ARGUMENT, "eps is inf");
    desc.eps = 1e-5f;
    desc.p = 2;
    must_fail(lk_bias_dropout_residual_norm(NULL, &desc, x.device, x.device, x.device, x.device,
                                            NULL, y.device, z.device, s.device),
              LK_BAD_ARGUMENT, "p is 2");
    free_numbers(&z);
    free_numbers(&s);
    free_numbers(&y);
    free_numbers(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
