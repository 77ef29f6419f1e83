/*
 * run_math.c: the functions of kernels/include/cuda_math_list.h on the simulated machine, compared
 * with the host's for long doubles. math.cu has the kernels; numbers are of all sizes, and special.
 *   run_math MATH.ptx      prints "ok math NAME" or "not ok math NAME (..)"
 */
#define _GNU_SOURCE /* M_PIl */
#include "on_driver.h"

#include <math.h>
#include <stdbool.h>

enum { COUNT = 20000, SPECIAL = 28 };

/* Bounds in units of the last place */
static const double most_of_doubles = 4, most_of_floats = 0.52, most_of_plain_floats = 2.2;

typedef long double wide;
static wide exp10_of(wide a)
{
    return powl(10, a);
}
static wide rcbrt_of(wide a)
{
    return 1 / cbrtl(a);
}
static wide sinpi_of(wide a)
{
    wide whole = rintl(a), rest = a - whole; /* exact */
    if (!isfinite(a))
        return (wide)NAN;
    if (rest == 0)
        return copysignl(0, a);
    return fmodl(whole, 2) == 0 ? sinl(rest * M_PIl) : -sinl(rest * M_PIl);
}
static wide cospi_of(wide a)
{
    wide rest = fabsl(fmodl(a, 2));
    return rest < 0.25L ? cosl(rest * M_PIl) : sinpi_of(rest + 0.5L) + 0;
}
static wide normcdf_of(wide a)
{
    return erfcl(a * -M_SQRT1_2l) / 2;
}
#define cbrt_of cbrtl

struct function_of {
    const char *name;
    wide (*of_one)(wide);
    wide (*of_two)(wide, wide);
    bool has_plain_float; /* with a function of its own for floats */
};
static const struct function_of functions[] = {
    {"exp", expl, NULL, true},
    {"exp2", exp2l, NULL, true},
    {"log", logl, NULL, true},
    {"log2", log2l, NULL, true},
    {"log10", log10l, NULL, true},
    {"exp10", exp10_of, NULL, false},
    {"expm1", expm1l, NULL, false},
    {"log1p", log1pl, NULL, false},
    {"cbrt", cbrt_of, NULL, false},
    {"rcbrt", rcbrt_of, NULL, false},
    {"sin", sinl, NULL, false},
    {"cos", cosl, NULL, false},
    {"tan", tanl, NULL, false},
    {"sinpi", sinpi_of, NULL, false},
    {"cospi", cospi_of, NULL, false},
    {"asin", asinl, NULL, false},
    {"acos", acosl, NULL, false},
    {"atan", atanl, NULL, false},
    {"sinh", sinhl, NULL, false},
    {"cosh", coshl, NULL, false},
    {"tanh", tanhl, NULL, false},
    {"asinh", asinhl, NULL, false},
    {"acosh", acoshl, NULL, false},
    {"atanh", atanhl, NULL, false},
    {"erf", erfl, NULL, false},
    {"erfc", erfcl, NULL, false},
    {"normcdf", normcdf_of, NULL, false},
    {"pow", NULL, powl, false},
    {"atan2", NULL, atan2l, false},
    {"fmod", NULL, fmodl, false},
    {"remainder", NULL, remainderl, false},
    {"hypot", NULL, hypotl, false},
    {"fdim", NULL, fdiml, false},
    {"sincos_s", sinl, NULL, false},
    {"sincos_c", cosl, NULL, false},
    {"sincospi_s", sinpi_of, NULL, false},
    {"sincospi_c", cospi_of, NULL, false},
};

static const double special[SPECIAL] = {0,
                                        -0.0,
                                        1,
                                        -1,
                                        2,
                                        -2,
                                        3,
                                        -3,
                                        0.5,
                                        -0.5,
                                        1.5,
                                        -2.5,
                                        10,
                                        1000,
                                        0.001,
                                        INFINITY,
                                        -INFINITY,
                                        NAN,
                                        5e-324,
                                        -5e-324,
                                        1.7976931348623157e308,
                                        1e-310,
                                        3e38,
                                        1e-45,
                                        4503599627370497.0,
                                        -9007199254740993.0,
                                        709.5,
                                        -745};

/* Of sizes near 1, of all sizes, and whole numbers. */
static double number(int i)
{
    double uniform = drand48() * 2 - 1;
    switch (i % 4) {
    case 0:
        return uniform * 2;
    case 1:
        return uniform * 40;
    case 2:
        return ldexp(uniform, (int)(lrand48() % 2100) - 1060);
    default:
        return i % 8 == 3 ? rint(uniform * 30) : ldexp(uniform, (int)(lrand48() % 260) - 140);
    }
}

/* How far x is from y, in units of the last place of a number with so many bits and that lowest
 * exponent. */
static double units(double x, wide y, int bits, int lowest)
{
    int exponent;
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : INFINITY;
    if (y == 0 && x == 0)
        return !signbit(x) == !signbit(y) ? 0 : INFINITY;
    frexpl(y, &exponent);
    wide unit = ldexpl(1, (exponent > lowest ? exponent : lowest) - bits);
    if (isinf(x) || isinf(y)) /* the largest number counts as near to infinity */
        return x == (double)y || fabsl(y) + unit >= ldexpl(1, bits == 53 ? 1024 : 128) ? 0
                                                                                       : INFINITY;
    return (double)(fabsl((wide)x - y) / unit);
}

static double a[COUNT], b[COUNT], doubles[COUNT];
static float floats[COUNT];

static bool judge(const struct function_of *f)
{
    for (int i = 0; i < COUNT; i++) {
        float x = (float)a[i], y = (float)b[i];
        wide want = f->of_one ? f->of_one(a[i]) : f->of_two(a[i], b[i]);
        wide want_float = f->of_one ? f->of_one(x) : f->of_two(x, y);
        double far = units(doubles[i], want, 53, -1021);
        double float_far = units((double)floats[i], want_float, 24, -125);
        if (far > most_of_doubles) {
            printf("not ok math %s (%.17g, %.17g: %.17g, wanted %.17Lg, %g units)\n", f->name, a[i],
                   b[i], doubles[i], want, far);
            return false;
        }
        if (float_far > (f->has_plain_float ? most_of_plain_floats : most_of_floats)) {
            printf("not ok math %sf (%.9g, %.9g: %.9g, wanted %.9Lg, %g units)\n", f->name,
                   (double)x, (double)y, (double)floats[i], want_float, float_far);
            return false;
        }
    }
    printf("ok math %s\n", f->name);
    return true;
}

int main(int argc, char **argv)
{
    module from;
    function kernel;
    address at[4];
    const size_t sizes[] = {sizeof a, sizeof b, sizeof doubles, sizeof floats};
    int wrong = 0, count = COUNT;
    if (argc != 2)
        return 2;
    srand48(11);
    for (int i = 0; i < COUNT; i++) {
        bool both = i < SPECIAL * SPECIAL;
        a[i] = both ? special[i % SPECIAL] : number(i);
        b[i] = both ? special[i / SPECIAL] : number((int)(lrand48() % COUNT));
    }
    start_driver();
    char *ptx = read_file(argv[1]);
    MUST(cuModuleLoadData(&from, ptx));
    for (int i = 0; i < 4; i++)
        MUST(cuMemAlloc_v2(&at[i], sizes[i]));
    MUST(cuMemcpyHtoD_v2(at[0], a, sizeof a));
    MUST(cuMemcpyHtoD_v2(at[1], b, sizeof b));
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_of_all", functions[i].name);
        MUST(cuModuleGetFunction(&kernel, from, name));
        MUST(cuLaunchKernel(kernel, (COUNT + 127) / 128, 1, 1, 128, 1, 1, 0, NULL,
                            (void *[]){&at[0], &at[1], &at[2], &at[3], &count}, NULL));
        must(cuCtxSynchronize(), name);
        MUST(cuMemcpyDtoH_v2(doubles, at[2], sizeof doubles));
        MUST(cuMemcpyDtoH_v2(floats, at[3], sizeof floats));
        wrong += !judge(&functions[i]);
    }
    free(ptx);
    return wrong > 0;
}
