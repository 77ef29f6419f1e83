/*
 * array.c: CUDA arrays and mipmapped arrays: what may be made, and where it lies.
 * Every array is a level of a mipmapped one, most of them the only level. The memory is one
 * allocation of the device that the program never sees an address of; simt/texture.h has its
 * layout.
 */
#include "driver/array.h"

#include "base/arena.h"
#include "simt/memory_events.h"

#include <stdlib.h>
#include <string.h>

#define KNOWN_FLAGS                                                                                \
    (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |                     \
     CUDA_ARRAY3D_TEXTURE_GATHER)

static struct drv_list arrays; /* CUmipmappedArray, all that are alive */

bool drv_array_format(CUarray_format format, unsigned channels, unsigned *element,
                      enum texture_format *kind)
{
    static const struct {
        CUarray_format format;
        enum texture_format kind;
        uint8_t bytes, channels; /* channels 0: 1, 2 or 4 */
    } formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, TEXTURE_U8, 1, 0},
                   {CU_AD_FORMAT_UNSIGNED_INT16, TEXTURE_U16, 2, 0},
                   {CU_AD_FORMAT_UNSIGNED_INT32, TEXTURE_U32, 4, 0},
                   {CU_AD_FORMAT_SIGNED_INT8, TEXTURE_S8, 1, 0},
                   {CU_AD_FORMAT_SIGNED_INT16, TEXTURE_S16, 2, 0},
                   {CU_AD_FORMAT_SIGNED_INT32, TEXTURE_S32, 4, 0},
                   {CU_AD_FORMAT_HALF, TEXTURE_F16, 2, 0},
                   {CU_AD_FORMAT_FLOAT, TEXTURE_F32, 4, 0},
                   {CU_AD_FORMAT_UNORM_INT8X1, TEXTURE_U8, 1, 1},
                   {CU_AD_FORMAT_UNORM_INT8X2, TEXTURE_U8, 1, 2},
                   {CU_AD_FORMAT_UNORM_INT8X4, TEXTURE_U8, 1, 4},
                   {CU_AD_FORMAT_UNORM_INT16X1, TEXTURE_U16, 2, 1},
                   {CU_AD_FORMAT_UNORM_INT16X2, TEXTURE_U16, 2, 2},
                   {CU_AD_FORMAT_UNORM_INT16X4, TEXTURE_U16, 2, 4},
                   {CU_AD_FORMAT_SNORM_INT8X1, TEXTURE_S8, 1, 1},
                   {CU_AD_FORMAT_SNORM_INT8X2, TEXTURE_S8, 1, 2},
                   {CU_AD_FORMAT_SNORM_INT8X4, TEXTURE_S8, 1, 4},
                   {CU_AD_FORMAT_SNORM_INT16X1, TEXTURE_S16, 2, 1},
                   {CU_AD_FORMAT_SNORM_INT16X2, TEXTURE_S16, 2, 2},
                   {CU_AD_FORMAT_SNORM_INT16X4, TEXTURE_S16, 2, 4}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].format != format)
            continue;
        bool fits = formats[i].channels ? channels == formats[i].channels
                                        : channels == 1 || channels == 2 || channels == 4;
        *element = formats[i].bytes * channels;
        *kind = formats[i].kind;
        return fits;
    }
    return false;
}

/* Extents ----------------------------------------------------------------------------------------
 */

/* The largest extents, as an H200 has them; docs/fidelity.md names the ones that differ by GPU. */
struct limits {
    size_t width, height, depth;
};

static struct limits limits_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool layered = d->Flags & CUDA_ARRAY3D_LAYERED, cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
    bool surface = d->Flags & CUDA_ARRAY3D_SURFACE_LDST;
    if (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
        return (struct limits){32768, 32768, 0};
    if (cube)
        return (struct limits){32768, 32768, layered ? 2046 : 6};
    if (layered)
        return (struct limits){32768, 32768, 2048};
    if (d->Depth)
        return (struct limits){16384, 16384, surface ? 16384 : 32768};
    if (d->Height)
        return (struct limits){131072, 65536, 0};
    return (struct limits){surface ? 32768 : 131072, 0, 0};
}

static bool are_extents_valid(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool layered = d->Flags & CUDA_ARRAY3D_LAYERED, cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
    struct limits most = limits_of(d);
    if (!d->Width || d->Width > most.width || d->Height > most.height || d->Depth > most.depth)
        return false;
    if (cube)
        return d->Width == d->Height && d->Depth && d->Depth % 6 == 0;
    if (layered)
        return d->Depth > 0;
    if (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
        return d->Height > 0;
    return !d->Depth || d->Height;
}

static size_t level_extent(size_t extent, unsigned level)
{
    size_t part = extent >> level;
    return extent && !part ? 1 : part;
}

static CUDA_ARRAY3D_DESCRIPTOR level_descriptor(const CUDA_ARRAY3D_DESCRIPTOR *whole,
                                                unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR part = *whole;
    bool layered = whole->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    part.Width = level_extent(whole->Width, level);
    part.Height = level_extent(whole->Height, level);
    if (!layered)
        part.Depth = level_extent(whole->Depth, level);
    return part;
}

/* As many as there are until the extents are 1, and at least one. */
static unsigned level_count(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned wanted)
{
    bool layered = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    size_t most = d->Width > d->Height ? d->Width : d->Height;
    if (!layered && d->Depth > most)
        most = d->Depth;
    unsigned count = 1;
    while (most >> count)
        count++;
    return wanted < 1 ? 1 : wanted < count ? wanted : count;
}

/* Making and destroying --------------------------------------------------------------------------
 */

static uint64_t lay_out(CUmipmappedArray whole, uint64_t address, unsigned element)
{
    uint64_t bytes = 0;
    for (unsigned k = 0; k < whole->level_count; k++) {
        CUDA_ARRAY3D_DESCRIPTOR d = level_descriptor(&whole->descriptor, k);
        struct texture_level *level = &whole->levels[k];
        level->width = (uint32_t)d.Width;
        level->height = (uint32_t)(d.Height ? d.Height : 1);
        level->depth = (uint32_t)(d.Depth ? d.Depth : 1);
        bytes +=
            texture_lay_out(level, address + bytes, (uint64_t)d.Width * element, level->height) *
            level->depth;
        bytes = (bytes + 511) / 512 * 512;
    }
    return bytes;
}

static CUresult make(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels, bool is_array,
                     CUmipmappedArray *result)
{
    CUcontext context;
    unsigned element;
    enum texture_format kind;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!result || !descriptor ||
        !drv_array_format(descriptor->Format, descriptor->NumChannels, &element, &kind))
        return CUDA_ERROR_INVALID_VALUE;
    if (descriptor->Flags & 0x1c0) {
        drv_remark_once("sparse, deferred and video CUDA arrays are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (descriptor->Flags & ~(unsigned)KNOWN_FLAGS || !are_extents_valid(descriptor))
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_array && (descriptor->Width > 32768 || descriptor->Height > 32768))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    CUmipmappedArray whole = drv_new(sizeof *whole, DRV_MIPMAPPED);
    whole->context = context;
    whole->descriptor = *descriptor;
    whole->level_count = level_count(descriptor, levels);
    whole->is_array = is_array;
    struct drv_allocation *allocation;
    status = drv_allocate(context, lay_out(whole, 0, element), SIMT_MEMORY_DEVICE, &allocation);
    if (status == CUDA_SUCCESS) {
        whole->memory = allocation->address;
        lay_out(whole, whole->memory, element);
        drv_list_add(&arrays, whole);
        *result = whole;
    } else {
        drv_delete(whole);
    }
    drv_leave_lock();
    return status;
}

static CUarray array_of(CUmipmappedArray whole, unsigned level)
{
    if (!whole->arrays[level]) {
        CUarray array = drv_new(sizeof *array, DRV_ARRAY);
        array->whole = whole;
        array->level = level;
        array->descriptor = level_descriptor(&whole->descriptor, level);
        whole->arrays[level] = array;
    }
    return whole->arrays[level];
}

/* Lock held. */
static void destroy(CUmipmappedArray whole)
{
    simt_texture_orphan(whole->context->device->machine, whole->memory);
    struct drv_allocation *allocation = drv_allocation_find(whole->memory);
    if (allocation)
        drv_allocation_free(allocation);
    for (unsigned k = 0; k < whole->level_count; k++)
        if (whole->arrays[k])
            drv_delete(whole->arrays[k]);
    drv_list_remove(&arrays, whole);
    drv_delete(whole);
}

void drv_arrays_forget(CUcontext context)
{
    for (size_t i = arrays.count; i-- > 0;)
        if (((CUmipmappedArray)arrays.items[i])->context == context) {
            simt_event_left(context->device->machine, ((CUmipmappedArray)arrays.items[i])->memory);
            destroy(arrays.items[i]);
        }
}

static CUresult destroy_when_idle(CUmipmappedArray whole)
{
    CUcontext context;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = drv_wait_context(whole->context);
    destroy(whole);
    drv_leave_lock();
    return status;
}

CUresult drv_cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    CUmipmappedArray whole;
    if (!array)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = make(descriptor, 1, true, &whole);
    if (status == CUDA_SUCCESS) {
        drv_enter_lock();
        *array = array_of(whole, 0);
        drv_leave_lock();
    }
    return status;
}

CUresult drv_cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
    if (!descriptor)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = descriptor->Width,
                                 .Height = descriptor->Height,
                                 .Format = descriptor->Format,
                                 .NumChannels = descriptor->NumChannels};
    return drv_cuArray3DCreate_v2(array, &d);
}

CUresult drv_cuArrayDestroy(CUarray array)
{
    if (!drv_alive(array, DRV_ARRAY))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!array->whole->is_array) /* a level stays with its mipmapped array */
        return CUDA_SUCCESS;
    return destroy_when_idle(array->whole);
}

CUresult drv_cuMipmappedArrayCreate(CUmipmappedArray *mipmap,
                                    const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels)
{
    return make(descriptor, levels, false, mipmap);
}

CUresult drv_cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned level)
{
    if (!drv_alive(mipmap, DRV_MIPMAPPED))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!array || level >= mipmap->level_count)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    *array = array_of(mipmap, level);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuMipmappedArrayDestroy(CUmipmappedArray mipmap)
{
    return drv_alive(mipmap, DRV_MIPMAPPED) ? destroy_when_idle(mipmap) : CUDA_ERROR_INVALID_HANDLE;
}

/* Queries ----------------------------------------------------------------------------------------
 */

CUresult drv_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array)
{
    if (!descriptor)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(array, DRV_ARRAY))
        return CUDA_ERROR_INVALID_HANDLE;
    *descriptor = array->descriptor;
    return CUDA_SUCCESS;
}

CUresult drv_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array)
{
    if (!descriptor)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(array, DRV_ARRAY))
        return CUDA_ERROR_INVALID_HANDLE;
    *descriptor = (CUDA_ARRAY_DESCRIPTOR){array->descriptor.Width, array->descriptor.Height,
                                          array->descriptor.Format, array->descriptor.NumChannels};
    return CUDA_SUCCESS;
}

/* These are about sparse, deferred and planar arrays, which there are none of. */
CUresult drv_cuArrayGetSparseProperties(void *properties, CUarray array)
{
    (void)properties;
    return drv_alive(array, DRV_ARRAY) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult drv_cuMipmappedArrayGetSparseProperties(void *properties, CUmipmappedArray mipmap)
{
    (void)properties;
    return drv_alive(mipmap, DRV_MIPMAPPED) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult drv_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                          CUarray array, CUdevice device)
{
    (void)requirements, (void)device;
    return drv_alive(array, DRV_ARRAY) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult drv_cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                                   CUmipmappedArray mipmap, CUdevice device)
{
    (void)requirements, (void)device;
    return drv_alive(mipmap, DRV_MIPMAPPED) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult drv_cuArrayGetPlane(CUarray *plane, CUarray array, unsigned index)
{
    (void)plane, (void)index;
    return drv_alive(array, DRV_ARRAY) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult drv_cuDeviceGetTexture1DLinearMaxWidth(size_t *width, CUarray_format format,
                                                unsigned channels, CUdevice device)
{
    unsigned element;
    enum texture_format kind;
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!width || !drv_array_format(format, channels, &element, &kind))
        return CUDA_ERROR_INVALID_VALUE;
    *width = drv_texture_linear_most(element);
    return CUDA_SUCCESS;
}

/* Copies -----------------------------------------------------------------------------------------
 */

static unsigned element_of(CUarray array)
{
    unsigned element = 1;
    enum texture_format kind;
    drv_array_format(array->descriptor.Format, array->descriptor.NumChannels, &element, &kind);
    return element;
}

bool drv_array_has(CUarray array, size_t x, size_t y, size_t z, size_t width, size_t height,
                   size_t depth)
{
    const struct texture_level *level = &array->whole->levels[array->level];
    size_t row = (size_t)level->width * element_of(array);
    return x <= row && width <= row - x && y <= level->height && height <= level->height - y &&
           z <= level->depth && depth <= level->depth - z;
}

/* Rows of blocked levels lie in pieces of 16 bytes. */
static void move_row(const struct texture_level *level, char *memory, uint64_t base, size_t x,
                     size_t y, size_t z, size_t width, char *bytes, bool to_array)
{
    while (width) {
        size_t piece = level->is_blocked ? 16 - x % 16 : width;
        piece = piece < width ? piece : width;
        char *place = memory + (texture_byte(level, x, y, z) - base);
        if (to_array)
            memcpy(place, bytes, piece);
        else
            memcpy(bytes, place, piece);
        x += piece;
        bytes += piece;
        width -= piece;
    }
}

void drv_array_move(CUarray array, const struct drv_copy_side *side,
                    const struct drv_copy_work *copy, char *bytes, size_t pitch, size_t slice,
                    bool to_array)
{
    const struct texture_level *level = &array->whole->levels[array->level];
    struct simt_machine *machine = array->whole->context->device->machine;
    char *memory = simt_host(machine, array->whole->memory, 1);
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            move_row(level, memory, array->whole->memory, side->x, side->y + y, side->z + z,
                     copy->width, bytes + z * slice + y * pitch, to_array);
}

void drv_array_note_written(CUarray array, const struct drv_copy_side *side,
                            const struct drv_copy_work *copy)
{
    const struct texture_level *level = &array->whole->levels[array->level];
    struct simt_machine *machine = array->whole->context->device->machine;
    size_t row = (size_t)level->width * element_of(array);
    if (copy->width == row && copy->height == level->height) { /* whole slices: padding too */
        simt_event_written(machine, level->address + side->z * level->slice, 0,
                           copy->depth * level->slice);
        return;
    }
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            for (size_t x = 0, piece; x < copy->width; x += piece) {
                size_t at = side->x + x, rest = copy->width - x;
                piece = level->is_blocked ? 16 - at % 16 : rest;
                piece = piece < rest ? piece : rest;
                simt_event_written(machine, texture_byte(level, at, side->y + y, side->z + z), 0,
                                   piece);
            }
}
