/*
 * lk_dropout.c: the public calls lk_dropout and lk_dropout_backward: a description becomes a
 * problem of the family, which api_submit checks further and launches. The two differ in their
 * names.
 */
#include "dropout.h"

#include "zoo/api.h"

static lk_status make_request(const char *call, const char *const *names,
                              const lk_dropout_desc *desc, struct api_request *request)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_DROPOUT_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if (!(desc->p >= 0 && desc->p <= 1))
        return api_fail(LK_BAD_ARGUMENT, call, "p is %g; it goes from 0 to 1", (double)desc->p);
    lk_status status = api_check_size(call, &zoo_dropout, DROP_N, desc->n);
    if (status != LK_OK)
        return status;
    *request = (struct api_request){.name = call,
                                    .buffer_name = names,
                                    .traits = API_IN_PLACE,
                                    .problem = zoo_problem_normal(&zoo_dropout)};
    int64_t *value = request->problem.value;
    value[DROP_N] = desc->n;
    value[DROP_TYPE] = desc->type; /* both count bf16, f16, f32 */
    value[DROP_P] = zoo_from_float(desc->p);
    value[DROP_OFFSET] = (int64_t)desc->offset;
    value[DROP_STATE] = desc->state ? STATE_GIVEN : STATE_NONE;
    request->problem.seed = desc->seed;
    return api_shape(request);
}

static lk_status run(const char *call, const char *const *names, void *stream,
                     const lk_dropout_desc *desc, const void *x, void *y)
{
    struct api_request request;
    lk_status status = make_request(call, names, desc, &request);
    if (status != LK_OK)
        return status;
    const void *buffers[] = {x, y, desc->state};
    return api_submit(&request, stream, buffers, NULL, 0);
}

static const char *const forward_names[] = {"x", "y", "state"};

lk_status lk_dropout(void *stream, const lk_dropout_desc *desc, const void *x, void *y)
{
    return run("dropout", forward_names, stream, desc, x, y);
}

lk_status lk_dropout_backward(void *stream, const lk_dropout_desc *desc, const void *dy, void *dx)
{
    static const char *const names[] = {"dy", "dx", "state"};
    return run("dropout_backward", names, stream, desc, dy, dx);
}

lk_status lk_dropout_explain(const lk_dropout_desc *desc, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request("dropout", forward_names, desc, &request);
    if (status != LK_OK)
        return status;
    request.problem.value[DROP_OFFSET] = 0; /* of 64 bits, which the text has no form for */
    return api_explain_problem(&request, text, size);
}
