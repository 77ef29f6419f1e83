/*
 * model.h: how long a launch would take on a GPU, from its counters.
 * Each part of the GPU is given the time it alone would need; the longest wins and is what the
 * kernel is bound by. docs/accuracy.md compares it with measurement.
 */
#ifndef LOCKSTEP_GPU_MODEL_H
#define LOCKSTEP_GPU_MODEL_H

#include "gpu/counters.h"
#include "gpu/gpu.h"

struct gpu_shape {
    uint64_t blocks;
    unsigned threads;   /* per block */
    unsigned registers; /* per thread */
    size_t shared;      /* bytes per block, static and dynamic */
};

/* What can bound a kernel: from bounds.def. */
enum gpu_bound {
#define BOUND(name, key, words) GPU_BOUND_##name,
#include "gpu/bounds.def"
#undef BOUND
    GPU_BOUND_COUNT
};
extern const char *const gpu_bound_keys[GPU_BOUND_COUNT];  /* "dram" */
extern const char *const gpu_bound_words[GPU_BOUND_COUNT]; /* "DRAM bandwidth" */

struct gpu_model {
    double seconds; /* with launch overhead and tail */
    enum gpu_bound bound;
    double parts[GPU_BOUND_COUNT]; /* seconds that each part alone would need */
    struct gpu_occupancy occupancy;
    double waves;        /* blocks / blocks the GPU holds at once */
    double tail;         /* >= 1: how much longer the last, unfilled wave makes it */
    double uneven;       /* seconds that the busiest SM has more to do than if blocks were alike */
    double roof_seconds; /* what the bytes and operations need at the datasheet's peaks, */
    double roof;         /* and that as a fraction of seconds: % of the roof */
    double flops, bytes; /* for the roofline: operations, DRAM bytes */
    double share;        /* of the GPU that it takes while it runs: the rest is for other kernels */
};

#define GPU_LAUNCH_SECONDS 2.6e-6 /* an empty kernel, between two events */
#define GPU_NODE_SECONDS 1.0e-6   /* the same in a graph, after another kernel */

/* Cycles from a load to what waits for it: of one that finds its data in the L1, in the L2, in
 * DRAM, or in shared memory. */
enum { GPU_L1_CYCLES = 38, GPU_L2_CYCLES = 209, GPU_DRAM_CYCLES = 650, GPU_SHARED_CYCLES = 33 };

/* Products that a tensor core adds up in a cycle, of factors with 16 bits, and what of that
 * mma.sync reaches. */
double gpu_tensor_products(const struct gpu_info *gpu);
double gpu_mma_sync_part(const struct gpu_info *gpu);

/* Warp instructions of a warp. */
double gpu_mean_warp(const struct gpu_shape *shape, const struct gpu_counters *counters);

void gpu_model(const struct gpu_info *gpu, const struct gpu_shape *shape,
               const struct gpu_counters *counters, struct gpu_model *model);

#endif
