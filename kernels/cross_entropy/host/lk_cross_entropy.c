/*
 * lk_cross_entropy.c: the public call lk_cross_entropy: a description becomes a problem of the
 * family, which api_submit checks further and launches.
 */
#include "cross_entropy.h"

#include "zoo/api.h"

#include <math.h>

static const char name[] = "cross_entropy";

static lk_status check_choices(const lk_cross_entropy_desc *desc)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, name, "desc is NULL; LK_CROSS_ENTROPY_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, name, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if (!(desc->smoothing >= 0 && desc->smoothing <= 1))
        return api_fail(LK_BAD_ARGUMENT, name, "smoothing is %g; it goes from 0 to 1",
                        (double)desc->smoothing);
    if (!(desc->scale >= 0) || isinf(desc->scale))
        return api_fail(LK_BAD_ARGUMENT, name,
                        "scale is %g; it must be above 0 (0 counts as 1) and finite",
                        (double)desc->scale);
    lk_status status = api_check_size(name, &zoo_cross_entropy, CE_ROWS, desc->rows);
    if (status == LK_OK)
        status = api_check_size(name, &zoo_cross_entropy, CE_COLS, desc->cols);
    if (status == LK_OK)
        status = api_check_size(name, &zoo_cross_entropy, CE_IGNORE, desc->ignore_index);
    return status;
}

static lk_status make_request(const lk_cross_entropy_desc *desc, struct api_request *request)
{
    static const char *const names[CE_BUFFERS] = {"logits", "labels", "losses", "total"};
    lk_status status = check_choices(desc);
    if (status != LK_OK)
        return status;
    *request = (struct api_request){
        .name = name, .buffer_name = names, .problem = zoo_problem_normal(&zoo_cross_entropy)};
    int64_t *value = request->problem.value;
    value[CE_ROWS] = desc->rows;
    value[CE_COLS] = desc->cols;
    value[CE_TYPE] = desc->type; /* both count bf16, f16, f32 */
    value[CE_STEP] = desc->loss_only ? STEP_FORWARD : STEP_FUSED;
    value[CE_REDUCE] = desc->sum ? REDUCE_SUM : REDUCE_MEAN;
    value[CE_SMOOTHING] = zoo_from_float(desc->smoothing);
    value[CE_SCALE] = zoo_from_float(desc->scale == 0 ? 1 : desc->scale);
    value[CE_IGNORE] = desc->ignore_index;
    return api_shape(request);
}

lk_status lk_cross_entropy(void *stream, const lk_cross_entropy_desc *desc, void *logits,
                           const int64_t *labels, float *losses, float *total, void *workspace,
                           size_t workspace_bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, &request);
    if (status != LK_OK)
        return status;
    const void *buffers[CE_BUFFERS] = {logits, labels, losses, total};
    return api_submit(&request, stream, buffers, workspace, workspace_bytes);
}

lk_status lk_cross_entropy_workspace(const lk_cross_entropy_desc *desc, size_t *bytes)
{
    struct api_request request;
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, name, "bytes is NULL");
    lk_status status = make_request(desc, &request);
    if (status == LK_OK)
        status = api_choose(&request);
    if (status == LK_OK)
        *bytes = request.chosen->workspace_bytes;
    return status;
}

lk_status lk_cross_entropy_explain(const lk_cross_entropy_desc *desc, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
