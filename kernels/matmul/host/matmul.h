/*
 * matmul.h: shared by the files of the family: the order of its parameters and buffers, and the
 * functions of cpu.c and peer_cublas.c.
 */
#ifndef LOCKSTEP_KERNELS_MATMUL_H
#define LOCKSTEP_KERNELS_MATMUL_H

#include "zoo/zoo.h"

enum { MATMUL_M, MATMUL_N, MATMUL_K };
enum { MATMUL_A, MATMUL_B, MATMUL_C };

void matmul_cpu_naive(const struct zoo_problem *problem, void **buffer);
void matmul_cpu_blocked(const struct zoo_problem *problem, void **buffer);
void matmul_cpu_simd(const struct zoo_problem *problem, void **buffer);
void matmul_cpu_openmp(const struct zoo_problem *problem, void **buffer);
void matmul_cpu_openblas(const struct zoo_problem *problem, void **buffer);
bool matmul_cpu_has_openblas(const struct zoo_problem *problem);

int matmul_cublas_run(const struct lk_peer_call *call);
const char *matmul_cublas_version(void);

#endif
