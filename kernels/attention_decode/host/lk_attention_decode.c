/*
 * lk_attention_decode.c: the public call lk_attention_decode: a description becomes a problem of
 * the family, which api_submit checks further and launches.
 */
#include "decode.h"

#include "heads.h"

#include <math.h>

#define CALL "attention_decode"

static lk_status check_choices(const lk_attention_decode_desc *d)
{
    if (!d)
        return api_fail(LK_BAD_ARGUMENT, CALL, "desc is NULL; LK_ATTENTION_DECODE_DESC makes one");
    if (d->type != LK_BF16 && d->type != LK_F16 && d->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, CALL, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)d->type);
    if (!(d->scale >= 0) || !isfinite(d->scale))
        return api_fail(LK_BAD_ARGUMENT, CALL, "scale is %g; it is above 0, or 0 for 1 / sqrt(dim)",
                        (double)d->scale);
    if (d->table && d->page < 1)
        return api_fail(LK_BAD_ARGUMENT, CALL,
                        "page is %lld; with a table it is the number of keys of a page",
                        (long long)d->page);
    if (d->table && d->pages < 1)
        return api_fail(LK_BAD_ARGUMENT, CALL,
                        "pages is %lld; with a table it is the number of pages that k and v have",
                        (long long)d->pages);
    if (!d->table && (d->page || d->pages))
        return api_fail(LK_BAD_ARGUMENT, CALL,
                        "page and pages are for a cache with a table; table is NULL");
    return LK_OK;
}

static lk_status make_request(const lk_attention_decode_desc *d, bool lse,
                              struct api_request *request)
{
    static const char *const names[] = {"q", "k", "v", "o", "lse", "lengths", "table"};
    int64_t kv_heads;
    lk_status status;
    if ((status = check_choices(d)) != LK_OK ||
        (status = heads_check(CALL, d->heads, d->kv_heads, &kv_heads)) != LK_OK)
        return status;
    *request = (struct api_request){
        .name = CALL,
        .buffer_name = names,
        .traits = API_ALIGNED,
        .problem = zoo_problem_normal(&zoo_attention_decode),
    };
    const int64_t value[] = {
        [DECODE_P_BATCH] = d->batch,
        [DECODE_P_HEADS] = kv_heads,
        [DECODE_P_GROUP] = d->heads / kv_heads,
        [DECODE_P_QUERIES] = d->queries ? d->queries : 1,
        [DECODE_P_KEYS] = d->keys,
        [DECODE_P_DIM] = d->dim,
        [DECODE_P_TYPE] = d->type, /* both count bf16, f16, f32 */
        [DECODE_P_PAGE] = d->page,
        [DECODE_P_POOL] = d->pages,
        [DECODE_P_LAYOUT] = d->rows_first ? DECODE_ROWS_FIRST : DECODE_HEADS_FIRST,
        [DECODE_P_LENGTHS] = d->lengths != NULL,
        [DECODE_P_LSE] = lse,
    };
    for (unsigned i = 0; i < sizeof value / sizeof *value; i++)
        if ((status = api_check_size(CALL, &zoo_attention_decode, i, value[i])) != LK_OK)
            return status;
        else
            request->problem.value[i] = value[i];
    request->problem.value[DECODE_P_SCALE] = zoo_from_float(d->scale);
    return api_shape(request);
}

lk_status lk_attention_decode(void *stream, const lk_attention_decode_desc *desc, const void *q,
                              const void *k, const void *v, void *o, float *lse, void *workspace,
                              size_t workspace_bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, lse != NULL, &request);
    if (status != LK_OK)
        return status;
    const void *buffers[DECODE_BUFFERS] = {q, k, v, o, lse, desc->lengths, desc->table};
    return api_submit(&request, stream, buffers, workspace, workspace_bytes);
}

lk_status lk_attention_decode_workspace(const lk_attention_decode_desc *desc, size_t *bytes)
{
    struct api_request request;
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, CALL, "bytes is NULL");
    *bytes = 0;
    lk_status status = make_request(desc, true, &request);
    if (status == LK_OK && (status = api_choose(&request)) == LK_OK)
        *bytes = request.chosen->workspace_bytes;
    return status;
}

lk_status lk_attention_decode_explain(const lk_attention_decode_desc *desc, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, true, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
