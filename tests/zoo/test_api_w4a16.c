/*
 * test_api_w4a16.c: lk_gemm_w4a16 and lk_repack_w4a16: weights that lk_quantise made, in tiles,
 * beside the product of what lk_dequantise makes of them; Q4_0 in tiles beside Q4_0 itself; wrong
 * arguments. LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static void *room(size_t bytes)
{
    void *device;
    must(lk_malloc(&device, bytes + 1));
    return device;
}

/* relative: of rounding to the type; sums in f32 are off by far less than 1e-5 of the sizes. */
static void must_be_product(const struct output *y, const struct numbers *x, const double *w,
                            const lk_w4a16_desc *desc)
{
    double relative = desc->type == LK_BF16 ? 0x1.02p-8 : 0x1.02p-11;
    for (int64_t i = 0; i < desc->m; i++)
        for (int64_t j = 0; j < desc->n; j++) {
            double sum = 0, size = 0;
            for (int64_t c = 0; c < desc->k; c++) {
                sum += number_of(x, i * desc->k + c) * w[j * desc->k + c];
                size += fabs(number_of(x, i * desc->k + c) * w[j * desc->k + c]);
            }
            if (!(fabs(output_of(y, i * desc->n + j) - sum) <= relative * fabs(sum) + 1e-5 * size))
                fail_msg("y[%lld][%lld] is %.9g, must be %.9g", (long long)i, (long long)j,
                         output_of(y, i * desc->n + j), sum);
        }
}

/* From numbers to INT4, into tiles, and through the product. */
static void test_from_numbers(void **state)
{
    for (int round = 0; round < 6; round++) {
        lk_w4a16_desc desc = LK_W4A16_DESC((lk_type)any(2), LK_TILES128, 1 + any(18), 1 + any(60),
                                           128 * (1 + any(5)));
        lk_quantise_desc q = LK_QUANTISE_DESC(LK_F32, LK_FORMAT_INT4, LK_PER_128, desc.n, desc.k);
        size_t weight_bytes, scale_bytes, groups = (size_t)(desc.n * desc.k / 128);
        must(lk_gemm_w4a16_bytes(&desc, &weight_bytes, &scale_bytes));
        struct numbers w = make_numbers(ZOO_F32, desc.n * desc.k, -1, 1);
        struct numbers x = make_numbers(zoo_type_of(desc.type), desc.m * desc.k, -2, 2);
        struct output y = make_output(x.type, desc.m * desc.n);
        void *codes = room((size_t)(desc.n * desc.k / 2)), *code_scales = room(4 * groups);
        void *tiles = room(weight_bytes), *scales = room(scale_bytes);
        float *rounded = malloc(4 * groups);
        must(lk_quantise(NULL, &q, w.device, codes, code_scales, NULL, NULL, 0));
        must(lk_repack_w4a16(NULL, &desc, codes, code_scales, tiles, scales));
        must(lk_gemm_w4a16(NULL, &desc, x.device, tiles, scales, y.device + AROUND));
        fetch_output(&y);
        /* What the codes stand for, with the scales that f16 has left. */
        must(lk_copy_from(rounded, code_scales, 4 * groups));
        for (size_t i = 0; i < groups; i++)
            rounded[i] = zoo_from_f16(zoo_to_f16((double)rounded[i]));
        must(lk_copy_to(code_scales, rounded, 4 * groups));
        must(lk_dequantise(NULL, &q, codes, code_scales, NULL, w.device));
        must(lk_copy_from(w.host, w.device, w.count * 4));
        double *wide = malloc(w.count * sizeof *wide);
        for (size_t i = 0; i < w.count; i++)
            wide[i] = number_of(&w, (int64_t)i);
        must_be_product(&y, &x, wide, &desc);
        free(wide);
        free(rounded);
        must(lk_free(codes));
        must(lk_free(code_scales));
        must(lk_free(tiles));
        must(lk_free(scales));
        free_output(&y);
        free_numbers(&x);
        free_numbers(&w);
    }
}

/* Q4_0, as it is and in tiles. */
static void test_from_q4_0(void **state)
{
    for (int round = 0; round < 6; round++) {
        lk_w4a16_desc desc =
            LK_W4A16_DESC((lk_type)any(2), LK_Q4_0, 1 + any(18), 1 + any(60), 32 * (1 + any(9)));
        size_t bytes, tile_bytes, scale_bytes;
        must(lk_gemm_w4a16_bytes(&desc, &bytes, &scale_bytes));
        assert_int_equal(scale_bytes, 0);
        uint8_t *blocks = malloc(bytes);
        double *wide = malloc((size_t)(desc.n * desc.k) * sizeof *wide);
        for (size_t i = 0; i < bytes; i++)
            blocks[i] = (uint8_t)any(256);
        for (size_t b = 0; b < bytes / 18; b++) {
            uint16_t d = zoo_to_f16(0.01 + 0.001 * (double)any(50));
            memcpy(blocks + 18 * b, &d, 2);
            for (size_t i = 0; i < 32; i++)
                wide[32 * b + i] = (double)zoo_from_f16(d) *
                                   ((blocks[18 * b + 2 + i % 16] >> i / 16 * 4 & 15) - 8);
        }
        void *w = on_device(blocks, bytes);
        struct numbers x = make_numbers(zoo_type_of(desc.type), desc.m * desc.k, -2, 2);
        struct output y = make_output(x.type, desc.m * desc.n);
        must(lk_gemm_w4a16(NULL, &desc, x.device, w, NULL, y.device + AROUND));
        fetch_output(&y);
        must_be_product(&y, &x, wide, &desc);
        desc.layout = LK_TILES32;
        must(lk_gemm_w4a16_bytes(&desc, &tile_bytes, &scale_bytes));
        void *tiles = room(tile_bytes), *scales = room(scale_bytes);
        must(lk_repack_w4a16(NULL, &desc, w, NULL, tiles, scales));
        must(lk_gemm_w4a16(NULL, &desc, x.device, tiles, scales, y.device + AROUND));
        fetch_output(&y);
        must_be_product(&y, &x, wide, &desc);
        must(lk_free(w));
        must(lk_free(tiles));
        must(lk_free(scales));
        free_output(&y);
        free_numbers(&x);
        free(wide);
        free(blocks);
    }
}

static void test_wrong(void **state)
{
    lk_w4a16_desc desc = LK_W4A16_DESC(LK_BF16, LK_Q4_0, 1, 16, 64);
    void *x = room(4096), *w = room(4096), *y = room(4096);
    char text[400];
    must_fail(lk_gemm_w4a16(NULL, NULL, x, w, NULL, y), LK_BAD_ARGUMENT,
              "desc is NULL; LK_W4A16_DESC makes one");
    must_fail(lk_gemm_w4a16(NULL, &desc, x, w, w, y), LK_BAD_ARGUMENT,
              "this layout has them in w: pass NULL");
    must_fail(lk_gemm_w4a16(NULL, &desc, NULL, w, NULL, y), LK_BAD_ARGUMENT, "x is NULL");
    must_fail(lk_gemm_w4a16(NULL, &desc, x, (char *)w + 2, NULL, y), LK_BAD_ARGUMENT,
              "is not aligned to 16 bytes, as all buffers of this call must be");
    must_fail(lk_repack_w4a16(NULL, &desc, w, NULL, x, y), LK_BAD_ARGUMENT,
              "brought into LK_TILES32 or LK_TILES128");
    must(lk_gemm_w4a16_explain(&desc, text, sizeof text));
    assert_non_null(strstr(text, "gemm_w4a16/"));
    desc.layout = LK_Q4_K;
    must_fail(lk_gemm_w4a16(NULL, &desc, x, w, NULL, y), LK_BAD_ARGUMENT,
              "k is 64; with this layout it is a multiple of 256");
    desc.layout = LK_TILES32;
    must_fail(lk_gemm_w4a16(NULL, &desc, x, w, NULL, y), LK_BAD_ARGUMENT, "scales is NULL");
    must_fail(lk_repack_w4a16(NULL, &desc, w, x, w, y), LK_BAD_ARGUMENT, "w_scales is given");
    desc.layout = (lk_weight_layout)9;
    must_fail(lk_gemm_w4a16(NULL, &desc, x, w, NULL, y), LK_BAD_ARGUMENT, "layout is 9");
    desc.type = LK_F32;
    must_fail(lk_gemm_w4a16(NULL, &desc, x, w, NULL, y), LK_BAD_ARGUMENT,
              "it is LK_BF16 or LK_F16");
    must(lk_free(x));
    must(lk_free(w));
    must(lk_free(y));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_numbers),
        cmocka_unit_test(test_from_q4_0),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
