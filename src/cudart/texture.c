/*
 * texture.c: texture and surface objects of the runtime, in the driver's words.
 */
#include "cudart/texture_abi.h"

#include <stdint.h>
#include <string.h>

static cudart_code resource_to_driver(const cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
    *to = (CUDA_RESOURCE_DESC){.resType = from->resType};
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.hArray = (CUarray)(void *)from->res.array.array;
        return 0;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.hMipmappedArray = (CUmipmappedArray)(void *)from->res.mipmap.mipmap;
        return 0;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (uintptr_t)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return cudart_channel_format(&from->res.linear.desc, &to->res.linear.format,
                                     &to->res.linear.numChannels)
                   ? 0
                   : cudaErrorInvalidChannelDescriptor;
    case CU_RESOURCE_TYPE_PITCH2D:
        to->res.pitch2D.devPtr = (uintptr_t)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return cudart_channel_format(&from->res.pitch2D.desc, &to->res.pitch2D.format,
                                     &to->res.pitch2D.numChannels)
                   ? 0
                   : cudaErrorInvalidChannelDescriptor;
    default:
        return cudaErrorInvalidValue;
    }
}

static void resource_from_driver(const CUDA_RESOURCE_DESC *from, cudaResourceDesc *to)
{
    *to = (cudaResourceDesc){.resType = from->resType};
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.array = (cudaArray_t)(void *)from->res.array.hArray;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.mipmap = (cudaMipmappedArray_t)(void *)from->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (void *)(uintptr_t)from->res.linear.devPtr;
        to->res.linear.desc =
            cudart_channel_desc(from->res.linear.format, from->res.linear.numChannels);
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        break;
    default:
        to->res.pitch2D.devPtr = (void *)(uintptr_t)from->res.pitch2D.devPtr;
        to->res.pitch2D.desc =
            cudart_channel_desc(from->res.pitch2D.format, from->res.pitch2D.numChannels);
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
    }
}

static void sampler_to_driver(const cudaTextureDesc *from, CUDA_TEXTURE_DESC *to)
{
    *to = (CUDA_TEXTURE_DESC){.filterMode = from->filterMode,
                              .maxAnisotropy = from->maxAnisotropy,
                              .mipmapFilterMode = from->mipmapFilterMode,
                              .mipmapLevelBias = from->mipmapLevelBias,
                              .minMipmapLevelClamp = from->minMipmapLevelClamp,
                              .maxMipmapLevelClamp = from->maxMipmapLevelClamp};
    memcpy(to->addressMode, from->addressMode, sizeof to->addressMode);
    memcpy(to->borderColor, from->borderColor, sizeof to->borderColor);
    to->flags = (from->readMode ? 0 : CU_TRSF_READ_AS_INTEGER) |
                (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                (from->sRGB ? CU_TRSF_SRGB : 0) |
                (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
                (from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
}

static void sampler_from_driver(const CUDA_TEXTURE_DESC *from, cudaTextureDesc *to)
{
    *to = (cudaTextureDesc){.filterMode = from->filterMode,
                            .readMode = !(from->flags & CU_TRSF_READ_AS_INTEGER),
                            .sRGB = (from->flags & CU_TRSF_SRGB) != 0,
                            .normalizedCoords = (from->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
                            .maxAnisotropy = from->maxAnisotropy,
                            .mipmapFilterMode = from->mipmapFilterMode,
                            .mipmapLevelBias = from->mipmapLevelBias,
                            .minMipmapLevelClamp = from->minMipmapLevelClamp,
                            .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
                            .disableTrilinearOptimization =
                                (from->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0,
                            .seamlessCubemap = (from->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0};
    memcpy(to->addressMode, from->addressMode, sizeof to->addressMode);
    memcpy(to->borderColor, from->borderColor, sizeof to->borderColor);
}

static cudart_code make_texture(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                const cudaTextureDesc *sampler, const cudaResourceViewDesc *view)
{
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t;
    CUDA_RESOURCE_VIEW_DESC v = {0};
    if (!object || !resource || !sampler)
        return cudaErrorInvalidValue;
    cudart_code error = resource_to_driver(resource, &r);
    if (error)
        return error;
    sampler_to_driver(sampler, &t);
    if (view)
        memcpy(&v, view, sizeof *view);
    return cuTexObjectCreate(object, &r, &t, view ? &v : NULL);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *sampler,
                                    const cudaResourceViewDesc *view)
{
    return CUDART_CALL(make_texture(object, resource, sampler, view));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    return CUDART_CALL(cuTexObjectDestroy(object));
}

static cudart_code texture_resource(cudaResourceDesc *resource, cudaTextureObject_t object)
{
    CUDA_RESOURCE_DESC r;
    cudart_code error =
        resource ? (cudart_code)cuTexObjectGetResourceDesc(&r, object) : cudaErrorInvalidValue;
    if (!error)
        resource_from_driver(&r, resource);
    return error;
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *resource, cudaTextureObject_t object)
{
    return CUDART_CALL(texture_resource(resource, object));
}

static cudart_code texture_sampler(cudaTextureDesc *sampler, cudaTextureObject_t object)
{
    CUDA_TEXTURE_DESC t;
    cudart_code error =
        sampler ? (cudart_code)cuTexObjectGetTextureDesc(&t, object) : cudaErrorInvalidValue;
    if (!error)
        sampler_from_driver(&t, sampler);
    return error;
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *sampler, cudaTextureObject_t object)
{
    return CUDART_CALL(texture_sampler(sampler, object));
}

static cudart_code texture_view(cudaResourceViewDesc *view, cudaTextureObject_t object)
{
    CUDA_RESOURCE_VIEW_DESC v;
    cudart_code error =
        view ? (cudart_code)cuTexObjectGetResourceViewDesc(&v, object) : cudaErrorInvalidValue;
    if (!error)
        memcpy(view, &v, sizeof *view);
    return error;
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc *view,
                                                 cudaTextureObject_t object)
{
    return CUDART_CALL(texture_view(view, object));
}

/* Surfaces ---------------------------------------------------------------------------------------
 */

static cudart_code make_surface(cudaSurfaceObject_t *object, const cudaResourceDesc *resource)
{
    CUDA_RESOURCE_DESC r;
    if (!object || !resource)
        return cudaErrorInvalidValue;
    return resource_to_driver(resource, &r) ?: (cudart_code)cuSurfObjectCreate(object, &r);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const cudaResourceDesc *resource)
{
    return CUDART_CALL(make_surface(object, resource));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    return CUDART_CALL(cuSurfObjectDestroy(object));
}

static cudart_code surface_resource(cudaResourceDesc *resource, cudaSurfaceObject_t object)
{
    CUDA_RESOURCE_DESC r;
    cudart_code error =
        resource ? (cudart_code)cuSurfObjectGetResourceDesc(&r, object) : cudaErrorInvalidValue;
    if (!error)
        resource_from_driver(&r, resource);
    return error;
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *resource, cudaSurfaceObject_t object)
{
    return CUDART_CALL(surface_resource(resource, object));
}
