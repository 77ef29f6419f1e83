/*
 * check_matrices.c: rules of wgmma, mma.sp, setmaxnreg and redux that the rows of ops.def cannot
 * say: shapes, how many registers and operands there are, and what constants may be. As ptxas has
 * them.
 */
#include "ptx/front.h"
#include "ptx/shape.h"

#include <stdio.h>

#define FAIL(...) ptx_fail(p, offset, __VA_ARGS__)

static bool is_integer(const struct ptx_inst *inst)
{
    return inst->types[0] == PTX_S32;
}

/* N of .m64nNk16; 0 if there is none. */
static unsigned columns(const struct ptx_inst *inst)
{
    unsigned n = 0, k = 0;
    return ptx_wide_shape(inst->text, &n, &k) ? n : 0;
}

static void check_constant(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset,
                           unsigned operand, int64_t least, int64_t most, const char *what)
{
    int64_t value = (int32_t)inst->operands[operand].imm;
    if (value < least || value > most || (least == -1 && value == 0))
        FAIL("%s: %s (operand %u) is %lld; it must be %s", inst->text, what, operand + 1,
             (long long)value,
             least == -1 ? "1 or -1"
             : most == 0 ? "0"
             : most == 1 ? "0 or 1"
                         : "0, 1, 2 or 3");
}

static void check_wgmma(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    unsigned n = columns(inst), count = inst->operand_count;
    bool sparse = ptx_is_sparse_wgmma(inst->op), whole = is_integer(inst);
    bool transposes = inst->types[1] == PTX_F16 || inst->types[1] == PTX_BF16;
    const struct ptx_operand *d = &inst->operands[0], *a = &inst->operands[1];
    if (!n || (whole && n > 32 && n % 16))
        FAIL("%s: there is no such shape for these types", inst->text);
    unsigned registers = inst->types[0] == PTX_F16 ? n / 4 : n / 2;
    if (d->kind != PTX_OPERAND_VECTOR || d->item_count != registers)
        FAIL("%s: D must be %u registers in braces", inst->text, registers);
    bool in_registers = a->kind == PTX_OPERAND_VECTOR;
    if (in_registers ? a->item_count != 4
                     : a->kind != PTX_OPERAND_IMM && (a->kind != PTX_OPERAND_REG ||
                                                      ptx_type_bits(p->regs[a->reg].type) != 64))
        FAIL("%s: A must be 4 registers of 32 bits in braces, or a .b64 descriptor", inst->text);
    unsigned first = sparse ? 6 : 4; /* of the constants */
    unsigned wanted = first + (whole ? 0u : 2u) + (!transposes ? 0u : in_registers ? 1u : 2u);
    if (count != wanted)
        FAIL("%s takes %u operands here, %u given", inst->text, wanted, count);
    if (sparse)
        check_constant(p, inst, offset, 4, 0, ptx_type_bits(inst->types[1]) == 8 ? 0 : 1,
                       "the sparsity selector");
    for (unsigned i = first; i < count; i++) {
        bool is_scale = i < first + 2;
        check_constant(p, inst, offset, i, is_scale ? -1 : 0, 1,
                       is_scale ? "a scale" : "a transposition");
    }
}

/* Registers of A, B and of the accumulators, and the largest selector. */
static void check_sparse_mma(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    static const struct {
        enum ptx_mod mod;
        unsigned k;
    } shapes[] = {{PTX_MOD_M16N8K8, 8},
                  {PTX_MOD_M16N8K16, 16},
                  {PTX_MOD_M16N8K32, 32},
                  {PTX_MOD_M16N8K64, 64},
                  {PTX_MOD_M16N8K128, 128}};
    unsigned k = 0, bits = ptx_type_bits(inst->types[1]);
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        if (ptx_has(inst, shapes[i].mod))
            k = shapes[i].k;
    unsigned pieces = k * bits / 8 / 16; /* of 16 bytes of a column of B */
    if (bits != ptx_type_bits(inst->types[2]) || (pieces != 2 && pieces != 4) ||
        inst->types[0] != inst->types[3])
        FAIL("%s: there is no such shape for these types", inst->text);
    unsigned wanted[4] = {inst->types[0] == PTX_F16 ? 2 : 4, pieces, pieces,
                          inst->types[0] == PTX_F16 ? 2 : 4};
    for (unsigned i = 0; i < 4; i++)
        if (inst->operands[i].kind != PTX_OPERAND_VECTOR ||
            inst->operands[i].item_count != wanted[i])
            FAIL("%s: operand %u must be %u registers in braces", inst->text, i + 1, wanted[i]);
    /* Threads of four that have metadata: one, two or all. ptxas takes 2 and 3 for f16 with f32. */
    unsigned threads = bits <= 8 ? pieces : pieces / 2;
    bool lenient = inst->types[1] == PTX_F16 && inst->types[0] == PTX_F32;
    check_constant(p, inst, offset, 5, 0,
                   threads == 1 || lenient ? 3
                   : threads == 2          ? 1
                                           : 0,
                   "the sparsity selector");
}

static void check_register_count(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    int64_t count = inst->operands[0].imm;
    if (p->module->target < 90 || !p->module->target_suffix)
        FAIL("%s needs .target sm_90a or newer, with its letter", inst->text);
    if (count < 24 || count > 256 || count % 8)
        FAIL("%s: %lld registers; it must be a multiple of 8 from 24 to 256", inst->text,
             (long long)count);
}

void ptx_check_matrices(struct ptx_parser *p, const struct ptx_inst *inst, uint32_t offset)
{
    if (inst->op >= PTX_OP_WGMMA_F16 && inst->op <= PTX_OP_WGMMA_WAIT &&
        (p->module->target != 90 || p->module->target_suffix != 'a'))
        FAIL("%s needs .target sm_90a", inst->text);
    if (ptx_is_wgmma(inst->op))
        check_wgmma(p, inst, offset);
    else if (ptx_is_sparse_mma(inst->op))
        check_sparse_mma(p, inst, offset);
    else if (inst->op == PTX_OP_SETMAXNREG)
        check_register_count(p, inst, offset);
    else if (inst->op == PTX_OP_REDUX_F32 && (p->module->target < 100 || !p->module->target_suffix))
        FAIL("%s: floats need .target sm_100a or newer, with its letter", inst->text);
    else if (inst->op == PTX_OP_WGMMA_WAIT && (int32_t)inst->operands[0].imm < 0)
        FAIL("%s: the number of groups cannot be negative", inst->text);
}
