/*
 * tiles_f16_cr.cu: tiles.h for f16, A by columns, B by rows.
 */
// arch: sm_90a
#include "tiles.h"
SOME_TILES(f16_numbers, true, true)
