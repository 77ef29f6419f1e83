/*
 * check_memory.c: constant addresses of .param variables, and how large variables may be.
 * A .param operand is decoded to an offset that no instruction checks again, so everything about it
 * is settled here. Addresses in all other spaces are checked when the kernel runs, as on a GPU,
 * where [x+4096] may well reach another variable.
 */
#include "ptx/front.h"

/* As ptxas and the driver have them. */
enum {
    CONST_BYTES = 64 << 10,  /* of a module */
    LOCAL_BYTES = 512 << 10, /* of a thread */
    PARAM_BYTES = 32764,     /* of a kernel, from PTX 8.1 on */
    PARAM_BYTES_BEFORE_81 = 4352,
};

static bool is_formal(const struct ptx_var *var, const struct ptx_formal *formals, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (formals[i].var == var)
            return true;
    return false;
}

static unsigned access_bytes(const struct ptx_inst *inst)
{
    unsigned count = ptx_has(inst, PTX_MOD_V2)   ? 2
                     : ptx_has(inst, PTX_MOD_V4) ? 4
                     : ptx_has(inst, PTX_MOD_V8) ? 8
                                                 : 1;
    return ptx_type_bits(inst->types[inst->type_count - 1]) / 8 * count;
}

/* Kernel parameters lie where the kernel's block has them; all others are aligned to 16 bytes. */
static bool is_aligned(const struct ptx_var *var, uint64_t offset, unsigned bytes)
{
    uint64_t base = var->owner && var->owner->is_entry ? var->offset : 0;
    return (base + offset) % bytes == 0;
}

void ptx_check_param_address(struct ptx_parser *p, const struct ptx_inst *inst,
                             const struct ptx_operand *operand, uint32_t offset)
{
    const struct ptx_var *var = operand->var;
    const struct ptx_function *function = p->function;
    bool is_store = inst->op == PTX_OP_ST || inst->op == PTX_OP_ST_SYNC;
    bool is_load = inst->op == PTX_OP_LD || inst->op == PTX_OP_LD_NC || inst->op == PTX_OP_LD_SYNC;
    if (inst->op == PTX_OP_PREFETCH_MAP) /* a hint about a kernel's own parameter */
        return;
    if (!is_store && !is_load)
        ptx_fail(p, offset, "%s: '%s' is a .param variable; only ld and st reach it", inst->text,
                 var->name);
    if (operand->reg != PTX_NO_REG)
        ptx_fail(p, offset, "%s: the address of '%s' takes no register", inst->text, var->name);
    if (is_store && is_formal(var, function->params, function->param_count))
        ptx_fail(p, offset, "%s: '%s' is an input parameter and cannot be written", inst->text,
                 var->name);
    if (is_load && is_formal(var, function->returns, function->return_count))
        ptx_fail(p, offset, "%s: '%s' is a return value and cannot be read", inst->text, var->name);
    unsigned bytes = access_bytes(inst);
    unsigned element = ptx_type_bits(inst->types[inst->type_count - 1]) / 8;
    uint64_t at = (uint64_t)operand->imm;
    if (at > var->size || var->size - at < bytes)
        ptx_fail(p, offset, "%s: %u bytes at offset %lld of '%s', which has %llu bytes", inst->text,
                 bytes, (long long)operand->imm, var->name, (unsigned long long)var->size);
    if (!is_aligned(var, at, element))
        ptx_fail(p, offset, "%s: offset %lld of '%s' is not aligned to %u bytes", inst->text,
                 (long long)operand->imm, var->name, element);
}

/* Only a formal parameter has an address that mov can take. */
void ptx_check_param_value(struct ptx_parser *p, const struct ptx_inst *inst,
                           const struct ptx_operand *operand, uint32_t offset)
{
    const struct ptx_function *function = p->function;
    if (!is_formal(operand->var, function->params, function->param_count))
        ptx_fail(p, offset,
                 "%s: the address of '%s' cannot be taken: it is passed to a call or back",
                 inst->text, operand->var->name);
}

/* Sizes ---------------------------------------------------------------------------------------- */

/* The end of a variable that is placed behind others, as src/simt/decode.c places it. */
static uint64_t place(uint64_t end, const struct ptx_var *var)
{
    uint64_t align = var->space == PTX_SPACE_PARAM && var->align < 16 ? 16 : var->align;
    return ((end + align - 1) & ~(align - 1)) + var->size;
}

static uint64_t formal_bytes(const struct ptx_formal *formals, uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += formals[i].var ? (formals[i].var->size + 15) & ~UINT64_C(15) : 0;
    return bytes;
}

void ptx_check_function_sizes(struct ptx_parser *p, const struct ptx_function *function,
                              uint32_t offset)
{
    const struct ptx_module *module = p->module;
    bool is_old = module->version_major * 100 + module->version_minor < 801;
    unsigned most = is_old ? PARAM_BYTES_BEFORE_81 : PARAM_BYTES;
    if (function->is_entry && function->param_bytes > most)
        ptx_fail(p, offset, "kernel '%s' has %u bytes of parameters (limit %u)", function->name,
                 function->param_bytes, most);
    uint64_t bytes = function->is_entry
                         ? 0
                         : formal_bytes(function->params, function->param_count) +
                               formal_bytes(function->returns, function->return_count);
    for (uint32_t i = 0; i < function->var_count; i++)
        if (function->vars[i]->space != PTX_SPACE_SHARED)
            bytes = place(bytes, function->vars[i]);
    if (bytes > LOCAL_BYTES)
        ptx_fail(p, offset, "'%s' uses %llu bytes of local memory a thread (limit %u)",
                 function->name, (unsigned long long)bytes, LOCAL_BYTES);
}

void ptx_check_module_sizes(struct ptx_parser *p)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->var_count; i++)
        if (p->vars[i]->space == PTX_SPACE_CONST && !p->vars[i]->is_extern)
            bytes = place(bytes, p->vars[i]);
    if (bytes > CONST_BYTES)
        ptx_fail(p, p->size, "the module has %llu bytes of .const variables (limit %u)",
                 (unsigned long long)bytes, CONST_BYTES);
}
