/*
 * test_approx.c: the .approx functions against the C library in long double, within the bounds PTX
 * states, and the values of PTX's tables at zeros, infinities, NaN and subnormal numbers.
 */
#include "num/harness.h"

#include "simt/num.h"

static struct bench approx(enum ptx_op op, bool ftz)
{
    struct bench bench = make(GROUP_APPROX, op, 32, 32, PTX_MOD_APPROX, 0, PTX_F32, 0);
    if (ftz)
        add_mod(&bench, PTX_MOD_FTZ);
    return bench;
}
/* Distance in units of the last place of the nearest f32. */
static double ulps(float got, long double exact)
{
    if (isnan((double)exact) || isinf((float)exact) || isinf(got))
        return isnan((double)exact) ? (isnan(got) ? 0 : 1e9) : ((float)exact == got ? 0 : 1e9);
    int exponent = exact == 0 ? -126 : ilogbl(exact);
    return (double)(fabsl((long double)got - exact) /
                    ldexpl(1, (exponent < -126 ? -126 : exponent) - 23));
}

static long double exact_rcp(long double x)
{
    return 1 / x;
}
static long double exact_rsqrt(long double x)
{
    return 1 / sqrtl(x);
}
static void check_ulps(enum ptx_op op, long double (*exact)(long double), double bound)
{
    for (int ftz = 0; ftz < 2; ftz++) {
        struct bench bench = approx(op, ftz);
        for (int k = 0; k < 5000; k++) {
            fill(bench.a, &num_f32_format);
            if (k % 2 && (op == PTX_OP_EX2 || op == PTX_OP_TANH))
                for (int i = 0; i < 32; i++) /* where the result is neither 0 nor infinite */
                    bench.a[i] = num_f32_bits((float)((double)(int64_t)random_bits() * 0x1p-56));
            if (!run(&bench)) {
                assert_true(ftz && op == PTX_OP_TANH);
                break;
            }
            for (int i = 0; i < 32; i++) {
                float x = num_f32_from((uint32_t)bench.a[i]);
                float got = num_f32_from((uint32_t)bench.d[i]);
                x = ftz ? num_f32_flush(x) : x;
                long double value = exact(x);
                if (ftz && fabsl(value) < 0x1p-126L) {
                    assert_true(got == 0 || fabsl(value) > 0x1.fffffep-127L);
                    continue;
                }
                if (isnan(got))
                    assert_int_equal(bench.d[i], 0x7fffffff);
                if (ulps(got, value) > bound)
                    fail_msg("op %d of %a gives %a, not %La", op, x, got, value);
            }
        }
    }
}
static void test_within_one_ulp(void **state)
{
    (void)state;
    check_ulps(PTX_OP_RCP_APPROX, exact_rcp, 0.5);
    check_ulps(PTX_OP_SQRT_APPROX, sqrtl, 0.5);
    check_ulps(PTX_OP_RSQRT_APPROX, exact_rsqrt, 0.51);
    check_ulps(PTX_OP_EX2, exp2l, 0.51);
    check_ulps(PTX_OP_LG2, log2l, 0.51);
    check_ulps(PTX_OP_TANH, tanhl, 0.51);
}
static void test_sin_cos(void **state)
{
    (void)state;
    struct bench sine = approx(PTX_OP_SIN, false), cosine = approx(PTX_OP_COS, false);
    for (int k = 0; k < 20000; k++) {
        for (int i = 0; i < 32; i++) {
            float x = (float)((double)(int64_t)random_bits() * 0x1p-63 * M_PI);
            sine.a[i] = cosine.a[i] = num_f32_bits(x);
        }
        assert_true(run(&sine) && run(&cosine));
        for (int i = 0; i < 32; i++) {
            long double x = num_f32_from((uint32_t)sine.a[i]);
            assert_true(fabsl(num_f32_from((uint32_t)sine.d[i]) - sinl(x)) < 0x1p-20L);
            assert_true(fabsl(num_f32_from((uint32_t)cosine.d[i]) - cosl(x)) < 0x1p-20L);
        }
    }
}
static void test_div(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        bool ftz = variant & 1, full = variant & 2;
        struct bench bench = make(GROUP_APPROX, PTX_OP_FDIV_APPROX, 32, 32,
                                  full ? PTX_MOD_FULL : PTX_MOD_APPROX, 0, PTX_F32, 0);
        if (ftz)
            add_mod(&bench, PTX_MOD_FTZ);
        for (int k = 0; k < 4000; k++) {
            fill(bench.a, &num_f32_format), fill(bench.b, &num_f32_format);
            assert_true(run(&bench));
            for (int i = 0; i < 32; i++) {
                float x = num_f32_from((uint32_t)bench.a[i]);
                float y = num_f32_from((uint32_t)bench.b[i]);
                float got = num_f32_from((uint32_t)bench.d[i]);
                if (ftz)
                    x = num_f32_flush(x), y = num_f32_flush(y);
                long double exact = (long double)x / y;
                bool is_tiny = fabsl(exact) < 0x1p-126L;
                if (!full && fabsf(y) > 0x1p126f && !isinf(y) && !isnan(x)) {
                    assert_true(isinf(x) ? isnan(got) : got == 0);
                    continue;
                }
                if ((ftz && is_tiny) || (!full && fabsf(y) < 0x1p-126f))
                    continue;
                if (ulps(got, exact) > 2 && !(isinf(got) && fabsl(exact) > 0x1.fffffcp127L))
                    fail_msg("%a / %a gives %a", x, y, got);
            }
        }
    }
}

struct value {
    enum ptx_op op;
    bool ftz;
    uint32_t a, d;
};
static void test_tables(void **state)
{
    (void)state;
    enum { INF = 0x7f800000, NEG_INF = 0xff800000, QNAN = 0x7fffffff, NEG_0 = 0x80000000 };
    static const struct value values[] = {
        {PTX_OP_RCP_APPROX, false, 0, INF},
        {PTX_OP_RCP_APPROX, false, NEG_0, NEG_INF},
        {PTX_OP_RCP_APPROX, false, INF, 0},
        {PTX_OP_RCP_APPROX, false, NEG_INF, NEG_0},
        {PTX_OP_RCP_APPROX, true, 0x80000001, NEG_INF},
        {PTX_OP_RCP_APPROX, true, 0x7f000000, 0x00800000 - 0x00800000}, /* 2^-127 */
        {PTX_OP_RCP_APPROX, false, 0x7f000000, 0x00400000},
        {PTX_OP_SQRT_APPROX, false, NEG_0, NEG_0},
        {PTX_OP_SQRT_APPROX, false, 0xbf800000, QNAN},
        {PTX_OP_SQRT_APPROX, false, INF, INF},
        {PTX_OP_SQRT_APPROX, true, 0x80000001, NEG_0},
        {PTX_OP_RSQRT_APPROX, false, 0, INF},
        {PTX_OP_RSQRT_APPROX, false, NEG_0, NEG_INF},
        {PTX_OP_RSQRT_APPROX, false, INF, 0},
        {PTX_OP_RSQRT_APPROX, false, NEG_INF, QNAN},
        {PTX_OP_RSQRT_APPROX, true, 0x80000001, NEG_INF},
        {PTX_OP_SIN, false, NEG_0, NEG_0},
        {PTX_OP_SIN, false, INF, QNAN},
        {PTX_OP_COS, false, NEG_0, 0x3f800000},
        {PTX_OP_COS, false, 1, 0x3f800000},
        {PTX_OP_COS, false, NEG_INF, QNAN},
        {PTX_OP_LG2, false, 0, NEG_INF},
        {PTX_OP_LG2, false, NEG_0, NEG_INF},
        {PTX_OP_LG2, false, 1, 0xc3150000}, /* -149 */
        {PTX_OP_LG2, true, 1, NEG_INF},
        {PTX_OP_LG2, false, 0xbf800000, QNAN},
        {PTX_OP_LG2, false, INF, INF},
        {PTX_OP_LG2, false, 0x3f800000, 0},
        {PTX_OP_EX2, false, NEG_INF, 0},
        {PTX_OP_EX2, false, INF, INF},
        {PTX_OP_EX2, false, NEG_0, 0x3f800000},
        {PTX_OP_EX2, false, 0xc3150000, 1},
        {PTX_OP_EX2, true, 0xc3150000, 0},
        {PTX_OP_EX2, false, 0x7fc00001, QNAN},
        {PTX_OP_TANH, false, NEG_0, NEG_0},
        {PTX_OP_TANH, false, INF, 0x3f800000},
        {PTX_OP_TANH, false, NEG_INF, 0xbf800000},
        {PTX_OP_TANH, false, 0xffc00000, QNAN},
        {PTX_OP_TANH, false, 1, 1},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct bench bench = approx(values[i].op, values[i].ftz);
        bench.a[0] = values[i].a;
        assert_true(run(&bench));
        ASSERT_LANE(&bench, 0, values[i].d);
    }
}
static void test_f64(void **state)
{
    (void)state;
    struct bench rcp =
        make(GROUP_APPROX, PTX_OP_RCP_APPROX, 64, 64, PTX_MOD_APPROX, PTX_MOD_FTZ, 0, PTX_F64, 0);
    struct bench rsqrt =
        make(GROUP_APPROX, PTX_OP_RSQRT_APPROX, 64, 64, PTX_MOD_APPROX, PTX_MOD_FTZ, 0, PTX_F64, 0);
    static const uint64_t special[][2] = {
        {0xfff0000000000000, 0x8000000000000000},
        {0x8000000000000000, 0xfff0000000000000},
        {0x8000000000000001, 0xfff0000000000000},
        {0x0008000000000000, 0x7ff0000000000000},
        {0x7ff0000000000000, 0},
        {0xfff8000000000001, 0x7fffffff00000000},
        {0x7fe0000000000000, 0},
        {0x3ff00000ffffffff, 0x3ff0000000000000},
    };
    for (int i = 0; i < 8; i++)
        rcp.a[i] = special[i][0];
    assert_true(run(&rcp));
    for (int i = 0; i < 8; i++)
        ASSERT_LANE(&rcp, i, special[i][1]);
    for (int k = 0; k < 3000; k++) {
        for (int i = 0; i < 32; i++)
            rcp.a[i] = rsqrt.a[i] = (random_bits() >> 2) + 0x2000000000000000;
        assert_true(run(&rcp) && run(&rsqrt));
        for (int i = 0; i < 32; i++) {
            double x = num_f64_from(rcp.a[i]);
            assert_int_equal(rcp.d[i] & 0xffffffff, 0);
            assert_true(fabs(num_f64_from(rcp.d[i]) * x - 1) < 0x1p-19);
            assert_true(fabs(num_f64_from(rsqrt.d[i]) * sqrt(x) - 1) < 0x1p-19);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_within_one_ulp),
        cmocka_unit_test(test_sin_cos),
        cmocka_unit_test(test_div),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
