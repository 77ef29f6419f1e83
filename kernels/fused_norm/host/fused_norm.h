/*
 * fused_norm.h: inside the family fused_norm: its parameters, its buffers and its reference.
 */
#ifndef LOCKSTEP_KERNELS_FUSED_NORM_H
#define LOCKSTEP_KERNELS_FUSED_NORM_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_fused_norm;

/* The family's parameters, in order, and their words. */
enum {
    FN_ROWS,
    FN_COLS,
    FN_NORM,
    FN_DIRECTION,
    FN_TYPE,
    FN_P,
    FN_OFFSET,
    FN_STATE,
    FN_DSUM,
    FN_EPS
};
enum { FN_RMSNORM, FN_LAYERNORM };
enum { FN_FORWARD, FN_BACKWARD };

/* All arrays that a problem may have; those that it has are its buffers, in this order. */
enum fn_array {
    FN_X,
    FN_BIAS,
    FN_RESIDUAL,
    FN_SUM_IN,
    FN_GAMMA,
    FN_BETA,
    FN_STATS_IN,
    FN_DY,
    FN_DSUM_IN,
    FN_SUM,
    FN_Y,
    FN_STATS,
    FN_DRESIDUAL,
    FN_DX,
    FN_DBIAS,
    FN_DGAMMA,
    FN_DBETA,
    FN_STATE_IN,
    FN_ARRAYS
};
/* The buffer that an array is; -1: the problem has none. */
int fn_at(const struct zoo_problem *problem, enum fn_array array);
enum zoo_type fn_type(const struct zoo_problem *problem);
bool fn_is_layer(const struct zoo_problem *problem);
bool fn_is_backward(const struct zoo_problem *problem);

void fn_generate(const struct zoo_problem *problem, void **buffer);
void fn_reference(const struct zoo_problem *problem, void *const *buffer,
                  struct zoo_expected *expected);

#endif
