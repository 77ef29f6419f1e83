/*
 * memory.c: the program's allocations: device, pinned, managed and registered memory.
 * simt holds the bytes; this file knows who owns them and what CUDA reports about them.
 */
#include "driver/virtual.h"

#include "base/arena.h"
#include "simt/memory_events.h"

#include <stdlib.h>
#include <string.h>

static struct drv_table allocations; /* by address */
static uint64_t next_id = 1;

struct drv_allocation *drv_allocation_find(CUdeviceptr address)
{
    struct simt_allocation found;
    for (int i = 0; i < drv_device_count; i++) {
        struct simt_machine *machine = drv_devices[i].machine;
        if (machine && simt_find(machine, address, &found)) {
            struct drv_allocation *allocation = drv_table_get(&allocations, found.address);
            if (allocation)
                return allocation;
        }
    }
    return NULL;
}

void *drv_host(CUdeviceptr address, size_t size)
{
    for (int i = 0; i < drv_device_count; i++) {
        struct simt_machine *machine = drv_devices[i].machine;
        void *host = machine ? simt_host(machine, address, size) : NULL;
        if (host)
            return host;
    }
    return NULL;
}

bool drv_is_device_address(CUdeviceptr address)
{
    struct simt_allocation found;
    for (int i = 0; i < drv_device_count; i++) {
        if (drv_devices[i].machine && simt_find(drv_devices[i].machine, address, &found))
            return true;
    }
    return false;
}

struct drv_allocation *drv_allocation_adopt(CUcontext context, CUdeviceptr address, size_t size,
                                            enum simt_memory_kind kind)
{
    struct drv_allocation *allocation = lk_alloc_zeroed(sizeof *allocation);
    allocation->address = address;
    allocation->size = size;
    allocation->context = context;
    allocation->device = context->device;
    allocation->kind = kind;
    allocation->id = next_id++;
    allocation->advice_location = CU_DEVICE_INVALID;
    allocation->prefetched = CU_DEVICE_INVALID;
    drv_table_put(&allocations, address, allocation);
    return allocation;
}

/* Every device sees host memory at its host address. */
static void show(const struct drv_allocation *allocation, struct drv_device *device)
{
    if (device->machine && device != allocation->device && allocation->kind != SIMT_MEMORY_DEVICE)
        simt_register(device->machine, (void *)(uintptr_t)allocation->address, allocation->size);
}

static void hide(const struct drv_allocation *allocation)
{
    for (int i = 0; i < drv_device_count; i++) {
        if (drv_devices[i].machine && &drv_devices[i] != allocation->device &&
            allocation->kind != SIMT_MEMORY_DEVICE)
            simt_unregister(drv_devices[i].machine, (void *)(uintptr_t)allocation->address);
    }
}

void drv_memory_share(struct drv_device *device)
{
    for (size_t i = 0; i < allocations.capacity; i++) {
        if (allocations.slots[i].key)
            show(allocations.slots[i].value, device);
    }
}

CUresult drv_allocate(CUcontext context, size_t size, enum simt_memory_kind kind,
                      struct drv_allocation **allocation)
{
    CUdeviceptr address = simt_alloc(context->device->machine, size, kind);
    if (!address) {
        if (simt_memory_host_limits(context->device->machine, size))
            drv_remark_once("an allocation fits the simulated GPU, but not this machine's memory");
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *allocation = drv_allocation_adopt(context, address, size, kind);
    for (int i = 0; i < drv_device_count; i++)
        show(*allocation, &drv_devices[i]);
    return CUDA_SUCCESS;
}

/* RESERVED counts with USED. Memory that a graph frees is kept for the next one, as in NVIDIA's
 * driver: both count it until cuDeviceGraphMemTrim. */
static void count_graph_memory(struct drv_allocation *allocation)
{
    struct drv_device *device = allocation->device;
    uint64_t *count = device->graph_memory, more = allocation->size;
    uint64_t again = more < device->graph_spare ? more : device->graph_spare;
    device->graph_spare -= again;
    for (int i = CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT; i <= CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
         i += 2) {
        count[i] += more - again;
        if (count[i + 1] < count[i])
            count[i + 1] = count[i];
    }
}

void drv_allocation_free(struct drv_allocation *allocation)
{
    drv_table_remove(&allocations, allocation->address);
    hide(allocation);
    if (allocation->pool)
        drv_pool_freed(allocation);
    if (allocation->graph_memory)
        allocation->device->graph_spare += allocation->size;
    if (allocation->registered)
        simt_unregister(allocation->device->machine, (void *)(uintptr_t)allocation->address);
    else if (allocation->imported)
        drv_imported_unmap(allocation);
    else
        simt_free(allocation->device->machine, allocation->address);
    free(allocation);
}

void drv_allocation_give_to_graph(CUdeviceptr address)
{
    struct drv_allocation *allocation = drv_allocation_find(address);
    allocation->graph_owned = allocation->graph_memory = true;
    count_graph_memory(allocation);
}

/* The program frees it. A graph's memory stays for its next launch. */
void drv_allocation_release(struct drv_allocation *allocation)
{
    allocation->graph_live = false;
    if (!allocation->graph_owned)
        drv_allocation_free(allocation);
}

static void note_left(const struct drv_allocation *allocation)
{
    if (!allocation->registered && !allocation->graph_owned && !allocation->imported)
        simt_event_left(allocation->device->machine, allocation->address);
}

void drv_memory_forget(CUcontext context)
{
    struct drv_list mine = {0};
    for (size_t i = 0; i < allocations.capacity; i++) {
        struct drv_allocation *allocation = allocations.slots[i].value;
        if (allocations.slots[i].key && allocation->context == context)
            drv_list_add(&mine, allocation);
    }
    for (size_t i = 0; i < mine.count; i++) {
        note_left(mine.items[i]);
        drv_allocation_free(mine.items[i]);
    }
    drv_list_free(&mine);
}

void drv_memory_left(void)
{
    for (size_t i = 0; i < allocations.capacity; i++)
        if (allocations.slots[i].key)
            note_left(allocations.slots[i].value);
}

static CUresult allocate(size_t size, enum simt_memory_kind kind, unsigned flags, void *result)
{
    CUcontext context;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!result || !size)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    struct drv_allocation *allocation;
    status = drv_allocate(context, size, kind, &allocation);
    if (status == CUDA_SUCCESS) {
        *(CUdeviceptr *)result = allocation->address;
        allocation->host_flags = allocation->attach_flags = flags;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    size_t there, all;
    simt_memory_info(context->device->machine, &there, &all);
    if (free_bytes)
        *free_bytes = there;
    if (total)
        *total = all;
    return CUDA_SUCCESS;
}

CUresult drv_cuMemAlloc_v2(CUdeviceptr *pointer, size_t size)
{
    return allocate(size, SIMT_MEMORY_DEVICE, 0, pointer);
}

CUresult drv_cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                                unsigned element)
{
    if (!pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    size_t row = (width + 511) & ~(size_t)511, size;
    if (row < width || __builtin_mul_overflow(row, height, &size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult status = allocate(size, SIMT_MEMORY_DEVICE, 0, pointer);
    if (status == CUDA_SUCCESS)
        *pitch = row;
    return status;
}

CUresult drv_cuMemAllocManaged(CUdeviceptr *pointer, size_t size, unsigned flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(size, SIMT_MEMORY_MANAGED, flags, pointer);
}

CUresult drv_cuMemHostAlloc(void **pointer, size_t size, unsigned flags)
{
    if (flags & ~7u)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(size, SIMT_MEMORY_PINNED, flags | CU_MEMHOSTALLOC_DEVICEMAP, pointer);
}

CUresult drv_cuMemAllocHost_v2(void **pointer, size_t size)
{
    return drv_cuMemHostAlloc(pointer, size, CU_MEMHOSTALLOC_PORTABLE);
}

/* Frees an allocation at its beginning, after all that may still use it. */
static CUresult release(CUdeviceptr address, bool host)
{
    CUcontext context;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!address)
        return CUDA_SUCCESS;
    drv_enter_lock();
    struct drv_allocation *allocation = drv_allocation_find(address);
    if (!allocation || allocation->address != address || allocation->registered ||
        host != (allocation->kind == SIMT_MEMORY_PINNED)) {
        status = CUDA_ERROR_INVALID_VALUE;
        simt_event_bad_free(context->device->machine, address);
    } else {
        if (host)
            simt_event_freeing(context->device->machine, address, allocation->size);
        drv_wait_context(context);
        if (allocation->context != context)
            drv_wait_context(allocation->context);
        allocation = drv_allocation_find(address); /* we let go of the lock */
        if (allocation && allocation->address == address)
            drv_allocation_release(allocation);
        status = context->error;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemFree_v2(CUdeviceptr address)
{
    return release(address, false);
}

CUresult drv_cuMemFreeHost(void *pointer)
{
    return release((uintptr_t)pointer, true);
}

CUresult drv_cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    CUcontext context;
    struct simt_allocation found;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    for (int i = 0; i < drv_device_count; i++) {
        if (drv_devices[i].machine && simt_find(drv_devices[i].machine, address, &found)) {
            drv_enter_lock();
            struct drv_allocation *allocation = drv_allocation_find(address);
            if (base)
                *base = found.address;
            if (size)
                *size = allocation ? allocation->size : found.size;
            drv_leave_lock();
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

static struct drv_allocation *find_host(const void *pointer)
{
    struct drv_allocation *allocation = drv_allocation_find((uintptr_t)pointer);
    return allocation && allocation->kind == SIMT_MEMORY_PINNED ? allocation : NULL;
}

CUresult drv_cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer, unsigned flags)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!address || flags)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    struct drv_allocation *allocation = find_host(pointer);
    if (allocation)
        *address = (uintptr_t)pointer;
    drv_leave_lock();
    return allocation ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    struct drv_allocation *allocation = find_host(pointer);
    if (allocation)
        *flags = allocation->host_flags;
    drv_leave_lock();
    return allocation ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags)
{
    CUcontext context;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pointer || !size || (flags & ~15u))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return CUDA_ERROR_NOT_SUPPORTED;
    drv_enter_lock();
    CUdeviceptr first = (uintptr_t)pointer;
    if (drv_is_device_address(first) || drv_is_device_address(first + size - 1)) {
        status = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    } else if (!simt_register(context->device->machine, pointer, size)) {
        status = CUDA_ERROR_INVALID_VALUE;
    } else {
        struct drv_allocation *allocation =
            drv_allocation_adopt(context, first, size, SIMT_MEMORY_PINNED);
        allocation->registered = true;
        allocation->host_flags = flags | CU_MEMHOSTREGISTER_DEVICEMAP;
        for (int i = 0; i < drv_device_count; i++)
            show(allocation, &drv_devices[i]);
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemHostRegister(void *pointer, size_t size, unsigned flags)
{
    return drv_cuMemHostRegister_v2(pointer, size, flags);
}

CUresult drv_cuMemHostUnregister(void *pointer)
{
    CUcontext context;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    struct drv_allocation *allocation = drv_table_get(&allocations, (uintptr_t)pointer);
    if (!pointer) {
        status = CUDA_ERROR_INVALID_VALUE;
    } else if (!allocation || !allocation->registered) {
        status = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    } else {
        drv_wait_context(allocation->context);
        drv_allocation_free(allocation);
    }
    drv_leave_lock();
    return status;
}
