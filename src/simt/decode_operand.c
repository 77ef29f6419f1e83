/*
 * decode_operand.c: operands become slots.
 * Variables have addresses that are known when a kernel is decoded, except what lies in the frame
 * of a function that is called: such addresses are computed by hidden instructions.
 */
#include "simt/decode.h"

/* Bodies that stand for no PTX instruction ---------------------------------------------------- */

static const struct simt_inst *run_negate(struct simt_warp *w, const struct simt_inst *in)
{
    simt_state(w)->hidden++;
    simt_set_predicate(w, in->d, ~simt_predicate(w, in->a));
    return in + 1;
}

/* d = address of imm bytes into the frame's local memory. */
static const struct simt_inst *run_frame_address(struct simt_warp *w, const struct simt_inst *in)
{
    simt_state(w)->hidden++;
    uint64_t address = w->path->frame->local_base + (uint64_t)in->imm;
    uint64_t *d = SIMT_SLOT(uint64_t, in->d);
    for (int i = 0; i < SIMT_LANES; i++)
        d[i] = SIMT_ACTIVE(i) ? address : d[i];
    return in + 1;
}

static const struct simt_inst *run_add_offset(struct simt_warp *w, const struct simt_inst *in)
{
    simt_state(w)->hidden++;
    bool wide = in->counts[0] == 64;
    uint64_t *d = SIMT_SLOT(uint64_t, in->d);
    for (int i = 0; i < SIMT_LANES; i++) {
        uint64_t base = wide ? SIMT_SLOT(uint64_t, in->a)[i] : SIMT_SLOT(uint32_t, in->a)[i];
        d[i] = SIMT_ACTIVE(i) ? base + (uint64_t)in->imm : d[i];
    }
    return in + 1;
}

/* Emitting ---------------------------------------------------------------------------------------
 */

struct simt_inst *decode_emit(struct decoder *decoder, simt_body *run, const struct ptx_inst *ptx)
{
    if (decoder->inst_count == decoder->inst_capacity) {
        decoder->inst_capacity = decoder->inst_capacity ? decoder->inst_capacity * 2 : 256;
        decoder->insts =
            lk_realloc(decoder->insts, decoder->inst_capacity * sizeof(*decoder->insts));
    }
    struct simt_inst *inst = &decoder->insts[decoder->inst_count++];
    memset(inst, 0, sizeof(*inst));
    inst->run = run;
    inst->ptx = ptx;
    inst->guard = SIMT_NO_GUARD;
    inst->d = inst->d2 = inst->a = inst->b = inst->c = inst->e = decoder->sink;
    return inst;
}

void decode_guard(struct decoder *decoder, struct simt_inst *inst)
{
    if (inst->ptx->guard == PTX_NO_REG)
        return;
    inst->guard = decoder->slots[inst->ptx->guard];
    if (inst->ptx->guard_negate)
        inst->flags |= SIMT_FLAG_GUARD_NOT;
}

struct simt_inst *decode_hidden(struct decoder *decoder, simt_body *run, const struct ptx_inst *ptx)
{
    struct simt_inst *inst = decode_emit(decoder, run, ptx);
    inst->flags |= SIMT_FLAG_HIDDEN;
    return inst;
}

/* Variables
 * ----------------------------------------------------------------------------------------- */

bool decode_var_offset(const struct decoder *decoder, const struct ptx_var *var, uint32_t *offset)
{
    void *found = lk_map_get(&decoder->var_offsets, (const char *)&var, sizeof(var));
    *offset = (uint32_t)((uintptr_t)found - 1);
    return found != NULL;
}

void decode_put_var_offset(struct decoder *decoder, const struct ptx_var *const *var,
                           uint32_t offset)
{
    lk_map_put(&decoder->var_offsets, (const char *)var, sizeof(*var),
               (void *)((uintptr_t)offset + 1));
}

/* More than any launch may have, and far from where 32 bits end: a launch refuses it. */
enum { SHARED_MOST = 1 << 30 };

uint32_t decode_place_shared(struct decoder *decoder, const struct ptx_var *var)
{
    uint32_t align = var->align ? var->align : 1;
    uint32_t offset = (decoder->shared_top + align - 1) & ~(align - 1);
    uint64_t end = offset + (uint64_t)var->size;
    decoder->shared_top = end < SHARED_MOST ? (uint32_t)end : SHARED_MOST;
    return offset;
}

static bool is_dynamic_shared(const struct ptx_var *var)
{
    return var->space == PTX_SPACE_SHARED && var->is_extern && var->size == 0;
}

/* Finds every shared variable that a function of the kernel names. */
void decode_note_shared(struct decoder *decoder, const struct ptx_operand *operand)
{
    for (uint32_t i = 0; i < operand->item_count; i++)
        decode_note_shared(decoder, &operand->items[i]);
    const struct ptx_var *var = operand->var;
    if (!var || var->space != PTX_SPACE_SHARED || var->owner)
        return;
    if (is_dynamic_shared(var)) {
        decoder->uses_dynamic_shared = true;
        if (var->align > decoder->dynamic_align)
            decoder->dynamic_align = var->align;
    } else if (decoder->shared_offsets[var->index] == UINT32_MAX) {
        decoder->shared_offsets[var->index] = decode_place_shared(decoder, var);
    }
}

static bool is_kernel_param(const struct ptx_var *var)
{
    return var->space == PTX_SPACE_PARAM && var->owner && var->owner->is_entry;
}

/* The address of a variable, if it does not depend on the frame. Local variables of the entry
 * start at local address 0, because its frame is the first. */
bool decode_fixed_address(const struct decoder *decoder, const struct ptx_var *var,
                          uint64_t *address)
{
    uint32_t offset = 0;
    switch (var->space) {
    case PTX_SPACE_SHARED:
        if (is_dynamic_shared(var)) {
            *address = decoder->code->static_shared;
        } else if (var->owner) {
            decode_var_offset(decoder, var, &offset);
            *address = offset;
        } else {
            *address = decoder->shared_offsets[var->index];
        }
        return true;
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
        /* A kernel's parameters have an offset of their own; everything else is in the frame. */
        if (is_kernel_param(var)) {
            for (uint32_t i = 0; i < decoder->ptx->param_count; i++)
                if (decoder->ptx->params[i].var == var) {
                    *address = decoder->module->machine->params_address + var->offset;
                    return true;
                }
        }
        decode_var_offset(decoder, var, &offset);
        *address = offset;
        return decoder->ptx->is_entry;
    default:
        *address = decoder->module->var_addresses[var->index];
        return true;
    }
}

static uint32_t var_slot(struct decoder *decoder, const struct ptx_inst *ptx,
                         const struct ptx_var *var, int64_t addend, unsigned bits)
{
    uint64_t address;
    decoder->code->fixed_params |= is_kernel_param(var);
    if (decode_fixed_address(decoder, var, &address))
        return slot_address(decoder, var, address + (uint64_t)addend, bits);
    uint32_t slot = slot_new(decoder, 64);
    struct simt_inst *inst = decode_hidden(decoder, run_frame_address, ptx);
    inst->d = slot;
    inst->imm = (int64_t)(address + (uint64_t)addend);
    return slot;
}

/* Operands
 * -------------------------------------------------------------------------------------------- */

unsigned decode_operand_bits(const struct decoder *decoder, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        return slot_bits(decoder->ptx->regs[operand->reg].type);
    case PTX_OPERAND_ADDRESS:
        return operand->reg != PTX_NO_REG ? slot_bits(decoder->ptx->regs[operand->reg].type) : 64;
    case PTX_OPERAND_SREG:
        return ptx_sreg_bits(operand->sreg);
    case PTX_OPERAND_VECTOR:
        return operand->item_count ? decode_operand_bits(decoder, &operand->items[0]) : 0;
    case PTX_OPERAND_FUNCTION:
        return 64;
    default:
        return operand->type == PTX_TYPE_NONE ? 32 : slot_bits(operand->type);
    }
}

static bool is_dynamic_sreg(enum ptx_sreg sreg)
{
    switch (sreg) {
    case PTX_SREG_CLOCK:
    case PTX_SREG_CLOCK_HI:
    case PTX_SREG_CLOCK64:
    case PTX_SREG_GLOBALTIMER:
    case PTX_SREG_GLOBALTIMER_LO:
    case PTX_SREG_GLOBALTIMER_HI:
        return true;
    default:
        return false;
    }
}

/* A clock that is not simply moved: a mov of our own reads it first. */
static uint32_t changing_slot(struct decoder *decoder, const struct ptx_inst *ptx,
                              const struct ptx_operand *operand)
{
    bool is_mov = ptx->op == PTX_OP_MOV && ptx->operands[0].kind != PTX_OPERAND_VECTOR;
    if (is_mov)
        return decoder->sink; /* its body reads the clock */
    struct ptx_operand pair[2] = {{.kind = PTX_OPERAND_SINK}, *operand};
    struct ptx_inst *mov = lk_arena_dup(decoder->arena, ptx, sizeof(*ptx));
    mov->op = PTX_OP_MOV;
    mov->operands = lk_arena_dup(decoder->arena, pair, sizeof(pair));
    mov->operand_count = 2;
    struct simt_operands operands = {
        .ptx = mov, .function = decoder->ptx, .d_bits = ptx_sreg_bits(operand->sreg)};
    uint32_t slot = slot_new(decoder, operands.d_bits);
    decode_hidden(decoder, simt_select(&operands), mov)->d = slot;
    return slot;
}

uint32_t decode_operand_slot(struct decoder *decoder, const struct ptx_inst *ptx,
                             const struct ptx_operand *operand)
{
    unsigned bits = decode_operand_bits(decoder, operand);
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        if (operand->negate && bits == 1) {
            uint32_t slot = slot_new(decoder, 1);
            struct simt_inst *inst = decode_hidden(decoder, run_negate, ptx);
            inst->d = slot;
            inst->a = decoder->slots[operand->reg];
            return slot;
        }
        return decoder->slots[operand->reg];
    case PTX_OPERAND_IMM:
        return slot_literal(decoder, (uint64_t)operand->imm, operand->imm_high, bits);
    case PTX_OPERAND_SREG:
        return is_dynamic_sreg(operand->sreg)
                   ? changing_slot(decoder, ptx, operand)
                   : slot_sreg(decoder, operand->sreg, (uint32_t)operand->imm);
    case PTX_OPERAND_VAR:
        return var_slot(decoder, ptx, operand->var, operand->imm, bits);
    case PTX_OPERAND_FUNCTION:
        return slot_literal(decoder, simt_function_address(operand->function), 0, 64);
    default:
        return decoder->sink;
    }
}

/* The base slot of an address; the constant part goes to *imm, or into the slot if imm is NULL. */
uint32_t decode_address_slot(struct decoder *decoder, const struct ptx_inst *ptx,
                             const struct ptx_operand *operand, int64_t *imm, unsigned *bits)
{
    uint64_t constant = (uint64_t)operand->imm; /* addresses wrap around */
    *bits = decode_operand_bits(decoder, operand);
    if (operand->var) {
        uint64_t address;
        if (!decode_fixed_address(decoder, operand->var, &address)) {
            *bits = 64;
            uint32_t slot = var_slot(decoder, ptx, operand->var, operand->imm, 64);
            if (imm)
                *imm = 0;
            return slot;
        }
        constant += address;
    }
    if (operand->reg == PTX_NO_REG) {
        *bits = 64;
        if (imm)
            *imm = 0;
        return slot_address(decoder, operand->var, constant, 64);
    }
    if (imm) {
        *imm = (int64_t)constant;
        return decoder->slots[operand->reg];
    }
    if (constant == 0)
        return decoder->slots[operand->reg];
    uint32_t slot = slot_new(decoder, 64);
    struct simt_inst *inst = decode_hidden(decoder, run_add_offset, ptx);
    inst->d = slot;
    inst->a = decoder->slots[operand->reg];
    inst->imm = (int64_t)constant;
    inst->counts[0] = (uint8_t)*bits;
    *bits = 64;
    return slot;
}
