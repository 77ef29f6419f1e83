/*
 * tiles_bf16_rr.cu: tiles.h for bf16, A by rows, B by rows.
 */
// arch: sm_90a
#include "tiles.h"
ALL_TILES(bf16_numbers, false, true)
