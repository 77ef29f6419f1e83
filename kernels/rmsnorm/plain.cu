/*
 * plain.cu: a cluster for each row, as cluster.cu, but for plain rows alone (norm_plain.h has the body):
 * what the compiler need not provide for leaves registers for twice as many vectors a thread, and an SM
 * has four blocks in place of two, one of which writes while others still read. A block asks for what a
 * later one will read.
 */
// arch: sm_90
#include "norm_plain.h"

#define VECTORS 8 // tune: 4 8
#define THREADS 256 // tune: 128 256 512
#define AHEAD 264 // tune: 132 264 528; blocks

NORM_PLAIN(bf16, bf16, false, VECTORS, THREADS, AHEAD)
NORM_PLAIN(f16, f16, false, VECTORS, THREADS, AHEAD)
NORM_PLAIN(f32, float, false, VECTORS, THREADS, AHEAD)
