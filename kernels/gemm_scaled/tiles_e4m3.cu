/*
 * tiles_e4m3.cu: tiles.h for A and B in e4m3; sums are promoted every 128 of k.
 */
// arch: sm_90a
#include "tiles.h"
ALL_TILES(wgmma_e4m3, KEEP_PROMOTED)
