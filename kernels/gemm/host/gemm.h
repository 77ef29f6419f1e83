/*
 * gemm.h: shared by the files of the family: the order of its parameters and buffers, tensor maps,
 * and the functions of peer_cublas.c.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_H
#define LOCKSTEP_KERNELS_GEMM_H

#include "zoo/zoo.h"

enum { GEMM_M, GEMM_N, GEMM_K };
enum { GEMM_A, GEMM_B, GEMM_C };

/* A matrix of bf16 by rows, in boxes of `box_rows` lines of 64 elements, swizzled. */
CUresult gemm_map(struct zoo_call *call, CUtensorMap *map, CUdeviceptr at, int64_t rows,
                  int64_t columns, unsigned box_rows);

size_t gemm_cublas_workspace(const struct lk_peer_call *call);
int gemm_cublas_run(const struct lk_peer_call *call);
const char *gemm_cublas_version(void);

#endif
