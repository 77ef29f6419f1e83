/*
 * c_names.h: what exercises in plain C find in <math.h> and <string.h>. They are compiled for the
 * machine, where there is no C library; it is put in front of an exercise with -include. Functions of
 * float go through double, so that a result is the nearest float but for rare ties.
 */
#ifndef LOCKSTEP_KERNELS_C_NAMES_H
#define LOCKSTEP_KERNELS_C_NAMES_H

#define INFINITY __builtin_inff()
#define NAN      __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)

#define LK_NAME static inline __attribute__((always_inline, unused))

LK_NAME float fabsf(float x) { return __builtin_fabsf(x); }
LK_NAME float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
LK_NAME float fminf(float a, float b) { return __builtin_fminf(a, b); }
LK_NAME float sqrtf(float x) { return __builtin_sqrtf(x); }
LK_NAME float floorf(float x) { return __builtin_floorf(x); }
LK_NAME float ceilf(float x) { return __builtin_ceilf(x); }
LK_NAME double fabs(double x) { return __builtin_fabs(x); }
LK_NAME double fmax(double a, double b) { return __builtin_fmax(a, b); }
LK_NAME double fmin(double a, double b) { return __builtin_fmin(a, b); }
LK_NAME double sqrt(double x) { return __builtin_sqrt(x); }

LK_NAME double lk_from_bits(unsigned long long bits)
{
    union {
        unsigned long long bits;
        double value;
    } both = {bits};
    return both.value;
}

LK_NAME unsigned long long lk_to_bits(double value)
{
    union {
        double value;
        unsigned long long bits;
    } both = {value};
    return both.bits;
}

/* exp(x) = 2^n exp(r) with |r| <= ln(2)/2, where 13 terms of the series leave less than 1e-16. */
static __attribute__((noinline, unused)) double exp(double x)
{
    if (x != x || x > 709.78)
        return x != x ? x : (double)INFINITY;
    if (x < -745.2)
        return 0;
    int n = (int)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
    double r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10, sum = 1;
    for (int k = 13; k >= 1; k--)
        sum = 1 + sum * r / k;
    int half = n / 2; /* in two steps: 2^n itself may be too small or too large a double */
    return sum * lk_from_bits((unsigned long long)(1023 + half) << 52) *
           lk_from_bits((unsigned long long)(1023 + n - half) << 52);
}

/* log(m 2^e) = e ln(2) + 2 atanh((m - 1) / (m + 1)), with m between sqrt(1/2) and sqrt(2). */
static __attribute__((noinline, unused)) double log(double x)
{
    if (!(x > 0) || x == (double)INFINITY)
        return x == 0 ? -(double)INFINITY : x < 0 ? (double)NAN : x;
    int e = 0;
    if (x < 2.2250738585072014e-308) { /* a subnormal number */
        x *= 0x1p54;
        e = -54;
    }
    unsigned long long bits = lk_to_bits(x);
    e += (int)(bits >> 52) - 1023;
    double m = lk_from_bits((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
    if (m > 1.4142135623730951) {
        m /= 2;
        e++;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return e * 0.6931471805599453 + 2 * s * sum;
}

LK_NAME float expf(float x) { return (float)exp(x); }
LK_NAME float logf(float x) { return (float)log(x); }
LK_NAME float powf(float x, float y) { return (float)exp(y * log(x)); } /* of positive x */
LK_NAME float tanhf(float x)
{
    double e = exp(-2 * fabs(x));
    return (float)(x < 0 ? (e - 1) / (1 + e) : (1 - e) / (1 + e));
}

#define memcpy __builtin_memcpy
#define memset __builtin_memset

#endif
