/*
 * quantised.h: numbers of 4 and 8 bits: e4m3 and e5m2 (FP8), e2m1 (FP4), int8, int4, and the scales
 * that blocks of them share. Four numbers are converted at a time, into 32 or 16 bits, the first
 * lowest. To nearest, ties to even; what is too large becomes the largest number of its sign, as the
 * GPU's own cvt does with .satfinite; NaN stays NaN, and without one becomes 0 (integers) or the
 * largest number (e2m1). sm_89, for cvt to FP8.
 */
#ifndef LOCKSTEP_KERNELS_QUANTISED_H
#define LOCKSTEP_KERNELS_QUANTISED_H

#include "rows.h"

/* FP8 by one instruction a pair -----------------------------------------------------------------*/

#define PACK_PAIR(name, type)                                                                      \
    static __device__ __forceinline__ unsigned name(float low, float high)                         \
    {                                                                                              \
        unsigned short pair;                                                                       \
        asm("cvt.rn.satfinite." type "x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));     \
        return pair;                                                                               \
    }
PACK_PAIR(pair_e4m3, "e4m3")
PACK_PAIR(pair_e5m2, "e5m2")

/* Two f16 in a word, as which every FP8 and FP4 number is exact. */
static __device__ __forceinline__ unsigned halves_e4m3(unsigned pair)
{
    unsigned halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((unsigned short)pair));
    return halves;
}
static __device__ __forceinline__ unsigned halves_e5m2(unsigned pair)
{
    unsigned halves;
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"((unsigned short)pair));
    return halves;
}

/* FP4 without one -------------------------------------------------------------------------------*/

/* The code of one number in the low 4 bits: bits above them are not zero. The eight sizes 0, 0.5, 1,
 * 1.5, 2, 3, 4, 6 lie on three lines of half the slope each, the lowest of which is the right one;
 * adding 2^23 rounds to a whole number, ties to even. */
static __device__ __forceinline__ unsigned code_e2m1(float x)
{
    const float whole = 0x1.8p23f;
    float size = fabsf(x);
    float code = fminf(fmaf(size, 2, whole), fmaf(size, 1, whole + 2));
    code = fminf(fminf(code, fmaf(size, 0.5f, whole + 4)), whole + 7);
    return (__float_as_uint(code) & 7) | (__float_as_uint(x) >> 28 & 8);
}
/* Two codes, in bits 0 to 3 and 16 to 19, as f16: their bits are the f16's, but for a factor of 2^14
 * between the exponents. */
static __device__ __forceinline__ unsigned halves_e2m1(unsigned codes)
{
    unsigned small = (codes & 0x00070007) << 9 | (codes & 0x00080008) << 12, halves;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(halves) : "r"(small), "r"(0x74007400)); // 2^14
    return halves;
}

/* The formats -----------------------------------------------------------------------------------*/

/* MANTISSA: bits behind the leading one; LEAST: exponent of the smallest number that has one;
 * TOP: exponent of the largest number. */
struct E4M3 {
    enum { BITS = 8, MANTISSA = 3, LEAST = -6, TOP = 8, INTEGER = 0 };
    static constexpr float LARGEST = 448;
    static __device__ __forceinline__ unsigned pack(const float *x)
    {
        return pair_e4m3(x[0], x[1]) | pair_e4m3(x[2], x[3]) << 16;
    }
    static __device__ __forceinline__ void unpack(unsigned codes, float *x)
    {
        float2 low = widen_pair(halves_e4m3(codes), f16());
        float2 high = widen_pair(halves_e4m3(codes >> 16), f16());
        x[0] = low.x, x[1] = low.y, x[2] = high.x, x[3] = high.y;
    }
};
struct E5M2 {
    enum { BITS = 8, MANTISSA = 2, LEAST = -14, TOP = 15, INTEGER = 0 };
    static constexpr float LARGEST = 57344;
    static __device__ __forceinline__ unsigned pack(const float *x)
    {
        return pair_e5m2(x[0], x[1]) | pair_e5m2(x[2], x[3]) << 16;
    }
    static __device__ __forceinline__ void unpack(unsigned codes, float *x)
    {
        float2 low = widen_pair(halves_e5m2(codes), f16());
        float2 high = widen_pair(halves_e5m2(codes >> 16), f16());
        x[0] = low.x, x[1] = low.y, x[2] = high.x, x[3] = high.y;
    }
};
struct E2M1 {
    enum { BITS = 4, MANTISSA = 1, LEAST = 0, TOP = 2, INTEGER = 0 };
    static constexpr float LARGEST = 6;
    static __device__ __forceinline__ unsigned pack(const float *x)
    {
        return code_e2m1(x[0]) | code_e2m1(x[1]) << 4 | code_e2m1(x[2]) << 8 | code_e2m1(x[3]) << 12;
    }
    static __device__ __forceinline__ void unpack(unsigned codes, float *x)
    {
        float2 low = widen_pair(halves_e2m1((codes & 0xf) | (codes & 0xf0) << 12), f16());
        float2 high = widen_pair(halves_e2m1((codes >> 8 & 0xf) | (codes & 0xf000) << 4), f16());
        x[0] = low.x, x[1] = low.y, x[2] = high.x, x[3] = high.y;
    }
};
struct Int8 {
    enum { BITS = 8, MANTISSA = 0, LEAST = 0, TOP = 0, INTEGER = 1 };
    static constexpr float LARGEST = 127; // -128 is never needed by a computed scale
    static __device__ __forceinline__ unsigned pack(const float *x)
    {
        unsigned high, codes;
        asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;"
            : "=r"(high)
            : "r"(__float2int_rn(x[3])), "r"(__float2int_rn(x[2])));
        asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
            : "=r"(codes)
            : "r"(__float2int_rn(x[1])), "r"(__float2int_rn(x[0])), "r"(high));
        return codes;
    }
    static __device__ __forceinline__ void unpack(unsigned codes, float *x)
    {
        for (int k = 0; k < 4; k++)
            x[k] = (float)(signed char)(codes >> 8 * k);
    }
};
struct Int4 {
    enum { BITS = 4, MANTISSA = 0, LEAST = 0, TOP = 0, INTEGER = 1 };
    static constexpr float LARGEST = 7;
    static __device__ __forceinline__ unsigned pack(const float *x)
    {
        unsigned high, codes;
        asm("cvt.pack.sat.s4.s32.b32 %0, %1, %2, 0;"
            : "=r"(high)
            : "r"(__float2int_rn(x[3])), "r"(__float2int_rn(x[2])));
        asm("cvt.pack.sat.s4.s32.b32 %0, %1, %2, %3;"
            : "=r"(codes)
            : "r"(__float2int_rn(x[1])), "r"(__float2int_rn(x[0])), "r"(high));
        return codes;
    }
    static __device__ __forceinline__ void unpack(unsigned codes, float *x)
    {
        for (int k = 0; k < 4; k++)
            x[k] = (float)((int)(codes << (28 - 4 * k)) >> 28);
    }
};

/* Scales ----------------------------------------------------------------------------------------*/

/* What numbers are multiplied by before they are rounded, and after. */
struct quantiser {
    float factor, scale;
};
/* Such that `largest` becomes the format's largest number; of almost nothing: 1. */
static __device__ __forceinline__ quantiser quantiser_to(float target, float largest)
{
    if (!(largest > 0x1p-110f))
        return quantiser{1, 1};
    return quantiser{__fdiv_rn(target, largest), __fdiv_rn(largest, target)};
}
/* For the largest of finite numbers: the others do not take part. */
static __device__ __forceinline__ float finite_size(float x)
{
    float size = fabsf(x);
    return size < INFINITY ? size : 0;
}

/* E8M0: powers of two by their exponent plus 127; 255 is NaN. As the OCP document has it, the
 * largest number of a block keeps its exponent, so that up to an eighth of it (of e2m1: a quarter)
 * may be cut off. */
static __device__ __forceinline__ unsigned e8m0_of(float largest, int top)
{
    return (unsigned)max((int)(__float_as_uint(largest) >> 23) - top, 0);
}
static __device__ __forceinline__ float factor_of_e8m0(unsigned scale)
{
    return __uint_as_float((254 - scale) << 23);
}
static __device__ __forceinline__ float scale_of_e8m0(unsigned scale)
{
    return __uint_as_float(scale == 255 ? 0x7fffffff : scale == 0 ? 0x00400000 : scale << 23);
}
static __device__ __forceinline__ float scale_of_e4m3(unsigned scale)
{
    return widen(f16{(unsigned short)halves_e4m3(scale)});
}

/* NVFP4: a block's scale is e4m3, of numbers that the whole array's scale has brought to at most 6
 * times 448. `encode` is one over the array's scale. */
#define NVFP4_LARGEST 2688.0f
enum { E4M3_LEAST_NORMAL = 0x08, E4M3_LARGEST = 0x7e }; // codes
static __device__ __forceinline__ unsigned nvfp4_scale(float largest, float encode)
{
    return pair_e4m3(__fmul_rn(__fmul_rn(largest, encode), 1.0f / 6), 0) & 0xff;
}
static __device__ __forceinline__ float nvfp4_factor(unsigned scale, float encode)
{
    return scale == 0 ? 0 : __fdiv_rn(encode, scale_of_e4m3(scale));
}

#endif
