/*
 * tiles_e5m2_e4m3.cu: tiles.h for A in e5m2 and B in e4m3; sums are promoted every 128 of k.
 */
// arch: sm_90a
#include "tiles.h"
ALL_TILES(wgmma_e5m2_e4m3, KEEP_PROMOTED)
