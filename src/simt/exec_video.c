/*
 * exec_video.c: video instructions: 32-bit operations on sub-words, and SIMD operations on two
 * halves or four bytes of a word.
 * They are rare, so that one body serves a whole family and looks at the instruction as it was
 * parsed; the steps are those of PTX's pseudo code: select and extend, operate, clamp, then merge
 * into c or combine with c. GPUs have no such instructions any more; where what an H200 does in
 * their place differs from PTX's text, this follows the H200 ("GPUs" below), bit for bit.
 */
#include "simt/exec.h"

#define WORD_BITS 32

/* Sub-words ------------------------------------------------------------------------------------ */

struct part {
    uint8_t shift, bits;
};

static struct part part_of(enum ptx_selector selector)
{
    switch (selector) {
    case PTX_SELECT_B0:
    case PTX_SELECT_B1:
    case PTX_SELECT_B2:
    case PTX_SELECT_B3:
        return (struct part){(uint8_t)(8 * (selector - PTX_SELECT_B0)), 8};
    case PTX_SELECT_H0:
    case PTX_SELECT_H1:
        return (struct part){(uint8_t)(16 * (selector - PTX_SELECT_H0)), 16};
    default:
        return (struct part){0, WORD_BITS};
    }
}

static int64_t extend(uint32_t word, struct part part, bool is_signed)
{
    uint32_t up = word << (WORD_BITS - part.bits - part.shift);
    unsigned down = WORD_BITS - part.bits;
    return is_signed ? (int64_t)((int32_t)up >> down) : (int64_t)(up >> down);
}

static int64_t clamp(int64_t value, unsigned bits, bool is_signed)
{
    int64_t low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
    int64_t high = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    return value < low ? low : value > high ? high : value;
}

static bool compare(const struct ptx_inst *ptx, int64_t x, int64_t y)
{
    return ptx_has(ptx, PTX_MOD_EQ)   ? x == y
           : ptx_has(ptx, PTX_MOD_NE) ? x != y
           : ptx_has(ptx, PTX_MOD_LT) ? x < y
           : ptx_has(ptx, PTX_MOD_LE) ? x <= y
           : ptx_has(ptx, PTX_MOD_GT) ? x > y
                                      : x >= y;
}

static bool is_signed(enum ptx_type type)
{
    return ptx_type_kind(type) == PTX_KIND_SIGNED;
}

static int64_t absolute(int64_t x)
{
    return x < 0 ? -x : x;
}

#define SELECTED_LANES                                                                             \
    for (uint32_t mask = w->mask, i; mask && (i = (uint32_t)__builtin_ctz(mask), true);            \
         mask &= mask - 1)

/* One operation on a word or sub-word ------------------------------------------------------------
 */

/* What the two SIMD widths and the scalar form have in common. */
static int64_t arithmetic(const struct ptx_inst *ptx, int64_t x, int64_t y)
{
    switch (ptx->op) {
    case PTX_OP_VADD:
    case PTX_OP_VADD2:
    case PTX_OP_VADD4:
        return x + y;
    case PTX_OP_VSUB:
    case PTX_OP_VSUB2:
    case PTX_OP_VSUB4:
        return x - y;
    case PTX_OP_VAVRG2:
    case PTX_OP_VAVRG4:
        return x + y >= 0 ? (x + y + 1) >> 1 : (x + y) >> 1;
    case PTX_OP_VABSDIFF:
    case PTX_OP_VABSDIFF2:
    case PTX_OP_VABSDIFF4:
        return absolute(x - y);
    case PTX_OP_VMIN:
    case PTX_OP_VMIN2:
    case PTX_OP_VMIN4:
        return x < y ? x : y;
    case PTX_OP_VMAX:
    case PTX_OP_VMAX2:
    case PTX_OP_VMAX4:
        return x > y ? x : y;
    default:
        return compare(ptx, x, y);
    }
}

static int64_t shift(const struct ptx_inst *ptx, int64_t x, uint32_t count)
{
    count = ptx_has(ptx, PTX_MOD_WRAP) ? count & 31 : count > 32 ? 32 : count;
    return ptx->op == PTX_OP_VSHL ? (int64_t)((uint64_t)x << count) : x >> count;
}

/* .sat. To a whole unsigned word GPUs cut only what is negative; to a part of a word they take what
 * is negative for large. Of what was shifted they look at 34 bits, and clamp it to a word whatever
 * its destination. */
static int64_t saturate(int64_t value, struct part part, bool is_signed, bool is_shift)
{
    if (is_shift)
        return clamp((int64_t)((uint64_t)value << 30) >> 30, WORD_BITS, is_signed);
    if (part.bits == WORD_BITS)
        return is_signed ? clamp(value, WORD_BITS, true) : value < 0 ? 0 : value;
    int64_t high = (INT64_C(1) << (is_signed ? part.bits - 1 : part.bits)) - 1;
    return value < 0 || value > high ? high : value;
}

/* .add .min .max. With an unsigned c GPUs compare as if the value were unsigned too: what is
 * negative is larger than every c. */
static int64_t combine(const struct ptx_inst *ptx, int64_t value, uint32_t c, bool is_signed)
{
    bool is_min = ptx_has(ptx, PTX_MOD_MIN);
    if (ptx_has(ptx, PTX_MOD_ADD))
        return (int64_t)((uint64_t)value + (uint64_t)c);
    if (!is_min && !ptx_has(ptx, PTX_MOD_MAX))
        return value;
    bool smaller = is_signed ? value < (int32_t)c : (uint64_t)value < c;
    return smaller == is_min ? value : c;
}

/* Part of d; c gives the rest. GPUs take .h1 from the value's own upper half: they do not move the
 * lower half up. */
static uint32_t merge(uint32_t value, struct part part, uint32_t c)
{
    if (part.bits == WORD_BITS)
        return value;
    uint32_t field = ((1u << part.bits) - 1) << part.shift;
    bool is_h1 = part.bits == 16 && part.shift == 16;
    return ((is_h1 ? value : value << part.shift) & field) | (c & ~field);
}

/* vadd vsub vabsdiff vmin vmax vshl vshr vset; vset's c has a's type. */
SIMT_BODY(scalar)
{
    const struct ptx_inst *ptx = in->ptx;
    const struct ptx_operand *operands = ptx->operands;
    bool is_set = ptx->op == PTX_OP_VSET;
    bool is_shift = ptx->op == PTX_OP_VSHL || ptx->op == PTX_OP_VSHR;
    bool is_sum = ptx->op == PTX_OP_VADD || ptx->op == PTX_OP_VSUB;
    bool is_sat = ptx_has(ptx, PTX_MOD_SAT);
    bool to_word = is_sum || (is_shift && is_sat); /* before it meets c */
    bool d_signed = is_signed(ptx->types[0]);
    bool a_signed = is_signed(ptx->types[is_set ? 0 : 1]);
    bool b_signed = is_signed(ptx->types[is_set ? 1 : 2]);
    struct part d_part = part_of(operands[0].selector);
    struct part a_part = part_of(operands[1].selector), b_part = part_of(operands[2].selector);
    bool has_c = ptx->operand_count > 3;
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    const uint32_t *as = SIMT_SLOT(const uint32_t, in->a), *bs = SIMT_SLOT(const uint32_t, in->b);
    const uint32_t *cs = SIMT_SLOT(const uint32_t, has_c ? in->c : in->a);

    SELECTED_LANES
    {
        int64_t x = extend(as[i], a_part, a_signed), y = extend(bs[i], b_part, b_signed);
        int64_t value = is_shift ? shift(ptx, x, (uint32_t)y) : arithmetic(ptx, x, y);
        if (is_sat)
            value = saturate(value, d_part, d_signed, is_shift);
        if (to_word)
            value = (int32_t)value;
        d[i] = merge((uint32_t)combine(ptx, value, cs[i], d_signed), d_part, cs[i]);
    }
    return in + 1;
}

/* GPUs take every whole word for signed. The sum has 64 bits, and is shifted as an unsigned one if
 * the types and signs are all unsigned. */
SIMT_BODY(multiply_add)
{
    const struct ptx_inst *ptx = in->ptx;
    const struct ptx_operand *operands = ptx->operands;
    struct part a_part = part_of(operands[1].selector), b_part = part_of(operands[2].selector);
    bool a_signed = is_signed(ptx->types[1]), b_signed = is_signed(ptx->types[2]);
    bool product_negated = operands[1].negate != operands[2].negate;
    bool c_negated = operands[3].negate;
    bool any_signed = a_signed || b_signed || product_negated || c_negated;
    unsigned scale = ptx_has(ptx, PTX_MOD_SHR7) ? 7 : ptx_has(ptx, PTX_MOD_SHR15) ? 15 : 0;
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    const uint32_t *as = SIMT_SLOT(const uint32_t, in->a), *bs = SIMT_SLOT(const uint32_t, in->b);
    const uint32_t *cs = SIMT_SLOT(const uint32_t, in->c);

    SELECTED_LANES
    {
        int64_t product = extend(as[i], a_part, a_signed || a_part.bits == WORD_BITS) *
                          extend(bs[i], b_part, b_signed || b_part.bits == WORD_BITS);
        int64_t c = (int32_t)cs[i];
        int64_t value = (product_negated ? -product : product) + (c_negated ? -c : c) +
                        ptx_has(ptx, PTX_MOD_PO);
        value = any_signed ? value >> scale : (int64_t)((uint64_t)value >> scale);
        if (ptx_has(ptx, PTX_MOD_SAT))
            value = clamp(value, WORD_BITS, any_signed);
        d[i] = (uint32_t)value;
    }
    return in + 1;
}

/* SIMD -------------------------------------------------------------------------------------------
 */

/* The source index of each element, a nibble each: 0 .. count - 1 are a's, the rest b's. */
static uint32_t sources_of(const struct ptx_operand *operand, uint32_t otherwise)
{
    return operand->selector == PTX_SELECT_OTHER ? (uint32_t)operand->imm : otherwise;
}

/* Which elements of d are written. The nibbles of a mask fall, so only the last may be 0. */
static unsigned elements_of(const struct ptx_operand *operand)
{
    if (operand->selector == PTX_SELECT_NONE)
        return 15;
    if (operand->selector != PTX_SELECT_OTHER)
        return 1u << (operand->selector >= PTX_SELECT_H0 ? operand->selector - PTX_SELECT_H0
                                                         : operand->selector - PTX_SELECT_B0);
    unsigned elements = 0;
    uint64_t nibbles = (uint64_t)operand->imm;
    do
        elements |= 1u << (nibbles & 3);
    while (nibbles >>= 4);
    return elements;
}

static const struct simt_inst *packed(struct simt_warp *w, const struct simt_inst *in,
                                      unsigned count)
{
    const struct ptx_inst *ptx = in->ptx;
    const struct ptx_operand *operands = ptx->operands;
    unsigned bits = WORD_BITS / count;
    bool is_set = ptx->op == PTX_OP_VSET2 || ptx->op == PTX_OP_VSET4;
    bool d_signed = !is_set && is_signed(ptx->types[0]);
    bool a_signed = is_signed(ptx->types[is_set ? 0 : 1]);
    bool b_signed = is_signed(ptx->types[is_set ? 1 : 2]);
    uint32_t a_from = sources_of(&operands[1], count == 2 ? 0x10 : 0x3210);
    uint32_t b_from = sources_of(&operands[2], count == 2 ? 0x32 : 0x7654);
    unsigned elements = elements_of(&operands[0]);
    bool accumulate = ptx_has(ptx, PTX_MOD_ADD);
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    const uint32_t *as = SIMT_SLOT(const uint32_t, in->a), *bs = SIMT_SLOT(const uint32_t, in->b);
    const uint32_t *cs = SIMT_SLOT(const uint32_t, in->c);

    SELECTED_LANES
    {
        uint32_t words[2] = {as[i], bs[i]}, word = cs[i];
        for (unsigned k = 0; k < count; k++) {
            unsigned from_a = a_from >> (4 * k) & (2 * count - 1);
            unsigned from_b = b_from >> (4 * k) & (2 * count - 1);
            struct part a_part = {(uint8_t)(bits * (from_a % count)), (uint8_t)bits};
            struct part b_part = {(uint8_t)(bits * (from_b % count)), (uint8_t)bits};
            int64_t value = arithmetic(ptx, extend(words[from_a / count], a_part, a_signed),
                                       extend(words[from_b / count], b_part, b_signed));
            if (!(elements >> k & 1))
                continue;
            if (ptx_has(ptx, PTX_MOD_SAT))
                value = clamp(value, bits, d_signed);
            uint32_t field = ((1u << bits) - 1) << (bits * k);
            if (accumulate)
                word += (uint32_t)value;
            else
                word = (word & ~field) | ((uint32_t)value << (bits * k) & field);
        }
        d[i] = word;
    }
    return in + 1;
}
SIMT_BODY(halves)
{
    return packed(w, in, 2);
}
SIMT_BODY(bytes)
{
    return packed(w, in, 4);
}

simt_body *SIMT_NAME(video_select)(const struct simt_operands *operands)
{
    switch (operands->ptx->op) {
    case PTX_OP_VADD:
    case PTX_OP_VSUB:
    case PTX_OP_VABSDIFF:
    case PTX_OP_VMIN:
    case PTX_OP_VMAX:
    case PTX_OP_VSHL:
    case PTX_OP_VSHR:
    case PTX_OP_VSET:
        return scalar;
    case PTX_OP_VMAD:
        return multiply_add;
    case PTX_OP_VADD2:
    case PTX_OP_VSUB2:
    case PTX_OP_VAVRG2:
    case PTX_OP_VABSDIFF2:
    case PTX_OP_VMIN2:
    case PTX_OP_VMAX2:
    case PTX_OP_VSET2:
        return halves;
    case PTX_OP_VADD4:
    case PTX_OP_VSUB4:
    case PTX_OP_VAVRG4:
    case PTX_OP_VABSDIFF4:
    case PTX_OP_VMIN4:
    case PTX_OP_VMAX4:
    case PTX_OP_VSET4:
        return bytes;
    default:
        return NULL;
    }
}
