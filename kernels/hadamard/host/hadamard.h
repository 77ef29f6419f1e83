/*
 * hadamard.h: the family hadamard's parameters, in order.
 */
#ifndef LOCKSTEP_KERNELS_HADAMARD_HADAMARD_H
#define LOCKSTEP_KERNELS_HADAMARD_HADAMARD_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_hadamard;

enum { HADAMARD_BLOCKS, HADAMARD_SIZE, HADAMARD_TYPE };
enum { HADAMARD_MOST = 32768 };

#endif
