/*
 * occupancy.c: how many blocks of a kernel fit, from src/gpu's calculator.
 */
#include "driver/state.h"

static CUresult occupancy_enter(CUfunction handle, CUfunction *function,
                                const struct gpu_info **gpu)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = drv_function_find(context, handle, function);
    drv_leave_lock();
    *gpu = context->device->gpu;
    return status;
}

static unsigned blocks_that_fit(const struct gpu_info *gpu, CUfunction function, unsigned threads,
                                size_t dynamic)
{
    const struct simt_kernel_info *info = function->info;
    if (!threads || threads > gpu->threads_per_block ||
        (info->max_threads && threads > info->max_threads) ||
        dynamic > (size_t)function->settings.max_dynamic_shared)
        return 0;
    return gpu_occupancy(gpu, threads, info->registers, info->static_shared + dynamic)
        .blocks_per_sm;
}

CUresult drv_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle,
                                                                  int threads, size_t dynamic,
                                                                  unsigned flags)
{
    CUfunction function;
    const struct gpu_info *gpu;
    CUresult status = occupancy_enter(handle, &function, &gpu);
    if (status != CUDA_SUCCESS)
        return status;
    if (!blocks || threads <= 0 || flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = (int)blocks_that_fit(gpu, function, (unsigned)threads, dynamic);
    return CUDA_SUCCESS;
}

CUresult drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                         int threads, size_t dynamic)
{
    return drv_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                    dynamic, 0);
}

/* The largest block size among those that keep the most threads on an SM. */
CUresult drv_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction handle,
                                                       CUoccupancyB2DSize dynamic_of,
                                                       size_t dynamic, int limit, unsigned flags)
{
    CUfunction function;
    const struct gpu_info *gpu;
    CUresult status = occupancy_enter(handle, &function, &gpu);
    if (status != CUDA_SUCCESS)
        return status;
    if (!grid || !block || flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    int most = 0, best_threads = 0;
    drv_cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, handle);
    if (limit > 0 && limit < most)
        most = limit;
    *block = *grid = 0;
    for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
        int size = threads < most ? threads : most;
        size_t bytes = dynamic_of ? dynamic_of(size) : dynamic;
        int blocks = (int)blocks_that_fit(gpu, function, (unsigned)size, bytes);
        if (blocks * size > best_threads) {
            best_threads = blocks * size;
            *block = size;
            *grid = blocks * (int)gpu->sms;
        }
    }
    return CUDA_SUCCESS;
}

CUresult drv_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                              CUoccupancyB2DSize dynamic_of, size_t dynamic,
                                              int limit)
{
    return drv_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, dynamic_of, dynamic,
                                                         limit, 0);
}

CUresult drv_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, CUfunction handle, int blocks,
                                                     int threads)
{
    CUfunction function;
    const struct gpu_info *gpu;
    CUresult status = occupancy_enter(handle, &function, &gpu);
    if (status != CUDA_SUCCESS)
        return status;
    if (!dynamic || blocks <= 0 || threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((int)blocks_that_fit(gpu, function, (unsigned)threads, 0) < blocks)
        return CUDA_ERROR_INVALID_VALUE;
    size_t low = 0, high = (size_t)function->settings.max_dynamic_shared;
    while (low < high) { /* the most that still leaves room for that many blocks */
        size_t middle = (low + high + 1) / 2;
        if ((int)blocks_that_fit(gpu, function, (unsigned)threads, middle) >= blocks)
            low = middle;
        else
            high = middle - 1;
    }
    *dynamic = low;
    return CUDA_SUCCESS;
}

static unsigned config_cluster(const CUlaunchConfig *config, CUfunction function)
{
    const unsigned *own = function->settings.cluster;
    unsigned size = own[0] ? own[0] * own[1] * own[2] : 1;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            size = attribute->value.clusterDim.x * attribute->value.clusterDim.y *
                   attribute->value.clusterDim.z;
    }
    return size ? size : 1;
}

CUresult drv_cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                          const CUlaunchConfig *config)
{
    CUfunction function;
    const struct gpu_info *gpu;
    CUresult status = occupancy_enter(handle, &function, &gpu);
    if (status != CUDA_SUCCESS)
        return status;
    if (!clusters || !config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    if (gpu->cc_major < 9)
        return CUDA_ERROR_NOT_SUPPORTED;
    unsigned threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    unsigned blocks = blocks_that_fit(gpu, function, threads, config->sharedMemBytes);
    unsigned size = config_cluster(config, function);
    if (size > (function->settings.non_portable_cluster ? 16u : 8u))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    *clusters = (int)gpu_clusters(gpu, size, blocks);
    return CUDA_SUCCESS;
}

CUresult drv_cuOccupancyMaxPotentialClusterSize(int *size, CUfunction handle,
                                                const CUlaunchConfig *config)
{
    CUfunction function;
    const struct gpu_info *gpu;
    CUresult status = occupancy_enter(handle, &function, &gpu);
    if (status != CUDA_SUCCESS)
        return status;
    if (!size || !config)
        return CUDA_ERROR_INVALID_VALUE;
    if (gpu->cc_major < 9)
        return CUDA_ERROR_NOT_SUPPORTED;
    *size = function->settings.non_portable_cluster ? 16 : 8;
    return CUDA_SUCCESS;
}
