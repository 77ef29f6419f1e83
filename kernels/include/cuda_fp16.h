/*
 * cuda_fp16.h: CUDA's type half and its conversions, for clang without NVIDIA's toolkit, as far as
 * kernels and exercises use them. Compilers that have the toolkit get its own.
 */
#if defined(__NVCC__) || defined(__CUDACC_RTC__) || defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include_next <cuda_fp16.h>
#elif !defined(LOCKSTEP_KERNELS_CUDA_FP16_H)
#define LOCKSTEP_KERNELS_CUDA_FP16_H

typedef _Float16 half;
typedef half __half;
static __device__ __forceinline__ half __float2half(float x)
{
    return (half)x;
}
static __device__ __forceinline__ float __half2float(half x)
{
    return (float)x;
}

#endif
