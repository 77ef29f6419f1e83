/*
 * settings.c: reads and changes the settings of a context: limits, flags, cache preferences,
 * waiting.
 */
#include "driver/state.h"

CUresult drv_cuCtxGetDevice(CUdevice *device)
{
    CUcontext context = drv_context_top();
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
    if (!context)
        return drv_cuCtxGetDevice(device);
    if (!drv_alive(context, DRV_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetFlags(unsigned *flags)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS && (!drv_context_top() || status != drv_context_top()->error))
        return status; /* a faulted context still answers this */
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxSetFlags(unsigned flags)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetId(CUcontext context, unsigned long long *id)
{
    if (!context)
        context = drv_context_top();
    if (!drv_alive(context, DRV_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxSynchronize(void)
{
    CUcontext context;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = drv_wait_context(context);
    drv_leave_lock();
    simt_flush_printf(context->device->machine);
    return status;
}

CUresult drv_cuCtxSynchronize_v2(CUcontext context)
{
    CUcontext here;
    if (!context)
        return drv_cuCtxSynchronize();
    CUresult status = drv_current_uncaptured(&here);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_INVALID_CONTEXT)
        return status;
    if (!drv_alive(context, DRV_CONTEXT) || context->destroyed)
        return CUDA_ERROR_INVALID_CONTEXT;
    drv_enter_lock();
    status = drv_wait_context(context);
    drv_leave_lock();
    simt_flush_printf(context->device->machine);
    return status;
}

static bool limit_known(CUcontext context, CUlimit limit)
{
    if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
        return context->device->gpu->cc_major < 9;
    return limit <= CU_LIMIT_CIG_ENABLED;
}

CUresult drv_cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (limit < 0 || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!limit_known(context, limit))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (limit == CU_LIMIT_STACK_SIZE) {
        if (value > 512 << 10) /* a GPU has 512 KB of local memory a thread */
            return CUDA_ERROR_INVALID_VALUE;
        value = (value + 15) & ~(size_t)15;
        simt_set_stack_size(context->device->machine, value);
    }
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE) {
        simt_set_heap_size(context->device->machine, value);
        value = simt_heap_size(context->device->machine);
    }
    if (limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY && value > 128)
        return CUDA_ERROR_INVALID_VALUE;
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetLimit(size_t *value, CUlimit limit)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!value || limit < 0 || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!limit_known(context, limit))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

static CUresult current_if(bool valid_argument, CUcontext *context)
{
    CUresult status = drv_current(context);
    return status == CUDA_SUCCESS && !valid_argument ? CUDA_ERROR_INVALID_VALUE : status;
}

CUresult drv_cuCtxGetCacheConfig(CUfunc_cache *config)
{
    CUcontext context;
    CUresult status = current_if(config, &context);
    if (status == CUDA_SUCCESS)
        *config = context->cache;
    return status;
}

CUresult drv_cuCtxSetCacheConfig(CUfunc_cache config)
{
    CUcontext context;
    CUresult status = current_if((unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL, &context);
    if (status == CUDA_SUCCESS)
        context->cache = config;
    return status;
}

/* Banks have been four bytes wide since Maxwell. */
CUresult drv_cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    CUcontext context;
    CUresult status = current_if(config, &context);
    if (status == CUDA_SUCCESS)
        *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return status;
}

CUresult drv_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    CUcontext context;
    return current_if((unsigned)config <= 2, &context);
}

CUresult drv_cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    if (!context)
        context = drv_context_top();
    if (!drv_alive(context, DRV_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = context->version;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult drv_cuCtxResetPersistingL2Cache(void)
{
    CUcontext context;
    return drv_current(&context);
}

/* An event of the whole context: the legacy stream orders itself after every blocking one, and
 * what runs in non-blocking streams is waited for. */
CUresult drv_cuCtxRecordEvent(CUcontext context, CUevent event)
{
    if (!drv_alive(context, DRV_CONTEXT) || context->destroyed)
        return CUDA_ERROR_INVALID_CONTEXT;
    drv_enter_lock();
    CUresult status = drv_wait_context(context);
    drv_leave_lock();
    return status == CUDA_SUCCESS ? drv_cuEventRecord(event, CU_STREAM_LEGACY) : status;
}

CUresult drv_cuCtxWaitEvent(CUcontext context, CUevent event)
{
    if (!drv_alive(context, DRV_CONTEXT) || context->destroyed)
        return CUDA_ERROR_INVALID_CONTEXT;
    return drv_cuEventSynchronize(event);
}
