/*
 * cuda_fp8.h: CUDA's type __nv_fp8_e4m3 and its conversions, for clang without NVIDIA's toolkit, as far as
 * kernels and exercises use them. Compilers that have the toolkit get its own. sm_89 and newer.
 */
#if defined(__NVCC__) || defined(__CUDACC_RTC__) || defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include_next <cuda_fp8.h>
#elif !defined(LOCKSTEP_KERNELS_CUDA_FP8_H)
#define LOCKSTEP_KERNELS_CUDA_FP8_H

typedef unsigned char __nv_fp8_storage_t;

/* Rounds to nearest; what is beyond 448 becomes 448. */
struct __nv_fp8_e4m3 {
    __nv_fp8_storage_t __x;
    __nv_fp8_e4m3() = default;
    __device__ __forceinline__ explicit __nv_fp8_e4m3(float value)
    {
        unsigned short two;
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(0.0f), "f"(value));
        __x = (__nv_fp8_storage_t)two;
    }
    __device__ __forceinline__ explicit operator float() const
    {
        unsigned halves;
        float value;
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((unsigned short)__x));
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)halves));
        return value;
    }
};

#endif
