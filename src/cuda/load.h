/*
 * load.h: fills the table of driver.h from a library at run time.
 */
#ifndef LOCKSTEP_CUDA_LOAD_H
#define LOCKSTEP_CUDA_LOAD_H

#include "cuda/driver.h"

/* All messages are malloc'd. */
void *lk_driver_find_real(char **message); /* NVIDIA's libcuda.so.1; NULL if there is none */
bool lk_driver_is_ours(void *library);     /* simt under the same name */
/* Looks every function up and calls cuInit. A function that the library lacks is NULL. */
bool lk_driver_load(struct lk_driver *table, void *library, char **message);
/* The number in "cuda:N", if there is such a GPU. */
bool lk_driver_has_device(const struct lk_driver *table, const char *gpu, int *device,
                          char **message);

#endif
