/*
 * num.h: numbers as a GPU treats them, one value at a time: NaNs, flushing, clamping, min and max.
 * Everything here is branch-free, so that a loop over the lanes becomes vector code, and exact, so
 * that every host gives the same bits. What a GPU does with a NaN is decided here and nowhere else.
 * Formats narrower than 32 bits are in num_half.h and num_format.h; rounding modes in num_round.h.
 */
#ifndef LOCKSTEP_SIMT_NUM_H
#define LOCKSTEP_SIMT_NUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NUM_F32_SIGN 0x80000000u
#define NUM_F32_INF 0x7f800000u
#define NUM_F32_MIN_NORMAL 0x00800000u
#define NUM_F64_SIGN 0x8000000000000000u
#define NUM_F64_INF 0x7ff0000000000000u
#define NUM_F64_QUIET 0x0008000000000000u

/* What an operation without a result gives. */
#define NUM_F32_NAN 0x7fffffffu
#define NUM_F64_NAN 0xfff8000000000000u
#define NUM_F16_NAN 0x7fffu
#define NUM_BF16_NAN 0x7fffu

static inline uint32_t num_f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}
static inline float num_f32_from(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}
static inline uint64_t num_f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}
static inline double num_f64_from(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* NaN results ----------------------------------------------------------------------------------
 * f32 has one. f64 keeps an operand that is one: the second of two, of three the second, then the
 * third, then the first. An H200 does so; PTX leaves it open (tests/ptx/nan_payloads.ptx). */

static inline float num_f32(float result)
{
    return result == result ? result : num_f32_from(NUM_F32_NAN);
}
static inline double num_f64_quiet(double nan)
{
    return num_f64_from(num_f64_bits(nan) | NUM_F64_QUIET);
}
static inline double num_f64_1(double result, double x)
{
    double nan = x != x ? num_f64_quiet(x) : num_f64_from(NUM_F64_NAN);
    return result == result ? result : nan;
}
static inline double num_f64_2(double result, double x, double y)
{
    double nan = x != x ? num_f64_quiet(x) : num_f64_from(NUM_F64_NAN);
    nan = y != y ? num_f64_quiet(y) : nan;
    return result == result ? result : nan;
}
static inline double num_f64_3(double result, double x, double y, double z)
{
    double nan = x != x ? num_f64_quiet(x) : num_f64_from(NUM_F64_NAN);
    nan = z != z ? num_f64_quiet(z) : nan;
    nan = y != y ? num_f64_quiet(y) : nan;
    return result == result ? result : nan;
}

/* .ftz, .sat, .relu ---------------------------------------------------------------------------- */

/* x, or a zero of its sign if its magnitude as bits is below smallest. */
static inline float num_f32_flush_below(float x, uint32_t smallest)
{
    uint32_t bits = num_f32_bits(x);
    uint32_t sign = bits & NUM_F32_SIGN;
    return num_f32_from((int32_t)(bits ^ sign) < (int32_t)smallest ? sign : bits);
}
static inline float num_f32_flush(float x)
{
    return num_f32_flush_below(x, NUM_F32_MIN_NORMAL);
}
/* A result under .ftz is rounded as if exponents had no lower end, and becomes zero if that leaves
 * it below the normal numbers. scaled: the same operation on numbers 2^64 times as large, which
 * rounds so. Where scaled overflows, the result is zero or nowhere near. */
#define NUM_FTZ_SCALE 0x1p64f
#define NUM_FTZ_LIMIT 0x1p-62f /* the smallest normal number, scaled */
static inline float num_f32_flush_scaled(float result, float scaled, float limit)
{
    uint32_t bits = num_f32_bits(result), sign = bits & NUM_F32_SIGN;
    bool is_small = (int32_t)(bits ^ sign) <= (int32_t)NUM_F32_MIN_NORMAL;
    bool is_below = num_f32_from(num_f32_bits(scaled) & ~NUM_F32_SIGN) < limit;
    return num_f32_from((is_small & is_below) ? sign : bits);
}
static inline float num_f32_mul_ftz(float x, float y)
{
    return num_f32_flush_scaled(x * y, x * NUM_FTZ_SCALE * y, NUM_FTZ_LIMIT);
}
static inline float num_f32_fma_ftz(float x, float y, float z)
{
    float scaled = __builtin_fmaf(x * NUM_FTZ_SCALE, y, z * NUM_FTZ_SCALE);
    return num_f32_flush_scaled(__builtin_fmaf(x, y, z), scaled, NUM_FTZ_LIMIT);
}
static inline double num_f64_flush(double x)
{
    uint64_t bits = num_f64_bits(x);
    uint64_t sign = bits & NUM_F64_SIGN;
    return num_f64_from((bits ^ sign) >> 52 == 0 ? sign : bits);
}
/* To [0, 1]; NaN and -0 to +0. */
static inline float num_f32_sat(float x)
{
    float above = x > 0.0f ? x : 0.0f;
    return above < 1.0f ? above : 1.0f;
}
static inline double num_f64_sat(double x)
{
    double above = x > 0.0 ? x : 0.0;
    return above < 1.0 ? above : 1.0;
}
/* Negative numbers and -0 to +0; NaN stays. */
static inline float num_f32_relu(float x)
{
    return x <= 0.0f ? 0.0f : x;
}

/* min and max ---------------------------------------------------------------------------------
 * NaN loses against a number; -0 is less than +0. Equal values differ at most in the sign of
 * zero, so or-ing their bits gives the smaller and and-ing the larger. */

static inline float num_f32_min(float x, float y)
{
    float least = x < y || y != y ? x : y;
    float equal = num_f32_from(num_f32_bits(x) | num_f32_bits(y));
    return num_f32(x == y ? equal : least);
}
static inline float num_f32_max(float x, float y)
{
    float most = x > y || y != y ? x : y;
    float equal = num_f32_from(num_f32_bits(x) & num_f32_bits(y));
    return num_f32(x == y ? equal : most);
}
static inline float num_f32_min_nan(float x, float y)
{
    return x != x   ? num_f32_from(NUM_F32_NAN)
           : y != y ? num_f32_from(NUM_F32_NAN)
                    : num_f32_min(x, y);
}
static inline float num_f32_max_nan(float x, float y)
{
    return x != x   ? num_f32_from(NUM_F32_NAN)
           : y != y ? num_f32_from(NUM_F32_NAN)
                    : num_f32_max(x, y);
}
static inline double num_f64_min(double x, double y)
{
    double least = x < y || y != y ? x : y;
    double equal = num_f64_from(num_f64_bits(x) | num_f64_bits(y));
    return num_f64_2(x == y ? equal : least, x, y);
}
static inline double num_f64_max(double x, double y)
{
    double most = x > y || y != y ? x : y;
    double equal = num_f64_from(num_f64_bits(x) & num_f64_bits(y));
    return num_f64_2(x == y ? equal : most, x, y);
}

static inline float num_f32_abs(float x)
{
    return num_f32_from(num_f32_bits(x) & ~NUM_F32_SIGN);
}
static inline float num_f32_neg(float x)
{
    return num_f32_from(num_f32_bits(x) ^ NUM_F32_SIGN);
}
/* A NaN keeps its sign. */
static inline double num_f64_abs(double x)
{
    double magnitude = num_f64_from(num_f64_bits(x) & ~NUM_F64_SIGN);
    return x == x ? magnitude : num_f64_quiet(x);
}
static inline double num_f64_neg(double x)
{
    double negated = num_f64_from(num_f64_bits(x) ^ NUM_F64_SIGN);
    return x == x ? negated : num_f64_quiet(x);
}
/* .xorsign.abs: magnitude with the sign of x times y. NaN stays the one NaN. */
static inline float num_f32_xorsign(float magnitude, float x, float y)
{
    uint32_t sign = (num_f32_bits(x) ^ num_f32_bits(y)) & NUM_F32_SIGN;
    float signed_value = num_f32_from((num_f32_bits(magnitude) & ~NUM_F32_SIGN) | sign);
    return magnitude == magnitude ? signed_value : magnitude;
}

/* Exact sums -----------------------------------------------------------------------------------
 * A sum rounded to odd (inexact results get their last bit set) can be rounded again to a format
 * that is at least two bits shorter, and the result is as if it had been rounded once. */

static inline float num_f32_to_odd(float rounded, float error)
{
    uint32_t bits = num_f32_bits(rounded);
    uint32_t too_far = (bits ^ num_f32_bits(error)) >> 31; /* rounded away from zero */
    uint32_t odd = (bits - too_far) | 1;
    return num_f32_from(error < 0.0f || error > 0.0f ? odd : bits);
}
static inline float num_f32_add_odd(float x, float y)
{
    float sum = x + y;
    float y_part = sum - x;
    float error = (x - (sum - y_part)) + (y - y_part);
    return num_f32_to_odd(sum, error);
}
static inline double num_f64_to_odd(double rounded, double error)
{
    uint64_t bits = num_f64_bits(rounded);
    uint64_t too_far = (bits ^ num_f64_bits(error)) >> 63;
    uint64_t odd = (bits - too_far) | 1;
    return num_f64_from(error < 0.0 || error > 0.0 ? odd : bits);
}
static inline double num_f64_add_odd(double x, double y)
{
    double sum = x + y;
    double y_part = sum - x;
    double error = (x - (sum - y_part)) + (y - y_part);
    return num_f64_to_odd(sum, error);
}
/* An f64 to f32, rounded to odd. An infinite result is left alone. */
static inline float num_f32_odd_from_f64(double x)
{
    float rounded = (float)x;
    double error = x - (double)rounded;
    float small = error > 0.0 ? 1.0f : error < 0.0 ? -1.0f : 0.0f;
    float odd = num_f32_to_odd(rounded, small);
    return num_f32_abs(rounded) == INFINITY ? rounded : odd;
}

#endif
