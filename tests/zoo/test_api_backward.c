/*
 * test_api_backward.c: lk_attention_forward and lk_attention_backward one after the other, with
 * random shapes, types, masks, groups, lengths of packed sequences, padding, ALiBi and dropout,
 * against gradients in f64; those against finite
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

/* Of |error| / |gradient|, both as lengths of vectors; or of the terms whose differences dQ and dK
 * are made of, where nothing remains of them: with one key in sight both are 0. */
static const double close_enough[] = {[LK_BF16] = 0.012, [LK_F16] = 0.0015, [LK_F32] = 2e-5};

enum { SEQUENCES = 4 }; /* at most */
struct trial {
    lk_attention_desc desc;
    enum zoo_type type;
    size_t count[TENSORS];
    double *value[TENSORS]; /* what the kernels get, and what they should find */
    double terms[TENSORS];  /* of DQ and DK: the sum of their squares */
    void *device[TENSORS], *lse;
    int32_t begin[2][SEQUENCES + 1], visible[SEQUENCES]; /* of queries, of keys */
    float slope[16];
};

static bool of_keys(int tensor)
{
    return tensor == K || tensor == V || tensor == DK || tensor == DV;
}
static int64_t group_of(const lk_attention_desc *d)
{
    return d->heads / (d->kv_heads ? d->kv_heads : d->heads);
}

/* One head of q of one sequence. */
struct place {
    const struct trial *t;
    int64_t sequence, head, queries, keys, visible;
};
static struct place place_of(const struct trial *t, int64_t number)
{
    const lk_attention_desc *d = &t->desc;
    struct place p = {t, number / d->heads, number % d->heads, d->queries, d->keys, 0};
    if (d->q_begin) {
        p.queries = t->begin[0][p.sequence + 1] - t->begin[0][p.sequence];
        p.keys = t->begin[1][p.sequence + 1] - t->begin[1][p.sequence];
    }
    p.visible = d->key_lengths ? t->visible[p.sequence] : p.keys;
    return p;
}
/* Where a row begins in a tensor. */
static int64_t row_of(const struct place *p, int tensor, int64_t row)
{
    const lk_attention_desc *d = &p->t->desc;
    int64_t heads = of_keys(tensor) ? d->heads / group_of(d) : d->heads;
    int64_t head = of_keys(tensor) ? p->head / group_of(d) : p->head;
    if (d->q_begin)
        return ((p->t->begin[of_keys(tensor)][p->sequence] + row) * heads + head) * d->dim;
    return ((p->sequence * heads + head) * (of_keys(tensor) ? d->keys : d->queries) + row) * d->dim;
}
static const double *values(const struct place *p, int tensor, int64_t row)
{
    return p->t->value[tensor] + row_of(p, tensor, row);
}

static bool is_seen(const struct place *p, int64_t query, int64_t key)
{
    const lk_attention_desc *d = &p->t->desc;
    int64_t stands = query + p->keys - p->queries;
    return !(d->causal && key > stands) && key < p->visible &&
           !(d->window && (key <= stands - d->window || key >= stands + d->window));
}
/* What dropout multiplies a weight by. */
static double kept(const struct place *p, int64_t query, int64_t key)
{
    const lk_attention_desc *d = &p->t->desc;
    struct zoo_dropout drop = zoo_dropout_of(d->dropout);
    struct zoo_weight weight = {p->sequence * d->heads + p->head, d->queries, d->keys, query, key};
    bool gone = d->dropout > 0 && zoo_weight_dropped(drop, d->seed, d->offset, weight);
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
static void weigh(const struct place *p, int64_t query, double *weight, double *bend)
{
    const lk_attention_desc *d = &p->t->desc;
    double scale = d->scale != 0 ? (double)d->scale : 1 / sqrt((double)d->dim), sum = 0,
           most = -1e9;
    for (int64_t j = 0; j < p->keys; j++) {
        double score = scale * dot(values(p, Q, query), values(p, K, j), d->dim);
        double part = d->softcap > 0 ? tanh(score / d->softcap) : 0;
        bend[j] = 1 - part * part;
        score = d->softcap > 0 ? d->softcap * part : score;
        if (d->slopes)
            score -=
                (double)p->t->slope[p->head] * fabs((double)(query + p->keys - p->queries - j));
        weight[j] = is_seen(p, query, j) ? score : -INFINITY;
        most = fmax(most, weight[j]);
    }
    for (int64_t j = 0; j < p->keys; j++)
        sum += weight[j] = exp(weight[j] - most);
    for (int64_t j = 0; j < p->keys && sum > 0; j++)
        weight[j] /= sum;
}

/* The sum of grad times o: what the gradients are gradients of. */
static double loss(const struct trial *t)
{
    const lk_attention_desc *d = &t->desc;
    double *weight = malloc((size_t)(2 * d->keys + 1) * sizeof *weight), sum = 0;
    for (int64_t number = 0; number < d->batch * d->heads; number++) {
        struct place p = place_of(t, number);
        for (int64_t i = 0; i < p.queries; i++) {
            weigh(&p, i, weight, weight + d->keys);
            for (int64_t j = 0; j < p.keys; j++)
                sum +=
                    kept(&p, i, j) * weight[j] * dot(values(&p, GRAD, i), values(&p, V, j), d->dim);
        }
    }
    free(weight);
    return sum;
}

static void differentiate_row(struct trial *t, const struct place *p, int64_t i, double *weight)
{
    const lk_attention_desc *d = &t->desc;
    double scale = d->scale != 0 ? (double)d->scale : 1 / sqrt((double)d->dim), delta = 0;
    double *bend = weight + d->keys;
    const double *grad = values(p, GRAD, i), *q = values(p, Q, i);
    weigh(p, i, weight, bend);
    for (int64_t j = 0; j < p->keys; j++)
        delta += kept(p, i, j) * weight[j] * dot(grad, values(p, V, j), d->dim);
    for (int64_t j = 0; j < p->keys; j++) {
        double by = kept(p, i, j), slope = by * dot(grad, values(p, V, j), d->dim) - delta;
        int64_t to_q = row_of(p, DQ, i), to_k = row_of(p, DK, j);
        double term = weight[j] * scale * bend[j] * delta;
        slope *= weight[j] * scale * bend[j];
        t->terms[DQ] += term * term * dot(values(p, K, j), values(p, K, j), d->dim);
        t->terms[DK] += term * term * dot(q, q, d->dim);
        for (int64_t c = 0; c < d->dim; c++) {
            t->value[DQ][to_q + c] += slope * t->value[K][to_k + c];
            t->value[DK][to_k + c] += slope * q[c];
            t->value[DV][to_k + c] += by * weight[j] * grad[c];
        }
    }
}
static void differentiate(struct trial *t)
{
    const lk_attention_desc *d = &t->desc;
    double *weight = malloc((size_t)(2 * d->keys + 1) * sizeof *weight);
    for (int64_t number = 0; number < d->batch * d->heads; number++) {
        struct place p = place_of(t, number);
        for (int64_t i = 0; i < p.queries; i++)
            differentiate_row(t, &p, i, weight);
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
    size = fmax(size, t->terms[tensor]);
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

/* Packed sequences, some of them empty; or padding, which holds NaN; and ALiBi. */
static void make_ragged(struct trial *t)
{
    lk_attention_desc *d = &t->desc;
    if (any(2)) {
        d->batch = 1 + any(SEQUENCES);
        for (int side = 0; side < 2; side++) {
            int64_t most = side ? d->keys : d->queries, sum = 0;
            for (int i = 0; i < d->batch; i++)
                t->begin[side][i + 1] = (int32_t)(sum += i == 0 ? most : any(most + 1));
            *(side ? &d->all_keys : &d->all_queries) = sum;
        }
        d->q_begin = on_device(t->begin[0], sizeof t->begin[0]);
        d->k_begin = on_device(t->begin[1], sizeof t->begin[1]);
    } else if (any(2)) {
        for (int i = 0; i < d->batch; i++)
            t->visible[i] = (int32_t)any(d->keys + 1);
        d->key_lengths = on_device(t->visible, sizeof t->visible);
    }
    if (any(2)) {
        for (int i = 0; i < 16; i++)
            t->slope[i] = 0.01F * (float)any(50);
        d->slopes = on_device(t->slope, sizeof t->slope);
    }
}
static bool is_padding(const struct trial *t, int tensor, size_t i)
{
    const lk_attention_desc *d = &t->desc;
    int64_t row = (int64_t)i / d->dim, heads = d->heads / group_of(d);
    return d->key_lengths && (tensor == K || tensor == V) &&
           row % d->keys >= t->visible[row / d->keys / heads];
}

static lk_attention_desc any_desc(void)
{
    static const int64_t dims[] = {64, 128, 64, 128, 20};
    lk_type type = any(6) == 0 ? LK_F32 : any(2) ? LK_BF16 : LK_F16;
    int64_t kv_heads = 1 + any(2);
    lk_attention_desc d = LK_ATTENTION_DESC(type, 1 + any(2), kv_heads * (1 + any(3)), 1 + any(100),
                                            1 + any(150), dims[any(5)]);
    d.kv_heads = kv_heads;
    d.causal = any(2) != 0;
    d.scale = any(3) ? 0 : 0.125f;
    if (any(2) == 0) {
        d.window = any(2) ? 1 + any(100) : 0;
        d.softcap = any(4) == 0 ? 0.5f + (float)any(8) : 0;
        d.dropout = any(2) ? 0.25f : 0;
        d.seed = (uint64_t)any(1000) << 40;
        d.offset = (uint64_t)any(1000);
    }
    return d;
}

static void fill(struct trial *t)
{
    const lk_attention_desc *d = &t->desc;
    int64_t q_rows = d->q_begin ? d->all_queries : d->batch * d->queries;
    int64_t k_rows = d->q_begin ? d->all_keys : d->batch * d->keys;
    for (int x = 0; x < TENSORS; x++) {
        t->count[x] =
            (size_t)(d->dim * (of_keys(x) ? d->heads / group_of(d) * k_rows : d->heads * q_rows));
        t->value[x] = calloc(t->count[x] + 1, sizeof(double));
        void *host = malloc(t->count[x] * zoo_type_bytes[t->type] + 1);
        for (size_t i = 0; i < t->count[x]; i++) {
            t->value[x][i] = x <= GRAD ? (double)(any(257) - 128) / 128 : 0;
            zoo_put(t->type, host, i, x <= GRAD && !is_padding(t, x, i) ? t->value[x][i] : NAN);
        }
        t->device[x] = on_device(host, t->count[x] * zoo_type_bytes[t->type]);
        free(host);
    }
    t->lse = on_device(NULL, (size_t)(d->heads * q_rows) * 4);
}

static void test_random(void **state)
{
    (void)state;
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        struct trial t = {.desc = any_desc()};
        lk_attention_desc *d = &t.desc;
        if (round % 2)
            make_ragged(&t);
        t.type = zoo_type_of(d->type);
        fill(&t);
        differentiate(&t);
        if (round % 5 == 0 || round % 5 == 3)
            check_differences(&t);
        run(&t);
        for (int x = 0; x < TENSORS; x++) {
            free(t.value[x]);
            must(lk_free(t.device[x]));
        }
        must(lk_free(t.lse));
        const void *given[] = {d->q_begin, d->k_begin, d->key_lengths, d->slopes};
        for (int i = 0; i < 4; i++)
            must(lk_free((void *)(uintptr_t)given[i]));
    }
}

/* A kernel without dropout has run before: the same sizes with dropout need another one. */
static void test_same_sizes(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        struct trial t = {.desc = LK_ATTENTION_DESC(LK_BF16, 1, 2, 64, 64, 64), .type = ZOO_BF16};
        t.desc.dropout = round % 2 ? 0.5f : 0;
        t.desc.softcap = round > 1 ? 0.5f : 0;
        fill(&t);
        differentiate(&t);
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
    d.dropout = 0.5f;
    must(lk_attention_backward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention_backward/ragged"));
    d.softcap = 30;
    must(lk_attention_backward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention_backward/naive"));
    d.softcap = d.dropout = 0;
    d.q_begin = d.k_begin = (const int32_t *)text; /* not looked at */
    d.all_queries = d.all_keys = 100;
    must(lk_attention_backward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention_backward/ragged"));
    d = (lk_attention_desc)LK_ATTENTION_DESC(LK_BF16, 1, 2, 128, 128, 80);
    must(lk_attention_backward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention_backward/naive"));
}

/* One side of packed sequences has no rows: gradients of the other are 0. */
static void test_no_rows(void **state)
{
    (void)state;
    int32_t none[3] = {0, 0, 0}, some[3] = {0, 5, 9};
    unsigned short got[9 * 2 * 64], nan[9 * 2 * 64];
    memset(nan, 0xff, sizeof nan);
    for (int side = 0; side < 2; side++) {
        lk_attention_desc d = LK_ATTENTION_DESC(LK_BF16, 2, 2, 5, 5, 64);
        size_t bytes;
        void *in = on_device(NULL, sizeof got), *to = on_device(nan, sizeof got);
        d.q_begin = on_device(side ? some : none, sizeof none);
        d.k_begin = on_device(side ? none : some, sizeof none);
        *(side ? &d.all_queries : &d.all_keys) = 9;
        must(lk_attention_backward_workspace(&d, &bytes));
        void *workspace = on_device(NULL, bytes + 16), *lse = on_device(NULL, 9 * 2 * 4);
        must(side ? lk_attention_backward(NULL, &d, in, NULL, NULL, in, lse, in, to, NULL, NULL,
                                          workspace, bytes)
                  : lk_attention_backward(NULL, &d, NULL, in, in, NULL, NULL, NULL, NULL, to,
                                          on_device(NULL, sizeof got), workspace, bytes));
        must(lk_copy_from(got, to, sizeof got));
        for (size_t i = 0; i < sizeof got / sizeof *got; i++)
            assert_int_equal(got[i], 0);
    }
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
    d.dropout = 1;
    must_fail(call(&d, in, out, 0), LK_BAD_ARGUMENT, "dropout is 1; it goes from 0 to below 1");
    d = good;
    d.q_begin = in;
    must_fail(call(&d, in, out, 0), LK_BAD_ARGUMENT, "packed sequences need both");
    d.k_begin = d.key_lengths = in;
    must_fail(call(&d, in, out, 0), LK_BAD_ARGUMENT, "packed ones have no padding");
    d = good;
    d.all_keys = 8;
    must_fail(call(&d, in, out, 0), LK_BAD_ARGUMENT, "are for packed sequences");
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_same_sizes),
        cmocka_unit_test(test_no_rows), cmocka_unit_test(test_explain),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, open_all, NULL);
}
