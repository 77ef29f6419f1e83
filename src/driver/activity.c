/*
 * activity.c: see activity.h.
 */
#include "driver/listened.h"

#include <time.h>

#define EXPORT __attribute__((visibility("default")))

static const struct lk_activity_listener *_Atomic listener;
static _Atomic uint32_t correlations;

EXPORT void lk_driver_listen(const struct lk_activity_listener *given)
{
    listener = given;
}

bool drv_is_listened(void)
{
    return listener != NULL;
}

static const char *symbol_of(CUcontext context, CUfunction handle)
{
    CUfunction function;
    drv_enter_lock();
    CUresult status = drv_function_find(context, handle, &function);
    drv_leave_lock();
    return status == CUDA_SUCCESS ? function->info->name : NULL;
}

/* A call inside another one of the driver's is a part of it. */
static bool begins(struct lk_activity_call *call, const char *name, const char *symbol,
                   const void *params)
{
    const struct lk_activity_listener *heard = listener;
    *call = (struct lk_activity_call){0};
    if (!heard || drv_thread.correlation)
        return false;
    uint32_t number = ++correlations;
    *call = (struct lk_activity_call){.name = name,
                                      .per_thread = drv_thread.per_thread_default > 0,
                                      .symbol = symbol,
                                      .params = params,
                                      .context = drv_context_top(),
                                      .correlation = number ? number : ++correlations};
    heard->begins(call);
    drv_thread.correlation = call->correlation;
    return true;
}

void drv_call_begins(struct lk_activity_call *call, const char *name, const void *params)
{
    begins(call, name, NULL, params);
}

void drv_launch_begins(struct lk_activity_call *call, const char *name, CUfunction handle,
                       const void *params)
{
    CUcontext context = drv_is_listened() ? drv_context_top() : NULL;
    begins(call, name, context ? symbol_of(context, handle) : NULL, params);
}

void drv_library_begins(struct lk_activity_call *call, const char *name)
{
    begins(call, "cuLaunchKernel", name, NULL);
}

CUresult drv_call_ends(struct lk_activity_call *call, CUresult status)
{
    if (!call->correlation)
        return status;
    drv_thread.correlation = 0;
    call->status = status;
    const struct lk_activity_listener *heard = listener;
    if (heard)
        heard->ends(call);
    return status;
}

void drv_activity_asked(struct drv_op *op)
{
    const struct lk_activity_listener *heard = listener;
    if (!heard)
        return;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    op->asked_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    op->correlation = drv_thread.correlation ? drv_thread.correlation : ++correlations;
    heard->asked(op->correlation);
}

static bool describe(const struct drv_work *work, struct lk_activity *activity)
{
    const struct drv_kernel_work *kernel = &work->kernel;
    switch (work->kind) {
    case DRV_WORK_KERNEL:
        activity->kind = LK_ACTIVITY_KERNEL;
        activity->name = kernel->function->info->name;
        for (int i = 0; i < 3; i++) {
            activity->grid[i] = kernel->grid[i];
            activity->block[i] = kernel->block[i];
            activity->cluster[i] = kernel->cluster[i];
        }
        activity->shared = kernel->shared;
        activity->static_shared = kernel->function->info->static_shared;
        activity->registers = kernel->function->info->registers;
        activity->local = kernel->function->info->local_bytes;
        return true;
    case DRV_WORK_LIBRARY:
        if (work->library.unit == LK_UNIT_TO_DEVICE || work->library.unit == LK_UNIT_FROM_DEVICE) {
            activity->kind = LK_ACTIVITY_COPY;
            activity->bytes = (uint64_t)work->library.bytes;
            activity->to_device = work->library.unit == LK_UNIT_TO_DEVICE;
            activity->from_device = !activity->to_device;
            return true;
        }
        activity->kind = LK_ACTIVITY_KERNEL;
        activity->name = work->library.name;
        for (int i = 0; i < 3; i++)
            activity->grid[i] = activity->block[i] = 1;
        return true;
    case DRV_WORK_COPY:
        activity->kind = LK_ACTIVITY_COPY;
        activity->bytes = work->copy.width * work->copy.height * work->copy.depth;
        activity->from_device = work->copy.from_device;
        activity->to_device = work->copy.to_device;
        return true;
    case DRV_WORK_FILL:
        activity->kind = LK_ACTIVITY_FILL;
        activity->bytes = work->fill.width * work->fill.element * work->fill.height;
        return true;
    default:
        return false;
    }
}

void drv_activity_ran(const struct drv_op *op, const struct drv_work *work, double end)
{
    const struct lk_activity_listener *heard = listener;
    struct lk_activity activity = {0};
    if (!heard || !op->correlation || !describe(work, &activity))
        return;
    double seconds = end - drv_thread.began;
    activity.device = op->stream->context->device->ordinal;
    activity.context = op->stream->context;
    activity.stream = (uint32_t)op->stream->id;
    activity.correlation = op->correlation;
    activity.asked = op->asked_ns;
    activity.duration = seconds > 0 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
    if (op->work.kind == DRV_WORK_GRAPH) {
        activity.exec = op->work.graph.exec;
        activity.node = work;
    }
    heard->ran(&activity);
}
