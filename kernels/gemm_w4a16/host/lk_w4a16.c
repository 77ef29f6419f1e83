/*
 * lk_w4a16.c: the public calls lk_gemm_w4a16 and lk_repack_w4a16, and how many bytes weights take.
 */
#include "w4a16.h"

#include "zoo/api.h"

static const char multiply_name[] = "gemm_w4a16", repack_name[] = "repack_w4a16";

static lk_status check_desc(const char *call, const lk_w4a16_desc *desc, bool repacks)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_W4A16_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16 or LK_F16",
                        (int)desc->type);
    if ((unsigned)desc->layout > LK_TILES128)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "layout is %d; it is LK_Q4_0, LK_Q4_1, LK_Q8_0, LK_Q4_K, LK_Q6_K, "
                        "LK_TILES32 or LK_TILES128",
                        (int)desc->layout);
    if (repacks && desc->layout < LK_TILES32)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "layout is %d; weights are brought into LK_TILES32 or LK_TILES128",
                        (int)desc->layout);
    lk_status status;
    if ((status = api_check_size(call, &zoo_gemm_w4a16, W_M, desc->m)) != LK_OK ||
        (status = api_check_size(call, &zoo_gemm_w4a16, W_N, desc->n)) != LK_OK ||
        (status = api_check_size(call, &zoo_gemm_w4a16, W_K, desc->k)) != LK_OK)
        return status;
    if (desc->k % w_block(desc->layout))
        return api_fail(LK_BAD_ARGUMENT, call, "k is %lld; with this layout it is a multiple of %d",
                        (long long)desc->k, (int)w_block(desc->layout));
    return LK_OK;
}

/* Both count layouts alike. */
static lk_status make_request(const lk_w4a16_desc *desc, bool repacks, struct api_request *request)
{
    static const char *const gguf[] = {"x", "w", "y"}, *const tiles[] = {"x", "w", "scales", "y"};
    static const char *const from_q4_0[] = {"w", "tiles", "scales"};
    static const char *const from_int4[] = {"w", "w_scales", "tiles", "scales"};
    const char *call = repacks ? repack_name : multiply_name;
    lk_status status = check_desc(call, desc, repacks);
    if (status != LK_OK)
        return status;
    *request = (struct api_request){
        .name = call,
        .buffer_name = repacks ? (desc->layout == LK_TILES32 ? from_q4_0 : from_int4)
                               : (desc->layout < LK_TILES32 ? gguf : tiles),
        .problem = zoo_problem_normal(&zoo_gemm_w4a16)};
    int64_t *value = request->problem.value;
    value[W_M] = repacks ? 1 : desc->m;
    value[W_N] = desc->n;
    value[W_K] = desc->k;
    value[W_LAYOUT] = desc->layout;
    value[W_STEP] = repacks ? W_REPACK : W_MULTIPLY;
    value[W_TYPE] = desc->type == LK_BF16 ? 0 : 1;
    return api_shape(request);
}

lk_status lk_gemm_w4a16(void *stream, const lk_w4a16_desc *desc, const void *x, const void *w,
                        const void *scales, void *y)
{
    struct api_request request;
    lk_status status = make_request(desc, false, &request);
    if (status != LK_OK)
        return status;
    if (scales && desc->layout < LK_TILES32)
        return api_fail(LK_BAD_ARGUMENT, multiply_name,
                        "scales is given, and this layout has them in w: pass NULL");
    const void *gguf[] = {x, w, y}, *tiles[] = {x, w, scales, y};
    return api_submit(&request, stream, desc->layout < LK_TILES32 ? gguf : tiles, NULL, 0);
}

lk_status lk_repack_w4a16(void *stream, const lk_w4a16_desc *desc, const void *w,
                          const float *w_scales, void *tiles, void *scales)
{
    struct api_request request;
    lk_status status = make_request(desc, true, &request);
    if (status != LK_OK)
        return status;
    if (w_scales && desc->layout == LK_TILES32)
        return api_fail(LK_BAD_ARGUMENT, repack_name,
                        "w_scales is given, and LK_TILES32 is made from Q4_0, which has them in w: "
                        "pass NULL");
    const void *from_q4_0[] = {w, tiles, scales}, *from_int4[] = {w, w_scales, tiles, scales};
    return api_submit(&request, stream, desc->layout == LK_TILES32 ? from_q4_0 : from_int4, NULL,
                      0);
}

lk_status lk_gemm_w4a16_bytes(const lk_w4a16_desc *desc, size_t *weights, size_t *scales)
{
    lk_status status = check_desc(multiply_name, desc, false);
    if (status != LK_OK)
        return status;
    if (weights)
        *weights = w_weight_bytes(desc->layout, desc->n, desc->k);
    if (scales)
        *scales = 2 * w_scale_count(desc->layout, desc->n, desc->k);
    return LK_OK;
}

lk_status lk_gemm_w4a16_explain(const lk_w4a16_desc *desc, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, false, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
