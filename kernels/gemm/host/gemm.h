/*
 * gemm.h: shared by the files of the family: the order of its parameters and buffers, and the
 * functions of f32.c, tensor.c, cpu.c and peer_cublas.c.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_H
#define LOCKSTEP_KERNELS_GEMM_H

#include "zoo/zoo.h"

enum { GEMM_M, GEMM_N, GEMM_K, GEMM_TYPE };
enum { GEMM_F32, GEMM_F16, GEMM_BF16, GEMM_TF32 }; /* values of the last */
enum { GEMM_A, GEMM_B, GEMM_C };

/* In f32. The first rungs have a grid of two dimensions: of so many columns it has too few rows. */
bool gemm_is_f32(const struct zoo_problem *problem);
bool gemm_is_narrow_f32(const struct zoo_problem *problem);
CUresult gemm_launch_naive(struct zoo_call *call);
CUresult gemm_launch_coalesced(struct zoo_call *call);
CUresult gemm_launch_shared_tiled(struct zoo_call *call);
CUresult gemm_launch_register_column(struct zoo_call *call);
CUresult gemm_launch_register_tiled(struct zoo_call *call);
CUresult gemm_launch_wide(struct zoo_call *call); /* vectorised to register_banks */
CUresult gemm_launch_pipelined(struct zoo_call *call);

/* On tensor cores. Wide: rows begin at multiples of 16 bytes. */
bool gemm_is_f16(const struct zoo_problem *problem);
bool gemm_is_half(const struct zoo_problem *problem); /* f16 or bf16 */
bool gemm_is_tf32(const struct zoo_problem *problem);
bool gemm_is_wide_bf16(const struct zoo_problem *problem);
bool gemm_is_wide_tf32(const struct zoo_problem *problem);
CUresult gemm_launch_wmma(struct zoo_call *call);
CUresult gemm_launch_mma_sync(struct zoo_call *call);
CUresult gemm_launch_mma_sync_tf32(struct zoo_call *call);
CUresult gemm_launch_wgmma(struct zoo_call *call);
CUresult gemm_launch_tma(struct zoo_call *call);
CUresult gemm_launch_warp_specialised(struct zoo_call *call);
CUresult gemm_launch_multicast(struct zoo_call *call);
CUresult gemm_launch_persistent(struct zoo_call *call);
CUresult gemm_launch_overlapped(struct zoo_call *call);
CUresult gemm_launch_wgmma_tf32(struct zoo_call *call);
size_t gemm_split_k_workspace(const struct zoo_call *call);
CUresult gemm_launch_split_k(struct zoo_call *call);
size_t gemm_stream_k_workspace(const struct zoo_call *call);
CUresult gemm_launch_stream_k(struct zoo_call *call);

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
