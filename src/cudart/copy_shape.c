/*
 * copy_shape.c: copies of rectangles and boxes. All of them become the driver's 3D copy. A side is
 * a pitched pointer or a CUDA array.
 */
#include "cudart/texture_abi.h"

#include <stdint.h>

static void set_source(CUDA_MEMCPY3D *copy, const void *pointer, bool device, bool unified)
{
    if (device || unified) {
        copy->srcMemoryType = unified ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
        copy->srcDevice = (CUdeviceptr)(uintptr_t)pointer;
    } else {
        copy->srcMemoryType = CU_MEMORYTYPE_HOST;
        copy->srcHost = pointer;
    }
}

static void set_target(CUDA_MEMCPY3D *copy, void *pointer, bool device, bool unified)
{
    if (device || unified) {
        copy->dstMemoryType = unified ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
        copy->dstDevice = (CUdeviceptr)(uintptr_t)pointer;
    } else {
        copy->dstMemoryType = CU_MEMORYTYPE_HOST;
        copy->dstHost = pointer;
    }
}

/* With an array in it, extents and the array's positions count its elements. */
static cudart_code array_params(const cudaMemcpy3DParms *params, CUDA_MEMCPY3D *copy)
{
    size_t from = params->srcArray ? cudart_array_element(params->srcArray) : 0;
    size_t to = params->dstArray ? cudart_array_element(params->dstArray) : 0;
    size_t element = from ? from : to;
    if ((params->srcArray && (!from || params->srcPtr.ptr)) ||
        (params->dstArray && (!to || params->dstPtr.ptr)) || (from && to && from != to) ||
        (!from && !params->srcPtr.ptr) || (!to && !params->dstPtr.ptr))
        return cudaErrorInvalidValue;
    cudaMemcpyKind kind = params->kind;
    if ((unsigned)kind > cudaMemcpyDefault || (from && kind == cudaMemcpyHostToDevice) ||
        (to && kind == cudaMemcpyDeviceToHost) || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    bool unified = kind == cudaMemcpyDefault;
    *copy = (CUDA_MEMCPY3D){.srcXInBytes = params->srcPos.x * (from ? from : 1),
                            .srcY = params->srcPos.y,
                            .srcZ = params->srcPos.z,
                            .dstXInBytes = params->dstPos.x * (to ? to : 1),
                            .dstY = params->dstPos.y,
                            .dstZ = params->dstPos.z,
                            .WidthInBytes = params->extent.width * element,
                            .Height = params->extent.height,
                            .Depth = params->extent.depth};
    if (from) {
        copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy->srcArray = (CUarray)(void *)params->srcArray;
    } else {
        set_source(copy, params->srcPtr.ptr, kind == cudaMemcpyDeviceToDevice, unified);
        copy->srcPitch = params->srcPtr.pitch;
        copy->srcHeight = params->srcPtr.ysize;
    }
    if (to) {
        copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy->dstArray = (CUarray)(void *)params->dstArray;
    } else {
        set_target(copy, params->dstPtr.ptr, kind == cudaMemcpyDeviceToDevice, unified);
        copy->dstPitch = params->dstPtr.pitch;
        copy->dstHeight = params->dstPtr.ysize;
    }
    return 0;
}

cudart_code cudart_copy_3d_params(const cudaMemcpy3DParms *params, CUDA_MEMCPY3D *copy)
{
    if (!params)
        return cudaErrorInvalidValue;
    if (params->srcArray || params->dstArray)
        return array_params(params, copy);
    const cudaPitchedPtr *from = &params->srcPtr, *to = &params->dstPtr;
    cudaMemcpyKind kind = params->kind;
    cudart_code error = cudart_check_kind(to->ptr, from->ptr, &kind);
    if (error)
        return error;
    bool rows = params->extent.height > 1 || params->extent.depth > 1;
    if (rows && (from->pitch < params->srcPos.x + params->extent.width ||
                 to->pitch < params->dstPos.x + params->extent.width))
        return cudaErrorInvalidPitchValue;
    bool unified = kind == cudaMemcpyDefault;
    *copy = (CUDA_MEMCPY3D){.srcXInBytes = params->srcPos.x,
                            .srcY = params->srcPos.y,
                            .srcZ = params->srcPos.z,
                            .srcPitch = from->pitch,
                            .srcHeight = from->ysize,
                            .dstXInBytes = params->dstPos.x,
                            .dstY = params->dstPos.y,
                            .dstZ = params->dstPos.z,
                            .dstPitch = to->pitch,
                            .dstHeight = to->ysize,
                            .WidthInBytes = params->extent.width,
                            .Height = params->extent.height,
                            .Depth = params->extent.depth};
    set_source(copy, from->ptr, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
               unified);
    set_target(copy, to->ptr, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice,
               unified);
    return 0;
}

void cudart_copy_3d_params_back(const CUDA_MEMCPY3D *copy, cudaMemcpy3DParms *params)
{
    bool from_host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;
    bool to_host = copy->dstMemoryType == CU_MEMORYTYPE_HOST;
    bool unified = copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED ||
                   copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED;
    const void *from = from_host ? copy->srcHost : (void *)(uintptr_t)copy->srcDevice;
    void *to = to_host ? copy->dstHost : (void *)(uintptr_t)copy->dstDevice;
    size_t from_size =
        copy->srcArray ? cudart_array_element((cudaArray_t)(void *)copy->srcArray) : 0;
    size_t to_size = copy->dstArray ? cudart_array_element((cudaArray_t)(void *)copy->dstArray) : 0;
    *params = (cudaMemcpy3DParms){.srcPos = {copy->srcXInBytes, copy->srcY, copy->srcZ},
                                  .srcPtr = {(void *)from, copy->srcPitch, 0, copy->srcHeight},
                                  .dstPos = {copy->dstXInBytes, copy->dstY, copy->dstZ},
                                  .dstPtr = {to, copy->dstPitch, 0, copy->dstHeight},
                                  .extent = {copy->WidthInBytes, copy->Height, copy->Depth},
                                  .kind = unified                ? cudaMemcpyDefault
                                          : from_host && to_host ? cudaMemcpyHostToHost
                                          : from_host            ? cudaMemcpyHostToDevice
                                          : to_host              ? cudaMemcpyDeviceToHost
                                                                 : cudaMemcpyDeviceToDevice};
    size_t element = from_size ? from_size : to_size;
    if (!element)
        return;
    params->extent.width /= element;
    params->srcArray = (cudaArray_t)(void *)copy->srcArray;
    params->dstArray = (cudaArray_t)(void *)copy->dstArray;
    params->srcPos.x /= from_size ? from_size : 1;
    params->dstPos.x /= to_size ? to_size : 1;
}

static cudart_code copy_3d(const cudaMemcpy3DParms *params, enum cudart_order order,
                           CUstream stream)
{
    CUDA_MEMCPY3D copy;
    bool has_array = params && (params->srcArray || params->dstArray);
    if (params && !has_array &&
        (!params->extent.width || !params->extent.height || !params->extent.depth))
        return 0;
    cudart_code error = cudart_copy_3d_params(params, &copy);
    if (error)
        return error;
    return order == CUDART_ASYNC  ? cuMemcpy3DAsync_v2(&copy, stream)
           : order == CUDART_WAIT ? cuMemcpy3D_v2(&copy)
                                  : cuMemcpy3D_v2_ptds(&copy);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p)
{
    return CUDART_CALL(copy_3d(p, CUDART_WAIT, NULL));
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms *p)
{
    return CUDART_CALL(copy_3d(p, CUDART_WAIT_PER_THREAD, NULL));
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return CUDART_CALL(copy_3d(p, CUDART_ASYNC, stream));
}

/* Two dimensions ------------------------------------------------------------------------------- */

static cudart_code copy_2d(void *target, size_t target_pitch, const void *source,
                           size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                           enum cudart_order order, CUstream stream)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (width == 0 || height == 0)
        return 0;
    if (height > 1 && (width > target_pitch || width > source_pitch))
        return cudaErrorInvalidPitchValue;
    cudaMemcpy3DParms params = {.srcPtr = {(void *)source, source_pitch, width, height},
                                .dstPtr = {target, target_pitch, width, height},
                                .extent = {width, height, 1},
                                .kind = kind};
    return copy_3d(&params, order, stream);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind)
{
    return CUDART_CALL(copy_2d(dst, dpitch, src, spitch, width, height, kind, CUDART_WAIT, NULL));
}

cudaError_t cudaMemcpy2D_ptds(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, cudaMemcpyKind kind)
{
    return CUDART_CALL(
        copy_2d(dst, dpitch, src, spitch, width, height, kind, CUDART_WAIT_PER_THREAD, NULL));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return CUDART_CALL(
        copy_2d(dst, dpitch, src, spitch, width, height, kind, CUDART_ASYNC, stream));
}

/* Between devices ------------------------------------------------------------------------------ */

/* Addresses of all devices are different, so a copy between them is one of device memory. */
static cudart_code copy_3d_peer(const cudaMemcpy3DPeerParms *peer, enum cudart_order order,
                                CUstream stream)
{
    if (!peer)
        return cudaErrorInvalidValue;
    CUcontext context;
    cudart_code error = cudart_primary_context(peer->srcDevice, &context);
    if (!error)
        error = cudart_primary_context(peer->dstDevice, &context);
    if (error)
        return error;
    cudaMemcpy3DParms params = {.srcArray = peer->srcArray,
                                .srcPos = peer->srcPos,
                                .srcPtr = peer->srcPtr,
                                .dstArray = peer->dstArray,
                                .dstPos = peer->dstPos,
                                .dstPtr = peer->dstPtr,
                                .extent = peer->extent,
                                .kind = cudaMemcpyDefault};
    return copy_3d(&params, order, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p)
{
    return CUDART_CALL(copy_3d_peer(p, CUDART_WAIT, NULL));
}

cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms *p)
{
    return CUDART_CALL(copy_3d_peer(p, CUDART_WAIT_PER_THREAD, NULL));
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return CUDART_CALL(copy_3d_peer(p, CUDART_ASYNC, stream));
}

/* Many at once --------------------------------------------------------------------------------- */

/* A length or height of 0 means: as long or high as the box. */
static cudaPitchedPtr batch_side(const CUmemcpy3DOperand *operand, const CUextent3D *extent)
{
    size_t length = operand->op.ptr.rowLength, height = operand->op.ptr.layerHeight;
    return (cudaPitchedPtr){(void *)(uintptr_t)operand->op.ptr.ptr, length ? length : extent->width,
                            extent->width, height ? height : extent->height};
}

static cudart_code copy_3d_batch(size_t count, const cudaMemcpy3DBatchOp *operations,
                                 size_t *failed, unsigned long long flags, CUstream stream)
{
    if (!count || !operations || flags)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        const cudaMemcpy3DBatchOp *one = &operations[i];
        cudart_code error = cudaErrorNotSupported;
        if (one->src.type == CU_MEMCPY_OPERAND_TYPE_POINTER &&
            one->dst.type == CU_MEMCPY_OPERAND_TYPE_POINTER) {
            cudaMemcpy3DParms params = {
                .srcPtr = batch_side(&one->src, &one->extent),
                .dstPtr = batch_side(&one->dst, &one->extent),
                .extent = {one->extent.width, one->extent.height, one->extent.depth},
                .kind = cudaMemcpyDefault};
            error = copy_3d(&params, CUDART_ASYNC, stream);
        }
        if (error) {
            if (failed)
                *failed = i;
            return error;
        }
    }
    return 0;
}

#if CUDART_VERSION_MAJOR == 12
cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, cudaMemcpy3DBatchOp *opList, size_t *failIdx,
                                   unsigned long long flags, cudaStream_t stream)
{
    return CUDART_CALL(copy_3d_batch(numOps, opList, failIdx, flags, stream));
}
#else
cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, cudaMemcpy3DBatchOp *opList,
                                   unsigned long long flags, cudaStream_t stream)
{
    return CUDART_CALL(copy_3d_batch(numOps, opList, NULL, flags, stream));
}
#endif
