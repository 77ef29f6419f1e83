/*
 * tiles_f16_rr.cu: tiles.h for f16, A by rows, B by rows.
 */
// arch: sm_90a
#include "tiles.h"
ALL_TILES(f16_numbers, false, true)
