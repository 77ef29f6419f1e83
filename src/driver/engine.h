/*
 * engine.h: which share of the GPU a kernel takes, and when it runs in modelled time; see engine.c.
 */
#ifndef LOCKSTEP_DRIVER_ENGINE_H
#define LOCKSTEP_DRIVER_ENGINE_H

#include "driver/state.h"

/* Of the blocks that the GPU holds at once, up to 1. */
double drv_kernel_share(const struct gpu_info *gpu, const struct drv_kernel_work *kernel);
/* When a kernel that is ready at clock begins. all: it needs its whole share at once. */
double drv_model_kernel_start(CUcontext context, double share, bool all, double clock);
/* It takes `seconds` by itself, longer where others leave it less; *clock becomes the end. */
void drv_model_kernel(CUcontext context, double share, bool all, double seconds, double *clock);

/* A copy of `bytes` over the link to the host; *clock becomes its end. */
void drv_model_link(CUcontext context, bool to_device, double bytes, double *clock);

/* Runs a call of a drop-in library (library_call.c); its time is by roofline. */
CUresult drv_library_run(CUcontext context, const struct drv_library_work *library, double *clock);

#endif
