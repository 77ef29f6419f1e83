/*
 * test_matrix.c: ldmatrix, stmatrix, movmatrix: where each of 8 x 8 elements goes, with and without
 * .trans, for one, two and four matrices; and faults.
 */
#include "fake_warp.h"

#include <cmocka.h>

enum { R = 0, P = 8 };

static void start(void)
{
    for (unsigned i = 0; i < FAKE_MEMORY; i++)
        fake_memory[i] = (uint8_t)fake_random();
    memset(fake_regs, 0x55, sizeof(fake_regs));
    /* Rows lie apart, in no order. */
    for (unsigned lane = 0; lane < 32; lane++)
        fake_u32(P)[lane] = FAKE_BASE + 16 * ((lane * 37 + 5) % 128);
}

static uint16_t memory_element(unsigned matrix, unsigned row, unsigned col)
{
    uint16_t element;
    memcpy(&element, fake_memory + (fake_u32(P)[8 * matrix + row] - FAKE_BASE) + 2 * col, 2);
    return element;
}

/* "Each thread holds row lane / 4, elements 2 * (lane % 4) and the one after it." */
static uint16_t register_element(unsigned reg, unsigned row, unsigned col)
{
    return (uint16_t)(fake_u32(reg)[4 * row + col / 2] >> (col % 2 * 16));
}

static void build(struct fake_inst *f, enum ptx_op op, unsigned count, bool trans)
{
    fake_op(f, op);
    fake_mod(f, PTX_MOD_M8N8);
    fake_mod(f, count == 4 ? PTX_MOD_X4 : count == 2 ? PTX_MOD_X2 : PTX_MOD_X1);
    fake_mod(f, PTX_MOD_SHARED);
    if (trans)
        fake_mod(f, PTX_MOD_TRANS);
    if (op == PTX_OP_LDMATRIX) {
        fake_vector(f, R, count);
        fake_address(f, P, 32);
    } else {
        fake_address(f, P, 32);
        fake_vector(f, R, count);
    }
}

static void check_loads_and_stores(void)
{
    for (unsigned count = 1; count <= 4; count *= 2) {
        for (unsigned trans = 0; trans < 2; trans++) {
            for (unsigned store = 0; store < 2; store++) {
                struct fake_inst f;
                start();
                build(&f, store ? PTX_OP_STMATRIX : PTX_OP_LDMATRIX, count, trans);
                for (unsigned r = 0; store && r < count; r++) {
                    for (unsigned lane = 0; lane < 32; lane++)
                        fake_u32(R + r)[lane] = fake_random();
                }
                assert_true(fake_run(&f));
                for (unsigned i = 0; i < count * 64; i++) {
                    unsigned row = i / 8 % 8, col = i % 8;
                    uint16_t in_register =
                        register_element(R + i / 64, trans ? col : row, trans ? row : col);
                    assert_int_equal(in_register, memory_element(i / 64, row, col));
                }
            }
        }
    }
}

static void loads_and_stores(void **state)
{
    check_loads_and_stores();
    fake_block.shared_bytes = sizeof(fake_space);
    check_loads_and_stores();
    fake_block.shared_bytes = 0;
}

static void address_register_may_be_loaded(void **state)
{
    struct fake_inst f;
    start();
    build(&f, PTX_OP_LDMATRIX, 4, false);
    uint16_t expected = memory_element(3, 7, 7);
    f.list[0] = fake_slot(P);
    assert_true(fake_run(&f));
    assert_int_equal(register_element(R + 3, 7, 7), expected);
}

static void wide_addresses_and_offsets(void **state)
{
    struct fake_inst f;
    start();
    build(&f, PTX_OP_LDMATRIX, 1, false);
    f.in.flags = 0; /* 64 bits */
    f.in.imm = -32;
    for (unsigned lane = 0; lane < 32; lane++)
        fake_u64(P)[lane] = FAKE_BASE + 32 + 16 * lane;
    assert_true(fake_run(&f));
    assert_memory_equal(fake_regs[R], fake_memory, 128);
}

static void faults(void **state)
{
    struct fake_inst f;
    start();
    build(&f, PTX_OP_LDMATRIX, 2, false);
    fake_u32(P)[11] += 8;
    assert_false(fake_run(&f));
    assert_int_equal(fake_fault, SIMT_FAULT_MISALIGNED);
    assert_int_equal(fake_fault_lane, 11);
    fake_u32(P)[11] = 16; /* lanes above 15 are not looked at */
    fake_u32(P)[16] = 1;
    assert_false(fake_run(&f));
    assert_int_equal(fake_fault, SIMT_FAULT_ILLEGAL_ADDRESS);
}

static void transposition(void **state)
{
    struct fake_inst f;
    fake_op(&f, PTX_OP_MOVMATRIX);
    f.in.d = fake_slot(R);
    f.in.a = fake_slot(R + 1);
    for (unsigned lane = 0; lane < 32; lane++)
        fake_u32(R + 1)[lane] = fake_random();
    assert_true(fake_run(&f));
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(register_element(R, i % 8, i / 8), register_element(R + 1, i / 8, i % 8));
    f.in.a = fake_slot(R); /* in place, back again */
    assert_true(fake_run(&f));
    assert_memory_equal(fake_regs[R], fake_regs[R + 1], 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores),
        cmocka_unit_test(address_register_may_be_loaded),
        cmocka_unit_test(wide_addresses_and_offsets),
        cmocka_unit_test(faults),
        cmocka_unit_test(transposition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
