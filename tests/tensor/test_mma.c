/*
 * test_mma.c: mma.sync of every shape and type against reference.h.
 * Random operands of several characters (small integers, near each other, any bits, mostly zeros)
 * on every GPU generation; the registers are filled through the manual's layout formulas, so a
 * wrong place shows as a wrong number.
 */
#include "fake_warp.h"
#include "random_float.h"
#include "reference.h"

#include <cmocka.h>

enum { D = 0, A = 8, B = 16, C = 24 }; /* first registers */

struct kind {
    enum ptx_op op;
    enum ptx_mod shape;
    unsigned m, k;
    enum ptx_type d, a, b;
    enum ptx_mod mod; /* satfinite, and, xor, rz ..; 0: none */
};

/* Operands of the test at hand, as bits. */
static uint64_t a_bits[16][256], b_bits[256][8], c_bits[16][8];

static void build(struct fake_inst *f, const struct kind *kind, enum ptx_type c_type)
{
    unsigned bits = ptx_type_bits(kind->a), regs_per = bits == 64 ? 64 : 32;
    unsigned b_count = 8 * kind->k * bits / 32 / regs_per, blocks = kind->m / 8;
    unsigned d_count = blocks * (kind->d == PTX_F16 ? 1 : 2);
    unsigned c_count = blocks * (c_type == PTX_F16 ? 1 : 2);
    fake_op(f, kind->op);
    fake_mod(f, kind->shape);
    if (kind->mod)
        fake_mod(f, kind->mod);
    fake_type(f, kind->d);
    fake_type(f, kind->a);
    fake_type(f, kind->b);
    fake_type(f, c_type);
    fake_vector(f, D, d_count);
    fake_vector(f, A, blocks * b_count);
    fake_vector(f, B, b_count);
    fake_vector(f, C, c_count);
}

/* Puts element i of a lane into registers from first on. */
static void put(unsigned first, unsigned bits, unsigned lane, unsigned i, uint64_t value)
{
    if (bits == 64) {
        fake_u64(first + i)[lane] = value;
        return;
    }
    unsigned per = 32 / bits;
    uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1, shift = i % per * bits;
    uint32_t *reg = &fake_u32(first + i / per)[lane];
    *reg = (*reg & ~(mask << shift)) | ((uint32_t)value & mask) << shift;
}

static uint64_t get(unsigned first, unsigned bits, unsigned lane, unsigned i)
{
    if (bits == 64)
        return fake_u64(first + i)[lane];
    unsigned per = 32 / bits;
    uint32_t value = fake_u32(first + i / per)[lane] >> (i % per * bits);
    return bits == 32 ? value : value & ((1u << bits) - 1);
}

static void fill_registers(const struct kind *kind, enum ptx_type c_type)
{
    unsigned bits = ptx_type_bits(kind->a), c_width = ptx_type_bits(c_type);
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < kind->m * kind->k / 32; i++) {
            struct place p = ref_place_a(kind->m, kind->k, bits, lane, i);
            put(A, bits, lane, i, a_bits[p.row][p.col]);
        }
        for (unsigned i = 0; i < kind->k * 8 / 32; i++) {
            struct place p = ref_place_b(bits, lane, i);
            put(B, bits, lane, i, b_bits[p.row][p.col]);
        }
        for (unsigned i = 0; i < kind->m / 4; i++) {
            struct place p = ref_place_c(lane, i);
            put(C, c_width, lane, i, c_bits[p.row][p.col]);
        }
    }
}

/* Product k + 1 is the negative of product k in every output: what is left is small. */
static void cancel(const struct kind *kind, unsigned k)
{
    uint64_t sign = UINT64_C(1) << (kind->b == PTX_TF32 ? 31 : ptx_type_bits(kind->b) - 1);
    for (unsigned m = 0; m < kind->m; m++)
        a_bits[m][k + 1] = a_bits[m][k];
    for (unsigned n = 0; n < 8; n++)
        b_bits[k + 1][n] = b_bits[k][n] ^ sign;
}

static void check_float(const struct kind *kind, enum ptx_type c_type, unsigned cc, int how)
{
    struct fake_inst f;
    fake_gpu.cc_major = cc / 10;
    fake_gpu.cc_minor = cc % 10;
    build(&f, kind, c_type);
    for (unsigned k = 0; k < kind->k; k++) {
        for (unsigned m = 0; m < kind->m; m++)
            a_bits[m][k] = random_float(kind->a, how);
        for (unsigned n = 0; n < 8; n++)
            b_bits[k][n] = random_float(kind->b, how);
    }
    for (unsigned k = 0; how >= RANDOM_MIXED && k + 1 < kind->k; k += 2 + fake_below(4))
        cancel(kind, k);
    int c_how = how == 3 && fake_below(2) ? 0 : how;
    for (unsigned m = 0; m < kind->m; m++) {
        for (unsigned n = 0; n < 8; n++)
            c_bits[m][n] = random_float(c_type, c_how);
    }
    fill_registers(kind, c_type);
    assert_true(fake_run(&f));
    bool d_half = kind->d == PTX_F16;
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < kind->m / 4; i++) {
            struct place p = ref_place_c(lane, i);
            uint32_t a[32] = {0}, b[32] = {0};
            for (unsigned k = 0; k < kind->k; k++) {
                a[k] = (uint32_t)a_bits[p.row][k];
                b[k] = (uint32_t)b_bits[k][p.col];
            }
            uint32_t expected = ref_dot(cc, kind->a, kind->b, kind->k, a, b,
                                        (uint32_t)c_bits[p.row][p.col], c_type == PTX_F16, d_half);
            uint32_t got = (uint32_t)get(D, d_half ? 16 : 32, lane, i);
            if (got != expected) {
                print_error("sm_%u %s %s*%s -> %s, data %d, row %u column %u: %08x, not %08x\n", cc,
                            ptx_mod_name(kind->shape), ptx_type_name(kind->a),
                            ptx_type_name(kind->b), ptx_type_name(kind->d), how, p.row, p.col, got,
                            expected);
                for (unsigned k = 0; k < kind->k; k++)
                    print_error("  %08x * %08x\n", a[k], b[k]);
                print_error("  + %08x\n", (uint32_t)c_bits[p.row][p.col]);
                fail();
            }
        }
    }
}

static const struct kind float_kinds[] = {
    {PTX_OP_MMA_F16, PTX_MOD_M16N8K8, 16, 8, PTX_F16, PTX_F16, PTX_F16, 0},
    {PTX_OP_MMA_F16, PTX_MOD_M16N8K8, 16, 8, PTX_F32, PTX_F16, PTX_F16, 0},
    {PTX_OP_MMA_F16, PTX_MOD_M16N8K16, 16, 16, PTX_F16, PTX_F16, PTX_F16, 0},
    {PTX_OP_MMA_F16, PTX_MOD_M16N8K16, 16, 16, PTX_F32, PTX_F16, PTX_F16, 0},
    {PTX_OP_MMA_BF16, PTX_MOD_M16N8K8, 16, 8, PTX_F32, PTX_BF16, PTX_BF16, 0},
    {PTX_OP_MMA_BF16, PTX_MOD_M16N8K16, 16, 16, PTX_F32, PTX_BF16, PTX_BF16, 0},
    {PTX_OP_MMA_TF32, PTX_MOD_M16N8K4, 16, 4, PTX_F32, PTX_TF32, PTX_TF32, 0},
    {PTX_OP_MMA_TF32, PTX_MOD_M16N8K8, 16, 8, PTX_F32, PTX_TF32, PTX_TF32, 0},
#define F8_KINDS(shape, k)                                                                         \
    {PTX_OP_MMA_F8, shape, 16, k, PTX_F16, PTX_E4M3, PTX_E4M3, 0},                                 \
        {PTX_OP_MMA_F8, shape, 16, k, PTX_F32, PTX_E4M3, PTX_E4M3, 0},                             \
        {PTX_OP_MMA_F8, shape, 16, k, PTX_F16, PTX_E4M3, PTX_E5M2, 0},                             \
        {PTX_OP_MMA_F8, shape, 16, k, PTX_F32, PTX_E4M3, PTX_E5M2, 0},                             \
        {PTX_OP_MMA_F8, shape, 16, k, PTX_F16, PTX_E5M2, PTX_E4M3, 0},                             \
        {PTX_OP_MMA_F8, shape, 16, k, PTX_F32, PTX_E5M2, PTX_E4M3, 0},                             \
        {PTX_OP_MMA_F8, shape, 16, k, PTX_F16, PTX_E5M2, PTX_E5M2, 0},                             \
    {                                                                                              \
        PTX_OP_MMA_F8, shape, 16, k, PTX_F32, PTX_E5M2, PTX_E5M2, 0                                \
    }
    F8_KINDS(PTX_MOD_M16N8K16, 16),
    F8_KINDS(PTX_MOD_M16N8K32, 32),
};

static void floats_follow_the_model(void **state)
{
    static const unsigned ccs[] = {70, 75, 80, 86, 89, 90, 100, 120};
    for (unsigned c = 0; c < sizeof(ccs) / sizeof(ccs[0]); c++) {
        for (unsigned i = 0; i < sizeof(float_kinds) / sizeof(float_kinds[0]); i++) {
            for (int how = 0; how < RANDOM_KINDS; how++) {
                for (int round = 0; round < 12; round++)
                    check_float(&float_kinds[i], float_kinds[i].d, ccs[c], how);
            }
        }
    }
}

/* Small integers have exact sums, whatever the model: checks reference.h too. */
static void small_integers_are_exact(void **state)
{
    for (unsigned i = 0; i < sizeof(float_kinds) / sizeof(float_kinds[0]); i++) {
        const struct kind *kind = &float_kinds[i];
        check_float(kind, kind->d, 90, 0);
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned j = 0; j < kind->m / 4; j++) {
                struct place p = ref_place_c(lane, j);
                bool half = kind->d == PTX_F16;
                struct ref_number c = ref_decode(kind->d, (uint32_t)c_bits[p.row][p.col], false);
                double sum = ldexp((double)c.significand, c.exponent - c.bits);
                for (unsigned k = 0; k < kind->k; k++) {
                    struct ref_number x = ref_decode(kind->a, (uint32_t)a_bits[p.row][k], false);
                    struct ref_number y = ref_decode(kind->b, (uint32_t)b_bits[k][p.col], false);
                    sum += ldexp((double)x.significand, x.exponent - x.bits) *
                           ldexp((double)y.significand, y.exponent - y.bits);
                }
                struct ref_number d =
                    ref_decode(kind->d, (uint32_t)get(D, half ? 16 : 32, lane, j), false);
                assert_true(ldexp((double)d.significand, d.exponent - d.bits) == sum);
            }
        }
    }
}

/* d may share registers with a, b and c, in any order. */
static void registers_may_be_shared(void **state)
{
    const struct kind *kind = &float_kinds[3]; /* m16n8k16, f32 */
    for (int round = 0; round < 8; round++) {
        struct fake_inst f;
        uint32_t expected[4][32];
        build(&f, kind, PTX_F32);
        for (unsigned r = 0; r < FAKE_REGISTERS; r++) {
            for (unsigned lane = 0; lane < 32; lane++)
                fake_u32(r)[lane] = r >= C
                                        ? random_float(PTX_F32, 1)
                                        : random_float(PTX_F16, 1) | random_float(PTX_F16, 1) << 16;
        }
        uint8_t before[FAKE_REGISTERS][256];
        memcpy(before, fake_regs, sizeof(before));
        assert_true(fake_run(&f));
        for (unsigned i = 0; i < 4; i++)
            memcpy(expected[i], fake_u32(D + i), 128);
        memcpy(fake_regs, before, sizeof(before));
        static const unsigned others[8][4] = {
            {C, C + 1, C + 2, C + 3}, {C + 3, C + 2, C + 1, C},
            {A, A + 1, A + 2, A + 3}, {A + 3, A, A + 1, A + 2},
            {B + 1, B, C, A},         {C + 1, C, C + 3, C + 2},
            {A, C, B, C + 1},         {C + 2, C + 3, B + 1, A + 3},
        };
        for (unsigned i = 0; i < 4; i++)
            f.list[i] = fake_slot(others[round][i]);
        assert_true(fake_run(&f));
        for (unsigned i = 0; i < 4; i++)
            assert_memory_equal(fake_u32(others[round][i]), expected[i], 128);
    }
}

/* One product and c, as bits: what comes out at row 0, column 0. */
static uint32_t one_product(const struct kind *kind, uint32_t a, uint32_t b, uint32_t c)
{
    struct fake_inst f;
    memset(a_bits, 0, sizeof(a_bits));
    memset(b_bits, 0, sizeof(b_bits));
    memset(c_bits, 0, sizeof(c_bits));
    a_bits[0][0] = a;
    b_bits[0][0] = b;
    c_bits[0][0] = c;
    build(&f, kind, kind->d);
    fill_registers(kind, kind->d);
    assert_true(fake_run(&f));
    return (uint32_t)get(D, kind->d == PTX_F16 ? 16 : 32, 0, 0);
}

static void special_values(void **state)
{
    const struct kind *f16 = &float_kinds[3], *half = &float_kinds[2], *bf16 = &float_kinds[5];
    fake_gpu.cc_major = 9;
    fake_gpu.cc_minor = 0;
    assert_int_equal(one_product(f16, 0x7c00, 0x3c00, 0), 0x7f800000); /* inf * 1 */
    assert_int_equal(one_product(f16, 0xfc00, 0x3c00, 0), 0xff800000);
    assert_int_equal(one_product(f16, 0x7c00, 0, 0), 0x7fffffff);               /* inf * 0 */
    assert_int_equal(one_product(f16, 0x7c00, 0x3c00, 0xff800000), 0x7fffffff); /* inf - inf */
    assert_int_equal(one_product(f16, 0xfe01, 0x3c00, 0), 0x7fffffff);          /* NaN */
    assert_int_equal(one_product(f16, 0, 0, 0xffc00001), 0x7fffffff);
    assert_int_equal(one_product(f16, 0x8000, 0x3c00, 0x80000000), 0); /* -0 - 0 */
    assert_int_equal(one_product(f16, 0, 0, 1), 1);                    /* subnormal c */
    assert_int_equal(one_product(half, 0x7bff, 0x7bff, 0), 0x7c00);    /* overflow */
    assert_int_equal(one_product(half, 0x7e00, 0x3c00, 0), 0x7fff);
    assert_int_equal(one_product(half, 1, 0x3c00, 0), 1);               /* subnormal */
    assert_int_equal(one_product(bf16, 0x7f7f, 0x4000, 0), 0x7f800000); /* 2 * max */
    assert_int_equal(one_product(bf16, 0x7f7f, 0x3f80, 0), 0x7f7f0000);
    assert_int_equal(one_product(bf16, 0x0001, 0x3f80, 0), 0x00010000);
    assert_int_equal(one_product(bf16, 0x2000, 0x2000, 0), 0x00800000); /* 2^-63 * 2^-63 */
    assert_int_equal(one_product(bf16, 0x1a80, 0x1a80, 0), 2);          /* 2^-74 * 2^-74 */
    /* What lies below 25 bits under c is cut off, also when it would round up. */
    assert_int_equal(one_product(f16, 0x0fff, 0x3c00, 0x4b800000), 0x4b800000);
}

static void wrong_operands_have_no_body(void **state)
{
    struct fake_inst f;
    build(&f, &float_kinds[3], PTX_F32);
    f.ptx_operands[1].item_count = 3;
    assert_null(SIMT_NAME(tensor_select)(&f.operands));
    build(&f, &float_kinds[3], PTX_F32);
    f.ptx.types[3] = PTX_F16; /* d f32, c f16: not with this shape */
    assert_null(SIMT_NAME(tensor_select)(&f.operands));
}

/* f64 -------------------------------------------------------------------------------------------
 */

static void f64_is_a_chain_of_fma(void **state)
{
    static const struct kind kinds[] = {
        {PTX_OP_MMA_F64, PTX_MOD_M8N8K4, 8, 4, PTX_F64, PTX_F64, PTX_F64, PTX_MOD_RN},
        {PTX_OP_MMA_F64, PTX_MOD_M16N8K4, 16, 4, PTX_F64, PTX_F64, PTX_F64, 0},
        {PTX_OP_MMA_F64, PTX_MOD_M16N8K8, 16, 8, PTX_F64, PTX_F64, PTX_F64, 0},
        {PTX_OP_MMA_F64, PTX_MOD_M16N8K16, 16, 16, PTX_F64, PTX_F64, PTX_F64, 0},
    };
    for (unsigned i = 0; i < 4; i++) {
        const struct kind *kind = &kinds[i];
        double a[16][16], b[16][8], c[16][8];
        for (unsigned x = 0; x < 16 * 16; x++) {
            a[x / 16][x % 16] = ldexp((double)(int32_t)fake_random(), (int)fake_below(40) - 50);
            b[x % 16][x / 16 % 8] = ldexp((double)(int32_t)fake_random(), (int)fake_below(40) - 50);
            c[x / 16][x % 8] = ldexp((double)(int32_t)fake_random(), (int)fake_below(40) - 50);
        }
        for (unsigned x = 0; x < 16; x++) {
            for (unsigned y = 0; y < 16; y++) {
                memcpy(&a_bits[x][y], &a[x][y], 8);
                if (y < 8) {
                    memcpy(&b_bits[x][y], &b[x][y], 8);
                    memcpy(&c_bits[x][y], &c[x][y], 8);
                }
            }
        }
        struct fake_inst f;
        build(&f, kind, PTX_F64);
        fill_registers(kind, PTX_F64);
        assert_true(fake_run(&f));
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned j = 0; j < kind->m / 4; j++) {
                struct place p = ref_place_c(lane, j);
                double sum = c[p.row][p.col];
                for (unsigned k = 0; k < kind->k; k++)
                    sum = fma(a[p.row][k], b[k][p.col], sum);
                uint64_t bits;
                memcpy(&bits, &sum, 8);
                assert_int_equal(get(D, 64, lane, j), bits);
            }
        }
    }
}

static void f64_rounds_as_asked(void **state)
{
    static const enum ptx_mod mods[] = {PTX_MOD_RN, PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP};
    static const double expected[2][4] = {{1, 1, 1, 1 + 0x1p-52}, {-1, -1, -1 - 0x1p-52, -1}};
    for (int sign = 0; sign < 2; sign++) {
        for (int i = 0; i < 4; i++) { /* 1 * 1 + 2^-60 * 1 */
            struct kind kind = {PTX_OP_MMA_F64, PTX_MOD_M8N8K4, 8,       4,
                                PTX_F64,        PTX_F64,        PTX_F64, mods[i]};
            double one = sign ? -1 : 1, tiny = sign ? -0x1p-60 : 0x1p-60, unit = 1;
            memset(a_bits, 0, sizeof(a_bits));
            memset(b_bits, 0, sizeof(b_bits));
            memset(c_bits, 0, sizeof(c_bits));
            memcpy(&a_bits[0][0], &one, 8);
            memcpy(&a_bits[0][1], &tiny, 8);
            memcpy(&b_bits[0][0], &unit, 8);
            memcpy(&b_bits[1][0], &unit, 8);
            struct fake_inst f;
            build(&f, &kind, PTX_F64);
            fill_registers(&kind, PTX_F64);
            assert_true(fake_run(&f));
            double d;
            memcpy(&d, &fake_u64(D)[0], 8);
            assert_true(d == expected[sign][i]);
        }
    }
}

/* Integers --------------------------------------------------------------------------------------
 */

static int64_t integer_of(enum ptx_type type, uint64_t bits)
{
    switch (type) {
    case PTX_S8:
        return (int8_t)bits;
    case PTX_S4:
        return (int64_t)(bits ^ 8) - 8;
    default:
        return (int64_t)bits;
    }
}

static void check_integers(const struct kind *kind, uint32_t c_base)
{
    unsigned bits = ptx_type_bits(kind->a);
    uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    for (unsigned k = 0; k < kind->k; k++) {
        for (unsigned m = 0; m < kind->m; m++)
            a_bits[m][k] = fake_random() & mask;
        for (unsigned n = 0; n < 8; n++)
            b_bits[k][n] = fake_random() & mask;
    }
    for (unsigned m = 0; m < kind->m; m++) {
        for (unsigned n = 0; n < 8; n++)
            c_bits[m][n] = c_base + (fake_random() & 0xfff);
    }
    struct fake_inst f;
    build(&f, kind, PTX_S32);
    fill_registers(kind, PTX_S32);
    assert_true(fake_run(&f));
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < kind->m / 4; i++) {
            struct place p = ref_place_c(lane, i);
            int64_t sum = (int32_t)c_bits[p.row][p.col];
            for (unsigned k = 0; k < kind->k; k++) {
                uint64_t x = a_bits[p.row][k], y = b_bits[k][p.col];
                if (kind->a == PTX_B1)
                    sum += (int64_t)(kind->mod == PTX_MOD_AND ? x & y : x ^ y);
                else
                    sum += integer_of(kind->a, x) * integer_of(kind->b, y);
            }
            if (kind->mod == PTX_MOD_SATFINITE)
                sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            assert_int_equal((uint32_t)get(D, 32, lane, i), (uint32_t)sum);
        }
    }
}

static void integers_are_exact(void **state)
{
    static const struct {
        enum ptx_mod shape;
        unsigned m, k, bits;
    } shapes[] = {
        {PTX_MOD_M8N8K16, 8, 16, 8}, {PTX_MOD_M16N8K16, 16, 16, 8}, {PTX_MOD_M16N8K32, 16, 32, 8},
        {PTX_MOD_M8N8K32, 8, 32, 4}, {PTX_MOD_M16N8K32, 16, 32, 4}, {PTX_MOD_M16N8K64, 16, 64, 4},
    };
    static const uint32_t bases[] = {0, 0x7ffff800, 0x80000000};
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (unsigned types = 0; types < 4; types++) {
            bool wide = shapes[i].bits == 8;
            enum ptx_type s = wide ? PTX_S8 : PTX_S4, u = wide ? PTX_U8 : PTX_U4;
            for (unsigned saturate = 0; saturate < 2; saturate++) {
                struct kind kind = {PTX_OP_MMA_INT,    shapes[i].shape,
                                    shapes[i].m,       shapes[i].k,
                                    PTX_S32,           types & 1 ? u : s,
                                    types & 2 ? u : s, saturate ? PTX_MOD_SATFINITE : 0};
                for (unsigned base = 0; base < 3; base++)
                    check_integers(&kind, bases[base]);
            }
        }
    }
}

static void bits_are_counted(void **state)
{
    static const struct kind kinds[] = {
        {PTX_OP_MMA_BIT, PTX_MOD_M8N8K128, 8, 128, PTX_S32, PTX_B1, PTX_B1, PTX_MOD_XOR},
        {PTX_OP_MMA_BIT, PTX_MOD_M16N8K128, 16, 128, PTX_S32, PTX_B1, PTX_B1, PTX_MOD_XOR},
        {PTX_OP_MMA_BIT, PTX_MOD_M16N8K256, 16, 256, PTX_S32, PTX_B1, PTX_B1, PTX_MOD_XOR},
        {PTX_OP_MMA_BIT, PTX_MOD_M8N8K128, 8, 128, PTX_S32, PTX_B1, PTX_B1, PTX_MOD_AND},
        {PTX_OP_MMA_BIT, PTX_MOD_M16N8K128, 16, 128, PTX_S32, PTX_B1, PTX_B1, PTX_MOD_AND},
        {PTX_OP_MMA_BIT, PTX_MOD_M16N8K256, 16, 256, PTX_S32, PTX_B1, PTX_B1, PTX_MOD_AND},
    };
    for (unsigned i = 0; i < 6; i++) {
        check_integers(&kinds[i], 0);
        check_integers(&kinds[i], 0x7ffffff0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_integers_are_exact),    cmocka_unit_test(floats_follow_the_model),
        cmocka_unit_test(f64_is_a_chain_of_fma),       cmocka_unit_test(f64_rounds_as_asked),
        cmocka_unit_test(integers_are_exact),          cmocka_unit_test(bits_are_counted),
        cmocka_unit_test(registers_may_be_shared),     cmocka_unit_test(special_values),
        cmocka_unit_test(wrong_operands_have_no_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
