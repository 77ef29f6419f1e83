/*
 * legacy.c: how programs from before CUDA 4 launch: block shape, shared memory and parameters are
 * set on the function, then it is launched. And the first versions of calls whose sizes had 32
 * bits.
 */
#include "base/arena.h"
#include "driver/state.h"

#include <stdlib.h>
#include <string.h>

enum { PARAMS_MAX = 4096 };

struct drv_legacy_launch {
    unsigned block[3], shared, size; /* block[0] is 0 until it is set */
    char params[PARAMS_MAX];
};

void drv_function_free(CUfunction function)
{
    free(function->legacy);
    free(function->times);
    drv_delete(function);
}

static CUresult find(CUfunction handle, struct drv_legacy_launch **launch)
{
    CUcontext context;
    CUfunction function;
    CUresult status = drv_current(&context);
    if (status == CUDA_SUCCESS) {
        drv_enter_lock();
        status = drv_function_find(context, handle, &function);
        if (status == CUDA_SUCCESS && !function->legacy)
            function->legacy = lk_alloc_zeroed(sizeof *function->legacy);
        drv_leave_lock();
    }
    if (status == CUDA_SUCCESS)
        *launch = function->legacy;
    return status;
}

CUresult drv_cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    struct drv_legacy_launch *launch;
    CUresult status = find(function, &launch);
    if (status != CUDA_SUCCESS)
        return status;
    if (x <= 0 || y <= 0 || z <= 0 || x > 1024 || y > 1024 || z > 64 || x * y * z > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    launch->block[0] = (unsigned)x;
    launch->block[1] = (unsigned)y;
    launch->block[2] = (unsigned)z;
    return CUDA_SUCCESS;
}

CUresult drv_cuFuncSetSharedSize(CUfunction function, unsigned bytes)
{
    struct drv_legacy_launch *launch;
    CUresult status = find(function, &launch);
    if (status == CUDA_SUCCESS)
        launch->shared = bytes;
    return status;
}

CUresult drv_cuParamSetSize(CUfunction function, unsigned bytes)
{
    struct drv_legacy_launch *launch;
    CUresult status = find(function, &launch);
    if (status == CUDA_SUCCESS && bytes > PARAMS_MAX)
        status = CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS)
        launch->size = bytes;
    return status;
}

CUresult drv_cuParamSetv(CUfunction function, int offset, void *value, unsigned bytes)
{
    struct drv_legacy_launch *launch;
    CUresult status = find(function, &launch);
    if (status != CUDA_SUCCESS)
        return status;
    if (offset < 0 || !value || bytes > PARAMS_MAX || (unsigned)offset > PARAMS_MAX - bytes)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(launch->params + offset, value, bytes);
    return CUDA_SUCCESS;
}

CUresult drv_cuParamSeti(CUfunction function, int offset, unsigned value)
{
    return drv_cuParamSetv(function, offset, &value, sizeof value);
}

CUresult drv_cuParamSetf(CUfunction function, int offset, float value)
{
    return drv_cuParamSetv(function, offset, &value, sizeof value);
}

CUresult drv_cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream)
{
    struct drv_legacy_launch *launch;
    CUresult status = find(function, &launch);
    if (status != CUDA_SUCCESS)
        return status;
    if (width <= 0 || height <= 0 || !launch->block[0])
        return CUDA_ERROR_INVALID_VALUE;
    size_t size = launch->size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, launch->params, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size, CU_LAUNCH_PARAM_END};
    return drv_cuLaunchKernel(function, (unsigned)width, (unsigned)height, 1, launch->block[0],
                              launch->block[1], launch->block[2], launch->shared, stream, NULL,
                              extra);
}

CUresult drv_cuLaunchGrid(CUfunction function, int width, int height)
{
    return drv_cuLaunchGridAsync(function, width, height, NULL);
}

CUresult drv_cuLaunch(CUfunction function)
{
    return drv_cuLaunchGridAsync(function, 1, 1, NULL);
}

/* Sizes of 32 bits ------------------------------------------------------------------------------
 */

static unsigned clipped(size_t bytes)
{
    return bytes > UINT32_MAX ? UINT32_MAX : (unsigned)bytes;
}

CUresult drv_cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device)
{
    return drv_cuCtxCreate_v2(context, flags, device);
}

CUresult drv_cuDeviceTotalMem(unsigned *bytes, CUdevice device)
{
    size_t all = 0;
    CUresult status = drv_cuDeviceTotalMem_v2(bytes ? &all : NULL, device);
    if (status == CUDA_SUCCESS)
        *bytes = clipped(all);
    return status;
}

CUresult drv_cuMemGetInfo(unsigned *free_bytes, unsigned *total)
{
    size_t there, all;
    CUresult status = drv_cuMemGetInfo_v2(&there, &all);
    if (status == CUDA_SUCCESS && free_bytes)
        *free_bytes = clipped(there);
    if (status == CUDA_SUCCESS && total)
        *total = clipped(all);
    return status;
}

CUresult drv_cuMemAllocHost(void **address, unsigned bytes)
{
    return drv_cuMemAllocHost_v2(address, bytes);
}
