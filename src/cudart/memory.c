/*
 * memory.c: allocations: device, pinned, managed, registered; and what is known about a pointer.
 * Stream-ordered allocation is in pool.c.
 */
#include "cudart/cudart.h"

#include <stdint.h>

/* An allocation of nothing succeeds and gives NULL. */
static cudart_code allocate(void **pointer, size_t size)
{
    *pointer = NULL;
    CUdeviceptr address = 0;
    cudart_code error = size ? (cudart_code)cuMemAlloc_v2(&address, size) : 0;
    *pointer = (void *)(uintptr_t)address;
    return error;
}

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    if (!devPtr)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(allocate(devPtr, size));
}

/* cudaFree(NULL) frees nothing, but it is how programs start the device and learn that it broke. */
static cudart_code release(void *pointer)
{
    size_t free_bytes, total_bytes;
    if (!pointer)
        return cuMemGetInfo_v2(&free_bytes, &total_bytes);
    return cuMemFree_v2((CUdeviceptr)(uintptr_t)pointer);
}

cudaError_t cudaFree(void *devPtr)
{
    return CUDART_CALL(release(devPtr));
}

static cudart_code allocate_pitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr address = 0;
    *pointer = NULL;
    *pitch = 0;
    if (width == 0 || height == 0)
        return 0;
    cudart_code error = cuMemAllocPitch_v2(&address, pitch, width, height, 4);
    *pointer = (void *)(uintptr_t)address;
    return error;
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    if (!devPtr || !pitch)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(allocate_pitch(devPtr, pitch, width, height));
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *pitchedDevPtr, cudaExtent extent)
{
    if (!pitchedDevPtr)
        return cudart_finish(cudaErrorInvalidValue);
    size_t rows;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return cudart_finish(cudaErrorMemoryAllocation);
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return CUDART_CALL(
        allocate_pitch(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width, rows));
}

static cudart_code allocate_managed(void **pointer, size_t size, unsigned flags)
{
    CUdeviceptr address = 0;
    cudart_code error = size ? (cudart_code)cuMemAllocManaged(&address, size, flags) : 0;
    *pointer = (void *)(uintptr_t)address;
    return error;
}

cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned flags)
{
    if (!devPtr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(allocate_managed(devPtr, size, flags));
}

/* Host memory ---------------------------------------------------------------------------------- */

static cudart_code allocate_host(void **pointer, size_t size, unsigned flags)
{
    *pointer = NULL;
    if (size == 0)
        return 0;
    return cuMemHostAlloc(pointer, size, flags | CU_MEMHOSTALLOC_DEVICEMAP);
}

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned flags)
{
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (!pHost || (flags & ~known))
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(allocate_host(pHost, size, flags));
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    return cudaHostAlloc(ptr, size, 0);
}

cudaError_t cudaFreeHost(void *ptr)
{
    return CUDART_CALL(ptr ? cuMemFreeHost(ptr) : CUDA_SUCCESS);
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned flags)
{
    if (!ptr || size == 0)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(cuMemHostRegister_v2(ptr, size, flags | CU_MEMHOSTREGISTER_DEVICEMAP));
}

cudaError_t cudaHostUnregister(void *ptr)
{
    return CUDART_CALL(cuMemHostUnregister(ptr));
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned flags)
{
    CUdeviceptr address = 0;
    if (!pDevice)
        return cudart_finish(cudaErrorInvalidValue);
    cudaError_t error = CUDART_CALL(cuMemHostGetDevicePointer_v2(&address, pHost, flags));
    *pDevice = (void *)(uintptr_t)address;
    return error;
}

cudaError_t cudaHostGetFlags(unsigned *pFlags, void *pHost)
{
    return CUDART_CALL(cuMemHostGetFlags(pFlags, pHost));
}

/* Questions ------------------------------------------------------------------------------------ */

static cudart_code memory_info(size_t *free_bytes, size_t *total_bytes)
{
    size_t free_here = 0, total_here = 0;
    cudart_code error = cuMemGetInfo_v2(&free_here, &total_here);
    if (free_bytes)
        *free_bytes = free_here;
    if (total_bytes)
        *total_bytes = total_here;
    return error;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    return CUDART_CALL(memory_info(free, total));
}

static cudart_code pointer_attributes(cudaPointerAttributes *attributes, const void *pointer)
{
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)pointer, device_pointer = 0;
    CUmemorytype type = 0;
    unsigned managed = 0;
    int ordinal = CU_DEVICE_INVALID;
    *attributes =
        (cudaPointerAttributes){.device = CU_DEVICE_INVALID, .hostPointer = (void *)pointer};
    if (!pointer || cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address))
        return 0; /* not ours: an unregistered host pointer */
    cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
    if (!cuPointerGetAttribute(&device_pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address))
        attributes->devicePointer = (void *)(uintptr_t)device_pointer;
    if (cuPointerGetAttribute(&attributes->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address))
        attributes->hostPointer = NULL;
    attributes->device = ordinal;
    attributes->type = managed                      ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                    : cudaMemoryTypeDevice;
    return 0;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *ptr)
{
    if (!attributes)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(pointer_attributes(attributes, ptr));
}

/* Managed memory ------------------------------------------------------------------------------- */

static cudaError_t prefetch(const void *pointer, size_t count, cudaMemLocation location,
                            unsigned flags, cudaStream_t stream)
{
    return CUDART_CALL(
        cuMemPrefetchAsync_v2((CUdeviceptr)(uintptr_t)pointer, count, location, flags, stream));
}

static cudaError_t advise(const void *pointer, size_t count, CUmem_advise advice,
                          cudaMemLocation location)
{
    return CUDART_CALL(cuMemAdvise_v2((CUdeviceptr)(uintptr_t)pointer, count, advice, location));
}

#if CUDART_VERSION_MAJOR == 12
static cudaMemLocation location_of(int device)
{
    return device == CU_DEVICE_CPU ? (cudaMemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                                   : (cudaMemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice,
                                 cudaStream_t stream)
{
    return prefetch(devPtr, count, location_of(dstDevice), 0, stream);
}

cudaError_t cudaMemPrefetchAsync_v2(const void *devPtr, size_t count, cudaMemLocation location,
                                    unsigned flags, cudaStream_t stream)
{
    return prefetch(devPtr, count, location, flags, stream);
}

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, CUmem_advise advice, int device)
{
    return advise(devPtr, count, advice, location_of(device));
}

cudaError_t cudaMemAdvise_v2(const void *devPtr, size_t count, CUmem_advise advice,
                             cudaMemLocation location)
{
    return advise(devPtr, count, advice, location);
}
#else
cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream)
{
    return prefetch(devPtr, count, location, flags, stream);
}

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, CUmem_advise advice,
                          cudaMemLocation location)
{
    return advise(devPtr, count, advice, location);
}

/* One call for many ranges; locations[i] holds for the ranges from indices[i] on. */
cudaError_t cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                      cudaMemLocation *locations, size_t *indices,
                                      size_t numLocations, unsigned long long flags,
                                      cudaStream_t stream)
{
    if (!dptrs || !sizes || !count || !locations || !indices || !numLocations || flags)
        return cudart_finish(cudaErrorInvalidValue);
    for (size_t i = 0, at = 0; i < count; i++) {
        while (at + 1 < numLocations && indices[at + 1] <= i)
            at++;
        cudaError_t error = prefetch(dptrs[i], sizes[i], locations[at], 0, stream);
        if (error)
            return error;
    }
    return cudaSuccess;
}

/* Discarding lets contents become undefined; keeping them is one of the allowed outcomes. */
cudaError_t cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream)
{
    if (!dptrs || !sizes || !count || flags)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(0);
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                                cudaMemLocation *locations, size_t *indices,
                                                size_t numLocations, unsigned long long flags,
                                                cudaStream_t stream)
{
    return cudaMemPrefetchBatchAsync(dptrs, sizes, count, locations, indices, numLocations, flags,
                                     stream);
}
#endif

cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                     const void *devPtr, size_t count)
{
    return CUDART_CALL(
        cuMemRangeGetAttribute(data, dataSize, attribute, (CUdeviceptr)(uintptr_t)devPtr, count));
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes,
                                      CUmem_range_attribute *attributes, size_t numAttributes,
                                      const void *devPtr, size_t count)
{
    return CUDART_CALL(cuMemRangeGetAttributes(data, dataSizes, attributes, numAttributes,
                                               (CUdeviceptr)(uintptr_t)devPtr, count));
}
