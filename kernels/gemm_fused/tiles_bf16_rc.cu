/*
 * tiles_bf16_rc.cu: tiles.h for bf16, A by rows, B by columns.
 */
// arch: sm_90a
#include "tiles.h"
ALL_TILES(bf16_numbers, false, false)
