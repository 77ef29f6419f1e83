/*
 * one_pass.cu: one kernel between two products: bias, activation and gate forward; backward the
 * activation again, its slopes and the sums for the bias (backward.h).
 */
// arch: sm_80
#include "backward.h"

#define BLOCK 128 // tune: 64 128 256

ONE_PASS(f32, float)
ONE_PASS(f16, f16)
ONE_PASS(bf16, bf16)
