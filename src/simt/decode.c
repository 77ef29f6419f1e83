/*
 * decode.c: from checked PTX to code that runs: every operand becomes a slot, every instruction a
 * function pointer, every place where paths meet gets a reconverge instruction.
 * One call of simt_decode shows the whole way: find the functions a kernel can reach, lay out its
 * shared memory, then decode each function.
 */
#include "simt/decode.h"

#include "simt/clock.h"

#include <stdlib.h>

/* Functions
 * ------------------------------------------------------------------------------------------------
 */

static void layout_vars(struct decoder *decoder)
{
    const struct ptx_function *ptx = decoder->ptx;
    uint32_t top = 0;
    for (uint32_t i = 0; i < ptx->var_count; i++) {
        const struct ptx_var *var = ptx->vars[i];
        if (var->space == PTX_SPACE_SHARED) {
            decode_put_var_offset(decoder, (const struct ptx_var *const *)&ptx->vars[i],
                                  decode_place_shared(decoder, var));
            continue;
        }
        uint32_t align = var->space == PTX_SPACE_PARAM && var->align < 16 ? 16 : var->align;
        top = (top + align - 1) & ~(align - 1);
        decode_put_var_offset(decoder, (const struct ptx_var *const *)&ptx->vars[i], top);
        top += (uint32_t)var->size;
    }
    for (uint32_t i = 0; !ptx->is_entry && i < ptx->param_count + ptx->return_count; i++) {
        const struct ptx_formal *formal =
            i < ptx->param_count ? &ptx->params[i] : &ptx->returns[i - ptx->param_count];
        if (!formal->var)
            continue;
        top = (top + 15) & ~15u;
        decode_put_var_offset(decoder, &formal->var, top);
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
        function->params[i] = decode_formal_place(decoder, &ptx->params[i]);
    for (uint32_t i = 0; i < ptx->return_count; i++)
        function->returns[i] = decode_formal_place(decoder, &ptx->returns[i]);
}

/* Branch targets are instruction numbers until all instructions have their place. */
static void decode_branch(struct decoder *decoder, const struct ptx_inst *ptx, uint32_t join,
                          simt_body *run)
{
    struct simt_inst *inst;
    if (ptx->op == PTX_OP_BRX) {
        uint32_t slot = decode_operand_slot(decoder, ptx, &ptx->operands[0]);
        const struct ptx_operand *targets = &ptx->operands[1];
        uint32_t *list =
            lk_arena_alloc(decoder->arena, (targets->item_count + 2) * sizeof(uint32_t));
        list[0] = targets->item_count;
        list[1] = join;
        for (uint32_t i = 0; i < targets->item_count; i++)
            list[i + 2] = targets->items[i].target;
        inst = decode_emit(decoder, run, ptx);
        inst->a = slot;
        inst->list = list;
    } else {
        inst = decode_emit(decoder, run, ptx);
        inst->imm = ptx->operands[0].target;
        inst->c = join;
    }
    decode_guard(decoder, inst);
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
            decode_hidden(decoder, simt_reconverge, &ptx->insts[i]);
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
    code->insts =
        lk_arena_dup(code->arena, decoder->insts, decoder->inst_count * sizeof(struct simt_inst));
    free(decoder->insts);
    for (uint32_t i = 0; i < code->inst_count; i++) {
        struct simt_inst *inst = &code->insts[i];
        if (inst->flags & SIMT_FLAG_HIDDEN || inst->ptx->op != PTX_OP_BRA)
            continue;
        inst->target = &code->insts[inst->imm];
        inst->reconverge = inst->c == UINT32_MAX ? NULL : &code->insts[inst->c];
    }
}

/* Which functions can run
 * ------------------------------------------------------------------------------------ */

static void add_function(struct decoder *decoder, const struct ptx_function *function)
{
    function = decode_resolve(function);
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
            decode_note_shared(decoder, &inst->operands[k]);
            if (inst->operands[k].kind == PTX_OPERAND_FUNCTION &&
                !inst->operands[k].function->is_entry) /* a kernel is launched, not called */
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

/* Number of the next function that a function calls by name, at or after *inst; UINT32_MAX: none.
 */
static uint32_t next_callee(const struct simt_code *code, const uint32_t *numbers, uint32_t number,
                            uint32_t *inst)
{
    const struct ptx_function *function = code->functions[number].ptx;
    while (*inst < function->inst_count) {
        const struct ptx_inst *call = &function->insts[(*inst)++];
        if (call->op != PTX_OP_CALL || call->operands[1].kind != PTX_OPERAND_FUNCTION)
            continue;
        const struct ptx_function *callee = decode_resolve(call->operands[1].function);
        if (numbers[callee->index])
            return numbers[callee->index] - 1;
    }
    return UINT32_MAX;
}

/* Sets the local memory of the deepest chain of calls; where functions call themselves or come
 * through pointers, that of all functions. Chains may be long: not by recursion. */
static void measure_stack(struct simt_code *code, const uint32_t *numbers)
{
    enum { NEW, OPEN, DONE };
    uint32_t count = code->function_count, height = 1;
    struct visit {
        uint32_t number, inst, deepest;
    } *visits = lk_alloc_zeroed((count + 1) * sizeof(*visits)); /* [0]: the entry */
    uint32_t *depths = lk_alloc_zeroed((count + 1) * sizeof(*depths));
    uint8_t *states = lk_alloc_zeroed(count + 1);
    states[0] = OPEN;
    while (height) {
        struct visit *visit = &visits[height - 1];
        uint32_t callee = next_callee(code, numbers, visit->number, &visit->inst);
        if (callee == UINT32_MAX) {
            const struct simt_function *function = &code->functions[visit->number];
            bool is_small = visit->number && function->local_bytes < SIMT_CALL_BYTES;
            depths[visit->number] =
                visit->deepest + (is_small ? SIMT_CALL_BYTES : function->local_bytes);
            states[visit->number] = DONE;
            height--;
            callee = visit->number;
        } else if (states[callee] == NEW) {
            states[callee] = OPEN;
            visits[height++] = (struct visit){.number = callee};
            continue;
        }
        code->unbounded_stack |= states[callee] == OPEN;
        if (height && depths[callee] > visits[height - 1].deepest)
            visits[height - 1].deepest = depths[callee];
    }
    code->local_bytes = depths[0];
    for (uint32_t i = 1; code->unbounded_stack && i < count; i++)
        code->local_bytes += code->functions[i].local_bytes;
    free(visits);
    free(depths);
    free(states);
}

static void add_shared(struct simt_code *code, const struct ptx_var *var, uint32_t offset)
{
    code->shared_vars[code->shared_var_count++] = (struct simt_shared_var){var, offset};
}

/* Where static shared variables lie, for messages: those of the module now, the functions' own as
 * they are placed. */
static void list_shared(struct decoder *decoder, uint32_t vars)
{
    struct simt_code *code = decoder->code;
    uint32_t most = vars;
    for (uint32_t i = 0; i < code->function_count; i++)
        most += code->functions[i].ptx->var_count;
    code->shared_vars = lk_arena_alloc(code->arena, (most + 1) * sizeof(*code->shared_vars));
    for (uint32_t i = 0; i < vars; i++)
        if (decoder->shared_offsets[i] != UINT32_MAX && decoder->module->ptx->vars[i]->size)
            add_shared(code, decoder->module->ptx->vars[i], decoder->shared_offsets[i]);
}

static bool asks_for_reserved(const struct simt_function *function)
{
    for (uint32_t i = 0; i < function->sreg_count; i++)
        switch (function->sregs[i].sreg) {
        case PTX_SREG_RESERVED_SMEM_OFFSET_BEGIN:
        case PTX_SREG_RESERVED_SMEM_OFFSET_END:
        case PTX_SREG_RESERVED_SMEM_OFFSET_0:
        case PTX_SREG_RESERVED_SMEM_OFFSET_1:
            return true;
        default:
            break;
        }
    return false;
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
    list_shared(&decoder, vars);
    for (uint32_t i = 0; i < code->function_count; i++) {
        const struct ptx_function *function = code->functions[i].ptx;
        for (uint32_t k = 0; k < function->var_count; k++)
            if (function->vars[k]->space == PTX_SPACE_SHARED)
                add_shared(code, function->vars[k],
                           decode_place_shared(&decoder, function->vars[k]));
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
    for (uint32_t i = 0; i < code->function_count; i++)
        code->functions[i].entry = &code->insts[firsts[i]];
    for (uint32_t i = 0; i < code->function_count; i++)
        code->uses_reserved |= asks_for_reserved(&code->functions[i]);
    measure_stack(code, decoder.function_numbers);
    simt_find_waits(code);
    free(firsts);
    free(decoder.function_numbers);
    free(decoder.shared_offsets);
    return code;
}

void simt_code_free(struct simt_code *code)
{
    if (!code)
        return;
    free(code->watched);
    free(code->outputs);
    lk_arena_destroy(code->arena);
}
