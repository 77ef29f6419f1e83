/*
 * lk_attention.c: the public call lk_attention_forward: checks a description and launches the
 * fastest kernel that takes it.
 */
#include "plan.h"

#include "heads.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define CALL "attention_forward"

enum { Q, K, V, O, LSE, Q_BEGIN, K_BEGIN, Q_SCALE, K_SCALE, V_SCALE, LENGTHS, SLOPES, BUFFERS };
static const char *const buffer_names[BUFFERS] = {"q",       "k",       "v",           "o",
                                                  "lse",     "q_begin", "k_begin",     "q_scale",
                                                  "k_scale", "v_scale", "key_lengths", "slopes"};
static const char *const variants[] = {
    [ATTENTION_NAIVE] = "naive",           [ATTENTION_ONLINE] = "online_softmax",
    [ATTENTION_MMA] = "mma_sync",          [ATTENTION_WGMMA] = "wgmma",
    [ATTENTION_OVERLAPPED] = "overlapped", [ATTENTION_FP8] = "fp8",
};

/* A call, and how many bytes it may touch of each buffer. */
struct attention {
    struct attention_request request;
    size_t bytes[BUFFERS], aligned[BUFFERS];
};

static lk_status fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static lk_status fail(const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return api_fail(LK_BAD_ARGUMENT, CALL, "%s", text);
}

/* The description -------------------------------------------------------------------------------*/

static lk_status check_range(const char *name, int64_t value, int64_t least, int64_t most)
{
    if (value >= least && value <= most)
        return LK_OK;
    return fail("%s is %lld; it goes from %lld to %lld", name, (long long)value, (long long)least,
                (long long)most);
}

static lk_status check_sizes(const lk_attention_desc *d)
{
    const int64_t rows = (int64_t)1 << 24;
    int64_t kv_heads = d->kv_heads ? d->kv_heads : d->heads;
    lk_status status;
    if ((status = check_range("batch", d->batch, 0, 1 << 20)) != LK_OK ||
        (status = check_range("heads", d->heads, 1, 1 << 14)) != LK_OK ||
        (status = check_range("kv_heads", kv_heads, 1, d->heads)) != LK_OK ||
        (status = check_range("queries", d->queries, 0, rows)) != LK_OK ||
        (status = check_range("keys", d->keys, 0, rows)) != LK_OK ||
        (status = check_range("dim", d->dim, 1, 512)) != LK_OK ||
        (status = check_range("window", d->window, 0, rows)) != LK_OK ||
        (status = check_range("scale_head", d->scale_head, 0, 1 << 14)) != LK_OK ||
        (status = check_range("scale_batch", d->scale_batch, 0, 1 << 14)) != LK_OK)
        return status;
    long long scales = (long long)d->batch * d->scale_batch;
    if (scales >= 1 << 30)
        return fail("batch times scale_batch is %lld; it is below 2^30", scales);
    if ((status = heads_check(CALL, d->heads, d->kv_heads, &kv_heads)) != LK_OK)
        return status;
    if (d->q_begin && ((status = check_range("all_queries", d->all_queries, 0, rows)) != LK_OK ||
                       (status = check_range("all_keys", d->all_keys, 0, rows)) != LK_OK))
        return status;
    return LK_OK;
}

static lk_status check_choices(const lk_attention_desc *d)
{
    if (d->type != LK_BF16 && d->type != LK_F16 && d->type != LK_F32 && d->type != LK_E4M3)
        return fail("type is %d; it is LK_BF16, LK_F16, LK_F32 or LK_E4M3", (int)d->type);
    if (d->type != LK_E4M3 &&
        (d->q_scale || d->k_scale || d->v_scale || d->scale_head || d->scale_batch))
        return fail("q_scale, k_scale and v_scale are for LK_E4M3; others have scale alone");
    if (!(d->scale >= 0) || !isfinite(d->scale))
        return fail("scale is %g; it is above 0, or 0 for 1 / sqrt(dim)", (double)d->scale);
    if (!(d->softcap >= 0) || !isfinite(d->softcap))
        return fail("softcap is %g; it is above 0, or 0 for none", (double)d->softcap);
    if (!(d->dropout >= 0 && d->dropout < 1))
        return fail("dropout is %g; it goes from 0 to below 1", (double)d->dropout);
    if (d->q_begin && d->key_lengths)
        return fail("key_lengths are for sequences of one length; packed ones have no padding");
    if (!d->q_begin != !d->k_begin)
        return fail("only one of q_begin and k_begin is given; packed sequences need both");
    if (!d->q_begin && (d->all_queries || d->all_keys))
        return fail("all_queries and all_keys are for packed sequences, with q_begin and k_begin");
    return LK_OK;
}

/* Fills in steps that the description leaves at 0, and counts bytes. */
static lk_status place(const char *name, lk_steps given, const lk_attention_desc *d, int64_t heads,
                       int64_t rows, struct attention_steps *step, size_t *bytes)
{
    const int64_t most = (int64_t)1 << 40;
    bool packed = d->q_begin;
    int64_t batch = packed ? 1 : d->batch;
    int64_t last = 0;
    unsigned each = d->type == LK_F32 ? 4 : d->type == LK_E4M3 && name[0] != 'o' ? 1 : 2;
    step->row = given.row ? given.row : packed ? heads * d->dim : d->dim;
    step->head = given.head ? given.head : packed ? d->dim : rows * d->dim;
    step->batch = given.batch ? given.batch : packed ? 0 : heads * rows * d->dim;
    if (step->row < 0 || step->head < 0 || step->batch < 0 || step->row > most ||
        step->head > most || step->batch > most)
        return fail("a step of %s is below 0 or above 2^40", name);
    *bytes = 0;
    if (!batch || !rows)
        return LK_OK;
    if (name[0] == 'o' && ((rows > 1 && step->row < d->dim) || (heads > 1 && step->head < d->dim) ||
                           (batch > 1 && step->batch < d->dim)))
        return fail("a step of o is less than dim: its rows would overlap");
    if (__builtin_mul_overflow(batch - 1, step->batch, &last) || last > most * 64)
        return fail("%s goes over the end of any GPU's memory", name);
    last += (heads - 1) * step->head;
    if (__builtin_mul_overflow(rows - 1, step->row, &rows) ||
        __builtin_add_overflow(last, rows, &last) || last > most * 64)
        return fail("%s goes over the end of any GPU's memory", name);
    *bytes = (size_t)(last + d->dim) * each;
    return LK_OK;
}

static lk_status read_desc(const lk_attention_desc *d, struct attention *a)
{
    static const enum attention_number numbers[] = {[LK_BF16] = ATTENTION_BF16,
                                                    [LK_F16] = ATTENTION_F16,
                                                    [LK_F32] = ATTENTION_F32,
                                                    [LK_E4M3] = ATTENTION_E4M3};
    struct attention_request *r = &a->request;
    *a = (struct attention){0};
    if (!d)
        return fail("desc is NULL; LK_ATTENTION_DESC makes one");
    lk_status status = check_choices(d);
    if (status != LK_OK || (status = check_sizes(d)) != LK_OK)
        return status;
    bool packed = d->q_begin;
    int64_t kv_heads = d->kv_heads ? d->kv_heads : d->heads;
    int64_t q_rows = packed ? d->all_queries : d->queries, k_rows = packed ? d->all_keys : d->keys;
    int64_t window = d->window ? d->window - 1 : ATTENTION_NO_LIMIT;
    *r = (struct attention_request){
        .number = numbers[d->type],
        .batch = d->batch,
        .heads = kv_heads,
        .group = d->heads / kv_heads,
        .queries = d->queries,
        .keys = d->keys,
        .dim = d->dim,
        .left = window,
        .right = d->causal ? 0 : window,
        .scale = d->scale != 0 ? d->scale : (float)(1 / sqrt((double)d->dim)),
        .softcap = d->softcap,
        .packed = packed,
        .all_queries = q_rows,
        .all_keys = k_rows,
        .q_scale = (uintptr_t)d->q_scale,
        .k_scale = (uintptr_t)d->k_scale,
        .v_scale = (uintptr_t)d->v_scale,
        .lengths = (uintptr_t)d->key_lengths,
        .slopes = (uintptr_t)d->slopes,
        .padded = d->key_lengths,
        .leaning = d->slopes,
        .dropout = d->dropout,
        .seed = d->seed,
        .offset = d->offset,
        .scale_head = d->scale_head,
        .scale_batch = d->scale_batch,
    };
    if ((status = place("q", d->q, d, d->heads, q_rows, &r->q_step, &a->bytes[Q])) != LK_OK ||
        (status = place("k", d->k, d, kv_heads, k_rows, &r->k_step, &a->bytes[K])) != LK_OK ||
        (status = place("v", d->v, d, kv_heads, k_rows, &r->v_step, &a->bytes[V])) != LK_OK ||
        (status = place("o", d->o, d, d->heads, q_rows, &r->o_step, &a->bytes[O])) != LK_OK)
        return status;
    a->bytes[LSE] = (size_t)(packed ? 1 : d->batch) * (size_t)(d->heads * q_rows) * 4;
    a->bytes[Q_BEGIN] = a->bytes[K_BEGIN] = packed ? ((size_t)d->batch + 1) * 4 : 0;
    for (int i = Q_SCALE; i <= V_SCALE && d->batch; i++)
        a->bytes[i] =
            (size_t)((d->batch - 1) * d->scale_batch + (kv_heads - 1) * d->scale_head + 1) * 4;
    a->bytes[LENGTHS] = d->key_lengths ? (size_t)d->batch * 4 : 0;
    a->bytes[SLOPES] = d->slopes ? (size_t)d->heads * 4 : 0;
    for (int i = 0; i < BUFFERS; i++)
        a->aligned[i] = i >= LSE || d->type == LK_F32 ? 4 : d->type == LK_E4M3 && i < O ? 1 : 2;
    return LK_OK;
}

/* The kernel ------------------------------------------------------------------------------------*/

static enum attention_kind kind_of(const struct attention_request *r,
                                   const struct zoo_device *device)
{
    bool has_tma = device->arch == 90 && device->cuda->cuTensorMapEncodeTiled;
    if (has_tma && attention_takes(r, ATTENTION_OVERLAPPED))
        return ATTENTION_OVERLAPPED;
    if (has_tma && attention_takes(r, ATTENTION_FP8))
        return ATTENTION_FP8;
    if (attention_takes(r, ATTENTION_MMA))
        return ATTENTION_MMA;
    return attention_takes(r, ATTENTION_ONLINE) ? ATTENTION_ONLINE : ATTENTION_NAIVE;
}

/* Enough wherever the buffers lie, and on every GPU. Whole sequences in 16 bits take it for shares
 * of the last tiles, and do without if there is none. */
static size_t workspace_of(const struct attention_request *r)
{
    if (r->batch == 0 || r->queries == 0)
        return 0;
    if (!attention_takes(r, ATTENTION_ONLINE))
        return attention_workspace(r, ATTENTION_NAIVE);
    if (attention_takes(r, ATTENTION_FP8))
        return attention_workspace(r, ATTENTION_FP8);
    return attention_takes(r, ATTENTION_OVERLAPPED) ? attention_workspace(r, ATTENTION_OVERLAPPED)
                                                    : 0;
}

static lk_status check_buffers(const struct attention *a, const void *const *buffer,
                               const struct api_context *context)
{
    for (int i = 0; i < BUFFERS; i++) {
        if (a->bytes[i] == 0 || (!buffer[i] && (i == LSE || i >= Q_SCALE)))
            continue;
        if (!buffer[i])
            return fail("%s is NULL; it must be device memory of %zu bytes", buffer_names[i],
                        a->bytes[i]);
        if ((uintptr_t)buffer[i] % a->aligned[i])
            return fail("%s (%p) is not aligned to %zu bytes, as its type must be", buffer_names[i],
                        buffer[i], a->aligned[i]);
        lk_status status =
            api_check_memory(CALL, context, buffer_names[i], (uintptr_t)buffer[i], a->bytes[i]);
        if (status != LK_OK)
            return status;
    }
    for (int out = O; out <= LSE; out++)
        for (int i = 0; i < BUFFERS; i++) {
            uintptr_t x = (uintptr_t)buffer[i], y = (uintptr_t)buffer[out];
            if (i != out && x && y && x < y + a->bytes[out] && y < x + a->bytes[i])
                return fail("%s and %s overlap; give them memory of their own", buffer_names[i],
                            buffer_names[out]);
        }
    return LK_OK;
}

static lk_status check_workspace(const struct attention *a, const void *const *buffer,
                                 const struct api_context *context, const void *workspace,
                                 size_t bytes)
{
    size_t wanted = workspace_of(&a->request);
    uintptr_t address = (uintptr_t)workspace;
    bool is_optional = a->request.number != ATTENTION_E4M3 && !a->request.packed &&
                       attention_takes(&a->request, ATTENTION_OVERLAPPED);
    if (wanted == 0 || (is_optional && !workspace && bytes == 0))
        return LK_OK;
    if (bytes < wanted)
        return api_fail(LK_SMALL_WORKSPACE, CALL,
                        "the workspace has %zu bytes and must have %zu; "
                        "lk_attention_forward_workspace says how many",
                        bytes, wanted);
    if (!workspace || address % 16)
        return fail("workspace (%p) is NULL or not aligned to 16 bytes", workspace);
    for (int i = 0; i < BUFFERS; i++) {
        uintptr_t x = (uintptr_t)buffer[i];
        if (x && x < address + wanted && address < x + a->bytes[i])
            return fail("workspace and %s overlap; give them memory of their own", buffer_names[i]);
    }
    return api_check_memory(CALL, context, "workspace", address, wanted);
}

static lk_status launch(struct attention *a, struct api_context *context, void *stream)
{
    struct attention_plan plan;
    const struct zoo_kernels *kernels;
    enum attention_kind kind = kind_of(&a->request, &context->device);
    if (!attention_takes(&a->request, kind))
        return api_fail(LK_UNSUPPORTED, CALL,
                        "batch times heads, or queries, are too many for a "
                        "grid; split the batch into several calls");
    CUresult result = attention_plan_make(&a->request, kind, context->device.cuda,
                                          context->device.sm_count, &plan);
    if (result != CUDA_SUCCESS)
        return api_driver_failed(context->device.cuda, result, CALL, "describing a tensor to it");
    for (int attempt = 0; attempt < 2; attempt++) {
        lk_status status = api_variant(CALL, context, &zoo_attention, variants[kind], &kernels);
        if (status != LK_OK)
            return status;
        struct zoo_call call = {.device = &context->device, .kernels = kernels, .stream = stream};
        unsigned i = 0;
        for (result = CUDA_SUCCESS; result == CUDA_SUCCESS && i < plan.launches; i++)
            result = ZOO_LAUNCH(&call, plan.launch[i].kernel, plan.launch[i].grid, &plan.arguments);
        if (result == CUDA_SUCCESS)
            return LK_OK;
        if (attempt > 0 || i > 1 ||
            (result != CUDA_ERROR_INVALID_HANDLE && result != CUDA_ERROR_INVALID_CONTEXT))
            return api_driver_failed(context->device.cuda, result, CALL,
                                     call.error ? call.error : "launching");
        api_ask_again(); /* perhaps the program has reset its context */
        if ((status = api_current(CALL, &context)) != LK_OK ||
            (status = api_check_stream(CALL, context, stream)) != LK_OK)
            return status;
        api_forget(context, kernels);
    }
    return LK_OK;
}

/* The calls -------------------------------------------------------------------------------------*/

lk_status lk_attention_forward(void *stream, const lk_attention_desc *desc, const void *q,
                               const void *k, const void *v, void *o, float *lse, void *workspace,
                               size_t workspace_bytes)
{
    struct attention a;
    struct api_context *context;
    lk_status status = read_desc(desc, &a);
    if (status != LK_OK || (status = api_current(CALL, &context)) != LK_OK)
        return status;
    const void *buffer[BUFFERS] = {q,
                                   k,
                                   v,
                                   o,
                                   lse,
                                   desc->q_begin,
                                   desc->k_begin,
                                   desc->q_scale,
                                   desc->k_scale,
                                   desc->v_scale,
                                   desc->key_lengths,
                                   desc->slopes};
    if ((status = check_buffers(&a, buffer, context)) != LK_OK ||
        (status = check_workspace(&a, buffer, context, workspace, workspace_bytes)) != LK_OK ||
        (status = api_check_stream(CALL, context, stream)) != LK_OK)
        return status;
    if (a.bytes[O] == 0 || desc->queries == 0)
        return LK_OK;
    a.request.q = (uintptr_t)q;
    a.request.k = (uintptr_t)k;
    a.request.v = (uintptr_t)v;
    a.request.o = (uintptr_t)o;
    a.request.lse = (uintptr_t)lse;
    a.request.q_begin = (uintptr_t)desc->q_begin;
    a.request.k_begin = (uintptr_t)desc->k_begin;
    a.request.workspace = (uintptr_t)workspace;
    return launch(&a, context, stream);
}

lk_status lk_attention_forward_workspace(const lk_attention_desc *desc, size_t *bytes)
{
    struct attention a;
    if (!bytes)
        return fail("bytes is NULL");
    *bytes = 0;
    lk_status status = read_desc(desc, &a);
    if (status == LK_OK)
        *bytes = workspace_of(&a.request);
    return status;
}

lk_status lk_attention_forward_explain(const lk_attention_desc *desc, char *text, size_t size)
{
    static const char generic[] =
        "f32, rows not at multiples of 16 bytes, or FP8 without a Hopper GPU, with heads of 256, a "
        "softcap, ALiBi or dropout: right, not fast";
    static const char *const why[] = {
        [ATTENTION_NAIVE] = "heads of another size than 64, 96, 128 and 256: right, not fast",
        [ATTENTION_ONLINE] = generic,
        [ATTENTION_MMA] = "steps of 0, no keys, or no Hopper GPU",
        [ATTENTION_WGMMA] = "",
        [ATTENTION_OVERLAPPED] = "16 bits and rows at multiples of 16 bytes, on Hopper",
        [ATTENTION_FP8] = "e4m3 and rows at multiples of 16 bytes, on Hopper"};
    static const char *const types[] = {"bf16", "f16", "f32", "e4m3"};
    struct attention a;
    struct api_context *context;
    if (!text || size == 0)
        return fail("text is NULL or has no room");
    *text = 0;
    lk_status status = read_desc(desc, &a);
    if (status != LK_OK || (status = api_current(CALL, &context)) != LK_OK)
        return status;
    enum attention_kind kind = kind_of(&a.request, &context->device);
    snprintf(
        text, size,
        "lk_attention_forward(%s, batch=%lld, heads=%lld, queries=%lld, keys=%lld, dim=%lld) on "
        "%s%s: attention/%s\n  why: %s\n",
        types[a.request.number], (long long)desc->batch, (long long)desc->heads,
        (long long)desc->queries, (long long)desc->keys, (long long)desc->dim, context->device.name,
        context->device.cuda->simulated ? " (simulated)" : "", variants[kind], why[kind]);
    return LK_OK;
}
