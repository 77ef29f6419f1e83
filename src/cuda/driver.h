/*
 * driver.h: the CUDA driver API as one table of functions, of the real driver or of simt.
 * Everything above works on either; no second device API is invented.
 *   const struct lk_driver *driver = lk_driver_open(NULL, &message);
 *   driver->cuInit(0); driver->cuMemAlloc_v2(&pointer, size); ...
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

/* The driver for gpu: "cuda:N" (libcuda.so.1) or "sim:ID", "sim:IDxN" (N devices). NULL: what
 * LOCKSTEP_GPU says, else "sim:h200". On failure NULL and a malloc'd message. The table lives as
 * long as the process. A process has one simulated machine: the first one asked for stays. With the
 * real driver a function that the installed version lacks is NULL in the table. */
const struct lk_driver *lk_driver_open(const char *gpu, char **message);

/* simt's table; what the drop-ins (libcuda, libcudart) use. Never NULL: a wrong LOCKSTEP_GPU shows
 * at cuInit, which prints the message and returns CUDA_ERROR_NO_DEVICE. */
const struct lk_driver *lk_driver_simt(void);

/* The machine's GPUs, for tools that sit in the same process (profile, check). NULL before cuInit
 * or if there is no such device. */
struct simt_machine *lk_driver_machine(int device);

/* Chooses the simulated GPU ("sim:h200x2") before cuInit; the message says what is wrong. */
CUresult lk_driver_set_gpu(const char *name, char **message);

#endif
