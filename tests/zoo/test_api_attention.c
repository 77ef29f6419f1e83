/*
 * test_api_attention.c: lk_attention_forward with random shapes, steps, types, masks, heads and
 * packed sequences, against sums in f64. What lies between the rows of o must stay as it was.
 * Arguments that make no sense are refused with words that say why. LOCKSTEP_TEST_SEED=N repeats a
 * run.
 */
#include "api_tools.h"

#include "zoo/philox.h"
#include "zoo/types.h"

#include <math.h>

enum { ROUNDS = 60, SEQUENCES = 5 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static const double roundings[] = {
    [LK_BF16] = 0x1p-8, [LK_F16] = 0x1p-11, [LK_F32] = 0x1p-20, [LK_E4M3] = 0x1p-4};

/* A tensor with gaps. */
struct tensor {
    enum zoo_type type;
    lk_steps step;
    size_t count;
    void *host, *device;
};

static size_t bytes_of(const struct tensor *x)
{
    return x->count * zoo_type_bytes[x->type];
}

/* by_rows: [batch][row][head][dim]. even: 16 bytes at a time are possible. */
static struct tensor make(lk_type type, int64_t batch, int64_t heads, int64_t rows, int64_t dim,
                          bool by_rows, bool even)
{
    struct tensor x = {.type = zoo_type_of(type)};
    int64_t gap = even ? 16 * any(3) : any(5), line = dim + gap;
    x.step = by_rows ? (lk_steps){heads * line, line, rows * heads * line}
                     : (lk_steps){line, rows * line, rows * heads * line};
    x.count = (size_t)(batch * heads * rows * line + 16);
    x.host = malloc(bytes_of(&x));
    for (size_t i = 0; i < x.count; i++)
        zoo_put(x.type, x.host, i, (double)(any(257) - 128) / 64);
    x.device = on_device(x.host, bytes_of(&x));
    return x;
}

static void drop(struct tensor *x)
{
    free(x->host);
    must(lk_free(x->device));
}

struct trial {
    lk_attention_desc desc;
    struct tensor q, k, v, o;
    float *lse, scales[3][SEQUENCES * 2]; /* of q, k and v */
    int32_t lengths[SEQUENCES];
    float slopes[6];
    int64_t spoiled; /* packed: a sequence whose keys and values are NaN, or 0 */
    int32_t q_begin[SEQUENCES + 1], k_begin[SEQUENCES + 1];
};

static size_t row_of(const struct tensor *x, int64_t batch, int64_t head, int64_t row)
{
    return (size_t)(batch * x->step.batch + head * x->step.head + row * x->step.row);
}

/* Of a head of k: of tensor 0 to 2. */
static double scale_of(const struct trial *t, int tensor, int64_t batch, int64_t kv)
{
    return t->desc.q_scale
               ? t->scales[tensor][batch * t->desc.scale_batch + kv * t->desc.scale_head]
               : 1;
}

static double weight_of(const struct trial *t, size_t q, size_t k)
{
    double sum = 0, cap = t->desc.softcap;
    for (int64_t i = 0; i < t->desc.dim; i++)
        sum += zoo_get(t->q.type, t->q.host, q + (size_t)i) *
               zoo_get(t->k.type, t->k.host, k + (size_t)i);
    sum *= t->desc.scale != 0 ? t->desc.scale : 1 / sqrt((double)t->desc.dim);
    return cap != 0 ? cap * tanh(sum / cap) : sum;
}

/* What dropout multiplies a weight by. */
static double kept(const lk_attention_desc *d, int64_t batch, int64_t head, int64_t query,
                   int64_t key)
{
    struct zoo_dropout drop = zoo_dropout_of(d->dropout);
    struct zoo_weight weight = {batch * d->heads + head, d->queries, d->keys, query, key};
    bool gone = d->dropout > 0 && zoo_weight_dropped(drop, d->seed, d->offset, weight);
    return gone ? 0 : drop.scale;
}

/* One row; marks what it has compared with POISON. */
static void check_row(struct trial *t, int64_t batch, int64_t head, int64_t query, int64_t queries,
                      int64_t keys, int64_t q_first, int64_t k_first, float lse)
{
    const lk_attention_desc *d = &t->desc;
    int64_t in = d->q_begin ? 0 : batch,
            kv = head / (d->heads / (d->kv_heads ? d->kv_heads : d->heads));
    int64_t stands = query + keys - queries;
    size_t q = row_of(&t->q, in, head, q_first + query),
           o = row_of(&t->o, in, head, q_first + query);
    double *score = malloc((size_t)(keys + 1) * sizeof *score), most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < keys; j++) {
        bool hidden = (d->causal && j > stands) ||
                      (d->window && (j <= stands - d->window || j >= stands + d->window)) ||
                      (d->key_lengths && j >= t->lengths[batch]);
        score[j] = hidden ? -INFINITY
                          : weight_of(t, q, row_of(&t->k, in, kv, k_first + j)) *
                                    scale_of(t, 0, batch, kv) * scale_of(t, 1, batch, kv) -
                                (d->slopes ? t->slopes[head] * fabs((double)(stands - j)) : 0);
        most = fmax(most, score[j]);
    }
    for (int64_t j = 0; j < keys; j++)
        sum += score[j] = isinf(score[j]) ? 0 : exp(score[j] - most);
    for (int64_t i = 0; i < d->dim; i++) {
        double value = 0, got = zoo_get(t->o.type, t->o.host, o + (size_t)i);
        for (int64_t j = 0; j < keys && sum > 0; j++)
            value += score[j] == 0 ? 0
                                   : kept(d, batch, head, query, j) * score[j] / sum *
                                         scale_of(t, 2, batch, kv) *
                                         zoo_get(t->v.type, t->v.host,
                                                 row_of(&t->v, in, kv, k_first + j) + (size_t)i);
        /* |v| <= 2, and weights and output are rounded once each */
        if (!(fabs(got - value) <= 4 * roundings[d->type] + 1e-4))
            fail_msg("batch %d head %d query %d [%d]: %g, not %g", (int)batch, (int)head,
                     (int)query, (int)i, got, value);
        memset((char *)t->o.host + (o + (size_t)i) * zoo_type_bytes[t->o.type], POISON,
               zoo_type_bytes[t->o.type]);
    }
    double off = d->type == LK_E4M3 ? 0.02 : 1e-4; /* 8-bit tensor cores keep 14 bits of a sum */
    if (sum > 0 ? !(fabs(lse - (most + log(sum))) <= off * (1 + fabs(most))) : !(lse == -INFINITY))
        fail_msg("lse of query %d is %g, not %g", (int)query, (double)lse, most + log(sum));
    free(score);
}

static void check(struct trial *t)
{
    const lk_attention_desc *d = &t->desc;
    for (int64_t b = 0; b < d->batch; b++) {
        int64_t q_first = d->q_begin ? t->q_begin[b] : 0, k_first = d->q_begin ? t->k_begin[b] : 0;
        int64_t queries = d->q_begin ? t->q_begin[b + 1] - q_first : d->queries;
        int64_t keys = d->q_begin ? t->k_begin[b + 1] - k_first : d->keys;
        for (int64_t head = 0; head < d->heads; head++)
            for (int64_t i = 0; i < queries && (!t->spoiled || b != t->spoiled); i++)
                check_row(t, b, head, i, queries, keys, q_first, k_first,
                          d->q_begin ? t->lse[(q_first + i) * d->heads + head]
                                     : t->lse[(b * d->heads + head) * queries + i]);
    }
    for (size_t i = 0; i < bytes_of(&t->o) && !t->spoiled; i++)
        if (((unsigned char *)t->o.host)[i] != POISON)
            fail_msg("byte %zu of o lies between rows and was written", i);
}

static void run(struct trial *t)
{
    lk_attention_desc *d = &t->desc;
    size_t lses = (size_t)(d->q_begin ? d->all_queries : d->batch * d->queries) * (size_t)d->heads;
    size_t bytes;
    must(lk_attention_forward_workspace(d, &bytes));
    void *workspace = on_device(NULL, bytes), *lse = on_device(NULL, lses * 4);
    t->lse = malloc(lses * 4 + 4);
    memset(t->o.host, POISON, bytes_of(&t->o));
    must(lk_copy_to(t->o.device, t->o.host, bytes_of(&t->o)));
    must(lk_attention_forward(NULL, d, t->q.device, t->k.device, t->v.device, t->o.device, lse,
                              workspace, bytes));
    must(lk_copy_from(t->o.host, t->o.device, bytes_of(&t->o)));
    if (lses)
        must(lk_copy_from(t->lse, lse, lses * 4));
    check(t);
    free(t->lse);
    must(lk_free(workspace));
    must(lk_free(lse));
}

/* Padding, which holds NaN, ALiBi and dropout. */
static void give_more(struct trial *t)
{
    lk_attention_desc *d = &t->desc;
    d->dropout = any(3) ? 0 : 0.25f;
    d->seed = (uint64_t)any(1000);
    d->offset = (uint64_t)any(1000);
    if (any(2)) {
        for (int64_t i = 0; i < d->heads; i++)
            t->slopes[i] = (float)any(8) / 8;
        d->slopes = on_device(t->slopes, sizeof t->slopes);
    }
    if (d->q_begin || any(2))
        return;
    for (int64_t b = 0; b < d->batch; b++) {
        t->lengths[b] = (int32_t)any(d->keys + 1);
        struct tensor *padded[] = {&t->k, &t->v};
        for (int i = 0; i < 2; i++)
            for (int64_t head = 0; head < d->kv_heads; head++)
                for (int64_t row = t->lengths[b]; row < d->keys; row++)
                    memset((char *)padded[i]->host +
                               row_of(padded[i], b, head, row) * zoo_type_bytes[padded[i]->type],
                           0xff, (size_t)d->dim * zoo_type_bytes[padded[i]->type]);
    }
    must(lk_copy_to(t->k.device, t->k.host, bytes_of(&t->k)));
    must(lk_copy_to(t->v.device, t->v.host, bytes_of(&t->v)));
    d->key_lengths = on_device(t->lengths, sizeof t->lengths);
}

static void give_scales(struct trial *t)
{
    lk_attention_desc *d = &t->desc;
    const float **scales[] = {&d->q_scale, &d->k_scale, &d->v_scale};
    d->scale_head = any(2);
    d->scale_batch = any(2) ? 2 : 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < SEQUENCES * 2; j++)
            t->scales[i][j] = (float)(1 + any(4)) / 4;
        *scales[i] = on_device(t->scales[i], sizeof t->scales[i]);
    }
}

static void test_random(void **state)
{
    static const int64_t dims[] = {64, 96, 128, 256, 128, 64, 20};
    (void)state;
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        struct trial t = {0};
        lk_attention_desc *d = &t.desc;
        lk_type type = any(6) == 0 ? LK_F32 : any(4) == 0 ? LK_E4M3 : any(2) ? LK_BF16 : LK_F16;
        bool packed = any(3) == 0, even = any(3) != 0;
        int64_t kv_heads = 1 + any(2);
        *d = (lk_attention_desc)LK_ATTENTION_DESC(type, any(3) + 1, kv_heads * (1 + any(3)),
                                                  any(200), any(300), dims[any(7)]);
        d->kv_heads = kv_heads;
        d->causal = any(2) != 0;
        d->window = any(3) ? 0 : 1 + any(200);
        d->scale = any(3) ? 0 : 0.125f;
        int64_t q_rows = d->queries, k_rows = d->keys;
        if (packed) {
            d->batch = 1 + any(SEQUENCES);
            for (int64_t b = 0; b < d->batch; b++) {
                t.q_begin[b + 1] = t.q_begin[b] + (int32_t)any(d->queries + 1);
                t.k_begin[b + 1] = t.k_begin[b] + (int32_t)any(d->keys + 1);
            }
            d->all_queries = q_rows = t.q_begin[d->batch];
            d->all_keys = k_rows = t.k_begin[d->batch];
            d->q_begin = on_device(t.q_begin, sizeof t.q_begin);
            d->k_begin = on_device(t.k_begin, sizeof t.k_begin);
        }
        int64_t batch = packed ? 1 : d->batch;
        t.q = make(type, batch, d->heads, q_rows, d->dim, packed || any(2), even);
        t.k = make(type, batch, kv_heads, k_rows, d->dim, packed || any(2), even);
        t.v = make(type, batch, kv_heads, k_rows, d->dim, packed || any(2), even);
        t.o = make(type == LK_E4M3 ? LK_BF16 : type, batch, d->heads, q_rows, d->dim,
                   packed || any(2), even);
        d->q = t.q.step;
        d->k = t.k.step;
        d->v = t.v.step;
        d->o = t.o.step;
        d->softcap = any(4) ? 0 : 10;
        if (type == LK_E4M3 && any(3)) {
            d->softcap = 0; /* weight_of knows no scales inside a softcap */
            give_scales(&t);
        }
        if (any(3) == 0)
            give_more(&t);
        run(&t);
        drop(&t.q);
        drop(&t.k);
        drop(&t.v);
        drop(&t.o);
        must(lk_free((void *)(uintptr_t)d->q_begin));
        must(lk_free((void *)(uintptr_t)d->k_begin));
        must(lk_free((void *)(uintptr_t)d->q_scale));
        must(lk_free((void *)(uintptr_t)d->k_scale));
        must(lk_free((void *)(uintptr_t)d->v_scale));
        must(lk_free((void *)(uintptr_t)d->slopes));
        must(lk_free((void *)(uintptr_t)d->key_lengths));
    }
}

/* What a sequence holds is nobody else's business, not even NaN; nor is what lies behind the last.
 */
static void test_neighbours(void **state)
{
    static const lk_type types[] = {LK_BF16, LK_F16, LK_E4M3};
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct trial t = {
            .q_begin = {0, 70, 130, 175}, .k_begin = {0, 150, 163, 300}, .spoiled = 1};
        lk_type type = types[i / 2];
        lk_attention_desc *d = &t.desc;
        *d = (lk_attention_desc)LK_ATTENTION_DESC(type, 3, 2, 70, 150, 64);
        d->causal = i % 2;
        d->all_queries = 175;
        d->all_keys = 340;
        d->q_begin = on_device(t.q_begin, sizeof t.q_begin);
        d->k_begin = on_device(t.k_begin, sizeof t.k_begin);
        t.q = make(type, 1, 2, 175, 64, true, true);
        t.k = make(type, 1, 2, 340, 64, true, true);
        t.v = make(type, 1, 2, 340, 64, true, true);
        t.o = make(type == LK_E4M3 ? LK_BF16 : type, 1, 2, 175, 64, true, true);
        struct tensor *spoiled[] = {&t.k, &t.v};
        for (int j = 0; j < 2; j++) {
            struct tensor *x = spoiled[j];
            size_t each = zoo_type_bytes[x->type];
            int64_t step = x->step.row;
            for (int64_t at = 150 * step; at < 340 * step; at++)
                if (at < 163 * step || at >= 300 * step) /* NaN in each type */
                    memset((char *)x->host + (size_t)at * each, 0xff, each);
            must(lk_copy_to(x->device, x->host, bytes_of(x)));
        }
        d->q = t.q.step;
        d->k = t.k.step;
        d->v = t.v.step;
        d->o = t.o.step;
        run(&t);
        drop(&t.q);
        drop(&t.k);
        drop(&t.v);
        drop(&t.o);
        must(lk_free((void *)(uintptr_t)d->q_begin));
        must(lk_free((void *)(uintptr_t)d->k_begin));
    }
}

/* Without steps: [batch][heads][rows][dim]. */
static void test_explain(void **state)
{
    char text[400];
    (void)state;
    lk_attention_desc d = LK_ATTENTION_DESC(LK_BF16, 1, 2, 128, 128, 128);
    must(lk_attention_forward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention/overlapped"));
    d.type = LK_E4M3;
    must(lk_attention_forward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention/fp8"));
    d.type = LK_BF16;
    d.dim = 80;
    must(lk_attention_forward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention/naive"));
    d.dim = 64;
    d.q.row = 65;
    must(lk_attention_forward_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention/online_softmax"));
}

static lk_status call(const lk_attention_desc *d, void *q, void *o, size_t workspace_bytes)
{
    return lk_attention_forward(NULL, d, q, q, q, o, NULL, q, workspace_bytes);
}

static void test_refusals(void **state)
{
    (void)state;
    lk_attention_desc good = LK_ATTENTION_DESC(LK_BF16, 1, 4, 8, 8, 64), d = good;
    size_t bytes = 4 * 8 * 64 * 2;
    void *q = on_device(NULL, bytes), *o = on_device(NULL, bytes);
    must_fail(call(NULL, q, o, 0), LK_BAD_ARGUMENT, "desc is NULL");
    d.type = LK_S8;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "LK_BF16, LK_F16, LK_F32 or LK_E4M3");
    d = good;
    d.q_scale = q;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "are for LK_E4M3");
    d = good;
    d.kv_heads = 3;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "not a multiple of kv_heads");
    d = good;
    d.dim = 513;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "dim is 513; it goes from 1 to 512");
    d = good;
    d.scale = -1;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "scale is -1");
    d = good;
    d.softcap = NAN;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "softcap");
    d = good;
    d.q_begin = q;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "packed sequences need both");
    d = good;
    d.dropout = 1;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "dropout is 1; it goes from 0 to below 1");
    d = good;
    d.q_begin = d.k_begin = d.key_lengths = q;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "packed ones have no padding");
    d = good;
    d.all_keys = 8;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "for packed sequences");
    d = good;
    d.o.row = 32;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "rows would overlap");
    d = good;
    d.q.head = -64;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "a step of q");
    d = good;
    must_fail(call(&d, q, NULL, 0), LK_BAD_ARGUMENT, "o is NULL");
    must_fail(call(&d, (char *)q + 1, o, 0), LK_BAD_ARGUMENT, "not aligned to 2 bytes");
    must_fail(call(&d, q, q, 0), LK_BAD_ARGUMENT, "overlap");
    d.keys = 1 << 20;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "k");
    d = good;
    d.dim = 40;
    must_fail(call(&d, q, o, 1023), LK_SMALL_WORKSPACE, "must have 1024");
    must_fail(call(&d, q, o, 1024), LK_BAD_ARGUMENT, "workspace and q overlap");
    must_fail(lk_attention_forward(NULL, &d, q, q, q, o, NULL, (char *)o + 16, bytes - 16),
              LK_BAD_ARGUMENT, "workspace and o overlap");
    must_fail(lk_attention_forward_workspace(&good, NULL), LK_BAD_ARGUMENT, "bytes is NULL");
    must_fail(lk_attention_forward_explain(&good, NULL, 1), LK_BAD_ARGUMENT, "text is NULL");
    must(lk_free(q));
    must(lk_free(o));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_explain), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, open_all, NULL);
}
