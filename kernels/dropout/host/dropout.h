/*
 * dropout.h: the family's parameters, in their order; for lk_dropout.c as well.
 */
#ifndef LOCKSTEP_DROPOUT_H
#define LOCKSTEP_DROPOUT_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_dropout;

enum { DROP_N, DROP_TYPE, DROP_P, DROP_OFFSET, DROP_STATE };
enum { STATE_NONE, STATE_GIVEN };

#endif
