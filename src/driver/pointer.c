/*
 * pointer.c: what CUDA says about an address, and advice about managed memory, which changes
 * answers but no behaviour: there is one memory here.
 */
#include "driver/virtual.h"

#include <string.h>

/* An address as the attributes see it; a module's variable has no allocation of the program's. */
struct view {
    bool known;
    struct simt_allocation memory;
    struct drv_device *device;
    struct drv_allocation *allocation;
    bool is_virtual; /* reserved, and perhaps mapped, by virtual.c */
    struct drv_virtual virtual;
};

static struct view look(CUdeviceptr address)
{
    struct view view = {0};
    view.known = view.is_virtual = drv_virtual_find(address, &view.virtual);
    for (int i = 0; i < drv_device_count && !view.known; i++) {
        view.device = &drv_devices[i];
        view.known = view.device->machine && simt_find(view.device->machine, address, &view.memory);
    }
    view.allocation = view.known && !view.is_virtual ? drv_allocation_find(address) : NULL;
    if (view.allocation)
        view.device = view.allocation->device;
    return view;
}

/* The bytes of device memory as the host may touch them, for operators that run on the CPU in the
 * place of machine code (python/clients/lockstep_torch.py); NULL where there is no such memory. */
__attribute__((visibility("default"))) void *lk_driver_bytes(CUdeviceptr address, size_t size);
void *lk_driver_bytes(CUdeviceptr address, size_t size)
{
    drv_enter_lock();
    void *bytes = drv_host(address, size);
    drv_leave_lock();
    return bytes;
}

#define PUT(type, value) (*(type *)data = (value), CUDA_SUCCESS)

static CUresult attribute_of(const struct view *view, CUdeviceptr address, void *data,
                             CUpointer_attribute attribute)
{
    const struct drv_allocation *allocation = view->allocation;
    bool device_only = view->memory.kind == SIMT_MEMORY_DEVICE;
    bool pinned = view->memory.kind == SIMT_MEMORY_PINNED;
    bool plain = device_only && allocation && !allocation->pool && !allocation->imported;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return PUT(CUcontext, allocation ? allocation->context : drv_context_top());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return PUT(unsigned, pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return PUT(CUdeviceptr, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return device_only ? CUDA_ERROR_INVALID_VALUE : PUT(void *, (void *)(uintptr_t)address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return PUT(int, allocation && allocation->sync_memops);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return PUT(unsigned long long, allocation ? allocation->id : view->memory.address);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return PUT(int, view->memory.kind == SIMT_MEMORY_MANAGED);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return PUT(int, view->device->ordinal);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return PUT(int, plain);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return PUT(int, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return PUT(CUdeviceptr, view->memory.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return PUT(size_t, allocation ? allocation->size : view->memory.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return PUT(int, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return PUT(unsigned long long,
                   allocation && allocation->pool && drv_pool_may_share(allocation->pool)
                       ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                       : CU_MEM_HANDLE_TYPE_NONE);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return PUT(int, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return PUT(CUmemoryPool, allocation ? allocation->pool : NULL);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return PUT(size_t, view->memory.size);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return PUT(CUdeviceptr, view->memory.address);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return PUT(unsigned long long, view->memory.address);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Addresses that are reserved, and what is mapped there. */
static CUresult attribute_of_virtual(const struct drv_virtual *at, CUdeviceptr address, void *data,
                                     CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return PUT(CUdeviceptr, at->range);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return PUT(size_t, at->range_size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return PUT(int, at->is_mapped);
    default:
        if (!at->is_mapped)
            return CUDA_ERROR_INVALID_VALUE;
    }
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: /* it belongs to none */
        return PUT(CUcontext, NULL);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return PUT(unsigned, at->is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return PUT(CUdeviceptr, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return at->host_access ? PUT(void *, (void *)(uintptr_t)address) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return PUT(int, at->device->ordinal);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return PUT(int, 0);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return PUT(unsigned long long, at->handle_types);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return PUT(int, at->access);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return PUT(CUmemoryPool, NULL);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return PUT(size_t, at->mapping_size);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return PUT(CUdeviceptr, at->mapping);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return PUT(unsigned long long, at->id);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult attribute_at(CUdeviceptr address, const struct view *view, void *data,
                             CUpointer_attribute attribute)
{
    if (!view->known)
        return CUDA_ERROR_INVALID_VALUE;
    return view->is_virtual ? attribute_of_virtual(&view->virtual, address, data, attribute)
                            : attribute_of(view, address, data, attribute);
}

/* What the plural form gives for memory that CUDA does not know. */
static void attribute_of_unknown(void *data, CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = 0;
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(int *)data = 0;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = CU_DEVICE_INVALID;
        break;
    default:
        *(uint64_t *)data = 0;
        break;
    }
}

CUresult drv_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!data)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    struct view view = look(address);
    CUresult status = attribute_at(address, &view, data, attribute);
    drv_leave_lock();
    return status;
}

CUresult drv_cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                    CUdeviceptr address)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!count || !attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    struct view view = look(address);
    for (unsigned i = 0; i < count; i++) {
        if (!data[i])
            continue;
        if (attribute_at(address, &view, data[i], attributes[i]) != CUDA_SUCCESS)
            attribute_of_unknown(data[i], attributes[i]);
    }
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                   CUdeviceptr address)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    struct drv_allocation *allocation = drv_allocation_find(address);
    if (allocation)
        allocation->sync_memops = *(const int *)value != 0;
    drv_leave_lock();
    return allocation ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Managed memory ------------------------------------------------------------------------------- */

/* A GPU accepts these for managed memory only, and not beyond its end. */
static CUresult managed_range(CUdeviceptr address, size_t count)
{
    struct view view = look(address);
    if (!view.known || view.is_virtual || view.memory.kind != SIMT_MEMORY_MANAGED || !count ||
        address + count > view.memory.address + view.memory.size)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult location_device(CUmemLocation location, int *device)
{
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        *device = location.id;
        return drv_check_device(location.id);
    }
    *device = CU_DEVICE_CPU;
    return location.type >= CU_MEM_LOCATION_TYPE_HOST &&
                   location.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

static CUmemLocation device_location(CUdevice device)
{
    return (CUmemLocation){device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST
                                                   : CU_MEM_LOCATION_TYPE_DEVICE,
                           device == CU_DEVICE_CPU ? 0 : device};
}

CUresult drv_cuMemPrefetchAsync_v2(CUdeviceptr address, size_t count, CUmemLocation location,
                                   unsigned flags, CUstream stream)
{
    CUcontext context;
    int device;
    CUresult status = drv_current(&context);
    if (status == CUDA_SUCCESS)
        status = flags ? CUDA_ERROR_INVALID_VALUE : location_device(location, &device);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = managed_range(address, count);
    struct drv_allocation *allocation = drv_allocation_find(address);
    if (status == CUDA_SUCCESS && allocation)
        allocation->prefetched = device;
    drv_leave_lock();
    if (status != CUDA_SUCCESS)
        return status;
    struct drv_work nothing = {.kind = DRV_WORK_EMPTY};
    return drv_issue_to(stream, &nothing, false);
}

CUresult drv_cuMemPrefetchAsync(CUdeviceptr address, size_t count, CUdevice device, CUstream stream)
{
    return drv_cuMemPrefetchAsync_v2(address, count, device_location(device), 0, stream);
}

/* locations[i] holds for the ranges from indices[i] on. */
CUresult drv_cuMemPrefetchBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count,
                                     CUmemLocation *locations, size_t *indices,
                                     size_t location_count, unsigned long long flags,
                                     CUstream stream)
{
    CUresult status = CUDA_SUCCESS;
    if (!addresses || !sizes || !count || !locations || !indices || !location_count || flags ||
        indices[0])
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0, at = 0; i < count && status == CUDA_SUCCESS; i++) {
        while (at + 1 < location_count && indices[at + 1] <= i)
            at++;
        status = drv_cuMemPrefetchAsync_v2(addresses[i], sizes[i], locations[at], 0, stream);
    }
    return status;
}

/* Contents may become undefined; keeping them is one of the allowed outcomes. */
CUresult drv_cuMemDiscardBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count,
                                    unsigned long long flags, CUstream stream)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!addresses || !sizes || !count || flags)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++)
        status = managed_range(addresses[i], sizes[i]);
    drv_leave_lock();
    if (status != CUDA_SUCCESS)
        return status;
    struct drv_work nothing = {.kind = DRV_WORK_EMPTY};
    return drv_issue_to(stream, &nothing, false);
}

CUresult drv_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count,
                                               CUmemLocation *locations, size_t *indices,
                                               size_t location_count, unsigned long long flags,
                                               CUstream stream)
{
    return drv_cuMemPrefetchBatchAsync(addresses, sizes, count, locations, indices, location_count,
                                       flags, stream);
}

CUresult drv_cuMemAdvise_v2(CUdeviceptr address, size_t count, CUmem_advise advice,
                            CUmemLocation location)
{
    CUcontext context;
    int device = CU_DEVICE_INVALID;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return CUDA_ERROR_INVALID_VALUE;
    bool needs_location = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                          advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                          advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (needs_location && (status = location_device(location, &device)) != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = managed_range(address, count);
    struct drv_allocation *allocation = drv_allocation_find(address);
    if (status == CUDA_SUCCESS && allocation) {
        if (advice <= CU_MEM_ADVISE_UNSET_READ_MOSTLY)
            allocation->advice_read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        else if (advice <= CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
            allocation->advice_location = device;
        else if (device == CU_DEVICE_CPU)
            allocation->advice_host = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
        else
            allocation->advice_accessed = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemAdvise(CUdeviceptr address, size_t count, CUmem_advise advice, CUdevice device)
{
    return drv_cuMemAdvise_v2(address, count, advice, device_location(device));
}

static CUmemLocation told_location(CUdevice device)
{
    if (device == CU_DEVICE_INVALID)
        return (CUmemLocation){CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID};
    return device_location(device);
}

CUresult drv_cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute,
                                    CUdeviceptr address, size_t count)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!data || size < 4 || size % 4)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = managed_range(address, count);
    struct drv_allocation *allocation = drv_allocation_find(address);
    int *values = data;
    if (status == CUDA_SUCCESS && allocation) {
        switch (attribute) {
        case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
            values[0] = allocation->advice_read_mostly;
            break;
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
            values[0] = allocation->advice_location;
            break;
        case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
            for (size_t i = 0; i < size / 4; i++)
                values[i] = CU_DEVICE_INVALID;
            if (allocation->advice_accessed)
                *values++ = allocation->device->ordinal;
            if (allocation->advice_host && values < (int *)data + size / 4)
                *values = CU_DEVICE_CPU;
            break;
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
            values[0] = allocation->prefetched;
            break;
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
            values[0] = (int)told_location(allocation->advice_location).type;
            break;
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
            values[0] = told_location(allocation->advice_location).id;
            break;
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
            values[0] = (int)told_location(allocation->prefetched).type;
            break;
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
            values[0] = told_location(allocation->prefetched).id;
            break;
        default:
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes,
                                     size_t number, CUdeviceptr address, size_t bytes)
{
    CUresult status = CUDA_SUCCESS;
    if (!data || !sizes || !attributes || !number)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < number && status == CUDA_SUCCESS; i++)
        status = drv_cuMemRangeGetAttribute(data[i], sizes[i], attributes[i], address, bytes);
    return status;
}

CUresult drv_cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t length,
                                    unsigned flags)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = managed_range(address, 1);
    drv_leave_lock();
    if (status != CUDA_SUCCESS)
        return status;
    struct drv_work nothing = {.kind = DRV_WORK_EMPTY};
    return drv_issue_to(stream, &nothing, false);
}
