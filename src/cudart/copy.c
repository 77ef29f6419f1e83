/*
 * copy.c: one-dimensional copies and fills, between host, device and symbols.
 * A copy's kind is checked as the real runtime does it (measured on an H200): a side that kind
 * calls device memory must be known to the driver; a side that it calls host memory may be
 * anything.
 */
#include "cudart/cudart.h"

#include <stdint.h>
#include <string.h>

static CUdeviceptr address_of(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

/* 0 for memory that only the host knows. */
static CUmemorytype memory_type(const void *pointer)
{
    CUmemorytype type = 0;
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(pointer)))
        return 0;
    return type;
}

cudart_code cudart_check_kind(const void *target, const void *source, cudaMemcpyKind *kind)
{
    if ((unsigned)*kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!target || !source)
        return cudaErrorInvalidValue;
    CUmemorytype to = memory_type(target), from = memory_type(source);
    bool to_device = *kind == cudaMemcpyHostToDevice || *kind == cudaMemcpyDeviceToDevice;
    bool from_device = *kind == cudaMemcpyDeviceToHost || *kind == cudaMemcpyDeviceToDevice;
    /* "Device" memory that is none: the driver refuses it, and lets the checker know, for it may
     * have been freed. */
    if ((to_device && !to) || (from_device && !from))
        return 0;
    /* "Host" memory that is device memory: let the driver see for itself. */
    if ((!to_device && to == CU_MEMORYTYPE_DEVICE) ||
        (!from_device && from == CU_MEMORYTYPE_DEVICE))
        *kind = cudaMemcpyDefault;
    return 0;
}

static cudart_code copy_and_wait(void *target, const void *source, size_t count,
                                 cudaMemcpyKind kind, bool per_thread)
{
    CUdeviceptr to = address_of(target), from = address_of(source);
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return per_thread ? cuMemcpyHtoD_v2_ptds(to, source, count)
                          : cuMemcpyHtoD_v2(to, source, count);
    case cudaMemcpyDeviceToHost:
        return per_thread ? cuMemcpyDtoH_v2_ptds(target, from, count)
                          : cuMemcpyDtoH_v2(target, from, count);
    case cudaMemcpyDeviceToDevice:
        return per_thread ? cuMemcpyDtoD_v2_ptds(to, from, count)
                          : cuMemcpyDtoD_v2(to, from, count);
    default:
        return per_thread ? cuMemcpy_ptds(to, from, count) : cuMemcpy(to, from, count);
    }
}

static cudart_code copy_async(void *target, const void *source, size_t count, cudaMemcpyKind kind,
                              CUstream stream)
{
    CUdeviceptr to = address_of(target), from = address_of(source);
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoDAsync_v2(to, source, count, stream);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoHAsync_v2(target, from, count, stream);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoDAsync_v2(to, from, count, stream);
    default:
        return cuMemcpyAsync(to, from, count, stream);
    }
}

static cudart_code copy(void *target, const void *source, size_t count, cudaMemcpyKind kind,
                        enum cudart_order order, CUstream stream)
{
    if (count == 0)
        return (unsigned)kind > cudaMemcpyDefault ? (cudart_code)cudaErrorInvalidMemcpyDirection
                                                  : 0;
    cudart_code error = cudart_check_kind(target, source, &kind);
    if (error)
        return error;
    if (order == CUDART_ASYNC)
        return copy_async(target, source, count, kind, stream);
    return copy_and_wait(target, source, count, kind, order == CUDART_WAIT_PER_THREAD);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, cudaMemcpyKind kind)
{
    return CUDART_CALL(copy(dst, src, count, kind, CUDART_WAIT, NULL));
}

cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t count, cudaMemcpyKind kind)
{
    return CUDART_CALL(copy(dst, src, count, kind, CUDART_WAIT_PER_THREAD, NULL));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return CUDART_CALL(copy(dst, src, count, kind, CUDART_ASYNC, stream));
}

/* Between devices ------------------------------------------------------------------------------ */

static cudart_code copy_peer(void *target, int target_device, const void *source, int source_device,
                             size_t count, enum cudart_order order, CUstream stream)
{
    CUcontext to, from;
    cudart_code error = cudart_primary_context(target_device, &to);
    if (!error)
        error = cudart_primary_context(source_device, &from);
    if (error || count == 0)
        return error;
    if (order == CUDART_ASYNC)
        return cuMemcpyPeerAsync(address_of(target), to, address_of(source), from, count, stream);
    return cuMemcpyPeer(address_of(target), to, address_of(source), from, count);
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    return CUDART_CALL(copy_peer(dst, dstDevice, src, srcDevice, count, CUDART_WAIT, NULL));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                size_t count, cudaStream_t stream)
{
    return CUDART_CALL(copy_peer(dst, dstDevice, src, srcDevice, count, CUDART_ASYNC, stream));
}

/* Many at once --------------------------------------------------------------------------------- */

static cudaError_t copy_batch(void *const *targets, const void *const *sources, const size_t *sizes,
                              size_t count, size_t *failed, cudaStream_t stream)
{
    if (!targets || !sources || !sizes || !count)
        return cudart_finish(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        cudaError_t error =
            cudaMemcpyAsync(targets[i], sources[i], sizes[i], cudaMemcpyDefault, stream);
        if (error) {
            if (failed)
                *failed = i;
            return error;
        }
    }
    return cudaSuccess;
}

#if CUDART_VERSION_MAJOR == 12
cudaError_t cudaMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count,
                                 cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                 size_t *failIdx, cudaStream_t stream)
{
    return copy_batch(dsts, (const void *const *)srcs, sizes, count, failIdx, stream);
}
#else
cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes,
                                 size_t count, cudaMemcpyAttributes *attrs, size_t *attrsIdxs,
                                 size_t numAttrs, cudaStream_t stream)
{
    return copy_batch(dsts, srcs, sizes, count, NULL, stream);
}
#endif

/* Symbols -------------------------------------------------------------------------------------- */

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CUdeviceptr address = 0;
    size_t size;
    if (!devPtr)
        return cudart_finish(cudaErrorInvalidValue);
    cudaError_t error = CUDART_CALL(cudart_symbol(symbol, &address, &size));
    if (!error)
        *devPtr = (void *)(uintptr_t)address;
    return error;
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CUdeviceptr address;
    size_t bytes = 0;
    if (!size)
        return cudart_finish(cudaErrorInvalidValue);
    cudaError_t error = CUDART_CALL(cudart_symbol(symbol, &address, &bytes));
    if (!error)
        *size = bytes;
    return error;
}

/* The device address of [offset, offset + count) of a symbol. */
static cudart_code inside_symbol(const void *symbol, size_t count, size_t offset, void **place)
{
    CUdeviceptr address = 0;
    size_t size = 0, end;
    cudart_code error = cudart_symbol(symbol, &address, &size);
    if (error)
        return error;
    if (__builtin_add_overflow(offset, count, &end) || end > size)
        return cudaErrorInvalidValue;
    *place = (void *)(uintptr_t)(address + offset);
    return 0;
}

static cudart_code copy_to_symbol(const void *symbol, const void *source, size_t count,
                                  size_t offset, cudaMemcpyKind kind, enum cudart_order order,
                                  CUstream stream)
{
    void *place;
    cudart_code error = inside_symbol(symbol, count, offset, &place);
    if (error)
        return error;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    return copy(place, source, count, kind, order, stream);
}

static cudart_code copy_from_symbol(void *target, const void *symbol, size_t count, size_t offset,
                                    cudaMemcpyKind kind, enum cudart_order order, CUstream stream)
{
    void *place;
    cudart_code error = inside_symbol(symbol, count, offset, &place);
    if (error)
        return error;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    return copy(target, place, count, kind, order, stream);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               cudaMemcpyKind kind)
{
    return CUDART_CALL(copy_to_symbol(symbol, src, count, offset, kind, CUDART_WAIT, NULL));
}

cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *src, size_t count,
                                    size_t offset, cudaMemcpyKind kind)
{
    return CUDART_CALL(
        copy_to_symbol(symbol, src, count, offset, kind, CUDART_WAIT_PER_THREAD, NULL));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    return CUDART_CALL(copy_to_symbol(symbol, src, count, offset, kind, CUDART_ASYNC, stream));
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind)
{
    return CUDART_CALL(copy_from_symbol(dst, symbol, count, offset, kind, CUDART_WAIT, NULL));
}

cudaError_t cudaMemcpyFromSymbol_ptds(void *dst, const void *symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind)
{
    return CUDART_CALL(
        copy_from_symbol(dst, symbol, count, offset, kind, CUDART_WAIT_PER_THREAD, NULL));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream)
{
    return CUDART_CALL(copy_from_symbol(dst, symbol, count, offset, kind, CUDART_ASYNC, stream));
}
