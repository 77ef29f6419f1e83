/*
 * lk_embedding.c: the public calls lk_embedding and lk_embedding_backward: a description becomes a
 * problem of the family, which api_submit checks further and launches.
 */
#include "embedding.h"

#include "zoo/api.h"

static const char forward_name[] = "embedding", backward_name[] = "embedding_backward";

static lk_status make_request(const lk_embedding_desc *desc, bool backward,
                              struct api_request *request)
{
    static const char *const names[2][3] = {{"ids", "table", "out"}, {"ids", "dout", "dtable"}};
    const char *call = backward ? backward_name : forward_name;
    lk_status status;
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_EMBEDDING_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    if ((status = api_check_size(call, &zoo_embedding, EMB_TOKENS, desc->tokens)) != LK_OK ||
        (status = api_check_size(call, &zoo_embedding, EMB_VOCAB, desc->vocab)) != LK_OK ||
        (status = api_check_size(call, &zoo_embedding, EMB_DIM, desc->dim)) != LK_OK)
        return status;
    *request = (struct api_request){.name = call,
                                    .buffer_name = names[backward],
                                    .problem = zoo_problem_normal(&zoo_embedding)};
    int64_t *value = request->problem.value;
    value[EMB_TOKENS] = desc->tokens;
    value[EMB_VOCAB] = desc->vocab;
    value[EMB_DIM] = desc->dim;
    value[EMB_TYPE] = desc->type; /* both count bf16, f16, f32 */
    value[EMB_INDEX] = desc->wide_ids != 0;
    value[EMB_DIRECTION] = backward ? EMB_BACKWARD : EMB_FORWARD;
    return api_shape(request);
}

lk_status lk_embedding(void *stream, const lk_embedding_desc *desc, const void *ids,
                       const void *table, void *out)
{
    struct api_request request;
    lk_status status = make_request(desc, false, &request);
    const void *buffers[] = {ids, table, out};
    return status != LK_OK ? status : api_submit(&request, stream, buffers, NULL, 0);
}

lk_status lk_embedding_backward(void *stream, const lk_embedding_desc *desc, const void *ids,
                                const void *dout, void *dtable, void *workspace,
                                size_t workspace_bytes)
{
    struct api_request request;
    lk_status status = make_request(desc, true, &request);
    const void *buffers[] = {ids, dout, dtable};
    return status != LK_OK ? status
                           : api_submit(&request, stream, buffers, workspace, workspace_bytes);
}

lk_status lk_embedding_backward_workspace(const lk_embedding_desc *desc, size_t *bytes)
{
    struct api_request request;
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, backward_name, "bytes is NULL");
    *bytes = 0;
    lk_status status = make_request(desc, true, &request);
    if (status == LK_OK && (status = api_choose(&request)) == LK_OK)
        *bytes = request.chosen->workspace_bytes;
    return status;
}

lk_status lk_embedding_explain(const lk_embedding_desc *desc, int backward, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, backward != 0, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
