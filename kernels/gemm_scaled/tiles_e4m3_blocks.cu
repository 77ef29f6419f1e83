/*
 * tiles_e4m3_blocks.cu: tiles.h for A and B in e4m3, with a scale for each block of 128 of k.
 */
// arch: sm_90a
#include "tiles.h"
BLOCK_TILES(wgmma_e4m3)
