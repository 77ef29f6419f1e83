/*
 * virtual.h: what pointer.c and copies ask about addresses that virtual.c has mapped, and ipc.c
 * about pools.
 */
#ifndef LOCKSTEP_DRIVER_VIRTUAL_H
#define LOCKSTEP_DRIVER_VIRTUAL_H

#include "driver/state.h"
#include "simt/virtual.h"

struct drv_virtual {
    CUdeviceptr range; /* the reservation */
    size_t range_size;
    bool is_mapped; /* else nothing below is known */
    bool is_host;
    CUdeviceptr mapping;
    size_t mapping_size;
    struct drv_device *device;
    CUmemAllocationHandleType handle_types;
    uint64_t id; /* of the physical memory */
    CUmemAccess_flags access, host_access;
};

/* Is the address reserved? Lock held, as for the next. */
bool drv_virtual_find(CUdeviceptr address, struct drv_virtual *found);
/* Is some of it mapped memory that nobody may write to? */
bool drv_virtual_read_only(CUdeviceptr address, size_t size);

/* Pools that are shared with other processes: ipc.c. */

/* A pool for what another process allocates; it gets the file. -1: of our own. */
CUmemoryPool drv_pool_imported(struct drv_device *device, int file, uint64_t id);
uint64_t drv_pool_id(CUmemoryPool pool); /* in the process that allocates from it */
int drv_pool_file(CUmemoryPool pool);
bool drv_pool_may_share(CUmemoryPool pool);
struct drv_device *drv_pool_device(CUmemoryPool pool);

/* ipc.c: an allocation of another process is no longer shown. */
void drv_imported_unmap(const struct drv_allocation *allocation);

#endif
