/*
 * chained.cu: what the products can do themselves, they do on the way out: both biases, and forward
 * the activation, or a SiLU gate over pairs of columns, unless the caller wants what goes into it.
 * Then there is no kernel between the products. For all else, one pass (backward.h).
 */
// arch: sm_80
#include "backward.h"

#define BLOCK 128 // tune: 64 128 256

ONE_PASS(f32, float)
ONE_PASS(f16, f16)
ONE_PASS(bf16, bf16)
