/*
 * check_rules.c: what the rows of ops.def cannot say.
 * Which modifiers, types and operands of one instruction go together, each rule as ptxas has it.
 * check_forms.c goes on.
 */
#include "ptx/front.h"

struct rule_context {
    struct ptx_parser *p;
    const struct ptx_inst *inst;
    uint32_t offset;
};

#define FAIL(c, ...) ptx_fail((c)->p, (c)->offset, __VA_ARGS__)

static bool has_type(const struct ptx_inst *inst, enum ptx_type type)
{
    for (unsigned i = 0; i < inst->type_count; i++)
        if (inst->types[i] == type)
            return true;
    return false;
}

static bool is_float(enum ptx_type type)
{
    return ptx_type_kind(type) == PTX_KIND_FLOAT;
}

static enum ptx_type reg_type(const struct rule_context *c, unsigned operand)
{
    const struct ptx_operand *o = &c->inst->operands[operand];
    return o->kind == PTX_OPERAND_REG ? c->p->regs[o->reg].type : PTX_TYPE_NONE;
}

/* Modifiers of floating-point arithmetic that not every type of the row has. */
static void check_float_mods(const struct rule_context *c)
{
    const struct ptx_inst *inst = c->inst;
    bool is_double = inst->types[0] == PTX_F64;
    bool is_approx = ptx_has(inst, PTX_MOD_APPROX);
    if (ptx_has(inst, PTX_MOD_FTZ) && !is_approx && inst->op != PTX_OP_RCP &&
        !has_type(inst, PTX_F32) && !has_type(inst, PTX_F16) && !has_type(inst, PTX_F16X2) &&
        !has_type(inst, PTX_F32X2))
        FAIL(c, "%s: .ftz goes with .f32 and .f16 only", inst->text);
    if (inst->op == PTX_OP_RCP_APPROX && is_double && !ptx_has(inst, PTX_MOD_FTZ))
        FAIL(c, "%s: with .f64, .approx needs .ftz", inst->text);
    if (ptx_op_infos[inst->op].group != PTX_GROUP_FLOAT || !is_double)
        return;
    if (ptx_has(inst, PTX_MOD_SAT) || ptx_has(inst, PTX_MOD_NAN) ||
        ptx_has(inst, PTX_MOD_XORSIGN_ABS))
        FAIL(c, "%s: .sat, .NaN and .xorsign.abs do not go with .f64", inst->text);
}

static bool type_is_among(enum ptx_type type, const enum ptx_type *types)
{
    for (; *types; types++)
        if (*types == type)
            return true;
    return false;
}

static void check_atomic(const struct rule_context *c)
{
    static const enum ptx_type bits[] = {PTX_B32, PTX_B64, 0};
    static const enum ptx_type exchange[] = {PTX_B32, PTX_B64, PTX_B128, 0};
    static const enum ptx_type add[] = {PTX_U32, PTX_S32, PTX_U64, PTX_F32, PTX_F64, 0};
    static const enum ptx_type count[] = {PTX_U32, 0};
    static const enum ptx_type order[] = {PTX_U32, PTX_S32, PTX_U64, PTX_S64, 0};
    static const struct {
        enum ptx_mod mod;
        const enum ptx_type *types;
    } rules[] = {
        {PTX_MOD_EXCH, exchange}, {PTX_MOD_AND, bits},  {PTX_MOD_OR, bits},
        {PTX_MOD_XOR, bits},      {PTX_MOD_ADD, add},   {PTX_MOD_INC, count},
        {PTX_MOD_DEC, count},     {PTX_MOD_MIN, order}, {PTX_MOD_MAX, order},
    };
    if (c->inst->op != PTX_OP_ATOM && c->inst->op != PTX_OP_RED)
        return;
    for (unsigned i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (ptx_has(c->inst, rules[i].mod) && !type_is_among(c->inst->types[0], rules[i].types))
            FAIL(c, "%s: .%s has no .%s form", c->inst->text, ptx_mod_name(rules[i].mod),
                 ptx_type_name(c->inst->types[0]));
}

/* setp and set: bits know only equality, and lo, ls, hi, hs are for unsigned numbers. */
static void check_compare(const struct rule_context *c)
{
    const struct ptx_inst *inst = c->inst;
    switch (inst->op) {
    case PTX_OP_SETP_INT:
    case PTX_OP_SETP_INT_BOOL:
    case PTX_OP_SET_INT:
    case PTX_OP_SET_INT_BOOL:
        break;
    default:
        return;
    }
    enum ptx_type_kind kind = ptx_type_kind(inst->types[inst->type_count - 1]);
    bool is_equality = ptx_has(inst, PTX_MOD_EQ) || ptx_has(inst, PTX_MOD_NE);
    bool is_unsigned = ptx_has(inst, PTX_MOD_LO) || ptx_has(inst, PTX_MOD_LS) ||
                       ptx_has(inst, PTX_MOD_HI) || ptx_has(inst, PTX_MOD_HS);
    if (kind == PTX_KIND_BITS && !is_equality)
        FAIL(c, "%s: .b types have .eq and .ne only", inst->text);
    if (kind == PTX_KIND_SIGNED && is_unsigned)
        FAIL(c, "%s: .lo .ls .hi .hs are for unsigned types", inst->text);
}

static unsigned precision(enum ptx_type type)
{
    return type == PTX_F64 ? 3 : type == PTX_F32 ? 2 : 1;
}

/* cvt: when a rounding mode must be given, and which kind. */
static void check_rounding(const struct rule_context *c)
{
    const struct ptx_inst *inst = c->inst;
    if (inst->op != PTX_OP_CVT)
        return;
    bool to_float = is_float(inst->types[0]), from_float = is_float(inst->types[1]);
    bool rounds_number = ptx_has(inst, PTX_MOD_RN) || ptx_has(inst, PTX_MOD_RZ) ||
                         ptx_has(inst, PTX_MOD_RM) || ptx_has(inst, PTX_MOD_RP);
    bool rounds_integer = ptx_has(inst, PTX_MOD_RNI) || ptx_has(inst, PTX_MOD_RZI) ||
                          ptx_has(inst, PTX_MOD_RMI) || ptx_has(inst, PTX_MOD_RPI);
    bool is_narrower = precision(inst->types[0]) < precision(inst->types[1]);
    bool is_same = inst->types[0] == inst->types[1];
    if (!to_float && from_float) {
        if (!rounds_integer)
            FAIL(c, "%s: to an integer, cvt needs .rni .rzi .rmi or .rpi", inst->text);
    } else if (to_float && (!from_float || is_narrower)) {
        if (!rounds_number)
            FAIL(c, "%s: this cvt can be inexact and needs .rn .rz .rm or .rp", inst->text);
    } else if (rounds_number || (rounds_integer && !(to_float && is_same))) {
        if (!(to_float && from_float && precision(inst->types[0]) == 1 && !is_same))
            FAIL(c, "%s: this cvt is exact and takes no rounding mode", inst->text);
    }
}

/* Hints that bring an operand along: a cache policy, a mask of blocks. */
static void check_hints(const struct rule_context *c)
{
    unsigned wanted = 0, count = c->inst->operand_count;
    switch (c->inst->op) {
    case PTX_OP_ST:
    case PTX_OP_ST_SYNC:
    case PTX_OP_LD:
    case PTX_OP_LD_NC:
    case PTX_OP_LD_SYNC:
    case PTX_OP_ATOM:
    case PTX_OP_ATOM_NOFTZ:
    case PTX_OP_ATOM_CAS:
    case PTX_OP_ATOM_VEC:
    case PTX_OP_RED:
    case PTX_OP_RED_NOFTZ:
    case PTX_OP_RED_VEC:
    case PTX_OP_CP_BULK_G2S:
    case PTX_OP_CP_BULK_S2G:
    case PTX_OP_CP_BULK_PREFETCH:
    case PTX_OP_BULK_RED_G:
    case PTX_OP_TMA_LOAD:
    case PTX_OP_TMA_LOAD_IM2COL:
    case PTX_OP_TMA_STORE:
    case PTX_OP_TMA_REDUCE:
    case PTX_OP_TMA_PREFETCH:
    case PTX_OP_TMA_PREFETCH_IM2COL:
        wanted = ptx_row_of(c->inst->op)->required_count;
        break;
    default:
        return;
    }
    wanted += ptx_has(c->inst, PTX_MOD_L2_CACHE_HINT) + ptx_has(c->inst, PTX_MOD_MULTICAST_CLUSTER);
    if (count != wanted)
        FAIL(c, "%s takes %u operands, %u given (.L2::cache_hint and .multicast::cluster add one)",
             c->inst->text, wanted, count);
}

/* cp.async: size [, bytes to read or a predicate that reads nothing] [, policy] */
static void check_async_copy(const struct rule_context *c)
{
    if (c->inst->op != PTX_OP_CP_ASYNC)
        return;
    unsigned count = c->inst->operand_count;
    int64_t size = c->inst->operands[2].imm;
    if (size != 16 && (ptx_has(c->inst, PTX_MOD_CG) || (size != 4 && size != 8)))
        FAIL(c, "%s: the size must be %s", c->inst->text,
             ptx_has(c->inst, PTX_MOD_CG) ? "16" : "4, 8 or 16");
    bool has_hint = ptx_has(c->inst, PTX_MOD_L2_CACHE_HINT);
    if (count == 5 ? !has_hint : has_hint && count != 4)
        FAIL(c, "%s: .L2::cache_hint and a policy come together", c->inst->text);
    if (has_hint && count == 4) {
        if (ptx_type_bits(reg_type(c, 3)) != 64)
            FAIL(c, "%s: the policy must be a .b64 register", c->inst->text);
    } else if (count > 3 && c->inst->operands[3].kind == PTX_OPERAND_REG &&
               ptx_type_bits(reg_type(c, 3)) != 32 && reg_type(c, 3) != PTX_PRED) {
        FAIL(c, "%s: the size to read must be .u32, or a predicate", c->inst->text);
    }
}

/* bar.red d, a [, b], p: with three operands the last is the predicate. */
static void check_barrier(const struct rule_context *c)
{
    switch (c->inst->op) {
    case PTX_OP_BAR_RED_POPC:
    case PTX_OP_BAR_RED_BOOL:
    case PTX_OP_BARRIER_RED_POPC:
    case PTX_OP_BARRIER_RED_BOOL:
        break;
    default:
        return;
    }
    unsigned last = c->inst->operand_count - 1u;
    if (c->inst->operands[last].kind != PTX_OPERAND_IMM && reg_type(c, last) != PTX_PRED)
        FAIL(c, "%s: the last operand must be a predicate", c->inst->text);
    if (last == 3 && c->inst->operands[2].kind != PTX_OPERAND_IMM &&
        !ptx_reg_fits(reg_type(c, 2), PTX_U32, false))
        FAIL(c, "%s: the number of threads must be .u32", c->inst->text);
}

/* A second operation works on c, so c must be there. */
static void check_video(const struct rule_context *c)
{
    bool has_second = ptx_has(c->inst, PTX_MOD_ADD) || ptx_has(c->inst, PTX_MOD_MIN) ||
                      ptx_has(c->inst, PTX_MOD_MAX);
    if (ptx_op_infos[c->inst->op].group == PTX_GROUP_VIDEO && has_second &&
        c->inst->operand_count < 4)
        FAIL(c, "%s: the second operation needs a fourth operand", c->inst->text);
}

/* Fragments lie in 32-bit registers, or 64-bit ones for f64. */
static void check_fragments(const struct rule_context *c)
{
    if (ptx_op_infos[c->inst->op].group != PTX_GROUP_TENSOR)
        return;
    unsigned bits = has_type(c->inst, PTX_F64) ? 64 : 32;
    for (unsigned i = 0; i < c->inst->operand_count; i++) {
        const struct ptx_operand *operand = &c->inst->operands[i];
        if (ptx_row_of(c->inst->op)->specs[i].shape != PTX_SHAPE_BRACES)
            continue;
        const struct ptx_operand *items = operand;
        uint32_t count = 1;
        if (operand->kind == PTX_OPERAND_VECTOR) {
            items = operand->items;
            count = operand->item_count;
        }
        if (!count)
            FAIL(c, "%s: operand %u is empty", c->inst->text, i + 1);
        for (uint32_t k = 0; k < count; k++)
            if (!(i == 1 && ptx_is_wgmma(c->inst->op) && items == operand) &&
                (items[k].kind != PTX_OPERAND_REG ||
                 ptx_type_bits(c->p->regs[items[k].reg].type) != bits))
                FAIL(c, "%s: operand %u must be %u-bit registers", c->inst->text, i + 1, bits);
    }
}

/* mbarrier.arrive: the state, or _ when the barrier is another block's. */
static void check_arrival(const struct rule_context *c)
{
    switch (c->inst->op) {
    case PTX_OP_MBARRIER_ARRIVE_CLUSTER:
    case PTX_OP_MBARRIER_ARRIVE_TX:
    case PTX_OP_MBARRIER_ARRIVE_DROP:
    case PTX_OP_MBARRIER_ARRIVE_DROP_TX:
        break;
    default:
        return;
    }
    bool is_remote = ptx_has(c->inst, PTX_MOD_SHARED_CLUSTER);
    if (c->inst->operands[0].kind == PTX_OPERAND_SINK)
        return;
    if (is_remote)
        FAIL(c, "%s: with .shared::cluster there is no state; write _", c->inst->text);
    if (ptx_type_bits(reg_type(c, 0)) != 64)
        FAIL(c, "%s: the state must be a .b64 register", c->inst->text);
}

/* Nothing loads or stores more than 32 bytes at once, and only as words or longs. */
static void check_width(const struct rule_context *c)
{
    unsigned length = ptx_has(c->inst, PTX_MOD_V8)   ? 8
                      : ptx_has(c->inst, PTX_MOD_V4) ? 4
                      : ptx_has(c->inst, PTX_MOD_V2) ? 2
                                                     : 1;
    unsigned bits = ptx_type_bits(c->inst->types[0]);
    if (length * bits > 256 || (length > 1 && bits > 64))
        FAIL(c, "%s: vectors have at most 256 bits, and elements of at most 64", c->inst->text);
    bool is_atomic = c->inst->op == PTX_OP_ATOM_VEC || c->inst->op == PTX_OP_RED_VEC;
    if (is_atomic && length * bits > 128)
        FAIL(c, "%s: atomics act on at most 128 bits", c->inst->text);
}

static void check_alloca(const struct rule_context *c)
{
    if (c->inst->op != PTX_OP_ALLOCA || c->inst->operand_count < 3)
        return;
    int64_t align = c->inst->operands[2].imm;
    if (align <= 0 || align > 1 << 23 || (align & (align - 1)))
        FAIL(c, "%s: the alignment must be a power of two, up to 2^23", c->inst->text);
}

/* Three inputs came with sm_100 and PTX 8.8. */
static void check_three_inputs(const struct rule_context *c)
{
    const struct ptx_module *module = c->p->module;
    if (c->inst->op != PTX_OP_FMIN3 && c->inst->op != PTX_OP_FMAX3)
        return;
    if (module->target < 100 || module->version_major * 100 + module->version_minor < 808)
        FAIL(c, "%s: three inputs need .target sm_100 and .version 8.8, or newer", c->inst->text);
}

/* The mask of blocks is 16 bits, a policy 64. */
static void check_bulk_copy(const struct rule_context *c)
{
    unsigned at = ptx_row_of(c->inst->op)->required_count;
    if (strcmp(ptx_op_infos[c->inst->op].mnemonic, "cp") != 0 || !ptx_has(c->inst, PTX_MOD_BULK))
        return;
    if (ptx_has(c->inst, PTX_MOD_MULTICAST_CLUSTER) && ptx_type_bits(reg_type(c, at++)) != 16)
        FAIL(c, "%s: the mask of blocks must be a .b16 register", c->inst->text);
    if (ptx_has(c->inst, PTX_MOD_L2_CACHE_HINT) && ptx_type_bits(reg_type(c, at)) != 64)
        FAIL(c, "%s: the policy must be a .b64 register", c->inst->text);
}

/* Stores and reductions that are counted at an mbarrier. */
static void check_counted(const struct rule_context *c)
{
    const struct ptx_inst *inst = c->inst;
    if (inst->op == PTX_OP_ST_ASYNC && ptx_has(inst, PTX_MOD_V4) &&
        ptx_type_bits(inst->types[0]) == 64)
        FAIL(c, "%s: vectors have at most 128 bits here", inst->text);
    if (inst->op != PTX_OP_RED_ASYNC)
        return;
    enum ptx_type type = inst->types[0];
    bool bits =
        ptx_has(inst, PTX_MOD_AND) || ptx_has(inst, PTX_MOD_OR) || ptx_has(inst, PTX_MOD_XOR);
    bool counts = ptx_has(inst, PTX_MOD_INC) || ptx_has(inst, PTX_MOD_DEC);
    bool fits = bits                         ? type == PTX_B32
                : counts                     ? type == PTX_U32
                : ptx_has(inst, PTX_MOD_ADD) ? type != PTX_B32
                                             : type == PTX_U32 || type == PTX_S32;
    if (!fits)
        FAIL(c, "%s: the operation does not have this type", inst->text);
}

static void check_pairs(const struct rule_context *c)
{
    if (c->inst->op == PTX_OP_ELECT && c->inst->operands[0].pair == PTX_NO_REG)
        FAIL(c, "%s: elect has two results: d|p", c->inst->text);
    if (c->inst->op == PTX_OP_LOP3_BOOL && c->inst->operands[0].pair == PTX_NO_REG)
        FAIL(c, "%s: with a boolean operation lop3 has two results: d|p", c->inst->text);
    if (c->inst->op == PTX_OP_SHFL && c->inst->operands[0].kind == PTX_OPERAND_SINK)
        FAIL(c, "%s: the result cannot be dropped", c->inst->text);
}

void ptx_check_rules(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    const struct rule_context c = {p, inst, offset};
    check_float_mods(&c);
    check_atomic(&c);
    check_compare(&c);
    check_rounding(&c);
    check_hints(&c);
    check_async_copy(&c);
    check_barrier(&c);
    check_video(&c);
    check_fragments(&c);
    ptx_check_matrices(p, inst, offset);
    check_arrival(&c);
    check_pairs(&c);
    check_width(&c);
    check_bulk_copy(&c);
    check_counted(&c);
    ptx_check_bulk(p, inst, offset);
    check_alloca(&c);
    check_three_inputs(&c);
    ptx_check_forms(p, inst, offset);
}
