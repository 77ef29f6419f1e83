/*
 * shared_affine.cu: long rows over clusters that stay, as stages.cu, but gamma and beta wait in shared memory
 * (norm_shared_affine.h has the body): for rows this long they do not stay in the L1, and would come
 * from the L2 for every row.
 */
// arch: sm_90
#include "norm_shared_affine.h"

#define VECTORS 4 // tune: 4
#define ROWS 2 // tune: 1 2; at a time
#define STAGES 2 // tune: 1 2
#define THREADS 512 // tune: 512; of a block, at most

NORM_SHARED_AFFINE(bf16, bf16, true, VECTORS, ROWS, STAGES)
NORM_SHARED_AFFINE(f16, f16, true, VECTORS, ROWS, STAGES)
NORM_SHARED_AFFINE(f32, float, true, VECTORS, ROWS, STAGES)
