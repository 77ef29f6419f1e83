/*
 * tiles_bf16_cr.cu: tiles.h for bf16, A by columns, B by rows.
 */
// arch: sm_90a
#include "tiles.h"
SOME_TILES(bf16_numbers, true, true)
