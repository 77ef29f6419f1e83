/*
 * check_bulk.c: what the rows of ops.def cannot say about bulk copies and tensor maps: how many
 * coordinates a tensor has, and which reductions there are, each as ptxas has it.
 */
#include "ptx/front.h"

static unsigned rank_of(const struct ptx_inst *inst)
{
    for (unsigned i = 0; i < 5; i++)
        if (ptx_has(inst, PTX_MOD_1D + i))
            return i + 1;
    return 0;
}

static void check_coordinates(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    unsigned rank = rank_of(inst);
    if (!rank || ptx_op_infos[inst->op].group == PTX_GROUP_TEXTURE)
        return;
    for (unsigned k = 0; k < inst->operand_count; k++) {
        const struct ptx_operand *operand = &inst->operands[k];
        bool is_tensor = operand->kind == PTX_OPERAND_ADDRESS && operand->item_count;
        if (is_tensor && operand->item_count != rank)
            ptx_fail(p, offset, "%s: a tensor of %u dimensions takes %u coordinates, %u given",
                     inst->text, rank, rank, operand->item_count);
        for (uint32_t i = 0; is_tensor && i < rank; i++)
            if (operand->items[i].kind == PTX_OPERAND_REG &&
                ptx_type_bits(p->regs[operand->items[i].reg].type) != 32)
                ptx_fail(p, offset, "%s: coordinates must be 32-bit registers", inst->text);
        if (operand->kind == PTX_OPERAND_VECTOR && operand->item_count != rank - 2)
            ptx_fail(p, offset, "%s: %u dimensions take %u im2col offsets, %u given", inst->text,
                     rank, rank - 2, operand->item_count);
    }
    bool is_store = inst->op == PTX_OP_TMA_STORE || inst->op == PTX_OP_TMA_REDUCE ||
                    inst->op == PTX_OP_TMA_PREFETCH || inst->op == PTX_OP_TMA_PREFETCH_IM2COL;
    unsigned map = is_store ? 0 : 1;
    if (!inst->operands[map].item_count)
        ptx_fail(p, offset, "%s: the tensor map takes coordinates: [map, {..}]", inst->text);
    if (inst->operands[map].imm)
        ptx_fail(p, offset, "%s: the address of a tensor map takes no offset", inst->text);
    for (unsigned k = 0; k < inst->operand_count; k++)
        if (k != map && inst->operands[k].kind == PTX_OPERAND_ADDRESS &&
            inst->operands[k].item_count)
            ptx_fail(p, offset, "%s: only the tensor map takes coordinates", inst->text);
    if (ptx_has(inst, PTX_MOD_IM2COL_NO_OFFS) && rank < 3)
        ptx_fail(p, offset, "%s: im2col copies have at least 3 dimensions", inst->text);
}

static bool is_among(enum ptx_type type, const enum ptx_type *types)
{
    for (; *types; types++)
        if (*types == type)
            return true;
    return false;
}

static void check_reduction(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    static const enum ptx_type bits[] = {PTX_B32, PTX_B64, 0}, count[] = {PTX_U32, 0};
    static const enum ptx_type add[] = {PTX_U32, PTX_S32, PTX_U64,  PTX_F32,
                                        PTX_F64, PTX_F16, PTX_BF16, 0};
    static const enum ptx_type order[] = {PTX_U32, PTX_S32, PTX_U64, PTX_S64, PTX_F16, PTX_BF16, 0};
    static const struct {
        enum ptx_mod mod;
        const enum ptx_type *types;
    } rules[] = {{PTX_MOD_ADD, add},   {PTX_MOD_MIN, order}, {PTX_MOD_MAX, order},
                 {PTX_MOD_INC, count}, {PTX_MOD_DEC, count}, {PTX_MOD_AND, bits},
                 {PTX_MOD_OR, bits},   {PTX_MOD_XOR, bits}};
    if (inst->op != PTX_OP_BULK_RED_G && inst->op != PTX_OP_BULK_RED_S)
        return;
    enum ptx_type type = inst->types[0];
    bool is_half = type == PTX_F16 || type == PTX_BF16;
    bool is_long_order = type == PTX_U64 && !ptx_has(inst, PTX_MOD_ADD);
    for (unsigned i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (ptx_has(inst, rules[i].mod) &&
            (!is_among(type, rules[i].types) || (inst->op == PTX_OP_BULK_RED_S && is_long_order)))
            ptx_fail(p, offset, "%s: .%s has no .%s form", inst->text, ptx_mod_name(rules[i].mod),
                     ptx_type_name(type));
    if (ptx_has(inst, PTX_MOD_NOFTZ) != (is_half && ptx_has(inst, PTX_MOD_ADD)))
        ptx_fail(p, offset, "%s: .noftz goes with .add of .f16 and .bf16, which need it",
                 inst->text);
}

static void check_map(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    bool is_wide = ptx_has(inst, PTX_MOD_GLOBAL_ADDRESS) || ptx_has(inst, PTX_MOD_GLOBAL_STRIDE);
    switch (inst->op) {
    case PTX_OP_TENSORMAP_REPLACE:
    case PTX_OP_TENSORMAP_REPLACE_DIM:
        if (is_wide != (inst->types[0] == PTX_B64))
            ptx_fail(p, offset, "%s: this field is .%s", inst->text, is_wide ? "b64" : "b32");
        return;
    case PTX_OP_TENSORMAP_COPY:
        if (inst->operands[2].imm != 128)
            ptx_fail(p, offset, "%s: a tensor map has 128 bytes", inst->text);
        return;
    case PTX_OP_FENCE_MAP_ACQUIRE:
        if (inst->operands[1].imm != 128)
            ptx_fail(p, offset, "%s: a tensor map has 128 bytes", inst->text);
        return;
    default:
        return;
    }
}

void ptx_check_bulk(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    check_coordinates(p, inst, offset);
    check_reduction(p, inst, offset);
    check_map(p, inst, offset);
}
