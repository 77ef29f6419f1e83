/*
 * tiles_f16_rc.cu: tiles.h for f16, A by rows, B by columns.
 */
// arch: sm_90a
#include "tiles.h"
ALL_TILES(f16_numbers, false, false)
