/*
 * test_quad_pair.c: mma.sync.m8n8k4 on f16, four products of four quad pairs at once, in all
 * layouts and accumulator types, placed by the PTX ISA's formulas ("Matrix Fragments for
 * mma.m8n8k4 with .f16 floating point type").
 */
#include "fake_warp.h"
#include "reference.h"

#include <cmocka.h>

enum { D = 0, A = 8, B = 10, C = 16 };

static uint32_t random_half(int how)
{
    uint32_t x = fake_random() & 0xffff;
    return how ? x : (x & 0x83ff) | (13 + fake_below(4)) << 10;
}

static uint16_t half_in(unsigned first, unsigned lane, unsigned i)
{
    return (uint16_t)(fake_u32(first + i / 2)[lane] >> (i % 2 * 16));
}

static void check(bool a_col, bool b_row, bool c_half, bool d_half, int how)
{
    struct fake_inst f;
    fake_op(&f, PTX_OP_MMA_F16);
    fake_mod(&f, PTX_MOD_M8N8K4);
    fake_mod(&f, PTX_MOD_ROW);
    fake_mod(&f, PTX_MOD_COL);
    f.ptx.slots[3] = a_col ? PTX_MOD_COL : PTX_MOD_ROW;
    f.ptx.slots[4] = b_row ? PTX_MOD_ROW : PTX_MOD_COL;
    fake_type(&f, d_half ? PTX_F16 : PTX_F32);
    fake_type(&f, PTX_F16);
    fake_type(&f, PTX_F16);
    fake_type(&f, c_half ? PTX_F16 : PTX_F32);
    fake_vector(&f, D, d_half ? 4 : 8);
    fake_vector(&f, A, 2);
    fake_vector(&f, B, 2);
    fake_vector(&f, C, c_half ? 4 : 8);
    for (unsigned r = 0; r < 32; r++) {
        for (unsigned lane = 0; lane < 32; lane++) {
            fake_u32(r)[lane] = random_half(how) | random_half(how) << 16;
            if (r >= C && !c_half && how == 0)
                fake_u32(r)[lane] = (fake_random() & 0x807fffff) | (124 + fake_below(6)) << 23;
        }
    }
    uint32_t a[4][8][4], b[4][8][4], c[4][8][8]; /* [quad pair][row][k], [..][column][k] */
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned q = lane % 16 / 4, high = lane < 16 ? 0 : 4;
        for (unsigned i = 0; i < 4; i++) {
            a[q][a_col ? i % 4 + high : lane % 4 + high][a_col ? lane % 4 : i] =
                half_in(A, lane, i);
            b[q][b_row ? i + high : lane % 4 + high][b_row ? lane % 4 : i] = half_in(B, lane, i);
        }
        for (unsigned i = 0; i < 8; i++) {
            if (c_half)
                c[q][lane % 4 + high][i] = half_in(C, lane, i);
            else
                c[q][(lane & 1) + (i & 2) + high][(i & 4) + (lane & 2) + (i & 1)] =
                    fake_u32(C + i)[lane];
        }
    }
    assert_true(fake_run(&f));
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned q = lane % 16 / 4, high = lane < 16 ? 0 : 4;
        for (unsigned i = 0; i < 8; i++) {
            unsigned m = d_half ? lane % 4 + high : (lane & 1) + (i & 2) + high;
            unsigned n = d_half ? i : (i & 4) + (lane & 2) + (i & 1);
            unsigned cc = 10 * fake_gpu.cc_major + fake_gpu.cc_minor;
            uint32_t expected =
                ref_dot(cc, PTX_F16, PTX_F16, 4, a[q][m], b[q][n], c[q][m][n], c_half, d_half);
            assert_int_equal(d_half ? half_in(D, lane, i) : fake_u32(D + i)[lane], expected);
        }
    }
}

static void all_layouts_and_types(void **state)
{
    static const unsigned ccs[] = {70, 75, 90};
    for (unsigned i = 0; i < 3; i++) {
        fake_gpu.cc_major = ccs[i] / 10;
        fake_gpu.cc_minor = ccs[i] % 10;
        for (unsigned bits = 0; bits < 32; bits++) {
            for (int round = 0; round < 10; round++)
                check(bits & 1, bits >> 1 & 1, bits >> 2 & 1, bits >> 3 & 1, (int)(bits >> 4));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_layouts_and_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
