/*
 * ipc.c: allocations that another process sees: cuIpcGetMemHandle for cuMemAlloc's, and pools with
 * file descriptors. The bytes move into a file of the process that allocates, which others map.
 * A handle of the first kind leads to it through /proc, so the process must be alive, as with
 * NVIDIA's driver.
 */
#include "driver/virtual.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };
#define MAGIC 0x6c6f636b73746570ull

struct shared { /* what the 64 bytes of both kinds of handle have */
    uint64_t magic, offset, size, id, pool;
    int process, file;
};
_Static_assert(sizeof(struct shared) <= sizeof(CUipcMemHandle), "a handle has 64 bytes");

/* Lock held. */
static CUresult export_allocation(CUcontext context, CUdeviceptr address, bool pooled,
                                  struct shared *shared)
{
    struct drv_allocation *allocation = drv_allocation_find(address);
    if (pooled && allocation && allocation->imported && allocation->pool) { /* passed on */
        *shared = (struct shared){.magic = MAGIC,
                                  .offset = allocation->imported_offset,
                                  .size = allocation->size,
                                  .pool = drv_pool_id(allocation->pool)};
        return CUDA_SUCCESS;
    }
    if (!allocation || allocation->kind != SIMT_MEMORY_DEVICE || allocation->imported ||
        pooled != (allocation->pool && drv_pool_may_share(allocation->pool)))
        return CUDA_ERROR_INVALID_VALUE;
    struct simt_machine *machine = allocation->device->machine;
    drv_wait_all();
    allocation = drv_allocation_find(address); /* we let go of the lock */
    *shared = (struct shared){.magic = MAGIC, .process = getpid()};
    if (!allocation ||
        !simt_export(machine, allocation->address, allocation->size, &shared->offset))
        return CUDA_ERROR_OUT_OF_MEMORY;
    shared->size = allocation->size;
    shared->id = allocation->id;
    shared->pool = pooled ? drv_pool_id(allocation->pool) : 0;
    shared->file = simt_export_file(machine);
    return context->error;
}

/* A handle comes from another process and may say anything: its bytes must lie in the file. */
static bool lies_in(const struct shared *shared, int file)
{
    struct stat facts;
    return fstat(file, &facts) == 0 && shared->size > 0 &&
           shared->offset <= (uint64_t)facts.st_size &&
           shared->size <= (uint64_t)facts.st_size - shared->offset;
}

/* Shows it at addresses of our own; lock held. */
static CUresult import_allocation(CUcontext context, const struct shared *shared, int file,
                                  struct drv_allocation **result)
{
    if (!lies_in(shared, file))
        return CUDA_ERROR_INVALID_VALUE;
    struct simt_machine *machine = context->device->machine;
    uint64_t inside = shared->offset % PAGE;
    size_t pages = (inside + shared->size + PAGE - 1) & ~(size_t)(PAGE - 1);
    struct simt_physical bytes = {.size = pages,
                                  .offset = shared->offset - inside,
                                  .file = file,
                                  .own_file = true,
                                  .was_seen = true};
    uint64_t at = simt_reserve(machine, pages, 0, 0);
    if (!at)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!simt_map(machine, at, pages, &bytes)) {
        simt_unreserve(machine, at);
        return CUDA_ERROR_MAP_FAILED;
    }
    simt_show(machine, at + inside, shared->size, true, SIMT_MEMORY_DEVICE, SIMT_ACCESS_WRITE);
    *result = drv_allocation_adopt(context, at + inside, shared->size, SIMT_MEMORY_DEVICE);
    (*result)->imported = at;
    (*result)->imported_size = pages;
    (*result)->imported_offset = shared->offset;
    return CUDA_SUCCESS;
}

void drv_imported_unmap(const struct drv_allocation *allocation)
{
    struct simt_machine *machine = allocation->device->machine;
    simt_show(machine, allocation->address, allocation->size, true, SIMT_MEMORY_DEVICE,
              SIMT_ACCESS_NONE);
    simt_unmap(allocation->imported, allocation->imported_size);
    simt_unreserve(machine, allocation->imported);
}

/* By handles ----------------------------------------------------------------------------------- */

static struct { /* what this process has opened */
    struct shared shared;
    CUcontext context;
    CUdeviceptr address;
} opened[1024];
static size_t opened_count;

CUresult drv_cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    CUcontext context;
    struct shared shared;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = export_allocation(context, address, false, &shared);
    drv_leave_lock();
    memset(handle, 0, sizeof *handle);
    if (status == CUDA_SUCCESS)
        memcpy(handle, &shared, sizeof shared);
    return status;
}

/* Opens the exporter's file for a moment: the mapping keeps it. */
static CUresult open_shared(CUcontext context, const struct shared *shared,
                            struct drv_allocation **allocation)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", shared->process, shared->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return CUDA_ERROR_MAP_FAILED; /* it has ended, or is another user's */
    CUresult status = simt_is_export_file(file)
                          ? import_allocation(context, shared, file, allocation)
                          : CUDA_ERROR_INVALID_VALUE;
    close(file);
    return status;
}

CUresult drv_cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    CUcontext context;
    struct shared shared;
    struct drv_allocation *allocation = NULL;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    memcpy(&shared, &handle, sizeof shared);
    if (!address || flags > 1 || shared.magic != MAGIC)
        return CUDA_ERROR_INVALID_VALUE;
    if (shared.process == getpid()) /* only other processes may */
        return CUDA_ERROR_INVALID_CONTEXT;
    drv_enter_lock();
    for (size_t i = 0; i < opened_count && !allocation; i++)
        if (opened[i].context == context && !memcmp(&opened[i].shared, &shared, sizeof shared))
            allocation = drv_allocation_find(opened[i].address);
    if (!allocation) {
        status = opened_count < sizeof opened / sizeof *opened
                     ? open_shared(context, &shared, &allocation)
                     : CUDA_ERROR_TOO_MANY_PEERS;
        if (status == CUDA_SUCCESS) {
            opened[opened_count].shared = shared;
            opened[opened_count].context = context;
            opened[opened_count++].address = allocation->address;
        }
    }
    if (status == CUDA_SUCCESS) {
        allocation->opened++;
        *address = allocation->address;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    return drv_cuIpcOpenMemHandle_v2(address, handle, flags);
}

CUresult drv_cuIpcCloseMemHandle(CUdeviceptr address)
{
    CUcontext context;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    struct drv_allocation *allocation = drv_allocation_find(address);
    if (!allocation || allocation->address != address || !allocation->opened) {
        status = CUDA_ERROR_INVALID_VALUE;
        drv_leave_lock();
        return status;
    }
    allocation->opened--;
    drv_wait_all();
    allocation = drv_allocation_find(address); /* another thread may have opened or closed it */
    if (allocation && !allocation->opened) {
        for (size_t i = 0; i < opened_count; i++)
            if (opened[i].address == address)
                opened[i--] = opened[--opened_count];
        drv_allocation_free(allocation);
    }
    drv_leave_lock();
    return status;
}

/* By pools -------------------------------------------------------------------------------------
 * All pools of a device have one file. Which pool a descriptor stands for is in its position, which
 * goes with it to other processes. */

CUresult drv_cuMemPoolExportToShareableHandle(void *shared, CUmemoryPool pool,
                                              CUmemAllocationHandleType type,
                                              unsigned long long flags)
{
    if (!shared || !drv_alive(pool, DRV_POOL) || flags || !drv_pool_may_share(pool) ||
        type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    struct drv_device *device = drv_pool_device(pool);
    CUresult status = drv_device_start(device);
    int file = status == CUDA_SUCCESS ? simt_export_file(device->machine) : -1;
    drv_leave_lock();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    file = file >= 0 ? open(path, O_RDWR) : -1;
    if (file < 0)
        return status ? status : CUDA_ERROR_OPERATING_SYSTEM;
    (void)lseek(file, (off_t)drv_pool_id(pool), SEEK_SET); /* any position is one */
    *(int *)shared = file;
    return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *shared,
                                                CUmemAllocationHandleType type,
                                                unsigned long long flags)
{
    CUcontext context = drv_context_top(); /* it needs none */
    int file = (int)(intptr_t)shared;
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!pool || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !simt_is_export_file(file))
        return CUDA_ERROR_INVALID_VALUE;
    file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (file < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *pool = drv_pool_imported(context ? context->device : drv_devices, file,
                              (uint64_t)lseek(file, 0, SEEK_CUR));
    return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address)
{
    CUcontext context;
    struct shared shared;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!data)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = export_allocation(context, address, true, &shared);
    drv_leave_lock();
    memset(data, 0, sizeof *data);
    if (status == CUDA_SUCCESS)
        memcpy(data, &shared, sizeof shared);
    return status;
}

CUresult drv_cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool pool,
                                    CUmemPoolPtrExportData *data)
{
    CUcontext context;
    struct shared shared;
    struct drv_allocation *allocation;
    CUresult status = drv_current_uncaptured(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!address || !data || !drv_alive(pool, DRV_POOL) || drv_pool_file(pool) < 0)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&shared, data, sizeof shared);
    if (shared.magic != MAGIC || shared.pool != drv_pool_id(pool))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = import_allocation(context, &shared, drv_pool_file(pool), &allocation);
    if (status == CUDA_SUCCESS) {
        allocation->pool = pool;
        *address = allocation->address;
    }
    drv_leave_lock();
    return status;
}
