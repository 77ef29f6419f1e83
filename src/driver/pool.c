/*
 * pool.c: memory pools and stream-ordered allocation.
 * Memory is allocated from the machine at the call, since the address is needed then, and freed
 * when the free reaches its turn in the stream. A pool keeps the counts that programs ask for; it
 * keeps no freed memory for later, because taking new memory costs nothing here.
 */
#include "driver/virtual.h"

#include "base/arena.h"
#include "simt/memory_events.h"

#include <stdlib.h>
#include <unistd.h>

struct CUmemPoolHandle_st {
    struct drv_object object;
    struct drv_device *device;
    uint64_t attributes[CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1];
    size_t max_size;
    enum simt_memory_kind kind; /* of the device, or managed */
    bool is_default;
    bool may_share; /* with other processes, by a file descriptor */
    int file;       /* of the process that allocates from it; -1: this one */
    uint64_t id;    /* among the pools of that process */
};

static CUmemoryPool pool_new(struct drv_device *device, enum simt_memory_kind kind)
{
    static uint64_t last_id;
    CUmemoryPool pool = drv_new(sizeof *pool, DRV_POOL);
    pool->device = device;
    pool->kind = kind;
    pool->file = -1;
    pool->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    for (int i = 1; i <= 3; i++) /* the three kinds of reuse are on by default */
        pool->attributes[i] = 1;
    return pool;
}

CUmemoryPool drv_pool_default(struct drv_device *device)
{
    if (!device->default_pool) {
        device->default_pool = pool_new(device, SIMT_MEMORY_DEVICE);
        device->default_pool->is_default = true;
    }
    return device->default_pool;
}

/* Managed memory has default pools of its own, as cuMemGetDefaultMemPool gives them. */
CUmemoryPool drv_pool_managed(struct drv_device *device)
{
    if (!device->managed_pool) {
        device->managed_pool = pool_new(device, SIMT_MEMORY_MANAGED);
        device->managed_pool->is_default = true;
    }
    return device->managed_pool;
}

CUmemoryPool drv_pool_imported(struct drv_device *device, int file, uint64_t id)
{
    CUmemoryPool pool = pool_new(device, SIMT_MEMORY_DEVICE);
    pool->file = file;
    pool->id = id;
    return pool;
}

uint64_t drv_pool_id(CUmemoryPool pool)
{
    return pool->id;
}

int drv_pool_file(CUmemoryPool pool)
{
    return pool->file;
}

bool drv_pool_may_share(CUmemoryPool pool)
{
    return pool->may_share && pool->file < 0;
}

struct drv_device *drv_pool_device(CUmemoryPool pool)
{
    return pool->device;
}

/* Reserved memory grows in pieces of 32 MB, as a GPU's pool does. */
static void pool_count(CUmemoryPool pool, int64_t change)
{
    uint64_t *count = pool->attributes;
    uint64_t piece = 32 << 20, used = count[CU_MEMPOOL_ATTR_USED_MEM_CURRENT] + (uint64_t)change;
    uint64_t reserved = (used + piece - 1) / piece * piece;
    uint64_t keep = count[CU_MEMPOOL_ATTR_RELEASE_THRESHOLD];
    uint64_t before = count[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT];
    if (reserved < before) /* up to the threshold a pool gives nothing back */
        reserved = before <= keep ? before : (keep > reserved ? keep / piece * piece : reserved);
    count[CU_MEMPOOL_ATTR_USED_MEM_CURRENT] = used;
    count[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT] = reserved;
    if (count[CU_MEMPOOL_ATTR_USED_MEM_HIGH] < used)
        count[CU_MEMPOOL_ATTR_USED_MEM_HIGH] = used;
    if (count[CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH] < reserved)
        count[CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH] = reserved;
}

void drv_pool_freed(struct drv_allocation *allocation)
{
    if (drv_alive(allocation->pool, DRV_POOL) && !allocation->imported)
        pool_count(allocation->pool, -(int64_t)allocation->size);
}

CUresult drv_pool_allocate(CUcontext context, CUmemoryPool pool, size_t size, CUdeviceptr *address)
{
    struct drv_allocation *allocation;
    if (pool->max_size &&
        pool->attributes[CU_MEMPOOL_ATTR_USED_MEM_CURRENT] + size > pool->max_size)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult status = drv_allocate(context, size, pool->kind, &allocation);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) { /* frees may be under way */
        drv_wait_context(context);
        status = drv_allocate(context, size, pool->kind, &allocation);
    }
    if (status != CUDA_SUCCESS)
        return status;
    allocation->pool = pool;
    pool_count(pool, (int64_t)size);
    *address = allocation->address;
    return CUDA_SUCCESS;
}

/* While the stream captures, the allocation becomes a node. */
static CUresult allocate_in(CUstream stream, CUmemoryPool pool, size_t size, CUdeviceptr *address)
{
    CUresult status = drv_pool_allocate(stream->context, pool, size, address);
    if (status != CUDA_SUCCESS || !stream->capture)
        return status;
    drv_allocation_give_to_graph(*address);
    struct drv_work work = {.kind = DRV_WORK_ALLOC};
    work.memory = lk_alloc_zeroed(sizeof *work.memory);
    work.memory->references = 1;
    work.memory->address = *address;
    work.memory->params.bytesize = size;
    work.memory->params.dptr = *address;
    work.memory->params.poolProps.allocType = pool->kind == SIMT_MEMORY_MANAGED
                                                  ? CU_MEM_ALLOCATION_TYPE_MANAGED
                                                  : CU_MEM_ALLOCATION_TYPE_PINNED;
    work.memory->params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    work.memory->params.poolProps.location.id = pool->device->ordinal;
    return drv_issue(stream, &work, false);
}

static CUresult allocate_async(CUdeviceptr *address, size_t size, CUmemoryPool pool,
                               CUstream handle)
{
    CUcontext context;
    CUstream stream;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!address)
        return CUDA_ERROR_INVALID_VALUE;
    *address = 0;
    if (!size)
        return CUDA_SUCCESS;
    drv_enter_lock();
    status = drv_stream_find(context, handle, &stream);
    if (status == CUDA_SUCCESS)
        status = drv_capture_refuses_legacy(stream);
    if (!pool)
        pool = context->device->pool ? context->device->pool : drv_pool_default(context->device);
    if (status == CUDA_SUCCESS)
        status = allocate_in(stream, pool, size, address);
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream)
{
    return allocate_async(address, size, NULL, stream);
}

CUresult drv_cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool,
                                     CUstream stream)
{
    if (!drv_alive(pool, DRV_POOL) ||
        pool->file >= 0) /* of an imported pool, its owner allocates */
        return CUDA_ERROR_INVALID_VALUE;
    return allocate_async(address, size, pool, stream);
}

CUresult drv_cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
    CUcontext context;
    CUstream stream;
    CUresult status = drv_current_of(handle, &context);
    if (status != CUDA_SUCCESS || !address)
        return status;
    drv_enter_lock();
    struct drv_allocation *allocation = drv_allocation_find(address);
    status = drv_stream_find(context, handle, &stream);
    if (status == CUDA_SUCCESS &&
        (!allocation || allocation->address != address || allocation->kind == SIMT_MEMORY_PINNED)) {
        status = CUDA_ERROR_INVALID_VALUE;
        simt_event_bad_free(context->device->machine, address);
    }
    if (status == CUDA_SUCCESS) {
        struct drv_work work = {.kind = DRV_WORK_FREE, .address = address};
        status = drv_issue(stream, &work, false);
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!pool || !properties)
        return CUDA_ERROR_INVALID_VALUE;
    bool managed = properties->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    bool on_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (!managed && properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes > CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        (managed && properties->handleTypes) || (!managed && !on_device))
        return CUDA_ERROR_NOT_SUPPORTED;
    int device = on_device ? properties->location.id : 0; /* managed memory prefers a place */
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    *pool = pool_new(&drv_devices[device], managed ? SIMT_MEMORY_MANAGED : SIMT_MEMORY_DEVICE);
    (*pool)->max_size = properties->maxSize;
    (*pool)->may_share = properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE;
    return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolDestroy(CUmemoryPool pool)
{
    if (!drv_alive(pool, DRV_POOL) || pool->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    if (pool->device->pool == pool)
        pool->device->pool = NULL;
    drv_leave_lock();
    if (pool->file >= 0)
        close(pool->file);
    drv_delete(pool);
    return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    if (!drv_alive(pool, DRV_POOL))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    uint64_t *count = pool->attributes, piece = 32 << 20;
    uint64_t used = (count[CU_MEMPOOL_ATTR_USED_MEM_CURRENT] + piece - 1) / piece * piece;
    uint64_t least = used > keep ? used : keep;
    if (count[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT] > least)
        count[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT] = least;
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    if (!drv_alive(pool, DRV_POOL) || !value)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->attributes[attribute] = *(int *)value != 0;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool->attributes[attribute] = *(cuuint64_t *)value;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: /* a high-water mark can only be reset */
        if (*(cuuint64_t *)value != 0)
            return CUDA_ERROR_INVALID_VALUE;
        pool->attributes[attribute] = pool->attributes[attribute - 1];
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult drv_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    if (!drv_alive(pool, DRV_POOL) || !value || attribute < 1 ||
        attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    if (attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        *(int *)value = (int)pool->attributes[attribute];
    else
        *(cuuint64_t *)value = pool->attributes[attribute];
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    if (!drv_alive(pool, DRV_POOL) || (!map && count))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return CUDA_ERROR_INVALID_VALUE;
        CUresult status = drv_check_device(map[i].location.id);
        if (status != CUDA_SUCCESS)
            return status;
        if (map[i].location.id == pool->device->ordinal &&
            map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE; /* a device always reaches its own pool */
        if (map[i].location.id != pool->device->ordinal &&
            map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
            return CUDA_ERROR_INVALID_DEVICE;
    }
    return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool,
                                CUmemLocation *location)
{
    if (!flags || !location || !drv_alive(pool, DRV_POOL))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == pool->device->ordinal
                 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                 : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    *pool = drv_pool_default(&drv_devices[device]);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUresult status = drv_cuDeviceGetDefaultMemPool(pool, device);
    if (status == CUDA_SUCCESS && drv_devices[device].pool)
        *pool = drv_devices[device].pool;
    return status;
}

CUresult drv_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!drv_alive(pool, DRV_POOL) || pool->device->ordinal != device)
        return CUDA_ERROR_INVALID_VALUE;
    drv_devices[device].pool = pool;
    return CUDA_SUCCESS;
}

/* The pool for allocations of a kind and at a place; managed ones may be anywhere. */
static CUresult location_pool(CUmemLocation *location, CUmemAllocationType type,
                              struct drv_device **device)
{
    if (!location ||
        (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED))
        return CUDA_ERROR_INVALID_VALUE;
    bool on_device = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (type == CU_MEM_ALLOCATION_TYPE_PINNED && !on_device)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult status = drv_check_device(on_device ? location->id : 0);
    if (status == CUDA_SUCCESS)
        *device = &drv_devices[on_device ? location->id : 0];
    return status;
}

CUresult drv_cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                    CUmemAllocationType type)
{
    struct drv_device *device;
    CUresult status = location_pool(location, type, &device);
    if (status != CUDA_SUCCESS || type == CU_MEM_ALLOCATION_TYPE_PINNED)
        return status ? status : drv_cuDeviceGetDefaultMemPool(pool, location->id);
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    *pool = drv_pool_managed(device);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    struct drv_device *device;
    CUresult status = location_pool(location, type, &device);
    if (status != CUDA_SUCCESS || type == CU_MEM_ALLOCATION_TYPE_PINNED)
        return status ? status : drv_cuDeviceGetMemPool(pool, location->id);
    return drv_cuMemGetDefaultMemPool(pool, location, type);
}

CUresult drv_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    struct drv_device *device;
    CUresult status = location_pool(location, type, &device);
    if (status == CUDA_SUCCESS && type == CU_MEM_ALLOCATION_TYPE_MANAGED)
        status = CUDA_ERROR_NOT_SUPPORTED;
    return status == CUDA_SUCCESS ? drv_cuDeviceSetMemPool(location->id, pool) : status;
}
