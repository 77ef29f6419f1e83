/*
 * test_c_names.c: kernels/include/c_names.h, the mathematics of exercises in C, beside the C
 * library's. Its names are the library's own, so each gets another one here.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#undef INFINITY
#undef NAN
#undef isnan
#undef isinf
#define exp our_exp
#define log our_log
#define expf our_expf
#define logf our_logf
#define powf our_powf
#define tanhf our_tanhf
#define fabsf our_fabsf
#define fmaxf our_fmaxf
#define fminf our_fminf
#define sqrtf our_sqrtf
#define floorf our_floorf
#define ceilf our_ceilf
#define fabs our_fabs
#define fmax our_fmax
#define fmin our_fmin
#define sqrt our_sqrt
#include "../../kernels/include/c_names.h"
#undef exp
#undef log
#undef expf
#undef logf
#undef powf
#undef tanhf
#undef fabs

enum { TRIES = 200000 };

static double between(double low, double high)
{
    return low + (high - low) * drand48();
}

static void near(double got, double wanted, double most)
{
    if (!(fabs(got - wanted) <= most * fabs(wanted)))
        fail_msg("%.17g is not within %g of %.17g", got, most, wanted);
}

/* Two roundings of a double are 2.2e-16 and less; four are allowed. */
static void doubles(void **state)
{
    srand48(1);
    for (int i = 0; i < TRIES; i++) {
        double x = between(-690, 690), y = exp(between(-690, 690));
        near(our_exp(x), exp(x), 4.5e-16);
        near(our_log(y), log(y), 4.5e-16);
    }
}

/* Half a step of a float is 6e-8 of it: the nearest float, but where a tie is close. */
static void floats(void **state)
{
    unsigned other = 0;
    srand48(2);
    for (int i = 0; i < TRIES; i++) {
        float x = (float)between(-87, 88), y = (float)between(1e-6, 1e6), z = (float)between(-9, 9);
        other += our_expf(x) != (float)exp(x);
        other += our_logf(y) != (float)log(y);
        near(our_tanhf(z), tanh(z), 6e-8);
        near(our_powf(y, z / 4), pow(y, z / 4), 6e-8);
    }
    assert_true(other <= TRIES / 100000);
}

static void special_values(void **state)
{
    const double huge = (double)INFINITY;
    assert_true(our_exp(710) == huge && our_exp(huge) == huge && our_exp(-huge) == 0);
    assert_true(our_expf(89) == INFINITY && our_expf(-110) == 0 && our_exp(0) == 1);
    assert_true(our_log(0) == -huge && our_log(huge) == huge && our_log(1) == 0);
    assert_true(isnan(our_log(-1)) && isnan(our_exp(NAN)) && isnan(our_log(NAN)));
    near(our_exp(-744), exp(-744), 0); /* subnormal: the last bits that there are */
    near(our_log(5e-324), log(5e-324), 4.5e-16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles),
        cmocka_unit_test(floats),
        cmocka_unit_test(special_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
