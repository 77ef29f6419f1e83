/*
 * exec_compare.c: setp, set, selp, slct.
 * A compare gives a bit per lane. Every type and operator has a function that makes those bits, and
 * the setp bodies with and without a combining predicate around it; set looks the function up as it
 * runs. f16 and bf16 are widened first and then compare as f32.
 * An ordered compare is false if an operand is NaN, an unordered one (equ, ltu ..) true.
 */
#include "simt/exec.h"
#include "simt/num.h"
#include "simt/num_half.h"
#include "simt/num_lanes.h"

typedef uint32_t compare_bits(const void *x, const void *y);

/* (a cmp b) op c, and for the second destination (not (a cmp b)) op c. */
static inline uint32_t combine(const struct ptx_inst *ptx, uint32_t bits, uint32_t c)
{
    if (ptx_has(ptx, PTX_MOD_AND))
        return bits & c;
    return ptx_has(ptx, PTX_MOD_OR) ? bits | c : bits ^ c;
}
static const struct simt_inst *set_both(struct simt_warp *w, const struct simt_inst *in,
                                        uint32_t first, uint32_t second)
{
    uint32_t c = simt_predicate(w, in->c);
    simt_set_predicate(w, in->d2, combine(in->ptx, second, c));
    simt_set_predicate(w, in->d, combine(in->ptx, first, c));
    return in + 1;
}

/* name_bits: the compare; name: setp; name_bool: setp with a predicate to combine with. */
#define COMPARE(name, T, expression)                                                               \
    NUM_TEST(name##_bits, T, expression)                                                           \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        uint32_t bits = name##_bits(SIMT_SLOT(T, in->a), SIMT_SLOT(T, in->b));                     \
        simt_set_predicate(w, in->d2, ~bits);                                                      \
        simt_set_predicate(w, in->d, bits);                                                        \
        return in + 1;                                                                             \
    }                                                                                              \
    SIMT_BODY(name##_bool)                                                                         \
    {                                                                                              \
        uint32_t bits = name##_bits(SIMT_SLOT(T, in->a), SIMT_SLOT(T, in->b));                     \
        return set_both(w, in, bits, ~bits);                                                       \
    }

/* P: what is done to an operand first. */
#define COMPARE_ORDER(suffix, T, P)                                                                \
    COMPARE(eq_##suffix, T, P(x) == P(y))                                                          \
    COMPARE(lt_##suffix, T, P(x) < P(y))                                                           \
    COMPARE(le_##suffix, T, P(x) <= P(y))                                                          \
    COMPARE(gt_##suffix, T, P(x) > P(y))                                                           \
    COMPARE(ge_##suffix, T, P(x) >= P(y))
#define COMPARE_INT(suffix, T)                                                                     \
    COMPARE_ORDER(suffix, T, AS_IS)                                                                \
    COMPARE(ne_##suffix, T, x != y)
#define COMPARE_FLOAT(suffix, T, P)                                                                \
    COMPARE_ORDER(suffix, T, P)                                                                    \
    COMPARE(ne_##suffix, T, P(x) < P(y) || P(x) > P(y))                                            \
    COMPARE(equ_##suffix, T, !(P(x) < P(y) || P(x) > P(y)))                                        \
    COMPARE(neu_##suffix, T, P(x) != P(y))                                                         \
    COMPARE(ltu_##suffix, T, !(P(x) >= P(y)))                                                      \
    COMPARE(leu_##suffix, T, !(P(x) > P(y)))                                                       \
    COMPARE(gtu_##suffix, T, !(P(x) <= P(y)))                                                      \
    COMPARE(geu_##suffix, T, !(P(x) < P(y)))                                                       \
    COMPARE(numbers_##suffix, T, x == x && y == y)                                                 \
    COMPARE(nans_##suffix, T, x != x || y != y)
#define AS_IS(x) x
COMPARE_INT(u16, uint16_t)
COMPARE_INT(u32, uint32_t)
COMPARE_INT(u64, uint64_t)
COMPARE_INT(s16, int16_t)
COMPARE_INT(s32, int32_t)
COMPARE_INT(s64, int64_t)
COMPARE_FLOAT(f32, float, AS_IS)
COMPARE_FLOAT(f32_ftz, float, num_f32_flush)
COMPARE_FLOAT(f64, double, AS_IS)

/* Which compare ------------------------------------------------------------------------------- */

enum { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, IS_NAN, OPERATORS };
enum { U16, U32, U64, S16, S32, S64, F32, F32_FTZ, F64, TYPES };

static int operator_of(const struct ptx_inst *ptx)
{
    switch (ptx->slots[0]) { /* the first suffix of every row */
    case PTX_MOD_EQ:
        return EQ;
    case PTX_MOD_NE:
        return NE;
    case PTX_MOD_LT:
    case PTX_MOD_LO:
        return LT;
    case PTX_MOD_LE:
    case PTX_MOD_LS:
        return LE;
    case PTX_MOD_GT:
    case PTX_MOD_HI:
        return GT;
    case PTX_MOD_GE:
    case PTX_MOD_HS:
        return GE;
    case PTX_MOD_EQU:
        return EQU;
    case PTX_MOD_NEU:
        return NEU;
    case PTX_MOD_LTU:
        return LTU;
    case PTX_MOD_LEU:
        return LEU;
    case PTX_MOD_GTU:
        return GTU;
    case PTX_MOD_GEU:
        return GEU;
    case PTX_MOD_NUM:
        return NUM;
    case PTX_MOD_NAN:
        return IS_NAN;
    default:
        return -1;
    }
}

#define ROW_INT(table, s)                                                                          \
    {                                                                                              \
        [EQ] = table(eq_##s), [NE] = table(ne_##s), [LT] = table(lt_##s), [LE] = table(le_##s),    \
        [GT] = table(gt_##s), [GE] = table(ge_##s)                                                 \
    }
#define ROW_FLOAT(table, s)                                                                        \
    {                                                                                              \
        [EQ] = table(eq_##s), [NE] = table(ne_##s), [LT] = table(lt_##s), [LE] = table(le_##s),    \
        [GT] = table(gt_##s), [GE] = table(ge_##s), [EQU] = table(equ_##s),                        \
        [NEU] = table(neu_##s), [LTU] = table(ltu_##s), [LEU] = table(leu_##s),                    \
        [GTU] = table(gtu_##s), [GEU] = table(geu_##s), [NUM] = table(numbers_##s),                \
        [IS_NAN] = table(nans_##s)                                                                 \
    }
#define ROWS(table)                                                                                \
    {                                                                                              \
        [U16] = ROW_INT(table, u16), [U32] = ROW_INT(table, u32), [U64] = ROW_INT(table, u64),     \
        [S16] = ROW_INT(table, s16), [S32] = ROW_INT(table, s32), [S64] = ROW_INT(table, s64),     \
        [F32] = ROW_FLOAT(table, f32), [F32_FTZ] = ROW_FLOAT(table, f32_ftz),                      \
        [F64] = ROW_FLOAT(table, f64)                                                              \
    }
#define WITH_BOOL(name) name##_bool
#define AS_BITS(name) name##_bits
static simt_body *const setp_bodies[TYPES][OPERATORS] = ROWS(AS_IS);
static simt_body *const setp_bool_bodies[TYPES][OPERATORS] = ROWS(WITH_BOOL);
static compare_bits *const compares[TYPES][OPERATORS] = ROWS(AS_BITS);

/* -1: not a type of one of the tables. */
static int type_of(const struct ptx_inst *ptx, enum ptx_type type)
{
    switch (type) {
    case PTX_B16:
    case PTX_U16:
        return U16;
    case PTX_B32:
    case PTX_U32:
        return U32;
    case PTX_B64:
    case PTX_U64:
        return U64;
    case PTX_S16:
        return S16;
    case PTX_S32:
        return S32;
    case PTX_S64:
        return S64;
    case PTX_F32:
        return ptx_has(ptx, PTX_MOD_FTZ) ? F32_FTZ : F32;
    case PTX_F64:
        return F64;
    default:
        return -1;
    }
}
static bool is_half(enum ptx_type type)
{
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
}
static bool is_pair(enum ptx_type type)
{
    return type == PTX_F16X2 || type == PTX_BF16X2;
}

/* May this operator be used on this type? Equality on bits, order on numbers, the unsigned names
 * lo .. hs on integers, the unordered ones on floats. */
static bool is_legal(const struct ptx_inst *ptx, enum ptx_type type)
{
    int op = operator_of(ptx);
    bool is_float = ptx_type_kind(type) == PTX_KIND_FLOAT;
    if (op < 0 || (type_of(ptx, type) < 0 && !is_half(type)))
        return false;
    if (op >= EQU && !is_float)
        return false;
    if (op >= LT && (type == PTX_B16 || type == PTX_B32 || type == PTX_B64))
        return false;
    if (ptx_has(ptx, PTX_MOD_FTZ) && type != PTX_F32 && type != PTX_F16 && type != PTX_F16X2)
        return false;
    switch (ptx->slots[0]) {
    case PTX_MOD_LO:
    case PTX_MOD_LS:
    case PTX_MOD_HI:
    case PTX_MOD_HS:
        return ptx_type_kind(type) == PTX_KIND_UNSIGNED;
    default:
        return true;
    }
}

/* Compares of halves ------------------------------------------------------------------------- */

/* The elements of a slot (one a lane, or two) as f32, flushed if the instruction says so. */
static void widen_halves(const struct ptx_inst *ptx, enum ptx_type type, const void *slot,
                         float *elements, int count)
{
    if (type == PTX_BF16 || type == PTX_BF16X2) {
        num_bf16_widen_all(elements, slot, count);
        return;
    }
    num_f16_widen_all(elements, slot, count);
    if (ptx_has(ptx, PTX_MOD_FTZ)) {
        for (int i = 0; i < count; i++)
            elements[i] = num_f32_flush_below(elements[i], NUM_F16_MIN_NORMAL_F32);
    }
}

/* Bits of the compare; of a pair's low halves, with those of the high halves in *high. */
static uint32_t compare_any(struct simt_warp *w, const struct simt_inst *in, enum ptx_type type,
                            uint32_t *high)
{
    const void *a = SIMT_SLOT(void, in->a), *b = SIMT_SLOT(void, in->b);
    int op = operator_of(in->ptx);
    if (!is_half(type))
        return compares[type_of(in->ptx, type)][op](a, b);

    compare_bits *compare = compares[F32][op];
    float xs[2 * SIMT_LANES], ys[2 * SIMT_LANES];
    int count = is_pair(type) ? 2 * SIMT_LANES : SIMT_LANES;
    widen_halves(in->ptx, type, a, xs, count);
    widen_halves(in->ptx, type, b, ys, count);
    if (!is_pair(type))
        return compare(xs, ys);
    float halves[4][SIMT_LANES];
    SIMT_EACH_LANE
    {
        halves[0][i] = xs[2 * i], halves[1][i] = ys[2 * i];
        halves[2][i] = xs[2 * i + 1], halves[3][i] = ys[2 * i + 1];
    }
    *high = compare(halves[2], halves[3]);
    return compare(halves[0], halves[1]);
}

SIMT_BODY(setp_half)
{
    uint32_t bits = compare_any(w, in, in->ptx->types[0], NULL);
    simt_set_predicate(w, in->d2, ~bits);
    simt_set_predicate(w, in->d, bits);
    return in + 1;
}
SIMT_BODY(setp_half_bool)
{
    uint32_t bits = compare_any(w, in, in->ptx->types[0], NULL);
    return set_both(w, in, bits, ~bits);
}
SIMT_BODY(setp_pair)
{
    uint32_t high, low = compare_any(w, in, in->ptx->types[0], &high);
    simt_set_predicate(w, in->d2, high);
    simt_set_predicate(w, in->d, low);
    return in + 1;
}
SIMT_BODY(setp_pair_bool)
{
    uint32_t high, low = compare_any(w, in, in->ptx->types[0], &high);
    return set_both(w, in, low, high);
}

/* set: true is all ones in an integer, 1.0 in a float.
 * --------------------------------------------- */

static uint32_t true_value(enum ptx_type type)
{
    switch (type) {
    case PTX_F32:
        return 0x3f800000;
    case PTX_F16:
        return 0x3c00;
    case PTX_BF16:
        return 0x3f80;
    case PTX_F16X2:
        return 0x3c003c00;
    case PTX_BF16X2:
        return 0x3f803f80;
    default:
        return UINT32_MAX;
    }
}
static uint32_t set_bits(struct simt_warp *w, const struct simt_inst *in, uint32_t *high)
{
    uint32_t bits = compare_any(w, in, in->ptx->types[1], high);
    bool has_bool = ptx_has(in->ptx, PTX_MOD_AND) || ptx_has(in->ptx, PTX_MOD_OR) ||
                    ptx_has(in->ptx, PTX_MOD_XOR);
    if (!has_bool)
        return bits;
    uint32_t c = simt_predicate(w, in->c);
    if (high)
        *high = combine(in->ptx, *high, c);
    return combine(in->ptx, bits, c);
}
SIMT_BODY(set_32)
{
    uint32_t results[SIMT_LANES], yes = true_value(in->ptx->types[0]);
    uint32_t bits = set_bits(w, in, NULL);
    SIMT_EACH_LANE results[i] = bits >> i & 1 ? yes : 0;
    return num_store_32(w, in, results);
}
SIMT_BODY(set_16)
{
    uint16_t results[SIMT_LANES], yes = (uint16_t)true_value(in->ptx->types[0]);
    uint32_t bits = set_bits(w, in, NULL);
    SIMT_EACH_LANE results[i] = bits >> i & 1 ? yes : 0;
    return num_store_16(w, in, results);
}
SIMT_BODY(set_pair)
{
    uint32_t results[SIMT_LANES], yes = true_value(in->ptx->types[0]);
    uint32_t high = 0, low = set_bits(w, in, &high);
    SIMT_EACH_LANE results[i] =
        (low >> i & 1 ? yes & 0xffff : 0) | (high >> i & 1 ? yes & 0xffff0000 : 0);
    return num_store_32(w, in, results);
}

/* selp, slct
 * ---------------------------------------------------------------------------------------- */

#define COMPARE_SELP(name, T)                                                                      \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        T *d = SIMT_SLOT(T, in->d);                                                                \
        const T *xs = SIMT_SLOT(const T, in->a), *ys = SIMT_SLOT(const T, in->b);                  \
        uint32_t c = simt_predicate(w, in->c);                                                     \
        SIMT_STORE_LANES(T, c >> i & 1 ? xs[i] : ys[i])                                            \
    }
COMPARE_SELP(selp_16, uint16_t)
COMPARE_SELP(selp_32, uint32_t)
COMPARE_SELP(selp_64, uint64_t)

#define COMPARE_SLCT(suffix, T)                                                                    \
    SIMT_MAP3(slct_s32_##suffix, T, T, T, int32_t, z >= 0 ? x : y)                                 \
    SIMT_MAP3(slct_f32_##suffix, T, T, T, float, z >= 0.0f ? x : y)                                \
    SIMT_MAP3(slct_f32_ftz_##suffix, T, T, T, float, num_f32_flush(z) >= 0.0f ? x : y)
COMPARE_SLCT(16, uint16_t)
COMPARE_SLCT(32, uint32_t)
COMPARE_SLCT(64, uint64_t)

/* Choice
 * -------------------------------------------------------------------------------------------- */

/* One of three bodies by the width of the type. */
static simt_body *by_width(enum ptx_type type, simt_body *body_16, simt_body *body_32,
                           simt_body *body_64)
{
    unsigned bits = ptx_type_bits(type);
    return bits == 64 ? body_64 : bits == 32 ? body_32 : body_16;
}

static simt_body *select_setp(const struct ptx_inst *ptx, bool has_bool)
{
    enum ptx_type type = ptx->types[0];
    if (!is_legal(ptx, type))
        return NULL;
    if (is_pair(type))
        return has_bool ? setp_pair_bool : setp_pair;
    if (is_half(type))
        return has_bool ? setp_half_bool : setp_half;
    return (has_bool ? setp_bool_bodies : setp_bodies)[type_of(ptx, type)][operator_of(ptx)];
}

static simt_body *select_set(const struct ptx_inst *ptx)
{
    if (!is_legal(ptx, ptx->types[1]))
        return NULL;
    if (is_pair(ptx->types[1]))
        return set_pair;
    return by_width(ptx->types[0], set_16, set_32, NULL);
}

simt_body *SIMT_NAME(compare_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    enum ptx_type type = ptx->types[0];
    switch (ptx->op) {
    case PTX_OP_SETP_INT:
    case PTX_OP_SETP_FLOAT:
    case PTX_OP_SETP_PAIR:
        return select_setp(ptx, false);
    case PTX_OP_SETP_INT_BOOL:
    case PTX_OP_SETP_FLOAT_BOOL:
    case PTX_OP_SETP_PAIR_BOOL:
        return select_setp(ptx, true);
    case PTX_OP_SET_INT:
    case PTX_OP_SET_INT_BOOL:
    case PTX_OP_SET_FLOAT:
    case PTX_OP_SET_FLOAT_BOOL:
    case PTX_OP_SET_PAIR:
    case PTX_OP_SET_PAIR_BOOL:
        return select_set(ptx);
    case PTX_OP_SELP:
        return by_width(type, selp_16, selp_32, selp_64);
    case PTX_OP_SLCT:
        return by_width(type, slct_s32_16, slct_s32_32, slct_s32_64);
    case PTX_OP_SLCT_F32:
        if (ptx_has(ptx, PTX_MOD_FTZ))
            return by_width(type, slct_f32_ftz_16, slct_f32_ftz_32, slct_f32_ftz_64);
        return by_width(type, slct_f32_16, slct_f32_32, slct_f32_64);
    default:
        return NULL;
    }
}
