/*
 * cuda_math_values.h: part of cuda_math_names.h: how the functions of cuda_math_list.h compute a
 * double. They are within a few units of the last place; tests/names/run_math.c has the bounds.
 */

#define LK_SHARED static __device__ __attribute__((noinline, unused))
#define LK_LN2_HIGH 0.693147180369123816490 /* 33 bits: times an exponent it is exact */
#define LK_LN2_LOW 1.90821492927058770002e-10
#define LK_PI 3.14159265358979323846

LK_NAME double lk_infinity()
{
    return __builtin_inf();
}
LK_NAME double lk_nan()
{
    return __builtin_nan("");
}
/* 2^n for n from -1022 to 1023 */
LK_NAME double lk_power_of_two(int n)
{
    return __longlong_as_double((long long)(1023 + n) << 52);
}

/* Exponentials ---------------------------------------------------------------------------------*/

/* x 2^n; in steps, since 2^n itself may be too large or too small. Steps down leave room for all
 * bits, so that only the last one rounds. */
LK_SHARED double lk_scaled(double x, int n)
{
    for (int step = 0; step < 2 && n > 1023; step++)
        x *= lk_power_of_two(1023), n -= 1023;
    for (int step = 0; step < 2 && n < -1022; step++)
        x *= lk_power_of_two(53 - 1022), n += 1022 - 53;
    return x * lk_power_of_two(min(max(n, -1022), 1023));
}

/* exp(r) - 1 for |r| <= ln(2) / 2: 13 terms of the series. */
LK_NAME double lk_exp_less_one(double r)
{
    double sum = 1;
#pragma unroll
    for (int k = 13; k >= 2; k--)
        sum = fma(sum * (1.0 / k), r, 1.0);
    return r * sum;
}

/* exp(x + low), low below the last place of x */
LK_SHARED double lk_exp(double x, double low)
{
    if (!(x > -745.2 && x < 709.79))
        return isnan(x) ? x : x > 0 ? lk_infinity() : 0;
    double n = rint(x * 1.4426950408889634);
    double r = fma(-n, LK_LN2_LOW, fma(-n, LK_LN2_HIGH, x)) + low;
    return lk_scaled(1 + lk_exp_less_one(r), (int)n);
}

LK_SHARED double lk_exp2(double x)
{
    double n = rint(x);
    if (!(fabs(n) < 1100))
        return isnan(x) ? x : x > 0 ? lk_infinity() : 0;
    return lk_scaled(1 + lk_exp_less_one((x - n) * 0.6931471805599453), (int)n);
}

LK_SHARED double lk_expm1(double x)
{
    if (fabs(x) < 0.34)
        return x == 0 ? x : lk_exp_less_one(x);
    return lk_exp(x, 0) - 1;
}

/* Logarithms -----------------------------------------------------------------------------------*/

/* x = m 2^e with m from sqrt(1/2) to sqrt(2), x above zero and finite. log m = 2 atanh(s) with s =
 * (m - 1) / (m + 1): the sum of high and *low, which has half a double's bits more. */
LK_SHARED double lk_log_parts(double x, int *e, double *low)
{
    int exponent = 0;
    if (x < 2.2250738585072014e-308)
        x *= 18014398509481984.0, exponent = -54;
    long long bits = __double_as_longlong(x);
    exponent += (int)(bits >> 52) - 1023;
    double m = __longlong_as_double((bits & 0xfffffffffffffLL) | 0x3ff0000000000000LL);
    if (m > 1.4142135623730951)
        m /= 2, exponent++;
    double f = m - 1, below = f + 2, s = f / below, z = s * s, series = 0;
    double rest = (fma(-s, below, f) - s * (f - (below - 2))) / below;
#pragma unroll
    for (int k = 23; k >= 5; k -= 2)
        series = fma(series, z, 1.0 / k);
    /* s^3 (1/3 + z series): a third, and the cube, with what their doubles lack */
    double third = 0.3333333333333333, others = third + z * series;
    double below_others = (third - others) + z * series + 1.850371707708594e-17;
    double cube = s * z, below_cube = fma(s, z, -cube) + s * fma(s, s, -z);
    double part = cube * others;
    double below_part = fma(cube, others, -part) + cube * below_others + below_cube * others;
    double high = 2 * s + 2 * part;
    *low = (2 * s - high) + 2 * part + 2 * (below_part + rest * (1 + z * (1 + z)));
    *e = exponent;
    return high;
}

/* e (per_high + per_low) + log(m) scale. What log makes of zero, infinities and NaN is the same for
 * every base. */
LK_SHARED double lk_log(double x, double per_high, double per_low, double scale)
{
    if (!(x > 0) || x == lk_infinity())
        return x == 0 ? -lk_infinity() : x < 0 ? lk_nan() : x;
    int e;
    double low, high = lk_log_parts(x, &e, &low);
    return fma(e, per_high, fma(e, per_low, scale == 1 ? high + low : (high + low) * scale));
}

LK_SHARED double lk_log1p(double x)
{
    double u = 1 + x;
    if (!(u > 0) || u == lk_infinity() || u == 1)
        return u == 1 ? x : lk_log(u, LK_LN2_HIGH, LK_LN2_LOW, 1);
    return lk_log(u, LK_LN2_HIGH, LK_LN2_LOW, 1) + (x - (u - 1)) / u;
}

/* x^y for x above zero, by a logarithm with more bits than a double's */
LK_SHARED double lk_positive_power(double x, double y)
{
    int e;
    double low, high = lk_log_parts(x, &e, &low);
    double larger = e * LK_LN2_HIGH, sum = larger + high;
    low += (high - (sum - larger)) + e * LK_LN2_LOW; /* |e ln 2| > |log m|, or e is 0 */
    double product = y * sum;
    if (!(fabs(product) < 800))
        return product > 0 ? lk_infinity() : 0;
    return lk_exp(product, fma(y, sum, -product) + y * low);
}

LK_SHARED double lk_pow(double x, double y)
{
    bool is_whole = trunc(y) == y,
         is_odd = is_whole && fabs(y) < 9007199254740992.0 && (long long)y & 1;
    double size = fabs(x), sign = is_odd && signbit(x) ? -1 : 1;
    if (y == 0 || x == 1)
        return 1;
    if (isnan(x) || isnan(y))
        return x + y;
    if (isinf(y))
        return size == 1 ? 1 : (size > 1) == (y > 0) ? lk_infinity() : 0;
    if (x == 0 || isinf(x))
        return (x == 0) == (y < 0) ? sign * lk_infinity() : sign * 0.0;
    if (x < 0 && !is_whole)
        return lk_nan();
    return sign * lk_positive_power(size, y);
}

LK_SHARED double lk_cbrt(double x)
{
    if (x == 0 || isinf(x) || isnan(x))
        return x;
    double size = fabs(x), root = lk_positive_power(size, 1.0 / 3);
    return copysign(root - (root - size / (root * root)) / 3, x);
}

/* Circles --------------------------------------------------------------------------------------*/

/* 2 / pi in binary, after a zero word */
static __device__ __attribute__((unused))
const unsigned long long lk_two_over_pi[] = {0,
                                             0xa2f9836e4e441529,
                                             0xfc2757d1f534ddc0,
                                             0xdb6295993c439041,
                                             0xfe5163abdebbc561,
                                             0xb7246e3a424dd2e0,
                                             0x06492eea09d1921c,
                                             0xfe1deb1cb129a73e,
                                             0xe88235f52ebb4484,
                                             0xe99c7026b45f7e41,
                                             0x3991d639835339f4,
                                             0x9c845f8bbdf9283b,
                                             0x1ff897ffde05980f,
                                             0xef2f118b5a0a6d1f,
                                             0x6d367ecf27cb09b7,
                                             0x4f463f669e5fea2d,
                                             0x7527bac7ebe5f17b,
                                             0x3d0739f78a5292ea,
                                             0x6bfb5fb11f8d5d08,
                                             0x56033046fc7b6bab};

/* |x| = m 2^e from 2^20 on. m times the bits of 2 / pi of which the product is no multiple of 4:
 * the upper two bits of the result are the quadrant. */
LK_SHARED int lk_reduce_large(double x, double *rest)
{
    long long bits = __double_as_longlong(fabs(x));
    unsigned long long m = (unsigned long long)((bits & 0xfffffffffffffLL) | 0x10000000000000LL);
    int first = (int)(bits >> 52) - 1075 - 2 + 64, word = first / 64, shift = first % 64;
    unsigned long long w[3];
    for (int i = 0; i < 3; i++) {
        const unsigned long long *at = lk_two_over_pi + word + i;
        w[i] = shift ? at[0] << shift | at[1] >> (64 - shift) : at[0];
    }
    unsigned long long p2 = m * w[2], p1 = m * w[1], p0 = m * w[0] + __umul64hi(m, w[1]);
    unsigned long long carried = p1 + __umul64hi(m, w[2]);
    p0 += carried < p1, p1 = carried;
    int quadrant = (int)(p0 >> 62);
    unsigned long long high = p0 << 2 | p1 >> 62, low = p1 << 2 | p2 >> 62;
    quadrant += high >> 63; /* to the nearest: what is left is signed */
    double turn = (double)(long long)high * 0x1p-64 + (double)low * 0x1p-128;
    *rest = turn * (LK_PI / 2);
    if (x < 0)
        *rest = -*rest, quadrant = -quadrant;
    return quadrant & 3;
}

/* x = quadrant pi / 2 + rest, |rest| up to pi / 4 */
LK_SHARED int lk_reduce(double x, double *rest)
{
    if (fabs(x) >= 1048576.0)
        return lk_reduce_large(x, rest);
    double n = rint(x * (2 / LK_PI));
    double r = fma(-n, 1.5707963267948966, x);
    *rest = fma(-n, -1.4973849048591833e-33, fma(-n, 6.123233995736766e-17, r));
    return (int)n & 3;
}

LK_NAME double lk_sin_near_zero(double r)
{
    double z = r * r, sum = 1;
#pragma unroll
    for (int k = 18; k >= 4; k -= 2)
        sum = fma(-z * (1.0 / (k * (k + 1))), sum, 1.0);
    return fma(r, -z * (1.0 / 6) * sum, r);
}

LK_NAME double lk_cos_near_zero(double r)
{
    double z = r * r, sum = 1;
#pragma unroll
    for (int k = 17; k >= 3; k -= 2)
        sum = fma(-z * (1.0 / (k * (k + 1))), sum, 1.0);
    return fma(-z / 2, sum, 1.0);
}

LK_NAME double lk_by_quadrant(int quadrant, double r)
{
    double value = quadrant & 1 ? lk_cos_near_zero(r) : lk_sin_near_zero(r);
    return quadrant & 2 ? -value : value;
}

/* ahead: quarters of a turn that x is taken ahead: 1 makes a cosine of the sine. */
LK_SHARED double lk_sin(double x, int ahead)
{
    if (!isfinite(x) || (x == 0 && !ahead))
        return isfinite(x) ? x : lk_nan();
    double r;
    int quadrant = lk_reduce(x, &r);
    return lk_by_quadrant(quadrant + ahead, r);
}

LK_SHARED double lk_tan(double x)
{
    if (!isfinite(x) || x == 0)
        return x == 0 ? x : lk_nan();
    double r;
    int quadrant = lk_reduce(x, &r);
    double s = lk_sin_near_zero(r), c = lk_cos_near_zero(r);
    return quadrant & 1 ? -c / s : s / c;
}

/* Of pi x: what is left of x is exact. A whole x gives a zero of its sign. */
LK_SHARED double lk_sinpi(double x, int ahead)
{
    if (!isfinite(x))
        return lk_nan();
    if (fabs(x) >= 9007199254740992.0) /* all of these are even */
        x = copysign(0.0, x);
    double n = rint(2 * x), r = fma(n, -0.5, x);
    int quadrant = (int)(n - 4 * floor(n / 4)) + ahead;
    if (r == 0 && !(quadrant & 1))
        return ahead ? 0 : copysign(0.0, x);
    return lk_by_quadrant(quadrant, r * LK_PI);
}

/* For x from 0 on. Twice made smaller: to at most 1, then to at most tan(pi / 8). */
LK_SHARED double lk_atan_positive(double x)
{
    bool is_above = x > 1;
    double t = is_above ? 1 / x : x, z, sum = 0;
    bool is_far = t > 0.4142135623730950;
    if (is_far)
        t = (t - 1) / (t + 1);
    z = t * t;
#pragma unroll
    for (int k = 43; k >= 3; k -= 2)
        sum = fma(-z, sum, 1.0 / k);
    double angle = fma(t, -z * sum, t);
    angle = is_far ? LK_PI / 4 + (angle + 3.061616997868383e-17) : angle;
    return is_above ? LK_PI / 2 - (angle - 6.123233995736766e-17) : angle;
}

LK_SHARED double lk_atan2(double y, double x)
{
    if (isnan(x) || isnan(y))
        return x + y;
    double a = fabs(y), b = fabs(x), angle;
    if (a == 0)
        angle = 0;
    else if (isinf(a) || isinf(b))
        angle = isinf(a) ? isinf(b) ? LK_PI / 4 : LK_PI / 2 : 0;
    else
        angle = lk_atan_positive(a / b);
    return copysign(signbit(x) ? LK_PI - (angle - 1.2246467991473532e-16) : angle, y);
}

LK_SHARED double lk_asin(double x)
{
    double size = fabs(x);
    if (!(size <= 1))
        return lk_nan();
    return copysign(lk_atan2(size, sqrt((1 - size) * (1 + size))), x);
}

/* Hyperbolas -----------------------------------------------------------------------------------*/

LK_SHARED double lk_sinh(double x)
{
    double size = fabs(x), less = lk_expm1(size < 700 ? size : 0);
    double half = lk_exp(size / 2, 0);
    double value = size < 1     ? (less + less / (less + 1)) / 2
                   : size < 700 ? (lk_exp(size, 0) - lk_exp(-size, 0)) / 2
                                : half / 2 * half;
    return copysign(value, x);
}

LK_SHARED double lk_cosh(double x)
{
    double size = fabs(x), half = lk_exp(size / 2, 0);
    return size < 700 ? (lk_exp(size, 0) + lk_exp(-size, 0)) / 2 : half / 2 * half;
}

LK_SHARED double lk_tanh(double x)
{
    double size = fabs(x);
    double less = size < 22 ? lk_expm1(2 * size) : 0;
    double value = isnan(x) ? x : size < 22 ? less / (less + 2) : 1;
    return copysign(value, x);
}

LK_SHARED double lk_asinh(double x)
{
    double size = fabs(x), value;
    if (size > 268435456.0)
        value = lk_log(size, LK_LN2_HIGH, LK_LN2_LOW, 1) + 0.6931471805599453;
    else
        value = lk_log1p(size + size * size / (1 + sqrt(size * size + 1)));
    return copysign(value, x);
}

LK_SHARED double lk_acosh(double x)
{
    if (!(x >= 1))
        return lk_nan();
    if (x > 268435456.0)
        return lk_log(x, LK_LN2_HIGH, LK_LN2_LOW, 1) + 0.6931471805599453;
    return lk_log1p((x - 1) + sqrt(2 * (x - 1) + (x - 1) * (x - 1)));
}

/* Errors ---------------------------------------------------------------------------------------*/

/* exp(x x) erfc(x) (1 + 2 x), as a polynomial in (x - 3) / (x + 3); for x from 0.5 on. */
LK_SHARED double lk_erfc_large(double x)
{
    static const double terms[] = {
        9.9488209475371958e-10, -3.169592039553522e-9,   -1.3361953304404018e-8,
        2.7779061599708633e-8,  1.0195717375790894e-7,   -1.2038713923616525e-7,
        -6.1677094935509635e-7, 3.3649033965298255e-7,   3.4725202800655187e-6,
        -7.1861493963036222e-7, -2.0100627664406106e-5,  4.9440312148829276e-6,
        0.00012509937435915821, -0.00010515828085467254, -0.00077983227727425471,
        0.0018886900908332906,  0.002529391816799663,    -0.023770514890662271,
        0.068308027343921441,   -0.11927366341681595,    0.12964515870276262,
        -0.047562294353418972,  -0.13562110612458119,    1.2530080582697295};
    if (x > 28)
        return 0;
    double t = (x - 3) / (x + 3), sum = 0, square = x * x;
    for (int i = 0; i < 24; i++)
        sum = fma(sum, t, terms[i]);
    return lk_exp(-square, -fma(x, x, -square)) * sum / (1 + 2 * x);
}

/* 2 / sqrt(pi) times the series of x - x^3 / 3 + x^5 / (2! 5) .. for |x| below 0.5 */
LK_SHARED double lk_erf_small(double x)
{
    double z = x * x, sum = 0, factor = 1, power = 1;
    for (int n = 1; n < 14; n++) {
        factor = -factor / n, power *= z;
        sum += factor * power / (2 * n + 1);
    }
    return fma(x, sum, x) * 1.1283791670955126;
}

LK_SHARED double lk_erf(double x)
{
    double size = fabs(x);
    if (isnan(x))
        return x;
    return size < 0.5 ? lk_erf_small(x) : copysign(1 - lk_erfc_large(size), x);
}

LK_SHARED double lk_erfc(double x)
{
    if (isnan(x))
        return x;
    if (fabs(x) < 0.5)
        return 1 - lk_erf_small(x);
    return x > 0 ? lk_erfc_large(x) : 2 - lk_erfc_large(-x);
}

/* x / sqrt(2) with more bits than a double's: what they add is the derivative times them. */
LK_SHARED double lk_normcdf(double x)
{
    double h = x * -0.7071067811865476;
    double below = fma(x, -0.7071067811865476, -h) - x * -4.833646656726457e-17;
    if (!(fabs(h) < 28))
        return lk_erfc(h) / 2;
    return (lk_erfc(h) - 1.1283791670955126 * lk_exp(-h * h, 0) * below) / 2;
}

/* Remainders and parts -------------------------------------------------------------------------*/

LK_NAME int lk_exponent(double x)
{
    return (int)(__double_as_longlong(x) >> 52 & 2047);
}

/* Exact: what is taken away each time has the bits of y. */
LK_SHARED double lk_fmod(double x, double y)
{
    double a = fabs(x), b = fabs(y);
    if (!(b > 0) || !isfinite(a))
        return isnan(x) || isnan(y) ? x + y : lk_nan();
    while (a >= b && b < lk_infinity()) {
        double part = lk_scaled(b, max(lk_exponent(a) - max(lk_exponent(b), 1) - 1, 0));
        while (part <= a - part)
            part *= 2;
        a -= part;
    }
    return copysign(a, x);
}

LK_SHARED double lk_remainder(double x, double y)
{
    double b = fabs(y), a = fabs(x);
    if (!(b > 0) || !isfinite(a))
        return isnan(x) || isnan(y) ? x + y : lk_nan();
    if (b < 8.9e307)
        a = lk_fmod(a, b + b);
    if (a > b - a) {
        a -= b;
        if (a >= b - a)
            a -= b;
    }
    return signbit(x) ? -a : a;
}

LK_SHARED double lk_hypot(double x, double y)
{
    double a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
    if (isinf(x) || isinf(y))
        return lk_infinity();
    if (isnan(x) || isnan(y) || b == 0)
        return isnan(x) || isnan(y) ? x + y : a;
    int e = lk_exponent(a) - 1023;
    a = lk_scaled(a, -e), b = lk_scaled(b, -e);
    return lk_scaled(sqrt(fma(a, a, b * b)), e);
}

LK_SHARED double lk_frexp(double x, int *e)
{
    *e = 0;
    if (x == 0 || !isfinite(x))
        return x;
    double normal = fabs(x) < 2.2250738585072014e-308 ? x * 18014398509481984.0 : x;
    *e = lk_exponent(normal) - 1022 - (normal == x ? 0 : 54);
    return __longlong_as_double((__double_as_longlong(normal) & ~(2047LL << 52)) | 1022LL << 52);
}
