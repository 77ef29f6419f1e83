/*
 * driver.h: the CUDA driver API as one table of functions, of the real driver or of simt.
 * Everything above works on either; no second device API is invented.
 *   const struct lk_driver *driver = lk_driver_open("sim:h200", &device, &message);
 *   driver->cuDevicePrimaryCtxRetain(&context, device); driver->cuMemAlloc_v2(&pointer, size); ...
 * Member names are the ABI's symbols, listed in api.def.
 */
#ifndef LOCKSTEP_CUDA_DRIVER_H
#define LOCKSTEP_CUDA_DRIVER_H

#include "cuda/abi.h"

#include <stdbool.h>

struct lk_driver {
    const char *gpu; /* "sim:h200", "cuda:0": as it was asked for */
    bool simulated;  /* times are modelled */
#define FN(result, name, parameters, arguments) result(*name) parameters;
#include "cuda/api.def"
};

/* The driver of this process, which has one, after cuInit. gpu: "cuda:N" (NVIDIA's libcuda.so.1),
 * "sim:ID" or "sim:IDxN" (ours, with N devices). NULL: the driver that the program has loaded
 * already, else what LOCKSTEP_GPU names, else NVIDIA's, else sim:h200. device: its number there;
 * may be NULL. On failure NULL and a malloc'd message. Threads may call it; the table lives as long
 * as the process. A function that the installed driver lacks is NULL in it. */
const struct lk_driver *lk_driver_open(const char *gpu, CUdevice *device, char **message);

/* The GPUs that NVIDIA's driver shows, at most `most`; none where there is no driver. The process
 * may still open either driver afterwards. */
struct lk_driver_gpu {
    char name[128];
    unsigned cc_major, cc_minor;
};
unsigned lk_driver_list(struct lk_driver_gpu *gpus, unsigned most);

#endif
