/*
 * skinny_e4m3_e5m2.cu: skinny.h for A in e4m3, B in e5m2.
 */
// arch: sm_90a
#include "skinny.h"
ALL_SKINNY(wgmma_e5m2_e4m3)
