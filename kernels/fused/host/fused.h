/*
 * fused.h: the family's parameters, in their order; for lk_fused.c as well.
 */
#ifndef LOCKSTEP_FUSED_H
#define LOCKSTEP_FUSED_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_fused;

enum {
    FUSED_ROWS,
    FUSED_COLS,
    FUSED_OP,
    FUSED_DIRECTION,
    FUSED_TYPE,
    FUSED_P,
    FUSED_OFFSET,
    FUSED_STATE
};
enum { FUSED_GELU, FUSED_GELU_TANH, FUSED_RESIDUAL };
enum { FUSED_FORWARD, FUSED_BACKWARD };

#endif
