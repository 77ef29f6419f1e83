/*
 * online.cu: the largest logit and the sum in one pass (entropy_online in entropy.h): two reads and
 * a write. Every type, length and alignment.
 */
// arch: sm_80
#include "entropy.h"

#define BLOCK 1024 // tune: 256 512 1024

ENTROPY_ONLINE(bf16, bf16)
ENTROPY_ONLINE(f16, f16)
ENTROPY_ONLINE(f32, float)
ENTROPY_ENDS
