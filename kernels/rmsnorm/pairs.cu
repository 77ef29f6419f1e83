/*
 * pairs.cu: long rows, two at a time, over clusters that stay (norm_pairs.h has the body): gamma
 * waits in shared memory, and is not read again for every row. The next two rows come by bulk
 * copies meanwhile.
 */
// arch: sm_90
#include "norm_pairs.h"

#define VECTORS 4 // tune: 4
#define STAGES 2 // tune: 1 2
#define THREADS 512 // tune: 256 512; of a block, at most

NORM_PAIRS(bf16, bf16, false, VECTORS, STAGES)
NORM_PAIRS(f16, f16, false, VECTORS, STAGES)
NORM_PAIRS(f32, float, false, VECTORS, STAGES)
