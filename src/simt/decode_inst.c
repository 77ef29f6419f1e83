/*
 * decode_inst.c: one PTX instruction becomes one simt_inst: its operands are placed, its body
 * chosen. Branches and calls, which depend on other instructions, are in decode.c and
 * decode_call.c.
 */
#include "simt/decode.h"

static const struct simt_inst *run_unsupported(struct simt_warp *w, const struct simt_inst *in)
{
    return simt_raise(w, in, SIMT_FAULT_UNSUPPORTED, -1, "%s is not supported by the machine",
                      in->ptx->text);
}

/* One operand after the other goes to d, d2, then a, b, c, e, and the rest to the list. */
struct placing {
    uint32_t d, d2, sources[4], source_count;
    unsigned d_bits, d2_bits, source_bits[4], list_bits;
    uint32_t list[160], list_count;
    uint8_t counts[2], vectors;
    int64_t imm;
    bool has_address;
    enum simt_address_kind address;
};

static void place_source(struct placing *placing, uint32_t slot, unsigned bits)
{
    if (placing->source_count < 4) {
        placing->sources[placing->source_count] = slot;
        placing->source_bits[placing->source_count++] = bits;
    } else if (placing->list_count < 160) {
        placing->list[placing->list_count++] = slot;
    }
}

/* Width of a list's slots: that of its registers, which are all alike; constants adapt. */
static unsigned list_bits(const struct decoder *decoder, const struct ptx_operand *items,
                          uint32_t count)
{
    unsigned bits = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind == PTX_OPERAND_REG)
            return decode_operand_bits(decoder, &items[i]);
        if (items[i].kind != PTX_OPERAND_SINK)
            bits = decode_operand_bits(decoder, &items[i]);
    }
    return bits;
}

static void place_list(struct decoder *decoder, const struct ptx_inst *ptx,
                       const struct ptx_operand *operand, struct placing *placing)
{
    bool is_vector = operand->kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *items = is_vector ? operand->items : operand;
    uint32_t count = is_vector ? operand->item_count : 1;
    bool is_descriptor = !is_vector && ptx_is_wgmma(ptx->op);
    unsigned bits = is_descriptor ? 64 : list_bits(decoder, items, count);
    if (!placing->list_bits)
        placing->list_bits = bits;
    for (uint32_t i = 0; i < count && placing->list_count < 160; i++)
        placing->list[placing->list_count++] =
            items[i].kind == PTX_OPERAND_IMM
                ? slot_literal(decoder, (uint64_t)items[i].imm, items[i].imm_high, bits)
                : decode_operand_slot(decoder, ptx, &items[i]);
    if (placing->vectors < 2)
        placing->counts[placing->vectors++] = (uint8_t)count;
    if (is_vector && operand->pair != PTX_NO_REG) {
        placing->d2 = decoder->slots[operand->pair];
        placing->d2_bits = slot_bits(decoder->ptx->regs[operand->pair].type);
    }
}

/* ld.param and st.param with a constant address reach the frame or the kernel's parameters. */
static bool place_param_address(struct decoder *decoder, const struct ptx_operand *operand,
                                struct placing *placing)
{
    const struct ptx_var *var = operand->var;
    if (!var || var->space != PTX_SPACE_PARAM || operand->reg != PTX_NO_REG)
        return false;
    uint64_t address; /* src/ptx/check_memory.c has seen that the access stays inside */
    bool fixed = decode_fixed_address(decoder, var, &address);
    bool kernel = fixed && address >= SIMT_ARENA_BASE;
    placing->address = kernel ? SIMT_ADDRESS_PARAM : SIMT_ADDRESS_FRAME;
    placing->imm = operand->imm + (int64_t)(kernel ? var->offset : address);
    placing->has_address = true;
    place_source(placing, decoder->sink, 64);
    return true;
}

static void place_operand(struct decoder *decoder, const struct ptx_inst *ptx, unsigned k,
                          struct placing *placing)
{
    const struct ptx_operand *operand = &ptx->operands[k];
    const struct flow_roles *roles = simt_flow_roles(ptx->op);
    bool is_tensor = ptx_op_infos[ptx->op].group == PTX_GROUP_TENSOR;
    if (operand->kind == PTX_OPERAND_ADDRESS) {
        if (!placing->has_address && place_param_address(decoder, operand, placing))
            return;
        unsigned bits;
        uint32_t slot = decode_address_slot(decoder, ptx, operand,
                                            placing->has_address ? NULL : &placing->imm, &bits);
        placing->has_address = true;
        place_source(placing, slot, bits);
        for (uint32_t i = 0; i < operand->item_count; i++) /* coordinates of a tensor */
            placing->list[placing->list_count++] =
                decode_operand_slot(decoder, ptx, &operand->items[i]);
    } else if (operand->kind == PTX_OPERAND_VECTOR || (is_tensor && k < 8 && roles->is_list[k])) {
        place_list(decoder, ptx, operand, placing);
    } else if (k < 8 && roles->is_written[k]) {
        placing->d = decode_operand_slot(decoder, ptx, operand);
        placing->d_bits =
            operand->kind == PTX_OPERAND_SINK ? 0 : decode_operand_bits(decoder, operand);
        if (operand->pair != PTX_NO_REG) {
            placing->d2 = decoder->slots[operand->pair];
            placing->d2_bits = slot_bits(decoder->ptx->regs[operand->pair].type);
        }
    } else {
        place_source(placing, decode_operand_slot(decoder, ptx, operand),
                     decode_operand_bits(decoder, operand));
    }
}

static uint16_t access_flags(const struct placing *placing)
{
    unsigned bits = placing->list_bits ? placing->list_bits
                    : placing->d_bits  ? placing->d_bits
                                       : placing->source_bits[1];
    unsigned flags = bits / 8 << SIMT_FLAG_BYTES_SHIFT;
    if (placing->address == SIMT_ADDRESS_PARAM)
        flags |= SIMT_FLAG_PARAM;
    if (placing->address == SIMT_ADDRESS_FRAME)
        flags |= SIMT_FLAG_FRAME;
    if (placing->source_bits[0] == 32)
        flags |= SIMT_FLAG_ADDRESS_32;
    return (uint16_t)flags;
}

void decode_plain(struct decoder *decoder, const struct ptx_inst *ptx)
{
    struct placing placing = {.d = decoder->sink, .d2 = decoder->sink};
    if (ptx_op_infos[ptx->op].group == PTX_GROUP_UNSUPPORTED) {
        decode_guard(decoder, decode_emit(decoder, run_unsupported, ptx));
        return;
    }
    for (unsigned k = 0; k < ptx->operand_count; k++)
        place_operand(decoder, ptx, k, &placing);
    struct simt_operands operands = {.ptx = ptx,
                                     .function = decoder->ptx,
                                     .d_bits = placing.d_bits,
                                     .d2_bits = placing.d2_bits,
                                     .a_bits = placing.source_bits[0],
                                     .b_bits = placing.source_bits[1],
                                     .c_bits = placing.source_bits[2],
                                     .e_bits = placing.source_bits[3],
                                     .list_bits = placing.list_bits,
                                     .address = placing.address};
    simt_body *run = simt_select(&operands);
    struct simt_inst *inst = decode_emit(decoder, run ? run : run_unsupported, ptx);
    decode_guard(decoder, inst);
    if (placing.has_address)
        inst->flags |= access_flags(&placing);
    if (ptx->op == PTX_OP_ALLOCA)
        decoder->code->unbounded_stack = true;
    inst->d = placing.d;
    inst->d2 = placing.d2;
    uint32_t *fields[4] = {&inst->a, &inst->b, &inst->c, &inst->e};
    for (uint32_t i = 0; i < placing.source_count; i++)
        *fields[i] = placing.sources[i];
    inst->imm = placing.imm;
    if (ptx->op == PTX_OP_MOV) /* packing: bytes of the whole */
        inst->imm = (placing.source_count ? placing.source_bits[0] : placing.d_bits) / 8;
    memcpy(inst->counts, placing.counts, sizeof(inst->counts));
    if (ptx_op_infos[ptx->op].group == PTX_GROUP_ASYNC) { /* widths of the later addresses */
        inst->counts[0] = (uint8_t)placing.source_bits[1];
        inst->counts[1] = (uint8_t)placing.source_bits[3];
    }
    if (ptx_op_infos[ptx->op].group == PTX_GROUP_CLUSTER) { /* width of the mbarrier's address */
        decoder->code->uses_cluster = true;
        if (placing.source_count)
            inst->counts[1] = (uint8_t)placing.source_bits[placing.source_count - 1];
    }
    if (ptx->op == PTX_OP_SETMAXNREG && ptx_has(ptx, PTX_MOD_INC) &&
        (uint64_t)ptx->operands[0].imm > decoder->code->increase)
        decoder->code->increase = (uint32_t)ptx->operands[0].imm;
    if (ptx_op_infos[ptx->op].group == PTX_GROUP_BULK) {
        inst->counts[0] = (uint8_t)placing.source_bits[1];
        inst->counts[1] = (uint8_t)placing.source_bits[2];
        if (ptx->op == PTX_OP_BULK_RED_S)
            inst->counts[1] = (uint8_t)placing.source_bits[3];
    }
    if (placing.list_count)
        inst->list =
            lk_arena_dup(decoder->arena, placing.list, placing.list_count * sizeof(uint32_t));
}
