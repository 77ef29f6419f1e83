/*
 * plan.h: which kernel makes a product of 8-bit matrices, and how it is launched. The family
 * gemm_scaled and the public call lk_gemm ask here.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_PLAN_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_PLAN_H

#include "zoo/zoo.h"

/* Of A and B. */
enum scaled_number { SCALED_E4M3, SCALED_E4M3_E5M2, SCALED_E5M2_E4M3, SCALED_S8 };
/* As scaled.h has them for the kernels. */
enum scaled_scaling { SCALE_TENSORS, SCALE_LINES, SCALE_BLOCKS };
enum scaled_stored { STORE_BF16, STORE_F16, STORE_F32, STORE_E4M3 };
enum { SCALE_BLOCK = 128 };
enum scaled_kind { SCALED_TILES, SCALED_MMA_SYNC, SCALED_GENERAL };

/* D = alpha, times scales, times A B. A is m x k, B is k x n, D is m x n and lies by rows. */
struct scaled_request {
    enum scaled_number number;
    enum scaled_scaling scaling;
    enum scaled_stored stored;
    float alpha;
    bool fast; /* sums stay in the tensor cores: 14 bits */
    int64_t m, n, k;
    bool a_by_columns, b_by_columns;
    int64_t a_pitch, b_pitch, d_pitch; /* from a row (or a column) to the next, in elements */
    int width;                         /* of the tiles; 0: what is expected to be fastest */
    int stages;                        /* of mma_sync, as it was built; 0: 3 */
    CUdeviceptr a, b, d;
    /* For each tensor; for each row and column; for blocks, A's [k / 128][m] and B's
     * [n / 128][k / 128], both rounded up. 0: all are 1. D is multiplied by its scale. */
    CUdeviceptr a_scale, b_scale, d_scale;
};

/* As scaled.h declares it for the kernels. */
struct scaled_arguments {
    int m, n, k;
    int scaling, stored, fast, stores_directly, group;
    float per_band, alpha;
    CUdeviceptr a_scale, b_scale, d_scale, out;
    long long out_row;
    CUdeviceptr a_data, b_data;
    long long a_row, a_column, b_row, b_column;
    CUtensorMap a, b, d;
};

struct scaled_plan {
    enum scaled_kind kind;
    char variant[32]; /* kernels/gemm_scaled/VARIANT.cu */
    char kernel[32];
    struct zoo_grid grid;
    struct scaled_arguments arguments;
};

/* May TMA fetch A and B? Else SCALED_MMA_SYNC and SCALED_GENERAL can. */
bool scaled_plan_fits_tma(const struct scaled_request *request);
/* For a product that is not empty. */
CUresult scaled_plan_make(const struct scaled_request *request, enum scaled_kind kind,
                          const struct lk_driver *cuda, int sms, struct scaled_plan *plan);

#endif
