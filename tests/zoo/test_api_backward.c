/*
 * test_api_backward.c: lk_attention_forward and lk_attention_backward one after the other, with
 * random shapes, types, masks and groups, against gradients in f64; those against finite
 * differences of forward in f64. Twice, with the same bits if that is asked for. Arguments that
 * make no sense are refused with words that say why. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_tools.h"

#include "zoo/philox.h"

#include <math.h>

enum { ROUNDS = 25, Q = 0, K, V, GRAD, O, DQ, DK, DV, TENSORS };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

/* Of |error| / |gradient|, both as lengths of vectors. */
static const double close_enough[] = {[LK_BF16] = 0.012, [LK_F16] = 0.0015, [LK_F32] = 2e-5};

struct trial {
    lk_attention_desc desc;
    enum zoo_type type;
    size_t count[TENSORS];
    double *value[TENSORS]; /* what the kernels get, and what they should find */
    void *device[TENSORS], *lse;
};

static bool of_keys(int tensor)
{
    return tensor == K || tensor == V || tensor == DK || tensor == DV;
}
static int64_t group_of(const lk_attention_desc *d)
{
    return d->heads / (d->kv_heads ? d->kv_heads : d->heads);
}
static bool is_seen(const lk_attention_desc *d, int64_t query, int64_t key)
{
    int64_t stands = query + d->keys - d->queries;
    return !(d->causal && key > stands) &&
           !(d->window && (key <= stands - d->window || key >= stands + d->window));
}
/* What dropout multiplies a weight by. */
static double kept(const lk_attention_desc *d, int64_t head, int64_t query, int64_t key)
{
    struct zoo_dropout drop = zoo_dropout_of(d->dropout);
    int64_t at = (head * d->queries + query) * d->keys + key;
    bool gone = d->dropout > 0 && zoo_dropped(drop, d->seed, d->offset, (uint64_t)at);
    return gone ? 0 : drop.scale;
}
static double dot(const double *a, const double *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Weights of a query before dropout, and how much less scores move for their softcap. */
static void weigh(const struct trial *t, int64_t head, int64_t query, double *weight, double *bend)
{
    const lk_attention_desc *d = &t->desc;
    int64_t kv = head / group_of(d);
    double scale = d->scale != 0 ? (double)d->scale : 1 / sqrt((double)d->dim), sum = 0,
           most = -1e9;
    const double *q = t->value[Q] + (head * d->queries + query) * d->dim;
    for (int64_t j = 0; j < d->keys; j++) {
        double score = scale * dot(q, t->value[K] + (kv * d->keys + j) * d->dim, d->dim);
        double part = d->softcap > 0 ? tanh(score / d->softcap) : 0;
        bend[j] = 1 - part * part;
        weight[j] = !is_seen(d, query, j) ? -INFINITY : d->softcap > 0 ? d->softcap * part : score;
        most = fmax(most, weight[j]);
    }
    for (int64_t j = 0; j < d->keys; j++)
        sum += weight[j] = exp(weight[j] - most);
    for (int64_t j = 0; j < d->keys && sum > 0; j++)
        weight[j] /= sum;
}

/* The sum of grad times o: what the gradients are gradients of. */
static double loss(const struct trial *t)
{
    const lk_attention_desc *d = &t->desc;
    double *weight = malloc((size_t)(2 * d->keys + 1) * sizeof *weight), sum = 0;
    for (int64_t head = 0; head < d->batch * d->heads; head++)
        for (int64_t i = 0; i < d->queries; i++) {
            int64_t kv = head / group_of(d);
            weigh(t, head, i, weight, weight + d->keys);
            for (int64_t j = 0; j < d->keys; j++)
                sum += kept(d, head, i, j) * weight[j] *
                       dot(t->value[GRAD] + (head * d->queries + i) * d->dim,
                           t->value[V] + (kv * d->keys + j) * d->dim, d->dim);
        }
    free(weight);
    return sum;
}

static void differentiate(struct trial *t)
{
    const lk_attention_desc *d = &t->desc;
    double *weight = malloc((size_t)(2 * d->keys + 1) * sizeof *weight), *bend = weight + d->keys;
    double scale = d->scale != 0 ? (double)d->scale : 1 / sqrt((double)d->dim);
    for (int64_t head = 0; head < d->batch * d->heads; head++)
        for (int64_t i = 0; i < d->queries; i++) {
            int64_t kv = head / group_of(d);
            weigh(t, head, i, weight, bend);
            int64_t row = (head * d->queries + i) * d->dim;
            double delta = 0;
            for (int64_t j = 0; j < d->keys; j++)
                delta +=
                    kept(d, head, i, j) * weight[j] *
                    dot(t->value[GRAD] + row, t->value[V] + (kv * d->keys + j) * d->dim, d->dim);
            for (int64_t j = 0; j < d->keys; j++) {
                double by = kept(d, head, i, j);
                int64_t k = (kv * d->keys + j) * d->dim;
                double slope = by * dot(t->value[GRAD] + row, t->value[V] + k, d->dim) - delta;
                slope *= weight[j] * scale * bend[j];
                for (int64_t c = 0; c < d->dim; c++) {
                    t->value[DQ][row + c] += slope * t->value[K][k + c];
                    t->value[DK][k + c] += slope * t->value[Q][row + c];
                    t->value[DV][k + c] += by * weight[j] * t->value[GRAD][row + c];
                }
            }
        }
    free(weight);
}

/* Of some numbers of Q, K and V: what the loss changes by when they do. */
static void check_differences(struct trial *t)
{
    for (int x = Q; x <= V; x++)
        for (int n = 0; n < 4 && t->count[x]; n++) {
            size_t at = (size_t)any((int64_t)t->count[x]);
            double before = t->value[x][at], step = 1e-4, change, wanted = t->value[DQ + x][at];
            t->value[x][at] = before + step;
            change = loss(t);
            t->value[x][at] = before - step;
            change = (change - loss(t)) / (2 * step);
            t->value[x][at] = before;
            if (!(fabs(change - wanted) <= 1e-6 * (1 + fabs(wanted))))
                fail_msg("tensor %d [%zu]: the difference is %.9g, the gradient %.9g", x, at,
                         change, wanted);
        }
}

static void compare(const struct trial *t, int tensor, const void *got)
{
    double error = 0, size = 1e-12;
    for (size_t i = 0; i < t->count[tensor]; i++) {
        double wanted = t->value[tensor][i], off = zoo_get(t->type, got, i) - wanted;
        error += off * off;
        size += wanted * wanted;
    }
    if (!(sqrt(error / size) <= close_enough[t->desc.type]))
        fail_msg("tensor %d is off by %g: %s batch %d heads %d / %d queries %d keys %d dim %d %s",
                 tensor, sqrt(error / size), zoo_type_names[t->type], (int)t->desc.batch,
                 (int)t->desc.heads, (int)t->desc.kv_heads, (int)t->desc.queries, (int)t->desc.keys,
                 (int)t->desc.dim, t->desc.causal ? "causal" : "full");
}

static void run(struct trial *t)
{
    const lk_attention_desc *d = &t->desc;
    void **at = t->device;
    size_t forward, backward;
    bool same_bits = any(2) != 0;
    lk_set_deterministic(same_bits);
    must(lk_attention_forward_workspace(d, &forward));
    must(lk_attention_backward_workspace(d, &backward));
    void *workspace = on_device(NULL, forward > backward ? forward : backward);
    must(lk_attention_forward(NULL, d, at[Q], at[K], at[V], at[O], t->lse, workspace, forward));
    must(lk_attention_backward(NULL, d, at[Q], at[K], at[V], at[O], t->lse, at[GRAD], at[DQ],
                               at[DK], at[DV], workspace, backward));
    for (int x = DQ; x <= DV; x++) {
        size_t bytes = t->count[x] * zoo_type_bytes[t->type];
        void *first = malloc(bytes + 1), *second = malloc(bytes + 1);
        if (bytes) {
            must(lk_copy_from(first, at[x], bytes));
            must(lk_attention_backward(NULL, d, at[Q], at[K], at[V], at[O], t->lse, at[GRAD],
                                       at[DQ], at[DK], at[DV], workspace, backward));
            must(lk_copy_from(second, at[x], bytes));
        }
        compare(t, x, first);
        compare(t, x, second);
        if (same_bits)
            assert_memory_equal(first, second, bytes);
        free(first);
        free(second);
    }
    must(lk_free(workspace));
    lk_set_deterministic(0);
}

static void test_random(void **state)
{
    static const int64_t dims[] = {64, 128, 64, 128, 20};
    (void)state;
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        struct trial t = {0};
        lk_attention_desc *d = &t.desc;
        lk_type type = any(6) == 0 ? LK_F32 : any(2) ? LK_BF16 : LK_F16;
        int64_t kv_heads = 1 + any(2);
        *d = (lk_attention_desc)LK_ATTENTION_DESC(type, 1 + any(2), kv_heads * (1 + any(3)),
                                                  1 + any(100), 1 + any(150), dims[any(5)]);
        d->kv_heads = kv_heads;
        d->causal = any(2) != 0;
        d->scale = any(3) ? 0 : 0.125f;
        if (any(3) == 0) {
            d->window = any(2) ? 1 + any(100) : 0;
            d->softcap = any(2) ? 0.5f + (float)any(8) : 0;
            d->dropout = any(2) ? 0.25f : 0;
            d->seed = (uint64_t)any(1000) << 40;
            d->offset = (uint64_t)any(1000);
        }
        t.type = zoo_type_of(type);
        for (int x = 0; x < TENSORS; x++) {
            t.count[x] = (size_t)(d->batch * d->dim *
                                  (of_keys(x) ? kv_heads * d->keys : d->heads * d->queries));
            t.value[x] = calloc(t.count[x] + 1, sizeof(double));
            void *host = malloc(t.count[x] * zoo_type_bytes[t.type] + 1);
            for (size_t i = 0; i < t.count[x]; i++) {
                t.value[x][i] = x <= GRAD ? (double)(any(257) - 128) / 128 : 0;
                zoo_put(t.type, host, i, x <= GRAD ? t.value[x][i] : NAN);
            }
            t.device[x] = on_device(host, t.count[x] * zoo_type_bytes[t.type]);
            free(host);
        }
        t.lse = on_device(NULL, (size_t)(d->batch * d->heads * d->queries) * 4);
        differentiate(&t);
        if (round % 5 == 0)
            check_differences(&t);
        run(&t);
        for (int x = 0; x < TENSORS; x++) {
            free(t.value[x]);
            must(lk_free(t.device[x]));
        }
        must(lk_free(t.lse));
    }
}

static void test_explain(void **state)
{
    char text[600];
    (void)state;
    lk_attention_desc d = LK_ATTENTION_DESC(LK_BF16, 1, 2, 128, 128, 128);
    must(lk_attention_backward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention_backward/one_pass"));
    lk_set_deterministic(1);
    must(lk_attention_backward_explain(&d, text, sizeof text));
    lk_set_deterministic(0);
    assert_non_null(strstr(text, "attention_backward/turns"));
    d.dim = 80;
    must(lk_attention_backward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention_backward/naive"));
}

static lk_status call(const lk_attention_desc *d, void *in, void *out, size_t workspace_bytes)
{
    return lk_attention_backward(NULL, d, in, in, in, in, in, in, out, (char *)out + 4096,
                                 (char *)out + 8192, in, workspace_bytes);
}

static void test_refusals(void **state)
{
    (void)state;
    lk_attention_desc good = LK_ATTENTION_DESC(LK_BF16, 1, 4, 8, 8, 64), d = good;
    void *in = on_device(NULL, 4096), *out = on_device(NULL, 3 * 4096);
    must_fail(call(NULL, in, out, 0), LK_BAD_ARGUMENT, "desc is NULL");
    d.type = LK_S8;
    must_fail(call(&d, in, out, 0), LK_BAD_ARGUMENT, "LK_BF16, LK_F16 or LK_F32");
    d = good;
    d.kv_heads = 3;
    must_fail(call(&d, in, out, 0), LK_BAD_ARGUMENT, "not a multiple of kv_heads");
    d = good;
    d.softcap = -4;
    must_fail(call(&d, in, out, 0), LK_BAD_ARGUMENT, "softcap is -4");
    d = good;
    d.key_lengths = in;
    must_fail(call(&d, in, out, 0), LK_UNSUPPORTED, "padding");
    d = good;
    d.slopes = in;
    must_fail(call(&d, in, out, 0), LK_UNSUPPORTED, "ALiBi");
    d = good;
    d.dropout = 1;
    must_fail(call(&d, in, out, 0), LK_BAD_ARGUMENT, "dropout is 1; it goes from 0 to below 1");
    d = good;
    d.q_begin = d.k_begin = in;
    must_fail(call(&d, in, out, 0), LK_UNSUPPORTED, "packed sequences");
    d = good;
    d.q.row = 256;
    must_fail(call(&d, in, out, 0), LK_UNSUPPORTED, "steps of q");
    d = good;
    must_fail(call(&d, in, NULL, 0), LK_BAD_ARGUMENT, "dq is NULL");
    must_fail(call(&d, in, out, 0), LK_SMALL_WORKSPACE, "workspace");
    must_fail(lk_attention_backward_workspace(&good, NULL), LK_BAD_ARGUMENT, "bytes is NULL");
    must(lk_free(in));
    must(lk_free(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_explain),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, open_all, NULL);
}
