/*
 * lk_attention_backward.c: the public call lk_attention_backward: a description becomes a problem
 * of the family, which api_submit checks further and launches.
 */
#include "backward.h"

#include "zoo/api.h"

#include <math.h>

#define CALL "attention_backward"

static lk_status refuse(const char *what)
{
    return api_fail(LK_UNSUPPORTED, CALL,
                    "%s: gradients are for tensors [batch][head][row][dim] without gaps, with a "
                    "causal mask, a window, a softcap, dropout, or none of these",
                    what);
}

static lk_status check_choices(const lk_attention_desc *d)
{
    if (!d)
        return api_fail(LK_BAD_ARGUMENT, CALL, "desc is NULL; LK_ATTENTION_DESC makes one");
    if (d->type != LK_BF16 && d->type != LK_F16 && d->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, CALL, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)d->type);
    if (!(d->scale >= 0) || !isfinite(d->scale))
        return api_fail(LK_BAD_ARGUMENT, CALL, "scale is %g; it is above 0, or 0 for 1 / sqrt(dim)",
                        (double)d->scale);
    if (d->q_begin || d->k_begin || d->all_queries || d->all_keys)
        return refuse("packed sequences");
    if (!(d->softcap >= 0) || !isfinite(d->softcap))
        return api_fail(LK_BAD_ARGUMENT, CALL, "softcap is %g; it is above 0, or 0 for none",
                        (double)d->softcap);
    if (!(d->dropout >= 0 && d->dropout < 1))
        return api_fail(LK_BAD_ARGUMENT, CALL, "dropout is %g; it goes from 0 to below 1",
                        (double)d->dropout);
    if (d->key_lengths)
        return refuse("padding");
    if (d->slopes)
        return refuse("ALiBi");
    return LK_OK;
}

/* Steps may be given if they say what 0 means anyway. */
static lk_status check_steps(const lk_attention_desc *d, int64_t kv_heads)
{
    const lk_steps given[] = {d->q, d->k, d->v, d->o};
    for (int i = 0; i < 4; i++) {
        bool of_keys = i == 1 || i == 2;
        int64_t head = (of_keys ? d->keys : d->queries) * d->dim;
        int64_t batch = head * (of_keys ? kv_heads : d->heads);
        if ((given[i].row && given[i].row != d->dim) || (given[i].head && given[i].head != head) ||
            (given[i].batch && given[i].batch != batch))
            return refuse("steps of q, k, v or o");
    }
    return LK_OK;
}

static lk_status make_request(const lk_attention_desc *d, struct api_request *request)
{
    static const char *const names[] = {"q", "k", "v", "o", "lse", "grad", "dq", "dk", "dv"};
    lk_status status = check_choices(d);
    if (status != LK_OK)
        return status;
    int64_t kv_heads = d->kv_heads ? d->kv_heads : d->heads;
    if (d->heads < 1 || kv_heads < 1 || d->heads % kv_heads)
        return api_fail(LK_BAD_ARGUMENT, CALL,
                        "heads is %lld, which is not a multiple of kv_heads, %lld",
                        (long long)d->heads, (long long)kv_heads);
    *request = (struct api_request){
        .name = CALL,
        .buffer_name = names,
        .traits = API_ALIGNED,
        .problem = zoo_problem_normal(&zoo_attention_backward),
    };
    const int64_t value[] = {
        [BACKWARD_P_BATCH] = d->batch,
        [BACKWARD_P_HEADS] = kv_heads,
        [BACKWARD_P_GROUP] = d->heads / kv_heads,
        [BACKWARD_P_QUERIES] = d->queries,
        [BACKWARD_P_KEYS] = d->keys,
        [BACKWARD_P_DIM] = d->dim,
        [BACKWARD_P_TYPE] = d->type, /* both count bf16, f16, f32 */
        [BACKWARD_P_MASK] = d->causal != 0,
    };
    if ((status = api_check_size(CALL, &zoo_attention_backward, BACKWARD_P_WINDOW, d->window)) !=
        LK_OK)
        return status;
    for (unsigned i = 0; i < sizeof value / sizeof *value; i++)
        if ((status = api_check_size(CALL, &zoo_attention_backward, i, value[i])) != LK_OK)
            return status;
        else
            request->problem.value[i] = value[i];
    request->problem.value[BACKWARD_P_SCALE] = zoo_from_float(d->scale);
    request->problem.value[BACKWARD_P_WINDOW] = d->window;
    request->problem.value[BACKWARD_P_SOFTCAP] = zoo_from_float(d->softcap);
    request->problem.value[BACKWARD_P_DROPOUT] = zoo_from_float(d->dropout);
    request->problem.value[BACKWARD_P_SEED] = (int64_t)d->seed;
    request->problem.value[BACKWARD_P_OFFSET] = (int64_t)d->offset;
    status = check_steps(d, kv_heads);
    return status == LK_OK ? api_shape(request) : status;
}

lk_status lk_attention_backward(void *stream, const lk_attention_desc *desc, const void *q,
                                const void *k, const void *v, const void *o, const float *lse,
                                const void *grad, void *dq, void *dk, void *dv, void *workspace,
                                size_t workspace_bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, &request);
    if (status != LK_OK)
        return status;
    const void *buffers[BACKWARD_BUFFERS] = {q, k, v, o, lse, grad, dq, dk, dv};
    return api_submit(&request, stream, buffers, workspace, workspace_bytes);
}

lk_status lk_attention_backward_workspace(const lk_attention_desc *desc, size_t *bytes)
{
    struct api_request request;
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, CALL, "bytes is NULL");
    *bytes = 0;
    lk_status status = make_request(desc, &request);
    if (status == LK_OK && (status = api_choose(&request)) == LK_OK)
        *bytes = request.chosen->workspace_bytes;
    return status;
}

lk_status lk_attention_backward_explain(const lk_attention_desc *desc, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
