/*
 * flush.h: empties a GPU's L2 of what was used before, between two samples of a measurement.
 */
#ifndef LOCKSTEP_ZOO_FLUSH_H
#define LOCKSTEP_ZOO_FLUSH_H

#include "zoo/zoo.h"

/* Reads this many bytes, so that the L2 holds nothing else. */
struct zoo_flush {
    CUdeviceptr at;
    size_t bytes;
    unsigned blocks;
    CUmodule module;
    CUfunction read_all;
};
CUresult zoo_flush_open(struct zoo_flush *flush, const struct zoo_device *device, size_t bytes);
void zoo_flush_close(struct zoo_flush *flush, const struct zoo_device *device);
CUresult zoo_flush(const struct zoo_flush *flush, const struct zoo_device *device, CUstream stream);

#endif
