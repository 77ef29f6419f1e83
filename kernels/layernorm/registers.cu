/*
 * registers.cu: the row is read once and waits in registers until its mean and deviation are known
 * (norm_registers.h has the bodies): some lanes of a warp for a short row, a block for a longer
 * one. Every type, length and alignment, with or without gamma and beta, residual and FP8 results.
 */
// arch: sm_80
#include "norm_registers.h"

#define VECTORS 4 // tune: 1 2 4 8

NORM_REGISTERS(bf16, bf16, true, VECTORS)
NORM_REGISTERS(f16, f16, true, VECTORS)
NORM_REGISTERS(f32, float, true, VECTORS)
