/*
 * skinny_s8.cu: skinny.h for integers.
 */
// arch: sm_90a
#include "skinny.h"
ALL_SKINNY(wgmma_s8)
