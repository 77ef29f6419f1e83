/*
 * early.cu: as registers.cu, for bf16: gamma and beta are loaded together with the row.
 */
// arch: sm_80
#include "norm_registers.h"

#define VECTORS 2 // tune: 1 2 4

extern "C" __global__ void __launch_bounds__(1024) block_bf16(NORM_ARGUMENTS(bf16))
{
    norm_block<bf16, false, VECTORS, true>(NORM(bf16));
}
