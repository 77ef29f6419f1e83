/*
 * children.h: kernels that kernels launch; see children.c.
 */
#ifndef LOCKSTEP_DRIVER_CHILDREN_H
#define LOCKSTEP_DRIVER_CHILDREN_H

#include "driver/state.h"
#include "simt/children.h"

/* Before a grid of function runs. */
void drv_children_open(struct simt_children *children, CUcontext context, CUfunction function);
/* After it has ended, at *clock, with status: runs what it launched, and what that launched, if
 * status is success. *clock becomes the end of all of it. */
CUresult drv_children_run(CUcontext context, CUfunction function, struct simt_children *children,
                          CUresult status, double *clock);

/* launch.c: one grid. */
CUresult drv_grid_run(CUcontext context, struct drv_kernel_work *kernel,
                      struct simt_children *children, double *clock);

#endif
