/*
 * whatif.h: what the occupancy would be with another block size, other registers, other shared
 * memory; one of them changed at a time.
 */
#ifndef LOCKSTEP_GPU_WHATIF_H
#define LOCKSTEP_GPU_WHATIF_H

#include "gpu/gpu.h"

#include <stdbool.h>

enum gpu_whatif_kind {
    GPU_WHATIF_BLOCK,
    GPU_WHATIF_REGISTERS,
    GPU_WHATIF_SHARED,
    GPU_WHATIF_KINDS
};
extern const char *const gpu_whatif_names[GPU_WHATIF_KINDS]; /* "block", "registers", "shared" */

struct gpu_whatif {
    enum gpu_whatif_kind kind;
    size_t value;
    bool is_now; /* the value asked about */
    struct gpu_occupancy occupancy;
};

enum { GPU_WHATIFS = 64 };

/* By kind, then by value, which includes the one asked about; returns how many. */
unsigned gpu_whatifs(const struct gpu_info *gpu, unsigned threads, unsigned registers,
                     size_t shared, struct gpu_whatif rows[GPU_WHATIFS]);

#endif
