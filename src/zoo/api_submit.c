/*
 * api_submit.c: a public call whose problem is known, from its pointers to its launches; see
 * api_submit. What is checked here is checked for every call, from what the family says about the
 * problem.
 */
#include "zoo/api.h"

#include <string.h>

/* Arguments -------------------------------------------------------------------------------------*/

lk_status api_check_size(const char *call, const struct zoo_family *family, unsigned parameter,
                         int64_t value)
{
    const struct zoo_parameter *p = &family->parameters[parameter];
    if (value >= p->least && value <= p->most)
        return LK_OK;
    return api_fail(LK_BAD_ARGUMENT, call, "%s is %lld; it goes from %lld to %lld", p->name,
                    (long long)value, (long long)p->least, (long long)p->most);
}

lk_status api_shape(struct api_request *request)
{
    request->count = request->problem.family->shape(&request->problem, request->buffer);
    for (unsigned i = 0; i < request->count; i++)
        if (__builtin_mul_overflow(request->buffer[i].count,
                                   zoo_type_bytes[request->buffer[i].type], &request->bytes[i]) ||
            request->bytes[i] >> 48)
            return api_fail(LK_BAD_ARGUMENT, request->name,
                            "%s would have %zu elements; no GPU has such a memory",
                            request->buffer_name[i], request->buffer[i].count);
    return LK_OK;
}

static lk_status take_buffers(struct api_request *request, const void *const *buffers)
{
    for (unsigned i = 0; i < request->count; i++) {
        uintptr_t address = request->address[i] = (uintptr_t)buffers[i];
        const char *name = request->buffer_name[i], *type = zoo_type_names[request->buffer[i].type];
        bool aligned = request->problem.family->aligned;
        unsigned align = aligned ? 16 : zoo_type_bytes[request->buffer[i].type];
        if (request->bytes[i] == 0)
            continue;
        if (!address)
            return api_fail(LK_BAD_ARGUMENT, request->name,
                            "%s is NULL; it must be device memory for %zu %s", name,
                            request->buffer[i].count, type);
        if (address % align)
            return api_fail(LK_BAD_ARGUMENT, request->name,
                            "%s (%p) is not aligned to %u bytes, as %s must be", name, buffers[i],
                            align, aligned ? "all buffers of this call" : type);
        if (address + request->bytes[i] < address)
            return api_fail(LK_BAD_ARGUMENT, request->name,
                            "%s (%p) and its %zu bytes go over the end of all addresses", name,
                            buffers[i], request->bytes[i]);
    }
    return LK_OK;
}

static bool overlap(uintptr_t a, size_t a_bytes, uintptr_t b, size_t b_bytes)
{
    return a_bytes && b_bytes && a < b + b_bytes && b < a + a_bytes;
}

static bool is_alone(const struct api_request *request, unsigned buffer)
{
    for (const char *const *name = request->alone; name && *name; name++)
        if (strcmp(*name, request->buffer_name[buffer]) == 0)
            return true;
    return false;
}

/* Whatever is written must not be what is read, unless the call works in place. */
static lk_status check_overlap(const struct api_request *request)
{
    for (unsigned i = 0; i < request->count; i++)
        for (unsigned k = 0; k < i; k++) {
            bool written = request->buffer[i].role != ZOO_IN || request->buffer[k].role != ZOO_IN;
            bool same = request->address[i] == request->address[k] &&
                        request->bytes[i] == request->bytes[k];
            bool both_out = request->buffer[i].role != ZOO_IN && request->buffer[k].role != ZOO_IN;
            if (!written || !overlap(request->address[i], request->bytes[i], request->address[k],
                                     request->bytes[k]))
                continue;
            if (!(request->traits & API_IN_PLACE) || is_alone(request, i) || is_alone(request, k))
                return api_fail(LK_BAD_ARGUMENT, request->name,
                                "%s and %s overlap; give them memory of their own",
                                request->buffer_name[k], request->buffer_name[i]);
            if (!same || both_out)
                return api_fail(LK_BAD_ARGUMENT, request->name,
                                "%s and %s overlap in part; they may only be the same or apart",
                                request->buffer_name[k], request->buffer_name[i]);
        }
    return LK_OK;
}

static lk_status check_workspace(const struct api_request *request, const void *workspace,
                                 size_t bytes)
{
    size_t needed = request->chosen->workspace_bytes;
    uintptr_t address = (uintptr_t)workspace;
    if (needed == 0)
        return LK_OK;
    if (bytes < needed)
        return api_fail(LK_SMALL_WORKSPACE, request->name,
                        "workspace_bytes is %zu, and %zu are needed; lk_%s_workspace says how many",
                        bytes, needed, request->name);
    if (!address)
        return api_fail(LK_BAD_ARGUMENT, request->name,
                        "workspace is NULL; it must be %zu bytes of device memory", needed);
    for (unsigned i = 0; i < request->count; i++)
        if (overlap(address, needed, request->address[i], request->bytes[i]))
            return api_fail(LK_BAD_ARGUMENT, request->name,
                            "workspace and %s overlap; give them memory of their own",
                            request->buffer_name[i]);
    return api_check_memory(request->name, request->context, "workspace", address, needed);
}

/* A call ----------------------------------------------------------------------------------------*/

lk_status api_choose(struct api_request *request)
{
    lk_status status = api_current(request->name, &request->context);
    if (status != LK_OK)
        return status;
    return api_kernels(request->name, request->context, &request->problem,
                       request->traits & API_ALIGNED, &request->chosen);
}

/* A kernel that leaves its memory ruins the program's context, so this is checked first. */
static lk_status check_arguments(struct api_request *request, void *stream)
{
    lk_status status = api_current(request->name, &request->context);
    for (unsigned i = 0; i < request->count && status == LK_OK; i++)
        status = api_check_memory(request->name, request->context, request->buffer_name[i],
                                  request->address[i], request->bytes[i]);
    if (status == LK_OK)
        status = check_overlap(request);
    if (status == LK_OK)
        status = api_check_stream(request->name, request->context, stream);
    return status;
}

static lk_status take_kernels(struct api_request *request, const void *workspace, size_t bytes)
{
    bool aligned = request->traits & API_ALIGNED;
    for (unsigned i = 0; i < request->count; i++)
        aligned &= request->bytes[i] == 0 || request->address[i] % 16 == 0;
    lk_status status =
        api_kernels(request->name, request->context, &request->problem, aligned, &request->chosen);
    return status == LK_OK ? check_workspace(request, workspace, bytes) : status;
}

static CUresult launch(const struct api_request *request, void *stream, void *workspace,
                       const char **error)
{
    enum { ALIGN = API_WORKSPACE_ALIGN };
    struct zoo_call call = {.problem = &request->problem,
                            .device = &request->context->device,
                            .kernels = request->chosen->kernels,
                            .stream = stream,
                            .workspace = ((uintptr_t)workspace + ALIGN - 1) / ALIGN * ALIGN};
    for (unsigned i = 0; i < request->count; i++)
        call.buffer[i] = request->address[i];
    CUresult result = request->chosen->choice.variant->launch(&call);
    *error = call.error;
    return result;
}

/* The driver does not know a handle. What this thread remembers may be out of date, so that a
 * stream or a buffer is no longer what it was: that is the caller's error. If all are fine, the
 * program has reset its context, and our modules are gone with it. */
static lk_status check_again(struct api_request *request, void *stream, const void *workspace,
                             size_t workspace_bytes)
{
    const struct zoo_kernels *stale = request->chosen->kernels;
    api_ask_again();
    lk_status status = check_arguments(request, stream);
    if (status != LK_OK)
        return status;
    api_forget(request->context, stale);
    return take_kernels(request, workspace, workspace_bytes);
}

lk_status api_submit(struct api_request *request, void *stream, const void *const *buffers,
                     void *workspace, size_t workspace_bytes)
{
    const char *error;
    lk_status status = take_buffers(request, buffers);
    if (status == LK_OK)
        status = check_arguments(request, stream);
    if (status == LK_OK)
        status = take_kernels(request, workspace, workspace_bytes);
    if (status != LK_OK)
        return status;
    CUresult result = launch(request, stream, workspace, &error);
    if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_CONTEXT) {
        status = check_again(request, stream, workspace, workspace_bytes);
        if (status != LK_OK)
            return status;
        result = launch(request, stream, workspace, &error);
    }
    if (result == CUDA_SUCCESS)
        return LK_OK;
    return api_driver_failed(request->context->device.cuda, result, request->name,
                             error ? error : "launching");
}
