/*
 * tiles_tf32_rc.cu: tiles_tf32.h for A by rows, B by columns.
 */
// arch: sm_90a
#include "tiles_tf32.h"
TILES_TF32(false)
