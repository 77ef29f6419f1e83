/*
 * lk_activation.c: the public calls lk_activation_forward and lk_activation_backward: a description
 * becomes a problem of the family, which api_submit checks further and launches.
 */
#include "activation.h"

#include "zoo/api.h"

static const char forward_name[] = "activation_forward", backward_name[] = "activation_backward";

/* The family's function for the description's; -1: there is none. */
static int operation_of(const lk_activation_desc *desc)
{
    switch (desc->function) {
    case LK_GELU:
        return desc->gate == LK_NO_GATE ? OP_GELU : OP_GEGLU;
    case LK_SILU:
        return desc->gate == LK_NO_GATE ? OP_SILU : OP_SWIGLU;
    case LK_GELU_TANH:
        return desc->gate == LK_NO_GATE ? OP_GELU_TANH : -1;
    default:
        return -1;
    }
}

static lk_status check_desc(const char *call, const lk_activation_desc *desc)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_ACTIVATION_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if ((unsigned)desc->gate > LK_GATE_PACKED)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "gate is %d; it is LK_NO_GATE, LK_GATE or LK_GATE_PACKED", (int)desc->gate);
    if (operation_of(desc) < 0)
        return api_fail(LK_BAD_ARGUMENT, call, "function is %d; it is LK_GELU or LK_SILU%s",
                        (int)desc->function,
                        desc->gate == LK_NO_GATE ? ", or LK_GELU_TANH" : " with a gate");
    lk_status status = api_check_size(call, &zoo_activation, ACT_ROWS, desc->rows);
    return status != LK_OK ? status : api_check_size(call, &zoo_activation, ACT_COLS, desc->cols);
}

/* buffer_name: of all that a call may have; buffers has the pointers in the family's order. */
static lk_status make_request(const lk_activation_desc *desc, bool backward,
                              struct api_request *request)
{
    static const char *const names[][2][5] = {
        [LK_NO_GATE] = {{"x", "y"}, {"x", "dy", "dx"}},
        [LK_GATE] = {{"x", "up", "y"}, {"x", "up", "dy", "dx", "dup"}},
        [LK_GATE_PACKED] = {{"x", "y"}, {"x", "dy", "dx"}}};
    const char *call = backward ? backward_name : forward_name;
    lk_status status = check_desc(call, desc);
    if (status != LK_OK)
        return status;
    *request = (struct api_request){.name = call,
                                    .buffer_name = names[desc->gate][backward],
                                    .traits = API_IN_PLACE,
                                    .problem = zoo_problem_normal(&zoo_activation)};
    int64_t *value = request->problem.value;
    value[ACT_ROWS] = desc->rows;
    value[ACT_COLS] = desc->cols;
    value[ACT_OP] = operation_of(desc);
    value[ACT_DIRECTION] = backward ? ACT_BACKWARD : ACT_FORWARD;
    value[ACT_TYPE] = desc->type; /* both count bf16, f16, f32 */
    value[ACT_LAYOUT] = desc->gate == LK_GATE_PACKED ? ACT_PACKED : ACT_APART;
    return api_shape(request);
}

/* What the call has no place for must be NULL. */
static lk_status refuse(const char *call, const lk_activation_desc *desc, const char *name,
                        const void *pointer)
{
    if (!pointer || desc->gate == LK_GATE)
        return LK_OK;
    return api_fail(LK_BAD_ARGUMENT, call, "%s is given, and gate is %s: pass NULL", name,
                    desc->gate == LK_NO_GATE ? "LK_NO_GATE" : "LK_GATE_PACKED, which has it in x");
}

lk_status lk_activation_forward(void *stream, const lk_activation_desc *desc, const void *x,
                                const void *up, void *y)
{
    struct api_request request;
    lk_status status = make_request(desc, false, &request);
    if (status != LK_OK || (status = refuse(forward_name, desc, "up", up)) != LK_OK)
        return status;
    const void *plain[] = {x, y}, *gated[] = {x, up, y};
    return api_submit(&request, stream, desc->gate == LK_GATE ? gated : plain, NULL, 0);
}

lk_status lk_activation_backward(void *stream, const lk_activation_desc *desc, const void *x,
                                 const void *up, const void *dy, void *dx, void *dup)
{
    struct api_request request;
    lk_status status = make_request(desc, true, &request);
    if (status != LK_OK || (status = refuse(backward_name, desc, "up", up)) != LK_OK ||
        (status = refuse(backward_name, desc, "dup", dup)) != LK_OK)
        return status;
    const void *plain[] = {x, dy, dx}, *gated[] = {x, up, dy, dx, dup};
    return api_submit(&request, stream, desc->gate == LK_GATE ? gated : plain, NULL, 0);
}

lk_status lk_activation_explain(const lk_activation_desc *desc, int backward, char *text,
                                size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, backward != 0, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
