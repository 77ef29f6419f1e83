/*
 * test_api_adamw.c: lk_adamw beside the formula in double, over ragged and misaligned tensors and
 * several steps; stochastic rounding bit for bit, and its mean; lk_global_norm, lk_clip_gradients,
 * and clipping within the step; wrong arguments. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include "zoo/philox.h"

#include <math.h>

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

enum { TENSORS = 6 };
struct model {
    lk_adamw_desc desc;
    struct numbers param[TENSORS], grad[TENSORS], mean[TENSORS], square[TENSORS], master[TENSORS];
    lk_tensor tensor[TENSORS];
    void *table;
};

static const int64_t counts[TENSORS] = {3, 2048, 0, 4999, 1, 6000};

static void copy_table(struct model *m)
{
    char rows[TENSORS * LK_TENSOR_BYTES];
    must(lk_adamw_table(&m->desc, m->tensor, rows));
    must(lk_copy_to(m->table, rows, sizeof rows));
}

static struct model make_model(lk_adamw_mode mode)
{
    struct model m = {.desc = LK_ADAMW_DESC(mode, TENSORS, 1e-2)};
    enum zoo_type type = mode == LK_ADAMW_F32 ? ZOO_F32 : ZOO_BF16;
    for (int t = 0; t < TENSORS; t++) {
        int64_t n = counts[t];
        m.param[t] = make_numbers(type, n, -1, 1);
        m.grad[t] = make_numbers(type, n, -1, 1);
        m.mean[t] = make_numbers(ZOO_F32, n, -1, 1);
        m.square[t] = make_numbers(ZOO_F32, n, 0, 1);
        m.master[t] = make_numbers(ZOO_F32, n, -1, 1);
        m.tensor[t] = (lk_tensor){m.param[t].device,
                                  m.grad[t].device,
                                  m.mean[t].device,
                                  m.square[t].device,
                                  mode == LK_ADAMW_MASTER ? m.master[t].device : NULL,
                                  n};
    }
    m.table = on_device(NULL, TENSORS * LK_TENSOR_BYTES);
    copy_table(&m);
    return m;
}

static void free_model(struct model *m)
{
    for (int t = 0; t < TENSORS; t++) {
        free_numbers(&m->param[t]);
        free_numbers(&m->grad[t]);
        free_numbers(&m->mean[t]);
        free_numbers(&m->square[t]);
        free_numbers(&m->master[t]);
    }
    must(lk_free(m->table));
}

static void fetch(struct numbers *x)
{
    must(lk_copy_from(x->host, x->device, x->count * zoo_type_bytes[x->type]));
}

/* One step of one number, from what the host has. */
static double step_of(const lk_adamw_desc *d, double g, double *mean, double *square, double p)
{
    double t = (double)d->step;
    *mean = d->beta1 * *mean + (1 - d->beta1) * g;
    *square = d->beta2 * *square + (1 - d->beta2) * g * g;
    double root = sqrt(*square / (1 - pow(d->beta2, t))) + d->epsilon;
    return p - d->rate * d->decay * p - d->rate * *mean / (1 - pow(d->beta1, t)) / root;
}

static void must_be_near(double is, double want, double bound)
{
    if (!(fabs(is - want) <= bound))
        fail_msg("%.9g, must be %.9g within %.2g", is, want, bound);
}

static void compare(struct model *m, int t, double scale)
{
    bool master = m->desc.mode == LK_ADAMW_MASTER;
    size_t count = m->param[t].count;
    double *want = malloc((3 * count + 1) * sizeof *want);
    for (size_t i = 0; i < count; i++) {
        double mean = number_of(&m->mean[t], (int64_t)i);
        double square = number_of(&m->square[t], (int64_t)i);
        double p = number_of(master ? &m->master[t] : &m->param[t], (int64_t)i);
        want[3 * i] =
            step_of(&m->desc, scale * number_of(&m->grad[t], (int64_t)i), &mean, &square, p);
        want[3 * i + 1] = mean;
        want[3 * i + 2] = square;
    }
    fetch(&m->param[t]);
    fetch(&m->mean[t]);
    fetch(&m->square[t]);
    fetch(&m->master[t]);
    double unit = m->desc.mode == LK_ADAMW_F32 ? 0 : master ? 0x1p-8 : 0x1p-7;
    for (size_t i = 0; i < count; i++) {
        double p = want[3 * i];
        must_be_near(number_of(&m->param[t], (int64_t)i), p, 1e-5 + 1.01 * unit * fabs(p));
        must_be_near(number_of(&m->mean[t], (int64_t)i), want[3 * i + 1], 1e-6);
        must_be_near(number_of(&m->square[t], (int64_t)i), want[3 * i + 2], 1e-6);
        if (master)
            must_be_near(number_of(&m->master[t], (int64_t)i), p, 1e-5);
    }
    free(want);
}

static void test_steps(void **state)
{
    for (int mode = LK_ADAMW_F32; mode <= LK_ADAMW_STOCHASTIC; mode++) {
        struct model m = make_model((lk_adamw_mode)mode);
        for (m.desc.step = 1; m.desc.step <= 3; m.desc.step++) {
            must(lk_adamw(NULL, &m.desc, m.table));
            for (int t = 0; t < TENSORS; t++)
                compare(&m, t, 1);
        }
        free_model(&m);
    }
}

/* Tensors that begin anywhere. */
static void test_misaligned(void **state)
{
    struct model m = make_model(LK_ADAMW_MASTER);
    float *mean = m.tensor[5].mean;
    m.tensor[5].mean = mean + 1;
    m.tensor[5].square++;
    m.tensor[5].master++;
    m.tensor[5].param = (char *)m.tensor[5].param + 2;
    m.tensor[5].grad = (const char *)m.tensor[5].grad + 2;
    m.tensor[5].count--;
    copy_table(&m);
    struct numbers *all[] = {&m.param[5], &m.grad[5], &m.mean[5], &m.square[5], &m.master[5]};
    for (unsigned i = 0; i < 5; i++) { /* the same view on the host */
        unsigned each = zoo_type_bytes[all[i]->type];
        all[i]->count--;
        memmove(all[i]->host, (char *)all[i]->host + each, all[i]->count * each);
        all[i]->device = (char *)all[i]->device + each;
    }
    must(lk_adamw(NULL, &m.desc, m.table));
    compare(&m, 5, 1);
    for (unsigned i = 0; i < 5; i++)
        all[i]->device = (char *)all[i]->device - zoo_type_bytes[all[i]->type];
    free_model(&m);
}

/* Without gradients and moments a step is one product: its rounding can be told bit for bit. Its
 * mean over many elements is the number itself, which rounding to nearest would never reach. */
static void test_stochastic(void **state)
{
    enum { N = 20000 };
    lk_adamw_desc desc = LK_ADAMW_DESC(LK_ADAMW_STOCHASTIC, 1, 1e-3);
    desc.decay = 1;
    desc.step = 7;
    desc.seed = 0x123456789abcdef;
    uint16_t *param = malloc(N * 2);
    for (int i = 0; i < N; i++)
        param[i] = 0x3f80; /* 1 */
    float *zero = calloc(N, 4);
    lk_tensor tensor = {.param = on_device(param, N * 2),
                        .grad = on_device(zero, N * 2),
                        .mean = on_device(zero, N * 4),
                        .square = on_device(zero, N * 4),
                        .count = N};
    char row[LK_TENSOR_BYTES];
    must(lk_adamw_table(&desc, &tensor, row));
    void *table = on_device(row, sizeof row);
    must(lk_adamw(NULL, &desc, table));
    must(lk_copy_from(param, tensor.param, N * 2));
    float exact = (float)(1 - 1e-3);
    uint32_t bits;
    double sum = 0;
    memcpy(&bits, &exact, sizeof bits);
    for (int i = 0; i < N; i++) {
        uint32_t words[4];
        zoo_random_words(desc.seed, 7, (uint64_t)i / 8, words);
        uint32_t add = words[i % 8 / 2] >> 16 * (i % 2) & 0xffff;
        assert_int_equal(param[i], (bits + add) >> 16);
        sum += (double)zoo_from_bf16(param[i]);
    }
    assert_true(fabs(sum / N - (double)exact) < 5 * 0x1p-9 / sqrt(N));
    must(lk_free(tensor.param));
    must(lk_free((void *)tensor.grad));
    must(lk_free(tensor.mean));
    must(lk_free(tensor.square));
    must(lk_free(table));
    free(zero);
    free(param);
}

static double norm_of(const struct model *m)
{
    double sum = 0;
    for (int t = 0; t < TENSORS; t++)
        for (int64_t i = 0; i < counts[t]; i++)
            sum += number_of(&m->grad[t], i) * number_of(&m->grad[t], i);
    return sqrt(sum);
}

static void test_clipping(void **state)
{
    for (int mode = LK_ADAMW_F32; mode <= LK_ADAMW_MASTER; mode++) {
        struct model m = make_model((lk_adamw_mode)mode);
        size_t bytes;
        float norm[2], again[2];
        must(lk_global_norm_workspace(&m.desc, &bytes));
        void *workspace = on_device(NULL, bytes), *at = on_device(NULL, 8);
        double want = norm_of(&m);
        must(lk_global_norm(NULL, &m.desc, m.table, 5, at, workspace, bytes));
        must(lk_copy_from(norm, at, 8));
        must_be_near((double)norm[0], want, 1e-6 * want);
        must_be_near((double)norm[1], 5 / (want + 1e-6), 1e-6);
        /* Within the step. */
        m.desc.grad_scale = (float *)at + 1;
        must(lk_adamw(NULL, &m.desc, m.table));
        for (int t = 0; t < TENSORS; t++)
            compare(&m, t, (double)norm[1]);
        /* By itself; then the norm is what was allowed. */
        must(lk_clip_gradients(NULL, &m.desc, m.table, at));
        must(lk_global_norm(NULL, &m.desc, m.table, 100, at, workspace, bytes));
        must(lk_copy_from(again, at, 8));
        must_be_near((double)again[0], 5, mode == LK_ADAMW_F32 ? 1e-5 : 0.01);
        assert_true(again[1] == 1);
        must_fail(lk_global_norm(NULL, &m.desc, m.table, 5, at, workspace, bytes - 1),
                  LK_SMALL_WORKSPACE, "lk_global_norm_workspace says how many");
        must_fail(lk_global_norm(NULL, &m.desc, m.table, 5, workspace, workspace, bytes),
                  LK_BAD_ARGUMENT, "workspace overlaps norm or table");
        must(lk_free(at));
        must(lk_free(workspace));
        free_model(&m);
    }
}

/* A description whose table was never made, or that was made anew, must not pass for a model
 * without elements: its steps would change nothing. */
static void test_no_units(void **state)
{
    struct model m = make_model(LK_ADAMW_F32);
    lk_adamw_desc anew = LK_ADAMW_DESC(LK_ADAMW_F32, TENSORS, 1e-3), none = anew;
    lk_tensor empty[2] = {{.count = 0}, {.count = 0}};
    char rows[2 * LK_TENSOR_BYTES], text[100];
    float norm[2];
    size_t bytes;
    void *at = on_device(NULL, 8), *workspace = on_device(NULL, 1 << 16);
    must_fail(lk_adamw(NULL, &anew, m.table), LK_BAD_ARGUMENT, "lk_adamw_table sets it");
    must_fail(lk_adamw_explain(&anew, text, sizeof text), LK_BAD_ARGUMENT, "units is 0");
    must_fail(lk_global_norm_workspace(&anew, &bytes), LK_BAD_ARGUMENT, "units is 0");
    must_fail(lk_global_norm(NULL, &anew, m.table, 1, at, workspace, 1 << 16), LK_BAD_ARGUMENT,
              "units is 0");
    must_fail(lk_clip_gradients(NULL, &anew, m.table, at), LK_BAD_ARGUMENT, "units is 0");
    for (none.tensors = 1; none.tensors <= 2; none.tensors++) {
        must(lk_adamw_table(&none, empty, rows));
        void *table = on_device(rows, sizeof rows);
        must(lk_global_norm(NULL, &none, table, 1, at, workspace, 1 << 16));
        must(lk_copy_from(norm, at, 8));
        assert_true(norm[0] == 0 && norm[1] == 1);
        must(lk_adamw(NULL, &none, table));
        must(lk_clip_gradients(NULL, &none, table, at));
        must(lk_wait(NULL));
        must(lk_free(table));
    }
    must(lk_free(at));
    must(lk_free(workspace));
    free_model(&m);
}

static void test_wrong(void **state)
{
    struct model m = make_model(LK_ADAMW_F32);
    char text[400], rows[TENSORS * LK_TENSOR_BYTES];
    must(lk_adamw_explain(&m.desc, text, sizeof text));
    assert_non_null(strstr(text, "6 tensors, 9 units of 2048 elements, f32"));
    must_fail(lk_adamw(NULL, NULL, m.table), LK_BAD_ARGUMENT, "LK_ADAMW_DESC makes one");
    must_fail(lk_adamw(NULL, &m.desc, NULL), LK_BAD_ARGUMENT, "table (");
    must_fail(lk_adamw_table(&m.desc, NULL, rows), LK_BAD_ARGUMENT, "tensors is NULL");
    m.tensor[3].master = m.tensor[3].mean;
    must_fail(lk_adamw_table(&m.desc, m.tensor, rows), LK_BAD_ARGUMENT,
              "tensors[3].master is given");
    m.tensor[3].master = NULL;
    m.tensor[3].mean = NULL;
    must_fail(lk_adamw_table(&m.desc, m.tensor, rows), LK_BAD_ARGUMENT, "tensors[3].mean");
    m.tensor[3].count = -1;
    must_fail(lk_adamw_table(&m.desc, m.tensor, rows), LK_BAD_ARGUMENT, "tensors[3].count is -1");
    m.desc.step = 0;
    must_fail(lk_adamw(NULL, &m.desc, m.table), LK_BAD_ARGUMENT, "the first one is 1");
    m.desc.step = 1;
    m.desc.beta2 = 1;
    must_fail(lk_adamw(NULL, &m.desc, m.table), LK_BAD_ARGUMENT, "beta2 1");
    m.desc.mode = (lk_adamw_mode)9;
    must_fail(lk_adamw(NULL, &m.desc, m.table), LK_BAD_ARGUMENT, "mode is 9");
    free_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),      cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_stochastic), cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_no_units),   cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
