/*
 * cuda_math_names.h: part of cuda_names.h, which includes it: the functions of <math.h> that nvcc
 * links from a library, for doubles, floats and whole numbers, and in std. Floats go through
 * double, so that a result is the nearest float but for rare ties; expf, exp2f and the logarithms
 * of floats, which kernels need most, are in cuda_number_names.h. tests/names/math.cu compares all
 * of them with the host's. Missing: the gamma and Bessel functions.
 */
#include "cuda_math_values.h"

template <bool is_one> struct lk_only {
};
template <> struct lk_only<true> {
    typedef double type;
};

#define LK_OF_WHOLE(name)                                                                          \
    template <class T> LK_NAME typename lk_only<__is_integral(T)>::type name(T a)                  \
    {                                                                                              \
        return name((double)a);                                                                    \
    }                                                                                              \
    namespace std                                                                                  \
    {                                                                                              \
    using ::name;                                                                                  \
    }
LK_OF_WHOLE(fabs)
LK_OF_WHOLE(sqrt)
LK_OF_WHOLE(floor)
LK_OF_WHOLE(ceil)
LK_OF_WHOLE(trunc)
LK_OF_WHOLE(rint)
LK_OF_WHOLE(nearbyint)
LK_OF_WHOLE(round)
#define LK_OF_FLOAT(name)                                                                          \
    LK_NAME float name(float a)                                                                    \
    {                                                                                              \
        return name##f(a);                                                                         \
    }                                                                                              \
    LK_OF_WHOLE(name)
#define LK_OF_ONE(name, value)                                                                     \
    LK_NAME double name(double a)                                                                  \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    LK_NAME float name##f(float a)                                                                 \
    {                                                                                              \
        return (float)name((double)a);                                                             \
    }                                                                                              \
    LK_OF_FLOAT(name)
/* The float's own function is in cuda_number_names.h. */
#define LK_OF_DOUBLE(name, value)                                                                  \
    LK_NAME double name(double a)                                                                  \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    LK_OF_FLOAT(name)
#define LK_OF_TWO(name, value)                                                                     \
    LK_NAME double name(double a, double b)                                                        \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    LK_NAME float name##f(float a, float b)                                                        \
    {                                                                                              \
        return (float)name((double)a, (double)b);                                                  \
    }                                                                                              \
    LK_NAME float name(float a, float b)                                                           \
    {                                                                                              \
        return name##f(a, b);                                                                      \
    }                                                                                              \
    template <class T, class U>                                                                    \
    LK_NAME typename lk_only<__is_arithmetic(T) && __is_arithmetic(U)>::type name(T a, U b)        \
    {                                                                                              \
        return name((double)a, (double)b);                                                         \
    }                                                                                              \
    namespace std                                                                                  \
    {                                                                                              \
    using ::name;                                                                                  \
    }
#include "cuda_math_list.h"
#undef LK_OF_FLOAT
#undef LK_OF_WHOLE
#undef LK_OF_ONE
#undef LK_OF_DOUBLE
#undef LK_OF_TWO

LK_NAME void sincos(double a, double *s, double *c)
{
    *s = sin(a), *c = cos(a);
}
LK_NAME void sincosf(float a, float *s, float *c)
{
    *s = sinf(a), *c = cosf(a);
}
LK_NAME void sincospi(double a, double *s, double *c)
{
    *s = sinpi(a), *c = cospi(a);
}
LK_NAME void sincospif(float a, float *s, float *c)
{
    *s = sinpif(a), *c = cospif(a);
}
LK_NAME double ldexp(double a, int n)
{
    return lk_scaled(a, n);
}
LK_NAME float ldexp(float a, int n)
{
    return (float)lk_scaled(a, n);
}
LK_NAME float ldexpf(float a, int n)
{
    return (float)lk_scaled(a, n);
}
LK_NAME double scalbn(double a, int n)
{
    return lk_scaled(a, n);
}
LK_NAME float scalbn(float a, int n)
{
    return (float)lk_scaled(a, n);
}
LK_NAME float scalbnf(float a, int n)
{
    return (float)lk_scaled(a, n);
}
LK_NAME double frexp(double a, int *e)
{
    return lk_frexp(a, e);
}
LK_NAME float frexp(float a, int *e)
{
    return (float)lk_frexp(a, e);
}
LK_NAME float frexpf(float a, int *e)
{
    return (float)lk_frexp(a, e);
}
LK_NAME double modf(double a, double *whole)
{
    *whole = trunc(a);
    return copysign(isinf(a) ? 0 : a - *whole, a);
}
LK_NAME float modff(float a, float *whole)
{
    *whole = truncf(a);
    return copysignf(isinf(a) ? 0 : a - *whole, a);
}
LK_NAME float modf(float a, float *whole)
{
    return modff(a, whole);
}

#define LK_TO_WHOLE(type, name, rounded)                                                           \
    LK_NAME type name(double a)                                                                    \
    {                                                                                              \
        return (type)rounded(a);                                                                   \
    }                                                                                              \
    LK_NAME type name(float a)                                                                     \
    {                                                                                              \
        return (type)rounded##f(a);                                                                \
    }                                                                                              \
    LK_NAME type name##f(float a)                                                                  \
    {                                                                                              \
        return (type)rounded##f(a);                                                                \
    }
LK_TO_WHOLE(long, lround, round)
LK_TO_WHOLE(long long, llround, round)
LK_TO_WHOLE(long, lrint, rint)
LK_TO_WHOLE(long long, llrint, rint)
#undef LK_TO_WHOLE

#undef LK_SHARED
#undef LK_LN2_HIGH
#undef LK_LN2_LOW
#undef LK_PI
