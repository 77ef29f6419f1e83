/*
 * lk_adamw.c: the public calls lk_adamw_table, lk_adamw, lk_global_norm and lk_clip_gradients. The
 * table has addresses; it is checked where it is made, on the host, once for many steps.
 */
#include "adamw.h"

#include "../../global_norm/host/global_norm.h"
#include "zoo/api.h"
#include "zoo/tensors.h"

#include <math.h>
#include <stdio.h>

enum { BLOCKS_PER_SM = 8 }; /* of global_norm's kernels: their sums fit the workspace */
static const char adamw_name[] = "adamw", norm_name[] = "global_norm";

/* Descriptions ----------------------------------------------------------------------------------*/

static lk_status check_mode(const char *call, const lk_adamw_desc *desc)
{
    if (!desc)
        return api_fail(LK_BAD_ARGUMENT, call, "desc is NULL; LK_ADAMW_DESC makes one");
    if ((unsigned)desc->mode > LK_ADAMW_STOCHASTIC)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "mode is %d; it is LK_ADAMW_F32, LK_ADAMW_MASTER or LK_ADAMW_STOCHASTIC",
                        (int)desc->mode);
    return api_check_size(call, &zoo_adamw, ADAM_TENSORS, desc->tensors);
}

static lk_status check_units(const char *call, const lk_adamw_desc *desc)
{
    lk_status status = check_mode(call, desc);
    if (status != LK_OK)
        return status;
    if (desc->units < 1 || desc->units > INT32_MAX)
        return api_fail(LK_BAD_ARGUMENT, call, "units is %lld; lk_adamw_table sets it",
                        (long long)desc->units);
    return LK_OK;
}

static lk_status check_rates(const lk_adamw_desc *d)
{
    if (!(d->rate >= 0) || !isfinite(d->rate) || !(d->decay >= 0) || !isfinite(d->decay))
        return api_fail(LK_BAD_ARGUMENT, adamw_name,
                        "rate is %g and decay %g; they are finite and not below 0", d->rate,
                        d->decay);
    if (!(d->beta1 >= 0 && d->beta1 < 1 && d->beta2 >= 0 && d->beta2 < 1))
        return api_fail(LK_BAD_ARGUMENT, adamw_name,
                        "beta1 is %g and beta2 %g; they are at least 0 and below 1", d->beta1,
                        d->beta2);
    if (!(d->epsilon >= 0) || !isfinite(d->epsilon))
        return api_fail(LK_BAD_ARGUMENT, adamw_name, "epsilon is %g; it is finite and not below 0",
                        d->epsilon);
    if (d->step < 1)
        return api_fail(LK_BAD_ARGUMENT, adamw_name, "step is %lld; the first one is 1",
                        (long long)d->step);
    return LK_OK;
}

/* The table -------------------------------------------------------------------------------------*/

static lk_status check_tensor(struct api_context *context, const lk_adamw_desc *desc, int64_t t,
                              const lk_tensor *tensor)
{
    size_t narrow = desc->mode == LK_ADAMW_F32 ? 4 : 2, count = (size_t)tensor->count;
    bool master = desc->mode == LK_ADAMW_MASTER;
    const struct {
        const char *name;
        const void *at;
        size_t each;
    } arrays[] = {{"param", tensor->param, narrow},
                  {"grad", tensor->grad, narrow},
                  {"mean", tensor->mean, 4},
                  {"square", tensor->square, 4},
                  {"master", tensor->master, 4}};
    if (tensor->count < 0 || tensor->count >> 38)
        return api_fail(LK_BAD_ARGUMENT, "adamw_table",
                        "tensors[%lld].count is %lld; it goes from 0 to 2^38", (long long)t,
                        (long long)tensor->count);
    if (!master && tensor->master)
        return api_fail(LK_BAD_ARGUMENT, "adamw_table",
                        "tensors[%lld].master is given, and mode is not LK_ADAMW_MASTER: pass NULL",
                        (long long)t);
    for (unsigned i = 0; i < (master ? 5 : 4) && count > 0; i++) {
        char name[64];
        snprintf(name, sizeof name, "tensors[%lld].%s", (long long)t, arrays[i].name);
        if (!arrays[i].at || (uintptr_t)arrays[i].at % arrays[i].each)
            return api_fail(LK_BAD_ARGUMENT, "adamw_table",
                            "%s (%p) is NULL or not aligned to %zu bytes", name, arrays[i].at,
                            arrays[i].each);
        lk_status status = api_check_memory("adamw_table", context, name, (uintptr_t)arrays[i].at,
                                            count * arrays[i].each);
        if (status != LK_OK)
            return status;
    }
    return LK_OK;
}

lk_status lk_adamw_table(lk_adamw_desc *desc, const lk_tensor *tensors, void *table)
{
    struct api_context *context;
    struct zoo_tensor *row = table;
    lk_status status = check_mode("adamw_table", desc);
    if (status != LK_OK)
        return status;
    if (!tensors || !table)
        return api_fail(LK_BAD_ARGUMENT, "adamw_table",
                        "%s is NULL; it is memory of the host, for %lld tensors",
                        tensors ? "table" : "tensors", (long long)desc->tensors);
    if ((status = api_current("adamw_table", &context)) != LK_OK)
        return status;
    int64_t units = 0;
    for (int64_t t = 0; t < desc->tensors; t++) {
        const lk_tensor *x = &tensors[t];
        if ((status = check_tensor(context, desc, t, x)) != LK_OK)
            return status;
        row[t] = (struct zoo_tensor){.param = (int64_t)(uintptr_t)x->param,
                                     .grad = (int64_t)(uintptr_t)x->grad,
                                     .mean = (int64_t)(uintptr_t)x->mean,
                                     .square = (int64_t)(uintptr_t)x->square,
                                     .master = (int64_t)(uintptr_t)x->master,
                                     .count = x->count,
                                     .first = units};
        units += zoo_units(x->count);
    }
    if (units > INT32_MAX)
        return api_fail(LK_BAD_ARGUMENT, "adamw_table",
                        "the tensors have more than 2^42 elements; make two tables");
    /* 0 would say that this has not been called. The unit of tensors without elements is empty,
     * too. */
    desc->units = units > 0 ? units : 1;
    return LK_OK;
}

/* Launches --------------------------------------------------------------------------------------*/

/* A call, once its description is known to be right. */
struct work {
    const char *name, *variant;
    const struct zoo_family *family;
    CUresult (*run)(struct zoo_call *call, const struct work *work);
    struct adamw_launch step;
    struct norm_launch norm;
};

static CUresult run_step(struct zoo_call *call, const struct work *work)
{
    return adamw_run(call, &work->step);
}
static CUresult run_norm(struct zoo_call *call, const struct work *work)
{
    int64_t most = (int64_t)call->device->sm_count * BLOCKS_PER_SM;
    int64_t blocks = work->norm.units < most ? work->norm.units : most;
    return global_norm_run(call, &work->norm, (unsigned)blocks);
}
static CUresult run_clip(struct zoo_call *call, const struct work *work)
{
    return global_norm_clip(call, &work->norm);
}

static lk_status launch(const struct work *work, struct api_context *context, void *stream)
{
    const struct zoo_kernels *kernels;
    for (int attempt = 0;; attempt++) {
        lk_status status = api_variant(work->name, context, work->family, work->variant, &kernels);
        if (status != LK_OK)
            return status;
        struct zoo_call call = {.device = &context->device, .kernels = kernels, .stream = stream};
        CUresult result = work->run(&call, work);
        if (result == CUDA_SUCCESS)
            return LK_OK;
        if (attempt > 0 ||
            (result != CUDA_ERROR_INVALID_HANDLE && result != CUDA_ERROR_INVALID_CONTEXT))
            return api_driver_failed(context->device.cuda, result, work->name,
                                     call.error ? call.error : "launching");
        api_ask_again(); /* perhaps the program has reset its context */
        if ((status = api_current(work->name, &context)) != LK_OK ||
            (status = api_check_stream(work->name, context, stream)) != LK_OK)
            return status;
        api_forget(context, kernels);
    }
}

/* A buffer of the call itself. */
static lk_status check_buffer(const char *call, struct api_context *context, const char *name,
                              const void *at, size_t bytes, size_t align)
{
    if (!at || (uintptr_t)at % align)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "%s (%p) is NULL or not aligned to %zu bytes; it is device memory", name,
                        at, align);
    return api_check_memory(call, context, name, (uintptr_t)at, bytes);
}

static lk_status begin(const char *call, const lk_adamw_desc *desc, const void *table, void *stream,
                       struct api_context **context)
{
    lk_status status = check_units(call, desc);
    if (status != LK_OK || (status = api_current(call, context)) != LK_OK ||
        (status = check_buffer(call, *context, "table", table,
                               (size_t)desc->tensors * LK_TENSOR_BYTES, 8)) != LK_OK)
        return status;
    return api_check_stream(call, *context, stream);
}

/* The calls -------------------------------------------------------------------------------------*/

lk_status lk_adamw(void *stream, const lk_adamw_desc *desc, const void *table)
{
    struct api_context *context;
    lk_status status = begin(adamw_name, desc, table, stream, &context);
    if (status != LK_OK || (status = check_rates(desc)) != LK_OK ||
        (desc->grad_scale && (status = check_buffer(adamw_name, context, "grad_scale",
                                                    desc->grad_scale, 4, 4)) != LK_OK))
        return status;
    struct adamw_rates rates = {desc->rate,    desc->beta1, desc->beta2,
                                desc->epsilon, desc->decay, desc->step};
    struct work work = {.name = adamw_name,
                        .variant = "vectorised",
                        .family = &zoo_adamw,
                        .run = run_step,
                        .step = {.table = (uintptr_t)table,
                                 .scale = (uintptr_t)desc->grad_scale,
                                 .tensors = (int)desc->tensors,
                                 .mode = (int)desc->mode,
                                 .blocks = (unsigned)desc->units,
                                 .numbers = adamw_numbers_of(&rates),
                                 .seed = (int64_t)desc->seed,
                                 .offset = desc->step}};
    return launch(&work, context, stream);
}

static struct work work_of_norm(const lk_adamw_desc *desc, const void *table, const float *norm)
{
    return (struct work){.name = norm_name,
                         .variant = desc->tensors > 1 ? "neighbours" : "two_stage",
                         .family = &zoo_global_norm,
                         .run = run_norm,
                         .norm = {.table = (uintptr_t)table,
                                  .norm = (uintptr_t)norm,
                                  .tensors = (int)desc->tensors,
                                  .type = desc->mode == LK_ADAMW_F32 ? NORM_F32 : NORM_BF16,
                                  .units = desc->units}};
}

lk_status lk_global_norm_workspace(const lk_adamw_desc *desc, size_t *bytes)
{
    struct api_context *context;
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, "global_norm_workspace", "bytes is NULL");
    *bytes = 0;
    lk_status status = check_units("global_norm_workspace", desc);
    if (status == LK_OK && (status = api_current("global_norm_workspace", &context)) == LK_OK)
        *bytes = global_norm_workspace(&context->device, desc->units, BLOCKS_PER_SM);
    return status;
}

lk_status lk_global_norm(void *stream, const lk_adamw_desc *desc, const void *table, float most,
                         float *norm, void *workspace, size_t workspace_bytes)
{
    struct api_context *context;
    lk_status status = begin(norm_name, desc, table, stream, &context);
    if (status != LK_OK || (status = check_buffer(norm_name, context, "norm", norm, 8, 4)) != LK_OK)
        return status;
    if (!(most >= 0))
        return api_fail(LK_BAD_ARGUMENT, norm_name, "most is %g; it is not below 0", (double)most);
    size_t needed = global_norm_workspace(&context->device, desc->units, BLOCKS_PER_SM);
    if (workspace_bytes < needed)
        return api_fail(LK_SMALL_WORKSPACE, norm_name,
                        "workspace_bytes is %zu, and %zu are needed; lk_global_norm_workspace says "
                        "how many",
                        workspace_bytes, needed);
    if ((status = check_buffer(norm_name, context, "workspace", workspace, needed, 8)) != LK_OK)
        return status;
    const char *at = workspace, *rows = table, *of_norm = (const char *)norm;
    if ((at < of_norm + 8 && of_norm < at + needed) ||
        (at < rows + desc->tensors * LK_TENSOR_BYTES && rows < at + needed))
        return api_fail(LK_BAD_ARGUMENT, norm_name,
                        "workspace overlaps norm or table; give them memory of their own");
    struct work work = work_of_norm(desc, table, norm);
    work.norm.most = most;
    work.norm.workspace = (uintptr_t)workspace;
    return launch(&work, context, stream);
}

lk_status lk_clip_gradients(void *stream, const lk_adamw_desc *desc, const void *table,
                            const float *norm)
{
    struct api_context *context;
    const char *name = "clip_gradients";
    lk_status status = begin(name, desc, table, stream, &context);
    if (status != LK_OK || (status = check_buffer(name, context, "norm", norm, 8, 4)) != LK_OK)
        return status;
    struct work work = work_of_norm(desc, table, norm);
    work.name = name;
    work.run = run_clip;
    return launch(&work, context, stream);
}

lk_status lk_adamw_explain(const lk_adamw_desc *desc, char *text, size_t size)
{
    static const char *const modes[] = {"f32", "bf16 beside a master copy in f32",
                                        "bf16, rounded at random"};
    struct api_context *context;
    if (!text || size == 0)
        return api_fail(LK_BAD_ARGUMENT, "adamw_explain", "text is NULL or has no room");
    *text = 0;
    lk_status status = check_units("adamw_explain", desc);
    if (status != LK_OK || (status = api_current("adamw_explain", &context)) != LK_OK)
        return status;
    snprintf(text, size,
             "lk_adamw(%lld tensors, %lld units of %d elements, %s) on %s%s: adamw/vectorised\n"
             "  what: one launch for all tensors; the same bits in every run; no workspace\n"
             "  why: tensors at multiples of 16 bytes are done four elements at a time, others one "
             "by one\n",
             (long long)desc->tensors, (long long)desc->units, ZOO_UNIT, modes[desc->mode],
             context->device.name, context->device.cuda->simulated ? " (simulated)" : "");
    return LK_OK;
}
