/*
 * stages.cu: rows come into shared memory ahead of time, by bulk copies, while the row before is in
 * registers (norm_stages.h has the body). Rows that one block does not hold well go over the
 * blocks of a cluster, which merge their moments through distributed shared memory: 128 K columns
 * are still read once.
 */
// arch: sm_90
#include "norm_stages.h"

#define VECTORS 4 // tune: 1 2 4
#define STAGES 3 // tune: 2 3 4
#define THREADS 256 // tune: 128 256 512; more where 8 blocks of them do not hold a row

NORM_STAGES(bf16, bf16, true, VECTORS, STAGES)
NORM_STAGES(f16, f16, true, VECTORS, STAGES)
NORM_STAGES(f32, float, true, VECTORS, STAGES)
