/*
 * decode_call.c: where the arguments and results of a call lie on both sides.
 */
#include "simt/decode.h"

#include <string.h>

static const struct simt_inst *run_undefined_call(struct simt_warp *w, const struct simt_inst *in)
{
    const char *name = in->ptx->operands[1].function->name;
    bool runtime = strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
    return simt_raise(w, in, SIMT_FAULT_UNSUPPORTED, -1,
                      "call of %s, which the module does not define (%s)", name,
                      runtime ? "this call of the device runtime is not supported"
                              : "is its object file or library linked, and compiled with PTX, as "
                                "by -gencode arch=compute_90,code=compute_90?");
}

/* Calls
 * --------------------------------------------------------------------------------------------------
 */

struct simt_place decode_formal_place(struct decoder *decoder, const struct ptx_formal *formal)
{
    struct simt_place place = {0};
    if (formal->var) {
        uint32_t offset;
        decode_var_offset(decoder, formal->var, &offset);
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
        decode_var_offset(decoder, operand->var, &offset);
        return (struct simt_place){false, offset, (uint32_t)operand->var->size};
    }
    unsigned bits = decode_operand_bits(decoder, operand);
    return (struct simt_place){true, decode_operand_slot(decoder, ptx, operand),
                               bits == 1 ? 0 : bits / 8};
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

const struct ptx_function *decode_resolve(const struct ptx_function *function)
{
    while (function->alias_of)
        function = function->alias_of;
    return function;
}

void decode_call(struct decoder *decoder, const struct ptx_inst *ptx, simt_body *run)
{
    struct simt_call *call = lk_arena_alloc(decoder->arena, sizeof(*call));
    call->returns = actual_places(decoder, ptx, &ptx->operands[0], &call->return_count);
    call->arguments = actual_places(decoder, ptx, &ptx->operands[2], &call->argument_count);
    const struct ptx_operand *callee = &ptx->operands[1];
    uint32_t address = decoder->sink;
    if (callee->kind == PTX_OPERAND_FUNCTION) {
        const struct ptx_function *function = decode_resolve(callee->function);
        uint32_t number = decoder->function_numbers[function->index];
        simt_body *builtin = function->inst_count ? NULL : simt_builtin(function->name);
        if (builtin)
            run = builtin;
        else if (!number)
            run = run_undefined_call;
        else
            call->callee = &decoder->code->functions[number - 1];
    } else {
        address = decode_operand_slot(decoder, ptx, callee);
    }
    struct simt_inst *inst = decode_emit(decoder, run, ptx);
    decode_guard(decoder, inst);
    inst->a = address;
    if (callee->kind == PTX_OPERAND_REG && decode_operand_bits(decoder, callee) == 32)
        inst->flags |= SIMT_FLAG_ADDRESS_32;
    inst->list = (const uint32_t *)call;
}
