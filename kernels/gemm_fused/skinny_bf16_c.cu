/*
 * skinny_bf16_c.cu: skinny.h for bf16, A by rows, B by columns.
 */
// arch: sm_90a
#include "skinny.h"
ALL_SKINNY(bf16_numbers, false)
