/*
 * lk_softmax.c: the public calls lk_softmax and lk_softmax_backward: a description becomes a
 * problem of the family, which api_submit checks further and launches.
 */
#include "softmax.h"

#include "zoo/api.h"

#include <math.h>

static const char forward_name[] = "softmax", backward_name[] = "softmax_backward";

static lk_status check_choices(const char *call, const lk_softmax_desc *desc, bool backward)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_SOFTMAX_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if ((unsigned)desc->op > LK_LOG_SUM_EXP)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "op is %d; it is LK_SOFTMAX, LK_LOG_SOFTMAX or LK_LOG_SUM_EXP",
                        (int)desc->op);
    if (backward && desc->op == LK_LOG_SUM_EXP)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "op is LK_LOG_SUM_EXP; the gradient of that is softmax times the gradient "
                        "of its result");
    if (!(desc->scale >= 0) || isinf(desc->scale))
        return api_fail(LK_BAD_ARGUMENT, call,
                        "scale is %g; it must be above 0 (0 counts as 1) and finite",
                        (double)desc->scale);
    return LK_OK;
}

static lk_status make_request(const lk_softmax_desc *desc, bool backward,
                              struct api_request *request)
{
    static const char *const forward_buffers[] = {"in", "bias", "lengths", "out"};
    static const char *const backward_buffers[] = {"y", "dy", "lengths", "dx"};
    static const char *const alone[] = {"bias", "lengths", NULL};
    const char *call = backward ? backward_name : forward_name;
    lk_status status = check_choices(call, desc, backward);
    if (status != LK_OK)
        return status;
    int64_t group = desc->group ? desc->group : 1;
    if ((status = api_check_size(call, &zoo_softmax, SM_ROWS, desc->rows)) != LK_OK ||
        (status = api_check_size(call, &zoo_softmax, SM_COLS, desc->cols)) != LK_OK ||
        (status = api_check_size(call, &zoo_softmax, SM_GROUP, group)) != LK_OK)
        return status;
    *request = (struct api_request){
        .name = call,
        .buffer_name = backward ? backward_buffers : forward_buffers,
        .traits = API_IN_PLACE,
        .alone = alone,
        .problem = zoo_problem_normal(&zoo_softmax),
    };
    int64_t *value = request->problem.value;
    value[SM_ROWS] = desc->rows;
    value[SM_COLS] = desc->cols;
    value[SM_TYPE] = desc->type; /* both count bf16, f16, f32 */
    value[SM_OP] = desc->op;
    value[SM_STEP] = backward ? STEP_BACKWARD : STEP_FORWARD;
    value[SM_MASK] = (desc->causal ? MASK_CAUSAL : 0) | (desc->lengths ? MASK_PADDING : 0) |
                     (desc->bias && !backward ? MASK_ADDITIVE : 0);
    value[SM_GROUP] = group;
    value[SM_SCALE] = zoo_from_float(desc->scale == 0 ? 1 : desc->scale);
    return api_shape(request);
}

lk_status lk_softmax(void *stream, const lk_softmax_desc *desc, const void *in, void *out)
{
    struct api_request request;
    lk_status status = make_request(desc, false, &request);
    if (status != LK_OK)
        return status;
    const void *buffers[SM_BUFFERS] = {in, desc->bias, desc->lengths, out};
    return api_submit(&request, stream, buffers, NULL, 0);
}

lk_status lk_softmax_backward(void *stream, const lk_softmax_desc *desc, const void *y,
                              const void *dy, void *dx)
{
    struct api_request request;
    lk_status status = make_request(desc, true, &request);
    if (status != LK_OK)
        return status;
    const void *buffers[SM_BUFFERS] = {y, dy, desc->lengths, dx};
    return api_submit(&request, stream, buffers, NULL, 0);
}

lk_status lk_softmax_explain(const lk_softmax_desc *desc, int backward, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, backward != 0, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
