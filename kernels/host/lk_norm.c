/*
 * lk_norm.c: see lk_norm.h.
 */
#include "lk_norm.h"

#include <math.h>

static lk_status check_choices(const char *call, const lk_norm_desc *desc)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_NORM_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if (desc->out_type != desc->type && desc->out_type != LK_E4M3)
        return api_fail(LK_BAD_ARGUMENT, call, "out_type is %d; it is type, or LK_E4M3",
                        (int)desc->out_type);
    if (!(desc->eps >= 0) || isinf(desc->eps))
        return api_fail(LK_BAD_ARGUMENT, call, "eps is %g; it must not be below 0, and finite",
                        (double)desc->eps);
    if (!(desc->out_scale >= 0) || isinf(desc->out_scale))
        return api_fail(LK_BAD_ARGUMENT, call,
                        "out_scale is %g; it must be above 0 (0 counts as 1) and finite",
                        (double)desc->out_scale);
    return LK_OK;
}

/* What belongs together is given together. */
static lk_status check_arrays(const char *call, const struct zoo_family *family,
                              const lk_norm_desc *desc, bool backward)
{
    if (family == &zoo_rmsnorm && desc->beta)
        return api_fail(LK_BAD_ARGUMENT, call, "beta is given; only layer norm adds one");
    if (!backward && family == &zoo_layernorm && !desc->gamma != !desc->beta)
        return api_fail(LK_BAD_ARGUMENT, call, "%s is NULL; gamma and beta go together",
                        desc->gamma ? "beta" : "gamma");
    if (!backward && !desc->residual != !desc->sum)
        return api_fail(LK_BAD_ARGUMENT, call, "%s is NULL; residual and sum go together",
                        desc->residual ? "sum" : "residual");
    return LK_OK;
}

static lk_status make_request(const char *call, const struct zoo_family *family,
                              const lk_norm_desc *desc, bool backward, struct api_request *request,
                              const char **names)
{
    static const char *const all[NORM_ARRAYS] = {"x",    "residual", "gamma", "beta", "dy",
                                                 "dsum", "stats",    "y",     "sum",  "stats",
                                                 "dx",   "dgamma",   "dbeta"};
    static const char *const alone[] = {"gamma", "beta", "stats", "dgamma", "dbeta", NULL};
    lk_status status = check_choices(call, desc);
    if (status == LK_OK)
        status = check_arrays(call, family, desc, backward);
    if (status != LK_OK ||
        (status = api_check_size(call, family, NORM_ROWS, desc->rows)) != LK_OK ||
        (status = api_check_size(call, family, NORM_COLS, desc->cols)) != LK_OK)
        return status;
    *request = (struct api_request){.name = call,
                                    .buffer_name = names,
                                    .traits = API_IN_PLACE,
                                    .alone = alone,
                                    .problem = zoo_problem_normal(family)};
    int64_t *value = request->problem.value;
    value[NORM_ROWS] = desc->rows;
    value[NORM_COLS] = desc->cols;
    value[NORM_TYPE] = desc->type; /* both count bf16, f16, f32 */
    value[NORM_STEP] = backward ? STEP_BACKWARD : STEP_FORWARD;
    value[NORM_RESIDUAL] = backward ? desc->dsum != NULL : desc->residual != NULL;
    value[NORM_AFFINE] = desc->gamma ? AFFINE_YES : AFFINE_NO;
    value[NORM_STORE] = !backward && desc->out_type == LK_E4M3 ? STORE_E4M3 : STORE_SAME;
    value[NORM_STATS] = !backward && desc->stats != NULL;
    value[NORM_EPS] = zoo_from_float(desc->eps);
    value[NORM_SCALE] = zoo_from_float(desc->out_scale == 0 ? 1 : desc->out_scale);
    enum norm_array list[NORM_ARRAYS];
    unsigned count = norm_list(&request->problem, list);
    for (unsigned i = 0; i < count; i++)
        names[i] = all[list[i]];
    return api_shape(request);
}

/* arrays: every pointer that a call may have, by its enum norm_array. */
static lk_status submit(struct api_request *request, void *stream, const void *const *arrays,
                        void *workspace, size_t workspace_bytes)
{
    enum norm_array list[NORM_ARRAYS];
    const void *buffers[ZOO_BUFFERS];
    unsigned count = norm_list(&request->problem, list);
    for (unsigned i = 0; i < count; i++)
        buffers[i] = arrays[list[i]];
    return api_submit(request, stream, buffers, workspace, workspace_bytes);
}

lk_status lk_norm_forward(const char *name, const struct zoo_family *family, void *stream,
                          const lk_norm_desc *desc, const void *x, void *y)
{
    struct api_request request;
    const char *names[ZOO_BUFFERS];
    lk_status status = make_request(name, family, desc, false, &request, names);
    if (status != LK_OK)
        return status;
    const void *arrays[NORM_ARRAYS] = {[NORM_X] = x,
                                       [NORM_RESIDUAL_IN] = desc->residual,
                                       [NORM_GAMMA] = desc->gamma,
                                       [NORM_BETA] = desc->beta,
                                       [NORM_Y] = y,
                                       [NORM_SUM] = desc->sum,
                                       [NORM_STATS_OUT] = desc->stats};
    return submit(&request, stream, arrays, NULL, 0);
}

/* Gradients of what the norm does not have. */
static lk_status refuse(const char *call, const char *name, const void *pointer, bool has)
{
    if (!pointer || has)
        return LK_OK;
    return api_fail(LK_BAD_ARGUMENT, call, "%s is given, and desc has no gamma: pass NULL", name);
}

lk_status lk_norm_backward(const char *name, const struct zoo_family *family, void *stream,
                           const lk_norm_desc *desc, const void *x, const void *dy, void *dx,
                           void *dgamma, void *dbeta, void *workspace, size_t workspace_bytes)
{
    struct api_request request;
    const char *names[ZOO_BUFFERS];
    lk_status status = make_request(name, family, desc, true, &request, names);
    if (status != LK_OK ||
        (status = refuse(name, "dgamma", dgamma, desc->gamma != NULL)) != LK_OK ||
        (status = refuse(name, "dbeta", dbeta, desc->gamma != NULL)) != LK_OK)
        return status;
    const void *arrays[NORM_ARRAYS] = {
        [NORM_X] = x,           [NORM_GAMMA] = desc->gamma,    [NORM_DY] = dy,
        [NORM_DX] = dx,         [NORM_STATS_IN] = desc->stats, [NORM_DSUM] = desc->dsum,
        [NORM_DGAMMA] = dgamma, [NORM_DBETA] = dbeta};
    return submit(&request, stream, arrays, workspace, workspace_bytes);
}

lk_status lk_norm_workspace(const char *name, const struct zoo_family *family,
                            const lk_norm_desc *desc, size_t *bytes)
{
    struct api_request request;
    const char *names[ZOO_BUFFERS];
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, name, "bytes is NULL");
    lk_status status = make_request(name, family, desc, true, &request, names);
    if (status == LK_OK)
        status = api_choose(&request);
    if (status == LK_OK)
        *bytes = request.chosen->workspace_bytes;
    return status;
}

lk_status lk_norm_explain(const char *name, const struct zoo_family *family,
                          const lk_norm_desc *desc, bool backward, char *text, size_t size)
{
    struct api_request request;
    const char *names[ZOO_BUFFERS];
    lk_status status = make_request(name, family, desc, backward, &request, names);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
