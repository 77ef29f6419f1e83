/*
 * context.c: contexts, the stack of current ones in each thread, and primary contexts.
 * All contexts of a device share its machine; a context owns streams, modules and memory, and
 * carries the error that a faulting kernel leaves behind until it is destroyed or reset.
 */
#include "driver/array.h"
#include "driver/timeline.h"

#include "base/arena.h"
#include "check/checker.h"
#include "watch/counters.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t next_context_id = 1;
static struct drv_list contexts; /* all there ever were; few */

void drv_wait_all(void)
{
    for (size_t i = 0; i < contexts.count; i++) {
        CUcontext context = contexts.items[i];
        if (!context->destroyed)
            drv_wait_context(context);
    }
}

/* What was launched and never waited for still runs and prints: a program that forgets to
 * synchronise should show what it did. */
static void finish_at_exit(void)
{
    if (drv_forked) /* what runs is the parent's */
        return;
    drv_enter_lock();
    if (!drv_thread.in_callback) {
        drv_thread.call = "exit";
        drv_wait_all();
    }
    drv_timeline_end();
    drv_leave_lock();
    for (int i = 0; i < drv_device_count; i++) {
        if (drv_devices[i].machine)
            simt_flush_printf(drv_devices[i].machine);
    }
    drv_memory_left();
}

/* Those that the environment asks for; each variable names the file to write. */
static void add_watchers(struct drv_device *device)
{
    struct simt_machine *machine = device->machine;
    const char *profile = getenv("LOCKSTEP_PROFILE"), *check = getenv("LOCKSTEP_CHECK");
    device->profiles = profile && *profile;
    simt_set_timer(machine, device->profiles ? counters_open_beside : counters_open_timer);
    if (!check || !*check)
        simt_set_yield(machine, drv_machine_yields, device);
    if (device->profiles)
        simt_watch_add(machine, counters_open(machine, profile));
    else if (check && *check) /* beside a checker, one that counts what is timed */
        simt_watch_add(machine, counters_open_timer(machine));
    if (check && *check)
        simt_watch_add(machine, checker_open(machine, check));
    device->in_order = check && *check;
}

/* The machine is made with the first context, or memory: a program that only counts devices pays
 * nothing. */
CUresult drv_device_start(struct drv_device *device)
{
    if (device->machine)
        return CUDA_SUCCESS;
    struct simt_options options = simt_options_from_environment();
    device->machine = simt_create(device->gpu, &options);
    if (!device->machine)
        return CUDA_ERROR_OUT_OF_MEMORY;
    add_watchers(device);
    drv_memory_share(device);
    static bool registered;
    if (!registered)
        atexit(finish_at_exit);
    registered = true;
    return CUDA_SUCCESS;
}

static CUresult context_fill(CUcontext context, struct drv_device *device, unsigned flags)
{
    CUresult status = drv_device_start(device);
    if (status != CUDA_SUCCESS)
        return status;
    context->device = device;
    context->flags = flags;
    context->version = 3020;
    context->destroyed = false;
    context->error = CUDA_SUCCESS;
    context->limits[CU_LIMIT_STACK_SIZE] = simt_stack_size(device->machine);
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752; /* what an H200 says */
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = simt_heap_size(device->machine);
    context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    if (device->gpu->cc_major >= 8)
        context->limits[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = device->gpu->l2_bytes / 16 * 3;
    context->limits[CU_LIMIT_SHMEM_SIZE] = device->gpu->shared_per_block_optin;
    context->legacy = drv_stream_new(context, CU_STREAM_DEFAULT, 0);
    return CUDA_SUCCESS;
}

/* Everything the context owns goes; the struct stays (other threads may have it current). */
static void context_empty(CUcontext context)
{
    drv_wait_context(context);
    if (context->device->machine)
        simt_flush_printf(context->device->machine);
    drv_events_forget(context);
    while (context->streams) {
        CUstream stream = context->streams;
        drv_capture_leave_stream(stream);
        bool was_destroyed = stream->destroyed;
        stream->destroyed = true;
        drv_stream_retire(stream);
        if (!was_destroyed)
            drv_stream_release(stream);
    }
    context->legacy = NULL;
    while (context->modules.count)
        drv_module_free(context->modules.items[context->modules.count - 1]);
    drv_arrays_forget(context);
    drv_memory_forget(context);
    drv_list_free(&context->peers);
    context->destroyed = true;
}

void drv_device_fault(struct drv_device *device, CUresult error)
{
    for (size_t i = 0; i < contexts.count; i++) {
        CUcontext context = contexts.items[i];
        if (context->device == device && !context->destroyed && context->error == CUDA_SUCCESS)
            context->error = error;
    }
}

CUcontext drv_context_top(void)
{
    return drv_thread.depth ? drv_thread.stack[drv_thread.depth - 1] : NULL;
}

static pthread_key_t stack_key; /* frees a thread's stack when the thread ends */
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

static void make_stack_key(void)
{
    pthread_key_create(&stack_key, free);
}

static void push(CUcontext context)
{
    if (drv_thread.depth == drv_thread.capacity) {
        drv_thread.capacity = drv_thread.capacity ? drv_thread.capacity * 2 : 8;
        drv_thread.stack =
            lk_realloc(drv_thread.stack, drv_thread.capacity * sizeof *drv_thread.stack);
        pthread_once(&stack_once, make_stack_key);
        pthread_setspecific(stack_key, drv_thread.stack);
    }
    drv_thread.stack[drv_thread.depth++] = context;
}

CUresult drv_current(CUcontext *context)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (drv_thread.in_callback)
        return CUDA_ERROR_NOT_PERMITTED;
    *context = drv_context_top();
    if (!*context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if ((*context)->destroyed)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return (*context)->error;
}

CUresult drv_current_uncaptured(CUcontext *context)
{
    CUresult status = drv_current(context);
    if (status == CUDA_SUCCESS && drv_capture_forbids()) {
        drv_capture_break();
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return status;
}

/* Contexts of the program ---------------------------------------------------------------------- */

static CUresult context_create(CUcontext *result, unsigned flags, CUdevice ordinal)
{
    CUresult status = drv_check_device(ordinal);
    if (status != CUDA_SUCCESS)
        return status;
    if (!result || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    CUcontext context = drv_new(sizeof *context, DRV_CONTEXT);
    context->id = next_context_id++;
    drv_list_add(&contexts, context);
    status = context_fill(context, &drv_devices[ordinal], flags);
    drv_leave_lock();
    if (status != CUDA_SUCCESS) {
        context->destroyed = true;
        return status;
    }
    push(context);
    *result = context;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    return context_create(context, flags, device);
}

CUresult drv_cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *params, int count,
                            unsigned flags, CUdevice device)
{
    if (count > 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return context_create(context, flags, device);
}

CUresult drv_cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags,
                            CUdevice device)
{
    if (params && params->numExecAffinityParams > 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    if (params && params->cigParams)
        return CUDA_ERROR_NOT_SUPPORTED;
    return context_create(context, flags, device);
}

/* The struct is kept: it may still be in another thread's stack, and is small. */
CUresult drv_cuCtxDestroy_v2(CUcontext context)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!drv_alive(context, DRV_CONTEXT) || context->destroyed || context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    drv_enter_lock();
    context_empty(context);
    drv_leave_lock();
    if (drv_context_top() == context)
        drv_thread.depth--;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxDestroy(CUcontext context)
{
    return drv_cuCtxDestroy_v2(context);
}

CUresult drv_cuCtxPushCurrent_v2(CUcontext context)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!context || !drv_alive(context, DRV_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    push(context);
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxPushCurrent(CUcontext context)
{
    return drv_cuCtxPushCurrent_v2(context);
}

CUresult drv_cuCtxPopCurrent_v2(CUcontext *context)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!drv_thread.depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    drv_thread.depth--;
    if (context)
        *context = drv_thread.stack[drv_thread.depth];
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxPopCurrent(CUcontext *context)
{
    return drv_cuCtxPopCurrent_v2(context);
}

CUresult drv_cuCtxSetCurrent(CUcontext context)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (context && !drv_alive(context, DRV_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (drv_thread.depth)
        drv_thread.depth--;
    if (context)
        push(context);
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetCurrent(CUcontext *context)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = drv_context_top();
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxAttach(CUcontext *context, unsigned flags)
{
    CUresult status = drv_current(context);
    return status == CUDA_SUCCESS && flags ? CUDA_ERROR_INVALID_VALUE : status;
}

CUresult drv_cuCtxDetach(CUcontext context)
{
    return drv_alive(context, DRV_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult drv_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(peer, DRV_CONTEXT) || peer == context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult drv_cuCtxDisablePeerAccess(CUcontext peer)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!drv_alive(peer, DRV_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

/* Primary contexts ----------------------------------------------------------------------------- */

CUresult drv_cuDevicePrimaryCtxRetain(CUcontext *result, CUdevice ordinal)
{
    CUresult status = drv_check_device(ordinal);
    if (status != CUDA_SUCCESS)
        return status;
    if (!result)
        return CUDA_ERROR_INVALID_VALUE;
    struct drv_device *device = &drv_devices[ordinal];
    drv_enter_lock();
    CUcontext context = device->primary;
    if (!context) {
        context = device->primary = drv_new(sizeof *context, DRV_CONTEXT);
        context->id = next_context_id++;
        drv_list_add(&contexts, context);
        context->primary = true;
        context->destroyed = true;
    }
    if (context->destroyed)
        status = context_fill(context, device, device->primary_flags);
    if (status == CUDA_SUCCESS) {
        context->references++;
        *result = context;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuDevicePrimaryCtxReset_v2(CUdevice ordinal)
{
    CUresult status = drv_check_device(ordinal);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    CUcontext context = drv_devices[ordinal].primary;
    if (context && !context->destroyed) {
        context_empty(context);
        context->references = 0;
    }
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuDevicePrimaryCtxReset(CUdevice ordinal)
{
    return drv_cuDevicePrimaryCtxReset_v2(ordinal);
}

CUresult drv_cuDevicePrimaryCtxRelease_v2(CUdevice ordinal)
{
    CUresult status = drv_check_device(ordinal);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    CUcontext context = drv_devices[ordinal].primary;
    if (!context || !context->references)
        status = CUDA_ERROR_INVALID_CONTEXT;
    else if (--context->references == 0)
        context_empty(context);
    drv_leave_lock();
    return status;
}

CUresult drv_cuDevicePrimaryCtxRelease(CUdevice ordinal)
{
    return drv_cuDevicePrimaryCtxRelease_v2(ordinal);
}

CUresult drv_cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags)
{
    CUresult status = drv_check_device(ordinal);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    struct drv_device *device = &drv_devices[ordinal];
    device->primary_flags = flags;
    if (device->primary)
        device->primary->flags = flags;
    return CUDA_SUCCESS;
}

CUresult drv_cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned flags)
{
    return drv_cuDevicePrimaryCtxSetFlags_v2(ordinal, flags);
}

CUresult drv_cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *active)
{
    CUresult status = drv_check_device(ordinal);
    if (status != CUDA_SUCCESS)
        return status;
    struct drv_device *device = &drv_devices[ordinal];
    if (flags)
        *flags = device->primary_flags;
    if (active)
        *active = device->primary && !device->primary->destroyed;
    return CUDA_SUCCESS;
}
