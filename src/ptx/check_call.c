/*
 * check_call.c: do the arguments of a call fit the function's formal parameters?
 * A .param variable must have the size of the formal one; registers and constants stand for
 * scalars.
 */
#include "ptx/front.h"

static const struct ptx_function *signature_of(struct ptx_parser *p, struct ptx_inst *inst,
                                               struct ptx_operand *callee)
{
    const struct ptx_raw *raw = &p->raws[1];
    *callee = raw->operand;
    if (callee->kind == PTX_OPERAND_FUNCTION)
        return callee->function;
    if (raw->is_unknown)
        ptx_fail(p, raw->offset, "function '%s' is not declared", raw->name->text);
    if (callee->kind != PTX_OPERAND_REG || callee->negate || callee->selector || raw->has_pair)
        ptx_fail(p, raw->offset, "'%s' is not a function", raw->name->text);
    enum ptx_type type = p->regs[callee->reg].type;
    if ((ptx_type_bits(type) != 64 && ptx_type_bits(type) != 32) ||
        ptx_type_kind(type) == PTX_KIND_FLOAT)
        ptx_fail(p, raw->offset, "%s cannot hold a function's address", p->regs[callee->reg].name);
    callee->type = type;
    if (p->raw_count < 4)
        ptx_fail(p, raw->offset, "a call through a register needs a .callprototype");
    if (!p->raws[3].prototype)
        ptx_fail(p, p->raws[3].offset,
                 "'%s' is not a .callprototype or .calltargets declared above",
                 p->raws[3].name->text);
    inst->prototype = p->raws[3].prototype;
    return inst->prototype;
}

static enum ptx_type formal_type(const struct ptx_function *function,
                                 const struct ptx_formal *formal)
{
    if (formal->var)
        return formal->var->type;
    return formal->reg < function->reg_count ? function->regs[formal->reg].type : PTX_TYPE_NONE;
}

static void check_argument(struct ptx_parser *p, const struct ptx_raw *raw, enum ptx_type type,
                           const struct ptx_formal *formal, bool is_return,
                           struct ptx_operand *operand)
{
    *operand = raw->operand;
    operand->type = type;
    uint64_t bits;
    if (raw->is_unknown)
        ptx_fail(p, raw->offset, "'%s' is not declared", raw->name->text);
    if (raw->operand.negate || raw->operand.selector || raw->has_pair)
        ptx_fail(p, raw->offset, "an argument is a .param variable, a register or a constant");
    switch (raw->operand.kind) {
    case PTX_OPERAND_VAR:
        if (raw->operand.var->space != PTX_SPACE_PARAM || raw->operand.imm)
            ptx_fail(p, raw->offset, "'%s' is not a .param variable", raw->operand.var->name);
        if (formal->var && formal->var->size && formal->var->size != raw->operand.var->size)
            ptx_fail(p, raw->offset, "'%s' has %llu bytes, the formal parameter has %llu",
                     raw->operand.var->name, (unsigned long long)raw->operand.var->size,
                     (unsigned long long)formal->var->size);
        return;
    case PTX_OPERAND_REG:
        if (!ptx_reg_fits(p->regs[raw->operand.reg].type, type, false))
            ptx_fail(p, raw->offset, "%s is .%s, the formal parameter is .%s",
                     p->regs[raw->operand.reg].name, ptx_type_name(p->regs[raw->operand.reg].type),
                     ptx_type_name(type));
        return;
    case PTX_OPERAND_IMM:
        if (is_return || (type != PTX_TYPE_NONE && !ptx_constant_bits(raw->value, type, &bits)))
            ptx_fail(p, raw->offset, "this constant does not fit the formal parameter");
        if (type != PTX_TYPE_NONE)
            operand->imm = (int64_t)bits;
        return;
    case PTX_OPERAND_SINK:
        if (is_return)
            return;
        /* fall through */
    default:
        ptx_fail(p, raw->offset, "an argument is a .param variable, a register or a constant");
    }
}

static void check_list(struct ptx_parser *p, const struct ptx_inst *inst, unsigned index,
                       const struct ptx_function *function, struct ptx_operand *operand,
                       uint32_t offset)
{
    const struct ptx_raw *raw = &p->raws[index];
    bool is_return = index == 0;
    const struct ptx_formal *formals = is_return ? function->returns : function->params;
    uint32_t formal_count = is_return ? function->return_count : function->param_count;
    uint32_t count = raw->operand.item_count;
    *operand = raw->operand;
    if (count != formal_count)
        ptx_fail(p, offset, "%s: '%s' has %u %s, %u given", inst->text, function->name,
                 formal_count, is_return ? "return values" : "parameters", count);
    struct ptx_operand *items = lk_arena_alloc(p->arena, count * sizeof(*items));
    for (uint32_t i = 0; i < count; i++)
        check_argument(p, &p->items[raw->first_item + i], formal_type(function, &formals[i]),
                       &formals[i], is_return, &items[i]);
    operand->items = items;
}

void ptx_check_call(struct ptx_parser *p, struct ptx_inst *inst, uint32_t offset)
{
    struct ptx_operand *operands = lk_arena_alloc(p->arena, 3 * sizeof(*operands));
    const struct ptx_function *function = signature_of(p, inst, &operands[1]);
    if (function->is_entry)
        ptx_fail(p, p->raws[1].offset, "'%s' is a kernel and cannot be called", function->name);
    check_list(p, inst, 0, function, &operands[0], offset);
    check_list(p, inst, 2, function, &operands[2], offset);
    inst->operands = operands;
    inst->operand_count = 3;
}
