/*
 * lk_gemm.c: the public call lk_gemm: checks a description, plans the product once and launches it.
 * A thread remembers its last plans: maps of tensors are made when a product is first asked for.
 */
#include "plan.h"

#include "base/text.h"
#include "zoo/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { A, B, C, BIAS, D, BUFFERS };
static const char *const buffer_names[BUFFERS] = {"a", "b", "c", "bias", "d"};
static const unsigned type_bytes[] = {[LK_BF16] = 2, [LK_F16] = 2, [LK_F32] = 4};
static const enum gemm_number numbers[] = {
    [LK_BF16] = GEMM_NUMBER_BF16, [LK_F16] = GEMM_NUMBER_F16, [LK_F32] = GEMM_NUMBER_F32};
static const int64_t most_size = (int64_t)1 << 24;

/* A matrix of the call, as its lines lie in memory. */
struct matrix {
    int64_t along, lines, pitch, stride;
};

struct product {
    struct gemm_request request;
    size_t bytes[BUFFERS];
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
    if ((unsigned)desc->type > LK_F32)
        return fail("type is %d; it is LK_BF16, LK_F16 or LK_F32", (int)desc->type);
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
    return LK_OK;
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

/* D by columns is D transposed by rows: the product of B and A, transposed. */
static void turn(struct gemm_request *r)
{
    struct gemm_request t = *r;
    r->m = t.n;
    r->n = t.m;
    r->a = t.b;
    r->b = t.a;
    r->a_pitch = t.b_pitch;
    r->b_pitch = t.a_pitch;
    r->a_stride = t.b_stride;
    r->b_stride = t.a_stride;
    r->a_by_columns = !t.b_by_columns;
    r->b_by_columns = !t.a_by_columns;
    r->bias_down = !t.bias_down;
}

static lk_status read_desc(const lk_gemm_desc *desc, struct product *product)
{
    struct gemm_request *r = &product->request;
    struct matrix a, b, c, d;
    if (!desc)
        return fail("desc is NULL; LK_GEMM_DESC makes one");
    int64_t batch = desc->batch ? desc->batch : 1;
    int64_t d_columns = desc->activation == LK_SILU_GATE ? desc->n / 2 : desc->n;
    lk_status status = check_choices(desc);
    if (status != LK_OK || (status = check_size("m", desc->m)) != LK_OK ||
        (status = check_size("n", desc->n)) != LK_OK ||
        (status = check_size("k", desc->k)) != LK_OK ||
        (status = check_size("batch", batch)) != LK_OK ||
        (status = place_matrix("a", desc->a_order, desc->m, desc->k, desc->a_pitch, desc->a_stride,
                               batch, &a)) != LK_OK ||
        (status = place_matrix("b", desc->b_order, desc->k, desc->n, desc->b_pitch, desc->b_stride,
                               batch, &b)) != LK_OK ||
        (status = place_matrix("c", desc->d_order, desc->m, desc->n, desc->c_pitch, desc->c_stride,
                               batch, &c)) != LK_OK ||
        (status = place_matrix("d", desc->d_order, desc->m, d_columns, desc->d_pitch,
                               desc->d_stride, batch, &d)) != LK_OK)
        return status;
    if (desc->d_stride == LK_SAME && batch > 1)
        return fail("d_stride is LK_SAME: each product needs a matrix of its own");
    unsigned each = type_bytes[desc->type];
    product->bytes[BIAS] = (size_t)(desc->bias_for_rows ? desc->m : desc->n) * each;
    if (!count_bytes(&a, batch, each, &product->bytes[A]) ||
        !count_bytes(&b, batch, each, &product->bytes[B]) ||
        !count_bytes(&c, batch, each, &product->bytes[C]) ||
        !count_bytes(&d, batch, each, &product->bytes[D]))
        return fail("a matrix goes over the end of any GPU's memory");
    *r = (struct gemm_request){
        .number = numbers[desc->type],
        .m = desc->m,
        .n = desc->n,
        .k = desc->k,
        .batch = batch,
        .a_by_columns = desc->a_order == LK_COLUMNS,
        .b_by_columns = desc->b_order == LK_COLUMNS,
        .a_pitch = a.pitch,
        .b_pitch = b.pitch,
        .c_pitch = c.pitch,
        .d_pitch = d.pitch,
        .a_stride = a.stride,
        .b_stride = b.stride,
        .c_stride = c.stride,
        .d_stride = d.stride,
        .alpha = desc->alpha,
        .beta = desc->beta,
        .activation = (enum gemm_activation)desc->activation,
        .bias_down = desc->bias_for_rows != 0,
    };
    return LK_OK;
}

/* The buffers -----------------------------------------------------------------------------------*/

static bool overlap(const struct product *product, const void *const *buffer, int i, int j)
{
    uintptr_t a = (uintptr_t)buffer[i], b = (uintptr_t)buffer[j];
    return a && b && a < b + product->bytes[j] && b < a + product->bytes[i];
}

static lk_status check_buffers(const struct product *product, const void *const *buffer,
                               const struct api_context *context, const lk_gemm_desc *desc)
{
    unsigned each = type_bytes[desc->type];
    for (int i = 0; i < BUFFERS; i++) {
        bool optional = i == C || i == BIAS;
        if (product->bytes[i] == 0 || (optional && !buffer[i]))
            continue;
        if (!buffer[i])
            return fail("%s is NULL; it must be device memory of %zu bytes", buffer_names[i],
                        product->bytes[i]);
        if ((uintptr_t)buffer[i] % each)
            return fail("%s (%p) is not aligned to %u bytes, as its type must be", buffer_names[i],
                        buffer[i], each);
        lk_status status = api_check_memory("gemm", context, buffer_names[i], (uintptr_t)buffer[i],
                                            product->bytes[i]);
        if (status != LK_OK)
            return status;
        if (i != D && overlap(product, buffer, i, D)) {
            bool same = i == C && buffer[C] == buffer[D] &&
                        product->bytes[C] == product->bytes[D] &&
                        product->request.c_pitch == product->request.d_pitch &&
                        product->request.c_stride == product->request.d_stride;
            if (!same)
                return fail("%s and d overlap; give them memory of their own%s", buffer_names[i],
                            i == C ? ", or let them be the same" : "");
        }
    }
    if (desc->beta != 0 && !buffer[C] && product->bytes[C])
        return fail("c is NULL, and beta is %g; set beta to 0 or give c", (double)desc->beta);
    return LK_OK;
}

/* Plans -----------------------------------------------------------------------------------------*/

/* A description and its buffers, as numbers that can be compared at once. */
struct key {
    uint64_t number[22];
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
    }};
}

/* What a thread has planned; the same product comes back again and again. */
enum { PLANS = 16 };
static _Thread_local struct remembered {
    struct key key;
    const struct api_context *context;
    unsigned long long context_id;
    struct gemm_plan plan;
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
                           struct gemm_plan *plan)
{
    struct gemm_request *r = &product->request;
    const struct zoo_device *device = &context->device;
    r->a = (uintptr_t)buffer[A];
    r->b = (uintptr_t)buffer[B];
    r->c = desc->beta != 0 ? (uintptr_t)buffer[C] : 0;
    r->d = (uintptr_t)buffer[D];
    r->bias = (uintptr_t)buffer[BIAS];
    if (desc->d_order == LK_COLUMNS)
        turn(r);
    bool has_tma = device->arch == 90 && device->cuda->cuTensorMapEncodeTiled;
    enum gemm_kind kind = GEMM_GENERAL;
    bool found = has_tma && gemm_plan_find(&context->table, device, r, &kind, &r->choice);
    if (has_tma && !found)
        kind = gemm_plan_kind(r, device->sm_count);
    CUresult status = gemm_plan_make(r, kind, device->cuda, device->sm_count, plan);
    plan->from_table = found;
    if (status != CUDA_SUCCESS)
        return api_driver_failed(device->cuda, status, "gemm", "describing a matrix to it");
    return LK_OK;
}

static CUresult launch(const struct gemm_plan *plan, struct api_context *context, void *stream,
                       struct zoo_call *call, lk_status *status, const struct zoo_kernels **kernels)
{
    *status = api_variant("gemm", context, &zoo_gemm_fused, plan->variant, kernels);
    if (*status != LK_OK)
        return CUDA_SUCCESS;
    *call = (struct zoo_call){.device = &context->device, .kernels = *kernels, .stream = stream};
    return ZOO_LAUNCH(call, plan->kernel, plan->grid, (void *)&plan->arguments);
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
    const void *buffer[BUFFERS] = {a, b, desc->beta != 0 ? c : NULL, bias, d};
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

lk_status lk_gemm_explain(const lk_gemm_desc *desc, char *text, size_t size)
{
    struct product product;
    struct api_context *context;
    struct gemm_plan plan;
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
    const void *buffer[BUFFERS] = {somewhere, somewhere, somewhere, NULL, somewhere};
    status = make_plan(&product, desc, buffer, context, &plan);
    if (status != LK_OK)
        return status;
    static const char *const why[] = {
        [GEMM_TILES] = "enough tiles for every SM",
        [GEMM_SKINNY] = "few rows or a small product: 64 columns a warpgroup, blocks share k",
        [GEMM_GENERAL] =
            "TMA cannot fetch it (f32, rows that do not begin at multiples of 16 bytes, "
            "k = 0, or no Hopper GPU): right, not fast"};
    snprintf(
        text, size,
        "lk_gemm(%s, m=%lld, n=%lld, k=%lld, batch=%lld) on %s%s: gemm_fused/%s, kernel %s, %u x "
        "%u x %u blocks of %u threads%s\n  why: %s\n",
        zoo_type_names[desc->type == LK_BF16  ? ZOO_BF16
                       : desc->type == LK_F16 ? ZOO_F16
                                              : ZOO_F32],
        (long long)desc->m, (long long)desc->n, (long long)desc->k,
        (long long)product.request.batch, context->device.name,
        context->device.cuda->simulated ? " (simulated)" : "", plan.variant, plan.kernel,
        plan.grid.x, plan.grid.y ? plan.grid.y : 1, plan.grid.z ? plan.grid.z : 1,
        plan.grid.threads, plan.grid.cluster > 1 ? ", in clusters" : "",
        plan.from_table ? "the fastest for this shape in a table of 'lockstep tune'"
                        : why[plan.kind]);
    return LK_OK;
}
