/*
 * skinny_e4m3.cu: skinny.h for A and B in e4m3.
 */
// arch: sm_90a
#include "skinny.h"
ALL_SKINNY(wgmma_e4m3)
