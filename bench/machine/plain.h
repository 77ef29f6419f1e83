/*
 * plain.h: the algorithms of kernels.cu in plain C, for one core: what the machine is compared
 * with.
 */
#ifndef LOCKSTEP_BENCH_MACHINE_PLAIN_H
#define LOCKSTEP_BENCH_MACHINE_PLAIN_H

#include <stdint.h>

void plain_vector_add(const float *a, const float *b, float *c, int n);
void plain_matmul_naive(const float *a, const float *b, float *c, int n); /* [n][n] */
void plain_matmul_tiled(const float *a, const float *b, float *c, int n);
float plain_reduction(const float *in, int n);
void plain_histogram(const unsigned char *in, unsigned *bins, int n);
void plain_gemm_half(const uint16_t *a, const uint16_t *b, float *c, int n); /* halves in */

float plain_half_to_float(uint16_t half);
uint16_t plain_half_from_small_integer(int value); /* -2048 .. 2048 */

#endif
