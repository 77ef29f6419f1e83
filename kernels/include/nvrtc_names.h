/*
 * nvrtc_names.h: what nvcc takes from the host's <math.h> and NVRTC does not have. It is put in front
 * of exercises that NVRTC compiles.
 */
#ifndef LOCKSTEP_KERNELS_NVRTC_NAMES_H
#define LOCKSTEP_KERNELS_NVRTC_NAMES_H

#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define M_PI 3.14159265358979323846
#define M_E 2.71828182845904523536

#endif
