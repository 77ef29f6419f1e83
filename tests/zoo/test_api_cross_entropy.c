/*
 * test_api_cross_entropy.c: lk_cross_entropy with random shapes, types, labels and choices, beside
 * a reference of its own in double; gradients against finite differences of that; ignored and wrong
 * labels; wrong arguments; in a graph, with the same bits; what lies around the outputs stays as it
 * was. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

enum { ROUNDS = 30 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static void near(double got, double wanted, double relative, double least, const char *what,
                 int64_t at)
{
    if (!(fabs(got - wanted) <= relative * fabs(wanted) + least))
        fail_msg("%s[%lld] is %.9g, expected %.9g", what, (long long)at, got, wanted);
}

struct case_ {
    lk_cross_entropy_desc desc;
    struct output logits; /* in and out */
    double *before;
    int64_t *labels, *device_labels;
    struct output losses, total;
    void *workspace;
    size_t bytes;
};

static struct case_ make_case(lk_cross_entropy_desc desc)
{
    struct case_ c = {.desc = desc};
    int64_t all = desc.rows * desc.cols;
    c.logits = make_output(zoo_type_of(desc.type), all);
    c.before = malloc(sizeof *c.before * (size_t)all);
    c.labels = malloc(sizeof *c.labels * (size_t)desc.rows);
    for (int64_t i = 0; i < all; i++) {
        zoo_put(c.logits.type, c.logits.host + AROUND, (size_t)i,
                12 * (double)any(1 << 20) * 0x1p-20 - 6);
        c.before[i] = output_of(&c.logits, i);
    }
    must(lk_copy_to(c.logits.device, c.logits.host, c.logits.bytes + 2 * AROUND));
    for (int64_t row = 0; row < desc.rows; row++)
        c.labels[row] = any(5) ? any(desc.cols) : desc.ignore_index;
    c.labels[0] = any(desc.cols); /* at least one counts, unless it is ignored by its number */
    c.device_labels = on_device(c.labels, sizeof *c.labels * (size_t)desc.rows);
    c.losses = make_output(ZOO_F32, desc.rows);
    c.total = make_output(ZOO_F32, 1);
    must(lk_cross_entropy_workspace(&c.desc, &c.bytes));
    c.workspace = on_device(NULL, c.bytes);
    return c;
}

static lk_status run(const struct case_ *c, void *stream)
{
    return lk_cross_entropy(stream, &c->desc, c->logits.device + AROUND, c->device_labels,
                            (float *)(c->losses.device + AROUND),
                            (float *)(c->total.device + AROUND), c->workspace, c->bytes);
}

static void fetch(struct case_ *c)
{
    fetch_output(&c->logits);
    fetch_output(&c->losses);
    fetch_output(&c->total);
}

static void drop(struct case_ *c)
{
    free_output(&c->logits);
    free_output(&c->losses);
    free_output(&c->total);
    free(c->before);
    free(c->labels);
    must(lk_free(c->device_labels));
    must(lk_free(c->workspace));
}

/* In double, of a row before the call. */
static double loss_of(const struct case_ *c, int64_t row)
{
    const lk_cross_entropy_desc *d = &c->desc;
    const double *x = c->before + row * d->cols, s = d->smoothing;
    double most = -INFINITY, sum = 0, mean = 0;
    if (c->labels[row] == d->ignore_index)
        return 0;
    for (int64_t k = 0; k < d->cols; k++) {
        most = fmax(most, x[k]);
        mean += x[k] / (double)d->cols;
    }
    for (int64_t k = 0; k < d->cols; k++)
        sum += exp(x[k] - most);
    return most + log(sum) - (1 - s) * x[c->labels[row]] - s * mean;
}

static lk_cross_entropy_desc draw(void)
{
    static const int64_t widths[] = {1, 7, 8, 33, 64, 300, 1024, 2050, 4096, 9000, 20000};
    lk_cross_entropy_desc d = LK_CROSS_ENTROPY_DESC((lk_type)any(3), 1 + any(9), widths[any(11)]);
    d.smoothing = any(2) ? 0 : (float)any(5) / 8;
    d.sum = (int)any(2);
    d.scale = any(2) ? 0 : 0.5f;
    if (any(3) == 0)
        d.ignore_index = any(d.cols);
    return d;
}

/* The derivative of a row's loss: (f(x + h) - f(x - h)) / 2h, in double. */
static double slope(struct case_ *c, int64_t row, int64_t col)
{
    const double h = 1e-5;
    double *x = &c->before[row * c->desc.cols + col], before = *x;
    *x = before + h;
    double after = loss_of(c, row);
    *x = before - h;
    after -= loss_of(c, row);
    *x = before;
    return after / (2 * h);
}

static void test_random(void **state)
{
    static const double unit[] = {[LK_BF16] = 0x1p-8, [LK_F16] = 0x1p-11, [LK_F32] = 4e-6};
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = make_case(draw());
        lk_cross_entropy_desc *d = &c.desc;
        double total = 0, count = 0;
        d->loss_only = any(3) == 0;
        must(run(&c, NULL));
        fetch(&c);
        for (int64_t row = 0; row < d->rows; row++) {
            double loss = loss_of(&c, row);
            near(output_of(&c.losses, row), loss, 2e-6, 4e-6, "losses", row);
            total += loss;
            count += c.labels[row] != d->ignore_index;
        }
        double share = d->sum ? 1 : 1 / count, scale = d->scale == 0 ? 1 : d->scale;
        if (count > 0)
            near(output_of(&c.total, 0), total * share, 4e-6, 4e-6, "total", 0);
        else
            assert_true(d->sum ? output_of(&c.total, 0) == 0 : isnan(output_of(&c.total, 0)));
        for (int64_t row = 0; row < d->rows; row++)
            for (int64_t k = any(3); k < d->cols; k += 1 + d->cols / 7) {
                int64_t at = row * d->cols + k;
                if (d->loss_only || c.labels[row] == d->ignore_index)
                    assert_true(output_of(&c.logits, at) == (d->loss_only ? c.before[at] : 0));
                else
                    near(output_of(&c.logits, at), slope(&c, row, k) * share * scale,
                         unit[d->type] * 1.01, 1e-7 * share + 0x1p-25, "gradient", at);
            }
        drop(&c);
    }
}

/* A label that is no column. */
static void test_wrong_labels(void **state)
{
    for (int64_t cols = 64; cols <= 65; cols++) {
        struct case_ c = make_case((lk_cross_entropy_desc)LK_CROSS_ENTROPY_DESC(LK_F32, 3, cols));
        int64_t labels[] = {1, -7, cols};
        must(lk_copy_to(c.device_labels, labels, sizeof labels));
        must(run(&c, NULL));
        fetch(&c);
        assert_true(isfinite(output_of(&c.losses, 0)) && isfinite(output_of(&c.logits, 0)));
        for (int64_t i = cols; i < 3 * cols; i++)
            assert_true(isnan(output_of(&c.logits, i)));
        assert_true(isnan(output_of(&c.losses, 1)) && isnan(output_of(&c.losses, 2)));
        assert_true(isnan(output_of(&c.total, 0)));
        drop(&c);
    }
}

static void test_wrong(void **state)
{
    lk_cross_entropy_desc good = LK_CROSS_ENTROPY_DESC(LK_F32, 4, 8), bad = good;
    char *memory = on_device(NULL, 8192), text[1000];
    void *logits = memory, *workspace = memory + 4096;
    int64_t *labels = (int64_t *)(memory + 1024);
    float *losses = (float *)(memory + 2048), *total = (float *)(memory + 3072);
    size_t bytes;
    must(lk_cross_entropy_workspace(&good, &bytes));
#define CALL(desc) lk_cross_entropy(NULL, desc, logits, labels, losses, total, workspace, bytes)
    must_fail(CALL(NULL), LK_BAD_ARGUMENT, "desc is NULL");
    bad.type = LK_E4M3;
    must_fail(CALL(&bad), LK_BAD_ARGUMENT, "LK_BF16, LK_F16 or LK_F32");
    bad = good;
    bad.smoothing = 1.5f;
    must_fail(CALL(&bad), LK_BAD_ARGUMENT, "smoothing is 1.5");
    bad = good;
    bad.scale = -1;
    must_fail(CALL(&bad), LK_BAD_ARGUMENT, "scale is -1");
    bad = good;
    bad.cols = 0;
    must_fail(CALL(&bad), LK_BAD_ARGUMENT, "cols is 0");
    bad = good;
    bad.ignore_index = (int64_t)1 << 40;
    must_fail(CALL(&bad), LK_BAD_ARGUMENT, "ignore is");
    total = NULL;
    must_fail(CALL(&good), LK_BAD_ARGUMENT, "total is NULL");
    total = losses;
    must_fail(CALL(&good), LK_BAD_ARGUMENT, "overlap");
    total = (float *)(memory + 3072);
    bytes = 0;
    must_fail(CALL(&good), LK_SMALL_WORKSPACE, "lk_cross_entropy_workspace");
    must_fail(lk_cross_entropy_workspace(&good, NULL), LK_BAD_ARGUMENT, "bytes is NULL");
    good.rows = 0;
    must(lk_cross_entropy_workspace(&good, &bytes));
    logits = NULL;
    labels = NULL;
    losses = total = NULL;
    must(CALL(&good));
    good = (lk_cross_entropy_desc)LK_CROSS_ENTROPY_DESC(LK_BF16, 4096, 262144);
    must(lk_cross_entropy_explain(&good, text, sizeof text));
    assert_non_null(strstr(text, "cross_entropy/cluster"));
    must(lk_free(memory));
}

/* A row over a cluster, recorded into a graph: it runs when the graph does, with the same bits. */
static void test_graph(void **state)
{
    struct case_ c = make_case((lk_cross_entropy_desc)LK_CROSS_ENTROPY_DESC(LK_BF16, 3, 40000));
    size_t bytes = c.logits.bytes + 2 * AROUND;
    char *before = malloc(bytes), *first = malloc(bytes);
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    memcpy(before, c.logits.host, bytes);
    must(lk_unload());
    assert_int_equal(driver()->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(driver()->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_SUCCESS);
    must(run(&c, stream));
    assert_int_equal(driver()->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver()->cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    fetch(&c);
    assert_memory_equal(c.logits.host, before, bytes); /* recorded, not run */
    assert_int_equal(driver()->cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    must(lk_wait(stream));
    fetch(&c);
    memcpy(first, c.logits.host, bytes);
    assert_true(memcmp(first, before, bytes) != 0);
    must(lk_copy_to(c.logits.device, before, bytes));
    must(run(&c, NULL));
    fetch(&c);
    assert_memory_equal(c.logits.host, first, bytes);
    free(before);
    free(first);
    drop(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_wrong_labels),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_graph),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
