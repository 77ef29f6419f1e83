/*
 * turns.cu: as overlapped.cu, but the two warpgroups take turns at asking for products, by named
 * barriers. Without them both happen to ask at the same time, and then both take exponentials while
 * the tensor cores have nothing to do.
 */
// arch: sm_90a
#define TURNS 1
#include "pipeline.h"

BACKWARDS(bf16)
BACKWARDS(f16)
