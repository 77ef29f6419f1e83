/*
 * products.h: what the kernels behind lk_gemm share in every type: activations, divisions that do
 * not hold up the first load, and copies of boxes of a batch of matrices.
 */
#ifndef LOCKSTEP_KERNELS_PRODUCTS_H
#define LOCKSTEP_KERNELS_PRODUCTS_H

#include "activations.h"
#include "tma.h"

enum gemm_activation { GEMM_NONE, GEMM_RELU, GEMM_GELU, GEMM_SILU, GEMM_GATE };

/* Two numbers of 16 bits, the first one in the lower half, and back. */
static __device__ __forceinline__ unsigned pack_bf16(float low, float high)
{
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
static __device__ __forceinline__ unsigned pack_f16(float low, float high)
{
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
/* The same with ReLU, which takes no instruction of its own then. */
static __device__ __forceinline__ unsigned pack_relu_bf16(float low, float high)
{
    unsigned both;
    asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
static __device__ __forceinline__ unsigned pack_relu_f16(float low, float high)
{
    unsigned both;
    asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
static __device__ __forceinline__ float wide_bf16(unsigned short x)
{
    return __uint_as_float((unsigned)x << 16);
}
static __device__ __forceinline__ float wide_f16(unsigned short x)
{
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}

/* Activations ----------------------------------------------------------------------------------*/

static __device__ __forceinline__ float activate(float x, int activation)
{
    if (activation == GEMM_RELU)
        return relu(x);
    if (activation == GEMM_GELU)
        return gelu(x);
    if (activation == GEMM_SILU)
        return silu(x);
    return x;
}

/* x / (1 + 2^-e) and y / (1 + 2^-f): one reciprocal serves both. What e and f are below -60 changes
 * the quotients by less than 1e-16; so the product of the divisors stays finite. */
static __device__ __forceinline__ void logistic_pair(float &x, float e, float &y, float f)
{
    float a = 1 + power_of_two(fminf(-e, 60)), b = 1 + power_of_two(fminf(-f, 60)), both;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(both) : "f"(a * b));
    x *= b * both;
    y *= a * both;
}
static __device__ __forceinline__ void silu_pair(float &x, float &y)
{
    logistic_pair(x, 1.44269504f * x, y, 1.44269504f * y);
}
static __device__ __forceinline__ void gelu_pair(float &x, float &y)
{
    logistic_pair(x, normal_exponent(x), y, normal_exponent(y));
}

/* Numbers ---------------------------------------------------------------------------------------*/

static __device__ __forceinline__ int smaller(int a, int b)
{
    return a < b ? a : b;
}
/* a / b, given about 1 / b: a division of whole numbers takes some hundred cycles, and nothing is
 * loaded before the first is done. a is below 2^22. */
static __device__ __forceinline__ int quotient(int a, int b, float per_b)
{
    int q = (int)((float)a * per_b), rest = a - q * b;
    return q + (rest >= b) - (rest < 0);
}

/* Four neighbours of a warp exchange: word i of neighbour j becomes word j of neighbour i. Sums lie
 * by pairs of columns, memory by pieces of eight. */
static __device__ __forceinline__ uint4 exchange_in_fours(uint4 w)
{
    bool odd = threadIdx.x & 1, high = threadIdx.x & 2;
    unsigned x = __shfl_xor_sync(0xffffffff, odd ? w.x : w.y, 1);
    unsigned y = __shfl_xor_sync(0xffffffff, odd ? w.z : w.w, 1);
    unsigned a = odd ? x : w.x, b = odd ? w.y : x, c = odd ? y : w.z, d = odd ? w.w : y;
    x = __shfl_xor_sync(0xffffffff, high ? a : c, 2);
    y = __shfl_xor_sync(0xffffffff, high ? b : d, 2);
    return high ? make_uint4(x, y, c, d) : make_uint4(a, b, x, y);
}

/* Of clusters along x. */
static __device__ __forceinline__ unsigned cluster_number(void)
{
    unsigned number;
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(number));
    return number;
}

/* Copies with three coordinates ----------------------------------------------------------------*/

static __device__ __forceinline__ void load_box(void *shared, const tensor_map *map, int x, int y,
                                                int z, barrier *b)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(shared)),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(b))
                 : "memory");
}
/* Into the L2 alone. */
static __device__ __forceinline__ void fetch_line(const void *global, unsigned bytes)
{
    asm volatile(
        "cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(global)),
        "r"(bytes)
        : "memory");
}
static __device__ __forceinline__ void load_box_for(unsigned short blocks, void *shared,
                                                    const tensor_map *map, int x, int y, int z,
                                                    barrier *b)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(shared_address(shared)),
        "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(b)), "h"(blocks)
        : "memory");
}
static __device__ __forceinline__ void store_box(const tensor_map *map, int x, int y, int z,
                                                 const void *shared)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2, %3}], [%4];" ::"l"(map),
                 "r"(x), "r"(y), "r"(z), "r"(shared_address(shared))
                 : "memory");
}

#endif
