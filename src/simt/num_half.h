/*
 * num_half.h: f16 and bf16, one value and many.
 * Arithmetic on them is done in f32 and rounded back once:
 *   add, sub, mul  f32 has the 2 * 11 + 2 bits that make a second rounding harmless; products of
 *                  bf16 that are too small for f32 to hold exactly round to zero either way;
 *   fma            needs the sum rounded to odd first (num.h); for bf16 in f64, whose exponents
 *                  hold the product.
 * tests/num checks all of this against integers.
 */
#ifndef LOCKSTEP_SIMT_NUM_HALF_H
#define LOCKSTEP_SIMT_NUM_HALF_H

#include "simt/num.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

#define NUM_F16_MIN_NORMAL_F32 0x38800000u /* 2^-14 */

static inline float num_f16_widen(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    uint32_t bits = num_f32_bits(num_f32_from(magnitude) * 0x1p112f);
    bits = magnitude >= 0x0f800000 ? magnitude | NUM_F32_INF : bits;
    return num_f32_from(bits | sign);
}
static inline uint16_t num_f16_narrow(float x)
{
    uint32_t bits = num_f32_bits(x), sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13;
    uint32_t subnormal = num_f32_bits(num_f32_from(magnitude) + 0.5f) - 0x3f000000;
    uint32_t half = magnitude < NUM_F16_MIN_NORMAL_F32 ? subnormal : normal;
    half = magnitude >= 0x47800000 ? 0x7c00 : half;
    return (uint16_t)(magnitude > NUM_F32_INF ? NUM_F16_NAN : half | sign);
}
static inline float num_bf16_widen(uint16_t half)
{
    return num_f32_from((uint32_t)half << 16);
}
static inline uint16_t num_bf16_narrow(float x)
{
    uint32_t bits = num_f32_bits(x);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > NUM_F32_INF ? NUM_BF16_NAN : rounded);
}
/* Toward zero. */
static inline uint16_t num_bf16_narrow_rz(float x)
{
    uint32_t bits = num_f32_bits(x);
    return (uint16_t)((bits & 0x7fffffff) > NUM_F32_INF ? NUM_BF16_NAN : bits >> 16);
}
static inline uint16_t num_f16_narrow_rz(float x)
{
    uint32_t bits = num_f32_bits(x), sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    uint32_t normal = (magnitude - 0x38000000) >> 13;
    /* Below 2^-14 the steps are 2^-24: an exact product and a truncation. */
    uint32_t subnormal = (uint32_t)(int32_t)(num_f32_from(magnitude & 0x3fffffff) * 0x1p24f);
    uint32_t half = magnitude < NUM_F16_MIN_NORMAL_F32 ? subnormal : normal;
    half = magnitude >= 0x47800000 ? 0x7bff : half;
    half = magnitude == NUM_F32_INF ? 0x7c00 : half;
    return (uint16_t)(magnitude > NUM_F32_INF ? NUM_F16_NAN : half | sign);
}

/* The sum is for a second rounding by num_f16_narrow, num_bf16_narrow. */
static inline float num_f16_fma(float x, float y, float z)
{
    return num_f32_add_odd(x * y, z);
}
static inline float num_bf16_fma(float x, float y, float z)
{
    return num_f32_odd_from_f64(num_f64_add_odd((double)x * (double)y, (double)z));
}

/* count values at once; count is a multiple of 8. */

#define NUM_HALF_ALL(name, D, S)                                                                   \
    static inline void name##_all(D *restrict d, const S *restrict s, int count)                   \
    {                                                                                              \
        for (int i = 0; i < count; i++)                                                            \
            d[i] = name(s[i]);                                                                     \
    }
NUM_HALF_ALL(num_bf16_widen, float, uint16_t)
NUM_HALF_ALL(num_bf16_narrow, uint16_t, float)
NUM_HALF_ALL(num_bf16_narrow_rz, uint16_t, float)
NUM_HALF_ALL(num_f16_narrow_rz, uint16_t, float)
#ifdef __F16C__
static inline void num_f16_widen_all(float *d, const uint16_t *s, int count)
{
    for (int i = 0; i < count; i += 8)
        _mm256_storeu_ps(d + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(s + i))));
}
static inline void num_f16_narrow_all(uint16_t *d, const float *s, int count)
{
    for (int i = 0; i < count; i += 8) {
        __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(s + i), _MM_FROUND_TO_NEAREST_INT);
        __m128i magnitude = _mm_and_si128(half, _mm_set1_epi16(0x7fff));
        __m128i is_nan = _mm_cmpgt_epi16(magnitude, _mm_set1_epi16(0x7c00));
        half = _mm_blendv_epi8(half, _mm_set1_epi16(NUM_F16_NAN), is_nan);
        _mm_storeu_si128((void *)(d + i), half);
    }
}
#else
NUM_HALF_ALL(num_f16_widen, float, uint16_t)
NUM_HALF_ALL(num_f16_narrow, uint16_t, float)
#endif

/* A zero of the same sign for subnormal f16 values. */
static inline uint16_t num_f16_flush(uint16_t half)
{
    return (half & 0x7c00) == 0 ? half & 0x8000 : half;
}

#endif
