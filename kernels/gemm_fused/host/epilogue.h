/*
 * epilogue.h: what may happen to a product on its way out, for the families gemm_fused and
 * gemm_scaled: the epilogues that they are tested with, and what must come out of an activation.
 */
#ifndef LOCKSTEP_KERNELS_GEMM_FUSED_EPILOGUE_H
#define LOCKSTEP_KERNELS_GEMM_FUSED_EPILOGUE_H

#include "plan.h"

/* activation(alpha A B + beta C + bias); C only if beta is not 0. */
struct gemm_epilogue {
    float alpha, beta;
    enum gemm_activation activation;
    bool bias, bias_down; /* bias_down: a number for each row */
};
extern const struct gemm_epilogue gemm_epilogues[];
extern const char *const gemm_epilogue_names[]; /* until NULL */
enum { GEMM_EPILOGUES = 8 };

/* A number and what its error may be. */
struct gemm_result {
    double value, error;
};
/* Of one number: a gate leaves it as it is. */
struct gemm_result gemm_activate(struct gemm_result x, enum gemm_activation activation);
/* Of two neighbours, the first through SiLU. */
struct gemm_result gemm_gate(struct gemm_result left, struct gemm_result right);

#endif
