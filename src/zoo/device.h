/*
 * device.h: opening GPUs and loading variants on them; for what runs families (tests, benchmarks,
 * the public calls). Families themselves need zoo.h only.
 */
#ifndef LOCKSTEP_ZOO_DEVICE_H
#define LOCKSTEP_ZOO_DEVICE_H

#include "zoo/zoo.h"

#define ZOO_KERNELS 64 /* of one variant */

/* The values of a variant's tunables, in the order of zoo_source.tunables. */
struct zoo_tuning {
    int value[ZOO_TUNABLES];
};
struct zoo_tuning zoo_tuning_normal(const struct zoo_source *source);
/* Do the built-in kernels have these values? What is chosen at launch does not matter. */
bool zoo_tuning_is_built_in(const struct zoo_source *source, const struct zoo_tuning *tuning);

/* "sim:h200" or "cuda:0"; its primary context is made current. Messages are malloc'd. */
bool zoo_device_open(const char *gpu, struct zoo_device *device, char **message);
/* One that a program has opened already. */
bool zoo_device_from(struct zoo_device *device, const struct lk_driver *cuda, CUdevice number,
                     CUcontext context);
const char *zoo_error(const struct lk_driver *cuda, CUresult status);

bool zoo_runs_on(const struct zoo_source *source, int arch);

/* ptx NULL: the embedded one. tuning NULL: the normal values; it must be what ptx was made with. */
struct zoo_kernels *zoo_kernels_load(const struct zoo_device *device,
                                     const struct zoo_family *family,
                                     const struct zoo_variant *variant, const char *ptx,
                                     const struct zoo_tuning *tuning, char **message);
/* Has the GPU what the variant needs (shared memory, mostly) for this problem? */
bool zoo_fits(const struct zoo_device *device, const struct zoo_variant *variant,
              const struct zoo_tuning *tuning, const struct zoo_problem *problem);
void zoo_kernels_free(struct zoo_kernels *kernels);
void zoo_kernels_forget(struct zoo_kernels *kernels); /* the context went, and the module with it */

/* An attribute (registers, shared memory ..) of the index-th kernel that was launched so far. */
CUresult zoo_kernel_attribute(struct zoo_call *call, unsigned index, CUfunction_attribute attribute,
                              const char **name, int *value);

#endif
