/*
 * lk_scaled.c: lk_gemm where a and b have 8 bits; see lk_scaled.h.
 * kernels/gemm_fused/host/lk_gemm.c has the call itself, and what all types have in common.
 */
#include "lk_scaled.h"

#include "zoo/api.h"

enum { MOST_K = 131071 }; /* of integers: 128 * 128 * MOST_K fits 32 bits */

bool scaled_is_type(lk_type type)
{
    return type == LK_E4M3 || type == LK_E5M2 || type == LK_S8;
}

static lk_status fail(const char *text)
{
    return api_fail(LK_BAD_ARGUMENT, "gemm", "%s", text);
}

static lk_type type_of_b(const lk_gemm_desc *desc)
{
    return desc->b_type ? desc->b_type : desc->type;
}

lk_status scaled_check(const lk_gemm_desc *desc)
{
    lk_type b = type_of_b(desc);
    bool blocks = desc->scaling == LK_SCALE_BLOCKS;
    if (!scaled_is_type(b) || (desc->type == LK_S8) != (b == LK_S8))
        return fail(
            "b_type does not go with type: LK_S8 with itself, LK_E4M3 and LK_E5M2 with each "
            "other");
    if (desc->type == LK_E5M2 && b == LK_E5M2)
        return fail("a and b are both LK_E5M2; one of them must be LK_E4M3");
    if (desc->d_type != LK_BF16 && desc->d_type != LK_F16 && desc->d_type != LK_F32 &&
        desc->d_type != LK_E4M3)
        return fail("d_type is none of LK_BF16, LK_F16, LK_F32 and LK_E4M3");
    if ((unsigned)desc->scaling > LK_SCALE_BLOCKS)
        return fail("scaling is none of LK_SCALE_TENSORS, LK_SCALE_LINES and LK_SCALE_BLOCKS");
    if ((unsigned)desc->d_scaling > LK_SCALE_BLOCKS)
        return fail("d_scaling is none of LK_SCALE_TENSORS, LK_SCALE_LINES and LK_SCALE_BLOCKS");
    if (desc->d_scaling != LK_SCALE_TENSORS && desc->d_type != LK_E4M3)
        return fail("d_scaling is for a d in LK_E4M3: other types are stored as they are");
    if (desc->d_scaling != LK_SCALE_TENSORS && desc->d_scale)
        return fail("d_scale is given, and d_scaling asks for scales that are computed; set one of "
                    "them to 0");
    if (desc->d_scaling != LK_SCALE_TENSORS && desc->d_order == LK_COLUMNS)
        return fail("computed scales need d by rows");
    if (desc->type == LK_S8 && desc->k > MOST_K)
        return fail("k is above 131071: sums of LK_S8 would not fit 32 bits");
    if (blocks && desc->type == LK_S8)
        return fail("LK_SCALE_BLOCKS is for LK_E4M3 and LK_E5M2, not for LK_S8");
    if (blocks && desc->fast_sums)
        return fail("fast_sums does not go with LK_SCALE_BLOCKS: each block is scaled by itself");
    if (blocks && desc->d_order == LK_COLUMNS)
        return fail("LK_SCALE_BLOCKS needs d by rows");
    return LK_OK;
}

void scaled_request_of(const lk_gemm_desc *desc, const struct gemm_request *product,
                       struct scaled_request *request)
{
    static const enum scaled_stored stored[] = {
        [LK_BF16] = STORE_BF16, [LK_F16] = STORE_F16, [LK_F32] = STORE_F32, [LK_E4M3] = STORE_E4M3};
    *request = (struct scaled_request){
        .product = *product,
        .number = desc->type == LK_S8          ? SCALED_S8
                  : desc->type == LK_E5M2      ? SCALED_E5M2_E4M3
                  : type_of_b(desc) == LK_E5M2 ? SCALED_E4M3_E5M2
                                               : SCALED_E4M3,
        .scaling = (enum scaled_scaling)desc->scaling,
        .stored = stored[desc->d_type],
        .quantised = (enum scaled_scaling)desc->d_scaling,
        .fast = desc->fast_sums != 0,
    };
}

void scaled_count_scales(const struct scaled_request *r, int64_t *count)
{
    const struct gemm_request *p = &r->product;
    count[0] = scaled_count_a(r->scaling, p->m, p->k) * (p->a_stride == 0 ? 1 : p->batch);
    count[1] = scaled_count_b(r->scaling, p->n, p->k) * (p->b_stride == 0 ? 1 : p->batch);
    count[2] = 1;
    count[3] = r->quantised == SCALE_TENSORS
                   ? 0
                   : scaled_count_a(r->quantised, p->m, scaled_columns_of_d(r)) * p->batch;
}

lk_status scaled_make_plan(struct scaled_request *r, bool d_by_columns,
                           const struct zoo_device *device, struct scaled_plan *plan)
{
    if (d_by_columns) {
        struct scaled_request t = *r;
        gemm_request_turn(&r->product);
        r->a_scale = t.b_scale;
        r->b_scale = t.a_scale;
        r->number = t.number == SCALED_E4M3_E5M2   ? SCALED_E5M2_E4M3
                    : t.number == SCALED_E5M2_E4M3 ? SCALED_E4M3_E5M2
                                                   : t.number;
    }
    bool has_tma = device->arch == 90 && device->cuda->cuTensorMapEncodeTiled;
    CUresult status = scaled_plan_make(r, has_tma ? scaled_plan_kind(r) : SCALED_MMA_SYNC,
                                       device->cuda, device->sm_count, plan);
    if (status != CUDA_SUCCESS)
        return api_driver_failed(device->cuda, status, "gemm", "describing a matrix to it");
    return LK_OK;
}
