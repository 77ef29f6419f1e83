/*
 * columns.cu: backward: a block walks down the rows, with a vector of columns for each thread, and keeps the
 * sums of its columns for the gradient of the bias (columns.h). Two launches, one after the other.
 */
// arch: sm_80
#define BLOCK 256 // tune: 64 128 256
#define BLOCKS_PER_SM 2 // tune: 2 4 8; four fit, but memory likes fewer places at a time
#define STAGES 4 // tune: 3 4 5; rows on their way, and the one at hand

#include "columns.h"
