/*
 * launch.c: kernel launches and host functions in streams.
 */
#include "base/arena.h"
#include "cudart/cudart.h"

#include <stdlib.h>

#if CUDART_VERSION_MAJOR == 12
static bool within(unsigned value, CUdevice_attribute limit)
{
    int most = 0;
    return !cuDeviceGetAttribute(&most, limit, cudart_device()) && value > 0 &&
           value <= (unsigned)most;
}
#endif

/* CUDA 12's runtime tells impossible grids and blocks from other wrong arguments; CUDA 13's gives
 * cudaErrorInvalidValue for all, as measured on an H200 with driver 580. */
static cudart_code explain(cudart_code error, const CUlaunchConfig *config)
{
#if CUDART_VERSION_MAJOR == 12
    unsigned long long threads =
        (unsigned long long)config->blockDimX * config->blockDimY * config->blockDimZ;
    bool possible = within(config->gridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
                    within(config->gridDimY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
                    within(config->gridDimZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) &&
                    within(config->blockDimX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
                    within(config->blockDimY, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) &&
                    within(config->blockDimZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) &&
                    threads <= 0xffffffff &&
                    within((unsigned)threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (error == CUDA_ERROR_INVALID_VALUE && !possible)
        return cudaErrorInvalidConfiguration;
#endif
    return error;
}

CUlaunchConfig cudart_launch_config(const cudaLaunchConfig_t *config)
{
    return (CUlaunchConfig){.gridDimX = config->gridDim.x,
                            .gridDimY = config->gridDim.y,
                            .gridDimZ = config->gridDim.z,
                            .blockDimX = config->blockDim.x,
                            .blockDimY = config->blockDim.y,
                            .blockDimZ = config->blockDim.z,
                            .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                            .hStream = config->stream,
                            .attrs = config->attrs,
                            .numAttrs = config->numAttrs};
}

static cudart_code launch(const void *function, const cudaLaunchConfig_t *config, void **arguments)
{
    CUfunction resolved;
    CUlaunchConfig driver = cudart_launch_config(config);
    cudart_code error = cudart_resolve(function, &resolved);
    if (error == cudaErrorNoKernelImageForDevice)
        cudart_not_run();
    return error ? error : explain(cuLaunchKernelEx(&driver, resolved, arguments, NULL), &driver);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {gridDim, blockDim, sharedMem, stream, NULL, 0};
    return CUDART_CALL(launch(func, &config, args));
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream)
{
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    cudaLaunchConfig_t config = {gridDim, blockDim, sharedMem, stream, &cooperative, 1};
    return CUDART_CALL(launch(func, &config, args));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    if (!config)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(launch(func, config, args));
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func,
                                     void **args)
{
    if (!config)
        return cudart_finish(cudaErrorInvalidValue);
    cudaLaunchConfig_t copy = *config;
    copy.stream = cudart_per_thread(copy.stream);
    return cudaLaunchKernelExC(&copy, func, args);
}

#if CUDART_VERSION_MAJOR == 12
cudaError_t cudaLaunchCooperativeKernelMultiDevice(void *list, unsigned devices, unsigned flags)
{
    return cudart_unsupported(__func__);
}
#endif

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    return CUDART_CALL(cuLaunchHostFunc(stream, fn, userData));
}

struct callback {
    cudaStreamCallback_t function;
    void *data;
};

static void call_back(CUstream stream, CUresult status, void *data)
{
    struct callback callback = *(struct callback *)data;
    free(data);
    callback.function(stream, (cudaError_t)status, callback.data);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned flags)
{
    if (!callback || flags)
        return cudart_finish(cudaErrorInvalidValue);
    struct callback *kept = lk_alloc(sizeof *kept);
    *kept = (struct callback){callback, userData};
    cudart_code error =
        cudart_enter() ?: (cudart_code)cuStreamAddCallback(stream, call_back, kept, 0);
    if (error)
        free(kept);
    return cudart_finish(error);
}
