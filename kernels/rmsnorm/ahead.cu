/*
 * ahead.cu: as registers.cu, but blocks stay and take one row after the other: the loads of the
 * next row start before this one's root mean square is known (norm_registers.h has the body), so
 * that memory has something to do while the block measures, waits at its barrier and writes.
 */
// arch: sm_80
#include "norm_registers.h"

#define VECTORS 4 // tune: 2 4

NORM_AHEAD(bf16, bf16, false, VECTORS)
NORM_AHEAD(f16, f16, false, VECTORS)
NORM_AHEAD(f32, float, false, VECTORS)
