/*
 * pool.c: stream-ordered allocation and memory pools.
 */
#include "cudart/cudart.h"

#include <stdint.h>

static cudart_code allocate_async(void **pointer, size_t size, CUmemoryPool pool, CUstream stream)
{
    CUdeviceptr address = 0;
    *pointer = NULL;
    if (size == 0)
        return 0;
    cudart_code error = pool ? (cudart_code)cuMemAllocFromPoolAsync(&address, size, pool, stream)
                             : (cudart_code)cuMemAllocAsync(&address, size, stream);
    *pointer = (void *)(uintptr_t)address;
    return error;
}

cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t stream)
{
    if (!devPtr)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(allocate_async(devPtr, size, NULL, stream));
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                    cudaStream_t stream)
{
    if (!ptr || !memPool)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(allocate_async(ptr, size, memPool, stream));
}

cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t stream)
{
    return CUDART_CALL(devPtr ? cuMemFreeAsync((CUdeviceptr)(uintptr_t)devPtr, stream)
                              : CUDA_SUCCESS);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    return CUDART_CALL(cuDeviceGetDefaultMemPool(memPool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    return CUDART_CALL(cuDeviceSetMemPool(device, memPool));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    return CUDART_CALL(cuDeviceGetMemPool(memPool, device));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const cudaMemPoolProps *poolProps)
{
    return CUDART_CALL(cuMemPoolCreate(memPool, poolProps));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    return CUDART_CALL(cuMemPoolDestroy(memPool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    return CUDART_CALL(cuMemPoolTrimTo(memPool, minBytesToKeep));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, CUmemPool_attribute attr, void *value)
{
    return CUDART_CALL(cuMemPoolSetAttribute(memPool, attr, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, CUmemPool_attribute attr, void *value)
{
    return CUDART_CALL(cuMemPoolGetAttribute(memPool, attr, value));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const cudaMemAccessDesc *descList,
                                 size_t count)
{
    return CUDART_CALL(cuMemPoolSetAccess(memPool, descList, count));
}

cudaError_t cudaMemPoolGetAccess(CUmemAccess_flags *flags, cudaMemPool_t memPool,
                                 cudaMemLocation *location)
{
    return CUDART_CALL(cuMemPoolGetAccess(flags, memPool, location));
}

#if CUDART_VERSION_MAJOR >= 13
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, cudaMemLocation *location,
                                     CUmemAllocationType type)
{
    return CUDART_CALL(cuMemGetDefaultMemPool(memPool, location, type));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *memPool, cudaMemLocation *location,
                              CUmemAllocationType type)
{
    return CUDART_CALL(cuMemGetMemPool(memPool, location, type));
}

cudaError_t cudaMemSetMemPool(cudaMemLocation *location, CUmemAllocationType type,
                              cudaMemPool_t memPool)
{
    return CUDART_CALL(cuMemSetMemPool(location, type, memPool));
}
#endif
