/*
 * num_approx.h: the functions behind .approx: 2^x, log2, sine, tanh.
 * A GPU looks them up in tables of its own, which are not published. Here they are computed in f64
 * to about 2^-45 and rounded to f32 once, so they lie as near to the true value, and so to the
 * GPU's answer, as f32 allows. Plain products and sums, no branches: loops over lanes become vector
 * code.
 */
#ifndef LOCKSTEP_SIMT_NUM_APPROX_H
#define LOCKSTEP_SIMT_NUM_APPROX_H

#include "simt/num.h"

/* 2^x for |x| < 1000, of the whole number nearest to x and a Taylor series of the rest. */
static inline double num_exp2(double x)
{
    const double magic = 0x1.8p52; /* adding it leaves the whole number in the lowest bits */
    double whole = x + magic;
    double r = (x - (whole - magic)) * 0x1.62e42fefa39efp-1; /* ln 2 */
    double p = 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return num_f64_from(num_f64_bits(p) + (num_f64_bits(whole) << 52));
}

/* log2(x) for normal x > 0, as exponent + log2(m) with m in [sqrt 1/2, sqrt 2). */
static inline double num_log2(double x)
{
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcd;
    uint64_t shifted = num_f64_bits(x) + (0x3ff0000000000000 - sqrt_half);
    double exponent = num_f64_from(shifted >> 52 | 0x4330000000000000) - (0x1p52 + 1023);
    double m = num_f64_from((shifted & 0x000fffffffffffff) + sqrt_half);
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1.0;
    return exponent + s * p * 0x1.71547652b82fep+1; /* 2 / ln 2 */
}

/* sin(2 pi t). */
static inline double num_sin_turns(double t)
{
    double r = t - rint(t); /* [-1/2, 1/2] */
    r = r > 0.25 ? 0.5 - r : r;
    r = r < -0.25 ? -0.5 - r : r;
    double y = r * 0x1.921fb54442d18p+2, z = y * y;
    double p = 1.0 / 355687428096000;
    p = 1.0 / 1307674368000 - p * z;
    p = 1.0 / 6227020800 - p * z;
    p = 1.0 / 39916800 - p * z;
    p = 1.0 / 362880 - p * z;
    p = 1.0 / 5040 - p * z;
    p = 1.0 / 120 - p * z;
    p = 1.0 / 6 - p * z;
    return y - y * z * p;
}

static inline double num_clamp(double x, double low, double high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

static inline float num_ex2_f32(float x)
{
    float power = (float)num_exp2(num_clamp(x, -200.0, 200.0));
    return x == x ? power : num_f32_from(NUM_F32_NAN);
}
static inline float num_lg2_f32(float x)
{
    float log = (float)num_log2(x);
    log = x == INFINITY ? x : log;
    log = x == 0.0f ? -INFINITY : log;
    return x >= 0.0f ? log : num_f32_from(NUM_F32_NAN);
}
/* The hardware's argument is in turns: x / 2 pi in f32, cut off, not rounded. A subnormal one is
 * zero, with .ftz or without. */
static inline double num_turns(float x)
{
    double turns = (double)x * (double)0.15915494f;
    return num_f64_from(num_f64_bits(turns) & ~(uint64_t)0x1fffffff);
}
static inline float num_sin_f32(float x)
{
    double turns = num_turns(x);
    float sine = num_f32((float)num_sin_turns(turns));
    return fabs(turns) < 0x1p-126 || sine == 0.0f ? copysignf(0.0f, x) : sine;
}
static inline float num_cos_f32(float x)
{
    double turns = num_turns(x);
    return num_f32((float)num_sin_turns((turns - rint(turns)) + 0.25));
}
static inline float num_tanh_f32(float x)
{
    double v = num_clamp(x, -10.0, 10.0);
    double e = num_exp2(v * 0x1.71547652b82fep+1); /* e^2v */
    double square = v * v;
    double small = v - v * square * (1.0 / 3 - square * (2.0 / 15));
    double value = square < 0x1p-20 ? small : 1.0 - 2.0 / (e + 1.0);
    float result = x == 0.0f ? x : (float)value;
    return x == x ? result : num_f32_from(NUM_F32_NAN);
}

/* x * (1 / y), whose 1 / y is zero where it is below the normal numbers. Where y is, both are made
 * larger first. */
static inline float num_div_approx(float x, float y)
{
    float scale = num_f32_abs(y) < 0x1p-126f ? 0x1p24f : 1.0f;
    return num_f32(x * scale * num_f32_flush(1.0f / (y * scale)));
}
static inline float num_rsqrt_f32(float x)
{
    return num_f32((float)(1.0 / sqrt((double)x)));
}

/* The .ftz.f64 forms work on the upper 32 bits alone: 20 bits of mantissa in and out. */
static inline double num_f64_upper(double x)
{
    return num_f64_from(num_f64_bits(x) & 0xffffffff00000000);
}
static inline double num_f64_gross(double x)
{
    uint64_t bits = num_f64_bits(x);
    double rounded = num_f64_from((bits + 0x80000000) & 0xffffffff00000000);
    rounded = num_f64_flush(fabs(x) < INFINITY ? rounded : x);
    return x == x ? rounded : num_f64_from(0x7fffffff00000000);
}

#endif
