/*
 * texref.c: texture and surface references, which PTX names (.texref, .surfref) and the program
 * binds before it launches. A reference is a variable of the module that holds a handle; each
 * change of it makes the handle anew.
 */
#include "driver/array.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct CUtexref_st { /* also CUsurfref_st */
    struct drv_object object;
    CUmodule module; /* NULL: of cuTexRefCreate */
    CUdeviceptr variable;
    bool is_surface, is_bound;
    uint64_t handle;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampler;
    CUarray_format format;
    unsigned channels;
};
struct CUsurfref_st {
    struct CUtexref_st reference;
};

static struct drv_list references;

static CUtexref texture_ref(CUtexref reference)
{
    return drv_alive(reference, DRV_TEXREF) && !reference->is_surface ? reference : NULL;
}

static CUtexref surface_ref(CUsurfref handle)
{
    CUtexref reference = (CUtexref)(void *)handle;
    return drv_alive(reference, DRV_TEXREF) && reference->is_surface ? reference : NULL;
}

static CUtexref make(CUmodule module, CUdeviceptr variable, bool is_surface)
{
    CUtexref reference = drv_new(sizeof *reference, DRV_TEXREF);
    reference->module = module;
    reference->variable = variable;
    reference->is_surface = is_surface;
    reference->format = CU_AD_FORMAT_FLOAT;
    reference->channels = 1;
    for (unsigned k = 0; k < 3; k++)
        reference->sampler.addressMode[k] = CU_TR_ADDRESS_MODE_CLAMP;
    drv_list_add(&references, reference);
    return reference;
}

static void destroy(CUtexref reference)
{
    CUcontext context;
    if (reference->handle && drv_current(&context) == CUDA_SUCCESS)
        drv_texture_drop(context, reference->handle, reference->is_surface);
    drv_list_remove(&references, reference);
    drv_delete(reference);
}

void drv_texrefs_forget(CUmodule module)
{
    for (size_t i = references.count; i-- > 0;)
        if (((CUtexref)references.items[i])->module == module)
            destroy(references.items[i]);
}

/* Lock held: writes a handle for what is bound into the variable. */
static CUresult rebind(CUtexref reference)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS || !reference->is_bound)
        return status;
    uint64_t handle = 0;
    status = drv_texture_make(context, &reference->resource,
                              reference->is_surface ? NULL : &reference->sampler, NULL,
                              reference->is_surface, &handle);
    if (status != CUDA_SUCCESS)
        return status;
    uint64_t *variable = reference->variable ? simt_host(context->device->machine,
                                                         reference->variable, sizeof *variable)
                                             : NULL;
    if (variable)
        *variable = handle;
    if (reference->handle)
        drv_texture_drop(context, reference->handle, reference->is_surface);
    reference->handle = handle;
    return CUDA_SUCCESS;
}

static CUresult find_in_module(CUmodule module, const char *name, bool is_surface,
                               CUtexref *reference)
{
    CUcontext context;
    uint64_t address;
    size_t size;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!reference || !name || !drv_alive(module, DRV_MODULE))
        return CUDA_ERROR_INVALID_VALUE;
    bool surface;
    if (!simt_module_reference(module->module, name, &surface) || surface != is_surface ||
        !simt_module_global(module->module, name, &address, &size))
        return CUDA_ERROR_NOT_FOUND;
    drv_enter_lock();
    *reference = NULL;
    for (size_t i = 0; i < references.count; i++)
        if (((CUtexref)references.items[i])->variable == address)
            *reference = references.items[i];
    if (!*reference)
        *reference = make(module, address, is_surface);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuModuleGetTexRef(CUtexref *reference, CUmodule module, const char *name)
{
    return find_in_module(module, name, false, reference);
}

CUresult drv_cuModuleGetSurfRef(CUsurfref *reference, CUmodule module, const char *name)
{
    return find_in_module(module, name, true, (CUtexref *)(void *)reference);
}

CUresult drv_cuTexRefCreate(CUtexref *reference)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!reference)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    *reference = make(NULL, 0, false);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuTexRefDestroy(CUtexref handle)
{
    CUtexref reference = texture_ref(handle);
    if (!reference)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    destroy(reference);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

/* Setting ----------------------------------------------------------------------------------------
 */

#define SET(handle, valid, assignment)                                                             \
    do {                                                                                           \
        CUtexref reference = texture_ref(handle);                                                  \
        if (!reference || !(valid))                                                                \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        drv_enter_lock();                                                                          \
        assignment;                                                                                \
        CUresult status = rebind(reference);                                                       \
        drv_leave_lock();                                                                          \
        return status;                                                                             \
    } while (0)

CUresult drv_cuTexRefSetArray(CUtexref handle, CUarray array, unsigned flags)
{
    SET(handle, drv_alive(array, DRV_ARRAY) && flags == CU_TRSA_OVERRIDE_FORMAT, {
        reference->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY};
        reference->resource.res.array.hArray = array;
        reference->format = array->descriptor.Format;
        reference->channels = array->descriptor.NumChannels;
        reference->is_bound = true;
    });
}

CUresult drv_cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray mipmap, unsigned flags)
{
    SET(handle, drv_alive(mipmap, DRV_MIPMAPPED) && flags == CU_TRSA_OVERRIDE_FORMAT, {
        reference->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
        reference->resource.res.mipmap.hMipmappedArray = mipmap;
        reference->format = mipmap->descriptor.Format;
        reference->channels = mipmap->descriptor.NumChannels;
        reference->is_bound = true;
    });
}

CUresult drv_cuTexRefSetAddress_v2(size_t *offset, CUtexref handle, CUdeviceptr address,
                                   size_t bytes)
{
    size_t rest =
        address % 512; /* textures begin at multiples of this; the program adds the rest */
    if (rest && !offset)
        return CUDA_ERROR_INVALID_VALUE;
    if (offset)
        *offset = rest;
    SET(handle, true, {
        reference->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR};
        reference->resource.res.linear.devPtr = address - rest;
        reference->resource.res.linear.format = reference->format;
        reference->resource.res.linear.numChannels = reference->channels;
        reference->resource.res.linear.sizeInBytes = bytes + rest;
        reference->is_bound = address != 0;
    });
}

CUresult drv_cuTexRefSetAddress2D_v3(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *d,
                                     CUdeviceptr address, size_t pitch)
{
    SET(handle, d != NULL, {
        reference->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D};
        reference->resource.res.pitch2D.devPtr = address;
        reference->resource.res.pitch2D.format = reference->format = d->Format;
        reference->resource.res.pitch2D.numChannels = reference->channels = d->NumChannels;
        reference->resource.res.pitch2D.width = d->Width;
        reference->resource.res.pitch2D.height = d->Height;
        reference->resource.res.pitch2D.pitchInBytes = pitch;
        reference->is_bound = true;
    });
}

CUresult drv_cuTexRefSetFormat(CUtexref handle, CUarray_format format, int channels)
{
    unsigned element;
    enum texture_format kind;
    SET(handle, drv_array_format(format, (unsigned)channels, &element, &kind), {
        reference->format = format;
        reference->channels = (unsigned)channels;
        if (reference->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
            reference->resource.res.linear.format = format;
            reference->resource.res.linear.numChannels = (unsigned)channels;
        }
    });
}

CUresult drv_cuTexRefSetAddressMode(CUtexref handle, int dim, CUaddress_mode mode)
{
    SET(handle, dim >= 0 && dim < 3 && (unsigned)mode <= CU_TR_ADDRESS_MODE_BORDER,
        reference->sampler.addressMode[dim] = mode);
}

CUresult drv_cuTexRefSetFilterMode(CUtexref handle, CUfilter_mode mode)
{
    SET(handle, (unsigned)mode <= 1, reference->sampler.filterMode = mode);
}

CUresult drv_cuTexRefSetMipmapFilterMode(CUtexref handle, CUfilter_mode mode)
{
    SET(handle, (unsigned)mode <= 1, reference->sampler.mipmapFilterMode = mode);
}

CUresult drv_cuTexRefSetMipmapLevelBias(CUtexref handle, float bias)
{
    SET(handle, true, reference->sampler.mipmapLevelBias = bias);
}

CUresult drv_cuTexRefSetMipmapLevelClamp(CUtexref handle, float lowest, float highest)
{
    SET(handle, true, {
        reference->sampler.minMipmapLevelClamp = lowest;
        reference->sampler.maxMipmapLevelClamp = highest;
    });
}

CUresult drv_cuTexRefSetMaxAnisotropy(CUtexref handle, unsigned most)
{
    SET(handle, true, reference->sampler.maxAnisotropy = most);
}

CUresult drv_cuTexRefSetBorderColor(CUtexref handle, float *color)
{
    SET(handle, color != NULL, memcpy(reference->sampler.borderColor, color, 4 * sizeof(float)));
}

CUresult drv_cuTexRefSetFlags(CUtexref handle, unsigned flags)
{
    SET(handle, true, reference->sampler.flags = flags);
}

CUresult drv_cuSurfRefSetArray(CUsurfref handle, CUarray array, unsigned flags)
{
    CUtexref reference = surface_ref(handle);
    if (!reference || flags || !drv_alive(array, DRV_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    reference->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY};
    reference->resource.res.array.hArray = array;
    reference->is_bound = true;
    CUresult status = rebind(reference);
    drv_leave_lock();
    return status;
}

/* Asking -----------------------------------------------------------------------------------------
 */

#define GET(handle, result, value)                                                                 \
    do {                                                                                           \
        CUtexref reference = texture_ref(handle);                                                  \
        if (!reference || !(result))                                                               \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        *(result) = (value);                                                                       \
        return CUDA_SUCCESS;                                                                       \
    } while (0)

static bool is_bound_to(CUtexref reference, CUresourcetype type)
{
    return reference->is_bound && reference->resource.resType == type;
}

CUresult drv_cuTexRefGetAddress_v2(CUdeviceptr *address, CUtexref handle)
{
    CUtexref reference = texture_ref(handle);
    if (!reference || !address ||
        !(is_bound_to(reference, CU_RESOURCE_TYPE_LINEAR) ||
          is_bound_to(reference, CU_RESOURCE_TYPE_PITCH2D)))
        return CUDA_ERROR_INVALID_VALUE;
    *address = reference->resource.res.linear.devPtr;
    return CUDA_SUCCESS;
}

CUresult drv_cuTexRefGetArray(CUarray *array, CUtexref handle)
{
    CUtexref reference = texture_ref(handle);
    if (!reference || !array || !is_bound_to(reference, CU_RESOURCE_TYPE_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    *array = reference->resource.res.array.hArray;
    return CUDA_SUCCESS;
}

CUresult drv_cuTexRefGetMipmappedArray(CUmipmappedArray *mipmap, CUtexref handle)
{
    CUtexref reference = texture_ref(handle);
    if (!reference || !mipmap || !is_bound_to(reference, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    *mipmap = reference->resource.res.mipmap.hMipmappedArray;
    return CUDA_SUCCESS;
}

CUresult drv_cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref handle, int dim)
{
    if (dim < 0 || dim > 2)
        return CUDA_ERROR_INVALID_VALUE;
    GET(handle, mode, reference->sampler.addressMode[dim]);
}

CUresult drv_cuTexRefGetFilterMode(CUfilter_mode *mode, CUtexref handle)
{
    GET(handle, mode, reference->sampler.filterMode);
}

CUresult drv_cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref handle)
{
    if (channels && texture_ref(handle))
        *channels = (int)handle->channels;
    GET(handle, format, reference->format);
}

CUresult drv_cuTexRefGetMipmapFilterMode(CUfilter_mode *mode, CUtexref handle)
{
    GET(handle, mode, reference->sampler.mipmapFilterMode);
}

CUresult drv_cuTexRefGetMipmapLevelBias(float *bias, CUtexref handle)
{
    GET(handle, bias, reference->sampler.mipmapLevelBias);
}

CUresult drv_cuTexRefGetMipmapLevelClamp(float *lowest, float *highest, CUtexref handle)
{
    if (highest && texture_ref(handle))
        *highest = handle->sampler.maxMipmapLevelClamp;
    GET(handle, lowest, reference->sampler.minMipmapLevelClamp);
}

CUresult drv_cuTexRefGetMaxAnisotropy(int *most, CUtexref handle)
{
    GET(handle, most, (int)reference->sampler.maxAnisotropy);
}

CUresult drv_cuTexRefGetBorderColor(float *color, CUtexref handle)
{
    CUtexref reference = texture_ref(handle);
    if (!reference || !color)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(color, reference->sampler.borderColor, 4 * sizeof(float));
    return CUDA_SUCCESS;
}

CUresult drv_cuTexRefGetFlags(unsigned *flags, CUtexref handle)
{
    GET(handle, flags, reference->sampler.flags);
}

CUresult drv_cuSurfRefGetArray(CUarray *array, CUsurfref handle)
{
    CUtexref reference = surface_ref(handle);
    if (!reference || !array || !reference->is_bound)
        return CUDA_ERROR_INVALID_VALUE;
    *array = reference->resource.res.array.hArray;
    return CUDA_SUCCESS;
}
