/*
 * api.c: one public call, from its arguments to its launches; see api_run. What is checked here is
 * checked for every call, from its row in api.def and from what the family says about the problem.
 */
#include "zoo/api.h"

#include "base/text.h"
#include "gpu/gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACE_ALIGN = 256 };

/* The table -------------------------------------------------------------------------------------*/

static struct api_call calls[API_CALLS];

/* The words of text, which are few and short. */
static unsigned split(const char *text, char words[][24], unsigned most)
{
    unsigned count = 0;
    for (int used; count < most && sscanf(text, "%23s%n", words[count], &used) == 1; text += used)
        count++;
    return count;
}

struct form {
    const char *sizes, *scalars, *buffers;
    unsigned traits;
};

/* api.def is wrong: no program gets further than its first test. */
static _Noreturn void bad_row(const char *name, const char *message)
{
    fprintf(stderr, "lockstep: api.def: %s: %s\n", name, message);
    abort();
}

static unsigned find_parameter(const struct zoo_family *family, const char *name, const char *call)
{
    for (unsigned i = 0; family->parameters[i].name; i++)
        if (strcmp(family->parameters[i].name, name) == 0)
            return i;
    bad_row(call, name);
}

static void read_call(struct api_call *call, const char *name, const struct zoo_family *family,
                      const char *problem, const struct form *form)
{
    char words[ZOO_PARAMETERS][24], *message;
    size_t count;
    struct zoo_problem *parsed = zoo_problems(family, problem, &count, &message);
    if (!parsed)
        bad_row(name, message);
    *call = (struct api_call){.name = name, .problem = *parsed, .traits = form->traits};
    free(parsed);
    call->size_count = split(form->sizes, words, ZOO_PARAMETERS);
    call->scalar_count =
        split(form->scalars, words + call->size_count, ZOO_PARAMETERS - call->size_count);
    for (unsigned i = 0; i < call->size_count + call->scalar_count; i++)
        call->parameter[i] = find_parameter(family, words[i], name);
    call->buffer_count = split(form->buffers, call->buffer, ZOO_BUFFERS);
}

#define FORM(form, sizes, scalars, buffers, traits)
#define CALL(form, name, family, problem, ...) extern const struct zoo_family zoo_##family;
#include "zoo/api.def"

static void read_calls(void)
{
    static const struct form forms[] = {
#define FORM(form, sizes, scalars, buffers, traits) {sizes, scalars, buffers, traits},
#define CALL(form, name, family, problem, ...)
#include "zoo/api.def"
    };
    static const struct {
        enum api_form form;
        const char *name;
        const struct zoo_family *family;
        const char *problem;
    } rows[] = {
#define FORM(form, sizes, scalars, buffers, traits)
#define CALL(form, name, family, problem, ...) {API_FORM_##form, #name, &zoo_##family, problem},
#include "zoo/api.def"
    };
    for (unsigned i = 0; i < API_CALLS; i++)
        read_call(&calls[i], rows[i].name, rows[i].family, rows[i].problem, &forms[rows[i].form]);
}

const struct api_call *api_call(enum api_id id)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_calls);
    return &calls[id];
}

/* Arguments -------------------------------------------------------------------------------------*/

/* A call on its way. */
struct request {
    const struct api_call *call;
    struct zoo_problem problem;
    unsigned count;
    struct zoo_buffer buffer[ZOO_BUFFERS];
    uintptr_t address[ZOO_BUFFERS];
    size_t bytes[ZOO_BUFFERS];
    struct api_context *context;
    struct zoo_choice choice;
    const struct zoo_kernels *kernels;
    size_t workspace_bytes; /* needed, with room to align it */
};

/* values: the sizes, and the scalars too if with_scalars. */
static lk_status take_sizes(struct request *request, enum api_id id, const int64_t *values,
                            bool with_scalars)
{
    const struct api_call *call = request->call = api_call(id);
    request->problem = call->problem;
    for (unsigned i = 0; i < call->size_count; i++) {
        const struct zoo_parameter *parameter =
            &call->problem.family->parameters[call->parameter[i]];
        if (values[i] < parameter->least || values[i] > parameter->most)
            return api_fail(LK_BAD_ARGUMENT, call->name, "%s is %lld; it goes from %lld to %lld",
                            parameter->name, (long long)values[i], (long long)parameter->least,
                            (long long)parameter->most);
        request->problem.value[call->parameter[i]] = values[i];
    }
    for (unsigned i = call->size_count; with_scalars && i < call->size_count + call->scalar_count;
         i++)
        request->problem.value[call->parameter[i]] = values[i];
    request->count = call->problem.family->shape(&request->problem, request->buffer);
    for (unsigned i = 0; i < request->count; i++)
        if (__builtin_mul_overflow(request->buffer[i].count,
                                   zoo_type_bytes[request->buffer[i].type], &request->bytes[i]) ||
            request->bytes[i] >> 48)
            return api_fail(LK_BAD_ARGUMENT, call->name,
                            "%s would have %zu elements; no GPU has such a memory", call->buffer[i],
                            request->buffer[i].count);
    return LK_OK;
}

static lk_status take_buffers(struct request *request, const void *const *buffers)
{
    const struct api_call *call = request->call;
    for (unsigned i = 0; i < request->count; i++) {
        uintptr_t address = request->address[i] = (uintptr_t)buffers[i];
        const char *name = call->buffer[i], *type = zoo_type_names[request->buffer[i].type];
        unsigned align = zoo_type_bytes[request->buffer[i].type];
        if (request->bytes[i] == 0)
            continue;
        if (!address)
            return api_fail(LK_BAD_ARGUMENT, call->name,
                            "%s is NULL; it must be device memory for %zu %s", name,
                            request->buffer[i].count, type);
        if (address % align)
            return api_fail(LK_BAD_ARGUMENT, call->name,
                            "%s (%p) is not aligned to %u bytes, as %s must be", name, buffers[i],
                            align, type);
        if (address + request->bytes[i] < address)
            return api_fail(LK_BAD_ARGUMENT, call->name,
                            "%s (%p) and its %zu bytes go over the end of all addresses", name,
                            buffers[i], request->bytes[i]);
    }
    return LK_OK;
}

static bool overlap(uintptr_t a, size_t a_bytes, uintptr_t b, size_t b_bytes)
{
    return a_bytes && b_bytes && a < b + b_bytes && b < a + a_bytes;
}

/* Whatever is written must not be what is read, unless the call works in place. */
static lk_status check_overlap(const struct request *request)
{
    const struct api_call *call = request->call;
    for (unsigned i = 0; i < request->count; i++)
        for (unsigned k = 0; k < i; k++) {
            bool written = request->buffer[i].role != ZOO_IN || request->buffer[k].role != ZOO_IN;
            bool same = request->address[i] == request->address[k] &&
                        request->bytes[i] == request->bytes[k];
            bool both_out = request->buffer[i].role != ZOO_IN && request->buffer[k].role != ZOO_IN;
            if (!written || !overlap(request->address[i], request->bytes[i], request->address[k],
                                     request->bytes[k]))
                continue;
            if (!(call->traits & API_IN_PLACE))
                return api_fail(LK_BAD_ARGUMENT, call->name,
                                "%s and %s overlap; give them memory of their own", call->buffer[k],
                                call->buffer[i]);
            if (!same || both_out)
                return api_fail(LK_BAD_ARGUMENT, call->name,
                                "%s and %s overlap in part; they may only be the same or apart",
                                call->buffer[k], call->buffer[i]);
        }
    return LK_OK;
}

/* The GPU ---------------------------------------------------------------------------------------*/

static bool is_known(const struct api_context *context, uintptr_t address)
{
    unsigned kind = 0;
    return context->takes_host_memory ||
           context->device.cuda->cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                       address) == CUDA_SUCCESS;
}

/* A kernel that leaves its memory ruins the program's context, so this is checked first. */
static lk_status check_memory(const struct request *request, const char *name, uintptr_t address,
                              size_t bytes)
{
    if (bytes == 0)
        return LK_OK;
    if (!is_known(request->context, address))
        return api_fail(LK_BAD_ARGUMENT, request->call->name,
                        "%s (%p) is not memory that the GPU can reach; allocate it with lk_malloc, "
                        "cudaMalloc or cuMemAlloc",
                        name, (void *)address);
    if (!is_known(request->context, address + bytes - 1))
        return api_fail(LK_BAD_ARGUMENT, request->call->name,
                        "%s (%p) has fewer than the %zu bytes that the call works on", name,
                        (void *)address, bytes);
    return LK_OK;
}

static lk_status check_stream(const struct request *request, void *stream)
{
    const struct lk_driver *cuda = request->context->device.cuda;
    CUcontext context = NULL;
    if ((uintptr_t)stream <= 2) /* the default streams have no handle of their own */
        return LK_OK;
    CUresult result = cuda->cuStreamGetCtx(stream, &context);
    if (result == CUDA_ERROR_NOT_SUPPORTED)
        return LK_OK;
    if (result != CUDA_SUCCESS)
        return api_fail(LK_BAD_ARGUMENT, request->call->name, "stream (%p) is not a stream: %s",
                        stream, zoo_error(cuda, result));
    if (context != request->context->context)
        return api_fail(LK_BAD_ARGUMENT, request->call->name,
                        "stream (%p) belongs to another context than the one that is current on "
                        "this thread",
                        stream);
    return LK_OK;
}

static struct zoo_call zoo_call_of(const struct request *request)
{
    struct zoo_call call = {.problem = &request->problem,
                            .device = &request->context->device,
                            .kernels = request->kernels};
    for (unsigned i = 0; i < request->count; i++)
        call.buffer[i] = request->address[i];
    return call;
}

static lk_status take_kernels(struct request *request)
{
    lk_status status = api_kernels(request->call->name, request->context, &request->problem,
                                   &request->choice, &request->kernels);
    if (status != LK_OK)
        return status;
    struct zoo_call call = zoo_call_of(request);
    size_t bytes =
        request->choice.variant->workspace ? request->choice.variant->workspace(&call) : 0;
    request->workspace_bytes = bytes ? bytes + WORKSPACE_ALIGN - 1 : 0;
    return LK_OK;
}

static lk_status check_workspace(const struct request *request, const void *workspace, size_t bytes)
{
    const struct api_call *call = request->call;
    size_t needed = request->workspace_bytes;
    uintptr_t address = (uintptr_t)workspace;
    if (needed == 0)
        return LK_OK;
    if (bytes < needed)
        return api_fail(LK_SMALL_WORKSPACE, call->name,
                        "workspace_bytes is %zu, and %zu are needed; lk_%s_workspace says how many",
                        bytes, needed, call->name);
    if (!address)
        return api_fail(LK_BAD_ARGUMENT, call->name,
                        "workspace is NULL; it must be %zu bytes of device memory", needed);
    for (unsigned i = 0; i < request->count; i++)
        if (overlap(address, needed, request->address[i], request->bytes[i]))
            return api_fail(LK_BAD_ARGUMENT, call->name,
                            "workspace and %s overlap; give them memory of their own",
                            call->buffer[i]);
    return check_memory(request, "workspace", address, needed);
}

/* A call ----------------------------------------------------------------------------------------*/

static CUresult launch(const struct request *request, void *stream, void *workspace,
                       struct zoo_call *call)
{
    *call = zoo_call_of(request);
    call->stream = stream;
    call->workspace =
        ((uintptr_t)workspace + WORKSPACE_ALIGN - 1) / WORKSPACE_ALIGN * WORKSPACE_ALIGN;
    return request->choice.variant->launch(call);
}

lk_status api_run(enum api_id id, void *stream, const int64_t *sizes, const void *const *buffers,
                  void *workspace, size_t workspace_bytes)
{
    struct request request = {0};
    struct zoo_call call;
    lk_status status = take_sizes(&request, id, sizes, true);
    if (status == LK_OK)
        status = take_buffers(&request, buffers);
    if (status == LK_OK)
        status = api_current(request.call->name, &request.context);
    for (unsigned i = 0; i < request.count && status == LK_OK; i++)
        status =
            check_memory(&request, request.call->buffer[i], request.address[i], request.bytes[i]);
    if (status == LK_OK)
        status = check_overlap(&request);
    if (status == LK_OK)
        status = check_stream(&request, stream);
    if (status == LK_OK)
        status = take_kernels(&request);
    if (status == LK_OK)
        status = check_workspace(&request, workspace, workspace_bytes);
    if (status != LK_OK)
        return status;
    CUresult result = launch(&request, stream, workspace, &call);
    /* The program may have reset its context, and our modules with it. */
    if (result == CUDA_ERROR_INVALID_HANDLE) {
        api_forget(request.context);
        status = take_kernels(&request);
        if (status != LK_OK)
            return status;
        result = launch(&request, stream, workspace, &call);
    }
    if (result == CUDA_SUCCESS)
        return LK_OK;
    return api_driver_failed(request.context->device.cuda, result, request.call->name,
                             call.error ? call.error : "launching");
}

lk_status api_workspace(enum api_id id, const int64_t *sizes, size_t *bytes)
{
    struct request request = {0};
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, api_call(id)->name, "bytes is NULL; it gets the answer");
    *bytes = 0;
    lk_status status = take_sizes(&request, id, sizes, false);
    if (status == LK_OK)
        status = api_current(request.call->name, &request.context);
    if (status == LK_OK)
        status = take_kernels(&request);
    *bytes = request.workspace_bytes;
    return status;
}

/* Explaining ------------------------------------------------------------------------------------*/

static void explain(const struct request *request, struct lk_buf *text)
{
    const struct api_call *call = request->call;
    const struct zoo_choice *choice = &request->choice;
    const struct zoo_family *family = request->problem.family;
    const struct zoo_device *device = &request->context->device;
    const struct zoo_source *source = zoo_source(family, choice->variant);
    lk_buf_printf(text, "lk_%s", call->name);
    for (unsigned i = 0; i < call->size_count; i++)
        lk_buf_printf(text, "%s%s=%lld", i ? ", " : "(",
                      family->parameters[call->parameter[i]].name,
                      (long long)request->problem.value[call->parameter[i]]);
    lk_buf_printf(text, ") on %s%s: %s/%s", device->name,
                  device->cuda->simulated ? " (simulated)" : "", family->name,
                  choice->variant->name);
    for (unsigned i = 0; i < source->tunable_count; i++)
        lk_buf_printf(text, " %s=%d", source->tunables[i].name, choice->tuning.value[i]);
    lk_buf_printf(text, "\n  what: %s; %s; %zu bytes of workspace\n", choice->variant->technique,
                  choice->variant->traits & ZOO_DETERMINISTIC
                      ? "the same bits in every run"
                      : "the last bits may differ from run to run",
                  request->workspace_bytes);
    const struct zoo_row *row = choice->row;
    if (row)
        lk_buf_printf(text, "  why: the row '%s', %s", *row->where ? row->where : "for all",
                      row->origin);
    else
        lk_buf_printf(text,
                      "  why: no table has a row for it on this GPU, so the last variant of "
                      "the family that takes it; 'lockstep tune %s' measures",
                      family->name);
    if (row && row->seconds > 0)
        lk_buf_printf(text, ": %.3g us for %s", row->seconds * 1e6, row->measured);
    lk_buf_printf(text, "\n");
    api_remarks(request->context, text);
}

static lk_status find_call(const char *name, enum api_id *id)
{
    if (!name)
        return api_fail(LK_BAD_ARGUMENT, "explain", "call is NULL; it is a name such as '%s'",
                        api_call(0)->name);
    if (strncmp(name, "lk_", 3) == 0)
        name += 3;
    struct lk_guess guess = {.wanted = name, .distance = 4};
    for (unsigned i = 0; i < API_CALLS; i++) {
        if (strcmp(api_call(i)->name, name) == 0) {
            *id = i;
            return LK_OK;
        }
        lk_guess_try(&guess, api_call(i)->name);
    }
    if (guess.nearest)
        return api_fail(LK_BAD_ARGUMENT, "explain", "there is no call '%s'; did you mean '%s'?",
                        name, guess.nearest);
    return api_fail(LK_BAD_ARGUMENT, "explain", "there is no call '%s'; lockstep.h has them", name);
}

lk_status lk_explain(const char *name, const int64_t *sizes, size_t count, char *text, size_t size)
{
    struct request request = {0};
    enum api_id id = 0;
    if (!text || size == 0)
        return api_fail(LK_BAD_ARGUMENT, "explain", "text is NULL or has no room");
    *text = 0;
    lk_status status = find_call(name, &id);
    if (status == LK_OK && (!sizes || count != api_call(id)->size_count))
        status =
            api_fail(LK_BAD_ARGUMENT, "explain", "count is %zu; lk_%s has %u integer arguments",
                     count, api_call(id)->name, api_call(id)->size_count);
    if (status == LK_OK && sizes)
        status = take_sizes(&request, id, sizes, false);
    if (status == LK_OK)
        status = api_current(request.call->name, &request.context);
    if (status == LK_OK)
        status = take_kernels(&request);
    if (status != LK_OK)
        return status;
    struct lk_buf words = {0};
    explain(&request, &words);
    snprintf(text, size, "%s", words.data);
    lk_buf_free(&words);
    return LK_OK;
}
