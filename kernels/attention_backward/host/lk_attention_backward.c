/*
 * lk_attention_backward.c: the public call lk_attention_backward: a description becomes a problem
 * of the family, which api_submit checks further and launches.
 */
#include "backward.h"

#include "heads.h"

#include <math.h>

#define CALL "attention_backward"

static lk_status refuse(const char *what)
{
    return api_fail(LK_UNSUPPORTED, CALL,
                    "%s: gradients are for tensors [batch][head][row][dim] without gaps, or packed "
                    "[row][head][dim]; copy them into such, or leave steps at 0",
                    what);
}

static lk_status check_packing(const lk_attention_desc *d)
{
    if (!d->q_begin != !d->k_begin)
        return api_fail(LK_BAD_ARGUMENT, CALL,
                        "only one of q_begin and k_begin is given; packed sequences need both");
    if (!d->q_begin && (d->all_queries || d->all_keys))
        return api_fail(LK_BAD_ARGUMENT, CALL,
                        "all_queries and all_keys are for packed sequences, with q_begin and "
                        "k_begin");
    if (d->q_begin && d->key_lengths)
        return api_fail(LK_BAD_ARGUMENT, CALL,
                        "key_lengths are for sequences of one length; packed ones have no padding");
    return LK_OK;
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
    if (!(d->softcap >= 0) || !isfinite(d->softcap))
        return api_fail(LK_BAD_ARGUMENT, CALL, "softcap is %g; it is above 0, or 0 for none",
                        (double)d->softcap);
    if (!(d->dropout >= 0 && d->dropout < 1))
        return api_fail(LK_BAD_ARGUMENT, CALL, "dropout is %g; it goes from 0 to below 1",
                        (double)d->dropout);
    return check_packing(d);
}

/* Steps may be given if they say what 0 means anyway. */
static lk_status check_steps(const lk_attention_desc *d, int64_t kv_heads)
{
    const lk_steps given[] = {d->q, d->k, d->v, d->o};
    for (int i = 0; i < 4; i++) {
        bool of_keys = i == 1 || i == 2;
        int64_t heads = of_keys ? kv_heads : d->heads;
        int64_t row = d->q_begin ? heads * d->dim : d->dim;
        int64_t head = d->q_begin ? d->dim : (of_keys ? d->keys : d->queries) * d->dim;
        int64_t batch = d->q_begin ? 0 : head * heads;
        if ((given[i].row && given[i].row != row) || (given[i].head && given[i].head != head) ||
            (given[i].batch && given[i].batch != batch))
            return refuse("steps of q, k, v or o");
    }
    return LK_OK;
}

/* Sizes within the family's limits, and everything else. */
static lk_status fill_problem(const lk_attention_desc *d, int64_t kv_heads,
                              struct zoo_problem *problem)
{
    /* If one side has no rows at all, only zeros are to be written: as many as of one sequence. */
    bool packed = d->q_begin, empty = packed && (!d->all_queries || !d->all_keys);
    const struct {
        unsigned parameter;
        int64_t value;
    } sizes[] = {
        {BACKWARD_P_BATCH, empty ? 1 : d->batch},
        {BACKWARD_P_HEADS, kv_heads},
        {BACKWARD_P_GROUP, d->heads / kv_heads},
        {BACKWARD_P_QUERIES, empty ? d->all_queries : d->queries},
        {BACKWARD_P_KEYS, empty ? d->all_keys : d->keys},
        {BACKWARD_P_DIM, d->dim},
        {BACKWARD_P_TYPE, d->type}, /* both count bf16, f16, f32 */
        {BACKWARD_P_MASK, d->causal != 0},
        {BACKWARD_P_WINDOW, d->window},
        {BACKWARD_P_LAYOUT, packed && !empty ? BACKWARD_PACKED : BACKWARD_HEADS_FIRST},
        {BACKWARD_P_ALSO,
         (d->key_lengths ? BACKWARD_PADDING : 0) + (d->slopes ? BACKWARD_ALIBI : 0)},
        {BACKWARD_P_ALL_QUERIES, packed && !empty ? d->all_queries : 0},
        {BACKWARD_P_ALL_KEYS, packed && !empty ? d->all_keys : 0},
    };
    lk_status status;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if ((status = api_check_size(CALL, &zoo_attention_backward, sizes[i].parameter,
                                     sizes[i].value)) != LK_OK)
            return status;
        else
            problem->value[sizes[i].parameter] = sizes[i].value;
    problem->value[BACKWARD_P_SCALE] = zoo_from_float(d->scale);
    problem->value[BACKWARD_P_SOFTCAP] = zoo_from_float(d->softcap);
    problem->value[BACKWARD_P_DROPOUT] = zoo_from_float(d->dropout);
    problem->value[BACKWARD_P_SEED] = (int64_t)d->seed;
    problem->value[BACKWARD_P_OFFSET] = (int64_t)d->offset;
    return LK_OK;
}

static lk_status make_request(const lk_attention_desc *d, struct api_request *request)
{
    static const char *const names[] = {"q",       "k",           "v",     "o",  "lse",
                                        "grad",    "dq",          "dk",    "dv", "q_begin",
                                        "k_begin", "key_lengths", "slopes"};
    int64_t kv_heads;
    lk_status status;
    if ((status = check_choices(d)) != LK_OK ||
        (status = heads_check(CALL, d->heads, d->kv_heads, &kv_heads)) != LK_OK)
        return status;
    *request = (struct api_request){
        .name = CALL,
        .buffer_name = names,
        .traits = API_ALIGNED,
        .problem = zoo_problem_normal(&zoo_attention_backward),
    };
    if ((status = fill_problem(d, kv_heads, &request->problem)) != LK_OK ||
        (status = check_steps(d, kv_heads)) != LK_OK)
        return status;
    return api_shape(request);
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
    const void *buffers[BACKWARD_BUFFERS] = {q,
                                             k,
                                             v,
                                             o,
                                             lse,
                                             grad,
                                             dq,
                                             dk,
                                             dv,
                                             desc->q_begin,
                                             desc->k_begin,
                                             desc->key_lengths,
                                             desc->slopes};
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
