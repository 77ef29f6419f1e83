/*
 * tiles_s8.cu: tiles.h for A and B in s8; sums are exact.
 */
// arch: sm_90a
#include "tiles.h"
ALL_TILES(wgmma_s8, KEEP_FAST)
