/*
 * lk_hadamard.c: the public call lk_hadamard: a description becomes a problem of the family, which
 * api_submit checks further and launches.
 */
#include "hadamard.h"

#include "zoo/api.h"

static const char call[] = "hadamard";

static lk_status make_request(const lk_hadamard_desc *desc, struct api_request *request)
{
    static const char *const names[] = {"x", "y"};
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_HADAMARD_DESC makes one");
    if (desc->type != LK_BF16 && desc->type != LK_F16 && desc->type != LK_F32)
        return api_fail(LK_BAD_ARGUMENT, call, "type is %d; it is LK_BF16, LK_F16 or LK_F32",
                        (int)desc->type);
    const int64_t most = HADAMARD_MOST, most_size = (int64_t)1 << 30;
    if (desc->block < 2 || desc->block > most || desc->block & (desc->block - 1))
        return api_fail(LK_BAD_ARGUMENT, call, "block is %lld; it is a power of two from 2 to %lld",
                        (long long)desc->block, (long long)most);
    if (desc->rows < 0 || desc->cols < 0 || desc->rows > most_size || desc->cols > most_size)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "rows and cols are %lld and %lld; they go from 0 to %lld",
                        (long long)desc->rows, (long long)desc->cols, (long long)most_size);
    if (desc->cols % desc->block)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "cols is %lld, and must be a multiple of block, which is %lld; pad the "
                        "rows, or take a smaller block",
                        (long long)desc->cols, (long long)desc->block);
    *request = (struct api_request){.name = call,
                                    .buffer_name = names,
                                    .traits = API_IN_PLACE,
                                    .problem = zoo_problem_normal(&zoo_hadamard)};
    int64_t *value = request->problem.value;
    value[HADAMARD_BLOCKS] = desc->rows * (desc->cols / desc->block);
    value[HADAMARD_SIZE] = desc->block;
    value[HADAMARD_TYPE] = desc->type; /* both count bf16, f16, f32 */
    lk_status status = api_check_size(call, &zoo_hadamard, HADAMARD_BLOCKS, value[HADAMARD_BLOCKS]);
    return status == LK_OK ? api_shape(request) : status;
}

lk_status lk_hadamard(void *stream, const lk_hadamard_desc *desc, const void *x, void *y)
{
    struct api_request request;
    lk_status status = make_request(desc, &request);
    if (status != LK_OK)
        return status;
    return api_submit(&request, stream, (const void *[]){x, y}, NULL, 0);
}

lk_status lk_hadamard_explain(const lk_hadamard_desc *desc, char *text, size_t size)
{
    struct api_request request;
    lk_status status = make_request(desc, &request);
    return status != LK_OK ? status : api_explain_problem(&request, text, size);
}
