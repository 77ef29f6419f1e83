/*
 * copy.c: copies. Every form becomes a box of bytes with a pitch on both sides; a box is checked
 * when it is asked for, as a GPU's driver does, and copied when its turn in the stream comes.
 * A copy from pageable memory is staged at the call, and one to pageable memory is waited for: the
 * program may reuse either as soon as the call returns.
 */
#include "driver/array.h"
#include "driver/sample.h"
#include "driver/virtual.h"

#include "base/arena.h"
#include "simt/memory_events.h"

#include <stdlib.h>
#include <string.h>

void drv_note_bad_range(CUdeviceptr address, size_t bytes)
{
    for (int i = 0; i < drv_device_count; i++)
        if (drv_devices[i].machine)
            simt_event_bad_range(drv_devices[i].machine, address, bytes);
}

/* Offset of the box in one side's memory, and the bytes from there to its end. */
static bool extent(const struct drv_copy_side *side, const struct drv_copy_work *copy,
                   size_t *offset, size_t *bytes)
{
    size_t pitch = side->pitch ? side->pitch : side->x + copy->width;
    size_t rows = side->height ? side->height : side->y + copy->height;
    size_t slice, lines;
    if (__builtin_mul_overflow(pitch, rows, &slice) ||
        __builtin_mul_overflow(slice, side->z + copy->depth, &lines))
        return false;
    *offset = side->z * slice + side->y * pitch + side->x;
    *bytes = (copy->depth - 1) * slice + (copy->height - 1) * pitch + copy->width;
    return true;
}

static CUresult check_array(const struct drv_copy_side *side, const struct drv_copy_work *copy,
                            bool *device)
{
    *device = true;
    if (!drv_alive(side->array, DRV_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    return drv_array_has(side->array, side->x, side->y, side->z, copy->width, copy->height,
                         copy->depth)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_side(struct drv_copy_side *side, const struct drv_copy_work *copy,
                           bool is_write, bool *device)
{
    size_t offset, bytes;
    bool many = copy->height > 1 || copy->depth > 1;
    if (side->type == CU_MEMORYTYPE_ARRAY)
        return check_array(side, copy, device);
    if (!side->address)
        return CUDA_ERROR_INVALID_VALUE;
    if (side->pitch ? side->pitch < side->x + copy->width : many && copy->height > 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (side->height && side->height < side->y + copy->height)
        return CUDA_ERROR_INVALID_VALUE;
    if (!extent(side, copy, &offset, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct drv_allocation *allocation = drv_allocation_find(side->address);
    bool known = drv_is_device_address(side->address);
    *device = known && !(allocation && allocation->kind == SIMT_MEMORY_PINNED);
    if (side->type == CU_MEMORYTYPE_HOST && !known)
        return CUDA_SUCCESS;
    if (side->type != CU_MEMORYTYPE_HOST && side->type != CU_MEMORYTYPE_DEVICE &&
        side->type != CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    if (!known && side->type == CU_MEMORYTYPE_UNIFIED)
        return CUDA_SUCCESS;
    if (drv_host(side->address + offset, bytes) &&
        !(is_write && drv_virtual_read_only(side->address + offset, bytes)))
        return CUDA_SUCCESS;
    drv_note_bad_range(side->address + offset, bytes);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_copy_check(struct drv_copy_work *copy)
{
    if (!copy->width || !copy->height || !copy->depth)
        return CUDA_SUCCESS;
    CUresult status = check_side(&copy->from, copy, false, &copy->from_device);
    return status == CUDA_SUCCESS ? check_side(&copy->to, copy, true, &copy->to_device) : status;
}

/* Row by row; from or to may be a staged, tight box. */
static void move(char *to, size_t to_pitch, size_t to_slice, const char *from, size_t from_pitch,
                 size_t from_slice, const struct drv_copy_work *copy)
{
    bool tight = to_pitch == copy->width && from_pitch == copy->width;
    for (size_t z = 0; z < copy->depth; z++) {
        char *target = to + z * to_slice;
        const char *source = from + z * from_slice;
        if (tight) {
            memmove(target, source, copy->width * copy->height);
            continue;
        }
        for (size_t y = 0; y < copy->height; y++)
            memmove(target + y * to_pitch, source + y * from_pitch, copy->width);
    }
}

static char *side_bytes(const struct drv_copy_side *side, const struct drv_copy_work *copy,
                        size_t *pitch, size_t *slice);

/* An array's box goes through tight rows of bytes. */
static CUresult move_arrays(const struct drv_copy_work *copy, const char *staged)
{
    size_t pitch, slice, tight = copy->width, layer = copy->width * copy->height;
    const struct drv_copy_side *from = &copy->from, *to = &copy->to;
    if (from->array && !drv_alive(from->array, DRV_ARRAY))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (to->array && !drv_alive(to->array, DRV_ARRAY))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (to->array && !from->array) {
        char *bytes = staged ? (char *)staged : side_bytes(from, copy, &pitch, &slice);
        if (!bytes)
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        drv_array_move(to->array, to, copy, bytes, staged ? tight : pitch, staged ? layer : slice,
                       true);
        return CUDA_SUCCESS;
    }
    if (!to->array) {
        char *bytes = side_bytes(to, copy, &pitch, &slice);
        if (!bytes)
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        drv_array_move(from->array, from, copy, bytes, pitch, slice, false);
        return CUDA_SUCCESS;
    }
    char *bytes = lk_alloc(layer * copy->depth);
    drv_array_move(from->array, from, copy, bytes, tight, layer, false);
    drv_array_move(to->array, to, copy, bytes, tight, layer, true);
    free(bytes);
    return CUDA_SUCCESS;
}

static char *side_bytes(const struct drv_copy_side *side, const struct drv_copy_work *copy,
                        size_t *pitch, size_t *slice)
{
    size_t offset, bytes;
    if (!extent(side, copy, &offset, &bytes))
        return NULL;
    *pitch = side->pitch ? side->pitch : side->x + copy->width;
    *slice = *pitch * (side->height ? side->height : side->y + copy->height);
    char *host = drv_host(side->address + offset, bytes);
    if (!host && side->type != CU_MEMORYTYPE_DEVICE && !drv_is_device_address(side->address))
        host = (char *)(uintptr_t)side->address + offset;
    return host;
}

#define LINK_PART 0.86
#define COPY_SECONDS 1.5e-6

/* 1.5 us, and what pinned memory reaches of the link in one direction: about 55 GB/s of PCIe 5. The
 * table's figure is for both directions. Inside the device, memory is read and written. */
void drv_model_link(CUcontext context, bool to_device, double bytes, double *clock)
{
    const struct gpu_info *gpu = context->device->gpu;
    double link = (gpu->pcie_gb_s > 0 ? gpu->pcie_gb_s : 32) / 2 * LINK_PART * 1e9;
    drv_model(context, to_device ? DRV_ENGINE_TO_DEVICE : DRV_ENGINE_FROM_DEVICE,
              COPY_SECONDS + bytes / link, clock);
}

static void model_copy(CUcontext context, const struct drv_copy_work *copy, double *clock)
{
    const struct gpu_info *gpu = context->device->gpu;
    double bytes = (double)copy->width * (double)copy->height * (double)copy->depth;
    double memory = (gpu->memory_gb_s > 0 ? gpu->memory_gb_s : 500) * 1e9;
    if (copy->from_device && copy->to_device)
        drv_model(context, DRV_ENGINE_NONE, COPY_SECONDS + 2 * bytes / memory, clock);
    else
        drv_model_link(context, copy->to_device, bytes, clock);
}

/* For watchers: which device bytes were written, row by row, and from where. */
static void note_written(CUcontext context, const struct drv_copy_work *copy)
{
    const struct drv_copy_side *to = &copy->to, *from = &copy->from;
    size_t to_pitch = to->pitch ? to->pitch : to->x + copy->width;
    size_t from_pitch = from->pitch ? from->pitch : from->x + copy->width;
    size_t to_rows = to->height ? to->height : to->y + copy->height;
    size_t from_rows = from->height ? from->height : from->y + copy->height;
    if (!copy->to_device)
        return;
    if (to->array) {
        drv_array_note_written(to->array, to, copy);
        return;
    }
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++) {
            size_t source = ((from->z + z) * from_rows + from->y + y) * from_pitch + from->x;
            size_t target = ((to->z + z) * to_rows + to->y + y) * to_pitch + to->x;
            simt_event_written(context->device->machine, to->address + target,
                               copy->from_device && !from->array ? from->address + source : 0,
                               copy->width);
        }
}

CUresult drv_copy_run(CUcontext context, struct drv_copy_work *copy, double *clock)
{
    size_t to_pitch, to_slice, from_pitch = copy->width, from_slice = copy->width * copy->height;
    if (!copy->width || !copy->height || !copy->depth)
        return CUDA_SUCCESS;
    if (copy->from.array || copy->to.array) {
        model_copy(context, copy, clock);
        CUresult status = move_arrays(copy, copy->staged);
        if (status != CUDA_SUCCESS)
            drv_remark("a copy in a stream reaches an array or memory that was freed");
        else
            note_written(context, copy);
        return status;
    }
    char *to = side_bytes(&copy->to, copy, &to_pitch, &to_slice);
    char *from =
        copy->staged ? copy->staged : side_bytes(&copy->from, copy, &from_pitch, &from_slice);
    if (!to || !from) {
        drv_remark("a copy in a stream reaches memory that was freed (0x%llx to 0x%llx, %zu bytes)",
                   copy->from.address, copy->to.address, copy->width);
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    if (copy->from_device &&
        drv_sample_refuses_copy(copy->from.address + copy->from.x,
                                from_slice * (copy->depth - 1) + from_pitch * (copy->height - 1) +
                                    copy->width))
        return CUDA_ERROR_ILLEGAL_STATE;
    model_copy(context, copy,
               clock); /* before the work: engines serve copies as they become ready */
    move(to, to_pitch, to_slice, from, from_pitch, from_slice, copy);
    note_written(context, copy);
    return CUDA_SUCCESS;
}

static void stage(struct drv_copy_work *copy)
{
    size_t pitch, slice;
    char *from = side_bytes(&copy->from, copy, &pitch, &slice);
    copy->staged = malloc(copy->width * copy->height * copy->depth);
    if (copy->staged && from)
        move(copy->staged, copy->width, copy->width * copy->height, from, pitch, slice, copy);
}

/* wait: the synchronous forms. */
static CUresult copy_issue(struct drv_work *work, CUstream handle, bool wait)
{
    CUcontext context;
    CUstream stream;
    struct drv_copy_work *copy = &work->copy;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = drv_stream_find(context, handle, &stream);
    if (status == CUDA_SUCCESS)
        status = drv_copy_check(copy);
    bool nothing = !copy->width || !copy->height || !copy->depth;
    if (status == CUDA_SUCCESS && !stream->capture && !nothing) {
        bool pageable_from = !copy->from.array && !drv_is_device_address(copy->from.address);
        bool pageable_to = !copy->to.array && !drv_is_device_address(copy->to.address);
        bool big = copy->width * copy->height * copy->depth > (size_t)256 << 20;
        if (wait) /* within the device, the synchronous forms return before the copy is done */
            wait = !(copy->from_device && copy->to_device);
        else if (pageable_to || (pageable_from && big))
            wait = true;
        else if (pageable_from)
            stage(copy);
    }
    if (status == CUDA_SUCCESS && !nothing)
        status = drv_issue(stream, work, wait && !stream->capture);
    drv_leave_lock();
    if (wait)
        simt_flush_printf(context->device->machine);
    drv_work_clear(work);
    return status;
}

static CUresult copy_line(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type,
                          CUdeviceptr from, size_t bytes, CUstream stream, bool wait)
{
    struct drv_work work = {.kind = DRV_WORK_COPY};
    work.copy.from = (struct drv_copy_side){.type = from_type, .address = from};
    work.copy.to = (struct drv_copy_side){.type = to_type, .address = to};
    work.copy.width = bytes;
    work.copy.height = work.copy.depth = 1;
    return copy_issue(&work, stream, wait);
}

#define HOST CU_MEMORYTYPE_HOST
#define DEVICE CU_MEMORYTYPE_DEVICE
#define UNIFIED CU_MEMORYTYPE_UNIFIED

CUresult drv_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy_line(UNIFIED, to, UNIFIED, from, bytes, NULL, true);
}

CUresult drv_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_line(UNIFIED, to, UNIFIED, from, bytes, stream, false);
}

CUresult drv_cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    return copy_line(DEVICE, to, HOST, (uintptr_t)from, bytes, NULL, true);
}

CUresult drv_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return copy_line(DEVICE, to, HOST, (uintptr_t)from, bytes, stream, false);
}

CUresult drv_cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    return copy_line(HOST, (uintptr_t)to, DEVICE, from, bytes, NULL, true);
}

CUresult drv_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_line(HOST, (uintptr_t)to, DEVICE, from, bytes, stream, false);
}

CUresult drv_cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy_line(DEVICE, to, DEVICE, from, bytes, NULL, true);
}

CUresult drv_cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_line(DEVICE, to, DEVICE, from, bytes, stream, false);
}

CUresult drv_cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                          CUcontext from_context, size_t bytes)
{
    if (!drv_alive(to_context, DRV_CONTEXT) || !drv_alive(from_context, DRV_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy_line(DEVICE, to, DEVICE, from, bytes, NULL, true);
}

CUresult drv_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                               CUcontext from_context, size_t bytes, CUstream stream)
{
    if (!drv_alive(to_context, DRV_CONTEXT) || !drv_alive(from_context, DRV_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy_line(DEVICE, to, DEVICE, from, bytes, stream, false);
}

/* Arrays, of which these forms reach one row -----------------------------------------------------
 */

static CUresult copy_array_line(struct drv_copy_side to, struct drv_copy_side from, size_t bytes,
                                CUstream stream, bool wait)
{
    struct drv_work work = {.kind = DRV_WORK_COPY};
    work.copy.from = from;
    work.copy.to = to;
    work.copy.width = bytes;
    work.copy.height = work.copy.depth = 1;
    return copy_issue(&work, stream, wait);
}

#define ARRAY_AT(which, offset)                                                                    \
    ((struct drv_copy_side){.type = CU_MEMORYTYPE_ARRAY, .array = (which), .x = (offset)})
#define BYTES_AT(kind, where) ((struct drv_copy_side){.type = (kind), .address = (where)})

CUresult drv_cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes)
{
    return copy_array_line(ARRAY_AT(to, offset), BYTES_AT(DEVICE, from), bytes, NULL, true);
}

CUresult drv_cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes)
{
    return copy_array_line(BYTES_AT(DEVICE, to), ARRAY_AT(from, offset), bytes, NULL, true);
}

CUresult drv_cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t bytes)
{
    return copy_array_line(ARRAY_AT(to, offset), BYTES_AT(HOST, (uintptr_t)from), bytes, NULL,
                           true);
}

CUresult drv_cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t bytes)
{
    return copy_array_line(BYTES_AT(HOST, (uintptr_t)to), ARRAY_AT(from, offset), bytes, NULL,
                           true);
}

CUresult drv_cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                             size_t bytes)
{
    return copy_array_line(ARRAY_AT(to, to_offset), ARRAY_AT(from, from_offset), bytes, NULL, true);
}

CUresult drv_cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t bytes,
                                  CUstream stream)
{
    return copy_array_line(ARRAY_AT(to, offset), BYTES_AT(HOST, (uintptr_t)from), bytes, stream,
                           false);
}

CUresult drv_cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t bytes,
                                  CUstream stream)
{
    return copy_array_line(BYTES_AT(HOST, (uintptr_t)to), ARRAY_AT(from, offset), bytes, stream,
                           false);
}

/* Two and three dimensions --------------------------------------------------------------------- */

static CUresult side_from(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array,
                          struct drv_copy_side *side)
{
    side->type = type;
    if (type == CU_MEMORYTYPE_ARRAY) {
        side->array = array;
        return CUDA_SUCCESS;
    }
    if (type != HOST && type != DEVICE && type != UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    side->address = type == HOST ? (uintptr_t)host : device;
    return CUDA_SUCCESS;
}

CUresult drv_copy_from_3d(const CUDA_MEMCPY3D *params, struct drv_work *work)
{
    *work = (struct drv_work){.kind = DRV_WORK_COPY};
    struct drv_copy_work *copy = &work->copy;
    if (params->srcLOD || params->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    copy->from = (struct drv_copy_side){.x = params->srcXInBytes,
                                        .y = params->srcY,
                                        .z = params->srcZ,
                                        .pitch = params->srcPitch,
                                        .height = params->srcHeight};
    copy->to = (struct drv_copy_side){.x = params->dstXInBytes,
                                      .y = params->dstY,
                                      .z = params->dstZ,
                                      .pitch = params->dstPitch,
                                      .height = params->dstHeight};
    copy->width = params->WidthInBytes;
    copy->height = params->Height;
    copy->depth = params->Depth;
    CUresult status = side_from(params->srcMemoryType, params->srcHost, params->srcDevice,
                                params->srcArray, &copy->from);
    return status == CUDA_SUCCESS ? side_from(params->dstMemoryType, params->dstHost,
                                              params->dstDevice, params->dstArray, &copy->to)
                                  : status;
}

void drv_copy_to_3d(const struct drv_copy_work *copy, CUDA_MEMCPY3D *params)
{
    *params = (CUDA_MEMCPY3D){.srcXInBytes = copy->from.x,
                              .srcY = copy->from.y,
                              .srcZ = copy->from.z,
                              .srcMemoryType = copy->from.type,
                              .srcPitch = copy->from.pitch,
                              .srcHeight = copy->from.height,
                              .dstXInBytes = copy->to.x,
                              .dstY = copy->to.y,
                              .dstZ = copy->to.z,
                              .dstMemoryType = copy->to.type,
                              .dstPitch = copy->to.pitch,
                              .dstHeight = copy->to.height,
                              .WidthInBytes = copy->width,
                              .Height = copy->height,
                              .Depth = copy->depth};
    params->srcArray = copy->from.array;
    params->dstArray = copy->to.array;
    if (copy->from.type == HOST)
        params->srcHost = (const void *)(uintptr_t)copy->from.address;
    else
        params->srcDevice = copy->from.address;
    if (copy->to.type == HOST)
        params->dstHost = (void *)(uintptr_t)copy->to.address;
    else
        params->dstDevice = copy->to.address;
}

static CUresult copy_3d(const CUDA_MEMCPY3D *params, CUstream stream, bool wait)
{
    struct drv_work work;
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = drv_copy_from_3d(params, &work);
    return status == CUDA_SUCCESS ? copy_issue(&work, stream, wait) : status;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *flat, CUstream stream, bool wait)
{
    if (!flat)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D params = {.srcXInBytes = flat->srcXInBytes,
                            .srcY = flat->srcY,
                            .srcMemoryType = flat->srcMemoryType,
                            .srcHost = flat->srcHost,
                            .srcDevice = flat->srcDevice,
                            .srcArray = flat->srcArray,
                            .srcPitch = flat->srcPitch,
                            .dstXInBytes = flat->dstXInBytes,
                            .dstY = flat->dstY,
                            .dstMemoryType = flat->dstMemoryType,
                            .dstHost = flat->dstHost,
                            .dstDevice = flat->dstDevice,
                            .dstArray = flat->dstArray,
                            .dstPitch = flat->dstPitch,
                            .WidthInBytes = flat->WidthInBytes,
                            .Height = flat->Height,
                            .Depth = 1};
    return copy_3d(&params, stream, wait);
}

CUresult drv_cuMemcpy2D_v2(const CUDA_MEMCPY2D *params)
{
    return copy_2d(params, NULL, true);
}

CUresult drv_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *params)
{
    return copy_2d(params, NULL, true);
}

CUresult drv_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *params, CUstream stream)
{
    return copy_2d(params, stream, false);
}

CUresult drv_cuMemcpy3D_v2(const CUDA_MEMCPY3D *params)
{
    return copy_3d(params, NULL, true);
}

CUresult drv_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *params, CUstream stream)
{
    return copy_3d(params, stream, false);
}

/* The peer form differs in two fields that mean nothing here: every address is known. */
CUresult drv_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *params)
{
    _Static_assert(sizeof(CUDA_MEMCPY3D_PEER) == sizeof(CUDA_MEMCPY3D), "same layout");
    return copy_3d((const CUDA_MEMCPY3D *)params, NULL, true);
}

CUresult drv_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *params, CUstream stream)
{
    return copy_3d((const CUDA_MEMCPY3D *)params, stream, false);
}
