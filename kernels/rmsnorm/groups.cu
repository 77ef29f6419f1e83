/*
 * groups.cu: long rows over clusters that stay, as shared_affine.cu, but the threads of a block are groups
 * that take rows of their own, each with its own barriers (norm_groups.h has the body): while one waits
 * for the other blocks, another one works. In shared memory gamma waits once for all.
 */
// arch: sm_90
#include "norm_groups.h"

#define VECTORS 8 // tune: 8
#define GROUPS 4 // tune: 2 3 4
#define THREADS 256 // tune: 256; of a group
#define STAGES 1 // tune: 1 2

NORM_GROUPS(bf16, bf16, false, VECTORS, GROUPS, THREADS, STAGES)
NORM_GROUPS(f16, f16, false, VECTORS, GROUPS, THREADS, STAGES)
NORM_GROUPS(f32, float, false, VECTORS, GROUPS, THREADS, STAGES)
