/*
 * products.h: what the kernels behind lk_gemm share in every type: activations, divisions that do
 * not hold up the first load, and copies of boxes of a batch of matrices.
 */
#ifndef LOCKSTEP_KERNELS_PRODUCTS_H
#define LOCKSTEP_KERNELS_PRODUCTS_H

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

static __device__ __forceinline__ float power_of_two(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
static __device__ __forceinline__ float silu(float x)
{
    return __fdividef(x, 1 + power_of_two(-1.44269504f * x));
}
/* x times the normal distribution function, here as 1 / (1 + 2^-p(x)): p is nearly linear, and an
 * odd polynomial that was fitted up to 5.6 makes an error of the function below 1.5e-7. Beyond, p
 * is continued by a line. */
static __device__ __forceinline__ float gelu(float x)
{
    float t = fminf(x * x, 31.36f), p = 5.06723552e-9f;
    p = fmaf(p, t, -3.81631281e-7f);
    p = fmaf(p, t, 1.14398335e-5f);
    p = fmaf(p, t, -1.5957994e-4f);
    p = fmaf(p, t, -9.40492246e-5f);
    p = fmaf(p, t, 0.104835123f);
    p = fmaf(p, t, 2.30220938f);
    return __fdividef(x, 1 + power_of_two(-x * p));
}
static __device__ __forceinline__ float relu(float x)
{
    return x < 0 ? 0.0f : x; /* NaN stays */
}
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

/* Copies with three coordinates ----------------------------------------------------------------*/

static __device__ __forceinline__ void load_box(void *shared, const tensor_map *map, int x, int y,
                                                int z, barrier *b)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(shared)),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(b))
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
