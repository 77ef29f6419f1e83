/*
 * overlapped.cu: backward, as columns.cu (columns.h), but the second launch overlaps the first: the kernel
 * that adds the sums of all blocks is on the GPU when the last of them is stored.
 */
// arch: sm_90
#define BLOCK 256 // tune: 64 128 256
#define BLOCKS_PER_SM 2 // tune: 2 4 8; four fit, but memory likes fewer places at a time
#define STAGES 4 // tune: 3 4 5; rows on their way, and the one at hand

#include "columns.h"
