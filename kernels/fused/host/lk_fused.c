/*
 * lk_fused.c: the public calls lk_bias_gelu_dropout and lk_bias_dropout_residual, and their
 * backward passes: a description becomes a problem of the family, which api_submit checks further
 * and launches.
 */
#include "fused.h"

#include "zoo/api.h"

enum { GELU, RESIDUAL };
static const char *const calls[2][2] = {
    {"bias_gelu_dropout", "bias_gelu_dropout_backward"},
    {"bias_dropout_residual", "bias_dropout_residual_backward"}};
static const char *const names[2][2][6] = {
    {{"x", "bias", "y", "state"}, {"x", "bias", "dy", "dx", "dbias", "state"}},
    {{"x", "bias", "residual", "y", "state"}, {"dy", "dx", "dbias", "state"}}};

static lk_status check_desc(const char *call, int chain, const lk_fused_desc *desc)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_FUSED_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if (chain == GELU && desc->function != LK_GELU && desc->function != LK_GELU_TANH)
        return api_fail(LK_BAD_ARGUMENT, call, "function is %d; it is LK_GELU or LK_GELU_TANH",
                        (int)desc->function);
    if (!(desc->p >= 0 && desc->p <= 1))
        return api_fail(LK_BAD_ARGUMENT, call, "p is %g; it goes from 0 to 1", (double)desc->p);
    lk_status status = api_check_size(call, &zoo_fused, FUSED_ROWS, desc->rows);
    return status != LK_OK ? status : api_check_size(call, &zoo_fused, FUSED_COLS, desc->cols);
}

static lk_status make_request(int chain, bool backward, const lk_fused_desc *desc,
                              struct api_request *request)
{
    static const char *const alone[] = {"bias", "dbias", "state", NULL};
    const char *call = calls[chain][backward];
    lk_status status = check_desc(call, chain, desc);
    if (status != LK_OK)
        return status;
    *request = (struct api_request){.name = call,
                                    .buffer_name = names[chain][backward],
                                    .traits = API_IN_PLACE,
                                    .alone = alone,
                                    .problem = zoo_problem_normal(&zoo_fused)};
    int64_t *value = request->problem.value;
    value[FUSED_ROWS] = desc->rows;
    value[FUSED_COLS] = desc->cols;
    value[FUSED_OP] = chain == RESIDUAL           ? FUSED_RESIDUAL
                      : desc->function == LK_GELU ? FUSED_GELU
                                                  : FUSED_GELU_TANH;
    value[FUSED_DIRECTION] = backward ? FUSED_BACKWARD : FUSED_FORWARD;
    value[FUSED_TYPE] = desc->type; /* both count bf16, f16, f32 */
    value[FUSED_P] = zoo_from_float(desc->p);
    value[FUSED_OFFSET] = (int64_t)desc->offset;
    value[FUSED_STATE] = desc->state != NULL;
    request->problem.seed = desc->seed;
    return api_shape(request);
}

static lk_status run(int chain, bool backward, void *stream, const lk_fused_desc *desc,
                     const void *const *buffers, void *workspace, size_t bytes)
{
    struct api_request request;
    lk_status status = make_request(chain, backward, desc, &request);
    if (status != LK_OK)
        return status;
    const void *all[ZOO_BUFFERS];
    for (unsigned i = 0; i < request.count; i++)
        all[i] = desc->state && i + 1 == request.count ? desc->state : buffers[i];
    return api_submit(&request, stream, all, workspace, bytes);
}

lk_status lk_bias_gelu_dropout(void *stream, const lk_fused_desc *desc, const void *x,
                               const void *bias, void *y)
{
    return run(GELU, false, stream, desc, (const void *[]){x, bias, y}, NULL, 0);
}

lk_status lk_bias_gelu_dropout_backward(void *stream, const lk_fused_desc *desc, const void *x,
                                        const void *bias, const void *dy, void *dx, void *dbias,
                                        void *workspace, size_t workspace_bytes)
{
    return run(GELU, true, stream, desc, (const void *[]){x, bias, dy, dx, dbias}, workspace,
               workspace_bytes);
}

lk_status lk_bias_dropout_residual(void *stream, const lk_fused_desc *desc, const void *x,
                                   const void *bias, const void *residual, void *y)
{
    return run(RESIDUAL, false, stream, desc, (const void *[]){x, bias, residual, y}, NULL, 0);
}

lk_status lk_bias_dropout_residual_backward(void *stream, const lk_fused_desc *desc, const void *dy,
                                            void *dx, void *dbias, void *workspace,
                                            size_t workspace_bytes)
{
    return run(RESIDUAL, true, stream, desc, (const void *[]){dy, dx, dbias}, workspace,
               workspace_bytes);
}

static lk_status workspace_of(int chain, const lk_fused_desc *desc, size_t *bytes)
{
    struct api_request request;
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, calls[chain][1], "bytes is NULL");
    *bytes = 0;
    lk_status status = make_request(chain, true, desc, &request);
    if (status == LK_OK && (status = api_choose(&request)) == LK_OK)
        *bytes = request.chosen->workspace_bytes;
    return status;
}

lk_status lk_bias_gelu_dropout_backward_workspace(const lk_fused_desc *desc, size_t *bytes)
{
    return workspace_of(GELU, desc, bytes);
}

lk_status lk_bias_dropout_residual_backward_workspace(const lk_fused_desc *desc, size_t *bytes)
{
    return workspace_of(RESIDUAL, desc, bytes);
}

static lk_status explain(int chain, const lk_fused_desc *desc, bool backward, char *text,
                         size_t size)
{
    struct api_request request;
    lk_status status = make_request(chain, backward, desc, &request);
    if (status != LK_OK)
        return status;
    request.problem.value[FUSED_OFFSET] = 0; /* of 64 bits, which the text has no form for */
    return api_explain_problem(&request, text, size);
}

lk_status lk_bias_gelu_dropout_explain(const lk_fused_desc *desc, int backward, char *text,
                                       size_t size)
{
    return explain(GELU, desc, backward != 0, text, size);
}

lk_status lk_bias_dropout_residual_explain(const lk_fused_desc *desc, int backward, char *text,
                                           size_t size)
{
    return explain(RESIDUAL, desc, backward != 0, text, size);
}
