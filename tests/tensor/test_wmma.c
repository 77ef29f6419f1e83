/*
 * test_wmma.c: wmma.load, wmma.mma and wmma.store together, for every shape, type, layout and with
 * and without a stride: D = A * B + C of small integers must come out exactly. And the places of
 * f16 m16n16k16 fragments on sm_80 and later.
 */
#include "fake_warp.h"
#include "reference.h"

#include <cmocka.h>

enum { D = 0, A = 8, B = 16, C = 24, P = 40, S = 41 };
enum { A_AT = 0, B_AT = 4096, C_AT = 8192, D_AT = 12288 }; /* in fake_memory */

struct shape {
    enum ptx_mod mod;
    unsigned m, n, k;
};

/* A small integer as bits of a type, and back. */
static uint64_t encode(enum ptx_type type, int value)
{
    float f = (float)value;
    double d = value;
    uint32_t bits;
    uint64_t wide;
    memcpy(&bits, &f, 4);
    memcpy(&wide, &d, 8);
    switch (type) {
    case PTX_F16:
        return value == 0 ? 0
                          : (bits >> 16 & 0x8000) | (((bits & 0x7fffffff) - (112u << 23)) >> 13);
    case PTX_BF16:
        return bits >> 16;
    case PTX_TF32:
    case PTX_F32:
        return bits;
    case PTX_F64:
        return wide;
    default:
        return (uint64_t)(int64_t)value & ((UINT64_C(1) << ptx_type_bits(type)) - 1);
    }
}

static void put(unsigned at, unsigned bits, unsigned index, uint64_t value)
{
    if (bits >= 8) {
        memcpy(fake_memory + at + index * bits / 8, &value, bits / 8);
        return;
    }
    uint8_t *byte = fake_memory + at + index * bits / 8;
    unsigned shift = index * bits % 8, mask = ((1u << bits) - 1) << shift;
    *byte = (uint8_t)((*byte & ~mask) | ((unsigned)value << shift & mask));
}

static uint64_t get(unsigned at, unsigned bits, unsigned index)
{
    uint64_t value = 0;
    memcpy(&value, fake_memory + at + index * bits / 8, bits / 8);
    return value;
}

/* registers: how many the fragment has. stride 0: omitted. */
static void move(bool store, enum ptx_mod which, struct shape shape, enum ptx_type type, bool row,
                 unsigned first, unsigned registers, unsigned at, unsigned stride)
{
    struct fake_inst f;
    fake_op(&f, store ? PTX_OP_WMMA_STORE : PTX_OP_WMMA_LOAD);
    fake_mod(&f, store ? PTX_MOD_STORE : PTX_MOD_LOAD);
    fake_mod(&f, which);
    fake_mod(&f, row ? PTX_MOD_ROW : PTX_MOD_COL);
    fake_mod(&f, shape.mod);
    fake_type(&f, type);
    if (store) {
        fake_address(&f, P, 64);
        fake_vector(&f, first, registers);
    } else {
        fake_vector(&f, first, registers);
        fake_address(&f, P, 64);
    }
    if (stride)
        fake_stride(&f, S);
    for (unsigned lane = 0; lane < 32; lane++) {
        fake_u64(P)[lane] = FAKE_BASE + at;
        fake_u32(S)[lane] = stride;
    }
    assert_true(fake_run(&f));
}

static unsigned operand_registers(enum ptx_type type, unsigned lines, unsigned k)
{
    if (type == PTX_F16)
        return 8;
    return type == PTX_F64 ? 1 : lines * k * ptx_type_bits(type) / 1024;
}

static unsigned accumulator_registers(enum ptx_type type, struct shape shape)
{
    return shape.m * shape.n / 32 / (type == PTX_F16 ? 2 : 1);
}

static void check(enum ptx_op op, struct shape s, enum ptx_type a, enum ptx_type b, enum ptx_type c,
                  enum ptx_type d, unsigned layouts, enum ptx_mod mod)
{
    bool a_row = layouts & 1, b_row = layouts & 2, c_row = layouts & 4, d_row = layouts & 8;
    unsigned pad = layouts & 16 ? 8 : 0, bits = ptx_type_bits(a);
    if (bits < 8 && (!a_row || b_row))
        return; /* not in PTX */
    if (bits < 8 && pad)
        pad = 128 / bits;
    int low_a = a == PTX_U8 || a == PTX_U4 || a == PTX_B1 ? 0 : -2;
    int low_b = b == PTX_U8 || b == PTX_U4 || b == PTX_B1 ? 0 : -2;
    int x[32][128], y[128][32], z[32][32];
    unsigned lda = (a_row ? s.k : s.m) + pad, ldb = (b_row ? s.n : s.k) + pad;
    unsigned ldc = (c_row ? s.n : s.m) + pad, ldd = (d_row ? s.n : s.m) + pad;
    for (unsigned k = 0; k < s.k; k++) {
        for (unsigned m = 0; m < s.m; m++) {
            x[m][k] = a == PTX_B1 ? (int)fake_below(2) : low_a + (int)fake_below(5);
            put(A_AT, bits, a_row ? m * lda + k : k * lda + m, encode(a, x[m][k]));
        }
        for (unsigned n = 0; n < s.n; n++) {
            y[k][n] = b == PTX_B1 ? (int)fake_below(2) : low_b + (int)fake_below(5);
            put(B_AT, bits, b_row ? k * ldb + n : n * ldb + k, encode(b, y[k][n]));
        }
    }
    for (unsigned m = 0; m < s.m; m++) {
        for (unsigned n = 0; n < s.n; n++) {
            z[m][n] = (int)fake_below(200) - 100;
            put(C_AT, ptx_type_bits(c), c_row ? m * ldc + n : n * ldc + m, encode(c, z[m][n]));
        }
    }
    unsigned a_count = operand_registers(a, s.m, s.k), b_count = operand_registers(b, s.n, s.k);
    unsigned c_count = accumulator_registers(c, s), d_count = accumulator_registers(d, s);
    move(false, PTX_MOD_A, s, a, a_row, A, a_count, A_AT, pad ? lda : 0);
    move(false, PTX_MOD_B, s, b, b_row, B, b_count, B_AT, pad ? ldb : 0);
    move(false, PTX_MOD_C, s, c, c_row, C, c_count, C_AT, pad ? ldc : 0);
    struct fake_inst f;
    fake_op(&f, op);
    fake_mod(&f, s.mod);
    if (mod)
        fake_mod(&f, mod);
    fake_type(&f, d);
    if (op != PTX_OP_WMMA_MMA_F16) {
        fake_type(&f, a);
        fake_type(&f, b);
    }
    fake_type(&f, c);
    fake_vector(&f, D, d_count);
    fake_vector(&f, A, a_count);
    fake_vector(&f, B, b_count);
    fake_vector(&f, C, c_count);
    if (layouts & 8) { /* d over a and b: they are read before */
        for (unsigned i = 0; i < d_count; i++)
            f.list[i] = fake_slot(A + 2 * i);
    }
    assert_true(fake_run(&f));
    if (layouts & 8) {
        for (unsigned i = 0; i < d_count; i++)
            memcpy(fake_regs[D + i], fake_regs[A + 2 * i], 256);
    }
    move(true, PTX_MOD_D, s, d, d_row, D, d_count, D_AT, pad ? ldd : 0);
    for (unsigned m = 0; m < s.m; m++) {
        for (unsigned n = 0; n < s.n; n++) {
            int sum = z[m][n];
            for (unsigned k = 0; k < s.k; k++)
                sum += a != PTX_B1          ? x[m][k] * y[k][n]
                       : mod == PTX_MOD_AND ? x[m][k] & y[k][n]
                                            : x[m][k] ^ y[k][n];
            uint64_t got = get(D_AT, ptx_type_bits(d), d_row ? m * ldd + n : n * ldd + m);
            assert_int_equal(got, encode(d, sum));
        }
    }
}

static const struct shape s16 = {PTX_MOD_M16N16K16, 16, 16, 16},
                          s8n32 = {PTX_MOD_M8N32K16, 8, 32, 16},
                          s32n8 = {PTX_MOD_M32N8K16, 32, 8, 16},
                          s4bit = {PTX_MOD_M8N8K32, 8, 8, 32},
                          s1bit = {PTX_MOD_M8N8K128, 8, 8, 128},
                          stf32 = {PTX_MOD_M16N16K8, 16, 16, 8}, sf64 = {PTX_MOD_M8N8K4, 8, 8, 4};

static void products_of_small_integers(void **state)
{
    const struct shape k16[] = {s16, s8n32, s32n8};
    for (unsigned layouts = 0; layouts < 32; layouts++) {
        for (unsigned i = 0; i < 3; i++) {
            for (unsigned types = 0; types < 4; types++) {
                check(PTX_OP_WMMA_MMA_F16, k16[i], PTX_F16, PTX_F16, types & 1 ? PTX_F16 : PTX_F32,
                      types & 2 ? PTX_F16 : PTX_F32, layouts, 0);
                check(PTX_OP_WMMA_MMA_INT, k16[i], types & 1 ? PTX_S8 : PTX_U8,
                      types & 1 ? PTX_S8 : PTX_U8, PTX_S32, PTX_S32, layouts,
                      types & 2 ? PTX_MOD_SATFINITE : 0);
            }
            check(PTX_OP_WMMA_MMA_BF16, k16[i], PTX_BF16, PTX_BF16, PTX_F32, PTX_F32, layouts, 0);
        }
        check(PTX_OP_WMMA_MMA_TF32, stf32, PTX_TF32, PTX_TF32, PTX_F32, PTX_F32, layouts, 0);
        check(PTX_OP_WMMA_MMA_F64, sf64, PTX_F64, PTX_F64, PTX_F64, PTX_F64, layouts, 0);
        check(PTX_OP_WMMA_MMA_INT, s4bit, PTX_S4, PTX_S4, PTX_S32, PTX_S32, layouts, 0);
        check(PTX_OP_WMMA_MMA_INT, s4bit, PTX_U4, PTX_U4, PTX_S32, PTX_S32, layouts, 0);
        check(PTX_OP_WMMA_MMA_BIT, s1bit, PTX_B1, PTX_B1, PTX_S32, PTX_S32, layouts, PTX_MOD_XOR);
        check(PTX_OP_WMMA_MMA_BIT, s1bit, PTX_B1, PTX_B1, PTX_S32, PTX_S32, layouts, PTX_MOD_AND);
    }
}

/* As wmma_extension has measured them on sm_80. */
static void places_in_16x16_fragments(void **state)
{
    for (unsigned i = 0; i < 256; i++) /* element (row, column) holds 16 * row + column */
        put(A_AT, 16, i, i), put(C_AT, 32, i, i);
    for (unsigned col = 0; col < 2; col++) {
        move(false, PTX_MOD_A, s16, PTX_F16, !col, A, 8, A_AT, 16);
        move(false, PTX_MOD_B, s16, PTX_F16, !col, B, 8, A_AT, 16);
        move(false, PTX_MOD_C, s16, PTX_F32, !col, C, 8, C_AT, 16);
        for (unsigned lane = 0; lane < 32; lane++) {
            for (unsigned x = 0; x < 16; x++) {
                unsigned i = lane / 4 + (x & 2) * 4, j = (lane & 3) * 2 + (x & 1) + (x & 4) * 2;
                unsigned a = (fake_u32(A + x / 2)[lane] >> (x % 2 * 16)) & 0xffff;
                assert_int_equal(a, col ? 16 * j + i : 16 * i + j);
                if (x < 8)
                    assert_int_equal(fake_u32(C + x)[lane], col ? 16 * j + i : 16 * i + j);
                i = (lane & 3) * 2 + (x & 1) + (x & 2) * 4, j = lane / 4 + (x & 4) * 2;
                unsigned b = (fake_u32(B + x / 2)[lane] >> (x % 2 * 16)) & 0xffff;
                assert_int_equal(b, col ? 16 * j + i : 16 * i + j);
            }
        }
    }
}

/* Each element of D is as one mma.sync would give it. */
static void sums_follow_the_model(void **state)
{
    const struct shape shapes[] = {s16, s8n32, s32n8};
    static const unsigned ccs[] = {75, 80, 90};
    for (unsigned i = 0; i < 9; i++) {
        struct shape s = shapes[i % 3];
        fake_gpu.cc_major = ccs[i / 3] / 10;
        fake_gpu.cc_minor = ccs[i / 3] % 10;
        uint32_t a[32][16], b[32][16], c[32][32];
        for (unsigned k = 0; k < 16; k++) {
            for (unsigned m = 0; m < s.m; m++)
                put(A_AT, 16, m * 16 + k,
                    a[m][k] = (fake_random() & 0x83ff) | fake_below(31) << 10);
            for (unsigned n = 0; n < s.n; n++)
                put(B_AT, 16, n * 16 + k,
                    b[n][k] = (fake_random() & 0x83ff) | fake_below(31) << 10);
        }
        for (unsigned m = 0; m < s.m; m++) {
            for (unsigned n = 0; n < s.n; n++)
                put(C_AT, 32, m * s.n + n,
                    c[m][n] = (fake_random() & 0x807fffff) | (110 + fake_below(40)) << 23);
        }
        move(false, PTX_MOD_A, s, PTX_F16, true, A, 8, A_AT, 0);
        move(false, PTX_MOD_B, s, PTX_F16, false, B, 8, B_AT, 0);
        move(false, PTX_MOD_C, s, PTX_F32, true, C, 8, C_AT, 0);
        struct fake_inst f;
        fake_op(&f, PTX_OP_WMMA_MMA_F16);
        fake_mod(&f, s.mod);
        fake_type(&f, PTX_F32);
        fake_type(&f, PTX_F32);
        fake_vector(&f, D, 8);
        fake_vector(&f, A, 8);
        fake_vector(&f, B, 8);
        fake_vector(&f, C, 8);
        assert_true(fake_run(&f));
        move(true, PTX_MOD_D, s, PTX_F32, true, D, 8, D_AT, 0);
        for (unsigned m = 0; m < s.m; m++) {
            for (unsigned n = 0; n < s.n; n++)
                assert_int_equal(
                    get(D_AT, 32, m * s.n + n),
                    ref_dot(ccs[i / 3], PTX_F16, PTX_F16, 16, a[m], b[n], c[m][n], false, false));
        }
    }
}

static void alignment(void **state)
{
    struct fake_inst f;
    fake_op(&f, PTX_OP_WMMA_LOAD);
    fake_mod(&f, PTX_MOD_A);
    fake_mod(&f, PTX_MOD_ROW);
    fake_mod(&f, PTX_MOD_M16N16K16);
    fake_type(&f, PTX_F16);
    fake_vector(&f, A, 8);
    fake_address(&f, P, 64);
    for (unsigned lane = 0; lane < 32; lane++)
        fake_u64(P)[lane] = FAKE_BASE + 2;
    assert_false(fake_run(&f)); /* lanes read 4 bytes at once */
    assert_int_equal(fake_fault, SIMT_FAULT_MISALIGNED);
    f.in.imm = 2;
    assert_true(fake_run(&f));
    f.in.imm = FAKE_MEMORY - 100;
    assert_false(fake_run(&f));
    assert_int_equal(fake_fault, SIMT_FAULT_MISALIGNED);
    f.in.imm = FAKE_MEMORY - 98;
    assert_false(fake_run(&f));
    assert_int_equal(fake_fault, SIMT_FAULT_ILLEGAL_ADDRESS);
}

static void floats_may_saturate(void **state)
{
    struct fake_inst f;
    fake_op(&f, PTX_OP_WMMA_MMA_F16);
    fake_mod(&f, PTX_MOD_M16N16K16);
    fake_mod(&f, PTX_MOD_SATFINITE);
    fake_type(&f, PTX_F32);
    fake_type(&f, PTX_F32);
    fake_vector(&f, D, 8);
    fake_vector(&f, A, 8);
    fake_vector(&f, B, 8);
    fake_vector(&f, C, 8);
    memset(fake_regs, 0, sizeof(fake_regs));
    fake_u32(C)[0] = 0x7f800000;
    fake_u32(C)[1] = 0xff800000;
    fake_u32(C)[2] = 0x7fc00000;
    assert_true(fake_run(&f));
    assert_int_equal(fake_u32(D)[0], 0x7f7fffff);
    assert_int_equal(fake_u32(D)[1], 0xff7fffff);
    assert_int_equal(fake_u32(D)[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_small_integers), cmocka_unit_test(places_in_16x16_fragments),
        cmocka_unit_test(sums_follow_the_model),      cmocka_unit_test(alignment),
        cmocka_unit_test(floats_may_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
