/*
 * gemm.h: shared by the files of the family: the order of its parameters and buffers, tensor maps,
 * and the functions of f32.c, cpu.c and peer_cublas.c.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_H
#define LOCKSTEP_KERNELS_GEMM_H

#include "zoo/zoo.h"

enum { GEMM_M, GEMM_N, GEMM_K, GEMM_TYPE };
enum { GEMM_F32, GEMM_F16, GEMM_BF16 }; /* values of the last */
enum { GEMM_A, GEMM_B, GEMM_C };

/* A matrix of bf16 by rows, in boxes of `box_rows` lines of 64 elements, swizzled. */
CUresult gemm_map(struct zoo_call *call, CUtensorMap *map, CUdeviceptr at, int64_t rows,
                  int64_t columns, unsigned box_rows);

/* In f32. The first rungs have a grid of two dimensions: of so many columns it has too few rows. */
bool gemm_is_f32(const struct zoo_problem *problem);
bool gemm_is_narrow_f32(const struct zoo_problem *problem);
CUresult gemm_launch_naive(struct zoo_call *call);
CUresult gemm_launch_coalesced(struct zoo_call *call);
CUresult gemm_launch_shared_tiled(struct zoo_call *call);
CUresult gemm_launch_register_column(struct zoo_call *call);
CUresult gemm_launch_register_tiled(struct zoo_call *call);
CUresult gemm_launch_wide(struct zoo_call *call); /* vectorised to warp_tiled */
CUresult gemm_launch_pipelined(struct zoo_call *call);

/* In f32, on the CPU. */
void gemm_cpu_naive(const struct zoo_problem *problem, void **buffer);
void gemm_cpu_blocked(const struct zoo_problem *problem, void **buffer);
void gemm_cpu_simd(const struct zoo_problem *problem, void **buffer);
void gemm_cpu_openmp(const struct zoo_problem *problem, void **buffer);
void gemm_cpu_openblas(const struct zoo_problem *problem, void **buffer);
bool gemm_cpu_has_openblas(const struct zoo_problem *problem);

size_t gemm_cublas_workspace(const struct lk_peer_call *call);
int gemm_cublas_run(const struct lk_peer_call *call);
const char *gemm_cublas_version(void);

#endif
