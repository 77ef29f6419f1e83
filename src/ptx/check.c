/*
 * check.c: do the operands fit the row?
 * The rules are those of ptxas: .bN agrees with anything of N bits, integers with integers, floats
 * with the same float; loads, stores and conversions take registers wider than the type.
 */
#include "ptx/front.h"

#include <stdio.h>

/* State of one attempt to fit one row. */
struct attempt {
    struct ptx_parser *p;
    struct ptx_inst *inst;
    const struct ptx_row *row;
    uint32_t offset; /* of the instruction */
};

static enum ptx_type bits_type(unsigned bits)
{
    switch (bits) {
    case 8:
        return PTX_B8;
    case 16:
        return PTX_B16;
    case 32:
        return PTX_B32;
    case 64:
        return PTX_B64;
    case 128:
        return PTX_B128;
    }
    return PTX_TYPE_NONE;
}

static enum ptx_type resize(enum ptx_type type, unsigned bits)
{
    for (unsigned i = 1; i < PTX_TYPE_COUNT; i++)
        if (ptx_type_bits(i) == bits && ptx_type_kind(i) == ptx_type_kind(type))
            return i;
    return PTX_TYPE_NONE;
}

static enum ptx_type wanted_type(const struct ptx_inst *inst, uint8_t source)
{
    switch (source) {
    case PTX_FROM_T1:
    case PTX_FROM_T2:
    case PTX_FROM_T3:
    case PTX_FROM_T4:
        return inst->types[source - PTX_FROM_T1];
    case PTX_FROM_WIDE:
        return resize(inst->types[0], ptx_type_bits(inst->types[0]) * 2);
    case PTX_FROM_HALF:
        return resize(inst->types[0], ptx_type_bits(inst->types[0]) / 2);
    case PTX_FROM_ADDR:
    case PTX_FROM_ANY:
        return PTX_TYPE_NONE;
    default:
        return source;
    }
}

bool ptx_reg_fits(enum ptx_type reg, enum ptx_type wanted, bool may_be_wider)
{
    unsigned reg_bits = ptx_type_bits(reg), wanted_bits = ptx_type_bits(wanted);
    enum ptx_type_kind reg_kind = ptx_type_kind(reg), kind = ptx_type_kind(wanted);
    if (wanted == PTX_TYPE_NONE)
        return true;
    if (reg == PTX_PRED || wanted == PTX_PRED)
        return reg == wanted;
    if (reg_kind == PTX_KIND_FLOAT && kind == PTX_KIND_FLOAT)
        return reg == wanted || (wanted == PTX_TF32 && reg == PTX_F32);
    if (reg_bits != wanted_bits && !(may_be_wider && reg_bits > wanted_bits))
        return false;
    if (wanted == PTX_U16X2 || wanted == PTX_S16X2)
        return reg_kind == PTX_KIND_BITS || reg == PTX_U16X2 || reg == PTX_S16X2;
    if (reg == PTX_F16X2 && kind != PTX_KIND_FLOAT) /* ptxas takes the pair as 32 bits */
        return true;
    if (reg_kind == PTX_KIND_FLOAT || kind == PTX_KIND_FLOAT)
        return reg_kind == PTX_KIND_BITS || kind == PTX_KIND_BITS;
    return true;
}

/* Loads, stores and conversions take wider registers for what has one of the row's types. */
static bool may_be_wider(const struct attempt *a, uint8_t source)
{
    switch (a->inst->op) {
    case PTX_OP_LD:
    case PTX_OP_LD_NC:
    case PTX_OP_LD_SYNC:
    case PTX_OP_LDU:
    case PTX_OP_ST:
    case PTX_OP_ST_SYNC:
    case PTX_OP_CVT:
    case PTX_OP_CVT_NARROW:
        return source >= PTX_FROM_T1;
    default:
        return false;
    }
}

static const char *describe(const struct attempt *a, unsigned index, char *text, size_t size)
{
    snprintf(text, size, "%s: operand %u (%c)", a->inst->text, index + 1,
             a->row->specs[index].name);
    return text;
}

static _Noreturn void fail_operand(const struct attempt *a, unsigned index,
                                   const struct ptx_raw *raw, const char *what)
{
    char text[512];
    ptx_fail(a->p, raw->offset, "%s %s", describe(a, index, text, sizeof(text)), what);
}

static void check_reg(const struct attempt *a, unsigned index, const struct ptx_raw *raw,
                      uint32_t reg, enum ptx_type wanted, uint8_t source)
{
    const struct ptx_reg *info = &a->p->regs[reg];
    char text[512];
    if (source == PTX_FROM_ADDR) {
        unsigned bits = ptx_type_bits(info->type);
        if ((bits == 32 || bits == 64) && ptx_type_kind(info->type) != PTX_KIND_FLOAT)
            return;
        ptx_fail(a->p, raw->offset, "%s must be an address, %s is .%s",
                 describe(a, index, text, sizeof(text)), info->name, ptx_type_name(info->type));
    }
    if (!ptx_reg_fits(info->type, wanted, may_be_wider(a, source)))
        ptx_fail(a->p, raw->offset, "%s must be .%s, %s is .%s",
                 describe(a, index, text, sizeof(text)), ptx_type_name(wanted), info->name,
                 ptx_type_name(info->type));
}

static void check_literal(const struct attempt *a, unsigned index, const struct ptx_raw *raw,
                          enum ptx_type wanted, struct ptx_operand *operand)
{
    uint64_t bits = raw->value.bits;
    char what[64];
    if (wanted != PTX_TYPE_NONE && !ptx_constant_bits(raw->value, wanted, &bits)) {
        const char *hint =
            ptx_type_kind(wanted) == PTX_KIND_FLOAT ? " (write 1.0 or 0f3F800000)" : "";
        snprintf(what, sizeof(what), "is not a .%s constant%s", ptx_type_name(wanted), hint);
        fail_operand(a, index, raw, what);
    }
    operand->imm = (int64_t)bits;
    /* Signed constants are kept sign-extended, so that imm is the number itself. */
    unsigned width = ptx_type_bits(wanted);
    if (ptx_type_kind(wanted) == PTX_KIND_SIGNED && width < 64)
        operand->imm = (int64_t)(bits << (64 - width)) >> (64 - width);
    if (wanted == PTX_B128 && raw->value.kind == PTX_VALUE_SIGNED && operand->imm < 0)
        operand->imm_high = UINT64_MAX;
}

static void check_sreg(const struct attempt *a, unsigned index, const struct ptx_raw *raw,
                       enum ptx_type wanted)
{
    unsigned bits = ptx_sreg_bits(raw->operand.sreg), wanted_bits = ptx_type_bits(wanted);
    if (a->inst->op != PTX_OP_MOV && a->inst->op != PTX_OP_MOV_VECTOR && a->inst->op != PTX_OP_CVT)
        fail_operand(a, index, raw, "is a special register; mov it to a register first");
    if (bits != wanted_bits && !(bits == 32 && wanted_bits == 16))
        fail_operand(a, index, raw,
                     bits == 64   ? "is a 64-bit special register"
                     : bits == 32 ? "is a 32-bit special register"
                                  : "is a predicate");
    if (ptx_type_kind(wanted) == PTX_KIND_FLOAT)
        fail_operand(a, index, raw, "is an integer special register");
}

static enum ptx_space wanted_space(const struct ptx_inst *inst)
{
    static const struct {
        enum ptx_mod mod;
        enum ptx_space space;
    } spaces[] = {
        {PTX_MOD_GLOBAL, PTX_SPACE_GLOBAL},     {PTX_MOD_SHARED, PTX_SPACE_SHARED},
        {PTX_MOD_SHARED_CTA, PTX_SPACE_SHARED}, {PTX_MOD_SHARED_CLUSTER, PTX_SPACE_SHARED},
        {PTX_MOD_LOCAL, PTX_SPACE_LOCAL},       {PTX_MOD_CONST, PTX_SPACE_CONST},
        {PTX_MOD_PARAM, PTX_SPACE_PARAM},       {PTX_MOD_PARAM_ENTRY, PTX_SPACE_PARAM},
        {PTX_MOD_PARAM_FUNC, PTX_SPACE_PARAM},
    };
    for (unsigned i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
        if (ptx_has(inst, spaces[i].mod))
            return spaces[i].space;
    return PTX_SPACE_GENERIC;
}

/* Where the address of a variable or function can stand as a value. */
static bool takes_symbol(const struct attempt *a, uint8_t source)
{
    switch (a->inst->op) {
    case PTX_OP_MOV:
    case PTX_OP_CVTA:
    case PTX_OP_MAPA:
    case PTX_OP_GETCTARANK:
        return true;
    default:
        return source == PTX_FROM_ANY;
    }
}

static void check_symbol(const struct attempt *a, unsigned index, const struct ptx_raw *raw,
                         enum ptx_type wanted, uint8_t source)
{
    unsigned bits = ptx_type_bits(wanted);
    if (!takes_symbol(a, source))
        fail_operand(a, index, raw, "is a name; mov its address to a register first");
    if (wanted != PTX_TYPE_NONE &&
        ((bits != 32 && bits != 64) || ptx_type_kind(wanted) == PTX_KIND_FLOAT))
        fail_operand(a, index, raw, "is an address: 32 or 64 bits");
    if (a->inst->op == PTX_OP_CVTA &&
        (!raw->operand.var || raw->operand.var->space != wanted_space(a->inst)))
        fail_operand(a, index, raw, "names a variable of another state space");
    if (raw->operand.var && raw->operand.var->space == PTX_SPACE_PARAM)
        ptx_check_param_value(a->p, a->inst, &raw->operand, raw->offset);
}

static void check_signs(const struct attempt *a, unsigned index, const struct ptx_raw *raw,
                        bool written)
{
    const struct ptx_operand *operand = &raw->operand;
    bool is_video = ptx_op_infos[a->inst->op].group == PTX_GROUP_VIDEO;
    if (operand->negate) {
        bool is_pred = operand->kind == PTX_OPERAND_REG && operand->reg != PTX_NO_REG &&
                       a->p->regs[operand->reg].type == PTX_PRED;
        if (written || operand->kind != PTX_OPERAND_REG || (!is_pred && !is_video))
            fail_operand(a, index, raw, "cannot be negated here");
    }
    if (operand->selector && !is_video)
        fail_operand(a, index, raw, "takes no .b or .h part here");
    if (raw->has_pair && !a->row->specs[index].has_pair)
        fail_operand(a, index, raw, "takes no second destination");
}

/* Atomics act on memory and vectors have other items; elsewhere _ would leave nothing to do. */
static bool may_be_dropped(const struct attempt *a, unsigned index)
{
    enum ptx_group group = ptx_op_infos[a->inst->op].group;
    bool is_item = a->p->raws[index].operand.kind == PTX_OPERAND_VECTOR;
    return a->row->specs[index].has_pair || is_item || group == PTX_GROUP_ATOMIC ||
           group == PTX_GROUP_ASYNC;
}

/* One register, constant, special register or name. */
static void check_scalar(const struct attempt *a, unsigned index, const struct ptx_raw *raw,
                         enum ptx_type wanted, uint8_t source, struct ptx_operand *operand)
{
    bool written = a->row->specs[index].written;
    *operand = raw->operand;
    operand->type = wanted;
    if (raw->is_unknown) {
        char text[512];
        ptx_fail(a->p, raw->offset, "'%s' is not declared (%s)", raw->name->text,
                 describe(a, index, text, sizeof(text)));
    }
    check_signs(a, index, raw, written);
    if (a->row->specs[index].is_constant && raw->operand.kind != PTX_OPERAND_IMM)
        fail_operand(a, index, raw, "must be a constant");
    switch (raw->operand.kind) {
    case PTX_OPERAND_REG:
        check_reg(a, index, raw, raw->operand.reg, wanted, source);
        if (source == PTX_FROM_ADDR)
            operand->type = bits_type(ptx_type_bits(a->p->regs[raw->operand.reg].type));
        return;
    case PTX_OPERAND_SINK:
        if (!written)
            fail_operand(a, index, raw, "is read: _ only stands for results");
        if (!may_be_dropped(a, index))
            fail_operand(a, index, raw, "is the only result and cannot be dropped");
        return;
    case PTX_OPERAND_IMM:
        if (written)
            fail_operand(a, index, raw, "is written: it must be a register");
        check_literal(a, index, raw, source == PTX_FROM_ADDR ? PTX_U64 : wanted, operand);
        if (source == PTX_FROM_ADDR)
            operand->type = PTX_B64;
        return;
    case PTX_OPERAND_SREG:
    case PTX_OPERAND_VAR:
    case PTX_OPERAND_FUNCTION:
        if (written)
            fail_operand(a, index, raw, "is written: it must be a register");
        if (raw->operand.kind == PTX_OPERAND_SREG)
            check_sreg(a, index, raw, wanted);
        else
            check_symbol(a, index, raw, wanted, source);
        if (source == PTX_FROM_ADDR)
            operand->type = PTX_B64;
        return;
    case PTX_OPERAND_ADDRESS:
        fail_operand(a, index, raw, "is not an address: leave out the []");
    default:
        fail_operand(a, index, raw, "is not a vector");
    }
}

static void check_vector(const struct attempt *a, unsigned index, const struct ptx_raw *raw,
                         enum ptx_type item_type, uint8_t source, struct ptx_operand *operand)
{
    *operand = raw->operand;
    operand->type = item_type;
    uint32_t count = raw->operand.item_count, dropped = 0;
    unsigned bits = 0; /* of the registers: wider ones are taken, but all must be alike */
    struct ptx_operand *items = lk_arena_alloc(a->p->arena, count * sizeof(*items));
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_raw *item = &a->p->items[raw->first_item + i];
        if (item->has_pair || (raw->has_pair && !a->row->specs[index].has_pair))
            fail_operand(a, index, item, "takes no second destination");
        check_scalar(a, index, item, item_type, source, &items[i]);
        dropped += items[i].kind == PTX_OPERAND_SINK;
        if (items[i].kind != PTX_OPERAND_REG || !may_be_wider(a, source))
            continue;
        unsigned width = ptx_type_bits(a->p->regs[items[i].reg].type);
        if (bits && bits != width)
            fail_operand(a, index, item, "has registers of different widths");
        bits = width;
    }
    if (count && dropped == count)
        fail_operand(a, index, raw, "drops every element");
    operand->items = items;
}

/* mov packs and unpacks: the items share the bits of the type evenly. */
static void check_mov_vector(const struct attempt *a, unsigned index, const struct ptx_raw *raw,
                             struct ptx_operand *operand)
{
    enum ptx_type type = a->inst->types[0];
    uint32_t count = raw->operand.item_count;
    enum ptx_type item = count ? bits_type(ptx_type_bits(type) / count) : PTX_TYPE_NONE;
    bool other_is_vector = a->p->raws[1 - index].operand.kind == PTX_OPERAND_VECTOR;
    if (ptx_type_kind(type) != PTX_KIND_BITS || other_is_vector ||
        (count != 1 && count != 2 && count != 4) || item == PTX_TYPE_NONE)
        fail_operand(a, index, raw,
                     "packs or unpacks: 2 or 4 parts of a .b16, .b32, .b64 or .b128");
    check_vector(a, index, raw, item, a->row->specs[index].type, operand);
    if (count == 1) { /* one part is the whole */
        struct ptx_operand only = operand->items[0];
        *operand = only;
    }
}

static unsigned vector_length(const struct ptx_inst *inst)
{
    return ptx_has(inst, PTX_MOD_V2)   ? 2
           : ptx_has(inst, PTX_MOD_V4) ? 4
           : ptx_has(inst, PTX_MOD_V8) ? 8
                                       : 1;
}

static bool is_load_or_store(enum ptx_op op)
{
    return op == PTX_OP_LD || op == PTX_OP_LD_NC || op == PTX_OP_LD_SYNC || op == PTX_OP_ST ||
           op == PTX_OP_ST_SYNC || op == PTX_OP_ATOM || op == PTX_OP_RED || op == PTX_OP_ATOM_CAS;
}

static void check_address(const struct attempt *a, unsigned index, const struct ptx_raw *raw,
                          struct ptx_operand *operand)
{
    *operand = raw->operand;
    if (raw->operand.kind == PTX_OPERAND_VAR && !raw->operand.negate &&
        is_load_or_store(a->inst->op)) { /* ld.u32 %r1, x[2] */
        operand->kind = PTX_OPERAND_ADDRESS;
    } else if (raw->operand.kind != PTX_OPERAND_ADDRESS) {
        fail_operand(a, index, raw, "must be an address in [ ]");
    }
    if (operand->reg != PTX_NO_REG) {
        enum ptx_type type = a->p->regs[operand->reg].type;
        check_reg(a, index, raw, operand->reg, PTX_TYPE_NONE, PTX_FROM_ADDR);
        operand->type = bits_type(ptx_type_bits(type));
    }
    if (operand->var && is_load_or_store(a->inst->op)) {
        enum ptx_space space = wanted_space(a->inst);
        if (space != PTX_SPACE_GENERIC && space != operand->var->space)
            fail_operand(a, index, raw, "names a variable of another state space");
    }
    if (operand->var && operand->var->space == PTX_SPACE_PARAM) {
        if (wanted_space(a->inst) != PTX_SPACE_PARAM)
            fail_operand(a, index, raw, "names a variable of another state space");
        ptx_check_param_address(a->p, a->inst, operand, raw->offset);
    }
    if (operand->item_count) {
        check_vector(a, index, raw, PTX_TYPE_NONE, PTX_FROM_ANY, operand);
        operand->kind = PTX_OPERAND_ADDRESS;
    }
}

static void check_pair(const struct attempt *a, unsigned index, const struct ptx_raw *raw)
{
    const struct ptx_operand_spec *spec = &a->row->specs[index];
    if (spec->has_pair && raw->operand.pair != PTX_NO_REG)
        check_reg(a, index, raw, raw->operand.pair, wanted_type(a->inst, spec->pair_type),
                  spec->pair_type);
}

/* {x} of a load or store is x. */
static const struct ptx_raw *without_braces(const struct attempt *a, unsigned index)
{
    const struct ptx_raw *raw = &a->p->raws[index];
    if (raw->operand.kind != PTX_OPERAND_VECTOR || raw->operand.item_count != 1 ||
        a->inst->op == PTX_OP_MOV_VECTOR)
        return raw;
    const struct ptx_raw *item = &a->p->items[raw->first_item];
    if (item->operand.kind == PTX_OPERAND_SINK)
        fail_operand(a, index, raw, "drops every element");
    return item;
}

static void check_vector_operand(const struct attempt *a, unsigned index, enum ptx_type type,
                                 struct ptx_operand *operand)
{
    const struct ptx_operand_spec *spec = &a->row->specs[index];
    const struct ptx_raw *raw = &a->p->raws[index];
    unsigned length = vector_length(a->inst);
    char what[64];
    if (length == 1) {
        check_scalar(a, index, without_braces(a, index), type, spec->type, operand);
        return;
    }
    if (raw->operand.kind != PTX_OPERAND_VECTOR || raw->operand.item_count != length) {
        snprintf(what, sizeof(what), "must be a vector of %u", length);
        fail_operand(a, index, raw, what);
    }
    check_vector(a, index, raw, type, spec->type, operand);
}

static void check_operand(const struct attempt *a, unsigned index, struct ptx_operand *operand)
{
    const struct ptx_operand_spec *spec = &a->row->specs[index];
    const struct ptx_raw *raw = &a->p->raws[index];
    enum ptx_type type = wanted_type(a->inst, spec->type);
    bool is_vector = raw->operand.kind == PTX_OPERAND_VECTOR;
    switch ((enum ptx_shape)spec->shape) {
    case PTX_SHAPE_ADDRESS:
        check_address(a, index, raw, operand);
        return;
    case PTX_SHAPE_LABEL:
        if (!raw->name)
            fail_operand(a, index, raw, "must be a label");
        *operand =
            (struct ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REG, .pair = PTX_NO_REG};
        ptx_add_pending(a->p, operand, raw->name, raw->offset);
        return;
    case PTX_SHAPE_BRACES:
        if (is_vector && a->inst->op == PTX_OP_MOV)
            check_mov_vector(a, index, raw, operand);
        else if (is_vector)
            check_vector(a, index, raw, type, spec->type, operand);
        else
            check_scalar(a, index, raw, type, spec->type, operand);
        check_pair(a, index, raw);
        return;
    case PTX_SHAPE_VECTOR:
        check_vector_operand(a, index, type, operand);
        return;
    default:
        check_scalar(a, index, raw, type, spec->type, operand);
        check_pair(a, index, raw);
    }
}

void ptx_check_operands(struct ptx_parser *p, const struct ptx_opcode *opcode,
                        struct ptx_inst *inst, uint32_t offset)
{
    /* Rows with the same suffixes differ in the number of operands. */
    unsigned pick = 0, count = p->raw_count;
    for (unsigned i = 0; i < opcode->template_count; i++) {
        const struct ptx_row *row = ptx_row_of(opcode->templates[i].op);
        if (count >= row->required_count && count <= row->spec_count) {
            pick = i;
            break;
        }
    }
    *inst = opcode->templates[pick];
    struct attempt a = {p, inst, ptx_row_of(inst->op), offset};
    if (count < a.row->required_count || count > a.row->spec_count) {
        const char *form = ptx_op_infos[inst->op].operands;
        if (a.row->required_count == a.row->spec_count)
            ptx_fail(p, offset, "%s takes %u operands (%s), %u given", inst->text,
                     a.row->spec_count, *form ? form : "none", count);
        ptx_fail(p, offset, "%s takes %u to %u operands (%s), %u given", inst->text,
                 a.row->required_count, a.row->spec_count, form, count);
    }
    struct ptx_operand *operands = lk_arena_alloc(p->arena, count * sizeof(*operands));
    for (unsigned i = 0; i < count; i++)
        check_operand(&a, i, &operands[i]);
    inst->operands = operands;
    inst->operand_count = (uint8_t)count;
    ptx_check_rules(p, inst, offset);
}
