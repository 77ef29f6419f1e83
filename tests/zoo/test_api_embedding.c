/*
 * test_api_embedding.c: lk_embedding and lk_embedding_backward with random shapes, types and
 * numbers, some outside of the table and some very often; the same bits in several runs;
 * wrong arguments.
 * LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

enum { ROUNDS = 25 };

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

struct case_ {
    lk_embedding_desc desc;
    enum zoo_type type;
    int64_t *id;
    void *ids; /* device */
};

/* often: most tokens have the same number. */
static struct case_ draw(int64_t tokens, bool often)
{
    struct case_ c = {.desc = LK_EMBEDDING_DESC((lk_type)any(3), tokens, 1 + any(50), any(140))};
    c.desc.wide_ids = (int)any(2);
    if (any(2)) /* rows at multiples of 16 bytes */
        c.desc.dim &= ~(int64_t)7;
    c.type = zoo_type_of(c.desc.type);
    c.id = malloc((size_t)(tokens + 1) * sizeof *c.id);
    int32_t *narrow = malloc((size_t)(tokens + 1) * sizeof *narrow);
    for (int64_t t = 0; t < tokens; t++) {
        c.id[t] = often && any(8) ? c.desc.vocab / 2 : any(c.desc.vocab + 4) - 2;
        narrow[t] = (int32_t)c.id[t];
    }
    c.ids = c.desc.wide_ids ? on_device(c.id, (size_t)tokens * sizeof *c.id)
                            : on_device(narrow, (size_t)tokens * sizeof *narrow);
    free(narrow);
    return c;
}

static void free_case(struct case_ *c)
{
    free(c->id);
    must(lk_free(c->ids));
}

static void test_forward(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = draw(any(80), false);
        int64_t dim = c.desc.dim, all = c.desc.tokens * dim;
        struct numbers table = make_numbers(c.type, c.desc.vocab * dim, -2, 2);
        struct output out = make_output(c.type, all);
        must(lk_embedding(NULL, &c.desc, c.ids, table.device, out.device + AROUND));
        fetch_output(&out);
        for (int64_t i = 0; i < all; i++) {
            int64_t id = c.id[i / dim];
            bool known = id >= 0 && id < c.desc.vocab;
            assert_true(output_of(&out, i) == (known ? number_of(&table, id * dim + i % dim) : 0));
        }
        free_output(&out);
        free_numbers(&table);
        free_case(&c);
    }
}

static void compare_sums(const struct case_ *c, const struct numbers *dout, const struct output *dt)
{
    static const double unit[] = {[LK_BF16] = 0x1p-8, [LK_F16] = 0x1p-11, [LK_F32] = 0x1p-24};
    int64_t dim = c->desc.dim, rows = c->desc.vocab;
    double *sum = calloc((size_t)(2 * rows * dim + 1), sizeof *sum), *size = sum + rows * dim;
    for (int64_t i = 0; i < c->desc.tokens * dim; i++) {
        int64_t id = c->id[i / dim];
        if (id < 0 || id >= rows)
            continue;
        sum[id * dim + i % dim] += number_of(dout, i);
        size[id * dim + i % dim] += fabs(number_of(dout, i));
    }
    for (int64_t i = 0; i < rows * dim; i++) {
        double is = output_of(dt, i);
        double bound = 300 * 0x1p-24 * size[i] + 1.01 * unit[c->desc.type] * fabs(sum[i]);
        if (!(fabs(is - sum[i]) <= bound))
            fail_msg("dtable[%lld] is %.9g, must be %.9g", (long long)i, is, sum[i]);
    }
    free(sum);
}

static void test_backward(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct case_ c = draw(round < 5 ? 700 + any(2000) : any(300), round % 2);
        int64_t all = c.desc.tokens * c.desc.dim, table = c.desc.vocab * c.desc.dim;
        struct numbers dout = make_numbers(c.type, all, -2, 2);
        struct output one = make_output(c.type, table), other = make_output(c.type, table);
        size_t bytes;
        must(lk_embedding_backward_workspace(&c.desc, &bytes));
        void *workspace = on_device(NULL, bytes);
        must(lk_embedding_backward(NULL, &c.desc, c.ids, dout.device, one.device + AROUND,
                                   workspace, bytes));
        must(lk_embedding_backward(NULL, &c.desc, c.ids, dout.device, other.device + AROUND,
                                   workspace, bytes));
        fetch_output(&one);
        fetch_output(&other);
        compare_sums(&c, &dout, &one);
        assert_memory_equal(one.host, other.host, one.bytes + 2 * AROUND);
        must(lk_free(workspace));
        free_output(&other);
        free_output(&one);
        free_numbers(&dout);
        free_case(&c);
    }
}

static void test_wrong(void **state)
{
    lk_embedding_desc desc = LK_EMBEDDING_DESC(LK_BF16, 2, 4, 8);
    struct numbers x = make_numbers(ZOO_BF16, 64, -1, 1), y = make_numbers(ZOO_BF16, 64, -1, 1);
    int32_t id[2] = {0, 3};
    void *ids = on_device(id, sizeof id);
    char text[500];
    size_t bytes;
    must_fail(lk_embedding(NULL, NULL, ids, x.device, y.device), LK_BAD_ARGUMENT, "desc is NULL");
    must_fail(lk_embedding(NULL, &desc, NULL, x.device, y.device), LK_BAD_ARGUMENT, "ids is NULL");
    must_fail(lk_embedding(NULL, &desc, ids, x.device, x.device), LK_BAD_ARGUMENT,
              "table and out overlap");
    must(lk_embedding_backward_workspace(&desc, &bytes));
    assert_true(bytes > 0);
    must_fail(lk_embedding_backward(NULL, &desc, ids, x.device, y.device, NULL, 0),
              LK_SMALL_WORKSPACE, "lk_embedding_backward_workspace says how many");
    must(lk_embedding_explain(&desc, 1, text, sizeof text));
    assert_non_null(strstr(text, "embedding/ranges"));
    assert_non_null(strstr(text, "the same bits in every run"));
    desc.vocab = 0;
    must_fail(lk_embedding(NULL, &desc, ids, x.device, y.device), LK_BAD_ARGUMENT, "vocab is 0");
    desc.type = LK_E4M3;
    must_fail(lk_embedding(NULL, &desc, ids, x.device, y.device), LK_BAD_ARGUMENT, "type is 3");
    must(lk_free(ids));
    free_numbers(&y);
    free_numbers(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_backward),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
