/*
 * library_call.c: work of the drop-in libraries in a stream; see library_call.h.
 */
#include "driver/library_call.h"
#include "base/arena.h"
#include "driver/engine.h"
#include "driver/listened.h"
#include "driver/virtual.h"
#include "simt/core.h"
#include "simt/memory_events.h"
#include "simt/tensor_product.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* What good libraries reach of a peak, and what a kernel costs at least, in seconds. */
#define EFFICIENCY 0.8
#define KERNEL_SECONDS 2.5e-6

static void nothing(void *data)
{
    (void)data;
}

static double peak_of(const struct gpu_info *gpu, enum lk_library_unit unit)
{
    const double peaks[] = {
        [LK_UNIT_F32] = gpu->f32_tflops,         [LK_UNIT_F64] = gpu->f64_tflops,
        [LK_UNIT_TENSOR_F64] = gpu->tensor_f64,  [LK_UNIT_TENSOR_TF32] = gpu->tensor_tf32,
        [LK_UNIT_TENSOR_F16] = gpu->tensor_f16,  [LK_UNIT_TENSOR_F8] = gpu->tensor_f8,
        [LK_UNIT_TENSOR_INT8] = gpu->tensor_int8};
    double peak = peaks[unit] > 0 ? peaks[unit] : gpu->f32_tflops;
    return peak * 1e12;
}

/* The roofline: as long as the slower of arithmetic and memory takes. */
static void model(CUcontext context, const struct drv_library_work *library, double *clock)
{
    const struct gpu_info *gpu = context->device->gpu;
    if (library->unit == LK_UNIT_TO_DEVICE || library->unit == LK_UNIT_FROM_DEVICE) {
        drv_model_link(context, library->unit == LK_UNIT_TO_DEVICE, library->bytes, clock);
        return;
    }
    double compute = library->operations / (EFFICIENCY * peak_of(gpu, library->unit));
    double memory = library->bytes / (EFFICIENCY * gpu->memory_gb_s * 1e9);
    double seconds = KERNEL_SECONDS + (compute > memory ? compute : memory);
    drv_model_kernel(context, 1, false, seconds, clock);
}

static __thread const char *running; /* the call that runs in this thread, also in a graph */

CUresult drv_library_run(CUcontext context, const struct drv_library_work *library, double *clock)
{
    running = library->name;
    drv_thread.library_failed = false;
    drv_thread.in_callback = true;
    library->function(library->data);
    drv_thread.in_callback = false;
    model(context, library, clock);
    return drv_thread.library_failed ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

EXPORT CUresult lk_library_call(CUstream stream, const struct lk_library_call *call)
{
    struct drv_work work = {.kind = DRV_WORK_LIBRARY};
    work.library = (struct drv_library_work){.name = call->name,
                                             .function = call->function,
                                             .size = call->size,
                                             .operations = call->operations,
                                             .bytes = call->bytes,
                                             .unit = call->unit};
    work.library.data = lk_alloc(call->size + 1);
    memcpy(work.library.data, call->data, call->size);
    drv_thread.call = call->name;
    struct lk_activity_call launch;
    drv_library_begins(&launch, call->name);
    return drv_call_ends(&launch, drv_issue_to(stream, &work, false));
}

EXPORT CUresult lk_library_time(CUstream stream, const char *name, double operations, double bytes,
                                enum lk_library_unit unit)
{
    struct drv_work work = {.kind = DRV_WORK_LIBRARY};
    work.library = (struct drv_library_work){.name = name,
                                             .function = nothing,
                                             .data = lk_alloc(1),
                                             .operations = operations,
                                             .bytes = bytes,
                                             .unit = unit};
    drv_thread.call = name;
    drv_thread.settles = true; /* runs at once, in this thread */
    struct lk_activity_call launch;
    drv_library_begins(&launch, name);
    CUresult status = drv_call_ends(&launch, drv_issue_to(stream, &work, true));
    drv_thread.settles = false;
    return status;
}

EXPORT CUresult lk_library_settle(void)
{
    drv_thread.settles = true;
    CUresult status = drv_cuCtxSynchronize();
    drv_thread.settles = false;
    return status;
}

/* Where device memory is, in the program's eyes: a fault there is explained as well. */
static bool is_device_range(uint64_t address)
{
    uint64_t offset = address - SIMT_ARENA_BASE;
    return offset < (uint64_t)drv_device_count * SIMT_ARENA_STEP &&
           offset % SIMT_ARENA_STEP < SIMT_ARENA_HALF;
}

EXPORT void *lk_library_bytes(const void *address, size_t size)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    drv_enter_lock();
    void *bytes = drv_host(at, size ? size : 1);
    drv_leave_lock();
    if (bytes || !is_device_range(at))
        return bytes ? bytes : (void *)(uintptr_t)address;
    if (!drv_thread.library_failed && size)
        drv_remark("%s: %zu bytes at 0x%llx are not in an allocation", running, size,
                   (unsigned long long)at);
    drv_thread.library_failed |= size != 0;
    return NULL;
}

EXPORT void lk_library_fail(const char *why)
{
    if (!drv_thread.library_failed)
        drv_remark("%s: %s", running, why);
    drv_thread.library_failed = true;
}

EXPORT void lk_library_wrote(const void *address, size_t size)
{
    CUcontext context = drv_thread.op ? drv_thread.op->stream->context : NULL;
    if (!context || !size || !drv_is_device_address((uintptr_t)address))
        return;
    drv_enter_lock();
    drv_thread.library_failed |= drv_virtual_read_only((uintptr_t)address, size);
    drv_leave_lock();
    simt_event_written(context->device->machine, (uintptr_t)address, 0, size);
}

EXPORT bool lk_library_tensor_product(const struct tensor_product *product)
{
    struct simt_machine *machine = drv_thread.op->stream->context->device->machine;
    struct lk_pool *pool = lk_pool_create(machine->options.threads);
    bool enough = simt_tensor_product(machine->gpu, product, pool, machine->options.threads);
    lk_pool_destroy(pool);
    return enough;
}

EXPORT CUresult lk_library_context(void)
{
    CUcontext context = NULL;
    CUresult status = drv_cuInit(0);
    if (status == CUDA_SUCCESS)
        status = drv_cuCtxGetCurrent(&context);
    if (status == CUDA_SUCCESS && !context) {
        status = drv_cuDevicePrimaryCtxRetain(&context, 0);
        if (status == CUDA_SUCCESS)
            status = drv_cuCtxSetCurrent(context);
    }
    return status;
}

static struct drv_list ended; /* under drv_lock */

EXPORT void lk_library_end(void *pointer)
{
    drv_enter_lock();
    drv_list_add(&ended, pointer);
    drv_leave_lock();
}

EXPORT void *lk_library_ended(void)
{
    drv_enter_lock();
    void *pointer = ended.count ? ended.items[0] : NULL;
    if (pointer)
        drv_list_remove(&ended, pointer);
    drv_leave_lock();
    return pointer;
}
