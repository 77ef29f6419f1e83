/*
 * backward.cu: gradients in passes of their own (norm_passes.h has the bodies): by columns for
 * partial sums of dgamma and dbeta, by rows for dx, and a third that adds up the partial sums. x
 * and dy are read twice. Every type, length and alignment.
 */
// arch: sm_80
#include "norm_passes.h"

#define VECTORS 2 // tune: 1 2 4

NORM_PASSES(bf16, bf16, true, VECTORS)
NORM_PASSES(f16, f16, true, VECTORS)
NORM_PASSES(f32, float, true, VECTORS)
