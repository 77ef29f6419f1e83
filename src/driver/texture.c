/*
 * texture.c: texture and surface objects: what may be made of which resource, and the entry in the
 * machine's table that instructions find by the handle.
 */
#include "driver/array.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* What the program described, for cuTexObjectGet..Desc. */
struct texture_object {
    CUcontext context;
    bool is_surface, has_view;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampler;
    CUDA_RESOURCE_VIEW_DESC view;
};

static struct drv_table objects[DRV_DEVICES_MAX]; /* by handle */

/* As CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT says. */
#define ALIGNMENT 512

/* Texels that a texture of linear memory may have. */
size_t drv_texture_linear_most(unsigned element)
{
    size_t by_bytes = ((size_t)1 << 32) / element, most = (size_t)1 << 30;
    return by_bytes < most ? by_bytes : most;
}

/* Images -----------------------------------------------------------------------------------------
 */

static bool set_format(struct simt_texture *texture, CUarray_format format, unsigned channels)
{
    unsigned element;
    enum texture_format kind;
    if (!drv_array_format(format, channels, &element, &kind))
        return false;
    texture->format = (uint8_t)kind;
    texture->channels = (uint8_t)channels;
    texture->element = (uint8_t)element;
    return true;
}

static CUresult image_of_array(CUmipmappedArray whole, unsigned first, unsigned count,
                               struct simt_texture *texture)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = &whole->descriptor;
    set_format(texture, d->Format, d->NumChannels);
    texture->is_layered = d->Flags & CUDA_ARRAY3D_LAYERED;
    texture->is_cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
    bool slices = texture->is_layered || texture->is_cube;
    texture->dimensions = (uint8_t)(d->Depth && !slices ? 3 : d->Height ? 2 : 1);
    texture->layers = slices ? (uint32_t)d->Depth : 1;
    texture->level_count = (uint8_t)count;
    memcpy(texture->levels, whole->levels + first, count * sizeof *texture->levels);
    texture->image = whole->memory;
    return CUDA_SUCCESS;
}

static CUresult image_of_linear(const CUDA_RESOURCE_DESC *resource, struct simt_texture *texture)
{
    size_t size = resource->res.linear.sizeInBytes;
    CUdeviceptr address = resource->res.linear.devPtr;
    if (!set_format(texture, resource->res.linear.format, resource->res.linear.numChannels) ||
        address % ALIGNMENT || !drv_is_device_address(address))
        return CUDA_ERROR_INVALID_VALUE;
    size_t most = drv_texture_linear_most(texture->element);
    size_t width = size / texture->element < most ? size / texture->element : most;
    texture->is_linear = true;
    texture->dimensions = 1;
    texture->layers = texture->level_count = 1;
    texture->levels[0] = (struct texture_level){
        .address = address, .width = (uint32_t)width, .height = 1, .depth = 1};
    return CUDA_SUCCESS;
}

static CUresult image_of_pitch(const CUDA_RESOURCE_DESC *resource, struct simt_texture *texture)
{
    size_t width = resource->res.pitch2D.width, height = resource->res.pitch2D.height;
    size_t pitch = resource->res.pitch2D.pitchInBytes;
    CUdeviceptr address = resource->res.pitch2D.devPtr;
    if (!set_format(texture, resource->res.pitch2D.format, resource->res.pitch2D.numChannels) ||
        address % ALIGNMENT || !drv_is_device_address(address) || width > 131072 ||
        height > 65000 || pitch % 32 || pitch > 2097120)
        return CUDA_ERROR_INVALID_VALUE;
    texture->dimensions = 2;
    texture->layers = texture->level_count = 1;
    texture->levels[0] = (struct texture_level){.address = address,
                                                .width = (uint32_t)width,
                                                .height = (uint32_t)height,
                                                .depth = 1,
                                                .pitch = (uint32_t)pitch};
    return CUDA_SUCCESS;
}

static CUresult image_of(const CUDA_RESOURCE_DESC *resource, struct simt_texture *texture)
{
    if (resource->flags)
        return CUDA_ERROR_INVALID_VALUE;
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
        CUarray array = resource->res.array.hArray;
        if (!drv_alive(array, DRV_ARRAY))
            return CUDA_ERROR_INVALID_VALUE;
        return image_of_array(array->whole, array->level, 1, texture);
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
        CUmipmappedArray whole = resource->res.mipmap.hMipmappedArray;
        if (!drv_alive(whole, DRV_MIPMAPPED))
            return CUDA_ERROR_INVALID_VALUE;
        return image_of_array(whole, 0, whole->level_count, texture);
    }
    case CU_RESOURCE_TYPE_LINEAR:
        return image_of_linear(resource, texture);
    case CU_RESOURCE_TYPE_PITCH2D:
        return image_of_pitch(resource, texture);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Views ------------------------------------------------------------------------------------------
 */

static bool set_view_format(struct simt_texture *texture, CUresourceViewFormat format)
{
    static const struct {
        enum texture_format kind;
        uint8_t bytes;
    } kinds[] = {{TEXTURE_U8, 1},  {TEXTURE_S8, 1},  {TEXTURE_U16, 2}, {TEXTURE_S16, 2},
                 {TEXTURE_U32, 4}, {TEXTURE_S32, 4}, {TEXTURE_F16, 2}, {TEXTURE_F32, 4}};
    static const uint8_t channels[] = {1, 2, 4};
    unsigned index = (unsigned)format - CU_RES_VIEW_FORMAT_UINT_1X8;
    unsigned element = index < 24 ? kinds[index / 3].bytes * channels[index % 3] : 0;
    if (element != texture->element) /* the bits are looked at in another way, but all of them */
        return false;
    texture->format = (uint8_t)kinds[index / 3].kind;
    texture->channels = channels[index % 3];
    return true;
}

static CUresult apply_view(const CUDA_RESOURCE_VIEW_DESC *view, struct simt_texture *texture)
{
    const struct texture_level *level = &texture->levels[0];
    bool slices = texture->is_layered || texture->is_cube;
    if (!texture->image) /* plain memory has no views, and a GPU's driver does not mind */
        return CUDA_SUCCESS;
    if (view->format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 &&
        view->format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7) {
        drv_remark_once("views of block-compressed texels are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    size_t height = texture->dimensions > 1 ? level->height : 0;
    size_t depth = slices ? texture->layers : texture->dimensions > 2 ? level->depth : 0;
    if (!set_view_format(texture, view->format) || view->width != level->width ||
        view->height != height || view->depth != depth)
        return CUDA_ERROR_INVALID_VALUE;
    if (view->lastMipmapLevel < view->firstMipmapLevel ||
        view->lastMipmapLevel >= texture->level_count || view->lastLayer < view->firstLayer ||
        view->lastLayer >= texture->layers)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned first = view->firstMipmapLevel, count = view->lastMipmapLevel - first + 1;
    memmove(texture->levels, texture->levels + first, count * sizeof *texture->levels);
    texture->level_count = (uint8_t)count;
    if (slices && (view->firstLayer || view->lastLayer)) {
        for (unsigned k = 0; k < count; k++)
            texture->levels[k].address += view->firstLayer * texture->levels[k].slice;
        texture->layers = view->lastLayer - view->firstLayer + 1;
    }
    return CUDA_SUCCESS;
}

/* Samplers ---------------------------------------------------------------------------------------
 */

/* Bits 2 and 3 mean nothing, but are taken. */
#define KNOWN_FLAGS                                                                                \
    (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | 0xc | CU_TRSF_SRGB |               \
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)

static CUresult apply_sampler(const CUDA_TEXTURE_DESC *sampler, struct simt_texture *texture)
{
    bool is_wide = texture->format == TEXTURE_U32 || texture->format == TEXTURE_S32;
    bool is_float = texture->format == TEXTURE_F16 || texture->format == TEXTURE_F32;
    for (unsigned k = 0; k < 3; k++) {
        if ((unsigned)sampler->addressMode[k] > CU_TR_ADDRESS_MODE_BORDER)
            return CUDA_ERROR_INVALID_VALUE;
        texture->address[k] = (uint8_t)sampler->addressMode[k];
    }
    if ((unsigned)sampler->filterMode > 1 || (unsigned)sampler->mipmapFilterMode > 1)
        return CUDA_ERROR_INVALID_VALUE;
    bool as_integers = (sampler->flags & CU_TRSF_READ_AS_INTEGER) || is_wide;
    texture->reads_integers = as_integers && !is_float;
    if (sampler->flags & ~(unsigned)KNOWN_FLAGS ||
        (sampler->flags & CU_TRSF_SEAMLESS_CUBEMAP && !texture->is_cube))
        return CUDA_ERROR_INVALID_VALUE;
    if (sampler->filterMode == CU_TR_FILTER_MODE_LINEAR && texture->reads_integers &&
        !texture->is_linear) { /* CUDA defines no result */
        drv_remark_once("a linear filter needs a texture that returns floats: use "
                        "cudaReadModeNormalizedFloat, or cudaFilterModePoint");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    texture->filters = sampler->filterMode == CU_TR_FILTER_MODE_LINEAR && !texture->is_linear;
    texture->filters_levels = sampler->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    texture->is_normalised = sampler->flags & CU_TRSF_NORMALIZED_COORDINATES;
    texture->is_srgb = sampler->flags & CU_TRSF_SRGB;
    texture->is_seamless = sampler->flags & CU_TRSF_SEAMLESS_CUBEMAP;
    texture->bias = sampler->mipmapLevelBias;
    texture->lowest = sampler->minMipmapLevelClamp;
    texture->highest = sampler->maxMipmapLevelClamp;
    texture->anisotropy = sampler->maxAnisotropy;
    memcpy(texture->border, sampler->borderColor, sizeof texture->border);
    return CUDA_SUCCESS;
}

CUresult drv_texture_make(CUcontext context, const CUDA_RESOURCE_DESC *resource,
                          const CUDA_TEXTURE_DESC *sampler, const CUDA_RESOURCE_VIEW_DESC *view,
                          bool is_surface, uint64_t *handle)
{
    struct simt_texture texture = {.is_surface = is_surface};
    CUresult status = image_of(resource, &texture);
    if (status == CUDA_SUCCESS && is_surface && resource->resType != CU_RESOURCE_TYPE_ARRAY)
        status = CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS && view)
        status = apply_view(view, &texture);
    if (status == CUDA_SUCCESS && sampler)
        status = apply_sampler(sampler, &texture);
    if (status != CUDA_SUCCESS)
        return status;
    *handle = simt_texture_add(context->device->machine, &texture);
    if (!*handle)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct texture_object *object = lk_alloc_zeroed(sizeof *object);
    object->context = context;
    object->is_surface = is_surface;
    object->resource = *resource;
    if (sampler)
        object->sampler = *sampler;
    object->has_view = view != NULL;
    if (view)
        object->view = *view;
    drv_table_put(&objects[context->device->ordinal], *handle, object);
    return CUDA_SUCCESS;
}

bool drv_texture_drop(CUcontext context, uint64_t handle, bool is_surface)
{
    struct drv_table *table = &objects[context->device->ordinal];
    struct texture_object *object = handle ? drv_table_get(table, handle) : NULL;
    if (!object || object->is_surface != is_surface)
        return false;
    drv_table_remove(table, handle);
    drv_list_add(&object->context->leaving, (void *)(uintptr_t)handle);
    drv_textures_settle(object->context);
    free(object);
    return true;
}

void drv_textures_settle(CUcontext context)
{
    if (!context->leaving.count)
        return;
    for (CUstream stream = context->streams; stream; stream = stream->next)
        if (!drv_stream_idle(stream))
            return;
    for (size_t i = 0; i < context->leaving.count; i++)
        simt_texture_remove(context->device->machine, (uintptr_t)context->leaving.items[i]);
    drv_list_free(&context->leaving);
}

/* Objects ----------------------------------------------------------------------------------------
 */

static CUresult create(uint64_t *handle, const CUDA_RESOURCE_DESC *resource,
                       const CUDA_TEXTURE_DESC *sampler, const CUDA_RESOURCE_VIEW_DESC *view,
                       bool is_surface)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!handle || !resource || (!sampler && !is_surface))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = drv_texture_make(context, resource, sampler, view, is_surface, handle);
    drv_leave_lock();
    return status;
}

static CUresult drop(uint64_t handle, bool is_surface)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    drv_texture_drop(context, handle, is_surface); /* a GPU's driver takes any number */
    drv_leave_lock();
    return status;
}

/* Lock held. */
static CUresult find(uint64_t handle, bool is_surface, const struct texture_object **object)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    *object = handle ? drv_table_get(&objects[context->device->ordinal], handle) : NULL;
    return *object && (*object)->is_surface == is_surface ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Gives a part of what was described. */
#define GET(handle, is_surface, result, part)                                                      \
    do {                                                                                           \
        const struct texture_object *object;                                                       \
        if (!(result))                                                                             \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        drv_enter_lock();                                                                          \
        CUresult status = find(handle, is_surface, &object);                                       \
        if (status == CUDA_SUCCESS)                                                                \
            *(result) = object->part;                                                              \
        drv_leave_lock();                                                                          \
        return status;                                                                             \
    } while (0)

CUresult drv_cuTexObjectCreate(CUtexObject *handle, const CUDA_RESOURCE_DESC *resource,
                               const CUDA_TEXTURE_DESC *sampler,
                               const CUDA_RESOURCE_VIEW_DESC *view)
{
    uint64_t made = 0;
    CUresult status = create(handle ? &made : NULL, resource, sampler, view, false);
    if (status == CUDA_SUCCESS)
        *handle = made;
    return status;
}

CUresult drv_cuTexObjectDestroy(CUtexObject handle)
{
    return drop(handle, false);
}

CUresult drv_cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject handle)
{
    GET(handle, false, resource, resource);
}

CUresult drv_cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *sampler, CUtexObject handle)
{
    GET(handle, false, sampler, sampler);
}

CUresult drv_cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject handle)
{
    GET(handle, false, view, view);
}

CUresult drv_cuSurfObjectCreate(CUsurfObject *handle, const CUDA_RESOURCE_DESC *resource)
{
    uint64_t made = 0;
    CUresult status = create(handle ? &made : NULL, resource, NULL, NULL, true);
    if (status == CUDA_SUCCESS)
        *handle = made;
    return status;
}

CUresult drv_cuSurfObjectDestroy(CUsurfObject handle)
{
    return drop(handle, true);
}

CUresult drv_cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject handle)
{
    GET(handle, true, resource, resource);
}
