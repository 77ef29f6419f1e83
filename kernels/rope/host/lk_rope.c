/*
 * lk_rope.c: the public call lk_rope: a description becomes a problem of the family, which
 * api_submit checks further and launches.
 */
#include "rope.h"

#include "zoo/api.h"

static const char name[] = "rope";

static lk_status make_request(const lk_rope_desc *desc, struct api_request *request)
{
    static const char *const buffers[] = {"x", "cosines", "sines"};
    lk_status status;
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, name, "desc is NULL; LK_ROPE_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, name, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if (desc->dim % 2)
        return api_fail(LK_BAD_ARGUMENT, name, "dim is %lld; it must be even",
                        (long long)desc->dim);
    if ((status = api_check_size(name, &zoo_rope, ROPE_TOKENS, desc->tokens)) != LK_OK ||
        (status = api_check_size(name, &zoo_rope, ROPE_HEADS, desc->heads)) != LK_OK ||
        (status = api_check_size(name, &zoo_rope, ROPE_DIM, desc->dim)) != LK_OK)
        return status;
    *request = (struct api_request){
        .name = name, .buffer_name = buffers, .problem = zoo_problem_normal(&zoo_rope)};
    int64_t *value = request->problem.value;
    value[ROPE_TOKENS] = desc->tokens;
    value[ROPE_HEADS] = desc->heads;
    value[ROPE_DIM] = desc->dim;
    value[ROPE_PAIRS] = desc->neighbours != 0;
    value[ROPE_DIRECTION] = desc->backward != 0;
    value[ROPE_TYPE] = desc->type; /* both count bf16, f16, f32 */
    return api_shape(request);
}

lk_status lk_rope(void *stream, const lk_rope_desc *desc, void *x, const float *cosines,
                  const float *sines)
{
    struct api_request request;
    lk_status status = make_request(desc, &request);
    const void *buffers[] = {x, cosines, sines};
    return status != LK_OK ? status : api_submit(&request, stream, buffers, NULL, 0);
}

lk_status lk_rope_explain(const lk_rope_desc *desc, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
