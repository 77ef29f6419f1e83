/*
 * w4a16.h: the family's parameters, in their order, and how many bytes weights take; for
 * lk_w4a16.c as well.
 */
#ifndef LOCKSTEP_W4A16_H
#define LOCKSTEP_W4A16_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_gemm_w4a16;

enum { W_M, W_N, W_K, W_LAYOUT, W_STEP, W_TYPE };
enum { W_Q4_0, W_Q4_1, W_Q8_0, W_Q4_K, W_Q6_K, W_TILES32, W_TILES128 };
enum { W_MULTIPLY, W_REPACK };

/* Columns that k must be a multiple of. */
int64_t w_block(int64_t layout);
size_t w_weight_bytes(int64_t layout, int64_t n, int64_t k);
size_t w_scale_count(int64_t layout, int64_t n, int64_t k); /* f16, of tiles */
/* What tiles are made from: Q4_0 (32), or INT4 and f32 scales for 128 numbers. */
size_t w_source_bytes(int64_t layout, int64_t n, int64_t k);

void w_reference(const struct zoo_problem *problem, void *const *buffer,
                 struct zoo_expected *expected);

#endif
