/*
 * math.cu: every function of kernels/include/cuda_math_list.h for doubles and floats, and those of
 * two results. run_math.c gives them numbers, and compares. clang compiles it, with our names.
 */
#define KERNEL_OF(name, of_double, of_float)                                                       \
    extern "C" __global__ void name##_of_all(const double *a, const double *b, double *doubles,    \
                                             float *floats, int n)                                 \
    {                                                                                              \
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                      \
        if (i < n)                                                                                 \
            doubles[i] = of_double, floats[i] = of_float;                                          \
    }
#define LK_OF_ONE(name, value) KERNEL_OF(name, name(a[i]), name##f((float)a[i]))
#define LK_OF_DOUBLE(name, value) LK_OF_ONE(name, value)
#define LK_OF_TWO(name, value) KERNEL_OF(name, name(a[i], b[i]), name##f((float)a[i], (float)b[i]))
#include "cuda_math_list.h"

#define PART_OF(name, both, part, type)                                                            \
    static __device__ type name(type x)                                                            \
    {                                                                                              \
        type s, c;                                                                                 \
        both(x, &s, &c);                                                                           \
        return part;                                                                               \
    }
PART_OF(sincos_s, sincos, s, double)
PART_OF(sincos_sf, sincosf, s, float)
PART_OF(sincos_c, sincos, c, double)
PART_OF(sincos_cf, sincosf, c, float)
PART_OF(sincospi_s, sincospi, s, double)
PART_OF(sincospi_sf, sincospif, s, float)
PART_OF(sincospi_c, sincospi, c, double)
PART_OF(sincospi_cf, sincospif, c, float)
LK_OF_ONE(sincos_s, )
LK_OF_ONE(sincos_c, )
LK_OF_ONE(sincospi_s, )
LK_OF_ONE(sincospi_c, )
