/*
 * tiles_tf32_rr.cu: tiles_tf32.h for A by rows, B by rows.
 */
// arch: sm_90a
#include "tiles_tf32.h"
TILES_TF32(true)
