/*
 * tiles_e4m3_e5m2.cu: tiles.h for A in e4m3 and B in e5m2; sums are promoted every 128 of k.
 */
// arch: sm_90a
#include "tiles.h"
ALL_TILES(wgmma_e4m3_e5m2, KEEP_PROMOTED)
