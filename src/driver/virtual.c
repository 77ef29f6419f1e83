/*
 * virtual.c: virtual memory management: cuMemAddressReserve, cuMemCreate, cuMemMap, cuMemSetAccess.
 * A reservation is a range of addresses in the arena of one device; physical memory is of a device
 * or of the host; a mapping shows it in a reservation. None of them belongs to a context.
 * pointer.c answers questions about such addresses.
 */
#include "driver/virtual.h"

#include "base/arena.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct drv_physical { /* a CUmemGenericAllocationHandle is its address */
    struct drv_object object;
    struct drv_device *device; /* whose machine made it */
    CUmemAllocationProp properties;
    struct simt_physical bytes;
    unsigned handles, mappings; /* it ends when both are 0 */
    uint64_t id;
};

struct mapping {
    uint64_t address; /* first: lk_sorted_after looks for it */
    size_t size;      /* from the beginning of: */
    struct drv_physical *physical;
    struct drv_device *home; /* whose arena has the address */
    CUmemAccess_flags access[DRV_DEVICES_MAX], host_access;
};

struct reservation {
    uint64_t address; /* first */
    size_t size;
    struct drv_device *home;
};

static struct mapping *mappings; /* sorted by address, like: */
static struct reservation *reservations;
static size_t mapping_count, mapping_capacity, reservation_count, reservation_capacity;

/* Both lists ----------------------------------------------------------------------------------- */

static void *insert(void *items, size_t *count, size_t *capacity, size_t size, const void *item)
{
    if (*count == *capacity) {
        *capacity = *capacity * 2 + 16;
        items = lk_realloc(items, *capacity * size);
    }
    size_t at = lk_sorted_after(items, *count, size, *(const uint64_t *)item);
    char *place = (char *)items + at * size;
    memmove(place + size, place, (*count - at) * size);
    memcpy(place, item, size);
    ++*count;
    return items;
}

static void erase(void *items, size_t *count, size_t size, size_t at)
{
    --*count;
    char *place = (char *)items + at * size;
    memmove(place, place + size, (*count - at) * size);
}

/* Index of the mapping that contains address; mapping_count if there is none. */
static size_t mapping_at(CUdeviceptr address)
{
    size_t after = lk_sorted_after(mappings, mapping_count, sizeof *mappings, address);
    bool inside = after > 0 && address - mappings[after - 1].address < mappings[after - 1].size;
    return inside ? after - 1 : mapping_count;
}

static struct reservation *reservation_at(CUdeviceptr address)
{
    size_t after = lk_sorted_after(reservations, reservation_count, sizeof *reservations, address);
    bool inside =
        after > 0 && address - reservations[after - 1].address < reservations[after - 1].size;
    return inside ? &reservations[after - 1] : NULL;
}

/* [address, address + size) is the whole of how many mappings, from *first on? 0: it is not. */
static size_t whole_mappings(CUdeviceptr address, size_t size, size_t *first)
{
    *first = mapping_at(address);
    uint64_t at = address, end = address + size;
    size_t i = *first;
    if (!size || end < address)
        return 0;
    for (; i < mapping_count && at < end && mappings[i].address == at; i++)
        at += mappings[i].size;
    return at == end ? i - *first : 0;
}

static CUresult ready(void)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    return drv_thread.in_callback ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

/* Physical memory ------------------------------------------------------------------------------ */

static bool is_host(CUmemLocation location)
{
    return location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ||
           location.type == CU_MEM_LOCATION_TYPE_HOST;
}

static CUresult check_location(CUmemLocation location)
{
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        return drv_check_device(location.id);
    if (location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA && location.id != 0)
        return CUDA_ERROR_INVALID_DEVICE; /* there is one node here */
    return is_host(location) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_properties(const CUmemAllocationProp *properties)
{
    if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->win32HandleMetaData)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->requestedHandleTypes > CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        properties->allocFlags.gpuDirectRDMACapable || properties->allocFlags.usage)
        return CUDA_ERROR_NOT_SUPPORTED; /* attributes say so */
    if (properties->allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC)
        return CUDA_ERROR_INVALID_VALUE;
    return check_location(properties->location);
}

CUresult drv_cuMemGetAllocationGranularity(size_t *granularity,
                                           const CUmemAllocationProp *properties,
                                           CUmemAllocationGranularity_flags option)
{
    CUresult status = ready();
    if (status != CUDA_SUCCESS)
        return status;
    if (!granularity || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    status = check_properties(properties);
    if (status == CUDA_SUCCESS)
        *granularity = SIMT_PHYSICAL_UNIT;
    return status;
}

static CUmemGenericAllocationHandle physical_new(struct drv_device *device,
                                                 const struct simt_physical *bytes,
                                                 const CUmemAllocationProp *properties)
{
    static uint64_t next_id;
    struct drv_physical *physical = drv_new(sizeof *physical, DRV_PHYSICAL);
    physical->device = device;
    physical->bytes = *bytes;
    physical->properties = *properties;
    physical->properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
    physical->handles = 1;
    physical->id = ++next_id;
    return (uintptr_t)physical;
}

/* NULL if it is not a handle that the program holds. */
static struct drv_physical *physical_find(CUmemGenericAllocationHandle handle)
{
    struct drv_physical *physical = (struct drv_physical *)(uintptr_t)handle;
    return drv_alive(physical, DRV_PHYSICAL) && physical->handles ? physical : NULL;
}

static void physical_release(struct drv_physical *physical)
{
    if (physical->handles || physical->mappings)
        return;
    simt_physical_close(physical->device->machine, &physical->bytes);
    drv_delete(physical);
}

static enum simt_memory_kind kind_of(const CUmemAllocationProp *properties)
{
    return is_host(properties->location) ? SIMT_MEMORY_PINNED : SIMT_MEMORY_DEVICE;
}

CUresult drv_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                         const CUmemAllocationProp *properties, unsigned long long flags)
{
    CUresult status = ready();
    if (status == CUDA_SUCCESS && (!handle || !size || size % SIMT_PHYSICAL_UNIT || flags))
        status = CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS)
        status = check_properties(properties);
    if (status != CUDA_SUCCESS)
        return status;
    struct drv_device *device =
        &drv_devices[is_host(properties->location) ? 0 : properties->location.id];
    struct simt_physical bytes;
    drv_enter_lock();
    status = drv_device_start(device);
    if (status == CUDA_SUCCESS &&
        !simt_physical_open(device->machine, &bytes, size, kind_of(properties),
                            properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)) {
        if (simt_memory_host_limits(device->machine, size))
            drv_remark_once("an allocation fits the simulated GPU, but not this machine's memory");
        status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (status == CUDA_SUCCESS)
        *handle = physical_new(device, &bytes, properties);
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult status = ready();
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    struct drv_physical *physical = physical_find(handle);
    if (physical) {
        physical->handles--;
        physical_release(physical);
    }
    drv_leave_lock();
    return physical ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    CUresult status = ready();
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    size_t at = mapping_at((uintptr_t)address);
    if (!handle || at == mapping_count) {
        status = CUDA_ERROR_INVALID_VALUE;
    } else {
        mappings[at].physical->handles++;
        *handle = (uintptr_t)mappings[at].physical;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                    CUmemGenericAllocationHandle handle)
{
    CUresult status = ready();
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    struct drv_physical *physical = physical_find(handle);
    if (!properties || !physical)
        status = CUDA_ERROR_INVALID_VALUE;
    else
        *properties = physical->properties;
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemExportToShareableHandle(void *shared, CUmemGenericAllocationHandle handle,
                                          CUmemAllocationHandleType type, unsigned long long flags)
{
    CUresult status = ready();
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    struct drv_physical *physical = physical_find(handle);
    if (!shared || !physical || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !(physical->properties.requestedHandleTypes & type)) {
        status = CUDA_ERROR_INVALID_VALUE;
    } else {
        int file = dup(physical->bytes.file);
        if (file < 0)
            status = CUDA_ERROR_OPERATING_SYSTEM;
        else
            *(int *)shared = file;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shared,
                                            CUmemAllocationHandleType type)
{
    CUresult status = ready();
    struct simt_physical bytes;
    unsigned device;
    bool host;
    if (status != CUDA_SUCCESS)
        return status;
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    if (!simt_physical_import(&bytes, (int)(intptr_t)shared, &device, &host))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = device < (unsigned)drv_device_count ? drv_device_start(&drv_devices[device])
                                                 : CUDA_ERROR_INVALID_DEVICE;
    CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = type,
        .location = {host ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE,
                     host ? 0 : (int)device}};
    if (status == CUDA_SUCCESS)
        *handle = physical_new(&drv_devices[device], &bytes, &properties);
    else
        close(bytes.file);
    drv_leave_lock();
    return status;
}

/* Addresses ------------------------------------------------------------------------------------ */

CUresult drv_cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t align,
                                 CUdeviceptr wanted, unsigned long long flags)
{
    enum { PAGE = 4096 };
    CUresult status = ready();
    if (status != CUDA_SUCCESS)
        return status;
    if (!address || !size || size % PAGE || wanted % PAGE || (align & (align - 1)) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    CUcontext context = drv_context_top();
    struct reservation item = {.size = size, .home = context ? context->device : drv_devices};
    for (int i = 0; wanted && i < drv_device_count; i++) /* next to what another device has */
        if (reservation_at(wanted - 1) && reservation_at(wanted - 1)->home == &drv_devices[i])
            item.home = &drv_devices[i];
    status = drv_device_start(item.home);
    if (status == CUDA_SUCCESS) {
        item.address = simt_reserve(item.home->machine, size, align, wanted);
        status = item.address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (status == CUDA_SUCCESS) {
        reservations =
            insert(reservations, &reservation_count, &reservation_capacity, sizeof item, &item);
        *address = item.address;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemAddressFree(CUdeviceptr address, size_t size)
{
    CUresult status = ready();
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    struct reservation *found = reservation_at(address);
    size_t after = lk_sorted_after(mappings, mapping_count, sizeof *mappings, address);
    bool is_mapped = mapping_at(address) < mapping_count ||
                     (found && after < mapping_count && mappings[after].address < address + size);
    if (!found || found->address != address || found->size != size || is_mapped) {
        status = CUDA_ERROR_INVALID_VALUE;
    } else {
        simt_unreserve(found->home->machine, address);
        erase(reservations, &reservation_count, sizeof *found, (size_t)(found - reservations));
    }
    drv_leave_lock();
    return status;
}

/* Mappings ------------------------------------------------------------------------------------- */

CUresult drv_cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    CUresult status = ready();
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    struct drv_physical *physical = physical_find(handle);
    const struct reservation *range = reservation_at(address);
    size_t after = lk_sorted_after(mappings, mapping_count, sizeof *mappings, address);
    if (!physical || !range || flags || offset || !size || size > physical->bytes.size ||
        (address | size) % SIMT_PHYSICAL_UNIT || range->size - (address - range->address) < size ||
        mapping_at(address) < mapping_count ||
        (after < mapping_count && mappings[after].address < address + size)) {
        status = CUDA_ERROR_INVALID_VALUE;
    } else if (!simt_map(range->home->machine, address, size, &physical->bytes)) {
        status = CUDA_ERROR_OUT_OF_MEMORY; /* the host has too many mappings */
    } else {
        struct mapping item = {
            .address = address, .size = size, .physical = physical, .home = range->home};
        physical->mappings++;
        mappings = insert(mappings, &mapping_count, &mapping_capacity, sizeof item, &item);
    }
    drv_leave_lock();
    return status;
}

static enum simt_access machine_access(CUmemAccess_flags flags)
{
    return flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? SIMT_ACCESS_WRITE
           : flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? SIMT_ACCESS_READ
                                                       : SIMT_ACCESS_NONE;
}

static void set_access(struct mapping *mapping, struct drv_device *device, CUmemAccess_flags flags)
{
    struct drv_physical *physical = mapping->physical;
    CUmemAccess_flags *now = &mapping->access[device->ordinal];
    if (*now == flags)
        return;
    simt_show(device->machine, mapping->address, mapping->size, physical->bytes.was_seen,
              kind_of(&physical->properties), machine_access(flags));
    *now = flags;
    physical->bytes.was_seen = true;
}

static CUresult set_host_access(struct mapping *mapping, CUmemAccess_flags flags)
{
    if (mapping->host_access != flags &&
        !simt_show_host(mapping->address, mapping->size, &mapping->physical->bytes,
                        machine_access(flags)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    mapping->host_access = flags;
    mapping->physical->bytes.was_seen = true;
    return CUDA_SUCCESS;
}

CUresult drv_cuMemUnmap(CUdeviceptr address, size_t size)
{
    CUresult status = ready();
    size_t first;
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    if (whole_mappings(address, size, &first))
        drv_wait_all(); /* a GPU may not wait; then what still runs has an illegal address */
    size_t count = whole_mappings(address, size, &first);
    for (size_t i = 0; i < count; i++) {
        struct mapping *mapping = &mappings[first];
        struct drv_physical *physical = mapping->physical;
        for (int d = 0; d < drv_device_count; d++)
            set_access(mapping, &drv_devices[d], CU_MEM_ACCESS_FLAGS_PROT_NONE);
        set_host_access(mapping, CU_MEM_ACCESS_FLAGS_PROT_NONE);
        simt_unmap(mapping->address, mapping->size);
        erase(mappings, &mapping_count, sizeof *mapping, first);
        physical->mappings--;
        physical_release(physical);
    }
    drv_leave_lock();
    return count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A device reaches its own memory and the host's; the host reaches the host's. Devices do not reach
 * each other (cuDeviceCanAccessPeer). */
static CUresult check_access(const CUmemAccessDesc *access, size_t first, size_t count)
{
    if (access->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        access->flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = check_location(access->location);
    if (status == CUDA_SUCCESS && !is_host(access->location))
        status = drv_device_start(&drv_devices[access->location.id]);
    for (size_t i = first; i < first + count && status == CUDA_SUCCESS; i++) {
        const CUmemLocation *there = &mappings[i].physical->properties.location;
        bool reaches =
            is_host(*there) || (!is_host(access->location) && there->id == access->location.id);
        if (!reaches && access->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
            status = CUDA_ERROR_INVALID_DEVICE;
    }
    return status;
}

CUresult drv_cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
                            size_t access_count)
{
    CUresult status = ready();
    size_t first;
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    size_t count = whole_mappings(address, size, &first);
    if (!access || !access_count || !count)
        status = CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < access_count && status == CUDA_SUCCESS; k++)
        status = check_access(&access[k], first, count);
    for (size_t k = 0; k < access_count && status == CUDA_SUCCESS; k++)
        for (size_t i = first; i < first + count && status == CUDA_SUCCESS; i++) {
            if (is_host(access[k].location))
                status = set_host_access(&mappings[i], access[k].flags);
            else
                set_access(&mappings[i], &drv_devices[access[k].location.id], access[k].flags);
        }
    drv_leave_lock();
    return status;
}

CUresult drv_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                            CUdeviceptr address)
{
    CUresult status = ready();
    if (status == CUDA_SUCCESS && (!flags || !location))
        status = CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS)
        status = check_location(*location);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    size_t at = mapping_at(address);
    if (at == mapping_count)
        status = CUDA_ERROR_INVALID_VALUE;
    else
        *flags = is_host(*location) ? mappings[at].host_access : mappings[at].access[location->id];
    drv_leave_lock();
    return status;
}

/* For the rest of the driver ------------------------------------------------------------------- */

bool drv_virtual_find(CUdeviceptr address, struct drv_virtual *found)
{
    const struct reservation *range = reservation_at(address);
    if (!range)
        return false;
    size_t at = mapping_at(address);
    *found = (struct drv_virtual){.range = range->address, .range_size = range->size};
    if (at == mapping_count)
        return true;
    const struct drv_physical *physical = mappings[at].physical;
    bool host = is_host(physical->properties.location);
    found->is_mapped = true;
    found->is_host = host;
    found->mapping = mappings[at].address;
    found->mapping_size = mappings[at].size;
    found->device = host ? mappings[at].home : physical->device;
    found->handle_types = physical->properties.requestedHandleTypes;
    found->id = physical->id;
    found->access = mappings[at].access[found->device->ordinal];
    found->host_access = mappings[at].host_access;
    return true;
}

bool drv_virtual_read_only(CUdeviceptr address, size_t size)
{
    for (size_t i = mapping_at(address); i < mapping_count && mappings[i].address < address + size;
         i++) {
        bool writes = mappings[i].host_access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        for (int d = 0; d < drv_device_count; d++)
            writes = writes || mappings[i].access[d] == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        if (!writes)
            return true;
    }
    return false;
}
