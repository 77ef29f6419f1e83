/*
 * test_convert.c: cvt between all types, in all roundings, from and to registers of all widths,
 * against 113-bit arithmetic; f16x2, tf32, f8 and cvt.pack over all or many values.
 */
#include "num/harness.h"

#include "simt/num_convert.h"
#include "simt/num_half.h"

static const enum ptx_type types[] = {PTX_U8,  PTX_U16, PTX_U32, PTX_U64,  PTX_S8,  PTX_S16,
                                      PTX_S32, PTX_S64, PTX_F16, PTX_BF16, PTX_F32, PTX_F64};
static const enum ptx_mod roundings[] = {0,           PTX_MOD_RN,  PTX_MOD_RZ,
                                         PTX_MOD_RM,  PTX_MOD_RP,  PTX_MOD_RNI,
                                         PTX_MOD_RZI, PTX_MOD_RMI, PTX_MOD_RPI};

static quad quad_round(quad x, enum num_round round)
{
    if (x > 0x1p100 || x < -0x1p100)
        return x;
    __int128 whole = (__int128)x; /* toward zero */
    quad rest = x - (quad)whole;
    bool negative = x < 0;
    quad distance = negative ? -rest : rest;
    bool away = num_rounds_up(round, negative, whole & 1, distance >= 0.5,
                              distance != 0 && distance != 0.5);
    return (quad)whole + (away ? negative ? -1 : 1 : 0);
}
static uint64_t extend(enum ptx_type type, uint64_t bits)
{
    switch (type) {
    case PTX_U8:
        return (uint8_t)bits;
    case PTX_U16:
        return (uint16_t)bits;
    case PTX_U32:
        return (uint32_t)bits;
    case PTX_S8:
        return (uint64_t)(int8_t)bits;
    case PTX_S16:
        return (uint64_t)(int16_t)bits;
    case PTX_S32:
        return (uint64_t)(int32_t)bits;
    default:
        return bits;
    }
}

/* The result, extended to 64 bits if it is an integer. */
static uint64_t reference(const struct num_convert *how, uint64_t bits)
{
    const struct num_format *to = num_format_of(how->to), *from = num_format_of(how->from);
    quad value;
    bool negative;
    if (from) {
        bits &= 2 * num_sign_bit(from) - 1;
        uint64_t magnitude = bits & (num_sign_bit(from) - 1);
        if (how->ftz && how->from == PTX_F32 && how->to != PTX_F16 && magnitude < 0x00800000)
            bits ^= magnitude, magnitude = 0;
        negative = bits & num_sign_bit(from);
        if (magnitude > from->infinity && to)
            return how->sat ? 0 : num_convert_nan(how, bits);
        if (magnitude > from->infinity) {
            unsigned width = ptx_type_bits(how->to);
            return how->from == PTX_F64 || width == 64 ? extend(how->to, (uint64_t)1 << (width - 1))
                                                       : 0;
        }
        value = magnitude == from->infinity ? negative ? -0x1p1000 : 0x1p1000
                                            : (quad)num_to_f64(from, bits);
        if (magnitude == from->infinity && to)
            return how->sat ? negative ? 0 : num_from_f64(to, 1, NUM_RN)
                            : to->infinity | (negative ? num_sign_bit(to) : 0);
        if (!to || how->to_integral)
            value = quad_round(value, how->round);
    } else {
        bits = extend(how->from, bits);
        value = num_is_signed(how->from) ? (quad)(int64_t)bits : (quad)bits;
        negative = value < 0;
    }
    if (to) {
        if (how->sat && value <= 0)
            return 0;
        if (how->sat && value > 1)
            value = 1;
        uint64_t sign = negative ? num_sign_bit(to) : 0;
        uint64_t result = value == 0 ? sign : pack_quad(to, value, false, how->round);
        if (how->ftz && how->to == PTX_F32 && value != 0 &&
            is_below_f32(pack_quad(&wide_f32, value, false, how->round)))
            result &= 0x80000000;
        return result;
    }
    unsigned width = ptx_type_bits(how->to);
    __int128 top = (__int128)1 << (width - num_is_signed(how->to));
    __int128 low = num_is_signed(how->to) ? -top : 0;
    if (!from && !how->sat)
        return extend(how->to, bits);
    __int128 whole = value >= (quad)top ? top - 1 : value < (quad)low ? low : (__int128)value;
    return (uint64_t)whole;
}

static uint64_t random_source(enum ptx_type type)
{
    const struct num_format *format = num_format_of(type);
    if (!format) {
        uint64_t bits = random_bits();
        return random_bits() % 2 ? bits : (uint64_t)((int64_t)bits >> random_bits() % 64);
    }
    if (random_bits() % 2)
        return random_float(format);
    if (type == PTX_F64 && random_bits() % 4 == 0) /* just below the smallest normal f32 */
        return (0x3810000000000000 - (random_bits() & 0x7fffffff)) | (random_bits() & NUM_F64_SIGN);
    /* integers, halves and their neighbours, up to the edges of the integer types */
    double x = ldexp((double)(random_bits() >> 11), -(int)(random_bits() % 60));
    x = random_bits() % 2 ? rint(x * 2) / 2 : ldexp(1, (int)(random_bits() % 66) - 1);
    uint64_t bits = num_from_f64(format, random_bits() % 2 ? x : -x, NUM_RN);
    return bits + random_bits() % 3 - 1;
}

static void check_cvt(struct bench *bench)
{
    struct num_convert how = num_convert_of(&bench->ptx);
    uint64_t d_mask = UINT64_MAX >> (64 - bench->operands.d_bits);
    for (int k = 0; k < 12; k++) {
        for (int i = 0; i < 32; i++) {
            bench->a[i] = random_source(how.from);
            if (ptx_type_bits(how.from) < 64) /* what lies above the type is ignored */
                bench->a[i] = (bench->a[i] & (UINT64_MAX >> (64 - ptx_type_bits(how.from)))) |
                              random_bits() << ptx_type_bits(how.from);
        }
        assert_true(run(bench));
        for (int i = 0; i < 32; i++) {
            uint64_t expected = reference(&how, bench->a[i]) & d_mask;
            if (bench->d[i] != expected)
                fail_msg("cvt %s from %s, round %d integral %d ftz %d sat %d: %llx gives %llx, "
                         "expected %llx",
                         ptx_type_name(how.to), ptx_type_name(how.from), how.round, how.to_integral,
                         how.ftz, how.sat, (unsigned long long)bench->a[i],
                         (unsigned long long)bench->d[i], (unsigned long long)expected);
        }
    }
}
static void test_cvt(void **state)
{
    (void)state;
    static const unsigned widths[] = {16, 32, 64};
    int legal = 0;
    for (int v = 0; v < 12 * 12 * 9 * 4; v++) {
        enum ptx_type to = types[v % 12], from = types[v / 12 % 12];
        struct bench bench = make(GROUP_CONVERT, PTX_OP_CVT, 0, 0, 0, to, from, 0);
        if (roundings[v / 144 % 9])
            add_mod(&bench, roundings[v / 144 % 9]);
        if (v / 1296 & 1)
            add_mod(&bench, PTX_MOD_FTZ);
        if (v / 1296 & 2)
            add_mod(&bench, PTX_MOD_SAT);
        for (int w = 0; w < 9; w++) {
            bench.operands.d_bits = widths[w % 3], bench.operands.a_bits = widths[w / 3];
            bool fits = bench.operands.d_bits >= ptx_type_bits(to) &&
                        bench.operands.a_bits >= ptx_type_bits(from);
            if (!fits)
                continue;
            if (num_convert_is_legal(&bench.ptx)) {
                check_cvt(&bench);
                legal++;
            } else {
                assert_false(run(&bench));
            }
        }
    }
    assert_true(legal > 1000);
}

/* Values from PTX's description, written out. */
static void test_cvt_values(void **state)
{
    (void)state;
    static const struct {
        enum ptx_type to, from;
        enum ptx_mod round, sat;
        unsigned d_bits, a_bits;
        uint64_t a, d;
    } rows[] = {
        {PTX_S32, PTX_F32, PTX_MOD_RZI, 0, 32, 32, 0x7fc00000, 0},
        {PTX_S64, PTX_F32, PTX_MOD_RZI, 0, 64, 32, 0x7fc00000, 0x8000000000000000},
        {PTX_U64, PTX_F32, PTX_MOD_RZI, 0, 64, 32, 0xffc00000, 0x8000000000000000},
        {PTX_S32, PTX_F64, PTX_MOD_RZI, 0, 32, 64, 0x7ff8000000000000, 0x80000000},
        {PTX_U32, PTX_F64, PTX_MOD_RZI, 0, 32, 64, 0x7ff8000000000000, 0x80000000},
        {PTX_S32, PTX_F32, PTX_MOD_RZI, 0, 32, 32, 0x7f800000, 0x7fffffff},
        {PTX_U32, PTX_F32, PTX_MOD_RZI, 0, 32, 32, 0xbf800000, 0},
        {PTX_U8, PTX_F32, PTX_MOD_RZI, 0, 16, 32, 0x43960000, 255}, /* 300 */
        {PTX_S8, PTX_F32, PTX_MOD_RNI, 0, 32, 32, 0xc3960000, 0xffffff80},
        {PTX_S32, PTX_F32, PTX_MOD_RNI, 0, 32, 32, 0x40200000, 2}, /* 2.5 */
        {PTX_S32, PTX_F32, PTX_MOD_RMI, 0, 32, 32, 0xc0200000, (uint32_t)-3},
        {PTX_S32, PTX_F32, PTX_MOD_RPI, 0, 32, 32, 0x00000001, 1},
        {PTX_U32, PTX_S8, 0, 0, 32, 16, 0x12ff, 0xffffffff},
        {PTX_U16, PTX_S8, 0, 0, 32, 16, 0x12ff, 0x0000ffff},
        {PTX_S16, PTX_U32, 0, 0, 32, 32, 0x1234ffff, 0xffffffff},
        {PTX_U8, PTX_S32, 0, PTX_MOD_SAT, 16, 32, 0xffffffff, 0},
        {PTX_S8, PTX_U32, 0, PTX_MOD_SAT, 16, 32, 0xffffffff, 127},
        {PTX_F32, PTX_U64, PTX_MOD_RN, 0, 32, 64, 0xffffffffffffffff, 0x5f800000},
        {PTX_F32, PTX_U64, PTX_MOD_RZ, 0, 32, 64, 0xffffffffffffffff, 0x5f7fffff},
        {PTX_F16, PTX_S32, PTX_MOD_RN, 0, 16, 32, 100000, 0x7c00},
        {PTX_F16, PTX_S32, PTX_MOD_RZ, 0, 16, 32, 100000, 0x7bff},
        /* What an H200 does with NaNs. */
        {PTX_F32, PTX_F64, PTX_MOD_RN, 0, 32, 64, 0xfff8000000000000, 0xffc00000},
        {PTX_F32, PTX_F64, PTX_MOD_RN, PTX_MOD_FTZ, 32, 64, 0x7ffa000000000001, 0x7fd00000},
        {PTX_F16, PTX_F64, PTX_MOD_RP, 0, 16, 64, 0xfffa000000000000, 0xfe80},
        {PTX_BF16, PTX_F64, PTX_MOD_RN, 0, 16, 64, 0x7ff0000000000016, 0x7fc0},
        {PTX_F64, PTX_F16, 0, 0, 64, 16, 0xfc16, 0xfff8580000000000},
        {PTX_F64, PTX_BF16, 0, 0, 64, 16, 0x7f96, 0x7ffac00000000000},
        {PTX_F64, PTX_F32, 0, PTX_MOD_FTZ, 64, 32, 0xffc00013, 0x7fffffffe0000000},
        {PTX_F32, PTX_BF16, 0, 0, 32, 16, 0xff96, 0xff960000},
        {PTX_F32, PTX_F32, 0, 0, 32, 32, 0xff800016, 0xff800016},
        {PTX_F64, PTX_F64, 0, 0, 64, 64, 0x7ff0000000000009, 0x7ff0000000000009},
        {PTX_F16, PTX_F16, 0, 0, 16, 16, 0xfc16, 0x7fff},
        /* .ftz looks at f32 sources before they are rounded, but not on the way to f16. */
        {PTX_F16, PTX_F32, PTX_MOD_RP, PTX_MOD_FTZ, 16, 32, 1, 1},
        {PTX_F16, PTX_F32, PTX_MOD_RM, PTX_MOD_FTZ, 16, 32, 0x807fffff, 0x8001},
        {PTX_BF16, PTX_F32, PTX_MOD_RP, PTX_MOD_FTZ, 16, 32, 0x007fffff, 0},
        {PTX_F32, PTX_F32, PTX_MOD_RNI, 0, 32, 32, 0xbe800000, 0x80000000}, /* -0.25 */
        {PTX_F32, PTX_F32, 0, PTX_MOD_SAT, 32, 32, 0x7fc00000, 0},
        {PTX_BF16, PTX_F32, PTX_MOD_RN, 0, 16, 32, 0x3f808000, 0x3f80},
        {PTX_BF16, PTX_F32, PTX_MOD_RN, 0, 16, 32, 0x3f818000, 0x3f82},
    };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct bench bench = make(GROUP_CONVERT, PTX_OP_CVT, rows[r].d_bits, rows[r].a_bits, 0,
                                  rows[r].to, rows[r].from, 0);
        if (rows[r].round)
            add_mod(&bench, rows[r].round);
        if (rows[r].sat)
            add_mod(&bench, rows[r].sat);
        bench.a[3] = rows[r].a;
        assert_true(run(&bench));
        ASSERT_LANE(&bench, 3, rows[r].d);
    }
}

/* Narrow and packed formats
 * ------------------------------------------------------------------------------ */

static uint64_t narrow(const struct num_format *format, double x, enum num_round round, bool relu,
                       bool satfinite)
{
    if (relu && x <= 0)
        return 0;
    if (satfinite && fabs(x) > num_to_f64(format, format->largest))
        return format->largest | (x < 0 ? num_sign_bit(format) : 0);
    return num_from_f64(format, x, round);
}
static void test_f16x2(void **state)
{
    (void)state;
    for (int variant = 0; variant < 16; variant++) {
        bool rz = variant & 1, relu = variant & 2, satfinite = variant & 4, bf16 = variant & 8;
        const struct num_format *format = bf16 ? &num_bf16_format : &num_f16_format;
        struct bench two =
            make(GROUP_CONVERT, PTX_OP_CVT_PACK2, 32, 32, rz ? PTX_MOD_RZ : PTX_MOD_RN, 0,
                 bf16 ? PTX_BF16X2 : PTX_F16X2, PTX_F32, 0);
        struct bench one =
            make(GROUP_CONVERT, PTX_OP_CVT_NARROW, 16, 32, rz ? PTX_MOD_RZ : PTX_MOD_RN, 0,
                 bf16 ? PTX_BF16 : PTX_F16, PTX_F32, 0);
        if (relu)
            add_mod(&two, PTX_MOD_RELU), add_mod(&one, PTX_MOD_RELU);
        if (satfinite)
            add_mod(&two, PTX_MOD_SATFINITE), add_mod(&one, PTX_MOD_SATFINITE);
        for (int k = 0; k < 2000; k++) {
            for (int i = 0; i < 32; i++) {
                uint64_t near = random_float(format); /* an f32 near a half, or any */
                two.a[i] = k % 2 ? random_float(&num_f32_format)
                                 : num_f32_bits((float)num_to_f64(format, near)) +
                                       (random_bits() % 3 - 1) * (bf16 ? 0x4000 : 0x800);
                two.b[i] = random_float(&num_f32_format);
                two.a[i] &= 0xffffffff;
            }
            memcpy(one.a, two.a, sizeof(one.a));
            assert_true(run(&two) && run(&one));
            enum num_round round = rz ? NUM_RZ : NUM_RN;
            for (int i = 0; i < 32; i++) {
                uint64_t high =
                    narrow(format, num_f32_from((uint32_t)two.a[i]), round, relu, satfinite);
                uint64_t low =
                    narrow(format, num_f32_from((uint32_t)two.b[i]), round, relu, satfinite);
                ASSERT_LANE(&two, i, high << 16 | low);
                ASSERT_LANE(&one, i, high);
            }
        }
    }
}
static void test_tf32(void **state)
{
    (void)state;
    static const struct num_format tf32 = {8, 10, 0x3fbff, 0x3fc00, 0x3ffff};
    static const enum ptx_mod rounds[] = {PTX_MOD_RNA, PTX_MOD_RN, PTX_MOD_RZ};
    for (int variant = 0; variant < 12; variant++) {
        bool relu = variant & 4, satfinite = variant & 8;
        if (variant % 4 == 3)
            continue;
        struct bench bench = make(GROUP_CONVERT, PTX_OP_CVT_TF32, 32, 32, rounds[variant % 4], 0,
                                  PTX_TF32, PTX_F32, 0);
        if (relu)
            add_mod(&bench, PTX_MOD_RELU);
        if (satfinite)
            add_mod(&bench, PTX_MOD_SATFINITE);
        if (relu && variant % 4 == 0) {
            assert_false(run(&bench));
            continue;
        }
        for (int k = 0; k < 2000; k++) {
            for (int i = 0; i < 32; i++) {
                bench.a[i] = random_float(&num_f32_format);
                if (k % 2)
                    bench.a[i] = (bench.a[i] & 0xffffe000) + 0x1000 + random_bits() % 3 - 1;
            }
            assert_true(run(&bench));
            for (int i = 0; i < 32; i++) {
                float x = num_f32_from((uint32_t)bench.a[i]);
                uint64_t expected = narrow(&tf32, x, num_round_of(&bench.ptx), relu, satfinite);
                uint64_t nan = variant % 4 == 0 ? bench.a[i] & 0xffffe000 : 0x7fffe000;
                ASSERT_LANE(&bench, i, isnan(x) ? nan : expected << 13);
            }
        }
    }
}
static void test_f8(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        bool relu = variant & 1, e4m3 = variant & 2;
        enum ptx_type type = e4m3 ? PTX_E4M3X2 : PTX_E5M2X2;
        const struct num_format *format = e4m3 ? &num_e4m3 : &num_e5m2;
        struct bench up =
            make(GROUP_CONVERT, PTX_OP_CVT_F16_F8, 32, 16, PTX_MOD_RN, 0, PTX_F16X2, type, 0);
        struct bench down = make(GROUP_CONVERT, PTX_OP_CVT_F8_F16, 16, 32, PTX_MOD_RN,
                                 PTX_MOD_SATFINITE, 0, type, PTX_F16X2, 0);
        struct bench from_f32 = make(GROUP_CONVERT, PTX_OP_CVT_F8_F32, 16, 32, PTX_MOD_RN,
                                     PTX_MOD_SATFINITE, 0, type, PTX_F32, 0);
        if (relu)
            add_mod(&up, PTX_MOD_RELU), add_mod(&down, PTX_MOD_RELU),
                add_mod(&from_f32, PTX_MOD_RELU);
        for (uint32_t first = 0; first < 0x10000; first += 32) {
            for (uint32_t i = 0; i < 32; i++) {
                up.a[i] = first + i;
                down.a[i] = (uint64_t)(first + i) << 16 | (first * 7 + i * 2003) % 0x10000;
                from_f32.a[i] = random_float(&num_f32_format);
                from_f32.b[i] = num_f32_bits(num_f16_widen((uint16_t)(first + i)));
            }
            assert_true(run(&up) && run(&down) && run(&from_f32));
            for (int i = 0; i < 32; i++) {
                double high = num_to_f64(format, up.a[i] >> 8);
                double low = num_to_f64(format, up.a[i] & 0xff);
                ASSERT_LANE(&up, i,
                            narrow(&num_f16_format, high, NUM_RN, relu, false) << 16 |
                                narrow(&num_f16_format, low, NUM_RN, relu, false));
                high = num_to_f64(&num_f16_format, down.a[i] >> 16);
                low = num_to_f64(&num_f16_format, down.a[i] & 0xffff);
                ASSERT_LANE(&down, i,
                            narrow(format, high, NUM_RN, relu, true) << 8 |
                                narrow(format, low, NUM_RN, relu, true));
                high = num_f32_from((uint32_t)from_f32.a[i]);
                low = num_f32_from((uint32_t)from_f32.b[i]);
                ASSERT_LANE(&from_f32, i,
                            narrow(format, high, NUM_RN, relu, true) << 8 |
                                narrow(format, low, NUM_RN, relu, true));
            }
        }
    }
}
static void test_pack(void **state)
{
    (void)state;
    static const struct {
        enum ptx_type type;
        int bits;
        bool is_signed;
    } rows[] = {{PTX_U16, 16, false}, {PTX_S16, 16, true}, {PTX_U8, 8, false}, {PTX_S8, 8, true},
                {PTX_U4, 4, false},   {PTX_S4, 4, true},   {PTX_U2, 2, false}, {PTX_S2, 2, true}};
    for (int r = 0; r < 8; r++) {
        int n = rows[r].bits;
        struct bench bench = make(GROUP_CONVERT, n == 16 ? PTX_OP_CVT_PACK : PTX_OP_CVT_PACK_C, 32,
                                  32, PTX_MOD_PACK, PTX_MOD_SAT, 0, rows[r].type, PTX_S32, 0);
        int64_t high = rows[r].is_signed ? (1 << (n - 1)) - 1 : (1 << n) - 1;
        int64_t low = rows[r].is_signed ? -(1 << (n - 1)) : 0;
        for (int k = 0; k < 300; k++) {
            for (int i = 0; i < 32; i++) {
                bench.a[i] = (uint32_t)((int32_t)random_bits() >> random_bits() % 32);
                bench.b[i] = (uint32_t)((int32_t)random_bits() >> random_bits() % 32);
                bench.c[i] = (uint32_t)random_bits();
            }
            assert_true(run(&bench));
            for (int i = 0; i < 32; i++) {
                int64_t a = (int32_t)bench.a[i], b = (int32_t)bench.b[i];
                a = a < low ? low : a > high ? high : a;
                b = b < low ? low : b > high ? high : b;
                uint64_t mask = ((uint64_t)1 << n) - 1;
                uint64_t packed = ((uint64_t)a & mask) << n | ((uint64_t)b & mask);
                if (n < 16)
                    packed |= bench.c[i] << (2 * n) & 0xffffffff;
                ASSERT_LANE(&bench, i, packed);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cvt),   cmocka_unit_test(test_cvt_values),
        cmocka_unit_test(test_f16x2), cmocka_unit_test(test_tf32),
        cmocka_unit_test(test_f8),    cmocka_unit_test(test_pack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
