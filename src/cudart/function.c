/*
 * function.c: what can be queried and set about a kernel: attributes, name, parameters, occupancy.
 */
#include "cudart/cudart.h"

#include <string.h>

/* Runs a driver call on the kernel that `function` names. */
#define ON_FUNCTION(function, call)                                                                \
    CUfunction resolved = NULL;                                                                    \
    cudart_code error = cudart_enter() ?: cudart_resolve(function, &resolved);                     \
    return cudart_finish(error ?: (cudart_code)(call))

static cudart_code get_attributes(cudaFuncAttributes *attributes, CUfunction function)
{
    if (!attributes)
        return cudaErrorInvalidValue;
    memset(attributes, 0, sizeof *attributes);
    int shared = 0, constant = 0, local = 0;
    const struct {
        CUfunction_attribute attribute;
        int *value;
    } wanted[] = {
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared},
        {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &constant},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local},
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &attributes->maxThreadsPerBlock},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, &attributes->numRegs},
        {CU_FUNC_ATTRIBUTE_PTX_VERSION, &attributes->ptxVersion},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &attributes->binaryVersion},
        {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &attributes->cacheModeCA},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &attributes->maxDynamicSharedSizeBytes},
        {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &attributes->preferredShmemCarveout},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &attributes->clusterDimMustBeSet},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &attributes->requiredClusterWidth},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &attributes->requiredClusterHeight},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &attributes->requiredClusterDepth},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
         &attributes->clusterSchedulingPolicyPreference},
        {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
         &attributes->nonPortableClusterSizeAllowed},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        cudart_code error = cuFuncGetAttribute(wanted[i].value, wanted[i].attribute, function);
        if (error)
            return error;
    }
    attributes->sharedSizeBytes = (size_t)shared;
    attributes->constSizeBytes = (size_t)constant;
    attributes->localSizeBytes = (size_t)local;
    return 0;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, const void *func)
{
    ON_FUNCTION(func, get_attributes(attr, resolved));
}

cudaError_t cudaFuncSetAttribute(const void *func, CUfunction_attribute attr, int value)
{
    ON_FUNCTION(func, cuFuncSetAttribute(resolved, attr, value));
}

cudaError_t cudaFuncSetCacheConfig(const void *func, CUfunc_cache cacheConfig)
{
    ON_FUNCTION(func, cuFuncSetCacheConfig(resolved, cacheConfig));
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, CUsharedconfig config)
{
    ON_FUNCTION(func, cuFuncSetSharedMemConfig(resolved, config));
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
    ON_FUNCTION(func, cuFuncGetName(name, resolved));
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
                                 size_t *paramSize)
{
    ON_FUNCTION(func, cuFuncGetParamInfo(resolved, paramIndex, paramOffset, paramSize));
}

static cudart_code same_function(CUfunction *target, CUfunction source)
{
    *target = source;
    return 0;
}

/* Unlike the calls above these two take nothing but a host address. */
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    if (!functionPtr)
        return cudart_finish(cudaErrorInvalidValue);
    if (!cudart_find_kernel(symbolPtr))
        return cudart_finish(cudaErrorInvalidDeviceFunction);
    ON_FUNCTION(symbolPtr, same_function(functionPtr, resolved));
}

cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    if (!kernelPtr)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(cudart_resolve_kernel(entryFuncAddr, kernelPtr));
}

/* Occupancy ------------------------------------------------------------------------------------ */

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                          int blockSize, size_t dynamicSMemSize)
{
    ON_FUNCTION(func, cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, resolved, blockSize,
                                                                  dynamicSMemSize));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func,
                                                                   int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned flags)
{
    ON_FUNCTION(func, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                          numBlocks, resolved, blockSize, dynamicSMemSize, flags));
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
                                                      int numBlocks, int blockSize)
{
    ON_FUNCTION(func, cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, resolved, numBlocks,
                                                              blockSize));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                 const cudaLaunchConfig_t *launchConfig)
{
    if (!launchConfig)
        return cudart_finish(cudaErrorInvalidValue);
    CUlaunchConfig config = cudart_launch_config(launchConfig);
    ON_FUNCTION(func, cuOccupancyMaxPotentialClusterSize(clusterSize, resolved, &config));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                           const cudaLaunchConfig_t *launchConfig)
{
    if (!launchConfig)
        return cudart_finish(cudaErrorInvalidValue);
    CUlaunchConfig config = cudart_launch_config(launchConfig);
    ON_FUNCTION(func, cuOccupancyMaxActiveClusters(numClusters, resolved, &config));
}
