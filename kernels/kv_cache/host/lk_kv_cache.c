/*
 * lk_kv_cache.c: the public calls lk_kv_append and lk_kv_attend, and how many bytes a cache takes.
 */
#include "kv_cache.h"

#include "zoo/api.h"

static const char append_name[] = "kv_append", attend_name[] = "kv_attend";

static lk_status check_desc(const char *call, const lk_kv_desc *desc)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_KV_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16 or LK_F16",
                        (int)desc->type);
    if (desc->dim != 64 && desc->dim != 128)
        return api_fail(LK_BAD_ARGUMENT, call, "dim is %lld; it is 64 or 128",
                        (long long)desc->dim);
    if (desc->page <= 0 || desc->page % 16)
        return api_fail(LK_BAD_ARGUMENT, call, "page is %lld; it is a multiple of 16",
                        (long long)desc->page);
    if (desc->kv_heads <= 0 || desc->heads % desc->kv_heads || desc->heads / desc->kv_heads < 1 ||
        desc->heads / desc->kv_heads > 8)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "heads is %lld and kv_heads %lld; heads is 1 to 8 times kv_heads",
                        (long long)desc->heads, (long long)desc->kv_heads);
    int64_t pages = desc->batch * ((desc->keys + desc->page - 1) / desc->page);
    lk_status status;
    if ((status = api_check_size(call, &zoo_kv_cache, KV_BATCH, desc->batch)) != LK_OK ||
        (status = api_check_size(call, &zoo_kv_cache, KV_HEADS, desc->kv_heads)) != LK_OK ||
        (status = api_check_size(call, &zoo_kv_cache, KV_KEYS, desc->keys)) != LK_OK ||
        (status = api_check_size(call, &zoo_kv_cache, KV_PAGE, desc->page)) != LK_OK)
        return status;
    if (desc->pages < pages)
        return api_fail(LK_BAD_ARGUMENT, call, "pages is %lld; batch sequences of keys need %lld",
                        (long long)desc->pages, (long long)pages);
    return api_check_size(call, &zoo_kv_cache, KV_SPARE, desc->pages - pages);
}

static lk_status make_request(const char *call, const lk_kv_desc *desc, int64_t tokens,
                              struct api_request *request)
{
    static const char *const attend[] = {"q",           "k",     "v",       "v_scales",
                                         "head_scales", "table", "lengths", "o"};
    static const char *const append[] = {"new_k",    "new_v",       "k",     "v",
                                         "v_scales", "head_scales", "table", "lengths"};
    lk_status status = check_desc(call, desc);
    if (status != LK_OK)
        return status;
    if (tokens >= 0 && (status = api_check_size(call, &zoo_kv_cache, KV_TOKENS, tokens)) != LK_OK)
        return status;
    *request = (struct api_request){.name = call,
                                    .buffer_name = tokens < 0 ? attend : append,
                                    .problem = zoo_problem_normal(&zoo_kv_cache)};
    int64_t *value = request->problem.value;
    value[KV_BATCH] = desc->batch;
    value[KV_HEADS] = desc->kv_heads;
    value[KV_GROUP] = desc->heads / desc->kv_heads;
    value[KV_KEYS] = desc->keys;
    value[KV_DIM] = desc->dim;
    value[KV_PAGE] = desc->page;
    value[KV_SPARE] = desc->pages - desc->batch * ((desc->keys + desc->page - 1) / desc->page);
    value[KV_STEP] = tokens < 0 ? KV_ATTEND : KV_APPEND;
    value[KV_TOKENS] = tokens < 0 ? 1 : tokens;
    value[KV_TYPE] = desc->type == LK_BF16 ? 0 : 1;
    return api_shape(request);
}

lk_status lk_kv_append(void *stream, const lk_kv_desc *desc, int64_t tokens, const void *new_k,
                       const void *new_v, void *k, void *v, void *v_scales)
{
    struct api_request request;
    if (tokens < 0)
        return api_fail(LK_BAD_ARGUMENT, append_name, "tokens is %lld; it is at least 0",
                        (long long)tokens);
    lk_status status = make_request(append_name, desc, tokens, &request);
    if (status != LK_OK)
        return status;
    const void *buffers[] = {new_k,       new_v,        k, v, v_scales, desc->head_scales,
                             desc->table, desc->lengths};
    return api_submit(&request, stream, buffers, NULL, 0);
}

lk_status lk_kv_attend(void *stream, const lk_kv_desc *desc, const void *q, const void *k,
                       const void *v, const void *v_scales, void *o)
{
    struct api_request request;
    lk_status status = make_request(attend_name, desc, -1, &request);
    if (status != LK_OK)
        return status;
    const void *buffers[] = {q, k, v, v_scales, desc->head_scales, desc->table, desc->lengths, o};
    return api_submit(&request, stream, buffers, NULL, 0);
}

lk_status lk_kv_bytes(const lk_kv_desc *desc, size_t *k, size_t *v, size_t *v_scales)
{
    lk_status status = check_desc("kv_bytes", desc);
    if (status != LK_OK)
        return status;
    size_t numbers = (size_t)(desc->pages * desc->kv_heads * desc->page * desc->dim);
    if (k)
        *k = numbers;
    if (v)
        *v = numbers / 2;
    if (v_scales)
        *v_scales = numbers / 16;
    return LK_OK;
}

lk_status lk_kv_attend_explain(const lk_kv_desc *desc, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(attend_name, desc, -1, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
