/*
 * tensormap.c: cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuTensorMapReplaceAddress: what
 * the driver refuses, and the 128 bytes of a map (simt/tensormap.h has the layout).
 */
#include "simt/tensormap.h"
#include "driver/state.h"

#include <string.h>

/* What both encodings share. */
struct request {
    CUtensorMap *map;
    CUtensorMapDataType type;
    cuuint32_t rank;
    void *address;
    const cuuint64_t *dims, *strides;
    const cuuint32_t *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

static CUresult has_tensor_maps(void)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status == CUDA_SUCCESS && context->device->gpu->cc_major < 9)
        status = CUDA_ERROR_NOT_SUPPORTED;
    return status;
}

static bool is_float(unsigned type)
{
    return type >= TENSORMAP_F16 && type < TENSORMAP_TYPES;
}

static bool are_modes_valid(const struct request *request)
{
    unsigned interleave = request->interleave, swizzle = request->swizzle;
    if ((unsigned)request->type >= TENSORMAP_TYPES || interleave > TENSORMAP_INTERLEAVE_32 ||
        swizzle > TENSORMAP_SWIZZLE_128)
        return false;
    if ((unsigned)request->promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)request->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return false;
    return !request->fill || is_float(request->type);
}

static bool is_tensor_valid(const struct request *request)
{
    const cuuint64_t most_elements = UINT64_C(1) << 32, most_stride = UINT64_C(1) << 40;
    cuuint32_t rank = request->rank;
    unsigned align = request->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    if (!request->map || (uintptr_t)request->map % TENSORMAP_ALIGN || !request->dims ||
        !request->steps || (rank > 1 && !request->strides))
        return false;
    if (!rank || rank > TENSORMAP_RANKS || (request->interleave && rank < 3))
        return false;
    if ((uintptr_t)request->address % align)
        return false;
    for (cuuint32_t i = 0; i < rank; i++) {
        if (!request->dims[i] || request->dims[i] > most_elements)
            return false;
        if (i + 1 < rank && (request->strides[i] % align || request->strides[i] >= most_stride))
            return false;
        if (!request->steps[i] || request->steps[i] > 8)
            return false;
    }
    return true;
}

/* The innermost extent of the box: whole pieces of 16 bytes, and no wider than the swizzle. In an
 * interleaved tensor the first is asked all the same, though the extent is one of pixels there. */
static bool is_row_valid(const struct request *request, cuuint32_t elements)
{
    uint64_t bytes = (uint64_t)elements * tensormap_element(request->type);
    if (!elements || elements > 256 || bytes % 16)
        return false;
    return request->interleave || !request->swizzle || bytes <= tensormap_span(request->swizzle);
}

/* A box must fit in an SM's shared memory: in elements, with steps rounded down, as the driver
 * counts. */
static bool does_box_fit(const struct request *request, uint64_t elements)
{
    CUcontext context;
    return drv_current(&context) == CUDA_SUCCESS &&
           elements * tensormap_element(request->type) <= context->device->gpu->shared_per_sm;
}

static struct tensormap common_fields(const struct request *request)
{
    struct tensormap map = {.magic = TENSORMAP_MAGIC,
                            .type = (uint8_t)request->type,
                            .rank = (uint8_t)request->rank,
                            .interleave = (uint8_t)request->interleave,
                            .swizzle = (uint8_t)request->swizzle,
                            .fills_nan = (uint8_t)request->fill,
                            .promotion = (uint8_t)request->promotion,
                            .address = (uint64_t)(uintptr_t)request->address};
    for (cuuint32_t i = 0; i < request->rank; i++) {
        map.dims[i] = (uint32_t)(request->dims[i] - 1);
        map.steps[i] = (uint8_t)request->steps[i];
        if (i + 1 < request->rank)
            map.strides[i] = request->strides[i];
    }
    if (!request->interleave) /* dimension 0 has no element stride */
        map.steps[0] = 1;
    return map;
}

CUresult drv_cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                    void *address, const cuuint64_t *dims,
                                    const cuuint64_t *strides, const cuuint32_t *box,
                                    const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                    CUtensorMapFloatOOBfill fill)
{
    const struct request request = {map,   type,       rank,    address,   dims, strides,
                                    steps, interleave, swizzle, promotion, fill};
    CUresult status = has_tensor_maps();
    if (status != CUDA_SUCCESS)
        return status;
    if (!box || !are_modes_valid(&request) || !is_tensor_valid(&request) ||
        !is_row_valid(&request, box[0]))
        return CUDA_ERROR_INVALID_VALUE;
    struct tensormap fields = common_fields(&request);
    uint64_t elements = 1;
    for (cuuint32_t i = 0; i < rank; i++) {
        if (!box[i] || box[i] > 256)
            return CUDA_ERROR_INVALID_VALUE;
        fields.box[i] = (uint16_t)box[i];
        elements *= box[i] / steps[i];
    }
    if (!does_box_fit(&request, elements))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(map, &fields, sizeof(fields));
    return CUDA_SUCCESS;
}

/* The corners are signed numbers of 16 bits for one dimension, 8 each for two, 5 each for three.
 * The box between them must not be empty; the driver takes the tensor's extent as 32 bits there.
 * Without interleaving the channels come first, with it they come after the pixels. */
static bool are_corners_valid(const struct request *request, const int *lower, const int *upper)
{
    int most = request->rank == 3 ? 32767 : request->rank == 4 ? 127 : 15;
    const cuuint64_t *dims = request->dims + (request->interleave ? 0 : 1);
    for (cuuint32_t i = 0; i < request->rank - 2; i++) {
        if (lower[i] < -most - 1 || lower[i] > most || upper[i] < -most - 1 || upper[i] > most)
            return false;
        if (lower[i] >= (int32_t)(uint32_t)dims[i] + (int64_t)upper[i])
            return false;
    }
    return true;
}

CUresult drv_cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                     void *address, const cuuint64_t *dims,
                                     const cuuint64_t *strides, const int *lower, const int *upper,
                                     cuuint32_t channels, cuuint32_t pixels,
                                     const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill)
{
    const struct request request = {map,   type,       rank,    address,   dims, strides,
                                    steps, interleave, swizzle, promotion, fill};
    CUresult status = has_tensor_maps();
    if (status != CUDA_SUCCESS)
        return status;
    if (!lower || !upper || rank < 3 || !are_modes_valid(&request) || !is_tensor_valid(&request) ||
        !is_row_valid(&request, channels) || !pixels || pixels > 1024 ||
        !does_box_fit(&request, (uint64_t)channels * pixels) ||
        !are_corners_valid(&request, lower, upper))
        return CUDA_ERROR_INVALID_VALUE;
    struct tensormap fields = common_fields(&request);
    fields.is_im2col = 1;
    fields.box[0] = (uint16_t)channels;
    fields.box[1] = (uint16_t)pixels;
    for (cuuint32_t i = 0; i < rank - 2; i++) {
        fields.lower[i] = (int16_t)lower[i];
        fields.upper[i] = (int16_t)upper[i];
    }
    memcpy(map, &fields, sizeof(fields));
    return CUDA_SUCCESS;
}

CUresult drv_cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    struct tensormap fields;
    CUresult status = has_tensor_maps();
    if (status != CUDA_SUCCESS)
        return status;
    if (!map || (uintptr_t)map % TENSORMAP_ALIGN)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&fields, map, sizeof(fields));
    unsigned align = fields.interleave == TENSORMAP_INTERLEAVE_32 ? 32 : 16;
    if (fields.magic != TENSORMAP_MAGIC || (uintptr_t)address % align)
        return CUDA_ERROR_INVALID_VALUE;
    fields.address = (uint64_t)(uintptr_t)address;
    memcpy(map, &fields, sizeof(fields));
    return CUDA_SUCCESS;
}
