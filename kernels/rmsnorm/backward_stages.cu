/*
 * backward_stages.cu: all gradients in one read (norm_gradient_stages.h has the body): rows of x
 * and dy come into shared memory ahead of time, a thread adds up dgamma of its own columns in
 * registers, and a second kernel adds up what the blocks found. Long rows go over a cluster.
 */
// arch: sm_90
#include "norm_gradient_stages.h"

#define VECTORS 4 // tune: 1 2 4
#define STAGES 3 // tune: 2 3
#define THREADS 256 // tune: 128 256 512; more where 8 blocks of them do not hold a row

NORM_GRADIENT_STAGES(bf16, bf16, false, VECTORS, STAGES)
NORM_GRADIENT_STAGES(f16, f16, false, VECTORS, STAGES)
NORM_GRADIENT_STAGES(f32, float, false, VECTORS, STAGES)
