/*
 * activation.h: the family's parameters, in their order; for lk_activation.c as well.
 */
#ifndef LOCKSTEP_ACTIVATION_H
#define LOCKSTEP_ACTIVATION_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_activation;

enum { ACT_ROWS, ACT_COLS, ACT_OP, ACT_DIRECTION, ACT_TYPE, ACT_LAYOUT };
enum { OP_GELU, OP_GELU_TANH, OP_SILU, OP_GEGLU, OP_SWIGLU };
enum { ACT_FORWARD, ACT_BACKWARD };
enum { ACT_APART, ACT_PACKED };

#endif
