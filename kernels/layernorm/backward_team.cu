/*
 * backward_team.cu: all gradients in one read, of long rows that go over a team of blocks, up to
 * one on every SM (norm_gradient_team.h has the body). A block has the same columns of every row:
 * with one team it finds dgamma and dbeta of its columns by itself.
 */
// arch: sm_90
#include "norm_gradient_team.h"

#define VECTORS 4 // tune: 4
#define WARPS 16 // tune: 16 20
#define STAGES 3 // tune: 2 3

NORM_GRADIENT_TEAM(bf16, bf16, true, VECTORS, WARPS, STAGES)
NORM_GRADIENT_TEAM(f16, f16, true, VECTORS, WARPS, STAGES)
NORM_GRADIENT_TEAM(f32, float, true, VECTORS, WARPS, STAGES)
