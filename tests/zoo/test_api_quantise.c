/*
 * test_api_quantise.c: lk_quantise and lk_dequantise: every code of every format there and back;
 * random arrays within the error that each format allows, by formulas of its own; stochastic
 * rounding that is right on average; saturation, NaN and infinities; wrong arguments.
 * LOCKSTEP_TEST_SEED=N repeats a run.
 */
#include "api_arrays.h"

#include <math.h>

static int open_all(void **state)
{
    seed_chance();
    return open_gpu(state) != 0 || lk_open(NULL) != LK_OK ? -1 : 0;
}

static bool is_small(lk_number_format format)
{
    return format == LK_FORMAT_INT4 || format >= LK_FORMAT_MXFP4;
}
static bool has_floats(lk_number_format format)
{
    return format <= LK_FORMAT_INT4;
}

/* Numbers in a group's row, for formats with blocks; 0: no blocks. */
static int64_t block_of(const lk_quantise_desc *desc)
{
    if (!has_floats(desc->format))
        return desc->format == LK_FORMAT_NVFP4 ? 16 : 32;
    return desc->sharing == LK_PER_32 ? 32 : desc->sharing == LK_PER_128 ? 128 : 0;
}
static int64_t scale_count(const lk_quantise_desc *desc)
{
    int64_t block = block_of(desc);
    if (block)
        return desc->rows * ((desc->cols + block - 1) / block);
    return desc->sharing == LK_PER_ROW       ? desc->rows
           : desc->sharing == LK_PER_CHANNEL ? desc->cols
                                             : 1;
}
static int64_t place_of_scale(const lk_quantise_desc *desc, int64_t row, int64_t col)
{
    int64_t block = block_of(desc);
    if (block)
        return row * ((desc->cols + block - 1) / block) + col / block;
    return desc->sharing == LK_PER_ROW ? row : desc->sharing == LK_PER_CHANNEL ? col : 0;
}
static int64_t code_bytes(const lk_quantise_desc *desc)
{
    return desc->rows * (is_small(desc->format) ? (desc->cols + 1) / 2 : desc->cols);
}

struct quantised {
    struct output q, scales, tensor_scale;
};

/* given: the scales, in device memory; NULL: computed ones. */
static struct quantised quantise(const lk_quantise_desc *desc, const void *x, float *given)
{
    bool two = desc->format == LK_FORMAT_NVFP4;
    struct quantised to = {
        .q = make_output(ZOO_U8, code_bytes(desc)),
        .scales = make_output(has_floats(desc->format) ? ZOO_F32 : ZOO_U8, scale_count(desc)),
        .tensor_scale = make_output(ZOO_F32, two)};
    void *scales = to.scales.device + AROUND, *workspace = NULL;
    float *tensor_scale = two ? (float *)(to.tensor_scale.device + AROUND) : NULL;
    size_t bytes;
    must(lk_quantise_workspace(desc, &bytes));
    must(lk_malloc(&workspace, bytes + 1));
    if (given)
        *(two ? (void **)&tensor_scale : &scales) = given;
    must(lk_quantise(NULL, desc, x, to.q.device + AROUND, scales, tensor_scale, workspace, bytes));
    fetch_output(&to.q);
    fetch_output(&to.scales);
    fetch_output(&to.tensor_scale);
    must(lk_free(workspace));
    return to;
}
static void free_quantised(struct quantised *of)
{
    free_output(&of->q);
    free_output(&of->scales);
    free_output(&of->tensor_scale);
}
static const uint8_t *codes_of(const struct quantised *of)
{
    return (const uint8_t *)of->q.host + AROUND;
}

/* Round trips
 * ------------------------------------------------------------------------------------*/

/* What a code becomes that stands for no finite number: the largest one, or the one NaN. */
static uint8_t canonical(lk_number_format format, uint8_t code)
{
    if (format == LK_FORMAT_E4M3 || format == LK_FORMAT_MXFP8)
        return (code & 0x7f) == 0x7f ? 0x7f : code;
    if (format == LK_FORMAT_E5M2 || format == LK_FORMAT_MXFP8_E5M2)
        return (code & 0x7f) == 0x7c ? (uint8_t)(code - 1) : (code & 0x7f) > 0x7c ? 0x7f : code;
    return code;
}

/* Two rows with every byte; where the format finds its scales by itself, the first byte of each
 * block has the largest number, so that they are 1. */
static void fill_codes(lk_number_format format, uint8_t *codes, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        codes[i] = (uint8_t)(i / 2);
    for (int64_t i = 0; i < bytes && !has_floats(format); i += format == LK_FORMAT_NVFP4 ? 8 : 16)
        codes[i] = format == LK_FORMAT_MXFP8        ? 0x7e
                   : format == LK_FORMAT_MXFP8_E5M2 ? 0x7b
                                                    : (uint8_t)((codes[i] & 0xf0) | 7);
}

static void test_every_code(void **state)
{
    for (int round = 0; round < 3 * (LK_FORMAT_NVFP4 + 1); round++) {
        lk_number_format format = (lk_number_format)(round / 3);
        /* Each byte twice; halves go with every other half. f16 has e4m3, bf16 all formats. */
        lk_quantise_desc desc = LK_QUANTISE_DESC((lk_type)(round % 3), format, LK_PER_TENSOR, 2,
                                                 is_small(format) ? 512 : 256);
        int64_t bytes = code_bytes(&desc), scales = scale_count(&desc);
        uint8_t codes[512], ones[64];
        float one = 1;
        memset(ones, format == LK_FORMAT_NVFP4 ? 0x38 : 127, sizeof ones);
        fill_codes(format, codes, bytes);
        void *q = on_device(codes, (size_t)bytes);
        float *tensor_scale = on_device(&one, sizeof one);
        void *byte_scales = on_device(ones, (size_t)(scales < 64 ? scales : 64));
        struct output y = make_output(zoo_type_of(desc.type), desc.rows * desc.cols);
        must(lk_dequantise(NULL, &desc, q, has_floats(format) ? (void *)tensor_scale : byte_scales,
                           format == LK_FORMAT_NVFP4 ? tensor_scale : NULL, y.device + AROUND));
        fetch_output(&y);
        desc.given = has_floats(format) || format == LK_FORMAT_NVFP4;
        struct quantised again =
            quantise(&desc, y.device + AROUND, desc.given ? tensor_scale : NULL);
        for (int64_t i = 0; i < bytes; i++)
            if (codes_of(&again)[i] != canonical(format, codes[i]))
                fail_msg("format %d type %d: code %#x comes back as %#x", (int)format,
                         (int)desc.type, codes[i], codes_of(&again)[i]);
        free_quantised(&again);
        free_output(&y);
        must(lk_free(q));
        must(lk_free(tensor_scale));
        must(lk_free(byte_scales));
    }
}

/* Errors
 * -----------------------------------------------------------------------------------------*/

/* The largest error of a number of this size in units of the scale, and the largest number. */
static double largest_of(lk_number_format format)
{
    static const double of[] = {448, 57344, 127, 7, 448, 57344, 6, 6};
    return of[format];
}
static double half_step(lk_number_format format, double size)
{
    if (format == LK_FORMAT_INT8 || format == LK_FORMAT_INT4)
        return 0.5;
    bool e4m3 = format == LK_FORMAT_E4M3 || format == LK_FORMAT_MXFP8;
    bool fp4 = format >= LK_FORMAT_MXFP4;
    int mantissa = fp4 ? 1 : e4m3 ? 3 : 2, least = fp4 ? 0 : e4m3 ? -6 : -14;
    int exponent = size < ldexp(1, least) ? least : ilogb(size);
    return ldexp(0.5, exponent - mantissa);
}

static double scale_of(const lk_quantise_desc *desc, const struct quantised *q, int64_t at)
{
    if (has_floats(desc->format))
        return output_of(&q->scales, at);
    uint8_t byte = ((const uint8_t *)q->scales.host)[AROUND + at];
    return desc->format == LK_FORMAT_NVFP4
               ? (double)zoo_from_e4m3(byte) * output_of(&q->tensor_scale, 0)
               : ldexp(1, byte - 127);
}

static void test_errors(void **state)
{
    for (int round = 0; round < 60; round++) {
        lk_quantise_desc desc = LK_QUANTISE_DESC((lk_type)any(3), (lk_number_format)any(8),
                                                 (lk_sharing)any(5), 1 + any(6), 1 + any(500));
        desc.stochastic = any(3) == 0;
        desc.seed = (uint32_t)any(1 << 30);
        if (any(2))
            desc.cols = (desc.cols + 15) & ~(int64_t)15;
        enum zoo_type type = zoo_type_of(desc.type);
        struct numbers x = make_numbers(type, desc.rows * desc.cols, -5, 5);
        struct quantised q = quantise(&desc, x.device, NULL);
        struct output y = make_output(ZOO_F32, desc.rows * desc.cols);
        lk_quantise_desc back = desc;
        back.type = LK_F32;
        must(lk_dequantise(
            NULL, &back, q.q.device + AROUND, q.scales.device + AROUND,
            desc.format == LK_FORMAT_NVFP4 ? (float *)(q.tensor_scale.device + AROUND) : NULL,
            y.device + AROUND));
        fetch_output(&y);
        for (int64_t i = 0; i < desc.rows * desc.cols; i++) {
            double scale = scale_of(&desc, &q, place_of_scale(&desc, i / desc.cols, i % desc.cols));
            double want = number_of(&x, i), size = fabs(want) / scale, most;
            most = largest_of(desc.format);
            double bound = half_step(desc.format, size) * (desc.stochastic ? 2 : 1) * 1.00001;
            bound += size > most ? size - most : 0;
            if (!(fabs(output_of(&y, i) - want) <= bound * scale))
                fail_msg("format %d sharing %d: element %lld is %.9g, must be %.9g within %.3g",
                         (int)desc.format, (int)desc.sharing, (long long)i, output_of(&y, i), want,
                         bound * scale);
        }
        free_output(&y);
        free_quantised(&q);
        free_numbers(&x);
    }
}

/* Many numbers that are all alike: the mean of what they become. */
static void test_right_on_average(void **state)
{
    enum { COUNT = 4096 };
    static const lk_number_format formats[] = {LK_FORMAT_E4M3, LK_FORMAT_E5M2, LK_FORMAT_INT8,
                                               LK_FORMAT_INT4};
    static const double number[] = {1.01, 1.1, 3.3, -2.8};
    for (int f = 0; f < 4; f++) {
        lk_quantise_desc desc = LK_QUANTISE_DESC(LK_F32, formats[f], LK_PER_TENSOR, 1, COUNT);
        float one = 1, x[COUNT];
        double sum = 0;
        for (int i = 0; i < COUNT; i++)
            x[i] = (float)number[f];
        desc.given = desc.stochastic = 1;
        desc.seed = (uint32_t)f;
        void *device = on_device(x, sizeof x), *scale = on_device(&one, sizeof one);
        struct quantised q = quantise(&desc, device, scale);
        struct output y = make_output(ZOO_F32, COUNT);
        must(lk_dequantise(NULL, &desc, q.q.device + AROUND, scale, NULL, y.device + AROUND));
        fetch_output(&y);
        for (int i = 0; i < COUNT; i++)
            sum += output_of(&y, i);
        /* Each is off by less than a step; the mean of COUNT, five deviations of that allowed. */
        double step = 2 * half_step(formats[f], fabs(number[f]));
        if (fabs(sum / COUNT - number[f]) > 5 * step / 2 / sqrt(COUNT))
            fail_msg("format %d: the mean is %.9g, must be %.9g", (int)formats[f], sum / COUNT,
                     number[f]);
        free_output(&y);
        free_quantised(&q);
        must(lk_free(device));
        must(lk_free(scale));
    }
}

/* Codes of numbers too large, infinite, or none; with scale 1. */
static void test_limits(void **state)
{
    const float x[8] = {1e9f, -1e9f, INFINITY, -INFINITY, NAN, -0.0f, 0x1p-40f, 1};
    static const uint8_t want[][8] = {
        [LK_FORMAT_E4M3] = {0x7e, 0xfe, 0x7e, 0xfe, 0x7f, 0x80, 0x00, 0x38},
        [LK_FORMAT_E5M2] = {0x7b, 0xfb, 0x7b, 0xfb, 0x7f, 0x80, 0x00, 0x3c},
        [LK_FORMAT_INT8] = {0x7f, 0x80, 0x7f, 0x80, 0x00, 0x00, 0x00, 0x01},
        [LK_FORMAT_INT4] = {0x87, 0x87, 0x00, 0x10}};
    float one = 1;
    void *device = on_device(x, sizeof x), *scale = on_device(&one, sizeof one);
    for (int f = LK_FORMAT_E4M3; f <= LK_FORMAT_INT4; f++) {
        lk_quantise_desc desc = LK_QUANTISE_DESC(LK_F32, (lk_number_format)f, LK_PER_TENSOR, 1, 8);
        desc.given = 1;
        for (desc.stochastic = 0; desc.stochastic < 2; desc.stochastic++) {
            struct quantised q = quantise(&desc, device, scale);
            assert_memory_equal(codes_of(&q), want[f], (size_t)code_bytes(&desc));
            free_quantised(&q);
        }
    }
    must(lk_free(device));
    must(lk_free(scale));
}

static void test_wrong(void **state)
{
    lk_quantise_desc desc = LK_QUANTISE_DESC(LK_BF16, LK_FORMAT_E4M3, LK_PER_ROW, 2, 8);
    struct numbers x = make_numbers(ZOO_BF16, 16, -1, 1), q = make_numbers(ZOO_BF16, 16, -1, 1);
    float *scales;
    char text[400];
    size_t bytes;
    must(lk_malloc((void **)&scales, 64));
    must_fail(lk_quantise(NULL, NULL, x.device, q.device, scales, NULL, NULL, 0), LK_BAD_ARGUMENT,
              "desc is NULL; LK_QUANTISE_DESC makes one");
    must_fail(lk_quantise(NULL, &desc, x.device, q.device, scales, scales, NULL, 0),
              LK_BAD_ARGUMENT, "only NVFP4 has one: pass NULL");
    must_fail(lk_quantise(NULL, &desc, x.device, NULL, scales, NULL, NULL, 0), LK_BAD_ARGUMENT,
              "q is NULL");
    must_fail(lk_quantise_workspace(&desc, NULL), LK_BAD_ARGUMENT, "bytes is NULL");
    must(lk_quantise_workspace(&desc, &bytes));
    must(lk_quantise_explain(&desc, 0, text, sizeof text));
    assert_non_null(strstr(text, "quantise/"));
    desc.sharing = LK_PER_TENSOR;
    must_fail(lk_quantise(NULL, &desc, x.device, q.device, scales, NULL, NULL, 0),
              LK_SMALL_WORKSPACE, "workspace");
    desc.format = LK_FORMAT_NVFP4;
    must_fail(lk_dequantise(NULL, &desc, q.device, scales, NULL, x.device), LK_BAD_ARGUMENT,
              "tensor_scale is NULL");
    desc.format = LK_FORMAT_MXFP8;
    desc.given = 1;
    must_fail(lk_quantise(NULL, &desc, x.device, q.device, scales, NULL, NULL, 0), LK_BAD_ARGUMENT,
              "scales of MXFP8 and MXFP4 are always computed");
    desc.format = (lk_number_format)8;
    must_fail(lk_quantise(NULL, &desc, x.device, q.device, scales, NULL, NULL, 0), LK_BAD_ARGUMENT,
              "format is 8");
    desc = (lk_quantise_desc)LK_QUANTISE_DESC(LK_F32, LK_FORMAT_E4M3, (lk_sharing)9, 1, 8);
    must_fail(lk_quantise(NULL, &desc, x.device, q.device, scales, NULL, NULL, 0), LK_BAD_ARGUMENT,
              "sharing is 9");
    must(lk_free(scales));
    free_numbers(&q);
    free_numbers(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_right_on_average),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_gpu);
}
