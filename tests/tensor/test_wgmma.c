/*
 * test_wgmma.c: warpgroup products and sparse products against reference.h.
 * Every type, A from registers and from memory, both major orders, all swizzles with and without a
 * base offset, negated factors, D left out, random metadata; on each warp of a warpgroup and in
 * each instruction set. Where a number lies in memory is worked out here from the layout's picture:
 * atoms of 8 rows, whose 16-byte pieces are exchanged within a row.
 */
#define FAKE_REGISTERS 160
#define FAKE_MEMORY (96 * 1024)
#include "fake_warp.h"
#include "random_float.h"
#include "reference.h"

#include <cmocka.h>

enum { D = 0, A = 128, B_DESCRIPTOR = 132, A_DESCRIPTOR, SCALE_D, METADATA }; /* registers */

struct kind {
    enum ptx_op op;
    const char *text;
    enum ptx_type d, a, b;
    unsigned k, step; /* step: of N */
};

#define F8_KINDS(op, k, d)                                                                         \
    {op, "." #d ".e4m3.e4m3", d, PTX_E4M3, PTX_E4M3, k, 8},                                        \
        {op, ".e4m3.e5m2", d, PTX_E4M3, PTX_E5M2, k, 8},                                           \
        {op, ".e5m2.e4m3", d, PTX_E5M2, PTX_E4M3, k, 8},                                           \
    {                                                                                              \
        op, ".e5m2.e5m2", d, PTX_E5M2, PTX_E5M2, k, 8                                              \
    }
#define INT_KINDS(op, k)                                                                           \
    {op, ".s8.s8", PTX_S32, PTX_S8, PTX_S8, k, 16},                                                \
        {op, ".s8.u8", PTX_S32, PTX_S8, PTX_U8, k, 16},                                            \
        {op, ".u8.s8", PTX_S32, PTX_U8, PTX_S8, k, 16},                                            \
    {                                                                                              \
        op, ".u8.u8", PTX_S32, PTX_U8, PTX_U8, k, 16                                               \
    }

static const struct kind kinds[] = {
    {PTX_OP_WGMMA_F16, ".f32.f16.f16", PTX_F32, PTX_F16, PTX_F16, 16, 8},
    {PTX_OP_WGMMA_F16, ".f16.f16.f16", PTX_F16, PTX_F16, PTX_F16, 16, 8},
    {PTX_OP_WGMMA_BF16, ".f32.bf16.bf16", PTX_F32, PTX_BF16, PTX_BF16, 16, 8},
    {PTX_OP_WGMMA_TF32, ".f32.tf32.tf32", PTX_F32, PTX_TF32, PTX_TF32, 8, 8},
    F8_KINDS(PTX_OP_WGMMA_F8, 32, PTX_F32),
    F8_KINDS(PTX_OP_WGMMA_F8, 32, PTX_F16),
    INT_KINDS(PTX_OP_WGMMA_INT, 32),
    {PTX_OP_WGMMA_BIT, ".s32.b1.b1.and.popc", PTX_S32, PTX_B1, PTX_B1, 256, 16},
    {PTX_OP_WGMMA_SP_F16, ".f32.f16.f16", PTX_F32, PTX_F16, PTX_F16, 32, 8},
    {PTX_OP_WGMMA_SP_F16, ".f16.f16.f16", PTX_F16, PTX_F16, PTX_F16, 32, 8},
    {PTX_OP_WGMMA_SP_BF16, ".f32.bf16.bf16", PTX_F32, PTX_BF16, PTX_BF16, 32, 8},
    {PTX_OP_WGMMA_SP_TF32, ".f32.tf32.tf32", PTX_F32, PTX_TF32, PTX_TF32, 16, 8},
    F8_KINDS(PTX_OP_WGMMA_SP_F8, 64, PTX_F32),
    F8_KINDS(PTX_OP_WGMMA_SP_F8, 64, PTX_F16),
    INT_KINDS(PTX_OP_WGMMA_SP_INT, 64),
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The case at hand. */
static struct {
    const struct kind *kind;
    unsigned n, bits;
    bool sparse, in_registers, negate_a, negate_b, transpose_a, transpose_b, add, saturate;
    unsigned selector;
} now;
static uint32_t a_bits[64][256], b_bits[256][256]; /* [row][k] with zeros; [column][k] */
static uint32_t packed[64][256];                   /* [row][k] without zeros */
static uint32_t d_bits[16][256];                   /* of the warp's rows */

/* Memory ----------------------------------------------------------------------------------------
 */

struct layout {
    unsigned width;         /* bytes of an atom's row; 16: no swizzle */
    unsigned start, base;   /* of the pattern; the descriptor's base offset */
    unsigned across, along; /* bytes from an atom to the next: across lines, and along k */
    bool by_line;
    uint64_t descriptor;
};

/* lines and bytes of a line that must find room. */
static struct layout random_layout(unsigned lines, unsigned bytes, unsigned start, bool by_line)
{
    struct layout l = {.width = 16u << fake_below(4), .start = start, .by_line = by_line};
    bool swizzled = l.width > 16, roomy = lines <= 64;
    unsigned pattern = 8 * l.width, gap = roomy ? 16 * fake_below(3) : 0;
    if (swizzled) { /* a pattern may begin at any multiple of 128; gaps keep its phase */
        l.base = fake_below(3) ? 0 : fake_below(8);
        l.start += 128 * l.base;
        gap = roomy ? pattern * fake_below(2) : 0;
    }
    unsigned along_k = by_line ? bytes / l.width : bytes / 2 / 8; /* atoms */
    l.along = pattern + gap;
    l.across = l.along * (along_k ? along_k : 1) + gap;
    /* Which offset is which: by line, leading is along k. Across lines, it is across atoms of
     * lines, but without a swizzle the other way round. */
    unsigned leading = by_line ? l.along : swizzled ? l.across : l.along;
    unsigned stride = by_line ? l.across : swizzled ? l.along : l.across;
    uint64_t mode = l.width == 16 ? 0 : l.width == 32 ? 3 : l.width == 64 ? 2 : 1;
    l.descriptor = (uint64_t)(l.start >> 4) | (uint64_t)(leading >> 4) << 16 |
                   (uint64_t)(stride >> 4) << 32 | (uint64_t)l.base << 49 | mode << 62;
    assert_true((leading >> 4) < 16384 && (stride >> 4) < 16384);
    return l;
}

/* Address of the byte at `byte` of a line. */
static unsigned address_of(const struct layout *l, unsigned line, unsigned byte)
{
    unsigned row, column, atom; /* in an atom: row of width bytes, and column in bytes */
    if (l->by_line) {
        row = line % 8;
        column = byte % l->width;
        atom = line / 8 * l->across + byte / l->width * l->along;
    } else { /* a row of the atom is one k */
        unsigned k = byte / 2, at = 2 * line + byte % 2;
        row = k % 8;
        column = at % l->width;
        atom = at / l->width * l->across + k / 8 * l->along;
    }
    unsigned offset = atom + row * l->width + column; /* from where the pattern begins */
    unsigned piece = offset / 16, count = l->width / 16;
    piece ^= piece / 8 % count;
    return l->start + piece * 16 + offset % 16;
}

static void write_matrix(const struct layout *l, unsigned lines, unsigned count,
                         const uint32_t (*values)[256])
{
    for (unsigned line = 0; line < lines; line++)
        for (unsigned k = 0; k < count; k++) {
            unsigned bit = k * now.bits;
            uint8_t *to = fake_space + address_of(l, line, bit / 8);
            assert_true(to >= fake_memory && to + 4 <= fake_memory + FAKE_MEMORY);
            if (now.bits >= 8)
                memcpy(to, &values[line][k], now.bits / 8);
            else
                *to = (uint8_t)((*to & ~(1u << bit % 8)) | values[line][k] << bit % 8);
        }
}

/* Operands --------------------------------------------------------------------------------------
 */

static uint32_t random_number(enum ptx_type type, int how)
{
    if (type == PTX_B1)
        return fake_below(2);
    if (type == PTX_S8 || type == PTX_U8)
        return how == 5 ? 127 + fake_below(2) : fake_random() & 255;
    if (type == PTX_S32)
        return how == 5 ? 0x7fffff00 + fake_below(512) : fake_random();
    return random_float(type, how);
}

/* Which two of four units of 16 or 8 bits row has stored, and who holds that: see PTX's "Sparse
 * matrix storage". */
static void put_nibble(unsigned row, unsigned group, unsigned nibble)
{
    unsigned lane = row % 8 * 4, shift;
    if (now.bits >= 16) {
        lane += now.selector * 2 + group / 4;
        shift = (row % 16 >= 8 ? 16 : 0) + group % 4 * 4;
    } else {
        lane += group / 8 * 2 + (row % 16 >= 8);
        shift = group % 8 * 4;
    }
    fake_u32(METADATA)[lane] &= ~(15u << shift);
    fake_u32(METADATA)[lane] |= nibble << shift;
}

static void make_sparse(unsigned warp)
{
    static const unsigned nibbles[6] = {4, 8, 9, 12, 13, 14};
    for (unsigned lane = 0; lane < 32; lane++)
        fake_u32(METADATA)[lane] = fake_random(); /* of those that are not asked */
    memset(a_bits, 0, sizeof(a_bits));
    bool pairs = now.bits == 32;
    for (unsigned row = 0; row < 64; row++) {
        unsigned stored = now.kind->k / 2, per = pairs ? 1 : 2;
        for (unsigned i = 0; i < stored; i += per) {
            unsigned nibble = pairs ? fake_below(2) ? 4 : 14 : nibbles[fake_below(6)];
            unsigned first = nibble & 3, second = nibble >> 2;
            if (pairs) {
                a_bits[row][2 * i + first / 2] = packed[row][i];
            } else {
                a_bits[row][2 * i + first] = packed[row][i];
                a_bits[row][2 * i + second] = packed[row][i + 1];
            }
            if (row / 16 == warp)
                put_nibble(row, i / per, nibble);
        }
    }
}

static void put_a_registers(unsigned warp)
{
    unsigned count = now.kind->k / (now.sparse ? 2 : 1); /* that are stored */
    for (unsigned row = 0; row < 16; row++)
        for (unsigned k = 0; k < count; k++) {
            unsigned byte = k * now.bits / 8, reg = byte / 16 * 2 + row / 8;
            uint8_t *to = fake_regs[A + reg] + row % 8 * 16 + byte % 16;
            uint32_t value = (now.sparse ? packed : a_bits)[16 * warp + row][k];
            if (now.bits >= 8)
                memcpy(to, &value, now.bits / 8);
            else
                *to = (uint8_t)((*to & ~(1u << k % 8)) | value << k % 8);
        }
}

/* Where D of the warp's row and a column is: "row = lane / 4, + 8 for the upper half of each four;
 * column = 8 * (i / 4) + lane % 4 * 2 + (i & 1)". */
static uint8_t *place_of_d(unsigned row, unsigned column)
{
    unsigned lane = row % 8 * 4 + column % 8 / 2, i = column / 8 * 4 + row / 8 * 2 + column % 2;
    if (now.kind->d == PTX_F16)
        return fake_regs[D + i / 2] + 4 * lane + 2 * (i % 2);
    return fake_regs[D + i] + 4 * lane;
}

static void add_operand(struct fake_inst *f, enum ptx_operand_kind kind, int64_t imm)
{
    struct ptx_operand *operand = &f->ptx_operands[f->ptx.operand_count++];
    operand->kind = kind;
    operand->imm = imm;
}

static void build(struct fake_inst *f, char *text, size_t size)
{
    const struct kind *kind = now.kind;
    unsigned d_count = kind->d == PTX_F16 ? now.n / 4 : now.n / 2;
    fake_op(f, kind->op);
    snprintf(text, size, "wgmma.mma_async%s.sync.aligned.m64n%uk%u%s", now.sparse ? ".sp" : "",
             now.n, kind->k, kind->text);
    f->ptx.text = text;
    fake_type(f, kind->d);
    fake_type(f, kind->a);
    fake_type(f, kind->b);
    if (now.saturate)
        fake_mod(f, PTX_MOD_SATFINITE);
    fake_vector(f, D, d_count);
    if (now.in_registers) {
        fake_vector(f, A, 4);
    } else {
        f->list[f->listed++] = fake_slot(A_DESCRIPTOR);
        add_operand(f, PTX_OPERAND_REG, 0);
    }
    add_operand(f, PTX_OPERAND_REG, 0);
    f->in.a = fake_slot(B_DESCRIPTOR);
    if (now.sparse) {
        add_operand(f, PTX_OPERAND_REG, 0);
        add_operand(f, PTX_OPERAND_IMM, now.selector);
        f->in.b = fake_slot(METADATA);
        f->in.e = fake_slot(SCALE_D);
    } else {
        f->in.b = fake_slot(SCALE_D);
    }
    add_operand(f, PTX_OPERAND_REG, 0);
    if (kind->d == PTX_S32)
        return;
    add_operand(f, PTX_OPERAND_IMM, now.negate_a ? -1 : 1);
    add_operand(f, PTX_OPERAND_IMM, now.negate_b ? -1 : 1);
    if (kind->a != PTX_F16 && kind->a != PTX_BF16)
        return;
    if (!now.in_registers)
        add_operand(f, PTX_OPERAND_IMM, now.transpose_a);
    add_operand(f, PTX_OPERAND_IMM, now.transpose_b);
}

/* Results ---------------------------------------------------------------------------------------
 */

static uint32_t negated(uint32_t x, bool negate)
{
    return negate ? x ^ 1u << (now.bits - 1) : x;
}

static int64_t whole_number(enum ptx_type type, uint32_t x)
{
    return type == PTX_S8 ? (int8_t)x : (int64_t)x;
}

static uint32_t expected(unsigned warp, unsigned row, unsigned column)
{
    const struct kind *kind = now.kind;
    uint32_t c = now.add ? d_bits[row][column] : 0;
    const uint32_t *a = a_bits[16 * warp + row], *b = b_bits[column];
    if (kind->d == PTX_S32) {
        int64_t sum = (int32_t)c;
        for (unsigned k = 0; k < kind->k; k++)
            sum += whole_number(kind->a, a[k]) * whole_number(kind->b, b[k]);
        if (now.saturate)
            sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        return (uint32_t)sum;
    }
    uint32_t x[64], y[64];
    for (unsigned k = 0; k < kind->k; k++) {
        x[k] = negated(a[k], now.negate_a);
        y[k] = negated(b[k], now.negate_b);
        if (now.sparse && !(a[k] & ~(1u << (now.bits - 1)))) { /* a zero that is not stored */
            x[k] = 0;
            struct ref_number n = ref_decode(kind->b, y[k], false);
            y[k] = n.nan || n.infinite ? 0 : y[k];
        }
    }
    bool f8 = now.bits == 8, half = kind->d == PTX_F16;
    struct ref_model model = {kind->k, f8 ? 13 : 25, f8 ? 13 : 23, false, false};
    return ref_chunks(model, kind->a, kind->b, kind->k, x, y, c, half, half);
}

static void check_results(unsigned warp, int how)
{
    for (unsigned row = 0; row < 16; row++)
        for (unsigned column = 0; column < now.n; column++) {
            uint32_t got = 0, right = expected(warp, row, column);
            memcpy(&got, place_of_d(row, column), now.kind->d == PTX_F16 ? 2 : 4);
            if (got == right)
                continue;
            print_error("%s n %u data %d warp %u row %u column %u: %08x, not %08x\n",
                        now.kind->text, now.n, how, warp, row, column, got, right);
            print_error("sparse %d registers %d transposed %d %d negated %d %d add %d\n",
                        now.sparse, now.in_registers, now.transpose_a, now.transpose_b,
                        now.negate_a, now.negate_b, now.add);
            fail();
        }
}

static void check_one(const struct kind *kind, int how)
{
    bool is_16 = kind->a == PTX_F16 || kind->a == PTX_BF16, whole = kind->d == PTX_S32;
    now.kind = kind;
    now.bits = ptx_type_bits(kind->a);
    now.n =
        fake_below(4) ? 8 * (1 + fake_below(4)) : kind->step * (1 + fake_below(256 / kind->step));
    now.sparse = ptx_is_sparse_wgmma(kind->op);
    now.in_registers = fake_below(2);
    now.negate_a = !whole && fake_below(3) == 0;
    now.negate_b = !whole && fake_below(3) == 0;
    now.transpose_a = is_16 && !now.in_registers && fake_below(2);
    now.transpose_b = is_16 && fake_below(2);
    now.add = fake_below(4);
    now.saturate = kind->a != PTX_B1 && whole && fake_below(2);
    now.selector = now.bits >= 16 ? fake_below(2) : 0;
    unsigned warp = fake_below(4), stored = kind->k / (now.sparse ? 2 : 1);
    fake_warp.index = 4 * fake_below(3) + warp;
    fake_block.shared_bytes = FAKE_BASE + FAKE_MEMORY;
    for (unsigned k = 0; k < kind->k; k++) {
        for (unsigned row = 0; row < 64; row++) {
            uint32_t value = random_number(kind->a, how);
            uint32_t sign = whole ? 0 : 1u << (now.bits - 1);
            if (now.sparse && !(value & ~sign)) /* what is stored can be told from what is not */
                value = now.bits == 8 ? 1 : 1u << 13;
            a_bits[row][k] = packed[row][k] = value;
        }
        for (unsigned n = 0; n < now.n; n++)
            b_bits[n][k] = random_number(kind->b, how);
    }
    if (now.sparse)
        make_sparse(warp);
    memset(fake_memory, 0, FAKE_MEMORY);
    struct layout a = random_layout(64, stored * now.bits / 8, FAKE_BASE, !now.transpose_a);
    struct layout b =
        random_layout(now.n, kind->k * now.bits / 8, FAKE_BASE + 32 * 1024, !now.transpose_b);
    if (!now.in_registers)
        write_matrix(&a, 64, stored, (const uint32_t(*)[256])packed);
    write_matrix(&b, now.n, kind->k, (const uint32_t(*)[256])b_bits);
    put_a_registers(warp);
    for (unsigned lane = 0; lane < 32; lane++) {
        fake_u64(A_DESCRIPTOR)[lane] = a.descriptor;
        fake_u64(B_DESCRIPTOR)[lane] = b.descriptor;
    }
    *fake_u32(SCALE_D) = now.add ? SIMT_ALL : 0;
    for (unsigned row = 0; row < 16; row++)
        for (unsigned n = 0; n < now.n; n++) {
            d_bits[row][n] = random_number(kind->d, how == 3 && fake_below(2) ? 0 : how);
            memcpy(place_of_d(row, n), &d_bits[row][n], kind->d == PTX_F16 ? 2 : 4);
        }
    struct fake_inst f;
    char text[96];
    build(&f, text, sizeof(text));
    assert_true(fake_run(&f));
    check_results(warp, how);
}

static void products_follow_the_model(void **state)
{
    for (unsigned i = 0; i < KINDS; i++)
        for (int how = 0; how < RANDOM_KINDS; how++)
            for (int round = 0; round < 12; round++)
                check_one(&kinds[i], how);
}

/* Every N that there is. */
static void all_widths(void **state)
{
    for (unsigned n = 8; n <= 256; n += 8)
        for (int round = 0; round < 2; round++) {
            struct kind kind = kinds[round];
            kind.step = n;
            check_one(&kind, 1);
        }
}

static void faults_are_told(void **state)
{
    struct fake_inst f;
    char text[96];
    check_one(&kinds[0], 1);
    build(&f, text, sizeof(text));
    fake_u64(B_DESCRIPTOR)[7]++;
    assert_false(fake_run(&f));
    assert_int_equal(fake_fault, SIMT_FAULT_ILLEGAL_INSTRUCTION);
    assert_int_equal(fake_fault_lane, 7);
    fake_u64(B_DESCRIPTOR)[7]--;
    *fake_u32(SCALE_D) = 0xffff;
    assert_false(fake_run(&f));
    assert_int_equal(fake_fault, SIMT_FAULT_ILLEGAL_INSTRUCTION);
    *fake_u32(SCALE_D) = SIMT_ALL;
    fake_block.shared_bytes = FAKE_BASE + 32 * 1024; /* where B begins */
    assert_false(fake_run(&f));
    assert_int_equal(fake_fault, SIMT_FAULT_ILLEGAL_ADDRESS);
    fake_block.shared_bytes = FAKE_BASE + FAKE_MEMORY;
    assert_true(fake_run(&f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_follow_the_model),
        cmocka_unit_test(all_widths),
        cmocka_unit_test(faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
