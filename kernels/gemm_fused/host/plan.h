/*
 * plan.h: which kernel makes a product, and how it is launched. The family gemm_fused and the
 * public call lk_gemm ask here.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_FUSED_PLAN_H
#define LOCKSTEP_KERNELS_GEMM_FUSED_PLAN_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_gemm_fused;

/* GEMM_NUMBER_TF32: f32 in memory; factors are rounded to TF32. */
enum gemm_number { GEMM_NUMBER_F32, GEMM_NUMBER_F16, GEMM_NUMBER_BF16, GEMM_NUMBER_TF32 };
enum gemm_activation { GEMM_NONE, GEMM_RELU, GEMM_GELU, GEMM_SILU, GEMM_GATE };
enum gemm_kind { GEMM_TILES, GEMM_SKINNY, GEMM_MMA_SYNC, GEMM_GENERAL };

/* What a search may choose; 0: what is expected to be fastest. A value that cannot be is treated as
 * 0. */
struct gemm_choice {
    int width; /* of tiles, in columns */
    int group; /* rows of tiles that go through the columns together */
    int rows, consumers,
        parts; /* of a skinny tile: its rows, its warpgroups, blocks that share k */
};

/* D = activation(alpha A B + beta C + bias), for each matrix of a batch. A is m x k, B is k x n, C
 * and D are m x n and lie by rows. GEMM_GATE: column j of D, which has n / 2 of them, is
 * silu(column 2 j) times column 2 j + 1. */
struct gemm_request {
    enum gemm_number number;
    int64_t m, n, k, batch;
    bool a_by_columns, b_by_columns;
    /* From a row (or a column) to the next, and from a matrix to the next, in elements; a stride of
     * 0 is the same matrix again. */
    int64_t a_pitch, b_pitch, c_pitch, d_pitch;
    int64_t a_stride, b_stride, c_stride, d_stride;
    float alpha, beta;
    enum gemm_activation activation;
    bool bias_down; /* a number for each row, not for each column */
    struct gemm_choice choice;
    CUdeviceptr a, b, c, d, bias; /* c and bias may be 0 */
};

/* As generic.h declares it for the kernels. */
struct gemm_arguments {
    int m, n, k, batch;
    float alpha, beta;
    int activation, bias_down, a_stays, b_stays, stores_directly, c_pieces, out_pairs, group;
    float per_matrix, per_band;
    int stages, parts;
    CUdeviceptr c, bias, out;
    long long out_row, out_stride, c_row, c_stride;
    CUdeviceptr a_data, b_data;
    long long a_row, a_column, a_stride, b_row, b_column, b_stride;
    CUtensorMap a, b, d, b_rest, d_rest;
};

struct gemm_plan {
    enum gemm_kind kind;
    bool from_table;  /* what was chosen was measured */
    char variant[24]; /* kernels/gemm_fused/VARIANT.cu */
    char kernel[24];
    struct zoo_grid grid;
    struct gemm_arguments arguments;
};

/* D by columns is D transposed by rows: makes of a request that of B and A, transposed. */
void gemm_request_turn(struct gemm_request *request);
/* How a skinny product is divided: rows and warpgroups of a block, stages, and blocks that share k,
 * of which a stage has step_k. */
struct gemm_slice {
    int rows, consumers, stages, parts;
};
struct gemm_slice gemm_slice_of(const struct gemm_request *request, int step_k, int sms);
/* May TMA fetch A and B? Else only GEMM_GENERAL can, and GEMM_MMA_SYNC in TF32. */
bool gemm_plan_fits_tma(const struct gemm_request *request);
/* The kind that is expected to be fastest, with TMA and without. */
enum gemm_kind gemm_plan_kind(const struct gemm_request *request, int sms);
enum gemm_kind gemm_plan_kind_without_tma(const struct gemm_request *request);
/* What a table of measured times says of a product of (nearly) this shape; false if it has none. */
struct zoo_table;
bool gemm_plan_find(const struct zoo_table *table, const struct zoo_device *device,
                    const struct gemm_request *request, enum gemm_kind *kind,
                    struct gemm_choice *choice);
/* For a product that is not empty. */
CUresult gemm_plan_make(const struct gemm_request *request, enum gemm_kind kind,
                        const struct lk_driver *cuda, int sms, struct gemm_plan *plan);

#endif
