/*
 * lk_calibrate.c: the public calls lk_calibrate and lk_awq_scales: a description becomes a problem
 * of the family, which api_submit checks further and launches.
 */
#include "calibration.h"

#include "zoo/api.h"

static const char calibrate_name[] = "calibrate", awq_name[] = "awq_scales";

/* The family's way to share for the description's; -1: there is none. */
static int sharing_of(lk_sharing sharing)
{
    switch (sharing) {
    case LK_PER_TENSOR:
        return CAL_TENSOR;
    case LK_PER_ROW:
        return CAL_ROW;
    case LK_PER_128:
        return CAL_BLOCK128;
    default:
        return -1;
    }
}

static lk_status check_desc(const char *call, const lk_calibrate_desc *desc, bool awq)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_CALIBRATE_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if ((unsigned)desc->format > LK_FORMAT_INT4)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "format is %d; it is LK_FORMAT_E4M3, LK_FORMAT_E5M2, LK_FORMAT_INT8 or "
                        "LK_FORMAT_INT4: the others compute their scales",
                        (int)desc->format);
    if (sharing_of(desc->sharing) < 0)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "sharing is %d; it is LK_PER_TENSOR, LK_PER_ROW or LK_PER_128",
                        (int)desc->sharing);
    if (!awq && (unsigned)desc->method > LK_CALIBRATE_MSE)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "method is %d; it is one of LK_CALIBRATE_ABSMAX .. LK_CALIBRATE_MSE",
                        (int)desc->method);
    if (!awq && desc->method == LK_CALIBRATE_PERCENTILE &&
        !(desc->percent > 0 && desc->percent <= 100))
        return api_fail(LK_BAD_ARGUMENT, call, "percent is %g; it is above 0 and at most 100",
                        (double)desc->percent);
    lk_status status = api_check_size(call, &zoo_calibration, CAL_ROWS, desc->rows);
    return status != LK_OK ? status : api_check_size(call, &zoo_calibration, CAL_COLS, desc->cols);
}

static lk_status make_request(const lk_calibrate_desc *desc, bool awq, struct api_request *request)
{
    static const char *const names[][3] = {{"x", "scales"}, {"w", "scales", "means"}};
    const char *call = awq ? awq_name : calibrate_name;
    lk_status status = check_desc(call, desc, awq);
    if (status != LK_OK)
        return status;
    *request = (struct api_request){
        .name = call, .buffer_name = names[awq], .problem = zoo_problem_normal(&zoo_calibration)};
    int64_t *value = request->problem.value;
    value[CAL_ROWS] = desc->rows;
    value[CAL_COLS] = desc->cols;
    value[CAL_METHOD] = awq ? CAL_AWQ : (int64_t)desc->method; /* both count them alike */
    value[CAL_FORMAT] = desc->format;
    value[CAL_SCALES] = sharing_of(desc->sharing);
    value[CAL_TYPE] = desc->type;
    if (!awq && desc->method == LK_CALIBRATE_PERCENTILE)
        value[CAL_PERCENT] = zoo_from_float(desc->percent);
    return api_shape(request);
}

lk_status lk_calibrate(void *stream, const lk_calibrate_desc *desc, const void *x, float *scales,
                       void *workspace, size_t workspace_bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, false, &request);
    if (status != LK_OK)
        return status;
    return api_submit(&request, stream, (const void *[]){x, scales}, workspace, workspace_bytes);
}

lk_status lk_awq_scales(void *stream, const lk_calibrate_desc *desc, const void *w,
                        const float *means, float *scales, void *workspace, size_t workspace_bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, true, &request);
    if (status != LK_OK)
        return status;
    return api_submit(&request, stream, (const void *[]){w, scales, means}, workspace,
                      workspace_bytes);
}

static lk_status workspace_of(const lk_calibrate_desc *desc, bool awq, size_t *bytes)
{
    struct api_request request;
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, awq ? awq_name : calibrate_name, "bytes is NULL");
    *bytes = 0;
    lk_status status = make_request(desc, awq, &request);
    if (status == LK_OK && (status = api_choose(&request)) == LK_OK)
        *bytes = request.chosen->workspace_bytes;
    return status;
}

lk_status lk_calibrate_workspace(const lk_calibrate_desc *desc, size_t *bytes)
{
    return workspace_of(desc, false, bytes);
}

lk_status lk_awq_scales_workspace(const lk_calibrate_desc *desc, size_t *bytes)
{
    return workspace_of(desc, true, bytes);
}

lk_status lk_calibrate_explain(const lk_calibrate_desc *desc, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, false, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
