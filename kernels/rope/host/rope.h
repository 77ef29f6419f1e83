/*
 * rope.h: the family's parameters, in their order; for lk_rope.c as well.
 */
#ifndef LOCKSTEP_ROPE_H
#define LOCKSTEP_ROPE_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_rope;

enum { ROPE_TOKENS, ROPE_HEADS, ROPE_DIM, ROPE_PAIRS, ROPE_DIRECTION, ROPE_TYPE };

#endif
