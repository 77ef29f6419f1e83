/*
 * lk_gemm.c: the public call lk_gemm: checks a description, plans the product once and launches it.
 * A thread remembers its last plans: maps of tensors are made when a product is first asked for.
 */
#include "plan.h"

#include "../../gemm_scaled/host/lk_scaled.h"
#include "base/text.h"
#include "zoo/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

extern const struct zoo_family zoo_gemm_scaled;

/* From D on they are written. */
enum { A, B, C, BIAS, A_SCALE, B_SCALE, D_SCALE, D, SCALE_OUT, WORKSPACE, BUFFERS };
static const char *const buffer_names[BUFFERS] = {
    "a", "b", "c", "bias", "a_scale", "b_scale", "d_scale", "d", "d_scale_out", "workspace"};
static const unsigned type_bytes[] = {
    [LK_BF16] = 2, [LK_F16] = 2, [LK_F32] = 4, [LK_E4M3] = 1, [LK_E5M2] = 1, [LK_S8] = 1};
static const enum gemm_number numbers[] = {
    [LK_BF16] = GEMM_NUMBER_BF16, [LK_F16] = GEMM_NUMBER_F16, [LK_F32] = GEMM_NUMBER_F32};
static const int64_t most_size = (int64_t)1 << 24;

/* A matrix of the call, as its lines lie in memory. */
struct matrix {
    int64_t along, lines, pitch, stride;
};

struct product {
    bool is_scaled; /* of 8 bits */
    struct gemm_request request;
    struct scaled_request scaled;
    size_t bytes[BUFFERS], aligned[BUFFERS];
};

/* The description -------------------------------------------------------------------------------*/

static lk_status fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static lk_status fail(const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return api_fail(LK_BAD_ARGUMENT, "gemm", "%s", text);
}

static lk_status check_size(const char *name, int64_t value)
{
    if (value >= 0 && value <= most_size)
        return LK_OK;
    return fail("%s is %lld; it goes from 0 to %lld", name, (long long)value, (long long)most_size);
}

static lk_status check_choices(const lk_gemm_desc *desc)
{
    if ((unsigned)desc->type > LK_S8)
        return fail("type is %d; it is LK_BF16, LK_F16, LK_F32, LK_E4M3, LK_E5M2 or LK_S8",
                    (int)desc->type);
    if (!scaled_is_type(desc->type) &&
        (desc->b_type || (desc->d_type && desc->d_type != desc->type) || desc->scaling ||
         desc->a_scale || desc->b_scale || desc->d_scale || desc->d_scaling || desc->d_scale_out ||
         desc->fast_sums))
        return fail("b_type, d_type, scaling, scales and fast_sums belong to types of 8 bits");
    if (desc->tf32 && desc->type != LK_F32)
        return fail("tf32 is for LK_F32: other types are multiplied as they are");
    if ((unsigned)desc->a_order > LK_COLUMNS || (unsigned)desc->b_order > LK_COLUMNS ||
        (unsigned)desc->d_order > LK_COLUMNS)
        return fail("an order is neither LK_ROWS nor LK_COLUMNS");
    if ((unsigned)desc->activation > LK_SILU_GATE)
        return fail("activation is %d; lockstep.h has the list", (int)desc->activation);
    if (desc->activation == LK_SILU_GATE && desc->n % 2 != 0)
        return fail("n is %lld; LK_SILU_GATE pairs columns, so it must be even",
                    (long long)desc->n);
    if (desc->activation == LK_SILU_GATE && desc->d_order == LK_COLUMNS)
        return fail("LK_SILU_GATE needs d by rows");
    return scaled_is_type(desc->type) ? scaled_check(desc) : LK_OK;
}

/* Fills in what the description leaves at 0; batch is not 0. */
static lk_status place_matrix(const char *name, lk_order order, int64_t rows, int64_t columns,
                              int64_t pitch, int64_t stride, int64_t batch, struct matrix *matrix)
{
    int64_t along = order == LK_ROWS ? columns : rows, lines = order == LK_ROWS ? rows : columns;
    const int64_t most = (int64_t)1 << 40;
    *matrix = (struct matrix){along, lines, pitch ? pitch : along, stride};
    if (matrix->pitch < along || matrix->pitch > most)
        return fail("%s_pitch is %lld; %s of %s has %lld elements", name, (long long)pitch,
                    order == LK_ROWS ? "a row" : "a column", name, (long long)along);
    int64_t whole = lines ? (lines - 1) * matrix->pitch + along : 0;
    if (stride == 0)
        matrix->stride = lines * matrix->pitch;
    else if (stride == LK_SAME)
        matrix->stride = 0;
    else if (stride < 0 || stride > most)
        return fail("%s_stride is %lld; it is a distance, 0 or LK_SAME", name, (long long)stride);
    else if (batch > 1 && stride < whole && name[0] == 'd')
        return fail("d_stride is %lld, and a matrix takes %lld elements: they would overlap",
                    (long long)stride, (long long)whole);
    return LK_OK;
}

/* False if no GPU has such a memory. */
static bool count_bytes(const struct matrix *matrix, int64_t batch, unsigned each, size_t *bytes)
{
    size_t last = 0, steps = 0, all = 0;
    *bytes = 0;
    if (matrix->along == 0 || matrix->lines == 0)
        return true;
    if (__builtin_mul_overflow((size_t)(matrix->lines - 1), (size_t)matrix->pitch, &last) ||
        __builtin_mul_overflow((size_t)(batch - 1), (size_t)matrix->stride, &steps) ||
        __builtin_add_overflow(last + (size_t)matrix->along, steps, &all) ||
        __builtin_mul_overflow(all, each, bytes))
        return false;
    return *bytes >> 48 == 0;
}

/* How many bytes each buffer has, and to what it is aligned. False if no GPU has such a memory. */
static bool measure(const lk_gemm_desc *desc, const struct matrix *matrix, int64_t batch,
                    struct product *product)
{
    unsigned each = type_bytes[desc->type], d_each = each, added = each;
    int64_t scales[4] = {0, 0, 0, 0};
    if (product->is_scaled) {
        d_each = type_bytes[desc->d_type];
        added = desc->d_type == LK_E4M3 ? type_bytes[LK_BF16] : d_each;
        scaled_count_scales(&product->scaled, scales);
        product->bytes[WORKSPACE] = scaled_workspace(&product->scaled);
    }
    const unsigned aligned[BUFFERS] = {each, each, added, added, 4, 4, 4, d_each, 4, 16};
    for (int i = 0; i < BUFFERS; i++)
        product->aligned[i] = aligned[i];
    for (int i = 0; i < 3; i++)
        product->bytes[A_SCALE + i] = (size_t)scales[i] * sizeof(float);
    product->bytes[SCALE_OUT] = (size_t)scales[3] * sizeof(float);
    product->bytes[BIAS] = (size_t)(desc->bias_for_rows ? desc->m : desc->n) * added;
    return count_bytes(&matrix[A], batch, each, &product->bytes[A]) &&
           count_bytes(&matrix[B], batch, each, &product->bytes[B]) &&
           count_bytes(&matrix[C], batch, added, &product->bytes[C]) &&
           count_bytes(&matrix[D], batch, d_each, &product->bytes[D]);
}

static lk_status read_desc(const lk_gemm_desc *desc, struct product *product)
{
    struct gemm_request *r = &product->request;
    struct matrix matrix[BUFFERS];
    *product = (struct product){0};
    if (!desc)
        return fail("desc is NULL; LK_GEMM_DESC makes one");
    product->is_scaled = scaled_is_type(desc->type);
    int64_t batch = desc->batch ? desc->batch : 1;
    int64_t d_columns = desc->activation == LK_SILU_GATE ? desc->n / 2 : desc->n;
    lk_status status = check_choices(desc);
    if (status != LK_OK || (status = check_size("m", desc->m)) != LK_OK ||
        (status = check_size("n", desc->n)) != LK_OK ||
        (status = check_size("k", desc->k)) != LK_OK ||
        (status = check_size("batch", batch)) != LK_OK ||
        (status = place_matrix("a", desc->a_order, desc->m, desc->k, desc->a_pitch, desc->a_stride,
                               batch, &matrix[A])) != LK_OK ||
        (status = place_matrix("b", desc->b_order, desc->k, desc->n, desc->b_pitch, desc->b_stride,
                               batch, &matrix[B])) != LK_OK ||
        (status = place_matrix("c", desc->d_order, desc->m, desc->n, desc->c_pitch, desc->c_stride,
                               batch, &matrix[C])) != LK_OK ||
        (status = place_matrix("d", desc->d_order, desc->m, d_columns, desc->d_pitch,
                               desc->d_stride, batch, &matrix[D])) != LK_OK)
        return status;
    if (desc->d_stride == LK_SAME && batch > 1)
        return fail("d_stride is LK_SAME: each product needs a matrix of its own");
    *r = (struct gemm_request){
        .number = product->is_scaled ? GEMM_NUMBER_F32
                  : desc->tf32       ? GEMM_NUMBER_TF32
                                     : numbers[desc->type],
        .m = desc->m,
        .n = desc->n,
        .k = desc->k,
        .batch = batch,
        .a_by_columns = desc->a_order == LK_COLUMNS,
        .b_by_columns = desc->b_order == LK_COLUMNS,
        .a_pitch = matrix[A].pitch,
        .b_pitch = matrix[B].pitch,
        .c_pitch = matrix[C].pitch,
        .d_pitch = matrix[D].pitch,
        .a_stride = matrix[A].stride,
        .b_stride = matrix[B].stride,
        .c_stride = matrix[C].stride,
        .d_stride = matrix[D].stride,
        .alpha = desc->alpha,
        .beta = desc->beta,
        .activation = (enum gemm_activation)desc->activation,
        .bias_down = desc->bias_for_rows != 0,
    };
    if (product->is_scaled)
        scaled_request_of(desc, r, &product->scaled);
    if (!measure(desc, matrix, batch, product))
        return fail("a matrix goes over the end of any GPU's memory");
    return LK_OK;
}

/* The buffers -----------------------------------------------------------------------------------*/

static bool overlap(const struct product *product, const void *const *buffer, int i, int j)
{
    uintptr_t a = (uintptr_t)buffer[i], b = (uintptr_t)buffer[j];
    return a && b && a < b + product->bytes[j] && b < a + product->bytes[i];
}

/* C may be D, if it lies as D does. */
static bool is_c_in_place(const struct product *product, const void *const *buffer)
{
    return buffer[C] == buffer[D] && product->bytes[C] == product->bytes[D] &&
           product->request.c_pitch == product->request.d_pitch &&
           product->request.c_stride == product->request.d_stride;
}

static lk_status check_overlaps(const struct product *product, const void *const *buffer)
{
    for (int i = 0; i < BUFFERS; i++)
        for (int j = D; j < BUFFERS; j++)
            if (i < j && overlap(product, buffer, i, j) &&
                !(i == C && j == D && is_c_in_place(product, buffer)))
                return fail("%s and %s overlap; give them memory of their own%s", buffer_names[i],
                            buffer_names[j], i == C && j == D ? ", or let them be the same" : "");
    return LK_OK;
}

static bool is_optional(int buffer, const lk_gemm_desc *desc)
{
    return buffer == C || buffer == BIAS || buffer == D_SCALE ||
           ((buffer == A_SCALE || buffer == B_SCALE) && desc->scaling != LK_SCALE_BLOCKS);
}

static lk_status check_buffers(const struct product *product, const void *const *buffer,
                               const struct api_context *context, const lk_gemm_desc *desc)
{
    if (product->bytes[WORKSPACE] > desc->workspace_bytes)
        return fail("workspace_bytes is %zu; lk_gemm_workspace asks for %zu", desc->workspace_bytes,
                    product->bytes[WORKSPACE]);
    for (int i = 0; i < BUFFERS; i++) {
        if (product->bytes[i] == 0 || (is_optional(i, desc) && !buffer[i]))
            continue;
        if (!buffer[i])
            return fail("%s is NULL; it must be device memory of %zu bytes", buffer_names[i],
                        product->bytes[i]);
        if ((uintptr_t)buffer[i] % product->aligned[i])
            return fail("%s (%p) is not aligned to %zu bytes, as its type must be", buffer_names[i],
                        buffer[i], product->aligned[i]);
        lk_status status = api_check_memory("gemm", context, buffer_names[i], (uintptr_t)buffer[i],
                                            product->bytes[i]);
        if (status != LK_OK)
            return status;
    }
    if (desc->beta != 0 && !buffer[C] && product->bytes[C])
        return fail("c is NULL, and beta is %g; set beta to 0 or give c", (double)desc->beta);
    return check_overlaps(product, buffer);
}

/* Plans -----------------------------------------------------------------------------------------*/

/* A description and its buffers, as numbers that can be compared at once. */
struct key {
    uint64_t number[30];
};

static uint64_t pair(unsigned high, unsigned low)
{
    return (uint64_t)high << 32 | low;
}

static unsigned bits_of(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static struct key key_of(const lk_gemm_desc *d, const void *const *buffer)
{
    return (struct key){{
        pair(d->type, d->activation),
        pair(d->a_order, d->b_order),
        pair(d->d_order, d->bias_for_rows != 0),
        pair(bits_of(d->alpha), bits_of(d->beta)),
        (uint64_t)d->m,
        (uint64_t)d->n,
        (uint64_t)d->k,
        (uint64_t)d->batch,
        (uint64_t)d->a_pitch,
        (uint64_t)d->b_pitch,
        (uint64_t)d->c_pitch,
        (uint64_t)d->d_pitch,
        (uint64_t)d->a_stride,
        (uint64_t)d->b_stride,
        (uint64_t)d->c_stride,
        (uint64_t)d->d_stride,
        (uintptr_t)buffer[A],
        (uintptr_t)buffer[B],
        (uintptr_t)buffer[C],
        (uintptr_t)buffer[BIAS],
        (uintptr_t)buffer[D],
        (uintptr_t)buffer[A_SCALE],
        (uintptr_t)buffer[B_SCALE],
        (uintptr_t)buffer[D_SCALE],
        pair(d->b_type, d->d_type),
        pair(d->scaling, d->fast_sums != 0),
        pair(d->d_scaling, d->tf32 != 0),
        (uintptr_t)buffer[SCALE_OUT],
        (uintptr_t)buffer[WORKSPACE],
    }};
}

/* What a thread has planned; the same product comes back again and again. */
enum { PLANS = 16 };
struct plan {
    bool is_scaled;
    union {
        struct gemm_plan fused;
        struct scaled_plan scaled;
    };
};
static _Thread_local struct remembered {
    struct key key;
    const struct api_context *context;
    unsigned long long context_id;
    struct plan plan;
} plans[PLANS];

static bool remembers(const struct remembered *r, const struct key *key,
                      const struct api_context *context)
{
    return r->context == context && r->context_id == context->id &&
           memcmp(&r->key, key, sizeof *key) == 0;
}

static unsigned slot_of(const struct key *key)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof key->number / sizeof *key->number; i++)
        hash = (hash ^ key->number[i]) * 0x9e3779b97f4a7c15ULL;
    return (unsigned)(hash >> 32) % PLANS;
}

static lk_status make_plan(struct product *product, const lk_gemm_desc *desc,
                           const void *const *buffer, struct api_context *context,
                           struct plan *plan)
{
    struct gemm_request *r = &product->request;
    const struct zoo_device *device = &context->device;
    plan->is_scaled = product->is_scaled;
    r->a = (uintptr_t)buffer[A];
    r->b = (uintptr_t)buffer[B];
    r->c = desc->beta != 0 ? (uintptr_t)buffer[C] : 0;
    r->d = (uintptr_t)buffer[D];
    r->bias = (uintptr_t)buffer[BIAS];
    if (product->is_scaled) {
        struct scaled_request *scaled = &product->scaled;
        scaled->product = *r;
        scaled->a_scale = (uintptr_t)buffer[A_SCALE];
        scaled->b_scale = (uintptr_t)buffer[B_SCALE];
        scaled->d_scale = (uintptr_t)buffer[D_SCALE];
        scaled->scale_out = (uintptr_t)buffer[SCALE_OUT];
        scaled->workspace = (uintptr_t)buffer[WORKSPACE];
        return scaled_make_plan(scaled, desc->d_order == LK_COLUMNS, device, &plan->scaled);
    }
    if (desc->d_order == LK_COLUMNS)
        gemm_request_turn(r);
    bool has_tma = device->arch == 90 && device->cuda->cuTensorMapEncodeTiled;
    enum gemm_kind kind = gemm_plan_kind_without_tma(r);
    bool found = has_tma && gemm_plan_find(&context->table, device, r, &kind, &r->choice);
    if (has_tma && !found)
        kind = gemm_plan_kind(r, device->sm_count);
    CUresult status = gemm_plan_make(r, kind, device->cuda, device->sm_count, &plan->fused);
    plan->fused.from_table = found;
    if (status != CUDA_SUCCESS)
        return api_driver_failed(device->cuda, status, "gemm", "describing a matrix to it");
    return LK_OK;
}

static CUresult launch(const struct plan *plan, struct api_context *context, void *stream,
                       struct zoo_call *call, lk_status *status, const struct zoo_kernels **kernels)
{
    *status = plan->is_scaled
                  ? api_variant("gemm", context, &zoo_gemm_scaled, plan->scaled.variant, kernels)
                  : api_variant("gemm", context, &zoo_gemm_fused, plan->fused.variant, kernels);
    if (*status != LK_OK)
        return CUDA_SUCCESS;
    *call = (struct zoo_call){.device = &context->device, .kernels = *kernels, .stream = stream};
    if (plan->is_scaled)
        return scaled_plan_launch(&plan->scaled, call);
    return ZOO_LAUNCH(call, plan->fused.kernel, plan->fused.grid, (void *)&plan->fused.arguments);
}

static lk_status check(const struct product *product, const lk_gemm_desc *desc,
                       const void *const *buffer, void *stream, struct api_context **context)
{
    lk_status status = api_current("gemm", context);
    if (status == LK_OK)
        status = check_buffers(product, buffer, *context, desc);
    if (status == LK_OK)
        status = api_check_stream("gemm", *context, stream);
    return status;
}

lk_status lk_gemm(void *stream, const lk_gemm_desc *desc, const void *a, const void *b,
                  const void *c, const void *bias, void *d)
{
    struct product product;
    struct api_context *context;
    const struct zoo_kernels *kernels = NULL;
    struct zoo_call call = {0};
    lk_status status = read_desc(desc, &product);
    if (status != LK_OK)
        return status;
    const void *buffer[BUFFERS] = {a,
                                   b,
                                   desc->beta != 0 ? c : NULL,
                                   bias,
                                   desc->a_scale,
                                   desc->b_scale,
                                   desc->d_scale,
                                   d,
                                   desc->d_scale_out,
                                   product.bytes[WORKSPACE] ? desc->workspace : NULL};
    status = check(&product, desc, buffer, stream, &context);
    if (status != LK_OK || product.bytes[D] == 0)
        return status;
    struct key key = key_of(desc, buffer);
    struct remembered *slot = &plans[slot_of(&key)];
    if (!remembers(slot, &key, context)) {
        slot->context = NULL;
        status = make_plan(&product, desc, buffer, context, &slot->plan);
        if (status != LK_OK)
            return status;
        slot->key = key;
        slot->context = context;
        slot->context_id = context->id;
    }
    CUresult result = launch(&slot->plan, context, stream, &call, &status, &kernels);
    if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_CONTEXT) {
        /* A stream or buffer that is no more; else the program has reset its context. */
        api_ask_again();
        status = check(&product, desc, buffer, stream, &context);
        if (status != LK_OK)
            return status;
        api_forget(context, kernels);
        result = launch(&slot->plan, context, stream, &call, &status, &kernels);
    }
    if (status != LK_OK || result == CUDA_SUCCESS)
        return status;
    return api_driver_failed(context->device.cuda, result, "gemm",
                             call.error ? call.error : "launching");
}

lk_status lk_gemm_workspace(const lk_gemm_desc *desc, size_t *bytes)
{
    struct product product;
    if (!bytes)
        return fail("bytes is NULL");
    lk_status status = read_desc(desc, &product);
    *bytes = status == LK_OK ? product.bytes[WORKSPACE] : 0;
    return status;
}

static const char *why(const struct plan *plan)
{
    static const char *const reasons[] = {
        [GEMM_TILES] = "enough tiles for every SM",
        [GEMM_SKINNY] = "few rows or a small product: 64 columns a warpgroup, blocks share k",
        [GEMM_MMA_SYNC] = "in TF32 wgmma takes a by rows, at multiples of 16 bytes, on a Hopper "
                          "GPU; this one takes any",
        [GEMM_GENERAL] =
            "TMA cannot fetch it (f32, rows that do not begin at multiples of 16 bytes, "
            "k = 0, or no Hopper GPU): right, not fast"};
    if (!plan->is_scaled)
        return plan->fused.from_table ? "the fastest for this shape in a table of 'lockstep tune'"
                                      : reasons[plan->fused.kind];
    if (plan->scaled.kind == SCALED_TILES)
        return "a by rows and b by columns, at multiples of 16 bytes";
    if (plan->scaled.kind == SCALED_SKINNY)
        return "few rows: 64 columns a warpgroup, blocks share k";
    return "TMA and wgmma take 8 bits with a by rows and b by columns at multiples of 16 bytes, k "
           "above 0 and on a Hopper GPU; this one takes any, at a third of their speed or less";
}

lk_status lk_gemm_explain(const lk_gemm_desc *desc, char *text, size_t size)
{
    static const enum zoo_type types[] = {
        [LK_BF16] = ZOO_BF16, [LK_F16] = ZOO_F16,   [LK_F32] = ZOO_F32,
        [LK_E4M3] = ZOO_E4M3, [LK_E5M2] = ZOO_E5M2, [LK_S8] = ZOO_S8};
    struct product product;
    struct api_context *context;
    struct plan plan;
    if (!text || size == 0)
        return fail("text is NULL or has no room");
    *text = 0;
    lk_status status = read_desc(desc, &product);
    if (status == LK_OK)
        status = api_current("gemm", &context);
    if (status != LK_OK)
        return status;
    /* Addresses that are not NULL and aligned: c and bias as the description may need them. */
    const void *const somewhere = (const void *)(uintptr_t)4096;
    const void *buffer[BUFFERS] = {
        [A] = somewhere,           [B] = somewhere,           [C] = somewhere,
        [A_SCALE] = desc->a_scale, [B_SCALE] = desc->b_scale, [D_SCALE] = desc->d_scale,
        [D] = somewhere,           [WORKSPACE] = somewhere};
    status = make_plan(&product, desc, buffer, context, &plan);
    if (status != LK_OK)
        return status;
    const struct zoo_grid *grid = plan.is_scaled ? &plan.scaled.grid : &plan.fused.grid;
    snprintf(text, size,
             "lk_gemm(%s, m=%lld, n=%lld, k=%lld, batch=%lld) on %s%s: %s/%s, kernel %s, %u x "
             "%u x %u blocks of %u threads%s\n  why: %s\n",
             zoo_type_names[types[desc->type]], (long long)desc->m, (long long)desc->n,
             (long long)desc->k, (long long)product.request.batch, context->device.name,
             context->device.cuda->simulated ? " (simulated)" : "",
             plan.is_scaled ? "gemm_scaled" : "gemm_fused",
             plan.is_scaled ? plan.scaled.variant : plan.fused.variant,
             plan.is_scaled ? plan.scaled.kernel : plan.fused.kernel, grid->x,
             grid->y ? grid->y : 1, grid->z ? grid->z : 1, grid->threads,
             grid->cluster > 1 ? ", in clusters" : "", why(&plan));
    return LK_OK;
}
