/*
 * virtual.h: what pointer.c and copies ask about addresses that virtual.c has mapped.
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

#endif
