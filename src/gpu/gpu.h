/*
 * gpu.h: what GPUs are: one table of the known ones, limits and peak rates, and occupancy.
 * Facts only; nothing here runs anything.
 */
#ifndef LOCKSTEP_GPU_GPU_H
#define LOCKSTEP_GPU_GPU_H

#include <stddef.h>
#include <stdint.h>

enum { GPU_GPCS = 12 }; /* at most */

struct gpu_info {
    const char *id;     /* "h200": what --gpu sim:ID takes */
    const char *name;   /* "NVIDIA H200": what the device calls itself */
    const char *source; /* where the figures come from */
    unsigned cc_major, cc_minor;
    unsigned sms;
    unsigned boost_mhz, memory_mhz, memory_bus_bits;
    double memory_gb_s; /* 1e9 bytes a second */
    size_t memory_bytes, l2_bytes;
    unsigned l1_bytes_per_sm;  /* L1 and shared memory together */
    unsigned shared_per_sm;    /* bytes of shared memory an SM can give */
    unsigned shared_per_block; /* without opting in: 49152 */
    unsigned shared_per_block_optin;
    unsigned shared_reserved_per_block; /* 1024 from sm_80 on */
    unsigned shared_granularity;
    unsigned registers_per_sm, registers_per_block, registers_per_thread;
    unsigned register_granularity; /* registers are given to a warp in multiples of it */
    unsigned warps_per_sm, blocks_per_sm, threads_per_sm, threads_per_block;
    unsigned schedulers_per_sm;
    unsigned char gpc_tpcs[GPU_GPCS]; /* TPCs, of two SMs, in each GPC; 0: not known */
    unsigned copy_engines;
    /* Peak rates without sparsity, at boost clock, in 1e12 operations a second; 0: not there. */
    double f64_tflops, f32_tflops, f16_tflops, bf16_tflops;
    double tensor_f64, tensor_tf32, tensor_f16, tensor_bf16, tensor_f8, tensor_f4, tensor_int8,
        tensor_int4;
    double pcie_gb_s, nvlink_gb_s;
    unsigned watts;
};

extern const struct gpu_info gpu_infos[];
extern const unsigned gpu_info_count;

/* How many simulated GPUs a process can have. */
enum { GPU_SIMULATED_MAX = 8 };
/* "sim:h200", "sim:h200x2", or without "sim:": the GPU and how many of it; otherwise NULL with a
 * malloc'd message. */
const struct gpu_info *gpu_parse(const char *text, unsigned *count, char **message);
const struct gpu_info *gpu_find(const char *id); /* NULL if unknown; case does not matter */
const struct gpu_info *
gpu_nearest(const char *id); /* for "did you mean"; NULL if nothing is near */

struct gpu_occupancy {
    unsigned blocks_per_sm, warps_per_sm;
    double fraction;     /* of warps_per_sm's maximum */
    const char *limiter; /* "warps", "blocks", "registers", "shared memory" */
    /* Blocks by each alone; UINT_MAX if it does not limit. */
    unsigned limit_warps, limit_blocks, limit_registers, limit_shared;
};

/* As the CUDA occupancy calculator: threads per block, registers per thread, shared bytes per
 * block (static and dynamic, without the reserved part). blocks_per_sm is 0 if it cannot run. */
struct gpu_occupancy gpu_occupancy(const struct gpu_info *gpu, unsigned threads, unsigned registers,
                                   size_t shared_bytes);
/* Clusters of so many blocks that run at a time, with `blocks` blocks on an SM. */
unsigned gpu_clusters(const struct gpu_info *gpu, unsigned cluster_size, unsigned blocks);
/* How many GPCs there are; first[i] to first[i + 1]: TPCs of the i-th. Where the table does not
 * say, they are as even as can be. */
unsigned gpu_gpcs(const struct gpu_info *gpu, unsigned first[GPU_GPCS + 1]);

#endif
