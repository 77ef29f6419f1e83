/*
 * tiles_bf16_cc.cu: tiles.h for bf16, A by columns, B by columns.
 */
// arch: sm_90a
#include "tiles.h"
SOME_TILES(bf16_numbers, true, false)
