/*
 * test_api_decode.c: lk_attention_decode with random shapes, types, groups, lengths and pages,
 * against sums in f64; twice, with the same bits. Keys beyond a length and pages of nobody are NaN
 * and must not count. Arguments that make no sense are refused with words that say why.
 * LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_tools.h"

#include <math.h>

enum { ROUNDS = 40, SEQUENCES = 6 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static const double roundings[] = {[LK_BF16] = 0x1p-8, [LK_F16] = 0x1p-11, [LK_F32] = 0x1p-20};

/* A tensor here and on the GPU. */
struct tensor {
    enum zoo_type type;
    size_t count;
    void *host, *device;
};

static struct tensor make(lk_type type, size_t count)
{
    struct tensor x = {.type = zoo_type_of(type), .count = count};
    x.host = malloc(count * zoo_type_bytes[x.type] + 1);
    return x;
}
static void send(struct tensor *x)
{
    x->device = on_device(x->host, x->count * zoo_type_bytes[x->type]);
}
static void drop(struct tensor *x)
{
    free(x->host);
    must(lk_free(x->device));
}

struct trial {
    lk_attention_decode_desc desc;
    int64_t group, places, length[SEQUENCES];
    int32_t *table; /* [batch][places] */
    struct tensor q, k, v, o;
    float *lse;
};

static size_t q_at(const struct trial *t, int64_t sequence, int64_t head, int64_t query)
{
    const lk_attention_decode_desc *d = &t->desc;
    int64_t row = d->rows_first ? (sequence * d->queries + query) * d->heads + head
                                : (sequence * d->heads + head) * d->queries + query;
    return (size_t)(row * d->dim);
}
static size_t k_at(const struct trial *t, int64_t sequence, int64_t head, int64_t key)
{
    const lk_attention_decode_desc *d = &t->desc;
    int64_t rows = t->table ? d->page : d->keys;
    int64_t page = t->table ? t->table[sequence * t->places + key / d->page] : sequence;
    int64_t row = t->table ? key % d->page : key;
    return (size_t)((d->rows_first ? (page * rows + row) * d->kv_heads + head
                                   : (page * d->kv_heads + head) * rows + row) *
                    d->dim);
}

static void fill(struct trial *t)
{
    const lk_attention_decode_desc *d = &t->desc;
    for (size_t i = 0; i < t->q.count; i++)
        zoo_put(t->q.type, t->q.host, i, (double)(any(257) - 128) / 64);
    for (size_t i = 0; i < t->k.count; i++) {
        zoo_put(t->k.type, t->k.host, i, NAN);
        zoo_put(t->v.type, t->v.host, i, NAN);
    }
    for (int64_t b = 0; b < d->batch; b++)
        for (int64_t head = 0; head < d->kv_heads; head++)
            for (int64_t key = 0; key < t->length[b]; key++)
                for (int64_t i = 0; i < d->dim; i++) {
                    size_t at = k_at(t, b, head, key) + (size_t)i;
                    zoo_put(t->k.type, t->k.host, at, (double)(any(257) - 128) / 64);
                    zoo_put(t->v.type, t->v.host, at, (double)(any(257) - 128) / 64);
                }
}

static void check_row(const struct trial *t, int64_t sequence, int64_t head, int64_t query)
{
    const lk_attention_decode_desc *d = &t->desc;
    int64_t keys = t->length[sequence] - d->queries + query + 1;
    double *weight = malloc((size_t)(d->keys + 1) * sizeof *weight), most = -INFINITY, sum = 0;
    size_t q = q_at(t, sequence, head, query);
    for (int64_t j = 0; j < keys; j++) {
        size_t k = k_at(t, sequence, head / t->group, j);
        double score = 0;
        for (int64_t i = 0; i < d->dim; i++)
            score += zoo_get(t->q.type, t->q.host, q + (size_t)i) *
                     zoo_get(t->k.type, t->k.host, k + (size_t)i);
        weight[j] = score * (d->scale != 0 ? d->scale : 1 / sqrt((double)d->dim));
        most = fmax(most, weight[j]);
    }
    for (int64_t j = 0; j < keys; j++)
        sum += weight[j] = exp(weight[j] - most);
    for (int64_t i = 0; i < d->dim; i++) {
        double value = 0, got = zoo_get(t->o.type, t->o.host, q + (size_t)i);
        for (int64_t j = 0; j < keys; j++)
            value +=
                weight[j] / sum *
                zoo_get(t->v.type, t->v.host, k_at(t, sequence, head / t->group, j) + (size_t)i);
        /* |v| <= 2, and weights and output are rounded once each */
        if (!(fabs(got - value) <= 4 * roundings[d->type] + 1e-4))
            fail_msg("sequence %d head %d query %d [%d]: %g, not %g", (int)sequence, (int)head,
                     (int)query, (int)i, got, value);
    }
    float lse = t->lse[(sequence * d->heads + head) * d->queries + query];
    if (sum > 0 ? !(fabs(lse - (most + log(sum))) <= 1e-4 * (1 + fabs(most))) : lse != -INFINITY)
        fail_msg("lse of query %d is %g, not %g", (int)query, (double)lse, most + log(sum));
    free(weight);
}

static void run(struct trial *t)
{
    const lk_attention_decode_desc *d = &t->desc;
    size_t bytes, rows = (size_t)(d->batch * d->heads * d->queries);
    size_t o_bytes = t->o.count * zoo_type_bytes[t->o.type];
    must(lk_attention_decode_workspace(d, &bytes));
    void *workspace = on_device(NULL, bytes), *lse = on_device(NULL, rows * 4);
    void *before = malloc(o_bytes + 1);
    t->lse = malloc(rows * 4 + 1);
    memset(t->o.host, 0xa5, o_bytes);
    for (int time = 0; time < 2; time++) {
        memcpy(before, t->o.host, o_bytes);
        must(lk_attention_decode(NULL, d, t->q.device, t->k.device, t->v.device, t->o.device, lse,
                                 workspace, bytes));
        must(lk_copy_from(t->o.host, t->o.device, o_bytes));
    }
    assert_memory_equal(before, t->o.host, o_bytes);
    must(lk_copy_from(t->lse, lse, rows * 4));
    for (int64_t b = 0; b < d->batch; b++)
        for (int64_t head = 0; head < d->heads; head++)
            for (int64_t i = 0; i < d->queries; i++)
                check_row(t, b, head, i);
    free(t->lse);
    free(before);
    must(lk_free(workspace));
    must(lk_free(lse));
}

static void test_random(void **state)
{
    static const int64_t dims[] = {64, 96, 128, 256, 128, 64, 20};
    static const int64_t pages[] = {16, 32, 64, 256, 5};
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct trial t = {.group = 1 + any(9)};
        lk_attention_decode_desc *d = &t.desc;
        lk_type type = any(6) == 0 ? LK_F32 : any(2) ? LK_BF16 : LK_F16;
        int64_t kv_heads = 1 + any(2);
        int32_t lengths[SEQUENCES];
        *d = (lk_attention_decode_desc)LK_ATTENTION_DECODE_DESC(
            type, 1 + any(SEQUENCES), kv_heads * t.group, 1 + any(300), dims[any(7)]);
        d->kv_heads = kv_heads;
        d->queries = 1 + (any(3) ? 0 : any(4));
        d->scale = any(3) ? 0 : 0.125f;
        d->rows_first = any(2) != 0;
        for (int64_t b = 0; b < d->batch; b++) {
            t.length[b] = any(4) ? any(d->keys + 1) : any(2) ? d->keys : 0;
            lengths[b] = (int32_t)t.length[b];
        }
        d->lengths = on_device(lengths, sizeof lengths);
        size_t cache = (size_t)(d->batch * kv_heads * d->keys * d->dim);
        if (any(2)) {
            d->page = pages[any(5)];
            t.places = (d->keys + d->page - 1) / d->page;
            d->pages = d->batch * t.places + any(5);
            t.table = malloc((size_t)(d->batch * t.places) * sizeof *t.table);
            for (int64_t i = 0; i < d->batch * t.places; i++) /* from the last page down */
                t.table[i] = (int32_t)(d->pages - 1 - i);
            d->table = on_device(t.table, (size_t)(d->batch * t.places) * sizeof *t.table);
            cache = (size_t)(d->pages * d->page * kv_heads * d->dim);
        }
        t.q = make(type, (size_t)(d->batch * d->heads * d->queries * d->dim));
        t.o = make(type, t.q.count);
        t.k = make(type, cache);
        t.v = make(type, cache);
        fill(&t);
        send(&t.q);
        send(&t.k);
        send(&t.v);
        send(&t.o);
        run(&t);
        drop(&t.q);
        drop(&t.k);
        drop(&t.v);
        drop(&t.o);
        free(t.table);
        must(lk_free((void *)(uintptr_t)d->lengths));
        must(lk_free((void *)(uintptr_t)d->table));
    }
}

static void test_explain(void **state)
{
    char text[600];
    (void)state;
    lk_attention_decode_desc d = LK_ATTENTION_DECODE_DESC(LK_BF16, 1, 8, 4096, 128);
    d.kv_heads = 2;
    must(lk_attention_decode_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention_decode/chained"));
    d.dim = 80;
    must(lk_attention_decode_explain(&d, text, sizeof text));
    assert_non_null(strstr(text, "attention_decode/naive"));
}

static lk_status call(const lk_attention_decode_desc *d, void *q, void *o, size_t workspace_bytes)
{
    return lk_attention_decode(NULL, d, q, q, q, o, NULL, q, workspace_bytes);
}

static void test_refusals(void **state)
{
    (void)state;
    lk_attention_decode_desc good = LK_ATTENTION_DECODE_DESC(LK_BF16, 1, 4, 8, 64), d = good;
    size_t bytes = 4 * 8 * 64 * 2;
    void *q = on_device(NULL, bytes), *o = on_device(NULL, bytes);
    must_fail(call(NULL, q, o, 0), LK_BAD_ARGUMENT, "desc is NULL");
    d.type = LK_S8;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "LK_BF16, LK_F16 or LK_F32");
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
    d.page = 16;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "table is NULL");
    d.table = q;
    must_fail(call(&d, q, o, 0), LK_BAD_ARGUMENT, "pages is 0");
    d = good;
    must_fail(call(&d, q, NULL, 0), LK_BAD_ARGUMENT, "o is NULL");
    must_fail(call(&d, (char *)q + 1, o, 0), LK_BAD_ARGUMENT, "not aligned to 2 bytes");
    must_fail(call(&d, q, q, 0), LK_BAD_ARGUMENT, "overlap");
    must_fail(call(&d, q, o, 0), LK_SMALL_WORKSPACE, "workspace");
    must_fail(lk_attention_decode_workspace(&good, NULL), LK_BAD_ARGUMENT, "bytes is NULL");
    must(lk_free(q));
    must(lk_free(o));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_explain),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, open_all, NULL);
}
