/*
 * test_half.c: the exact rounding that the other tests rest on (num_pack), against plain search and
 * the host; f16, bf16, f8 and tf32 conversions over all their values; f16 and bf16 arithmetic, fma
 * above all, against 113-bit arithmetic.
 */
#include "num/harness.h"

#include "simt/num_half.h"

/* num_pack
 * ------------------------------------------------------------------------------------------ */

/* The value of a narrow format that x rounds to, found by looking at all of them. */
static uint64_t search(const struct num_format *format, double x)
{
    uint64_t best = 0;
    double magnitude = fabs(x), best_distance = INFINITY;
    for (uint64_t bits = 0; bits <= format->largest; bits++) {
        double distance = fabs(magnitude - num_to_f64(format, bits));
        if (distance < best_distance || (distance == best_distance && bits % 2 == 0))
            best = bits, best_distance = distance;
    }
    return best | (signbit(x) ? num_sign_bit(format) : 0);
}
static void test_search(void **state)
{
    (void)state;
    for (uint32_t half = 0; half < 0x10000; half++) {
        double x = num_to_f64(&num_f16_format, half);
        if (!isfinite(x))
            continue;
        assert_int_equal(num_from_f64_satfinite(&num_e4m3, x, NUM_RN), search(&num_e4m3, x));
        assert_int_equal(num_from_f64_satfinite(&num_e5m2, x, NUM_RN), search(&num_e5m2, x));
    }
}
static void test_against_host(void **state)
{
    (void)state;
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    for (int k = 0; k < 2000000; k++) {
        double x = num_f64_from(random_float(&num_f64_format));
        if (k % 2 && x != 0 && isfinite(x)) /* into the range of f32 */
            x = ldexp(x, -ilogb(x) + (int)(random_bits() % 300) - 160);
        if (isnan(x))
            continue;
        enum num_round round = (enum num_round)(k / 2 % 4);
        fesetround(modes[round]);
        volatile double opaque = x;
        volatile float expected = (float)opaque;
        fesetround(FE_TONEAREST);
        assert_int_equal(num_from_f64(&num_f32_format, x, round), num_f32_bits(expected));
        assert_int_equal(num_from_f64(&num_f64_format, x, round), num_f64_bits(x));
    }
}
static void test_round_trips(void **state)
{
    (void)state;
    const struct num_format *formats[] = {&num_e4m3, &num_e5m2, &num_f16_format, &num_bf16_format};
    for (int f = 0; f < 4; f++)
        for (uint64_t bits = 0; bits < 2 * num_sign_bit(formats[f]); bits++) {
            double x = num_to_f64(formats[f], bits);
            uint64_t expected = isnan(x) ? formats[f]->nan : bits;
            for (enum num_round round = NUM_RN; round <= NUM_RNA; round++)
                assert_int_equal(num_from_f64(formats[f], x, round), expected);
        }
}

/* f16 and bf16 from and to f32
 * ------------------------------------------------------------------------- */

static void check_narrow(float x)
{
    assert_int_equal(num_f16_narrow(x), num_from_f64(&num_f16_format, x, NUM_RN));
    assert_int_equal(num_bf16_narrow(x), num_from_f64(&num_bf16_format, x, NUM_RN));
    assert_int_equal(num_f16_narrow_rz(x), num_from_f64(&num_f16_format, x, NUM_RZ));
    assert_int_equal(num_bf16_narrow_rz(x), num_from_f64(&num_bf16_format, x, NUM_RZ));
}
static void test_narrow(void **state)
{
    (void)state;
    for (uint32_t half = 0; half < 0x10000; half++) {
        float wide = num_f16_widen((uint16_t)half), wide_b = num_bf16_widen((uint16_t)half);
        double exact = num_to_f64(&num_f16_format, half);
        assert_true(isnan(exact) ? isnan(wide) : num_f64_bits(wide) == num_f64_bits(exact));
        exact = num_to_f64(&num_bf16_format, half);
        assert_true(isnan(exact) ? isnan(wide_b) : wide_b == exact);
        /* every value, every middle between two, and their neighbours */
        for (int step = -1; step <= 1; step++) {
            uint32_t bits = num_f32_bits(wide), subnormal_step = half & 0x7c00 ? 0x1000 : 0;
            check_narrow(num_f32_from(bits + (uint32_t)step));
            check_narrow(num_f32_from(bits + subnormal_step + (uint32_t)step));
            check_narrow(num_f32_from((half << 16 | 0x8000) + (uint32_t)step));
            check_narrow(num_f32_from((half << 16) + (uint32_t)step));
        }
        check_narrow((float)((num_to_f64(&num_f16_format, half) +
                              num_to_f64(&num_f16_format, (half + 1) & 0xffff)) /
                             2));
    }
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 1009)
        check_narrow(num_f32_from((uint32_t)bits));
}

/* Arithmetic
 * --------------------------------------------------------------------------------------------- */

static uint64_t flush16(uint64_t half, bool ftz)
{
    return ftz ? num_f16_flush((uint16_t)half) : half;
}
struct half_case {
    enum ptx_op op;
    char kind;
    bool is_bf16;
    enum ptx_mod mods[2];
};
static uint64_t exact_half(const struct num_format *format, char kind, double a, double b, double d)
{
    switch (kind) {
    case '+':
        return reference_fma(format, a, 1.0, b, NUM_RN);
    case '-':
        return reference_fma(format, a, 1.0, -b, NUM_RN);
    case '*':
        return reference_fma(format, a, b, signbit(a) != signbit(b) ? -0.0 : 0.0, NUM_RN);
    default:
        return reference_fma(format, a, b, d, NUM_RN);
    }
}
static uint64_t reference_half(const struct half_case *c, uint64_t x, uint64_t y, uint64_t z)
{
    const struct num_format *format = c->is_bf16 ? &num_bf16_format : &num_f16_format;
    bool ftz = c->mods[0] == PTX_MOD_FTZ;
    bool relu = c->mods[0] == PTX_MOD_RELU || c->mods[1] == PTX_MOD_RELU;
    bool sat = c->mods[0] == PTX_MOD_SAT || c->mods[1] == PTX_MOD_SAT;
    if (c->mods[0] == PTX_MOD_OOB && ((x & 0x7fff) == 0x7ff7 || (y & 0x7fff) == 0x7ff7))
        return 0;
    double a = num_to_f64(format, flush16(x, ftz)), b = num_to_f64(format, flush16(y, ftz));
    double d = num_to_f64(format, flush16(z, ftz));
    uint64_t bits = exact_half(format, c->kind, a, b, d);
    bool is_nan = (bits & 0x7fff) > format->infinity;
    if (ftz && is_below_f16(exact_half(&wide_f16, c->kind, a, b, d)))
        bits &= 0x8000;
    if (sat)
        return is_nan || bits & 0x8000                  ? 0
               : bits < num_from_f64(format, 1, NUM_RN) ? bits
                                                        : num_from_f64(format, 1, NUM_RN);
    if (relu && !is_nan && bits & 0x8000)
        return 0;
    return bits;
}

static void check_half(const struct half_case *c, int runs)
{
    const struct num_format *format = c->is_bf16 ? &num_bf16_format : &num_f16_format;
    struct bench one = make(GROUP_HALF, c->op, 16, 16, 0, c->is_bf16 ? PTX_BF16 : PTX_F16, 0);
    struct bench two = make(GROUP_HALF, c->op, 32, 32, 0, c->is_bf16 ? PTX_BF16X2 : PTX_F16X2, 0);
    for (int m = 0; m < 2; m++)
        if (c->mods[m] != 0)
            add_mod(&one, c->mods[m]), add_mod(&two, c->mods[m]);
    for (int k = 0; k < runs; k++) {
        fill(one.a, format), fill(one.b, format), fill(one.c, format);
        fill(two.a, format), fill(two.b, format), fill(two.c, format);
        for (int i = 0; i < 32; i++) {
            if (c->mods[0] == PTX_MOD_OOB && random_bits() % 4 == 0)
                one.b[i] = random_bits() % 2 ? 0x7ff7 : 0xffff;
            if (k % 4 == 2 && c->kind == '*' && !c->is_bf16) { /* just below 2^-14 */
                uint64_t step = random_bits() % 50;
                one.a[i] = (0x2000 + step) | (random_bits() & 0x8000), one.b[i] = 0x2000 - 2 * step;
            }
            if (k % 4 == 2 && c->kind == 'f' && !c->is_bf16) /* 2^-14 less a part of 2^-24 */
                one.a[i] = 0x1400 - random_bits() % 0x1000, one.b[i] = 0x8400, one.c[i] = 0x0400;
            if (k % 4 == 1) /* c about -a * b: cancellation and halfway cases */
                one.c[i] =
                    (num_from_f64(format,
                                  -num_to_f64(format, one.a[i]) * num_to_f64(format, one.b[i]),
                                  NUM_RN) +
                     random_bits() % 3) &
                    0xffff;
            two.a[i] |= one.a[i] << 16, two.b[i] |= one.b[i] << 16, two.c[i] |= one.c[i] << 16;
        }
        assert_true(run(&one) && run(&two));
        for (int i = 0; i < 32; i++) {
            uint64_t high = reference_half(c, one.a[i], one.b[i], one.c[i]);
            ASSERT_LANE(&one, i, high);
            uint64_t low =
                reference_half(c, two.a[i] & 0xffff, two.b[i] & 0xffff, two.c[i] & 0xffff);
            ASSERT_LANE(&two, i, high << 16 | low);
        }
    }
}
static void test_arithmetic(void **state)
{
    (void)state;
    static const struct half_case cases[] = {
        {PTX_OP_HADD, '+', false, {0, 0}},
        {PTX_OP_HADD, '+', false, {PTX_MOD_FTZ, 0}},
        {PTX_OP_HADD, '+', false, {PTX_MOD_SAT, 0}},
        {PTX_OP_HADD, '+', false, {PTX_MOD_FTZ, PTX_MOD_SAT}},
        {PTX_OP_HADD_BF, '+', true, {0, 0}},
        {PTX_OP_HSUB, '-', false, {0, 0}},
        {PTX_OP_HSUB, '-', false, {PTX_MOD_FTZ, PTX_MOD_SAT}},
        {PTX_OP_HSUB_BF, '-', true, {0, 0}},
        {PTX_OP_HMUL, '*', false, {0, 0}},
        {PTX_OP_HMUL, '*', false, {PTX_MOD_FTZ, 0}},
        {PTX_OP_HMUL, '*', false, {PTX_MOD_SAT, 0}},
        {PTX_OP_HMUL_BF, '*', true, {0, 0}},
        {PTX_OP_HFMA, 'f', false, {PTX_MOD_FTZ, 0}},
        {PTX_OP_HFMA, 'f', false, {PTX_MOD_FTZ, PTX_MOD_SAT}},
        {PTX_OP_HFMA, 'f', false, {PTX_MOD_FTZ, PTX_MOD_RELU}},
        {PTX_OP_HFMA, 'f', false, {PTX_MOD_RELU, 0}},
        {PTX_OP_HFMA_BF, 'f', true, {PTX_MOD_RELU, 0}},
        {PTX_OP_HFMA_OOB, 'f', false, {PTX_MOD_OOB, 0}},
        {PTX_OP_HFMA_OOB, 'f', true, {PTX_MOD_OOB, PTX_MOD_RELU}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_half(&cases[i], 4000);
}
static void test_fma(void **state)
{
    (void)state;
    check_half(&(struct half_case){PTX_OP_HFMA, 'f', false, {0, 0}}, 40000);
    check_half(&(struct half_case){PTX_OP_HFMA_BF, 'f', true, {0, 0}}, 40000);
}

static void test_extremes_and_signs(void **state)
{
    (void)state;
    for (int variant = 0; variant < 16; variant++) {
        bool is_max = variant & 1, nan = variant & 2, xorsign = variant & 4, is_bf16 = variant & 8;
        const struct num_format *format = is_bf16 ? &num_bf16_format : &num_f16_format;
        struct bench bench = make(GROUP_HALF, is_max ? PTX_OP_HMAX : PTX_OP_HMIN, 16, 16, 0,
                                  is_bf16 ? PTX_BF16 : PTX_F16, 0);
        if (nan)
            add_mod(&bench, PTX_MOD_NAN);
        if (xorsign)
            add_mod(&bench, PTX_MOD_XORSIGN_ABS);
        for (int k = 0; k < 2000; k++) {
            fill(bench.a, format), fill(bench.b, format);
            if (k % 2)
                for (int i = 0; i < 32; i++)
                    bench.b[i] = bench.a[i] ^ (random_bits() & 0x8000);
            assert_true(run(&bench));
            for (int i = 0; i < 32; i++) {
                uint64_t x = bench.a[i], y = bench.b[i], sign = (x ^ y) & 0x8000;
                if (xorsign)
                    x &= 0x7fff, y &= 0x7fff;
                double dx = num_to_f64(format, x), dy = num_to_f64(format, y);
                bool x_less = dx < dy || (dx == dy && signbit(dx) && !signbit(dy));
                uint64_t expected = isnan(dy) ? x : isnan(dx) ? y : x_less != is_max ? x : y;
                if (xorsign)
                    expected = (expected & 0x7fff) | sign;
                if ((isnan(dx) && isnan(dy)) || (nan && (isnan(dx) || isnan(dy))))
                    expected = 0x7fff;
                ASSERT_LANE(&bench, i, expected);
            }
        }
    }
    struct bench neg = make(GROUP_HALF, PTX_OP_HNEG, 32, 32, 0, PTX_BF16X2, 0);
    struct bench abs = make(GROUP_HALF, PTX_OP_HABS, 32, 32, PTX_MOD_FTZ, 0, PTX_F16X2, 0);
    neg.a[0] = 0x3f80bf80, abs.a[0] = 0x83ffbc00;
    neg.a[1] = 0x7f817f80, abs.a[1] = 0xfc01fc00; /* a NaN and an infinity */
    assert_true(run(&neg) && run(&abs));
    assert_int_equal(neg.d[0], 0xbf803f80);
    assert_int_equal(abs.d[0], 0x00003c00);
    assert_int_equal(neg.d[1], 0x7fffff80);
    assert_int_equal(abs.d[1], 0x7fff7c00);
    struct bench illegal = make(GROUP_HALF, PTX_OP_HNEG, 32, 32, PTX_MOD_FTZ, 0, PTX_BF16X2, 0);
    assert_false(run(&illegal));
}

/* All values of f16 and bf16 through tanh and ex2, within PTX's bounds. */
static void test_approximations(void **state)
{
    (void)state;
    static const struct {
        enum ptx_op op;
        bool is_bf16, is_tanh;
    } cases[] = {{PTX_OP_HTANH, false, true},
                 {PTX_OP_HTANH, true, true},
                 {PTX_OP_HEX2, false, false},
                 {PTX_OP_HEX2_BF, true, false}};
    for (int c = 0; c < 4; c++) {
        const struct num_format *format = cases[c].is_bf16 ? &num_bf16_format : &num_f16_format;
        struct bench bench =
            make(GROUP_HALF, cases[c].op, 16, 16, 0, cases[c].is_bf16 ? PTX_BF16 : PTX_F16, 0);
        if (cases[c].op == PTX_OP_HEX2_BF)
            add_mod(&bench, PTX_MOD_FTZ);
        for (uint32_t half = 0; half < 0x10000; half += 32) {
            for (uint32_t i = 0; i < 32; i++)
                bench.a[i] = half + i;
            assert_true(run(&bench));
            for (int i = 0; i < 32; i++) {
                double x = num_to_f64(format, bench.a[i]);
                double exact = cases[c].is_tanh ? tanh(x) : exp2(x);
                uint64_t nearest = num_from_f64(format, exact, NUM_RN);
                if (cases[c].op == PTX_OP_HEX2_BF && (nearest & 0x7f80) == 0)
                    nearest &= 0x8000;
                /* rounded by way of f32: a result next to a middle may go to its other side */
                if (bench.d[i] + 1 != nearest && bench.d[i] != nearest + 1)
                    ASSERT_LANE(&bench, i, nearest);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_against_host),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_fma),
        cmocka_unit_test(test_extremes_and_signs),
        cmocka_unit_test(test_approximations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
