/*
 * lk_fused_norm.c: the public calls lk_bias_dropout_residual_norm and its backward: a description
 * becomes a problem of the family, which api_submit checks further and launches.
 */
#include "fused_norm.h"

#include "zoo/api.h"

#include <math.h>

static const char forward_name[] = "bias_dropout_residual_norm",
                  backward_name[] = "bias_dropout_residual_norm_backward";

static lk_status check_desc(const char *call, const lk_fused_norm_desc *desc)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_FUSED_NORM_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if (!(desc->p >= 0 && desc->p <= 1))
        return api_fail(LK_BAD_ARGUMENT, call, "p is %g; it goes from 0 to 1", (double)desc->p);
    if (!(desc->eps >= 0) || isinf(desc->eps))
        return api_fail(LK_BAD_ARGUMENT, call, "eps is %g; it must not be below 0, and finite",
                        (double)desc->eps);
    lk_status status = api_check_size(call, &zoo_fused_norm, FN_ROWS, desc->rows);
    return status != LK_OK ? status : api_check_size(call, &zoo_fused_norm, FN_COLS, desc->cols);
}

/* A call's pointers by array; those that the problem has become its buffers. */
struct pointers {
    const void *at[FN_ARRAYS];
};

static lk_status make_request(const lk_fused_norm_desc *desc, bool backward, bool dsum,
                              const char *names[ZOO_BUFFERS], struct api_request *request)
{
    static const char *const alone[] = {"bias",   "gamma", "beta",  "stats", "dbias",
                                        "dgamma", "dbeta", "state", NULL};
    const char *call = backward ? backward_name : forward_name;
    lk_status status = check_desc(call, desc);
    if (status != LK_OK)
        return status;
    *request = (struct api_request){.name = call,
                                    .buffer_name = names,
                                    .traits = API_IN_PLACE | API_ALIGNED,
                                    .alone = alone,
                                    .problem = zoo_problem_normal(&zoo_fused_norm)};
    int64_t *value = request->problem.value;
    value[FN_ROWS] = desc->rows;
    value[FN_COLS] = desc->cols;
    value[FN_NORM] = desc->layer ? FN_LAYERNORM : FN_RMSNORM;
    value[FN_DIRECTION] = backward ? FN_BACKWARD : FN_FORWARD;
    value[FN_TYPE] = desc->type; /* both count bf16, f16, f32 */
    value[FN_P] = zoo_from_float(desc->p);
    value[FN_OFFSET] = (int64_t)desc->offset;
    value[FN_STATE] = desc->state != NULL;
    value[FN_DSUM] = dsum;
    value[FN_EPS] = zoo_from_float(desc->eps);
    request->problem.seed = desc->seed;
    request->count = zoo_fused_norm.shape(&request->problem, request->buffer);
    for (unsigned i = 0; i < request->count; i++)
        names[i] = request->buffer[i].name;
    return api_shape(request);
}

static lk_status run(const lk_fused_norm_desc *desc, bool backward, void *stream,
                     const struct pointers *given, void *workspace, size_t bytes)
{
    struct api_request request;
    const char *names[ZOO_BUFFERS];
    const void *buffers[ZOO_BUFFERS];
    lk_status status = make_request(desc, backward, given->at[FN_DSUM_IN] != NULL, names, &request);
    if (status != LK_OK)
        return status;
    if (!desc->layer && (given->at[FN_BETA] || given->at[FN_DBETA]))
        return api_fail(LK_BAD_ARGUMENT, request.name,
                        "beta or dbeta is given, and an rmsnorm has none: pass NULL, or set layer");
    for (int i = 0; i < FN_ARRAYS; i++) {
        int at = fn_at(&request.problem, (enum fn_array)i);
        if (at >= 0)
            buffers[at] = i == FN_STATE_IN ? (const void *)desc->state : given->at[i];
    }
    return api_submit(&request, stream, buffers, workspace, bytes);
}

lk_status lk_bias_dropout_residual_norm(void *stream, const lk_fused_norm_desc *desc, const void *x,
                                        const void *bias, const void *residual, const void *gamma,
                                        const void *beta, void *sum, void *y, float *stats)
{
    struct pointers given = {{[FN_X] = x,
                              [FN_BIAS] = bias,
                              [FN_RESIDUAL] = residual,
                              [FN_GAMMA] = gamma,
                              [FN_BETA] = beta,
                              [FN_SUM] = sum,
                              [FN_Y] = y,
                              [FN_STATS] = stats}};
    return run(desc, false, stream, &given, NULL, 0);
}

lk_status lk_bias_dropout_residual_norm_backward(void *stream, const lk_fused_norm_desc *desc,
                                                 const void *sum, const void *gamma,
                                                 const float *stats, const void *dy,
                                                 const void *dsum, void *dresidual, void *dx,
                                                 void *dbias, void *dgamma, void *dbeta,
                                                 void *workspace, size_t workspace_bytes)
{
    struct pointers given = {{[FN_SUM_IN] = sum,
                              [FN_GAMMA] = gamma,
                              [FN_STATS_IN] = stats,
                              [FN_DY] = dy,
                              [FN_DSUM_IN] = dsum,
                              [FN_DRESIDUAL] = dresidual,
                              [FN_DX] = dx,
                              [FN_DBIAS] = dbias,
                              [FN_DGAMMA] = dgamma,
                              [FN_DBETA] = dbeta}};
    return run(desc, true, stream, &given, workspace, workspace_bytes);
}

/* For whatever alignment the buffers then have. */
lk_status lk_bias_dropout_residual_norm_backward_workspace(const lk_fused_norm_desc *desc,
                                                           size_t *bytes)
{
    struct api_request request;
    const char *names[ZOO_BUFFERS];
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, backward_name, "bytes is NULL");
    *bytes = 0;
    lk_status status = make_request(desc, true, true, names, &request);
    for (int aligned = 0; aligned < 2 && status == LK_OK; aligned++) {
        request.traits = API_IN_PLACE | (aligned ? API_ALIGNED : 0);
        if ((status = api_choose(&request)) == LK_OK && request.chosen->workspace_bytes > *bytes)
            *bytes = request.chosen->workspace_bytes;
    }
    return status;
}

lk_status lk_bias_dropout_residual_norm_explain(const lk_fused_norm_desc *desc, int backward,
                                                char *text, size_t size)
{
    struct api_request request;
    const char *names[ZOO_BUFFERS];
    lk_status status = make_request(desc, backward != 0, true, names, &request);
    if (status != LK_OK)
        return status;
    request.problem.value[FN_OFFSET] = 0; /* of 64 bits, which the text has no form for */
    return api_explain_problem(&request, text, size);
}
