/*
 * test_api_softmax.c: lk_softmax and lk_softmax_backward with random shapes, types, masks and
 * scales, beside a reference of its own in double; gradients also against finite differences of
 * that; wrong arguments; in place; what lies around the output stays as it was.
 * LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

enum { ROUNDS = 60 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

/* A relative error that covers rounding to the type and the arithmetic in f32. */
static const double allowed[] = {[LK_BF16] = 0x1p-7, [LK_F16] = 0x1p-10, [LK_F32] = 2e-5};

/* The reference ---------------------------------------------------------------------------------*/

static int64_t seen(const lk_softmax_desc *d, const struct numbers *lengths, int64_t row)
{
    int64_t group = d->group ? d->group : 1, end = d->cols;
    if (d->causal)
        end = d->cols - group + row % group + 1;
    if (d->lengths && (int64_t)number_of(lengths, row / group) < end)
        end = (int64_t)number_of(lengths, row / group);
    return end < 0 ? 0 : end < d->cols ? end : d->cols;
}

/* Of one row's values; returns the logarithm of the sum. */
static double softmax_row(lk_softmax_op op, const double *value, int64_t end, int64_t cols,
                          double *y)
{
    double most = -INFINITY, sum = 0;
    for (int64_t k = 0; k < end; k++)
        most = fmax(most, value[k]);
    for (int64_t k = 0; k < end && most > -INFINITY; k++)
        sum += exp(value[k] - most);
    for (int64_t k = 0; k < cols; k++) {
        double log_y = k < end && most > -INFINITY ? value[k] - most - log(sum) : -INFINITY;
        y[k] = op == LK_LOG_SOFTMAX ? log_y : exp(log_y);
    }
    return sum > 0 ? most + log(sum) : -INFINITY;
}

static void row_values(const lk_softmax_desc *d, const struct numbers *in,
                       const struct numbers *bias, int64_t row, double *value)
{
    int64_t group = d->group ? d->group : 1;
    for (int64_t k = 0; k < d->cols; k++)
        value[k] = (d->scale == 0 ? 1 : d->scale) * number_of(in, row * d->cols + k) +
                   (d->bias ? number_of(bias, row % group * d->cols + k) : 0);
}

static void near(double got, double wanted, double relative, double least, const char *what,
                 int64_t row, int64_t col)
{
    if (isinf(wanted) ? got == wanted : fabs(got - wanted) <= relative * fabs(wanted) + least)
        return;
    fail_msg("%s[%lld][%lld] is %.9g, expected %.9g", what, (long long)row, (long long)col, got,
             wanted);
}

/* Random calls ----------------------------------------------------------------------------------*/

struct case_ {
    lk_softmax_desc desc;
    struct numbers in, bias, lengths;
};

static struct case_ draw(lk_type type)
{
    static const int64_t widths[] = {1, 7, 8, 33, 64, 256, 300, 1024, 2050, 4096, 9000};
    struct case_ c = {.desc = LK_SOFTMAX_DESC(type, 1 + any(9), widths[any(11)])};
    lk_softmax_desc *d = &c.desc;
    d->group = any(2) ? 0 : 1 + any(6);
    int64_t group = d->group ? d->group : 1;
    d->scale = any(3) ? (float)(1 + any(16)) / 8 : 0;
    d->causal = any(3) == 0;
    c.in = make_numbers(zoo_type_of(d->type), d->rows * d->cols, -6, 6);
    if (any(3) == 0) {
        c.bias = make_numbers(zoo_type_of(d->type), group * d->cols, -3, 3);
        d->bias = c.bias.device;
    }
    if (any(3) == 0) {
        c.lengths = make_numbers(ZOO_I32, (d->rows + group - 1) / group, -1, (double)d->cols + 2);
        d->lengths = c.lengths.device;
    }
    return c;
}

static void drop_case(struct case_ *c)
{
    free_numbers(&c->in);
    if (c->desc.bias)
        free_numbers(&c->bias);
    if (c->desc.lengths)
        free_numbers(&c->lengths);
}

static void test_forward(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = draw((lk_type)any(3));
        lk_softmax_desc *d = &c.desc;
        d->op = (lk_softmax_op)any(3);
        bool sums = d->op == LK_LOG_SUM_EXP;
        struct output out =
            make_output(sums ? ZOO_F32 : zoo_type_of(d->type), sums ? d->rows : d->rows * d->cols);
        must(lk_softmax(NULL, d, c.in.device, out.device + AROUND));
        fetch_output(&out);
        double *value = malloc(2 * sizeof *value * (size_t)d->cols), *y = value + d->cols;
        for (int64_t row = 0; row < d->rows; row++) {
            row_values(d, &c.in, &c.bias, row, value);
            double sum = softmax_row(d->op, value, seen(d, &c.lengths, row), d->cols, y);
            if (sums)
                near(zoo_get(ZOO_F32, out.host + AROUND, (size_t)row), sum, 1e-6, 4e-6, "sum", row,
                     0);
            for (int64_t k = 0; k < d->cols && !sums; k++)
                near(zoo_get(out.type, out.host + AROUND, (size_t)(row * d->cols + k)), y[k],
                     allowed[d->type], d->op == LK_SOFTMAX ? 1e-7 : 1e-5, "out", row, k);
        }
        free(value);
        free_output(&out);
        drop_case(&c);
    }
}

/* dx against (f(x + h) - f(x - h)) / 2h, where f is the sum of dy times the result, in double. */
static double slope(const lk_softmax_desc *d, double *value, int64_t end, int64_t k,
                    const struct numbers *dy, int64_t row, double *y)
{
    const double h = 1e-5, scale = d->scale == 0 ? 1 : d->scale;
    double sum = 0, before = value[k];
    for (int sign = -1; sign <= 1; sign += 2) {
        value[k] = before + sign * h * scale;
        softmax_row(d->op, value, end, d->cols, y);
        for (int64_t i = 0; i < end; i++)
            sum += sign * number_of(dy, row * d->cols + i) * y[i];
    }
    value[k] = before;
    return sum / (2 * h);
}

static void test_backward(void **state)
{
    for (int round = 0; round < ROUNDS / 2; round++) {
        struct case_ c = draw(LK_F32); /* rounding to 16 bits would hide the slope */
        lk_softmax_desc *d = &c.desc;
        d->op = (lk_softmax_op)any(2);
        struct numbers dy = make_numbers(zoo_type_of(d->type), d->rows * d->cols, -1, 1);
        struct output y = make_output(zoo_type_of(d->type), d->rows * d->cols);
        struct output dx = make_output(zoo_type_of(d->type), d->rows * d->cols);
        must(lk_softmax(NULL, d, c.in.device, y.device + AROUND));
        must(lk_softmax_backward(NULL, d, y.device + AROUND, dy.device, dx.device + AROUND));
        fetch_output(&dx);
        double *value = malloc(2 * sizeof *value * (size_t)d->cols), *work = value + d->cols;
        double scale = d->scale == 0 ? 1 : d->scale;
        for (int64_t row = 0; row < d->rows; row++) {
            int64_t end = seen(d, &c.lengths, row), step = 1 + d->cols / 5;
            row_values(d, &c.in, &c.bias, row, value);
            for (int64_t k = any(step); k < d->cols; k += step) {
                double wanted = k < end ? slope(d, value, end, k, &dy, row, work) : 0;
                double part = d->op == LK_SOFTMAX && k < end ? work[k] : 1;
                near(zoo_get(dx.type, dx.host + AROUND, (size_t)(row * d->cols + k)), wanted,
                     allowed[d->type], 1e-5 * scale * part + 1e-9, "dx", row, k);
            }
        }
        free(value);
        free_output(&y);
        free_output(&dx);
        free_numbers(&dy);
        drop_case(&c);
    }
}

/* Wrong arguments, and the rest
 * --------------------------------------------------------------------*/

static void test_wrong(void **state)
{
    lk_softmax_desc good = LK_SOFTMAX_DESC(LK_F32, 4, 8), bad = good;
    char *memory = on_device(NULL, 4096), text[1000];
    void *in = memory, *out = memory + 1024;
    must_fail(lk_softmax(NULL, NULL, in, out), LK_BAD_ARGUMENT, "desc is NULL");
    bad.group = 4;
    bad.bias = out;
    must_fail(lk_softmax(NULL, &bad, in, out), LK_BAD_ARGUMENT, "bias and out overlap; give");
    bad = good;
    bad.type = LK_E4M3;
    must_fail(lk_softmax(NULL, &bad, in, out), LK_BAD_ARGUMENT, "LK_BF16, LK_F16 or LK_F32");
    bad = good;
    bad.op = (lk_softmax_op)3;
    must_fail(lk_softmax(NULL, &bad, in, out), LK_BAD_ARGUMENT, "op is 3");
    bad.op = LK_LOG_SUM_EXP;
    must_fail(lk_softmax_backward(NULL, &bad, in, in, out), LK_BAD_ARGUMENT, "LK_LOG_SUM_EXP");
    bad = good;
    bad.scale = -1;
    must_fail(lk_softmax(NULL, &bad, in, out), LK_BAD_ARGUMENT, "scale is -1");
    bad.scale = NAN;
    must_fail(lk_softmax(NULL, &bad, in, out), LK_BAD_ARGUMENT, "finite");
    bad = good;
    bad.rows = -1;
    must_fail(lk_softmax(NULL, &bad, in, out), LK_BAD_ARGUMENT, "rows is -1");
    bad = good;
    bad.group = -2;
    must_fail(lk_softmax(NULL, &bad, in, out), LK_BAD_ARGUMENT, "group is -2");
    must_fail(lk_softmax(NULL, &good, NULL, out), LK_BAD_ARGUMENT, "in is NULL");
    must_fail(lk_softmax(NULL, &good, (char *)in + 2, out), LK_BAD_ARGUMENT, "not aligned");
    must_fail(lk_softmax(NULL, &good, in, memory + 64), LK_BAD_ARGUMENT, "overlap in part");
    must_fail(lk_softmax_backward(NULL, &good, in, NULL, out), LK_BAD_ARGUMENT, "dy is NULL");
    bad = good;
    bad.lengths = (const int32_t *)text;
    must_fail(lk_softmax(NULL, &bad, in, out), LK_BAD_ARGUMENT, "lengths");
    good.rows = 0;
    must(lk_softmax(NULL, &good, NULL, NULL));
    must_fail(lk_softmax_explain(&good, 0, NULL, 9), LK_BAD_ARGUMENT, "text is NULL");
    good = (lk_softmax_desc)LK_SOFTMAX_DESC(LK_BF16, 4096, 131072);
    must(lk_softmax_explain(&good, 0, text, sizeof text));
    assert_non_null(strstr(text, "softmax/generic_cluster"));
    must(lk_softmax_explain(&good, 1, text, sizeof text));
    assert_non_null(strstr(text, "softmax/backward_cluster"));
    must(lk_free(memory));
}

/* The same bits in place as elsewhere, and in a second run. */
static void test_in_place(void **state)
{
    for (int round = 0; round < 8; round++) {
        struct case_ c = draw((lk_type)any(3));
        c.desc.op = (lk_softmax_op)any(2);
        size_t bytes = c.in.count * zoo_type_bytes[c.in.type];
        struct output out = make_output(c.in.type, (int64_t)c.in.count);
        char *again = malloc(bytes + 1);
        must(lk_softmax(NULL, &c.desc, c.in.device, out.device + AROUND));
        fetch_output(&out);
        must(lk_softmax(NULL, &c.desc, c.in.device, c.in.device));
        must(lk_copy_from(again, c.in.device, bytes));
        assert_memory_equal(again, out.host + AROUND, bytes);
        struct output dx = make_output(c.in.type, (int64_t)c.in.count);
        struct numbers dy = make_numbers(c.in.type, (int64_t)c.in.count, -1, 1);
        must(lk_softmax_backward(NULL, &c.desc, c.in.device, dy.device, dx.device + AROUND));
        must(lk_softmax_backward(NULL, &c.desc, c.in.device, dy.device, dy.device));
        fetch_output(&dx);
        must(lk_copy_from(again, dy.device, bytes));
        assert_memory_equal(again, dx.host + AROUND, bytes);
        free(again);
        free_numbers(&dy);
        free_output(&dx);
        free_output(&out);
        drop_case(&c);
    }
}

/* A row over a cluster, forward and backward, recorded into a graph: it runs when the graph does.
 */
static void test_graph(void **state)
{
    lk_softmax_desc desc = LK_SOFTMAX_DESC(LK_BF16, 2, 70001);
    struct numbers x = make_numbers(ZOO_BF16, desc.rows * desc.cols, -6, 6);
    struct numbers dy = make_numbers(ZOO_BF16, desc.rows * desc.cols, -1, 1);
    struct output y[2], dx[2];
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    for (int i = 0; i < 2; i++) {
        y[i] = make_output(ZOO_BF16, desc.rows * desc.cols);
        dx[i] = make_output(ZOO_BF16, desc.rows * desc.cols);
    }
    must(lk_unload());
    assert_int_equal(driver()->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(driver()->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_SUCCESS);
    must(lk_softmax(stream, &desc, x.device, y[0].device + AROUND));
    must(
        lk_softmax_backward(stream, &desc, y[0].device + AROUND, dy.device, dx[0].device + AROUND));
    assert_int_equal(driver()->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver()->cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    fetch_output(&dx[0]);
    assert_int_equal(dx[0].host[AROUND], POISON); /* recorded, not run */
    assert_int_equal(driver()->cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    must(lk_wait(stream));
    must(lk_softmax(NULL, &desc, x.device, y[1].device + AROUND));
    must(lk_softmax_backward(NULL, &desc, y[1].device + AROUND, dy.device, dx[1].device + AROUND));
    for (int i = 0; i < 2; i++) {
        fetch_output(&y[i]);
        fetch_output(&dx[i]);
    }
    assert_memory_equal(y[0].host, y[1].host, y[0].bytes + 2 * AROUND);
    assert_memory_equal(dx[0].host, dx[1].host, dx[0].bytes + 2 * AROUND);
    assert_int_not_equal(dx[0].host[AROUND], POISON);
    for (int i = 0; i < 2; i++) {
        free_output(&y[i]);
        free_output(&dx[i]);
    }
    free_numbers(&x);
    free_numbers(&dy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward), cmocka_unit_test(test_backward),
        cmocka_unit_test(test_wrong),   cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_graph),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
