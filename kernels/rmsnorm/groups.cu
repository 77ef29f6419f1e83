/*
 * groups.cu: long rows over clusters that stay, as shared_affine.cu, but the threads of a block are groups
 * that take rows of their own, each with its own barriers (norm_groups.h has the body): while one waits
 * for the other blocks, another one works. In shared memory gamma waits once for all. "wide": for
 * rows that 8 blocks do not hold otherwise.
 */
// arch: sm_90
#include "norm_groups.h"

#define VECTORS 8 // tune: 8
#define GROUPS 8 // tune: 6 8
#define THREADS 128 // tune: 128; of a group
#define STAGES 1 // tune: 1

#define KERNELS(type, T)                                                                           \
    NORM_GROUPS(groups_##type, T, false, VECTORS, GROUPS, THREADS, STAGES)                         \
    NORM_GROUPS(wide_##type, T, false, VECTORS, GROUPS / 2, 2 * THREADS, STAGES)                   \
    NORM_LONG(type, T, false)
KERNELS(bf16, bf16)
KERNELS(f16, f16)
KERNELS(f32, float)
