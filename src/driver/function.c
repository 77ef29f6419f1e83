/*
 * function.c: what a kernel is and how it may be launched: attributes, parameters, preferences.
 */
#include "driver/state.h"

/* Enters with the function that a handle means in the current context. */
static CUresult function_enter(CUfunction handle, CUfunction *function)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = drv_function_find(context, handle, function);
    drv_leave_lock();
    return status;
}

/* As many threads as a block may have by its bound and by its registers. */
static int max_threads(CUfunction function)
{
    const struct gpu_info *gpu = function->module->context->device->gpu;
    unsigned most =
        function->info->max_threads ? function->info->max_threads : gpu->threads_per_block;
    for (; most > 32; most -= 32) {
        if (gpu_occupancy(gpu, most, function->info->registers, 0).blocks_per_sm)
            break;
    }
    return (int)most;
}

CUresult drv_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    CUfunction function;
    CUresult status = function_enter(handle, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    const struct simt_kernel_info *info = function->info;
    const struct drv_function_settings *settings = &function->settings;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = max_threads(function);
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)info->static_shared;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)info->const_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)info->local_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)info->registers;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)info->ptx_version;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = (int)info->binary_version;
        break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = settings->max_dynamic_shared;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = settings->carveout;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = (int)settings->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = settings->non_portable_cluster;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = settings->cluster_policy;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult drv_cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    CUfunction function;
    CUresult status = function_enter(handle, &function);
    if (status != CUDA_SUCCESS)
        return status;
    const struct gpu_info *gpu = function->module->context->device->gpu;
    struct drv_function_settings *settings = &function->settings;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 ||
            (unsigned)value + function->info->static_shared > gpu->shared_per_block_optin)
            return CUDA_ERROR_INVALID_VALUE;
        settings->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        settings->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (gpu->cc_major < 9)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (function->info->required_cluster[0] || value < 0)
            return CUDA_ERROR_INVALID_VALUE;
        settings->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = (unsigned)value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        settings->non_portable_cluster = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < 0 || value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
            return CUDA_ERROR_INVALID_VALUE;
        settings->cluster_policy = value;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult drv_cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    CUfunction function;
    CUresult status = function_enter(handle, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    function->settings.cache = config;
    return CUDA_SUCCESS;
}

CUresult drv_cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config)
{
    CUfunction function;
    CUresult status = function_enter(handle, &function);
    return status == CUDA_SUCCESS && (unsigned)config > 2 ? CUDA_ERROR_INVALID_VALUE : status;
}

CUresult drv_cuFuncGetModule(CUmodule *module, CUfunction handle)
{
    CUfunction function;
    CUresult status = function_enter(handle, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    *module = function->module;
    return CUDA_SUCCESS;
}

CUresult drv_cuFuncGetName(const char **name, CUfunction handle)
{
    CUfunction function;
    CUresult status = function_enter(handle, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = function->info->name;
    return CUDA_SUCCESS;
}

CUresult drv_cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size)
{
    CUfunction function;
    size_t at, bytes;
    CUresult status = function_enter(handle, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (!offset || index > UINT32_MAX ||
        !simt_kernel_param(function->kernel, (unsigned)index, &at, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    *offset = at;
    if (size)
        *size = bytes;
    return CUDA_SUCCESS;
}

CUresult drv_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle)
{
    CUfunction function;
    CUresult status = function_enter(handle, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult drv_cuFuncLoad(CUfunction handle)
{
    CUfunction function;
    return function_enter(handle, &function);
}
