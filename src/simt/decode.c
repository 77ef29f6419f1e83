/*
 * decode.c: from checked PTX to code that runs: every operand becomes a slot, every instruction a
 * function pointer, every place where paths meet gets a reconverge instruction.
 * One call of simt_decode shows the whole way: find the functions a kernel can reach, lay out its
 * shared memory, then decode each function.
 */
#include "simt/decode.h"

#include <stdio.h>
#include <stdlib.h>

/* Bodies that stand for no PTX instruction ---------------------------------------------------- */

static const struct simt_inst *run_unsupported(struct simt_warp *w, const struct simt_inst *in)
{
    return simt_raise(w, in, SIMT_FAULT_UNSUPPORTED, -1, "%s is not supported by the machine",
                      in->ptx->text);
}

static const struct simt_inst *run_undefined_call(struct simt_warp *w, const struct simt_inst *in)
{
    return simt_raise(w, in, SIMT_FAULT_UNSUPPORTED, -1,
                      "call of %s, which the module does not define (%s)",
                      in->ptx->operands[1].function->name,
                      "device runtime calls such as dynamic parallelism are not supported");
}

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

/* Emitting --------------------------------------------------------------------------------------- */

static struct simt_inst *emit(struct decoder *decoder, simt_body *run, const struct ptx_inst *ptx)
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

static void set_guard(struct decoder *decoder, struct simt_inst *inst)
{
    if (inst->ptx->guard == PTX_NO_REG)
        return;
    inst->guard = decoder->slots[inst->ptx->guard];
    if (inst->ptx->guard_negate)
        inst->flags |= SIMT_FLAG_GUARD_NOT;
}

static struct simt_inst *emit_hidden(struct decoder *decoder, simt_body *run,
                                     const struct ptx_inst *ptx)
{
    struct simt_inst *inst = emit(decoder, run, ptx);
    inst->flags |= SIMT_FLAG_HIDDEN;
    return inst;
}

/* Variables ----------------------------------------------------------------------------------------- */

static bool var_offset(const struct decoder *decoder, const struct ptx_var *var, uint32_t *offset)
{
    void *found = lk_map_get(&decoder->var_offsets, (const char *)&var, sizeof(var));
    *offset = (uint32_t)((uintptr_t)found - 1);
    return found != NULL;
}

static void put_var_offset(struct decoder *decoder, const struct ptx_var *const *var,
                           uint32_t offset)
{
    lk_map_put(&decoder->var_offsets, (const char *)var, sizeof(*var),
               (void *)((uintptr_t)offset + 1));
}

static uint32_t place_shared(struct decoder *decoder, const struct ptx_var *var)
{
    uint32_t align = var->align ? var->align : 1;
    decoder->shared_top = (decoder->shared_top + align - 1) & ~(align - 1);
    uint32_t offset = decoder->shared_top;
    decoder->shared_top += (uint32_t)var->size;
    return offset;
}

static bool is_dynamic_shared(const struct ptx_var *var)
{
    return var->space == PTX_SPACE_SHARED && var->is_extern && var->size == 0;
}

/* Finds every shared variable that a function of the kernel names. */
static void note_shared(struct decoder *decoder, const struct ptx_operand *operand)
{
    for (uint32_t i = 0; i < operand->item_count; i++)
        note_shared(decoder, &operand->items[i]);
    const struct ptx_var *var = operand->var;
    if (!var || var->space != PTX_SPACE_SHARED || var->owner)
        return;
    if (is_dynamic_shared(var)) {
        decoder->uses_dynamic_shared = true;
        if (var->align > decoder->dynamic_align)
            decoder->dynamic_align = var->align;
    } else if (decoder->shared_offsets[var->index] == UINT32_MAX) {
        decoder->shared_offsets[var->index] = place_shared(decoder, var);
    }
}

static bool is_kernel_param(const struct ptx_var *var)
{
    return var->space == PTX_SPACE_PARAM && var->owner && var->owner->is_entry;
}

/* The address of a variable, if it does not depend on the frame. Local variables of the entry
 * start at local address 0, because its frame is the first. */
static bool fixed_address(const struct decoder *decoder, const struct ptx_var *var,
                          uint64_t *address)
{
    uint32_t offset = 0;
    switch (var->space) {
    case PTX_SPACE_SHARED:
        if (is_dynamic_shared(var)) {
            *address = decoder->code->static_shared;
        } else if (var->owner) {
            var_offset(decoder, var, &offset);
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
        var_offset(decoder, var, &offset);
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
    if (fixed_address(decoder, var, &address))
        return slot_literal(decoder, address + (uint64_t)addend, 0, bits);
    uint32_t slot = slot_new(decoder, 64);
    struct simt_inst *inst = emit_hidden(decoder, run_frame_address, ptx);
    inst->d = slot;
    inst->imm = (int64_t)address + addend;
    return slot;
}

/* Operands -------------------------------------------------------------------------------------------- */

static unsigned operand_bits(const struct decoder *decoder, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        return slot_bits(decoder->ptx->regs[operand->reg].type);
    case PTX_OPERAND_ADDRESS:
        return operand->reg != PTX_NO_REG ? slot_bits(decoder->ptx->regs[operand->reg].type) : 64;
    case PTX_OPERAND_SREG:
        return ptx_sreg_bits(operand->sreg);
    case PTX_OPERAND_VECTOR:
        return operand->item_count ? operand_bits(decoder, &operand->items[0]) : 0;
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

static uint32_t operand_slot(struct decoder *decoder, const struct ptx_inst *ptx,
                             const struct ptx_operand *operand)
{
    unsigned bits = operand_bits(decoder, operand);
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        if (operand->negate && bits == 1) {
            uint32_t slot = slot_new(decoder, 1);
            struct simt_inst *inst = emit_hidden(decoder, run_negate, ptx);
            inst->d = slot;
            inst->a = decoder->slots[operand->reg];
            return slot;
        }
        return decoder->slots[operand->reg];
    case PTX_OPERAND_IMM:
        return slot_literal(decoder, (uint64_t)operand->imm, operand->imm_high, bits);
    case PTX_OPERAND_SREG:
        return is_dynamic_sreg(operand->sreg) ? decoder->sink : slot_sreg(decoder, operand->sreg);
    case PTX_OPERAND_VAR:
        return var_slot(decoder, ptx, operand->var, operand->imm, bits);
    case PTX_OPERAND_FUNCTION:
        return slot_literal(decoder, simt_function_address(operand->function), 0, 64);
    default:
        return decoder->sink;
    }
}

/* The base slot of an address; the constant part goes to *imm, or into the slot if imm is NULL. */
static uint32_t address_slot(struct decoder *decoder, const struct ptx_inst *ptx,
                             const struct ptx_operand *operand, int64_t *imm, unsigned *bits)
{
    int64_t constant = operand->imm;
    *bits = operand_bits(decoder, operand);
    if (operand->var) {
        uint64_t address;
        if (!fixed_address(decoder, operand->var, &address)) {
            *bits = 64;
            uint32_t slot = var_slot(decoder, ptx, operand->var, operand->imm, 64);
            if (imm)
                *imm = 0;
            return slot;
        }
        constant += (int64_t)address;
    }
    if (operand->reg == PTX_NO_REG) {
        *bits = 64;
        if (imm)
            *imm = 0;
        return slot_literal(decoder, (uint64_t)constant, 0, 64);
    }
    if (imm) {
        *imm = constant;
        return decoder->slots[operand->reg];
    }
    if (constant == 0)
        return decoder->slots[operand->reg];
    uint32_t slot = slot_new(decoder, 64);
    struct simt_inst *inst = emit_hidden(decoder, run_add_offset, ptx);
    inst->d = slot;
    inst->a = decoder->slots[operand->reg];
    inst->imm = constant;
    inst->counts[0] = (uint8_t)*bits;
    *bits = 64;
    return slot;
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

static void place_list(struct decoder *decoder, const struct ptx_inst *ptx,
                       const struct ptx_operand *operand, struct placing *placing)
{
    uint32_t count = operand->kind == PTX_OPERAND_VECTOR ? operand->item_count : 1;
    for (uint32_t i = 0; i < count && placing->list_count < 160; i++) {
        const struct ptx_operand *item =
            operand->kind == PTX_OPERAND_VECTOR ? &operand->items[i] : operand;
        if (item->kind != PTX_OPERAND_SINK && !placing->list_bits)
            placing->list_bits = operand_bits(decoder, item);
        placing->list[placing->list_count++] = operand_slot(decoder, ptx, item);
    }
    if (placing->vectors < 2)
        placing->counts[placing->vectors++] = (uint8_t)count;
}

/* ld.param and st.param with a constant address reach the frame or the kernel's parameters. */
static bool place_param_address(struct decoder *decoder, const struct ptx_operand *operand,
                                struct placing *placing)
{
    const struct ptx_var *var = operand->var;
    if (!var || var->space != PTX_SPACE_PARAM || operand->reg != PTX_NO_REG)
        return false;
    uint64_t address;
    bool fixed = fixed_address(decoder, var, &address);
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
        uint32_t slot = address_slot(decoder, ptx, operand,
                                     placing->has_address ? NULL : &placing->imm, &bits);
        placing->has_address = true;
        place_source(placing, slot, bits);
    } else if (operand->kind == PTX_OPERAND_VECTOR ||
               (is_tensor && k < 8 && roles->is_list[k])) {
        place_list(decoder, ptx, operand, placing);
    } else if (k < 8 && roles->is_written[k]) {
        placing->d = operand_slot(decoder, ptx, operand);
        placing->d_bits = operand->kind == PTX_OPERAND_SINK ? 0 : operand_bits(decoder, operand);
        if (operand->pair != PTX_NO_REG) {
            placing->d2 = decoder->slots[operand->pair];
            placing->d2_bits = slot_bits(decoder->ptx->regs[operand->pair].type);
        }
    } else {
        place_source(placing, operand_slot(decoder, ptx, operand), operand_bits(decoder, operand));
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

static void decode_plain(struct decoder *decoder, const struct ptx_inst *ptx)
{
    struct placing placing = {.d = decoder->sink, .d2 = decoder->sink};
    if (ptx_op_infos[ptx->op].group == PTX_GROUP_UNSUPPORTED) {
        set_guard(decoder, emit(decoder, run_unsupported, ptx));
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
    struct simt_inst *inst = emit(decoder, run ? run : run_unsupported, ptx);
    set_guard(decoder, inst);
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
    if (placing.list_count)
        inst->list = lk_arena_dup(decoder->arena, placing.list,
                                  placing.list_count * sizeof(uint32_t));
}

/* Calls -------------------------------------------------------------------------------------------------- */

static struct simt_place formal_place(struct decoder *decoder, const struct ptx_formal *formal)
{
    struct simt_place place = {0};
    if (formal->var) {
        uint32_t offset;
        var_offset(decoder, formal->var, &offset);
        place.offset = offset;
        place.bytes = (uint32_t)formal->var->size;
    } else {
        unsigned bits = slot_bits(decoder->ptx->regs[formal->reg].type);
        place = (struct simt_place){true, decoder->slots[formal->reg], bits == 1 ? 0 : bits / 8};
    }
    return place;
}

static struct simt_place actual_place(struct decoder *decoder, const struct ptx_inst *ptx,
                                      const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_VAR && operand->var->space == PTX_SPACE_PARAM) {
        uint32_t offset;
        var_offset(decoder, operand->var, &offset);
        return (struct simt_place){false, offset, (uint32_t)operand->var->size};
    }
    unsigned bits = operand_bits(decoder, operand);
    return (struct simt_place){true, operand_slot(decoder, ptx, operand), bits == 1 ? 0 : bits / 8};
}

static struct simt_place *actual_places(struct decoder *decoder, const struct ptx_inst *ptx,
                                        const struct ptx_operand *list, uint32_t *count)
{
    *count = list->kind == PTX_OPERAND_VECTOR ? list->item_count : 0;
    struct simt_place *places = lk_arena_alloc(decoder->arena, (*count + 1) * sizeof(*places));
    for (uint32_t i = 0; i < *count; i++)
        places[i] = actual_place(decoder, ptx, &list->items[i]);
    return places;
}

static const struct ptx_function *resolve(const struct decoder *decoder,
                                          const struct ptx_function *function)
{
    while (function->alias_of)
        function = function->alias_of;
    return function;
}

static void decode_call(struct decoder *decoder, const struct ptx_inst *ptx, simt_body *run)
{
    struct simt_call *call = lk_arena_alloc(decoder->arena, sizeof(*call));
    call->returns = actual_places(decoder, ptx, &ptx->operands[0], &call->return_count);
    call->arguments = actual_places(decoder, ptx, &ptx->operands[2], &call->argument_count);
    const struct ptx_operand *callee = &ptx->operands[1];
    uint32_t address = decoder->sink;
    if (callee->kind == PTX_OPERAND_FUNCTION) {
        const struct ptx_function *function = resolve(decoder, callee->function);
        uint32_t number = decoder->function_numbers[function->index];
        simt_body *builtin = function->inst_count ? NULL : simt_builtin(function->name);
        if (builtin)
            run = builtin;
        else if (!number)
            run = run_undefined_call;
        else
            call->callee = &decoder->code->functions[number - 1];
    } else {
        address = operand_slot(decoder, ptx, callee);
    }
    struct simt_inst *inst = emit(decoder, run, ptx);
    set_guard(decoder, inst);
    inst->a = address;
    inst->list = (const uint32_t *)call;
}

/* Functions ------------------------------------------------------------------------------------------------ */

static void layout_vars(struct decoder *decoder)
{
    const struct ptx_function *ptx = decoder->ptx;
    uint32_t top = 0;
    for (uint32_t i = 0; i < ptx->var_count; i++) {
        const struct ptx_var *var = ptx->vars[i];
        if (var->space == PTX_SPACE_SHARED) {
            put_var_offset(decoder, (const struct ptx_var *const *)&ptx->vars[i],
                           place_shared(decoder, var));
            continue;
        }
        uint32_t align = var->align ? var->align : 1;
        top = (top + align - 1) & ~(align - 1);
        put_var_offset(decoder, (const struct ptx_var *const *)&ptx->vars[i], top);
        top += (uint32_t)var->size;
    }
    for (uint32_t i = 0; !ptx->is_entry && i < ptx->param_count + ptx->return_count; i++) {
        const struct ptx_formal *formal =
            i < ptx->param_count ? &ptx->params[i] : &ptx->returns[i - ptx->param_count];
        if (!formal->var)
            continue;
        top = (top + 15) & ~15u;
        put_var_offset(decoder, &formal->var, top);
        top += (uint32_t)formal->var->size;
    }
    decoder->function->local_bytes = (top + 15) & ~15u;
}

static void layout_formals(struct decoder *decoder)
{
    const struct ptx_function *ptx = decoder->ptx;
    struct simt_function *function = decoder->function;
    if (ptx->is_entry)
        return;
    function->param_count = ptx->param_count;
    function->return_count = ptx->return_count;
    function->params =
        lk_arena_alloc(decoder->arena, (ptx->param_count + 1) * sizeof(struct simt_place));
    function->returns =
        lk_arena_alloc(decoder->arena, (ptx->return_count + 1) * sizeof(struct simt_place));
    for (uint32_t i = 0; i < ptx->param_count; i++)
        function->params[i] = formal_place(decoder, &ptx->params[i]);
    for (uint32_t i = 0; i < ptx->return_count; i++)
        function->returns[i] = formal_place(decoder, &ptx->returns[i]);
}

/* Branch targets are instruction numbers until all instructions have their place. */
struct fixup {
    const uint32_t *places; /* ptx instruction -> decoded instruction */
    uint32_t first;
};

static void decode_branch(struct decoder *decoder, const struct ptx_inst *ptx, uint32_t join,
                          simt_body *run)
{
    struct simt_inst *inst;
    if (ptx->op == PTX_OP_BRX) {
        uint32_t slot = operand_slot(decoder, ptx, &ptx->operands[0]);
        const struct ptx_operand *targets = &ptx->operands[1];
        uint32_t *list =
            lk_arena_alloc(decoder->arena, (targets->item_count + 2) * sizeof(uint32_t));
        list[0] = targets->item_count;
        list[1] = join;
        for (uint32_t i = 0; i < targets->item_count; i++)
            list[i + 2] = targets->items[i].target;
        inst = emit(decoder, run, ptx);
        inst->a = slot;
        inst->list = list;
    } else {
        inst = emit(decoder, run, ptx);
        inst->imm = ptx->operands[0].target;
        inst->c = join;
    }
    set_guard(decoder, inst);
}

static void fix_branches(struct decoder *decoder, const uint32_t *places, uint32_t from)
{
    for (uint32_t i = from; i < decoder->inst_count; i++) {
        struct simt_inst *inst = &decoder->insts[i];
        if (inst->flags & SIMT_FLAG_HIDDEN)
            continue;
        if (inst->ptx->op == PTX_OP_BRA) {
            inst->imm = places[inst->imm];
            inst->c = inst->c == UINT32_MAX ? UINT32_MAX : places[inst->c];
        } else if (inst->ptx->op == PTX_OP_BRX) {
            uint32_t *list = (uint32_t *)inst->list;
            list[1] = list[1] == UINT32_MAX ? UINT32_MAX : places[list[1]];
            for (uint32_t k = 0; k < list[0]; k++)
                list[k + 2] = places[list[k + 2]];
        }
    }
}

static void decode_one(struct decoder *decoder, const struct ptx_inst *ptx, uint32_t join)
{
    struct simt_operands operands = {.ptx = ptx, .function = decoder->ptx};
    switch (ptx->op) {
    case PTX_OP_BRA:
    case PTX_OP_BRX:
        decode_branch(decoder, ptx, join, simt_select(&operands));
        break;
    case PTX_OP_CALL:
        decode_call(decoder, ptx, simt_select(&operands));
        break;
    default:
        decode_plain(decoder, ptx);
    }
}

static void finish_frame(struct decoder *decoder)
{
    struct simt_function *function = decoder->function;
    function->frame_bytes = (decoder->frame_top + 63) & ~63u;
    function->literal_count = decoder->literals.count;
    function->literals = lk_arena_dup(decoder->arena, decoder->literals.items,
                                      decoder->literals.count * sizeof(struct simt_literal));
    function->sreg_count = decoder->sreg_count;
    function->sregs = lk_arena_dup(decoder->arena, decoder->sregs,
                                   decoder->sreg_count * sizeof(struct simt_sreg_slot));
    free(decoder->literals.items);
    free(decoder->sregs);
    lk_map_free(&decoder->var_offsets);
    memset(&decoder->literals, 0, sizeof(decoder->literals));
    decoder->sregs = NULL;
    decoder->sreg_count = decoder->sreg_capacity = 0;
}

static uint32_t decode_function(struct decoder *decoder, struct simt_function *function)
{
    const struct ptx_function *ptx = function->ptx;
    decoder->function = function;
    decoder->ptx = ptx;
    slots_assign(decoder);
    layout_vars(decoder);
    layout_formals(decoder);
    uint32_t *joins = simt_flow_joins(decoder->arena, ptx);
    uint8_t *is_join = lk_alloc_zeroed(ptx->inst_count + 1);
    for (uint32_t i = 0; i < ptx->inst_count; i++)
        if (joins[i] != UINT32_MAX)
            is_join[joins[i]] = 1;
    uint32_t first = decoder->inst_count;
    uint32_t *places = lk_alloc((ptx->inst_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < ptx->inst_count; i++) {
        places[i] = decoder->inst_count;
        if (is_join[i])
            emit_hidden(decoder, simt_reconverge, &ptx->insts[i]);
        decode_one(decoder, &ptx->insts[i], joins[i]);
    }
    fix_branches(decoder, places, first);
    free(places);
    free(is_join);
    finish_frame(decoder);
    return first;
}

/* Turns instruction numbers into pointers, once the instructions no longer move. */
static void link_code(struct decoder *decoder)
{
    struct simt_code *code = decoder->code;
    code->inst_count = decoder->inst_count;
    code->insts = lk_arena_dup(code->arena, decoder->insts,
                               decoder->inst_count * sizeof(struct simt_inst));
    free(decoder->insts);
    for (uint32_t i = 0; i < code->inst_count; i++) {
        struct simt_inst *inst = &code->insts[i];
        if (inst->flags & SIMT_FLAG_HIDDEN || inst->ptx->op != PTX_OP_BRA)
            continue;
        inst->target = &code->insts[inst->imm];
        inst->reconverge = inst->c == UINT32_MAX ? NULL : &code->insts[inst->c];
    }
}

/* Which functions can run ------------------------------------------------------------------------------------ */

static void add_function(struct decoder *decoder, const struct ptx_function *function)
{
    function = resolve(decoder, function);
    if (!function->inst_count || decoder->function_numbers[function->index])
        return;
    decoder->code->functions[decoder->code->function_count].ptx = function;
    decoder->function_numbers[function->index] = ++decoder->code->function_count;
}

static void add_callees(struct decoder *decoder, const struct ptx_function *function)
{
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *inst = &function->insts[i];
        for (unsigned k = 0; k < inst->operand_count; k++) {
            note_shared(decoder, &inst->operands[k]);
            if (inst->operands[k].kind == PTX_OPERAND_FUNCTION)
                add_function(decoder, inst->operands[k].function);
        }
        if (inst->op == PTX_OP_CALL && inst->operands[1].kind != PTX_OPERAND_FUNCTION)
            decoder->calls_indirectly = true;
    }
}

static void find_functions(struct decoder *decoder, const struct ptx_function *entry)
{
    struct simt_code *code = decoder->code;
    const struct ptx_module *module = decoder->module->ptx;
    add_function(decoder, entry);
    uint32_t done = 0;
    for (bool again = true; again;) {
        again = false;
        for (; done < code->function_count; done++)
            add_callees(decoder, code->functions[done].ptx);
        if (decoder->calls_indirectly && !code->unbounded_stack) {
            /* Any function of the module may be behind a pointer (tables of virtual functions). */
            code->unbounded_stack = true;
            for (uint32_t i = 0; i < module->function_count; i++)
                if (!module->functions[i]->is_entry)
                    add_function(decoder, module->functions[i]);
            again = true;
        }
    }
}

static bool reaches_itself(const struct simt_code *code, const uint32_t *numbers, uint32_t number,
                           uint8_t *state)
{
    if (state[number])
        return state[number] == 1;
    state[number] = 1;
    const struct ptx_function *function = code->functions[number].ptx;
    bool cyclic = false;
    for (uint32_t i = 0; i < function->inst_count && !cyclic; i++) {
        const struct ptx_inst *inst = &function->insts[i];
        if (inst->op == PTX_OP_CALL && inst->operands[1].kind == PTX_OPERAND_FUNCTION) {
            const struct ptx_function *callee = inst->operands[1].function;
            while (callee->alias_of)
                callee = callee->alias_of;
            if (numbers[callee->index])
                cyclic = reaches_itself(code, numbers, numbers[callee->index] - 1, state);
        }
    }
    state[number] = 2;
    return cyclic;
}

struct simt_code *simt_decode(struct simt_module *module, const struct ptx_function *entry)
{
    struct lk_arena *arena = lk_arena_create();
    struct simt_code *code = lk_arena_alloc(arena, sizeof(*code));
    struct decoder decoder = {.module = module, .code = code, .arena = arena};
    code->arena = arena;
    uint32_t functions = module->ptx->function_count, vars = module->ptx->var_count;
    code->functions = lk_arena_alloc(arena, (functions + 1) * sizeof(struct simt_function));
    decoder.function_numbers = lk_alloc_zeroed((functions + 1) * sizeof(uint32_t));
    decoder.shared_offsets = lk_alloc((vars + 1) * sizeof(uint32_t));
    memset(decoder.shared_offsets, 0xff, (vars + 1) * sizeof(uint32_t));

    find_functions(&decoder, entry);
    /* Shared variables inside functions come after those of the module, dynamic ones last. */
    uint32_t owned = decoder.shared_top;
    for (uint32_t i = 0; i < code->function_count; i++) {
        const struct ptx_function *function = code->functions[i].ptx;
        for (uint32_t k = 0; k < function->var_count; k++)
            if (function->vars[k]->space == PTX_SPACE_SHARED)
                place_shared(&decoder, function->vars[k]);
    }
    code->static_shared = decoder.shared_top;
    if (decoder.uses_dynamic_shared) {
        uint32_t align = decoder.dynamic_align > 16 ? decoder.dynamic_align : 16;
        code->static_shared = (code->static_shared + align - 1) & ~(align - 1);
    }
    decoder.shared_top = owned;

    uint32_t *firsts = lk_alloc((code->function_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < code->function_count; i++)
        firsts[i] = decode_function(&decoder, &code->functions[i]);
    link_code(&decoder);
    for (uint32_t i = 0; i < code->function_count; i++) {
        code->functions[i].entry = &code->insts[firsts[i]];
        code->local_bytes += code->functions[i].local_bytes;
    }
    uint8_t *state = lk_alloc_zeroed(code->function_count + 1);
    code->unbounded_stack |= reaches_itself(code, decoder.function_numbers, 0, state);
    free(state);
    free(firsts);
    free(decoder.function_numbers);
    free(decoder.shared_offsets);
    return code;
}

void simt_code_free(struct simt_code *code)
{
    if (code)
        lk_arena_destroy(code->arena);
}
