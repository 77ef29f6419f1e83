/*
 * test_float.c: f32 and f64 arithmetic against 113-bit arithmetic, in all rounding modes, with .ftz
 * and .sat; min, max, signs, testp.
 */
#include "num/harness.h"

#include "simt/num.h"

enum { RUNS = 3000 };
static const enum ptx_mod round_mods[] = {PTX_MOD_RN, PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP};

static uint64_t flush(const struct num_format *format, uint64_t bits, bool ftz)
{
    uint64_t sign = bits & num_sign_bit(format);
    return ftz && (bits ^ sign) >> format->mantissa_bits == 0 ? sign : bits;
}
/* The NaN of f64 that comes first in the order that an H200 shows, quiet; the one NaN of f32. */
static uint64_t expected_nan(const struct num_format *format, const uint64_t *operands,
                             const char *order)
{
    for (const char *next = order; *next && format == &num_f64_format; next++)
        if (isnan(num_f64_from(operands[*next - 'a'])))
            return operands[*next - 'a'] | NUM_F64_QUIET;
    return format->nan;
}
static uint64_t finish(const struct num_format *format, uint64_t bits, bool flushed, bool sat,
                       const uint64_t *operands, const char *nans)
{
    uint64_t magnitude = bits & (num_sign_bit(format) - 1);
    if (magnitude > format->infinity)
        return sat ? 0 : expected_nan(format, operands, nans);
    if (flushed)
        bits &= num_sign_bit(format);
    if (!sat)
        return bits;
    double value = num_to_f64(format, bits);
    return num_from_f64(format, value > 1 ? 1 : value <= 0 ? 0.0 : value, NUM_RN);
}

enum kind { ADD, SUB, MUL, FMA_, DIV, RCP_, SQRT_ };
static uint64_t reference(enum kind kind, const struct num_format *from,
                          const struct num_format *format, const uint64_t *operands,
                          enum num_round round)
{
    double x = num_to_f64(from, operands[0]), y = num_to_f64(from, operands[1]);
    double z = num_to_f64(from, operands[2]);
    if (from == &num_f64_format) /* num_to_f64 loses the NaNs */
        x = num_f64_from(operands[0]), y = num_f64_from(operands[1]), z = num_f64_from(operands[2]);
    switch (kind) {
    case ADD:
        return reference_fma(format, x, 1.0, y, round);
    case SUB:
        return reference_fma(format, x, 1.0, -y, round);
    case MUL: /* a zero is added that does not change the product's sign */
        return reference_fma(format, x, y, signbit(x) != signbit(y) ? -0.0 : 0.0, round);
    case FMA_:
        return reference_fma(format, x, y, z, round);
    case DIV:
        return reference_div(format, x, y, round);
    case RCP_:
        return reference_div(format, 1.0, x, round);
    case SQRT_:
        return reference_sqrt(format, x, round);
    }
    return 0;
}

/* Operands whose result is about the smallest normal number: x times y times 1 - e, or a sum. */
static void near_smallest(enum kind kind, struct bench *bench, int i)
{
    uint64_t sign = random_bits() & 0x80000000, k = random_bits() % 5000;
    switch (kind) {
    case MUL: /* 2^-60 (1 + k 2^-23) times 2^-66 (1 - 2k 2^-24) */
        bench->a[i] = (0x21800000 + k) | sign;
        bench->b[i] = 0x1e800000 - 2 * k;
        break;
    case FMA_: /* 2^-126 - (1 + ..) 2^-149 .. 2^-152 */
        bench->a[i] = (0x33800000 - (random_bits() % 5 << 23) + (random_bits() & 0x600000)) | sign;
        bench->b[i] = 0x01800000;
        bench->c[i] = 0x00800000 | (sign ^ 0x80000000);
        break;
    case DIV:
        bench->a[i] = (0x00800000 + k) | sign;
        bench->b[i] = 0x3f800000 + k + random_bits() % 3;
        break;
    case RCP_:
        bench->a[i] = (0x7e800000 + k % 4) | sign;
        break;
    default:
        break;
    }
}
static void check_kind(enum kind kind, enum ptx_op op, const char *nans, bool can_sat, bool is_f64)
{
    const struct num_format *format = is_f64 ? &num_f64_format : &num_f32_format;
    unsigned bits = is_f64 ? 64 : 32;
    for (int variant = 0; variant < 16; variant++) {
        bool ftz = variant & 4, sat = variant & 8;
        struct bench bench = make(GROUP_FLOAT, op, bits, bits, round_mods[variant & 3], 0,
                                  is_f64 ? PTX_F64 : PTX_F32, 0);
        if (ftz)
            add_mod(&bench, PTX_MOD_FTZ);
        if (sat)
            add_mod(&bench, PTX_MOD_SAT);
        if ((is_f64 && (ftz || sat)) || (sat && !can_sat)) {
            assert_false(run(&bench));
            continue;
        }
        for (int k = 0; k < RUNS; k++) {
            fill(bench.a, format), fill(bench.b, format), fill(bench.c, format);
            if (k % 4 == 1) /* cancellation */
                for (int i = 0; i < 32; i++)
                    bench.b[i] = bench.a[i] ^ num_sign_bit(format) ^ (random_bits() % 4);
            if (k % 4 == 2 && ftz)
                for (int i = 0; i < 32; i++)
                    near_smallest(kind, &bench, i);
            assert_true(run(&bench));
            for (int i = 0; i < 32; i++) {
                uint64_t operands[3] = {flush(format, bench.a[i], ftz),
                                        flush(format, bench.b[i], ftz),
                                        flush(format, bench.c[i], ftz)};
                enum num_round round = num_round_of(&bench.ptx);
                uint64_t exact = reference(kind, format, format, operands, round);
                bool flushed =
                    ftz && is_below_f32(reference(kind, format, &wide_f32, operands, round));
                ASSERT_LANE(&bench, i, finish(format, exact, flushed, sat, operands, nans));
            }
        }
    }
}
#define CHECK(name, kind, op, nans, can_sat)                                                       \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        check_kind(kind, op, nans, can_sat, false);                                                \
        check_kind(kind, op, nans, can_sat, true);                                                 \
    }
CHECK(test_add, ADD, PTX_OP_FADD, "ba", true)
CHECK(test_sub, SUB, PTX_OP_FSUB, "ba", true)
CHECK(test_mul, MUL, PTX_OP_FMUL, "ba", true)
CHECK(test_fma, FMA_, PTX_OP_FMA, "bca", true)
CHECK(test_mad, FMA_, PTX_OP_FMAD, "bca", true)
CHECK(test_div, DIV, PTX_OP_FDIV, "ab", false)
CHECK(test_rcp, RCP_, PTX_OP_RCP, "a", false)
CHECK(test_sqrt, SQRT_, PTX_OP_SQRT, "a", false)

/* f32x2 is two f32 instructions. */
static void test_x2(void **state)
{
    (void)state;
    static const enum ptx_op pairs[][2] = {{PTX_OP_FADD_X2, PTX_OP_FADD},
                                           {PTX_OP_FSUB_X2, PTX_OP_FSUB},
                                           {PTX_OP_FMUL_X2, PTX_OP_FMUL},
                                           {PTX_OP_FMA_X2, PTX_OP_FMA}};
    for (int variant = 0; variant < 32; variant++) {
        enum ptx_mod round = round_mods[variant & 3];
        const enum ptx_op *ops = pairs[variant >> 3];
        struct bench pair = make(GROUP_FLOAT, ops[0], 64, 64, round, 0, PTX_F32X2, 0);
        struct bench one = make(GROUP_FLOAT, ops[1], 32, 32, round, 0, PTX_F32, 0);
        if (variant & 4)
            add_mod(&pair, PTX_MOD_FTZ), add_mod(&one, PTX_MOD_FTZ);
        for (int k = 0; k < 100; k++) {
            uint64_t low[32];
            for (int half = 0; half < 2; half++) {
                fill(one.a, &num_f32_format), fill(one.b, &num_f32_format);
                fill(one.c, &num_f32_format);
                assert_true(run(&one));
                for (int i = 0; i < 32; i++) {
                    pair.a[i] = pair.a[i] >> 32 | one.a[i] << 32;
                    pair.b[i] = pair.b[i] >> 32 | one.b[i] << 32;
                    pair.c[i] = pair.c[i] >> 32 | one.c[i] << 32;
                }
                if (half == 0)
                    memcpy(low, one.d, sizeof(low));
            }
            assert_true(run(&pair));
            for (int i = 0; i < 32; i++)
                ASSERT_LANE(&pair, i, low[i] | one.d[i] << 32);
        }
    }
}

static void test_rounding_is_restored(void **state)
{
    (void)state;
    struct bench bench = make(GROUP_FLOAT, PTX_OP_FADD, 32, 32, PTX_MOD_RP, 0, PTX_F32, 0);
    int before = fegetround();
    assert_true(run(&bench));
    assert_int_equal(fegetround(), before);
}

/* min and max by the words of PTX. */
static uint64_t reference_extreme(const struct num_format *format, uint64_t x, uint64_t y,
                                  bool is_max, bool nan, bool xorsign)
{
    uint64_t sign = num_sign_bit(format), product_sign = (x ^ y) & sign;
    if (xorsign)
        x &= ~sign, y &= ~sign;
    bool x_nan = (x & ~sign) > format->infinity, y_nan = (y & ~sign) > format->infinity;
    if ((nan && (x_nan || y_nan)) || (x_nan && y_nan)) {
        uint64_t operands[2] = {x, y};
        return expected_nan(format, operands, "ba");
    }
    double dx = num_to_f64(format, x), dy = num_to_f64(format, y);
    bool x_less = dx < dy || (dx == dy && signbit(dx) && !signbit(dy));
    uint64_t result = y_nan ? x : x_nan ? y : x_less != is_max ? x : y;
    return xorsign ? (result & ~sign) | product_sign : result;
}
static void test_extremes(void **state)
{
    (void)state;
    for (int variant = 0; variant < 32; variant++) {
        bool is_max = variant & 1, ftz = variant & 2, nan = variant & 4, xorsign = variant & 8;
        bool is_f64 = variant & 16;
        const struct num_format *format = is_f64 ? &num_f64_format : &num_f32_format;
        unsigned bits = is_f64 ? 64 : 32;
        struct bench bench = make(GROUP_FLOAT, is_max ? PTX_OP_FMAX : PTX_OP_FMIN, bits, bits, 0,
                                  is_f64 ? PTX_F64 : PTX_F32, 0);
        if (ftz)
            add_mod(&bench, PTX_MOD_FTZ);
        if (nan)
            add_mod(&bench, PTX_MOD_NAN);
        if (xorsign)
            add_mod(&bench, PTX_MOD_XORSIGN_ABS);
        if (is_f64 && (ftz || nan || xorsign)) {
            assert_false(run(&bench));
            continue;
        }
        for (int k = 0; k < RUNS; k++) {
            fill(bench.a, format), fill(bench.b, format);
            if (k % 2)
                for (int i = 0; i < 32; i++)
                    bench.b[i] = bench.a[i] ^ (random_bits() & num_sign_bit(format));
            assert_true(run(&bench));
            for (int i = 0; i < 32; i++)
                ASSERT_LANE(&bench, i,
                            reference_extreme(format, flush(format, bench.a[i], ftz),
                                              flush(format, bench.b[i], ftz), is_max, nan,
                                              xorsign));
        }
    }
}

/* A NaN of f64 becomes quiet and keeps its sign; f32 has one. */
static uint64_t sign_result(const struct num_format *format, uint64_t x, uint64_t result)
{
    bool is_nan = (x & (num_sign_bit(format) - 1)) > format->infinity;
    uint64_t nan = format == &num_f64_format ? x | NUM_F64_QUIET : format->nan;
    return is_nan ? nan : result;
}
static void test_signs(void **state)
{
    (void)state;
    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
        const struct num_format *format = is_f64 ? &num_f64_format : &num_f32_format;
        unsigned bits = is_f64 ? 64 : 32;
        int type = is_f64 ? PTX_F64 : PTX_F32;
        uint64_t sign = num_sign_bit(format);
        struct bench neg = make(GROUP_FLOAT, PTX_OP_FNEG, bits, bits, 0, type, 0);
        struct bench abs = make(GROUP_FLOAT, PTX_OP_FABS, bits, bits, 0, type, 0);
        struct bench copy = make(GROUP_FLOAT, PTX_OP_COPYSIGN, bits, bits, 0, type, 0);
        for (int k = 0; k < 100; k++) {
            fill(neg.a, format), fill(abs.a, format), fill(copy.a, format), fill(copy.b, format);
            assert_true(run(&neg) && run(&abs) && run(&copy));
            for (int i = 0; i < 32; i++) {
                ASSERT_LANE(&neg, i, sign_result(format, neg.a[i], neg.a[i] ^ sign));
                ASSERT_LANE(&abs, i, sign_result(format, abs.a[i], abs.a[i] & ~sign));
                ASSERT_LANE(&copy, i, (copy.b[i] & ~sign) | (copy.a[i] & sign));
            }
        }
    }
    struct bench ftz = make(GROUP_FLOAT, PTX_OP_FNEG, 32, 32, PTX_MOD_FTZ, 0, PTX_F32, 0);
    ftz.a[0] = 1, ftz.a[1] = 0x80000001, ftz.a[2] = 0x00800000;
    assert_true(run(&ftz));
    assert_int_equal(ftz.d[0], 0x80000000);
    assert_int_equal(ftz.d[1], 0);
    assert_int_equal(ftz.d[2], 0x80800000);
}

static void test_testp(void **state)
{
    (void)state;
    static const enum ptx_mod mods[] = {PTX_MOD_FINITE,     PTX_MOD_INFINITE, PTX_MOD_NUMBER,
                                        PTX_MOD_NOTANUMBER, PTX_MOD_NORMAL,   PTX_MOD_SUBNORMAL};
    for (int variant = 0; variant < 12; variant++) {
        bool is_f64 = variant >= 6;
        const struct num_format *format = is_f64 ? &num_f64_format : &num_f32_format;
        struct bench bench = make(GROUP_FLOAT, PTX_OP_TESTP, 1, is_f64 ? 64 : 32, mods[variant % 6],
                                  0, is_f64 ? PTX_F64 : PTX_F32, 0);
        for (int k = 0; k < 300; k++) {
            fill(bench.a, format);
            assert_true(run(&bench));
            for (int i = 0; i < 32; i++) {
                double x = is_f64 ? num_f64_from(bench.a[i]) : num_f32_from((uint32_t)bench.a[i]);
                bool is_zero = x == 0;
                bool subnormal =
                    is_f64 ? fpclassify(x) == FP_SUBNORMAL : fpclassify((float)x) == FP_SUBNORMAL;
                bool expected[] = {isfinite(x),
                                   isinf(x),
                                   !isnan(x),
                                   isnan(x),
                                   is_zero || (isfinite(x) && !subnormal),
                                   subnormal};
                assert_int_equal(bench.d[0] >> i & 1, expected[variant % 6]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add),      cmocka_unit_test(test_sub),
        cmocka_unit_test(test_mul),      cmocka_unit_test(test_fma),
        cmocka_unit_test(test_mad),      cmocka_unit_test(test_div),
        cmocka_unit_test(test_rcp),      cmocka_unit_test(test_sqrt),
        cmocka_unit_test(test_x2),       cmocka_unit_test(test_rounding_is_restored),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_signs),
        cmocka_unit_test(test_testp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
