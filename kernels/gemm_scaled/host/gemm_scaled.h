/*
 * gemm_scaled.h: what the files of this family's host share: its parameters and buffers, its
 * reference and its peer.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_SCALED_H
#define LOCKSTEP_KERNELS_GEMM_SCALED_H

#include "../../gemm_fused/host/epilogue.h"
#include "plan.h"

enum {
    SCALED_M,
    SCALED_N,
    SCALED_K,
    SCALED_TYPE, /* enum scaled_number */
    SCALED_OUT,  /* enum scaled_out */
    SCALED_SCALES,
    SCALED_SUMS, /* 1: fast */
    SCALED_WIDTH,
    SCALED_BATCH,
    SCALED_EPILOGUE
};
enum {
    SCALED_A,
    SCALED_B,
    SCALED_D,
    SCALED_A_SCALE,
    SCALED_B_SCALE,
    SCALED_D_SCALE,
    SCALED_C,
    SCALED_BIAS,
    SCALED_BUFFERS
};
/* D's types: those of enum scaled_stored, and e4m3 with scales that are computed. */
enum scaled_out { OUT_E4M3 = STORE_E4M3, OUT_E4M3_ROWS, OUT_E4M3_BLOCKS };

enum scaled_stored scaled_stored_of(const struct zoo_problem *problem);
enum scaled_scaling scaled_quantised_of(const struct zoo_problem *problem);
const struct gemm_epilogue *scaled_epilogue_of(const struct zoo_problem *problem);
int64_t scaled_columns(const struct zoo_problem *problem);          /* of D */
enum zoo_type scaled_type_added(const struct zoo_problem *problem); /* of C and the bias */

enum zoo_type scaled_type_of_a(const struct zoo_problem *problem);
enum zoo_type scaled_type_of_b(const struct zoo_problem *problem);
void scaled_reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected);

struct lk_peer_call;
bool scaled_cublas_takes(const struct zoo_problem *problem);
size_t scaled_cublas_workspace(const struct lk_peer_call *call);
int scaled_cublas_run(const struct lk_peer_call *call);
const char *scaled_cublas_version(void);

#endif
