/*
 * test_api_kv.c: lk_kv_append and lk_kv_attend: sequences that grow token by token, through pages
 * in an order of their own, beside attention in double over the numbers that were appended: the
 * difference is what the formats allow. Wrong arguments. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

enum { BATCH = 2, KV_HEADS = 2, PAGE = 16 };

/* A cache with what was appended beside it. */
struct kv {
    lk_kv_desc desc;
    int64_t length;
    void *k, *v, *v_scales, *head_scales, *table, *lengths;
    double *keys, *values; /* [BATCH][length][KV_HEADS][dim], as the cache has them */
};

enum { K_RANGE = 2, V_RANGE = 2 }; /* numbers are at most this */
static const float k_scale = K_RANGE / 448.0f, v_scale = V_RANGE / 2688.0f;

/* What e4m3 leaves of a key's number, and NVFP4 of 16 numbers of a value. */
static double key_number(double x)
{
    return (double)zoo_from_e4m3(zoo_to_e4m3((double)((float)x * (1 / k_scale)))) * (double)k_scale;
}
static double nearest_size(double size)
{
    static const double sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    int best = 0;
    for (int i = 1; i < 8; i++) {
        double closer = fabs(size - sizes[best]) - fabs(size - sizes[i]);
        if (closer > 0 || (closer == 0 && i % 2 == 0))
            best = i;
    }
    return sizes[best];
}
static void value_numbers(double *x)
{
    float largest = 0, encode = 1 / v_scale;
    for (int i = 0; i < 16; i++)
        largest = fmaxf(largest, fabsf((float)x[i]));
    float block = zoo_from_e4m3(zoo_to_e4m3((double)(largest * encode * (1.0f / 6))));
    for (int i = 0; i < 16; i++) {
        float scaled = block > 0 ? (float)x[i] * (encode / block) : 0;
        x[i] = copysign(nearest_size(fabs((double)scaled)), (double)scaled) * (double)block *
               (double)v_scale;
    }
}

static void *room(size_t bytes)
{
    void *device;
    must(lk_malloc(&device, bytes + 1));
    return device;
}

static struct kv make_kv(int64_t dim, int64_t group, int64_t length)
{
    int64_t each = (length + PAGE - 1) / PAGE;
    struct kv c = {.desc = LK_KV_DESC((lk_type)any(2), BATCH, KV_HEADS * group, KV_HEADS, length,
                                      dim, PAGE, BATCH * each + 1),
                   .length = length};
    float scales[2 * KV_HEADS];
    int32_t *table = malloc((size_t)(BATCH * each) * sizeof *table);
    size_t k, v, v_scales;
    must(lk_kv_bytes(&c.desc, &k, &v, &v_scales));
    c.k = room(k), c.v = room(v), c.v_scales = room(v_scales);
    for (int i = 0; i < KV_HEADS; i++) {
        scales[2 * i] = k_scale;
        scales[2 * i + 1] = v_scale;
    }
    for (int64_t i = 0; i < BATCH * each; i++) /* backwards; page 0 is nobody's */
        table[i] = (int32_t)(BATCH * each - i);
    c.head_scales = on_device(scales, sizeof scales);
    c.table = on_device(table, (size_t)(BATCH * each) * sizeof *table);
    c.lengths = room(BATCH * sizeof(int32_t));
    c.desc.head_scales = c.head_scales;
    c.desc.table = c.table;
    c.desc.lengths = c.lengths;
    c.keys = calloc((size_t)(BATCH * length * KV_HEADS * dim), sizeof *c.keys);
    c.values = calloc((size_t)(BATCH * length * KV_HEADS * dim), sizeof *c.values);
    free(table);
    return c;
}

static void free_kv(struct kv *c)
{
    void *all[] = {c->k, c->v, c->v_scales, c->head_scales, c->table, c->lengths};
    for (int i = 0; i < 6; i++)
        must(lk_free(all[i]));
    free(c->keys);
    free(c->values);
}

/* Tokens from `from` on to both sequences. */
static void append(struct kv *c, int64_t from, int64_t tokens)
{
    int64_t per = KV_HEADS * c->desc.dim;
    int32_t lengths[BATCH] = {(int32_t)(from + tokens), (int32_t)(from + tokens)};
    struct numbers k = make_numbers(zoo_type_of(c->desc.type), BATCH * tokens * per, -2, 2);
    struct numbers v = make_numbers(zoo_type_of(c->desc.type), BATCH * tokens * per, -2, 2);
    must(lk_copy_to(c->lengths, lengths, sizeof lengths));
    must(lk_kv_append(NULL, &c->desc, tokens, k.device, v.device, c->k, c->v, c->v_scales));
    for (int64_t i = 0; i < BATCH * tokens * per; i++) {
        int64_t token = i / per, sequence = token / tokens;
        int64_t at = (sequence * c->length + from + token % tokens) * per + i % per;
        c->keys[at] = key_number(number_of(&k, i));
        c->values[at] = number_of(&v, i);
        if (i % 16 == 15)
            value_numbers(&c->values[at - 15]);
    }
    free_numbers(&v);
    free_numbers(&k);
}

/* One head's attention in double. Probabilities are f16, and so is q. */
static void check_head(const struct kv *c, const struct numbers *q, const struct output *o,
                       int64_t sequence, int64_t head)
{
    int64_t dim = c->desc.dim, group = c->desc.heads / KV_HEADS;
    int64_t at = (sequence * c->desc.heads + head) * dim, first = sequence * c->length * KV_HEADS;
    double unit = c->desc.type == LK_BF16 ? 0x1.02p-8 : 0x1.02p-11;
    double sum = 0, most = -INFINITY, *score = calloc((size_t)c->length, sizeof *score);
    for (int64_t key = 0; key < c->length; key++) {
        for (int64_t i = 0; i < dim; i++)
            score[key] += number_of(q, at + i) *
                          c->keys[(first + key * KV_HEADS + head / group) * dim + i] /
                          sqrt((double)dim);
        most = fmax(most, score[key]);
    }
    for (int64_t key = 0; key < c->length; key++)
        sum += score[key] = exp(score[key] - most);
    for (int64_t i = 0; i < dim; i++) {
        double value = 0, size = 0;
        for (int64_t key = 0; key < c->length; key++) {
            double part =
                score[key] / sum * c->values[(first + key * KV_HEADS + head / group) * dim + i];
            value += part;
            size += fabs(part);
        }
        if (!(fabs(output_of(o, at + i) - value) <= unit * fabs(value) + 2e-3 * size))
            fail_msg("o[%lld] is %.9g, must be near %.9g", (long long)(at + i),
                     output_of(o, at + i), value);
    }
    free(score);
}

static void attend(const struct kv *c)
{
    int64_t numbers = BATCH * c->desc.heads * c->desc.dim;
    struct numbers q = make_numbers(zoo_type_of(c->desc.type), numbers, -1, 1);
    struct output o = make_output(q.type, numbers);
    must(lk_kv_attend(NULL, &c->desc, q.device, c->k, c->v, c->v_scales, o.device + AROUND));
    fetch_output(&o);
    for (int64_t i = 0; i < BATCH * c->desc.heads; i++)
        check_head(c, &q, &o, i / c->desc.heads, i % c->desc.heads);
    free_output(&o);
    free_numbers(&q);
}

/* By one, and by many. */
static void test_growing(void **state)
{
    for (int round = 0; round < 4; round++) {
        int64_t length = 18 + any(60), many = any(length - 2), at = 0;
        struct kv c = make_kv(any(2) ? 64 : 128, 1 + any(8), length);
        append(&c, 0, many);
        for (at = many; at < length; at++)
            append(&c, at, 1);
        attend(&c);
        free_kv(&c);
    }
}

/* A single key: its value comes back, as NVFP4 has it. */
static void test_one_key(void **state)
{
    struct kv c = make_kv(128, 4, 1);
    append(&c, 0, 1);
    struct numbers q = make_numbers(zoo_type_of(c.desc.type), BATCH * c.desc.heads * 128, -1, 1);
    struct output o = make_output(q.type, BATCH * c.desc.heads * 128);
    must(lk_kv_attend(NULL, &c.desc, q.device, c.k, c.v, c.v_scales, o.device + AROUND));
    fetch_output(&o);
    for (int64_t i = 0; i < BATCH * c.desc.heads * 128; i++) {
        int64_t head = i / 128 % c.desc.heads / 4, sequence = i / 128 / c.desc.heads;
        double value = c.values[(sequence * KV_HEADS + head) * 128 + i % 128];
        if (!(fabs(output_of(&o, i) - value) <= 0x1.02p-8 * fabs(value)))
            fail_msg("o[%lld] is %.9g, its value %.9g", (long long)i, output_of(&o, i), value);
    }
    free_output(&o);
    free_numbers(&q);
    free_kv(&c);
}

static void test_wrong(void **state)
{
    struct kv c = make_kv(64, 2, 20);
    void *q = room(4096), *o = room(4096);
    char text[500];
    size_t k, v, v_scales;
    must(lk_kv_bytes(&c.desc, &k, &v, &v_scales));
    /* 12.5 bits a pair. */
    assert_int_equal((k + v + v_scales) * 16, k * 25);
    must(lk_kv_attend_explain(&c.desc, text, sizeof text));
    assert_non_null(strstr(text, "kv_cache/fused"));
    must_fail(lk_kv_attend(NULL, NULL, q, c.k, c.v, c.v_scales, o), LK_BAD_ARGUMENT,
              "desc is NULL; LK_KV_DESC makes one");
    must_fail(lk_kv_attend(NULL, &c.desc, q, NULL, c.v, c.v_scales, o), LK_BAD_ARGUMENT,
              "k is NULL");
    must_fail(lk_kv_append(NULL, &c.desc, -1, q, o, c.k, c.v, c.v_scales), LK_BAD_ARGUMENT,
              "tokens is -1");
    c.desc.table = NULL;
    must_fail(lk_kv_attend(NULL, &c.desc, q, c.k, c.v, c.v_scales, o), LK_BAD_ARGUMENT,
              "table is NULL");
    c.desc.pages = 1;
    must_fail(lk_kv_bytes(&c.desc, &k, &v, &v_scales), LK_BAD_ARGUMENT,
              "pages is 1; batch sequences of keys need 4");
    c.desc.page = 8;
    must_fail(lk_kv_bytes(&c.desc, &k, &v, &v_scales), LK_BAD_ARGUMENT, "a multiple of 16");
    c.desc.page = 16;
    c.desc.heads = 3;
    must_fail(lk_kv_bytes(&c.desc, &k, &v, &v_scales), LK_BAD_ARGUMENT,
              "heads is 1 to 8 times kv_heads");
    c.desc.dim = 96;
    must_fail(lk_kv_bytes(&c.desc, &k, &v, &v_scales), LK_BAD_ARGUMENT, "it is 64 or 128");
    c.desc.type = LK_F32;
    must_fail(lk_kv_bytes(&c.desc, &k, &v, &v_scales), LK_BAD_ARGUMENT, "it is LK_BF16 or LK_F16");
    must(lk_free(q));
    must(lk_free(o));
    free_kv(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_one_key),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
