/*
 * tensor_product.h: products of whole matrices as a GPU's tensor cores add them up, bit for bit:
 * for the math libraries, which bring no PTX. Programs compare their kernels with cuBLAS, and to a
 * bf16 the last bit of an f32 sum can make a difference.
 */
#ifndef LOCKSTEP_SIMT_TENSOR_PRODUCT_H
#define LOCKSTEP_SIMT_TENSOR_PRODUCT_H

#include "gpu/gpu.h"
#include "host/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tensor_product {
    bool is_bf16; /* else f16 */
    size_t m, n, k;
    const uint16_t *a; /* row i, k: a[i * a_row + k * a_k] */
    size_t a_row, a_k;
    const uint16_t *b; /* k, column j: b[j * b_column + k * b_k] */
    size_t b_column, b_k;
    float *sums; /* [n][m] */
};

/* Sums k in ascending order, 16 at a time, in f32, by count threads of the pool. False if there is
 * not enough memory. */
bool simt_tensor_product(const struct gpu_info *gpu, const struct tensor_product *product,
                         struct lk_pool *pool, unsigned count);

#endif
