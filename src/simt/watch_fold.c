/*
 * watch_fold.c: what NVIDIA's assembler (ptxas) makes of a kernel's memory instructions beyond
 * what PTX says, so that counters agree with those of the machine code:
 *   - neighbouring loads or stores of shared memory become one of 8 or 16 bytes, where the address
 *     is known to be aligned for it;
 *   - integer reductions to an address that is the same in the whole warp are summed up in the warp
 *     first, and one lane does them;
 *   - shared memory counts the lanes that add 1 to the same address, and adds once.
 * Found with tests/counters/kernels.cu on an H200. Execution and checks do not see any of it.
 */
#include "simt/watch.h"

#include <stdlib.h>

enum { MOST_ZEROS = 32, DEEPEST = 24, RUN_LENGTH = 64 };

struct fold {
    const struct ptx_function *function;
    uint32_t *def;  /* [reg]: the only instruction that writes it; UINT32_MAX: none, or more */
    uint8_t *zeros; /* [reg]: low bits that are certainly zero, whatever instruction wrote it */
    struct flow flow;
};

/* Where registers come from ----------------------------------------------------------------------
 */

static void note_def(struct fold *fold, uint32_t reg, uint32_t at, uint8_t *seen)
{
    if (reg == PTX_NO_REG)
        return;
    fold->def[reg] = seen[reg] ? UINT32_MAX : at;
    seen[reg] = 1;
}

static void find_defs(struct fold *fold)
{
    const struct ptx_function *function = fold->function;
    fold->def = lk_alloc((function->reg_count + 1) * sizeof(*fold->def));
    memset(fold->def, 0xff, (function->reg_count + 1) * sizeof(*fold->def));
    uint8_t *seen = lk_alloc_zeroed(function->reg_count + 1);
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *ptx = &function->insts[i];
        const struct flow_roles *roles = simt_flow_roles(ptx->op);
        for (unsigned k = 0; k < ptx->operand_count && k < 8; k++) {
            const struct ptx_operand *operand = &ptx->operands[k];
            if (!roles->is_written[k] || operand->kind == PTX_OPERAND_ADDRESS)
                continue;
            if (operand->kind == PTX_OPERAND_REG) {
                note_def(fold, operand->reg, i, seen);
                note_def(fold, operand->pair, i, seen);
            }
            for (uint32_t j = 0; j < operand->item_count; j++)
                note_def(fold, operand->items[j].reg, i, seen);
        }
    }
    free(seen);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned zeros_of(const struct fold *fold, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_IMM:
        return operand->imm ? least((unsigned)__builtin_ctzll((uint64_t)operand->imm), MOST_ZEROS)
                            : MOST_ZEROS;
    case PTX_OPERAND_VAR: { /* the assembler aligns arrays to 16 */
        unsigned zeros = operand->var->align ? (unsigned)__builtin_ctz(operand->var->align) : 0;
        zeros = zeros < 4 && (operand->var->size >= 16 || !operand->var->size) ? 4 : zeros;
        return operand->imm ? least(zeros, (unsigned)__builtin_ctzll((uint64_t)operand->imm))
                            : zeros;
    }
    case PTX_OPERAND_REG:
        return operand->reg != PTX_NO_REG ? fold->zeros[operand->reg] : 0;
    default:
        return 0;
    }
}

/* How many low bits of the result are certainly zero. */
static unsigned zeros_of_inst(const struct fold *fold, const struct ptx_inst *ptx)
{
    const struct ptx_operand *o = ptx->operands;
    switch (ptx->op) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_CVTA:
    case PTX_OP_CVTA_TO:
        return zeros_of(fold, &o[1]);
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_SELP:
        return least(zeros_of(fold, &o[1]), zeros_of(fold, &o[2]));
    case PTX_OP_AND: {
        unsigned a = zeros_of(fold, &o[1]), b = zeros_of(fold, &o[2]);
        return a > b ? a : b;
    }
    case PTX_OP_SHL:
        return o[2].kind == PTX_OPERAND_IMM
                   ? least(zeros_of(fold, &o[1]) + (unsigned)(o[2].imm & 63), MOST_ZEROS)
                   : zeros_of(fold, &o[1]);
    case PTX_OP_MUL_LO:
    case PTX_OP_MUL_WIDE:
        return least(zeros_of(fold, &o[1]) + zeros_of(fold, &o[2]), MOST_ZEROS);
    case PTX_OP_MAD_LO:
    case PTX_OP_MAD_WIDE:
        return least(least(zeros_of(fold, &o[1]) + zeros_of(fold, &o[2]), MOST_ZEROS),
                     zeros_of(fold, &o[3]));
    default:
        return 0;
    }
}

/* From "all zero" down, until nothing changes: loops are no obstacle. */
static void find_zeros(struct fold *fold)
{
    const struct ptx_function *function = fold->function;
    fold->zeros = lk_alloc(function->reg_count + 1);
    memset(fold->zeros, MOST_ZEROS, function->reg_count + 1);
    for (uint32_t i = 0; i < function->param_count; i++)
        if (function->params[i].reg != PTX_NO_REG && !function->params[i].var)
            fold->zeros[function->params[i].reg] = 0;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < function->inst_count; i++) {
            const struct ptx_inst *ptx = &function->insts[i];
            const struct flow_roles *roles = simt_flow_roles(ptx->op);
            unsigned zeros = zeros_of_inst(fold, ptx);
            for (unsigned k = 0; k < ptx->operand_count && k < 8; k++) {
                const struct ptx_operand *operand = &ptx->operands[k];
                if (!roles->is_written[k] || operand->kind == PTX_OPERAND_ADDRESS)
                    continue;
                uint32_t count = operand->item_count ? operand->item_count : 1;
                for (uint32_t j = 0; j < count; j++) {
                    uint32_t reg = operand->item_count ? operand->items[j].reg : operand->reg;
                    if (reg == PTX_NO_REG || operand->kind == PTX_OPERAND_SINK ||
                        fold->zeros[reg] <= zeros)
                        continue;
                    fold->zeros[reg] = (uint8_t)zeros;
                    again = true;
                }
            }
        }
    }
}

/* Is it the same in all lanes of a warp? */
static bool is_uniform(const struct fold *fold, const struct ptx_operand *operand, int depth)
{
    switch (operand->kind) {
    case PTX_OPERAND_IMM:
    case PTX_OPERAND_VAR:
        return true;
    case PTX_OPERAND_SREG:
        return operand->sreg > PTX_SREG_TID_Z && operand->sreg != PTX_SREG_LANEID;
    case PTX_OPERAND_ADDRESS: /* of a parameter */
        return operand->reg == PTX_NO_REG && operand->var && operand->var->space == PTX_SPACE_PARAM;
    case PTX_OPERAND_REG:
        break;
    default:
        return false;
    }
    if (depth >= DEEPEST || operand->reg == PTX_NO_REG || fold->def[operand->reg] == UINT32_MAX)
        return false;
    const struct ptx_inst *ptx = &fold->function->insts[fold->def[operand->reg]];
    enum ptx_group group = ptx_op_infos[ptx->op].group;
    bool is_param = ptx->op == PTX_OP_LD;
    if (!is_param && group != PTX_GROUP_INTEGER && group != PTX_GROUP_MOVE &&
        group != PTX_GROUP_CONVERT)
        return false;
    for (unsigned k = 1; k < ptx->operand_count; k++)
        if (!is_uniform(fold, &ptx->operands[k], depth + 1))
            return false;
    return true;
}

/* Loads that become one --------------------------------------------------------------------------
 */

struct run { /* loads or stores of one base in one basic block */
    uint32_t reg;
    const struct ptx_var *var;
    unsigned bytes, count;
    struct {
        int64_t imm;
        uint32_t inst;
    } loads[RUN_LENGTH];
};

/* Bytes of a plain load or store of one element in shared memory; 0 for any other instruction. */
static unsigned plain_bytes(const struct ptx_inst *ptx, enum ptx_op op)
{
    unsigned address = op == PTX_OP_LD ? 1 : 0;
    if (ptx->op != op || ptx_has(ptx, PTX_MOD_VOLATILE) || ptx->operand_count < 2 ||
        ptx->operands[address].kind != PTX_OPERAND_ADDRESS ||
        ptx->operands[1 - address].kind == PTX_OPERAND_VECTOR || ptx->guard != PTX_NO_REG ||
        !(ptx_has(ptx, PTX_MOD_SHARED) || ptx_has(ptx, PTX_MOD_SHARED_CTA)))
        return 0;
    unsigned bits = ptx_type_bits(ptx->types[ptx->type_count - 1]);
    return bits == 32 || bits == 64 ? bits / 8 : 0;
}

/* What keeps a later load from being done with an earlier one. */
static bool closes(const struct ptx_inst *ptx)
{
    switch (ptx_op_infos[ptx->op].group) {
    case PTX_GROUP_ATOMIC:
    case PTX_GROUP_BARRIER:
    case PTX_GROUP_CONTROL:
    case PTX_GROUP_ASYNC:
    case PTX_GROUP_BULK:
        return true;
    case PTX_GROUP_MEMORY:
        return (ptx->op == PTX_OP_ST || ptx->op == PTX_OP_ST_SYNC) &&
               !ptx_has(ptx, PTX_MOD_GLOBAL) && !ptx_has(ptx, PTX_MOD_LOCAL) &&
               !ptx_has(ptx, PTX_MOD_PARAM);
    default:
        return ptx->op == PTX_OP_BAR_WARP_SYNC || ptx->op == PTX_OP_STMATRIX;
    }
}

/* The first load of a group, in the program's order, stands for all of it. */
static void merge(const struct run *run, unsigned from, unsigned count, struct watch_inst *insts,
                  const uint32_t *places)
{
    unsigned leader = from;
    for (unsigned i = from; i < from + count; i++)
        leader = run->loads[i].inst < run->loads[leader].inst ? i : leader;
    for (unsigned i = from; i < from + count; i++)
        insts[places[run->loads[i].inst]].folded = true;
    struct watch_inst *what = &insts[places[run->loads[leader].inst]];
    what->folded = false;
    what->counted_bytes = (uint8_t)(run->bytes * count);
    what->counted_offset =
        (int8_t)((uint64_t)run->loads[from].imm - (uint64_t)run->loads[leader].imm);
}

static void end_run(const struct fold *fold, struct run *run, struct watch_inst *insts,
                    const uint32_t *places)
{
    for (unsigned i = 1; i < run->count; i++) /* by address; runs are short */
        for (unsigned k = i; k && run->loads[k - 1].imm > run->loads[k].imm; k--) {
            __auto_type swap = run->loads[k];
            run->loads[k] = run->loads[k - 1];
            run->loads[k - 1] = swap;
        }
    struct ptx_operand base = {.kind = run->reg != PTX_NO_REG ? PTX_OPERAND_REG : PTX_OPERAND_VAR,
                               .reg = run->reg,
                               .var = run->var};
    unsigned zeros = run->reg != PTX_NO_REG || run->var ? zeros_of(fold, &base) : MOST_ZEROS;
    if (run->reg != PTX_NO_REG && run->var) {
        struct ptx_operand var = {.kind = PTX_OPERAND_VAR, .var = run->var};
        zeros = least(zeros, zeros_of(fold, &var));
    }
    for (unsigned i = 0; i < run->count;) {
        unsigned best = 1;
        for (unsigned wide = 16; wide > run->bytes && best == 1; wide /= 2) {
            unsigned count = wide / run->bytes, k = 1;
            if ((run->loads[i].imm & (int64_t)(wide - 1)) || zeros < (unsigned)__builtin_ctz(wide))
                continue;
            while (k < count && i + k < run->count &&
                   (uint64_t)run->loads[i + k].imm == (uint64_t)run->loads[i].imm + k * run->bytes)
                k++;
            if (k == count)
                best = count;
        }
        if (best > 1)
            merge(run, i, best, insts, places);
        i += best;
    }
    run->count = 0;
}

static void add_to_run(struct run *run, const struct ptx_operand *address, unsigned bytes,
                       uint32_t inst)
{
    run->reg = address->reg;
    run->var = address->var;
    run->bytes = bytes;
    run->loads[run->count].imm = address->imm;
    run->loads[run->count++].inst = inst;
}

static bool is_of_run(const struct run *run, const struct ptx_operand *address, unsigned bytes)
{
    return run->count && run->count < RUN_LENGTH && run->reg == address->reg &&
           run->var == address->var && run->bytes == bytes;
}

/* Stores of one base, with nothing between them that reads or writes shared memory otherwise. */
static void fold_stores(const struct fold *fold, struct watch_inst *insts, const uint32_t *places)
{
    struct run *run = lk_alloc_zeroed(sizeof(*run));
    const struct ptx_function *function = fold->function;
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *ptx = &function->insts[i];
        bool boundary = i && fold->flow.block_of[i] != fold->flow.block_of[i - 1];
        unsigned bytes = plain_bytes(ptx, PTX_OP_ST);
        bool goes_on = bytes && is_of_run(run, &ptx->operands[0], bytes);
        bool reads =
            insts[places[i]].kind == WATCH_LOAD && insts[places[i]].space != PTX_SPACE_GLOBAL;
        if (boundary || reads || (closes(ptx) && !goes_on))
            end_run(fold, run, insts, places);
        if (bytes)
            add_to_run(run, &ptx->operands[0], bytes, i);
    }
    end_run(fold, run, insts, places);
    free(run);
}

static void fold_loads(const struct fold *fold, struct watch_inst *insts, const uint32_t *places)
{
    enum { RUNS = 16 };
    struct run *runs = lk_alloc_zeroed(RUNS * sizeof(*runs));
    const struct ptx_function *function = fold->function;
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *ptx = &function->insts[i];
        bool boundary = i && fold->flow.block_of[i] != fold->flow.block_of[i - 1];
        for (unsigned k = 0; (boundary || closes(ptx)) && k < RUNS; k++)
            end_run(fold, &runs[k], insts, places);
        unsigned bytes = plain_bytes(ptx, PTX_OP_LD);
        if (!bytes)
            continue;
        const struct ptx_operand *address = &ptx->operands[1];
        struct run *mine = NULL;
        for (unsigned k = 0; k < RUNS && !mine; k++)
            if (is_of_run(&runs[k], address, bytes))
                mine = &runs[k];
        for (unsigned k = 0; k < RUNS && !mine; k++)
            if (!runs[k].count)
                mine = &runs[k];
        if (mine)
            add_to_run(mine, address, bytes, i);
    }
    for (unsigned k = 0; k < RUNS; k++)
        end_run(fold, &runs[k], insts, places);
    free(runs);
}

/* Reductions -------------------------------------------------------------------------------------
 */

static const struct ptx_operand *value_of(const struct ptx_inst *ptx)
{
    return &ptx->operands[ptx->operand_count - 1];
}

static bool adds_one(const struct ptx_inst *ptx)
{
    const struct ptx_operand *value = value_of(ptx);
    return ptx_has(ptx, PTX_MOD_ADD) && value->kind == PTX_OPERAND_IMM && value->imm == 1;
}

/* Can a warp sum it up first? With a result, or in 64 bits, only what is the same in all lanes: it
 * is multiplied by their number. */
static bool is_summable(const struct fold *fold, const struct ptx_inst *ptx,
                        const struct watch_inst *what)
{
    if ((what->kind != WATCH_RED && what->kind != WATCH_ATOM) || ptx->op == PTX_OP_ATOM_CAS ||
        ptx_type_kind(ptx->types[ptx->type_count - 1]) == PTX_KIND_FLOAT ||
        ptx_has(ptx, PTX_MOD_INC) || ptx_has(ptx, PTX_MOD_DEC) || ptx_has(ptx, PTX_MOD_EXCH))
        return false;
    if (what->kind == WATCH_RED && what->bytes == 4)
        return true;
    return ptx_has(ptx, PTX_MOD_ADD) && is_uniform(fold, value_of(ptx), 0);
}

static void fold_reductions(const struct fold *fold, struct watch_inst *insts,
                            const uint32_t *places)
{
    const struct ptx_function *function = fold->function;
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *ptx = &function->insts[i];
        struct watch_inst *what = &insts[places[i]];
        bool is_shared = what->space == PTX_SPACE_SHARED;
        if (!is_summable(fold, ptx, what) || (!is_shared && what->space != PTX_SPACE_GLOBAL))
            continue;
        what->counts_lanes = is_shared && what->kind == WATCH_RED && adds_one(ptx);
        for (unsigned k = 0; k < ptx->operand_count; k++) {
            const struct ptx_operand *operand = &ptx->operands[k];
            if (operand->kind != PTX_OPERAND_ADDRESS)
                continue;
            struct ptx_operand base = {.kind = PTX_OPERAND_REG, .reg = operand->reg};
            what->one_lane = operand->reg == PTX_NO_REG || is_uniform(fold, &base, 0);
        }
    }
}

void simt_watch_fold(const struct ptx_function *function, const uint32_t *places,
                     struct watch_inst *insts)
{
    struct fold fold = {.function = function};
    find_defs(&fold);
    find_zeros(&fold);
    flow_build(&fold.flow, function);
    fold_loads(&fold, insts, places);
    fold_stores(&fold, insts, places);
    fold_reductions(&fold, insts, places);
    flow_free(&fold.flow);
    free(fold.def);
    free(fold.zeros);
}
