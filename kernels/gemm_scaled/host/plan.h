/*
 * plan.h: which kernel makes a product of 8-bit matrices, and how it is launched. The family
 * gemm_scaled and the public call lk_gemm ask here.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_PLAN_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_PLAN_H

#include "../../gemm_fused/host/plan.h"

/* Of A and B. */
enum scaled_number { SCALED_E4M3, SCALED_E4M3_E5M2, SCALED_E5M2_E4M3, SCALED_S8 };
/* As scaled.h has them for the kernels. */
enum scaled_scaling { SCALE_TENSORS, SCALE_LINES, SCALE_BLOCKS };
enum scaled_stored { STORE_BF16, STORE_F16, STORE_F32, STORE_E4M3 };
enum { SCALE_BLOCK = 128 };
enum scaled_kind { SCALED_TILES, SCALED_SKINNY, SCALED_MMA_SYNC, SCALED_GENERAL };

/* D = activation(alpha, times scales, times A B, + beta C + bias), times D's scale. */
struct scaled_request {
    struct gemm_request product; /* but for its number; of the choice, the group is not used */
    enum scaled_number number;
    enum scaled_scaling scaling;
    enum scaled_stored stored;
    /* D's scales are computed from what is stored: one for each row, or for 128 columns of a row;
     * SCALE_TENSORS: none is. In e4m3 only. */
    enum scaled_scaling quantised;
    bool fast;  /* sums stay in the tensor cores: 14 bits */
    int stages; /* of mma_sync, as it was built; 0: 3 */
    /* For each tensor; for each row and column; for blocks, A's [k / 128][m] and B's
     * [n / 128][k / 128], both rounded up. 0: all are 1. Each matrix of a batch has its own, unless
     * it stays the same. D is multiplied by its scale. */
    CUdeviceptr a_scale, b_scale, d_scale;
    CUdeviceptr scale_out; /* the computed ones: [m], or [columns of D / 128][m], for each matrix */
    CUdeviceptr workspace; /* of scaled_workspace() bytes */
};

/* As scaled.h declares it for the kernels. */
struct scaled_arguments {
    int m, n, k, batch;
    int scaling, stored, added, fast, stores_directly, quantises, has_epilogue;
    int activation, bias_down, a_stays, b_stays, group, stages, parts;
    float per_matrix, per_band, alpha, beta;
    CUdeviceptr a_scale, b_scale, d_scale, scale_out, c, bias, out;
    long long a_scale_stride, b_scale_stride;
    long long out_row, out_stride, c_row, c_stride;
    CUdeviceptr a_data, b_data;
    long long a_row, a_column, a_stride, b_row, b_column, b_stride;
    CUtensorMap a, b, d;
};
/* As quantise.h declares it. */
struct quantise_arguments {
    CUdeviceptr from, out, scale_out;
    long long out_row, out_stride;
    int m, n, batch, by_blocks;
};

struct scaled_plan {
    enum scaled_kind kind;
    bool quantises_apart; /* by a second launch, of the kernel "quantise" */
    char variant[32];     /* kernels/gemm_scaled/VARIANT.cu */
    char kernel[32];
    struct zoo_grid grid, quantise_grid;
    struct scaled_arguments arguments;
    struct quantise_arguments quantise;
};

/* How many scales A, B and a computed D have, in one matrix. */
int64_t scaled_count_a(enum scaled_scaling scaling, int64_t m, int64_t k);
int64_t scaled_count_b(enum scaled_scaling scaling, int64_t n, int64_t k);
int64_t scaled_columns_of_d(const struct scaled_request *request);
/* Where a scale of D needs more than 128 columns of the product, D lies in f32 meanwhile. */
size_t scaled_workspace(const struct scaled_request *request);

/* May TMA fetch A and B? Else SCALED_MMA_SYNC and SCALED_GENERAL can. */
bool scaled_plan_fits_tma(const struct scaled_request *request);
/* The kind that is expected to be fastest. */
enum scaled_kind scaled_plan_kind(const struct scaled_request *request);
/* For a product that is not empty. */
CUresult scaled_plan_make(const struct scaled_request *request, enum scaled_kind kind,
                          const struct lk_driver *cuda, int sms, struct scaled_plan *plan);
/* Puts it into the call's stream. */
CUresult scaled_plan_launch(const struct scaled_plan *plan, struct zoo_call *call);

#endif
