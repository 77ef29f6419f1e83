/*
 * fuzz_ptx.c: any bytes at all must give a module or a message, never a crash, a hang or a leak.
 * A module that parses is walked, so that a dangling pointer in it is found as well. Build it from
 * this file and all of src/ptx and src/base with
 *   clang-19 -g -O1 -fsanitize=fuzzer,address,undefined -Isrc -D_GNU_SOURCE -pthread
 */
#include "ptx/ptx.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t sum; /* keeps the walk from being optimised away */

static void walk_operand(const struct ptx_function *function, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_REG && operand->reg >= function->reg_count)
        abort();
    if (operand->pair != PTX_NO_REG && operand->pair >= function->reg_count)
        abort();
    if (operand->kind == PTX_OPERAND_LABEL && operand->target >= function->inst_count)
        abort();
    if (operand->var)
        sum += operand->var->size + strlen(operand->var->name);
    if (operand->function)
        sum += operand->function->param_bytes;
    for (uint32_t i = 0; i < operand->item_count; i++)
        walk_operand(function, &operand->items[i]);
}

static void walk_function(const struct ptx_module *module, const struct ptx_function *function)
{
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *inst = &function->insts[i];
        sum += strlen(inst->text) + inst->line;
        if (inst->loc >= module->loc_count)
            abort();
        if (inst->guard != PTX_NO_REG && inst->guard >= function->reg_count)
            abort();
        for (uint32_t k = 0; k < inst->operand_count; k++)
            walk_operand(function, &inst->operands[k]);
    }
    for (uint32_t i = 0; i < function->reg_count; i++)
        sum += strlen(function->regs[i].name);
    for (uint32_t i = 0; i < function->param_count; i++)
        if (function->params[i].var
                ? !function->params[i].var->align
                : function->params[i].reg >= function->reg_count && !function->is_prototype)
            abort();
    for (uint32_t i = 0; i < function->var_count; i++)
        sum += function->vars[i]->size;
}

static void walk_module(const struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        walk_function(module, module->functions[i]);
    for (uint32_t i = 0; i < module->var_count; i++) {
        const struct ptx_var *var = module->vars[i];
        if (!var->align)
            abort();
        for (uint64_t k = 0; var->init && k < var->size; k += 64)
            sum += var->init[k];
        for (uint32_t k = 0; k < var->reloc_count; k++)
            if (var->relocs[k].offset + var->relocs[k].bytes > var->size)
                abort();
    }
    for (uint32_t i = 0; i < module->loc_count; i++) {
        if (module->locs[i].file >= module->file_count ||
            module->locs[i].inlined_at >= module->loc_count)
            abort();
        if (module->locs[i].function_name)
            sum += strlen(module->locs[i].function_name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *message = NULL;
    struct ptx_module *module = ptx_parse("fuzz", (const char *)data, size, &message);
    if (!module == !message)
        abort();
    if (module)
        walk_module(module);
    ptx_free(module);
    free(message);
    return 0;
}
