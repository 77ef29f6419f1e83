/*
 * cublaslt.h: cublasLt, opened at run time, for the peers of 'lockstep bench'. It offers several
 * algorithms for a shape; cublaslt_choose times each of them and keeps the fastest, as a careful
 * user would.
 */
#ifndef LOCKSTEP_KERNELS_CUBLASLT_H
#define LOCKSTEP_KERNELS_CUBLASLT_H

#include "peer.h"

#include <stdbool.h>
#include <stdint.h>

/* As far as cublasLt.h and library_types.h are needed here. */
enum {
    CUBLASLT_F32 = 0,
    CUBLASLT_F16 = 2,
    CUBLASLT_BF16 = 14,
    CUBLASLT_E4M3 = 28,
    CUBLASLT_E5M2 = 29,
    CUBLASLT_COMPUTE_F32 = 68,
    CUBLASLT_COMPUTE_TF32 = 77,
};
enum cublaslt_attribute {
    CUBLASLT_TRANSPOSE_A = 3,
    CUBLASLT_A_SCALE = 17,
    CUBLASLT_B_SCALE = 18,
    CUBLASLT_D_SCALE = 20,
    CUBLASLT_FAST = 25,
    CUBLASLT_A_SCALE_MODE = 31,
    CUBLASLT_B_SCALE_MODE = 32,
};

/* What has been set up for one shape; cublasLt goes by columns. */
struct cublaslt_product {
    void *product, *a, *b, *d;
    uint64_t algorithm[8];
};
/* The arguments of one call. */
struct cublaslt_buffers {
    const void *a, *b;
    void *d;
};

const char *cublaslt_version(void); /* NULL: it is not here */
/* All return 0, or cublasLt's status. */
int cublaslt_describe(struct cublaslt_product *product, int compute, int scale_type);
int cublaslt_set(struct cublaslt_product *product, enum cublaslt_attribute attribute,
                 const void *value, size_t bytes);
int cublaslt_layout(void **layout, int type, int64_t rows, int64_t columns, int64_t pitch);
int cublaslt_choose(struct cublaslt_product *product, const struct lk_peer_call *call,
                    const struct cublaslt_buffers *buffers);
int cublaslt_multiply(const struct cublaslt_product *product, const struct lk_peer_call *call,
                      const struct cublaslt_buffers *buffers);

#endif
