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
    if (desc->batch != 0 && desc->batch != 1)
        return fail("batch is not 1: with 8 bits there is one product to a call");
    if (desc->beta != 0 || desc->activation != LK_IDENTITY)
        return fail("beta and activation must be 0: with 8 bits nothing is added to the product");
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

void scaled_count_scales(const lk_gemm_desc *desc, int64_t *count)
{
    int64_t blocks = (desc->k + SCALE_BLOCK - 1) / SCALE_BLOCK;
    count[0] = count[1] = count[2] = 1;
    if (desc->scaling == LK_SCALE_LINES) {
        count[0] = desc->m;
        count[1] = desc->n;
    } else if (desc->scaling == LK_SCALE_BLOCKS) {
        count[0] = blocks * desc->m;
        count[1] = blocks * ((desc->n + SCALE_BLOCK - 1) / SCALE_BLOCK);
    }
}

void scaled_request_of(const lk_gemm_desc *desc, int64_t a_pitch, int64_t b_pitch, int64_t d_pitch,
                       struct scaled_request *request)
{
    static const enum scaled_stored stored[] = {
        [LK_BF16] = STORE_BF16, [LK_F16] = STORE_F16, [LK_F32] = STORE_F32, [LK_E4M3] = STORE_E4M3};
    *request = (struct scaled_request){
        .number = desc->type == LK_S8          ? SCALED_S8
                  : desc->type == LK_E5M2      ? SCALED_E5M2_E4M3
                  : type_of_b(desc) == LK_E5M2 ? SCALED_E4M3_E5M2
                                               : SCALED_E4M3,
        .scaling = (enum scaled_scaling)desc->scaling,
        .stored = stored[desc->d_type],
        .alpha = desc->alpha,
        .fast = desc->fast_sums != 0,
        .m = desc->m,
        .n = desc->n,
        .k = desc->k,
        .a_by_columns = desc->a_order == LK_COLUMNS,
        .b_by_columns = desc->b_order == LK_COLUMNS,
        .a_pitch = a_pitch,
        .b_pitch = b_pitch,
        .d_pitch = d_pitch,
    };
}

/* D by columns is D transposed by rows: the product of B and A, transposed. */
static void turn(struct scaled_request *r)
{
    struct scaled_request t = *r;
    r->m = t.n;
    r->n = t.m;
    r->a = t.b;
    r->b = t.a;
    r->a_scale = t.b_scale;
    r->b_scale = t.a_scale;
    r->a_pitch = t.b_pitch;
    r->b_pitch = t.a_pitch;
    r->a_by_columns = !t.b_by_columns;
    r->b_by_columns = !t.a_by_columns;
    if (t.number == SCALED_E4M3_E5M2)
        r->number = SCALED_E5M2_E4M3;
    else if (t.number == SCALED_E5M2_E4M3)
        r->number = SCALED_E4M3_E5M2;
}

lk_status scaled_make_plan(struct scaled_request *r, bool d_by_columns,
                           const struct zoo_device *device, const void *const *buffer,
                           struct scaled_plan *plan)
{
    r->a = (uintptr_t)buffer[0];
    r->b = (uintptr_t)buffer[1];
    r->d = (uintptr_t)buffer[2];
    r->a_scale = (uintptr_t)buffer[3];
    r->b_scale = (uintptr_t)buffer[4];
    r->d_scale = (uintptr_t)buffer[5];
    if (d_by_columns)
        turn(r);
    bool has_tma = device->arch == 90 && device->cuda->cuTensorMapEncodeTiled;
    enum scaled_kind kind = has_tma && scaled_plan_fits_tma(r) ? SCALED_TILES : SCALED_MMA_SYNC;
    CUresult status = scaled_plan_make(r, kind, device->cuda, device->sm_count, plan);
    if (status != CUDA_SUCCESS)
        return api_driver_failed(device->cuda, status, "gemm", "describing a matrix to it");
    return LK_OK;
}
