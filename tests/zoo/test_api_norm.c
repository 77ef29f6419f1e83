/*
 * test_api_norm.c: lk_rmsnorm and lk_layernorm and their gradients with random shapes, types and
 * choices, beside a reference of its own in double; gradients against finite differences of that;
 * wrong arguments; in place; in a graph; what lies around the outputs stays as it was.
 * LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

enum { ROUNDS = 30 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

/* A relative error that covers rounding to the type and the arithmetic in f32. */
static const double allowed[] = {
    [LK_BF16] = 0x1p-8, [LK_F16] = 0x1p-11, [LK_F32] = 2e-6, [LK_E4M3] = 0x1p-4};

static void near(double got, double wanted, double relative, double least, const char *what,
                 int64_t at)
{
    if (!(fabs(got - wanted) <= relative * fabs(wanted) + least))
        fail_msg("%s[%lld] is %.9g, expected %.9g", what, (long long)at, got, wanted);
}

/* Cases -----------------------------------------------------------------------------------------*/

struct case_ {
    bool layer;
    lk_norm_desc desc;
    struct numbers x, residual, gamma, beta;
    struct output sum, stats;
};

static struct case_ draw(lk_type type)
{
    static const int64_t widths[] = {1, 7, 8, 33, 64, 256, 300, 1024, 1026, 2048, 5000};
    struct case_ c = {.layer = any(2), .desc = LK_NORM_DESC(type, 1 + any(9), widths[any(11)])};
    lk_norm_desc *d = &c.desc;
    enum zoo_type of = zoo_type_of(type);
    c.x = make_numbers(of, d->rows * d->cols, -3, 4);
    c.stats = make_output(ZOO_F32, (c.layer ? 2 : 1) * d->rows);
    d->stats = (float *)(c.stats.device + AROUND);
    d->eps = any(2) ? 1e-5f : 0.25f;
    if (any(4)) {
        c.gamma = make_numbers(of, d->cols, 0.5, 1.5);
        d->gamma = c.gamma.device;
        if (c.layer) {
            c.beta = make_numbers(of, d->cols, -1, 1);
            d->beta = c.beta.device;
        }
    }
    if (any(3) == 0) {
        c.residual = make_numbers(of, d->rows * d->cols, -1, 1);
        c.sum = make_output(of, d->rows * d->cols);
        d->residual = c.residual.device;
        d->sum = c.sum.device + AROUND;
    }
    return c;
}

static void drop(struct case_ *c)
{
    struct numbers *all[] = {&c->x, &c->residual, &c->gamma, &c->beta};
    for (int i = 0; i < 4; i++)
        if (all[i]->host)
            free_numbers(all[i]);
    free_output(&c->stats);
    if (c->sum.host)
        free_output(&c->sum);
}

static lk_status call_forward(const struct case_ *c, void *stream, void *y)
{
    return (c->layer ? lk_layernorm : lk_rmsnorm)(stream, &c->desc, c->x.device, y);
}

/* What is normalised: after forward, which stores the sum. */
static double value_at(const struct case_ *c, int64_t at)
{
    return c->desc.sum ? output_of(&c->sum, at) : number_of(&c->x, at);
}

/* y of one row of values, in double; returns the mean, and 1 / deviation by rstd. */
static double norm_row(const struct case_ *c, const double *x, double *y, double *rstd)
{
    const lk_norm_desc *d = &c->desc;
    double mean = 0, squares = 0;
    for (int64_t k = 0; k < d->cols && c->layer; k++)
        mean += x[k] / (double)d->cols;
    for (int64_t k = 0; k < d->cols; k++)
        squares += (x[k] - mean) * (x[k] - mean);
    *rstd = 1 / sqrt(squares / (double)d->cols + (double)d->eps);
    for (int64_t k = 0; k < d->cols; k++)
        y[k] = (x[k] - mean) * *rstd * (d->gamma ? number_of(&c->gamma, k) : 1) +
               (d->beta ? number_of(&c->beta, k) : 0);
    return mean;
}

static void test_forward(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = draw((lk_type)any(3));
        lk_norm_desc *d = &c.desc;
        if (any(3) == 0) {
            d->out_type = LK_E4M3;
            d->out_scale = any(2) ? 0 : 20;
        }
        double scale = d->out_scale == 0 ? 1 : d->out_scale;
        struct output out = make_output(zoo_type_of(d->out_type), d->rows * d->cols);
        must(call_forward(&c, NULL, out.device + AROUND));
        fetch_output(&out);
        fetch_output(&c.stats);
        if (d->sum)
            fetch_output(&c.sum);
        double *x = malloc(2 * sizeof *x * (size_t)d->cols), *y = x + d->cols, rstd;
        for (int64_t row = 0; row < d->rows; row++) {
            for (int64_t k = 0; k < d->cols; k++) {
                int64_t at = row * d->cols + k;
                x[k] = value_at(&c, at);
                if (d->sum)
                    near(x[k], number_of(&c.x, at) + number_of(&c.residual, at), allowed[d->type],
                         0, "sum", at);
            }
            double mean = norm_row(&c, x, y, &rstd);
            if (c.layer)
                near(output_of(&c.stats, row), mean, 1e-6, 2e-6, "mean", row);
            near(output_of(&c.stats, row + (c.layer ? d->rows : 0)), rstd, 2e-6, 0, "rstd", row);
            for (int64_t k = 0; k < d->cols; k++)
                near(output_of(&out, row * d->cols + k), y[k] * scale, allowed[d->out_type] * 1.01,
                     d->out_type == LK_E4M3 ? 0x1p-9 : 4e-6 * fmax(1, rstd), "y",
                     row * d->cols + k);
        }
        free(x);
        free_output(&out);
        drop(&c);
    }
}

/* Gradients -------------------------------------------------------------------------------------*/

/* (f(z + h) - f(z - h)) / 2h, where f is the sum of dy times the result of a row, in double, and z
 * one of its numbers. */
static double slope(const struct case_ *c, double *x, int64_t k, const struct numbers *dy,
                    int64_t row, double *y)
{
    const double h = 1e-5;
    double sum = 0, before = x[k], rstd;
    for (int sign = -1; sign <= 1; sign += 2) {
        x[k] = before + sign * h;
        norm_row(c, x, y, &rstd);
        for (int64_t i = 0; i < c->desc.cols; i++)
            sum += sign * number_of(dy, row * c->desc.cols + i) * y[i];
    }
    x[k] = before;
    return sum / (2 * h);
}

struct gradients {
    struct output dx, dgamma, dbeta;
    void *workspace;
    size_t bytes;
};

static struct gradients make_gradients(struct case_ *c)
{
    lk_norm_desc *d = &c->desc;
    enum zoo_type of = zoo_type_of(d->type);
    struct gradients g = {.dx = make_output(of, d->rows * d->cols),
                          .dgamma = make_output(of, d->cols),
                          .dbeta = make_output(of, d->cols)};
    must((c->layer ? lk_layernorm_backward_workspace : lk_rmsnorm_backward_workspace)(d, &g.bytes));
    g.workspace = on_device(NULL, g.bytes);
    return g;
}

static void free_gradients(struct gradients *g)
{
    free_output(&g->dx);
    free_output(&g->dgamma);
    free_output(&g->dbeta);
    must(lk_free(g->workspace));
}

static void call_backward(struct case_ *c, struct gradients *g, void *stream, const void *dy,
                          void *dx)
{
    lk_norm_desc *d = &c->desc;
    const void *x = d->sum ? d->sum : c->x.device;
    void *dgamma = d->gamma ? g->dgamma.device + AROUND : NULL;
    void *dbeta = d->gamma ? g->dbeta.device + AROUND : NULL;
    if (c->layer)
        must(lk_layernorm_backward(stream, d, x, dy, dx, dgamma, dbeta, g->workspace, g->bytes));
    else
        must(lk_rmsnorm_backward(stream, d, x, dy, dx, dgamma, g->workspace, g->bytes));
}

static void test_backward(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = draw(LK_F32); /* rounding to 16 bits would hide the slope */
        lk_norm_desc *d = &c.desc;
        struct numbers dy = make_numbers(ZOO_F32, d->rows * d->cols, -1, 1), dsum = {0};
        struct output y = make_output(ZOO_F32, d->rows * d->cols);
        if (any(2)) {
            dsum = make_numbers(ZOO_F32, d->rows * d->cols, -1, 1);
            d->dsum = dsum.device;
        }
        struct gradients g = make_gradients(&c);
        must(call_forward(&c, NULL, y.device + AROUND));
        call_backward(&c, &g, NULL, dy.device, g.dx.device + AROUND);
        fetch_output(&g.dx);
        fetch_output(&g.dgamma);
        fetch_output(&g.dbeta);
        if (d->sum)
            fetch_output(&c.sum);
        double *x = malloc(4 * sizeof *x * (size_t)d->cols), *work = x + d->cols, rstd;
        double *dgamma = work + d->cols, *dbeta = dgamma + d->cols;
        for (int64_t k = 0; k < d->cols; k++)
            dgamma[k] = dbeta[k] = 0;
        for (int64_t row = 0; row < d->rows; row++) {
            int64_t step = 1 + d->cols / 5;
            for (int64_t k = 0; k < d->cols; k++)
                x[k] = value_at(&c, row * d->cols + k);
            double mean = norm_row(&c, x, work, &rstd);
            for (int64_t k = 0; k < d->cols; k++) {
                dgamma[k] += number_of(&dy, row * d->cols + k) * (x[k] - mean) * rstd;
                dbeta[k] += number_of(&dy, row * d->cols + k);
            }
            for (int64_t k = any(step); k < d->cols; k += step) {
                double add = dsum.host ? number_of(&dsum, row * d->cols + k) : 0;
                near(output_of(&g.dx, row * d->cols + k), slope(&c, x, k, &dy, row, work) + add,
                     1e-5, 1e-5 * fmax(1, rstd), "dx", row * d->cols + k);
            }
        }
        for (int64_t k = 0; k < d->cols && d->gamma; k++) {
            near(output_of(&g.dgamma, k), dgamma[k], 1e-5, 1e-5, "dgamma", k);
            if (c.layer)
                near(output_of(&g.dbeta, k), dbeta[k], 1e-5, 1e-5, "dbeta", k);
        }
        free(x);
        free_gradients(&g);
        free_output(&y);
        free_numbers(&dy);
        if (dsum.host)
            free_numbers(&dsum);
        drop(&c);
    }
}

/* The rest --------------------------------------------------------------------------------------*/

/* The same bits in place as elsewhere: y over x, the sum over the residual, dx over dy. */
static void test_in_place(void **state)
{
    for (int round = 0; round < 8; round++) {
        struct case_ c = draw((lk_type)any(3));
        lk_norm_desc *d = &c.desc;
        size_t bytes = c.x.count * zoo_type_bytes[c.x.type];
        struct output y = make_output(c.x.type, (int64_t)c.x.count);
        struct numbers dy = make_numbers(c.x.type, (int64_t)c.x.count, -1, 1);
        struct gradients g = make_gradients(&c), again = make_gradients(&c);
        char *second = malloc(bytes + 1);
        must(call_forward(&c, NULL, y.device + AROUND));
        fetch_output(&y);
        call_backward(&c, &g, NULL, dy.device, g.dx.device + AROUND);
        fetch_output(&g.dx);
        call_backward(&c, &again, NULL, dy.device, dy.device);
        must(lk_copy_from(second, dy.device, bytes));
        assert_memory_equal(second, g.dx.host + AROUND, bytes);
        fetch_output(&g.dgamma);
        fetch_output(&again.dgamma);
        assert_memory_equal(g.dgamma.host, again.dgamma.host, g.dgamma.bytes + 2 * AROUND);
        if (d->sum) {
            fetch_output(&c.sum);
            d->sum = c.residual.device;
        }
        must(call_forward(&c, NULL, c.x.device));
        must(lk_copy_from(second, c.x.device, bytes));
        assert_memory_equal(second, y.host + AROUND, bytes);
        if (d->sum) {
            must(lk_copy_from(second, d->sum, bytes));
            assert_memory_equal(second, c.sum.host + AROUND, bytes);
        }
        free(second);
        free_gradients(&g);
        free_gradients(&again);
        free_numbers(&dy);
        free_output(&y);
        drop(&c);
    }
}

static void test_wrong(void **state)
{
    lk_norm_desc good = LK_NORM_DESC(LK_F32, 4, 8), bad = good;
    char *memory = on_device(NULL, 8192), text[1000];
    void *x = memory, *y = memory + 1024;
    size_t bytes;
    must_fail(lk_rmsnorm(NULL, NULL, x, y), LK_BAD_ARGUMENT, "desc is NULL");
    bad.type = LK_S8;
    must_fail(lk_rmsnorm(NULL, &bad, x, y), LK_BAD_ARGUMENT, "LK_BF16, LK_F16 or LK_F32");
    bad = good;
    bad.out_type = LK_BF16;
    must_fail(lk_layernorm(NULL, &bad, x, y), LK_BAD_ARGUMENT, "out_type");
    bad = good;
    bad.eps = -1;
    must_fail(lk_rmsnorm(NULL, &bad, x, y), LK_BAD_ARGUMENT, "eps is -1");
    bad = good;
    bad.out_scale = NAN;
    must_fail(lk_rmsnorm(NULL, &bad, x, y), LK_BAD_ARGUMENT, "out_scale");
    bad = good;
    bad.beta = memory;
    must_fail(lk_rmsnorm(NULL, &bad, x, y), LK_BAD_ARGUMENT, "only layer norm");
    must_fail(lk_layernorm(NULL, &bad, x, y), LK_BAD_ARGUMENT, "gamma is NULL");
    bad = good;
    bad.residual = memory + 2048;
    must_fail(lk_layernorm(NULL, &bad, x, y), LK_BAD_ARGUMENT, "sum is NULL");
    bad = good;
    bad.cols = -1;
    must_fail(lk_layernorm(NULL, &bad, x, y), LK_BAD_ARGUMENT, "cols is -1");
    must_fail(lk_rmsnorm(NULL, &good, x, memory + 64), LK_BAD_ARGUMENT, "overlap in part");
    must_fail(lk_rmsnorm(NULL, &good, NULL, y), LK_BAD_ARGUMENT, "x is NULL");
    must_fail(lk_rmsnorm_backward(NULL, &good, x, y, y, NULL, NULL, 0), LK_BAD_ARGUMENT,
              "stats is NULL");
    good.stats = (float *)(memory + 2048);
    must_fail(lk_rmsnorm_backward(NULL, &good, x, y, y, memory + 4096, NULL, 0), LK_BAD_ARGUMENT,
              "dgamma is given");
    good.gamma = memory + 3072;
    must_fail(lk_rmsnorm_backward(NULL, &good, x, y, y, memory + 4096, NULL, 0), LK_SMALL_WORKSPACE,
              "lk_rmsnorm_backward_workspace");
    must_fail(lk_rmsnorm_backward_workspace(&good, NULL), LK_BAD_ARGUMENT, "bytes is NULL");
    must(lk_rmsnorm_backward_workspace(&good, &bytes));
    assert_true(bytes >= 8 * sizeof(float));
    good = (lk_norm_desc)LK_NORM_DESC(LK_BF16, 0, 8);
    must(lk_rmsnorm(NULL, &good, NULL, NULL));
    good = (lk_norm_desc)LK_NORM_DESC(LK_BF16, 4096, 131072);
    must(lk_rmsnorm_explain(&good, 0, text, sizeof text)); /* no gamma: not plain */
    assert_non_null(strstr(text, "rmsnorm/shared_affine"));
    must(lk_layernorm_explain(&good, 1, text, sizeof text));
    assert_non_null(strstr(text, "layernorm/backward_team"));
    good.cols = 16384;
    must(lk_layernorm_explain(&good, 1, text, sizeof text));
    assert_non_null(strstr(text, "layernorm/backward_groups"));
    good.cols = 4096;
    must(lk_layernorm_explain(&good, 1, text, sizeof text));
    assert_non_null(strstr(text, "layernorm/backward_stages"));
    good = (lk_norm_desc)LK_NORM_DESC(LK_BF16, 4096, 131072);
    good.gamma = good.beta = memory;
    must(lk_layernorm_explain(&good, 0, text, sizeof text));
    assert_non_null(strstr(text, "layernorm/plain"));
    good.cols = 32768;
    must(lk_layernorm_explain(&good, 0, text, sizeof text));
    assert_non_null(strstr(text, "layernorm/plain"));
    must(lk_free(memory));
}

/* Long rows, over a cluster forward and over a team backward, recorded into a graph: they run when
 * the graph does, as often as it does. Then the gradient over dy. */
static void test_graph(void **state)
{
    lk_norm_desc desc = LK_NORM_DESC(LK_BF16, 3, 40000);
    struct case_ c = {.layer = true, .desc = desc};
    int64_t all = desc.rows * desc.cols;
    c.x = make_numbers(ZOO_BF16, all, -3, 3);
    c.gamma = make_numbers(ZOO_BF16, desc.cols, 0.5, 1.5);
    c.beta = make_numbers(ZOO_BF16, desc.cols, -1, 1);
    c.stats = make_output(ZOO_F32, 2 * desc.rows);
    c.desc.gamma = c.gamma.device;
    c.desc.beta = c.beta.device;
    c.desc.stats = (float *)(c.stats.device + AROUND);
    struct numbers dy = make_numbers(ZOO_BF16, all, -1, 1);
    struct output y = make_output(ZOO_BF16, all);
    struct gradients g[2] = {make_gradients(&c), make_gradients(&c)};
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    must(lk_unload());
    assert_int_equal(driver()->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(driver()->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_SUCCESS);
    must(call_forward(&c, stream, y.device + AROUND));
    call_backward(&c, &g[0], stream, dy.device, g[0].dx.device + AROUND);
    assert_int_equal(driver()->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver()->cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    fetch_output(&g[0].dx);
    assert_int_equal(g[0].dx.host[AROUND], POISON); /* recorded, not run */
    for (int i = 0; i < 2; i++)
        assert_int_equal(driver()->cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    must(lk_wait(stream));
    call_backward(&c, &g[1], NULL, dy.device, g[1].dx.device + AROUND);
    for (int i = 0; i < 2; i++) {
        fetch_output(&g[i].dx);
        fetch_output(&g[i].dbeta);
    }
    assert_memory_equal(g[0].dx.host, g[1].dx.host, g[0].dx.bytes + 2 * AROUND);
    assert_memory_equal(g[0].dbeta.host, g[1].dbeta.host, g[0].dbeta.bytes + 2 * AROUND);
    assert_int_not_equal(g[0].dx.host[AROUND], POISON);
    size_t bytes = (size_t)all * 2;
    char *second = malloc(bytes);
    call_backward(&c, &g[1], NULL, dy.device, dy.device);
    must(lk_copy_from(second, dy.device, bytes));
    assert_memory_equal(second, g[0].dx.host + AROUND, bytes);
    free(second);
    free_gradients(&g[0]);
    free_gradients(&g[1]);
    free_output(&y);
    free_numbers(&dy);
    drop(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),  cmocka_unit_test(test_backward),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_graph),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
