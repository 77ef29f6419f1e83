/*
 * mma.h: nvcuda::wmma for clang without NVIDIA's toolkit, as far as our kernels use it: products of
 * 16 x 16 x 16 elements of f16 with sums in f32. Compilers that have the toolkit get its own mma.h.
 */
#if defined(__NVCC__) || defined(__CUDACC_RTC__) || defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include_next <mma.h>
#elif !defined(LOCKSTEP_KERNELS_MMA_H)
#define LOCKSTEP_KERNELS_MMA_H

#include "cuda_fp16.h"

namespace nvcuda
{
namespace wmma
{
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
enum layout_t { mem_row_major, mem_col_major };

template <class USE, int M, int N, int K, class TYPE, class LAYOUT = void> struct fragment;
template <class USE> struct fragment<USE, 16, 16, 16, half, row_major> {
    int bits[8];
};
template <> struct fragment<accumulator, 16, 16, 16, float> {
    static const int num_elements = 8;
    float x[8];
};

typedef fragment<matrix_a, 16, 16, 16, half, row_major> lk_a;
typedef fragment<matrix_b, 16, 16, 16, half, row_major> lk_b;
typedef fragment<accumulator, 16, 16, 16, float> lk_sums;

static __device__ __forceinline__ void fill_fragment(lk_sums &to, float value)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        to.x[i] = value;
}
static __device__ __forceinline__ void load_matrix_sync(lk_a &to, const half *from, unsigned pitch)
{
    __hmma_m16n16k16_ld_a(to.bits, (const int *)from, pitch, 0);
}
static __device__ __forceinline__ void load_matrix_sync(lk_b &to, const half *from, unsigned pitch)
{
    __hmma_m16n16k16_ld_b(to.bits, (const int *)from, pitch, 0);
}
static __device__ __forceinline__ void mma_sync(lk_sums &d, const lk_a &a, const lk_b &b,
                                                const lk_sums &c)
{
    __hmma_m16n16k16_mma_f32f32(d.x, a.bits, b.bits, c.x, 0, 0);
}
static __device__ __forceinline__ void store_matrix_sync(float *to, const lk_sums &from,
                                                         unsigned pitch, layout_t layout)
{
    if (layout == mem_row_major)
        __hmma_m16n16k16_st_c_f32(to, from.x, pitch, 0);
    else
        __hmma_m16n16k16_st_c_f32(to, from.x, pitch, 1);
}
} // namespace wmma
} // namespace nvcuda

#endif
