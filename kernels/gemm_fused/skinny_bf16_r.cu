/*
 * skinny_bf16_r.cu: skinny.h for bf16, A by rows, B by rows.
 */
// arch: sm_90a
#include "skinny.h"
ALL_SKINNY(bf16_numbers, true)
