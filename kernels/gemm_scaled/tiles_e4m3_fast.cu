/*
 * tiles_e4m3_fast.cu: tiles.h for A and B in e4m3; sums stay in the tensor cores' 14 bits.
 */
// arch: sm_90a
#include "tiles.h"
ALL_TILES(wgmma_e4m3, KEEP_FAST)
