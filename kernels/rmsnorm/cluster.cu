/*
 * cluster.cu: a row that one SM cannot hold well goes over the blocks of a cluster, which run at
 * the same time on neighbouring SMs (norm_parts.h has the body). Each does what registers.cu does
 * with its part, and they send each other their sums through distributed shared memory: 128 K
 * columns are still read once.
 */
// arch: sm_90
#include "norm_parts.h"

#define VECTORS 4 // tune: 2 4 8
#define THREADS 512 // tune: 128 256 512 1024; more where 8 blocks of them do not hold a row

NORM_PARTS(bf16, bf16, false, VECTORS)
NORM_PARTS(f16, f16, false, VECTORS)
NORM_PARTS(f32, float, false, VECTORS)
