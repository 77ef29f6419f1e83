/*
 * team.cu: long rows over a team of blocks, up to one on every SM, which tell each other through the
 * L2 what they found (norm_team.h has the body). A warp takes its block's part of a row by itself,
 * and gamma waits in shared memory: nobody waits at a barrier.
 */
// arch: sm_90
#include "norm_team.h"

#define VECTORS 4 // tune: 4
#define WARPS 24 // tune: 16 24 32
#define STAGES 4 // tune: 2 3 4 6

NORM_TEAM(bf16, bf16, false, VECTORS, WARPS, STAGES)
NORM_TEAM(f16, f16, false, VECTORS, WARPS, STAGES)
NORM_TEAM(f32, float, false, VECTORS, WARPS, STAGES)
