/*
 * exec_integer_logic.c: and, or, xor, not, shifts, and lop3, which is any function of three bits.
 * Predicates are one word with a bit per lane, so the logic on them is one operation.
 */
#include "simt/exec.h"

simt_body *SIMT_NAME(integer_logic_select)(const struct simt_operands *operands);

#define LOGIC(name, op)                                                                            \
    SIMT_MAP2(name##_16, uint16_t, uint16_t, uint16_t, x op y)                                     \
    SIMT_MAP2(name##_32, uint32_t, uint32_t, uint32_t, x op y)                                     \
    SIMT_MAP2(name##_64, uint64_t, uint64_t, uint64_t, x op y)                                     \
    SIMT_BODY(name##_pred)                                                                         \
    {                                                                                              \
        simt_set_predicate(w, in->d, simt_predicate(w, in->a) op simt_predicate(w, in->b));        \
        return in + 1;                                                                             \
    }
LOGIC(and, &)
LOGIC(or, |)
LOGIC(xor, ^)

SIMT_MAP1(not_16, uint16_t, uint16_t, ~x)
SIMT_MAP1(not_32, uint32_t, uint32_t, ~x)
SIMT_MAP1(not_64, uint64_t, uint64_t, ~x)
SIMT_MAP1(cnot_16, uint16_t, uint16_t, x == 0)
SIMT_MAP1(cnot_32, uint32_t, uint32_t, x == 0)
SIMT_MAP1(cnot_64, uint64_t, uint64_t, x == 0)
SIMT_BODY(not_pred)
{
    simt_set_predicate(w, in->d, ~simt_predicate(w, in->a));
    return in + 1;
}

#define SHIFT(bits)                                                                                \
    SIMT_MAP2(shl_##bits, uint##bits##_t, uint##bits##_t, uint32_t,                                \
              y >= bits ? 0 : (uint##bits##_t)x << (y & (bits - 1)))                               \
    SIMT_MAP2(shr_u_##bits, uint##bits##_t, uint##bits##_t, uint32_t,                              \
              y >= bits ? 0 : x >> (y & (bits - 1)))                                               \
    SIMT_MAP2(shr_s_##bits, int##bits##_t, int##bits##_t, uint32_t, x >> (y >= bits ? bits - 1 : y))
SHIFT(16)
SHIFT(32)
SHIFT(64)

/* lop3 -----------------------------------------------------------------------------------------
 * Bit (a << 2 | b << 1 | c) of the table is the result. With a table that is known when this file
 * is compiled the formula folds to a few operations; those tables that compilers write often get a
 * body each. */

#define TABLE_BIT(table, k) (0u - ((table) >> (k)&1))
static inline uint32_t choose(uint32_t bit, uint32_t if_one, uint32_t if_zero)
{
    return if_zero ^ (bit & (if_zero ^ if_one));
}
static inline uint32_t lop3_value(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t a1 = choose(b, choose(c, TABLE_BIT(table, 7), TABLE_BIT(table, 6)),
                         choose(c, TABLE_BIT(table, 5), TABLE_BIT(table, 4)));
    uint32_t a0 = choose(b, choose(c, TABLE_BIT(table, 3), TABLE_BIT(table, 2)),
                         choose(c, TABLE_BIT(table, 1), TABLE_BIT(table, 0)));
    return choose(a, a1, a0);
}

/* In order: the two-operand functions, then and/or/xor chains, majority and choice. */
#define COMMON_TABLES(X)                                                                           \
    X(0xc0)                                                                                        \
    X(0xfc)                                                                                        \
    X(0x3c)                                                                                        \
    X(0x30)                                                                                        \
    X(0x0c)                                                                                        \
    X(0xf3)                                                                                        \
    X(0xcf)                                                                                        \
    X(0x3f)                                                                                        \
    X(0x03)                                                                                        \
    X(0xc3)                                                                                        \
    X(0x0f)                                                                                        \
    X(0x33)                                                                                        \
    X(0x80)                                                                                        \
    X(0xfe)                                                                                        \
    X(0x96)                                                                                        \
    X(0x69)                                                                                        \
    X(0xf8)                                                                                        \
    X(0xea)                                                                                        \
    X(0xec)                                                                                        \
    X(0xe0)                                                                                        \
    X(0xa8)                                                                                        \
    X(0xc8)                                                                                        \
    X(0x78)                                                                                        \
    X(0x6a)                                                                                        \
    X(0x6c)                                                                                        \
    X(0x1e)                                                                                        \
    X(0x56)                                                                                        \
    X(0x36)                                                                                        \
    X(0x60)                                                                                        \
    X(0x28)                                                                                        \
    X(0x48)                                                                                        \
    X(0xf6)                                                                                        \
    X(0xbe)                                                                                        \
    X(0xde)                                                                                        \
    X(0xe8)                                                                                        \
    X(0xca)                                                                                        \
    X(0xac)                                                                                        \
    X(0xd8)                                                                                        \
    X(0xb8)                                                                                        \
    X(0xe2)                                                                                        \
    X(0xe4)                                                                                        \
    X(0x20)                                                                                        \
    X(0x40)                                                                                        \
    X(0x08)                                                                                        \
    X(0xf2)                                                                                        \
    X(0xf4)                                                                                        \
    X(0xae)                                                                                        \
    X(0xba)                                                                                        \
    X(0x9c)                                                                                        \
    X(0xb4)                                                                                        \
    X(0xd2)

#define LOP3_BODY(table)                                                                           \
    SIMT_MAP3(lop3_##table, uint32_t, uint32_t, uint32_t, uint32_t, lop3_value(x, y, z, table))
COMMON_TABLES(LOP3_BODY)

SIMT_BODY(lop3_any)
{
    const uint32_t *xs = SIMT_SLOT(const uint32_t, in->a);
    const uint32_t *ys = SIMT_SLOT(const uint32_t, in->b);
    const uint32_t *zs = SIMT_SLOT(const uint32_t, in->c);
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    uint32_t table = *SIMT_SLOT(const uint32_t, in->e);
    SIMT_STORE_LANES(uint32_t, lop3_value(xs[i], ys[i], zs[i], table))
}

/* With a predicate: d may be missing; its slot is then one that is never read. */
static const struct simt_inst *lop3_with_predicate(struct simt_warp *w, const struct simt_inst *in,
                                                   bool is_and)
{
    const uint32_t *xs = SIMT_SLOT(const uint32_t, in->a);
    const uint32_t *ys = SIMT_SLOT(const uint32_t, in->b);
    const uint32_t *zs = SIMT_SLOT(const uint32_t, in->c);
    uint32_t *d = SIMT_SLOT(uint32_t, in->d);
    uint32_t table = *SIMT_SLOT(const uint32_t, in->e), mask = w->mask;
    uint32_t result[SIMT_LANES], nonzero[SIMT_LANES];
    SIMT_EACH_LANE
    {
        result[i] = lop3_value(xs[i], ys[i], zs[i], table);
        nonzero[i] = result[i] ? UINT32_MAX : 0;
    }
    SIMT_EACH_LANE d[i] = mask >> i & 1 ? result[i] : d[i];
    uint32_t p = simt_movemask(nonzero);
    uint32_t q = simt_predicate(w, in->list[0]); /* the fifth source */
    simt_set_predicate(w, in->d2, is_and ? p & q : p | q);
    return in + 1;
}
SIMT_BODY(lop3_and)
{
    return lop3_with_predicate(w, in, true);
}
SIMT_BODY(lop3_or)
{
    return lop3_with_predicate(w, in, false);
}

static simt_body *select_lop3(const struct ptx_inst *ptx)
{
#define LOP3_CASE(table)                                                                           \
    case table:                                                                                    \
        return lop3_##table;
    switch (ptx->operands[4].kind == PTX_OPERAND_IMM ? ptx->operands[4].imm & 255 : -1) {
        COMMON_TABLES(LOP3_CASE)
    default:
        return lop3_any;
    }
}

#define BY_WIDTH(name) (bits == 16 ? name##_16 : bits == 32 ? name##_32 : name##_64)
#define BY_WIDTH_OR_PRED(name) (type == PTX_PRED ? name##_pred : BY_WIDTH(name))

simt_body *SIMT_NAME(integer_logic_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    enum ptx_type type = ptx->types[0];
    unsigned bits = ptx_type_bits(type);

    switch (ptx->op) {
    case PTX_OP_AND:
        return BY_WIDTH_OR_PRED(and);
    case PTX_OP_OR:
        return BY_WIDTH_OR_PRED(or);
    case PTX_OP_XOR:
        return BY_WIDTH_OR_PRED(xor);
    case PTX_OP_NOT:
        return BY_WIDTH_OR_PRED(not );
    case PTX_OP_CNOT:
        return BY_WIDTH(cnot);
    case PTX_OP_SHL:
        return BY_WIDTH(shl);
    case PTX_OP_SHR:
        return ptx_type_kind(type) == PTX_KIND_SIGNED ? BY_WIDTH(shr_s) : BY_WIDTH(shr_u);
    case PTX_OP_LOP3:
        return select_lop3(ptx);
    case PTX_OP_LOP3_BOOL:
        return ptx_has(ptx, PTX_MOD_AND) ? lop3_and : lop3_or;
    default:
        return NULL;
    }
}
