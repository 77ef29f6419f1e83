/*
 * test_tensormap.c: what cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and
 * cuTensorMapReplaceAddress take and refuse, one wrong argument at a time.
 */
#include "driver/common.h"

#define ADDRESS ((void *)(uintptr_t)0x10000000)

struct tiled {
    void *map, *address;
    int type, interleave, swizzle, promotion, fill;
    cuuint32_t rank;
    cuuint64_t dim[6], stride[5];
    cuuint32_t box[6], step[6];
};

static CUtensorMap maps[2];

/* A matrix of 32 rows of 64 u16. */
static struct tiled matrix(void)
{
    return (struct tiled){.map = maps,
                          .address = ADDRESS,
                          .type = CU_TENSOR_MAP_DATA_TYPE_UINT16,
                          .rank = 2,
                          .dim = {64, 32, 4, 2, 2, 2},
                          .stride = {128, 4096, 16384, 32768, 65536},
                          .box = {32, 8, 2, 1, 1, 1},
                          .step = {1, 1, 1, 1, 1, 1}};
}

static CUresult encode(const struct tiled *t)
{
    return cu->cuTensorMapEncodeTiled(
        t->map, (CUtensorMapDataType)t->type, t->rank, t->address, t->dim, t->stride, t->box,
        t->step, (CUtensorMapInterleave)t->interleave, (CUtensorMapSwizzle)t->swizzle,
        (CUtensorMapL2promotion)t->promotion, (CUtensorMapFloatOOBfill)t->fill);
}

#define WITH(expected, ...)                                                                        \
    do {                                                                                           \
        struct tiled t = matrix();                                                                 \
        __VA_ARGS__;                                                                               \
        assert_int_equal(encode(&t), expected);                                                    \
    } while (0)
#define TAKES(...) WITH(CUDA_SUCCESS, __VA_ARGS__)
#define REFUSES(...) WITH(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)

static void tensors(void **state)
{
    TAKES(t.rank = 2);
    TAKES(t.rank = 1);
    TAKES(t.rank = 5);
    REFUSES(t.rank = 0);
    REFUSES(t.rank = 6);
    TAKES(t.map = (char *)maps + 64);
    REFUSES(t.map = (char *)maps + 32);
    REFUSES(t.map = NULL);
    TAKES(t.address = (char *)ADDRESS + 16);
    REFUSES(t.address = (char *)ADDRESS + 8);
    TAKES(t.dim[1] = UINT64_C(1) << 32);
    REFUSES(t.dim[1] = (UINT64_C(1) << 32) + 1);
    REFUSES(t.dim[0] = 0);
    TAKES(t.stride[0] = (UINT64_C(1) << 40) - 16);
    REFUSES(t.stride[0] = UINT64_C(1) << 40);
    REFUSES(t.stride[0] = 136);
    TAKES(t.stride[1] = 8); /* of a dimension that a matrix does not have */
    for (int type = 0; type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ; type++)
        TAKES(t.type = type);
    REFUSES(t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B);
    REFUSES(t.type = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
    REFUSES(t.type = -1);
}

static void boxes(void **state)
{
    TAKES(t.box[1] = 256);
    REFUSES(t.box[1] = 257);
    REFUSES(t.box[1] = 0);
    REFUSES(t.box[0] = 4);
    REFUSES(t.box[0] = 12);
    TAKES(t.box[0] = 8);
    TAKES(t.box[0] = 256);
    TAKES(t.step[1] = 8);
    REFUSES(t.step[1] = 9);
    REFUSES(t.step[1] = 0);
    TAKES(t.rank = 3; t.box[0] = 152; t.box[1] = 256; t.box[2] = 3); /* 228 KiB */
    REFUSES(t.rank = 3; t.box[0] = 160; t.box[1] = 256; t.box[2] = 3);
    TAKES(t.rank = 3; t.box[0] = 160; t.box[1] = 256; t.box[2] = 3; t.step[1] = 2);
    TAKES(t.rank = 3; t.box[0] = 160; t.box[1] = 256; t.box[2] = 3; t.step[2] = 4); /* 3 / 4 is 0 */
    for (int swizzle = 1; swizzle <= 3; swizzle++) {
        TAKES(t.swizzle = swizzle; t.box[0] = 8u << swizzle);
        REFUSES(t.swizzle = swizzle; t.box[0] = 16u << swizzle);
    }
    for (int swizzle = 4; swizzle <= 7; swizzle++) /* of newer GPUs, and none */
        REFUSES(t.swizzle = swizzle);
}

static void modes(void **state)
{
    TAKES(t.promotion = 3);
    REFUSES(t.promotion = 4);
    TAKES(t.fill = 1; t.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    REFUSES(t.fill = 1);
    REFUSES(t.fill = 2; t.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    REFUSES(t.interleave = 1);
    TAKES(t.interleave = 1; t.rank = 3);
    TAKES(t.interleave = 1; t.rank = 3; t.swizzle = 1); /* rows may be wider than the swizzle */
    REFUSES(t.interleave = 1; t.rank = 3; t.box[0] = 12);
    for (int swizzle = 0; swizzle <= 3; swizzle++) /* not only 32, as the manual says */
        TAKES(t.interleave = 2; t.rank = 3; t.swizzle = swizzle);
    REFUSES(t.interleave = 2; t.rank = 3; t.swizzle = 1; t.stride[0] = 144);
    REFUSES(t.interleave = 2; t.rank = 3; t.swizzle = 1; t.address = (char *)ADDRESS + 16);
    REFUSES(t.interleave = 3; t.rank = 3);
}

static CUtensorMapInterleave pixel_interleave;

static CUresult encode_pixels(cuuint32_t rank, int lower, int upper, cuuint32_t channels,
                              cuuint32_t pixels)
{
    cuuint64_t dim[5] = {64, 9, 7, 5, 3}, stride[4] = {128, 1152, 8064, 40320};
    cuuint32_t step[5] = {1, 2, 2, 2, 1};
    int lowers[3] = {lower, 0, 0}, uppers[3] = {upper, 0, 0};
    return cu->cuTensorMapEncodeIm2col(
        maps, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, ADDRESS, dim, stride, lowers, uppers, channels,
        pixels, step, pixel_interleave, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void pixels(void **state)
{
    static const struct {
        cuuint32_t rank;
        int most;
    } ranges[] = {{3, 32767}, {4, 127}, {5, 15}};
    for (int i = 0; i < 3; i++) {
        cuuint32_t rank = ranges[i].rank;
        int most = ranges[i].most;
        OK(encode_pixels(rank, -most - 1, most, 64, 1024));
        FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(rank, -most - 2, 0, 64, 16));
        FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(rank, 0, most + 1, 64, 16));
    }
    OK(encode_pixels(4, 8, 0, 64, 16)); /* one column is left */
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(4, 9, 0, 64, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(4, 0, -9, 64, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(2, 0, 0, 64, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(6, 0, 0, 64, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(4, 0, 0, 128, 16)); /* wider than the swizzle */
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(4, 0, 0, 0, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(4, 0, 0, 64, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(4, 0, 0, 64, 1025));
    pixel_interleave = CU_TENSOR_MAP_INTERLEAVE_16B; /* the corners are those of dimension 0 */
    OK(encode_pixels(4, 63, 0, 64, 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(4, 64, 0, 64, 16));
    OK(encode_pixels(4, 0, 0, 256, 456)); /* 228 KiB */
    FAILS(CUDA_ERROR_INVALID_VALUE, encode_pixels(4, 0, 0, 256, 457));
    pixel_interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
}

static void addresses(void **state)
{
    struct tiled t = matrix();
    OK(encode(&t));
    OK(cu->cuTensorMapReplaceAddress(maps, (char *)ADDRESS + 16));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuTensorMapReplaceAddress(maps, (char *)ADDRESS + 8));
    FAILS(CUDA_ERROR_INVALID_VALUE, cu->cuTensorMapReplaceAddress(NULL, ADDRESS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors), cmocka_unit_test(boxes),     cmocka_unit_test(modes),
        cmocka_unit_test(pixels),  cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
