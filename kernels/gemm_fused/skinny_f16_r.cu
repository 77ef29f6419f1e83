/*
 * skinny_f16_r.cu: skinny.h for f16, A by rows, B by rows.
 */
// arch: sm_90a
#include "skinny.h"
ALL_SKINNY(f16_numbers, true)
