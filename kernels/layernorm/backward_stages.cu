/*
 * backward_stages.cu: all gradients in one read (norm_gradient_stages.h has the body): rows of x
 * and dy come into shared memory ahead of time, a thread adds up dgamma and dbeta of its own
 * columns in registers, and a second kernel adds up what the blocks found. Long rows go over a
 * cluster.
 */
// arch: sm_90
#include "norm_gradient_stages.h"

#define VECTORS 2 // tune: 1 2
#define STAGES 2 // tune: 2 3
#define THREADS 512 // tune: 128 256 512; more blocks for longer rows

NORM_GRADIENT_STAGES(bf16, bf16, true, VECTORS, STAGES)
NORM_GRADIENT_STAGES(f16, f16, true, VECTORS, STAGES)
NORM_GRADIENT_STAGES(f32, float, true, VECTORS, STAGES)
