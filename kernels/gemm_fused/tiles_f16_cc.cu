/*
 * tiles_f16_cc.cu: tiles.h for f16, A by columns, B by columns.
 */
// arch: sm_90a
#include "tiles.h"
SOME_TILES(f16_numbers, true, false)
