/*
 * pairwise_l2.h: shared by the files of the family: the order of its parameters and buffers, and
 * the functions of cpu.c.
 */
#ifndef LOCKSTEP_KERNELS_PAIRWISE_L2_H
#define LOCKSTEP_KERNELS_PAIRWISE_L2_H

#include "zoo/zoo.h"

enum { PAIRWISE_N, PAIRWISE_M, PAIRWISE_D, PAIRWISE_ERROR };
enum { PAIRWISE_X, PAIRWISE_Y, PAIRWISE_OUT };
enum { PAIRWISE_OF_LENGTHS, PAIRWISE_OF_DISTANCE }; /* what an error is measured against */

void pairwise_cpu_naive(const struct zoo_problem *problem, void **buffer);
void pairwise_cpu_blocked(const struct zoo_problem *problem, void **buffer);
void pairwise_cpu_simd(const struct zoo_problem *problem, void **buffer);
void pairwise_cpu_openmp(const struct zoo_problem *problem, void **buffer);
void pairwise_cpu_openblas(const struct zoo_problem *problem, void **buffer);
bool pairwise_cpu_has_openblas(const struct zoo_problem *problem);

#endif
