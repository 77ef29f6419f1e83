/*
 * lk_mlp.c: the public calls lk_mlp_forward and lk_mlp_backward: a description becomes a problem of
 * the family, which api_submit checks further and launches.
 */
#include "mlp.h"

#include "zoo/api.h"

static const char forward_name[] = "mlp_forward", backward_name[] = "mlp_backward";

static lk_status check_desc(const char *call, const lk_mlp_desc *desc)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_MLP_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if (desc->function != LK_GELU && desc->function != LK_GELU_TANH && desc->function != LK_SILU)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "function is %d; it is LK_GELU, LK_GELU_TANH or LK_SILU",
                        (int)desc->function);
    if (desc->gate != LK_NO_GATE && desc->gate != LK_GATE_PACKED && desc->gate != LK_GATE_PAIRS)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "gate is %d; it is LK_NO_GATE, LK_GATE_PACKED or LK_GATE_PAIRS, both with "
                        "one w1 of 2 hidden columns",
                        (int)desc->gate);
    if ((unsigned)desc->order > LK_COLUMNS)
        return api_fail(LK_BAD_ARGUMENT, call, "order is %d; it is LK_ROWS or LK_COLUMNS",
                        (int)desc->order);
    lk_status status = api_check_size(call, &zoo_mlp, MLP_TOKENS, desc->tokens);
    if (status == LK_OK)
        status = api_check_size(call, &zoo_mlp, MLP_DIM, desc->dim);
    return status == LK_OK ? api_check_size(call, &zoo_mlp, MLP_HIDDEN, desc->hidden) : status;
}

static lk_status make_request(const lk_mlp_desc *desc, bool backward, bool bias, bool keep,
                              struct api_request *request)
{
    static const char *const names[][10] = {
        {"x", "w1", "w2", "b1", "b2", "y", "pre"},
        {"x", "w1", "w2", "pre", "dy", "dx", "dw1", "dw2", "db1", "db2"}};
    static const int functions[] = {
        [LK_GELU] = MLP_GELU, [LK_GELU_TANH] = MLP_GELU_TANH, [LK_SILU] = MLP_SILU};
    static const int gates[] = {
        [LK_NO_GATE] = MLP_NO_GATE, [LK_GATE_PACKED] = MLP_HALVES, [LK_GATE_PAIRS] = MLP_PAIRS};
    const char *call = backward ? backward_name : forward_name;
    lk_status status = check_desc(call, desc);
    if (status != LK_OK)
        return status;
    *request = (struct api_request){
        .name = call, .buffer_name = names[backward], .problem = zoo_problem_normal(&zoo_mlp)};
    int64_t *value = request->problem.value;
    value[MLP_TOKENS] = desc->tokens;
    value[MLP_DIM] = desc->dim;
    value[MLP_HIDDEN] = desc->hidden;
    value[MLP_FUNCTION] = functions[desc->function];
    value[MLP_GATE] = gates[desc->gate];
    value[MLP_BIAS] = bias;
    value[MLP_ORDER] = desc->order; /* both count rows, columns */
    value[MLP_DIRECTION] = backward ? MLP_BACKWARD : MLP_FORWARD;
    value[MLP_KEEP] = keep;
    value[MLP_TYPE] = desc->type; /* both count bf16, f16, f32 */
    return api_shape(request);
}

static lk_status check_pair(const char *call, const void *first, const void *second,
                            const char *name)
{
    if ((first == NULL) == (second == NULL))
        return LK_OK;
    return api_fail(LK_BAD_ARGUMENT, call,
                    "of %s1 and %s2 one is NULL; give both, or neither for layers without a bias",
                    name, name);
}

lk_status lk_mlp_forward(void *stream, const lk_mlp_desc *desc, const void *x, const void *w1,
                         const void *b1, const void *w2, const void *b2, void *y, void *pre,
                         void *workspace, size_t workspace_bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, false, b1 != NULL, pre != NULL, &request);
    if (status == LK_OK)
        status = check_pair(forward_name, b1, b2, "b");
    if (status != LK_OK)
        return status;
    const void *buffers[] = {x, w1, w2, b1, b2, y, pre};
    return api_submit(&request, stream, buffers, workspace, workspace_bytes);
}

lk_status lk_mlp_backward(void *stream, const lk_mlp_desc *desc, const void *x, const void *w1,
                          const void *w2, const void *pre, const void *dy, void *dx, void *dw1,
                          void *db1, void *dw2, void *db2, void *workspace, size_t workspace_bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, true, db1 != NULL, false, &request);
    if (status == LK_OK)
        status = check_pair(backward_name, db1, db2, "db");
    if (status != LK_OK)
        return status;
    const void *buffers[] = {x, w1, w2, pre, dy, dx, dw1, dw2, db1, db2};
    return api_submit(&request, stream, buffers, workspace, workspace_bytes);
}

/* With biases and without keeping pre most is needed. */
static lk_status workspace_of(const lk_mlp_desc *desc, bool backward, size_t *bytes)
{
    struct api_request request;
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, backward ? backward_name : forward_name, "bytes is NULL");
    *bytes = 0;
    lk_status status = make_request(desc, backward, true, false, &request);
    if (status == LK_OK && (status = api_choose(&request)) == LK_OK)
        *bytes = request.chosen->workspace_bytes;
    return status;
}

lk_status lk_mlp_forward_workspace(const lk_mlp_desc *desc, size_t *bytes)
{
    return workspace_of(desc, false, bytes);
}

lk_status lk_mlp_backward_workspace(const lk_mlp_desc *desc, size_t *bytes)
{
    return workspace_of(desc, true, bytes);
}

lk_status lk_mlp_explain(const lk_mlp_desc *desc, int backward, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, backward != 0, true, false, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
