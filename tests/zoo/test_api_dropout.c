/*
 * test_api_dropout.c: Philox against the vectors that its authors publish, by itself and through
 * lk_dropout; lk_dropout and lk_dropout_backward: the same mask in both, for every type and place;
 * how many are kept; the mean; state in device memory; wrong arguments. LOCKSTEP_TEST_SEED=N
 * repeats a run.
 */
#include "api_arrays.h"

#include "zoo/philox.h"

#include <math.h>

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static void test_published(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } vectors[] = {
        {{0}, {0}, {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}},
    };
    for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint32_t out[4];
        zoo_philox(vectors[i].counter, vectors[i].key, out);
        assert_memory_equal(out, vectors[i].out, sizeof out);
    }
}

/* y of ones, n of them, on the host; freed by the caller. */
static float *drop_ones(const lk_dropout_desc *desc)
{
    size_t bytes = (size_t)desc->n * sizeof(float);
    float *ones = malloc(bytes);
    for (int64_t i = 0; i < desc->n; i++)
        ones[i] = 1;
    void *x = on_device(ones, bytes);
    must(lk_dropout(NULL, desc, x, x));
    must(lk_copy_from(ones, x, bytes));
    must(lk_free(x));
    return ones;
}

/* Through the kernel: an element is dropped just above the 16 bits that the first vector gives it.
 */
static void test_published_in_kernel(void **state)
{
    static const uint32_t words[] = {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48};
    for (int i = 0; i < 8; i++) {
        uint32_t bits = words[i / 2] >> 16 * (i % 2) & 0xffff;
        for (unsigned above = 0; above < 2; above++) {
            lk_dropout_desc desc = LK_DROPOUT_DESC(LK_F32, 8, (float)(bits + above) / 65536, 0, 0);
            float *y = drop_ones(&desc);
            assert_int_equal(y[i] == 0, above);
            free(y);
        }
    }
}

/* Forward and backward drop the same elements, and the same ones in every type. */
static void test_same_mask(void **state)
{
    for (int round = 0; round < 20; round++) {
        int64_t n = 1 + any(5000);
        lk_dropout_desc desc = LK_DROPOUT_DESC(LK_F32, n, (float)any(100) / 100,
                                               (uint64_t)any(1 << 30) << 33 | 5, (uint64_t)any(9));
        struct zoo_dropout d = zoo_dropout_of((double)desc.p);
        for (int type = LK_BF16; type <= LK_F32; type++) {
            desc.type = (lk_type)type;
            enum zoo_type number = zoo_type_of(desc.type);
            struct numbers x = make_numbers(number, n, 1, 2), dy = make_numbers(number, n, 1, 2);
            struct output y = make_output(number, n), dx = make_output(number, n);
            must(lk_dropout(NULL, &desc, x.device, y.device + AROUND));
            must(lk_dropout_backward(NULL, &desc, dy.device, dx.device + AROUND));
            fetch_output(&y);
            fetch_output(&dx);
            for (int64_t i = 0; i < n; i++) {
                bool dropped = zoo_dropped(d, desc.seed, desc.offset, (uint64_t)i);
                double scale = dropped ? 0 : (double)d.scale, bound = 0x1.04p-8;
                assert_true(fabs(output_of(&y, i) - scale * number_of(&x, i)) <= 2 * bound * scale);
                assert_true(fabs(output_of(&dx, i) - scale * number_of(&dy, i)) <=
                            2 * bound * scale);
                assert_int_equal(output_of(&y, i) == 0, dropped);
                assert_int_equal(output_of(&dx, i) == 0, dropped);
            }
            free_output(&dx);
            free_output(&y);
            free_numbers(&dy);
            free_numbers(&x);
        }
    }
}

/* Within five standard deviations; other offsets give other masks, which are independent. */
static void test_rates(void **state)
{
    enum { N = 100000 };
    static const float rates[] = {0.01F, 0.1F, 0.5F, 0.9F};
    for (unsigned r = 0; r < sizeof rates / sizeof *rates; r++) {
        double p = rates[r], kept = 0, sum = 0, both = 0;
        lk_dropout_desc desc = LK_DROPOUT_DESC(LK_F32, N, rates[r], (uint64_t)any(1 << 30), 3);
        float *one = drop_ones(&desc);
        desc.offset++;
        float *other = drop_ones(&desc);
        for (int i = 0; i < N; i++) {
            kept += one[i] != 0;
            sum += (double)one[i];
            both += one[i] != 0 && other[i] != 0;
        }
        double spread = sqrt(p * (1 - p) / N), q = (1 - p) * (1 - p);
        assert_true(fabs(kept / N - (1 - p)) < 5 * spread + 0x1p-17);
        assert_true(fabs(sum / N - 1) < 5 * spread / (1 - p) + 0x1p-17);
        assert_true(fabs(both / N - q) < 5 * sqrt(q * (1 - q) / N) + 0x1p-16);
        free(other);
        free(one);
    }
}

static void test_ends(void **state)
{
    lk_dropout_desc desc = LK_DROPOUT_DESC(LK_F32, 1000, 0, 1, 2);
    float *all = drop_ones(&desc);
    desc.p = 1;
    float *none = drop_ones(&desc);
    for (int i = 0; i < 1000; i++) {
        assert_true(all[i] == 1);
        assert_true(none[i] == 0);
    }
    free(none);
    free(all);
}

/* The same as its numbers in the description; overflow wraps. */
static void test_state(void **state)
{
    const uint64_t added[2] = {UINT64_MAX - 3, 40};
    void *memory = on_device(added, sizeof added);
    lk_dropout_desc with = LK_DROPOUT_DESC(LK_F32, 999, 0.3F, 10, 2), without = with;
    with.state = memory;
    without.seed += added[0];
    without.offset += added[1];
    float *one = drop_ones(&with), *other = drop_ones(&without);
    assert_memory_equal(one, other, 999 * sizeof(float));
    free(other);
    free(one);
    must(lk_free(memory));
}

static void test_wrong(void **state)
{
    lk_dropout_desc desc = LK_DROPOUT_DESC(LK_BF16, 8, 0.5F, 1, UINT64_MAX);
    struct numbers x = make_numbers(ZOO_BF16, 16, -1, 1);
    char text[400];
    must_fail(lk_dropout(NULL, NULL, x.device, x.device), LK_BAD_ARGUMENT, "desc is NULL");
    must_fail(lk_dropout_backward(NULL, &desc, NULL, x.device), LK_BAD_ARGUMENT, "dy is NULL");
    must_fail(lk_dropout(NULL, &desc, x.device, (char *)x.device + 2), LK_BAD_ARGUMENT,
              "overlap in part");
    must(lk_dropout_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "lk_dropout(n=8 type=bf16 p=0.5 offset=0"));
    desc.p = 1.5F;
    must_fail(lk_dropout(NULL, &desc, x.device, x.device), LK_BAD_ARGUMENT,
              "p is 1.5; it goes from 0 to 1");
    desc.p = NAN;
    must_fail(lk_dropout(NULL, &desc, x.device, x.device), LK_BAD_ARGUMENT, "p is");
    desc.p = 0.5F;
    desc.n = -1;
    must_fail(lk_dropout(NULL, &desc, x.device, x.device), LK_BAD_ARGUMENT, "n is -1");
    desc.type = LK_S8;
    must_fail(lk_dropout(NULL, &desc, x.device, x.device), LK_BAD_ARGUMENT, "type is 5");
    free_numbers(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published), cmocka_unit_test(test_published_in_kernel),
        cmocka_unit_test(test_same_mask), cmocka_unit_test(test_rates),
        cmocka_unit_test(test_ends),      cmocka_unit_test(test_state),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
