/*
 * lk_quantise.c: the public calls lk_quantise and lk_dequantise: a description becomes a problem of
 * the family, which api_submit checks further and launches.
 */
#include "quantise.h"

#include "zoo/api.h"

static const char quantise_name[] = "quantise", dequantise_name[] = "dequantise";

static lk_status check_desc(const char *call, const lk_quantise_desc *desc, bool back)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_QUANTISE_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if ((unsigned)desc->format > LK_FORMAT_NVFP4)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "format is %d; it is one of LK_FORMAT_E4M3 .. LK_FORMAT_NVFP4",
                        (int)desc->format);
    if ((unsigned)desc->sharing > LK_PER_128)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "sharing is %d; it is one of LK_PER_TENSOR .. LK_PER_128",
                        (int)desc->sharing);
    if (!back && desc->given && desc->format >= LK_FORMAT_MXFP8 && desc->format <= LK_FORMAT_MXFP4)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "given is set, and scales of MXFP8 and MXFP4 are always computed");
    lk_status status = api_check_size(call, &zoo_quantise, Q_ROWS, desc->rows);
    return status != LK_OK ? status : api_check_size(call, &zoo_quantise, Q_COLS, desc->cols);
}

/* Both count formats, groups and types alike. */
static lk_status make_request(const lk_quantise_desc *desc, bool back, struct api_request *request)
{
    static const char *const names[][4] = {{"x", "q", "scales", "tensor_scale"},
                                           {"y", "q", "scales", "tensor_scale"}};
    const char *call = back ? dequantise_name : quantise_name;
    lk_status status = check_desc(call, desc, back);
    if (status != LK_OK)
        return status;
    *request = (struct api_request){
        .name = call, .buffer_name = names[back], .problem = zoo_problem_normal(&zoo_quantise)};
    int64_t *value = request->problem.value;
    value[Q_ROWS] = desc->rows;
    value[Q_COLS] = desc->cols;
    value[Q_FORMAT] = desc->format;
    value[Q_SCALES] = desc->format <= LK_FORMAT_INT4 ? (int64_t)desc->sharing : Q_ROW;
    value[Q_DIRECTION] = back ? Q_BACK : Q_FORWARD;
    value[Q_TYPE] = desc->type;
    if (!back) {
        value[Q_SOURCE] = desc->given ? Q_GIVEN : Q_ABSMAX;
        value[Q_ROUNDING] = desc->stochastic ? Q_STOCHASTIC : Q_NEAREST;
        value[Q_KEY] = desc->seed;
    }
    return api_shape(request);
}

static lk_status refuse(const char *call, const lk_quantise_desc *desc, const void *tensor_scale)
{
    if (!tensor_scale || desc->format == LK_FORMAT_NVFP4)
        return LK_OK;
    return api_fail(LK_BAD_ARGUMENT, call,
                    "tensor_scale is given, and only NVFP4 has one: pass NULL");
}

lk_status lk_quantise(void *stream, const lk_quantise_desc *desc, const void *x, void *q,
                      void *scales, float *tensor_scale, void *workspace, size_t workspace_bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, false, &request);
    const void *buffers[] = {x, q, scales, tensor_scale};
    if (status != LK_OK || (status = refuse(quantise_name, desc, tensor_scale)) != LK_OK)
        return status;
    return api_submit(&request, stream, buffers, workspace, workspace_bytes);
}

lk_status lk_quantise_workspace(const lk_quantise_desc *desc, size_t *bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, false, &request);
    if (status == LK_OK && !bytes)
        status = api_fail(LK_BAD_ARGUMENT, "quantise_workspace", "bytes is NULL");
    if (status != LK_OK || (status = api_choose(&request)) != LK_OK)
        return status;
    *bytes = request.chosen->workspace_bytes;
    return LK_OK;
}

lk_status lk_dequantise(void *stream, const lk_quantise_desc *desc, const void *q,
                        const void *scales, const float *tensor_scale, void *y)
{
    struct api_request request;
    lk_status status = make_request(desc, true, &request);
    const void *buffers[] = {y, q, scales, tensor_scale};
    if (status != LK_OK || (status = refuse(dequantise_name, desc, tensor_scale)) != LK_OK)
        return status;
    return api_submit(&request, stream, buffers, NULL, 0);
}

lk_status lk_quantise_explain(const lk_quantise_desc *desc, int dequantise, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, dequantise != 0, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
