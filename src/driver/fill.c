/*
 * fill.c: cuMemset in its forms: elements of 1, 2 or 4 bytes, lines or rectangles, at once or in a
 * stream. The forms without a stream return before the memory is set, as on a GPU, unless it is
 * host memory.
 */
#include "driver/virtual.h"

#include "simt/memory_events.h"

#include <string.h>

static bool fill_extent(const struct drv_fill_work *fill, size_t *bytes)
{
    size_t row;
    if (__builtin_mul_overflow(fill->width, (size_t)fill->element, &row) ||
        __builtin_mul_overflow(fill->height - 1, fill->pitch, bytes) ||
        __builtin_add_overflow(*bytes, row, bytes))
        return false;
    return fill->height == 1 || fill->pitch >= row;
}

CUresult drv_fill_check(const struct drv_fill_work *fill)
{
    size_t bytes;
    if (fill->element != 1 && fill->element != 2 && fill->element != 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fill->width || !fill->height)
        return CUDA_SUCCESS;
    if (!fill->address || fill->address % fill->element ||
        (fill->height > 1 && fill->pitch % fill->element))
        return CUDA_ERROR_INVALID_VALUE;
    if (!fill_extent(fill, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_host(fill->address, bytes) || drv_virtual_read_only(fill->address, bytes)) {
        drv_note_bad_range(fill->address, bytes);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static void fill_row(void *at, size_t count, unsigned value, unsigned element)
{
    if (element == 1) {
        memset(at, (int)value, count);
    } else if (element == 2) {
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)at)[i] = (uint16_t)value;
    } else {
        for (size_t i = 0; i < count; i++)
            ((uint32_t *)at)[i] = value;
    }
}

CUresult drv_fill_run(CUcontext context, struct drv_fill_work *fill, double *clock)
{
    size_t bytes;
    if (!fill->width || !fill->height)
        return CUDA_SUCCESS;
    char *at = fill_extent(fill, &bytes) ? drv_host(fill->address, bytes) : NULL;
    if (!at) {
        drv_remark("a memset in a stream reaches memory that was freed (0x%llx)", fill->address);
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    for (size_t y = 0; y < fill->height; y++) {
        fill_row(at + y * fill->pitch, fill->width, fill->value, fill->element);
        simt_event_written(context->device->machine, fill->address + y * fill->pitch, 0,
                           fill->width * fill->element);
    }
    double rate = (context->device->gpu->memory_gb_s > 0 ? context->device->gpu->memory_gb_s : 500);
    double size = (double)fill->width * fill->element * (double)fill->height;
    drv_model(context, DRV_ENGINE_NONE, 1.5e-6 + size / (rate * 1e9), clock);
    return CUDA_SUCCESS;
}

static CUresult fill_issue(CUdeviceptr address, size_t pitch, unsigned value, unsigned element,
                           size_t width, size_t height, CUstream stream, bool wait)
{
    CUcontext context;
    struct drv_work work = {.kind = DRV_WORK_FILL};
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    work.fill = (struct drv_fill_work){address, pitch, width, height, value, element};
    drv_enter_lock();
    status = drv_fill_check(&work.fill);
    struct drv_allocation *allocation = drv_allocation_find(address);
    wait = wait && allocation && allocation->kind == SIMT_MEMORY_PINNED;
    drv_leave_lock();
    if (status != CUDA_SUCCESS || !width || !height)
        return status;
    return drv_issue_to(stream, &work, wait);
}

#define FILL(bits, type)                                                                           \
    CUresult drv_cuMemsetD##bits##_v2(CUdeviceptr at, type value, size_t count)                    \
    {                                                                                              \
        return fill_issue(at, 0, value, bits / 8, count, 1, NULL, true);                           \
    }                                                                                              \
    CUresult drv_cuMemsetD##bits##Async(CUdeviceptr at, type value, size_t count, CUstream stream) \
    {                                                                                              \
        return fill_issue(at, 0, value, bits / 8, count, 1, stream, false);                        \
    }                                                                                              \
    CUresult drv_cuMemsetD2D##bits##_v2(CUdeviceptr at, size_t pitch, type value, size_t width,    \
                                        size_t height)                                             \
    {                                                                                              \
        return fill_issue(at, pitch, value, bits / 8, width, height, NULL, true);                  \
    }                                                                                              \
    CUresult drv_cuMemsetD2D##bits##Async(CUdeviceptr at, size_t pitch, type value, size_t width,  \
                                          size_t height, CUstream stream)                          \
    {                                                                                              \
        return fill_issue(at, pitch, value, bits / 8, width, height, stream, false);               \
    }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)
