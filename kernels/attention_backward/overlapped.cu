/*
 * overlapped.cu: as wgmma.cu, but a warpgroup asks for a tile's scores and dP together with the
 * products of P and dS of the tile before, and turns the scores into P and dS while those run. The
 * tensor cores get four products in one go, and have something to do while exponentials are taken.
 */
// arch: sm_90a
#define TURNS 0
#include "pipeline.h"

BACKWARDS(bf16)
BACKWARDS(f16)
