/*
 * skinny_f16_c.cu: skinny.h for f16, A by rows, B by columns.
 */
// arch: sm_90a
#include "skinny.h"
ALL_SKINNY(f16_numbers, false)
