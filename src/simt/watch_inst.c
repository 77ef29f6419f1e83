/*
 * watch_inst.c: what an instruction is to a watcher: its class, and how it touches memory.
 * Worked out once per kernel.
 */
#include "simt/access.h"
#include "simt/watch.h"

#include "gpu/counters.h"

#include <stdlib.h>

static enum ptx_type last_type(const struct ptx_inst *ptx)
{
    return ptx->type_count ? ptx->types[ptx->type_count - 1] : PTX_TYPE_NONE;
}

static enum gpu_class float_class(const struct ptx_inst *ptx)
{
    return ptx_type_bits(last_type(ptx)) == 64 && last_type(ptx) != PTX_F32X2 ? GPU_CLASS_F64
                                                                              : GPU_CLASS_F32;
}

static enum gpu_class class_of(const struct ptx_inst *ptx)
{
    switch (ptx_op_infos[ptx->op].group) {
    case PTX_GROUP_INTEGER:
    case PTX_GROUP_VIDEO:
        return GPU_CLASS_INTEGER;
    case PTX_GROUP_FLOAT:
        return float_class(ptx);
    case PTX_GROUP_APPROX:
        return GPU_CLASS_SPECIAL;
    case PTX_GROUP_HALF:
        return GPU_CLASS_F16;
    case PTX_GROUP_COMPARE:
        return ptx->op == PTX_OP_SELP || ptx->op == PTX_OP_SLCT || ptx->op == PTX_OP_SLCT_F32
                   ? GPU_CLASS_MOVE
                   : GPU_CLASS_COMPARE;
    case PTX_GROUP_MOVE:
        return GPU_CLASS_MOVE;
    case PTX_GROUP_CONVERT:
        return GPU_CLASS_CONVERT;
    case PTX_GROUP_MEMORY:
    case PTX_GROUP_ASYNC:
    case PTX_GROUP_BULK:
        return GPU_CLASS_MEMORY;
    case PTX_GROUP_CLUSTER:
        return ptx->operand_count ? GPU_CLASS_MEMORY : GPU_CLASS_BARRIER;
    case PTX_GROUP_ATOMIC:
        return ptx->operand_count ? GPU_CLASS_MEMORY : GPU_CLASS_BARRIER;
    case PTX_GROUP_CONTROL:
        return GPU_CLASS_CONTROL;
    case PTX_GROUP_BARRIER:
        return GPU_CLASS_BARRIER;
    case PTX_GROUP_WARP:
        return GPU_CLASS_WARP;
    case PTX_GROUP_TEXTURE:
        return ptx->op == PTX_OP_TXQ || ptx->op == PTX_OP_TXQ_LEVEL || ptx->op == PTX_OP_SUQ ||
                       ptx->op == PTX_OP_ISTYPEP
                   ? GPU_CLASS_OTHER
                   : GPU_CLASS_MEMORY;
    case PTX_GROUP_TENSOR:
        return ptx->op == PTX_OP_WGMMA_FENCE || ptx->op == PTX_OP_WGMMA_COMMIT ||
                       ptx->op == PTX_OP_WGMMA_WAIT
                   ? GPU_CLASS_OTHER
                   : GPU_CLASS_TENSOR;
    default:
        return GPU_CLASS_OTHER;
    }
}

/* Is the register read anywhere in the function? */
static bool is_read(const struct ptx_function *function, uint32_t reg)
{
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *ptx = &function->insts[i];
        const struct flow_roles *roles = simt_flow_roles(ptx->op);
        for (unsigned k = 0; k < ptx->operand_count; k++) {
            const struct ptx_operand *operand = &ptx->operands[k];
            if (k < 8 && roles->is_written[k] && operand->kind != PTX_OPERAND_ADDRESS)
                continue;
            if (operand->reg == reg &&
                (operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_ADDRESS))
                return true;
            for (uint32_t j = 0; j < operand->item_count; j++)
                if (operand->items[j].kind == PTX_OPERAND_REG && operand->items[j].reg == reg)
                    return true;
        }
    }
    return false;
}

static uint32_t element_count(const struct ptx_inst *ptx)
{
    for (unsigned k = 0; k < ptx->operand_count; k++)
        if (ptx->operands[k].kind == PTX_OPERAND_VECTOR)
            return ptx->operands[k].item_count;
    return 1;
}

/* An atomic whose result is dropped becomes a reduction, as in the assembler; exch and cas do not.
 */
static bool drops_result(const struct ptx_function *function, const struct ptx_inst *ptx)
{
    const struct ptx_operand *d = &ptx->operands[0];
    if (ptx->op == PTX_OP_ATOM_CAS || ptx_has(ptx, PTX_MOD_EXCH))
        return false;
    return d->kind == PTX_OPERAND_SINK ||
           (d->kind == PTX_OPERAND_REG && !is_read(function, d->reg));
}

static void describe_load(const struct simt_inst *in, struct watch_inst *what)
{
    const struct ptx_inst *ptx = in->ptx;
    what->kind = WATCH_LOAD;
    what->bytes = ptx_type_bits(last_type(ptx)) / 8 * element_count(ptx);
    what->is_ordered = ptx->op == PTX_OP_LD_SYNC || ptx_has(ptx, PTX_MOD_VOLATILE);
    what->skips_l1 = what->is_ordered || ptx_has(ptx, PTX_MOD_CG) || ptx_has(ptx, PTX_MOD_CV);
    if (ptx_has(ptx, PTX_MOD_CONST))
        what->space = PTX_SPACE_CONST;
    if (in->flags & (SIMT_FLAG_PARAM | SIMT_FLAG_FRAME) || what->space == PTX_SPACE_PARAM) {
        what->kind = WATCH_NOTHING;
        what->class = GPU_CLASS_PARAM;
    } else if (what->space == PTX_SPACE_CONST) {
        what->class = GPU_CLASS_PARAM;
    }
}

static void describe_store(const struct simt_inst *in, struct watch_inst *what)
{
    const struct ptx_inst *ptx = in->ptx;
    what->kind = WATCH_STORE;
    what->is_write = true;
    what->bytes = ptx_type_bits(last_type(ptx)) / 8 * element_count(ptx);
    what->is_ordered = ptx->op == PTX_OP_ST_SYNC || ptx_has(ptx, PTX_MOD_VOLATILE);
    if (in->flags & (SIMT_FLAG_PARAM | SIMT_FLAG_FRAME) || what->space == PTX_SPACE_PARAM) {
        what->kind = WATCH_NOTHING;
        what->class = GPU_CLASS_PARAM;
    }
}

static unsigned traits_of(const struct ptx_inst *ptx, const struct watch_inst *what)
{
    static const struct {
        const char *mnemonic;
        unsigned traits;
    } by_mnemonic[] = {
        {"add", GPU_TRAIT_ADD},
        {"sub", GPU_TRAIT_ADD},
        {"mul", GPU_TRAIT_MUL | GPU_TRAIT_PRODUCT},
        {"mul24", GPU_TRAIT_MUL | GPU_TRAIT_PRODUCT},
        {"fma", GPU_TRAIT_FMA},
        {"mad", GPU_TRAIT_FMA | GPU_TRAIT_PRODUCT},
        {"mad24", GPU_TRAIT_FMA | GPU_TRAIT_PRODUCT},
        {"madc", GPU_TRAIT_FMA | GPU_TRAIT_PRODUCT},
        {"min", GPU_TRAIT_PRODUCT},
        {"max", GPU_TRAIT_PRODUCT},
    };
    unsigned traits = what->is_write ? GPU_TRAIT_WRITES : 0;
    bool f32 = false, f64 = false;
    for (size_t i = 0; i < sizeof by_mnemonic / sizeof by_mnemonic[0]; i++)
        if (strcmp(ptx_op_infos[ptx->op].mnemonic, by_mnemonic[i].mnemonic) == 0)
            traits |= by_mnemonic[i].traits;
    for (unsigned i = 0; i < ptx->type_count; i++) {
        f32 = f32 || ptx->types[i] == PTX_F32;
        f64 = f64 || ptx->types[i] == PTX_F64;
    }
    traits |= f64 ? GPU_TRAIT_F64 : 0;
    traits |= f32 && f64 && what->class == GPU_CLASS_CONVERT ? GPU_TRAIT_F32_F64 : 0;
    return traits;
}

static bool is_order(const struct ptx_inst *ptx)
{
    switch (ptx_op_infos[ptx->op].group) {
    case PTX_GROUP_BARRIER:
    case PTX_GROUP_WARP:
    case PTX_GROUP_ASYNC:
    case PTX_GROUP_CLUSTER:
    case PTX_GROUP_BULK:
        return true;
    case PTX_GROUP_ATOMIC:
        return ptx->operand_count == 0; /* fences */
    default:
        return ptx->op == PTX_OP_GRIDDEPCONTROL;
    }
}

static void describe_atomic(const struct ptx_function *function, const struct ptx_inst *ptx,
                            struct watch_inst *what)
{
    bool is_red = ptx->op == PTX_OP_RED || ptx->op == PTX_OP_RED_NOFTZ || ptx->op == PTX_OP_RED_VEC;
    what->kind = is_red || drops_result(function, ptx) ? WATCH_RED : WATCH_ATOM;
    what->bytes = ptx_type_bits(last_type(ptx)) / 8 * element_count(ptx);
    what->is_write = what->is_ordered = what->skips_l1 = true;
    what->is_cas = ptx->op == PTX_OP_ATOM_CAS;
}

static void describe_texture(const struct ptx_inst *ptx, struct watch_inst *what)
{
    if (what->class != GPU_CLASS_MEMORY) /* queries */
        return;
    what->kind = WATCH_TEXTURE;
    what->space = PTX_SPACE_GLOBAL;
    what->bytes = 4;
    what->is_write = ptx->op == PTX_OP_SUST || ptx->op == PTX_OP_SUST_P ||
                     ptx->op == PTX_OP_SURED || ptx->op == PTX_OP_SURED_P;
}

static void describe(const struct ptx_function *function, const struct simt_inst *in,
                     struct watch_inst *what)
{
    const struct ptx_inst *ptx = in->ptx;
    what->class = (uint8_t)class_of(ptx);
    what->space = (uint8_t)access_space(ptx);
    what->is_order = is_order(ptx);
    what->is_product = ptx_op_infos[ptx->op].group == PTX_GROUP_TENSOR &&
                       ptx->op != PTX_OP_WMMA_LOAD && ptx->op != PTX_OP_WMMA_STORE;
    switch (ptx->op) {
    case PTX_OP_LD:
    case PTX_OP_LD_NC:
    case PTX_OP_LD_SYNC:
    case PTX_OP_LDU:
        describe_load(in, what);
        break;
    case PTX_OP_ST:
    case PTX_OP_ST_SYNC:
    case PTX_OP_ST_ASYNC:
        describe_store(in, what);
        break;
    case PTX_OP_ATOM:
    case PTX_OP_ATOM_NOFTZ:
    case PTX_OP_ATOM_CAS:
    case PTX_OP_ATOM_VEC:
    case PTX_OP_RED:
    case PTX_OP_RED_NOFTZ:
    case PTX_OP_RED_VEC:
        describe_atomic(function, ptx, what);
        break;
    case PTX_OP_CP_ASYNC:
        what->kind = WATCH_COPY;
        what->bytes = (uint32_t)ptx->operands[2].imm;
        what->skips_l1 = ptx_has(ptx, PTX_MOD_CG);
        break;
    case PTX_OP_RED_ASYNC:
        what->kind = WATCH_RED;
        what->bytes = ptx_type_bits(last_type(ptx)) / 8;
        what->is_write = what->is_ordered = true;
        break;
    case PTX_OP_CP_BULK_G2S:
    case PTX_OP_CP_BULK_S2S:
    case PTX_OP_CP_BULK_S2G:
        what->kind = WATCH_BULK;
        what->is_write = ptx->op == PTX_OP_CP_BULK_S2G; /* of the global side */
        break;
    case PTX_OP_TMA_LOAD:
    case PTX_OP_TMA_LOAD_IM2COL:
    case PTX_OP_TMA_STORE:
    case PTX_OP_TMA_REDUCE:
    case PTX_OP_BULK_RED_G:
    case PTX_OP_BULK_RED_S:
    case PTX_OP_TENSORMAP_REPLACE:
    case PTX_OP_TENSORMAP_REPLACE_DIM:
    case PTX_OP_TENSORMAP_REPLACE_MODE:
    case PTX_OP_TENSORMAP_COPY:
        what->kind = WATCH_BULK;
        what->is_write = ptx->op != PTX_OP_TMA_LOAD && ptx->op != PTX_OP_TMA_LOAD_IM2COL;
        what->is_reduction = ptx->op == PTX_OP_TMA_REDUCE || ptx->op == PTX_OP_BULK_RED_G;
        break;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        what->kind = WATCH_MATRIX;
        what->class = GPU_CLASS_MEMORY;
        what->bytes = 16;
        what->is_write = ptx->op == PTX_OP_STMATRIX;
        what->space = PTX_SPACE_SHARED;
        break;
    case PTX_OP_WMMA_LOAD:
    case PTX_OP_WMMA_STORE:
        what->kind = WATCH_TILE;
        what->class = GPU_CLASS_MEMORY;
        what->is_write = ptx->op == PTX_OP_WMMA_STORE;
        break;
    default:
        break;
    }
    if (ptx_op_infos[ptx->op].group == PTX_GROUP_TEXTURE)
        describe_texture(ptx, what);
    what->traits = (uint8_t)traits_of(ptx, what);
}

/* The functions of a kernel lie one after the other in its code. */
struct watch_inst *simt_watch_describe(const struct simt_code *code)
{
    struct watch_inst *insts = lk_alloc_zeroed((code->inst_count + 1) * sizeof(*insts));
    for (uint32_t f = 0; f < code->function_count; f++) {
        const struct ptx_function *function = code->functions[f].ptx;
        uint32_t first = (uint32_t)(code->functions[f].entry - code->insts);
        uint32_t end = f + 1 < code->function_count
                           ? (uint32_t)(code->functions[f + 1].entry - code->insts)
                           : code->inst_count;
        uint32_t *places = lk_alloc_zeroed((function->inst_count + 1) * sizeof(uint32_t));
        for (uint32_t i = first; i < end; i++) {
            if (code->insts[i].flags & SIMT_FLAG_HIDDEN)
                continue;
            places[code->insts[i].ptx - function->insts] = i;
            describe(function, &code->insts[i], &insts[i]);
        }
        simt_watch_fold(function, places, insts);
        simt_watch_phases(function, places, insts);
        free(places);
    }
    return insts;
}
