/*
 * backward_groups.cu: all gradients in one read, as backward_stages.cu, but the threads of a block are
 * groups that take rows of their own, each with its own barriers (norm_gradient_groups.h has the
 * body): while one waits for the other blocks of its cluster, another one works.
 */
// arch: sm_90
#include "norm_gradient_groups.h"

#define VECTORS 4 // tune: 4
#define GROUPS 4 // tune: 2 3 4
#define THREADS 128 // tune: 128; of a group
#define STAGES 1 // tune: 1 2

NORM_GRADIENT_GROUPS(bf16, bf16, false, VECTORS, GROUPS, THREADS, STAGES)
NORM_GRADIENT_GROUPS(f16, f16, false, VECTORS, GROUPS, THREADS, STAGES)
NORM_GRADIENT_GROUPS(f32, float, false, VECTORS, GROUPS, THREADS, STAGES)
