/*
 * skinny_e5m2_e4m3.cu: skinny.h for A in e5m2, B in e4m3.
 */
// arch: sm_90a
#include "skinny.h"
ALL_SKINNY(wgmma_e4m3_e5m2)
