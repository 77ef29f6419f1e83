/*
 * watch_cost.c: what an instruction costs, for the time model: how many machine instructions the
 * assembler makes of it, and how often a basic block must wait for loads.
 * Loads of a block are started as early as their addresses are known; only a load whose address
 * comes from another one, or that follows a store of loaded values, starts a new phase. A small
 * loop that counts its turns, loads, and neither stores nor waits, is unrolled by the assembler
 * until it has about eight loads to start together.
 */
#include "simt/watch.h"

#include "gpu/counters.h"

#include <stdlib.h>

/* Slots ------------------------------------------------------------------------------------------
 */

static bool is_wide(const struct ptx_inst *ptx)
{
    return ptx->type_count && ptx_type_bits(ptx->types[0]) == 64;
}

/* Typical lengths of the sequences that nvcc 13 emits for sm_90. */
static unsigned slots_of(const struct ptx_inst *ptx, const struct watch_inst *what)
{
    switch (ptx->op) {
    case PTX_OP_DIV:
    case PTX_OP_REM:
        return is_wide(ptx) ? 60 : 18;
    case PTX_OP_MUL_LO:
    case PTX_OP_MAD_LO:
    case PTX_OP_MUL_HI:
        return is_wide(ptx) ? 4 : 1;
    case PTX_OP_FDIV:
        return is_wide(ptx) ? 40 : 19;
    case PTX_OP_SQRT:
    case PTX_OP_RCP:
        return is_wide(ptx) ? 32 : 14;
    case PTX_OP_FDIV_APPROX:
        return 3;
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_RSQRT_APPROX:
    case PTX_OP_SQRT_APPROX:
    case PTX_OP_LG2:
    case PTX_OP_EX2:
        return 3;
    default:
        break;
    }
    switch ((enum gpu_class)what->class) {
    case GPU_CLASS_MOVE:
    case GPU_CLASS_PARAM:
        return 0;
    case GPU_CLASS_INTEGER:
    case GPU_CLASS_COMPARE:
        return is_wide(ptx) ? 2 : 1;
    default:
        return what->folded ? 0 : 1;
    }
}

/* Phases -----------------------------------------------------------------------------------------
 */

struct phases {
    unsigned loads;
    bool stays, counts; /* it is not unrolled; it compares for equality, as loops that count do */
    uint8_t *global, *shared; /* [reg]: loads that must have come before it is known */
    unsigned deepest_global, deepest_shared, floor_global, floor_shared;
};

static void source_depths(const struct phases *phases, const struct ptx_inst *ptx, unsigned *global,
                          unsigned *shared)
{
    const struct flow_roles *roles = simt_flow_roles(ptx->op);
    *global = *shared = 0;
    for (unsigned k = 0; k < ptx->operand_count; k++) {
        const struct ptx_operand *operand = &ptx->operands[k];
        bool is_address = operand->kind == PTX_OPERAND_ADDRESS;
        if (k < 8 && roles->is_written[k] && !is_address)
            continue;
        uint32_t count = operand->item_count ? operand->item_count : 1;
        for (uint32_t j = 0; j < count; j++) {
            const struct ptx_operand *item = operand->item_count ? &operand->items[j] : operand;
            if (item->reg == PTX_NO_REG ||
                (item->kind != PTX_OPERAND_REG && item->kind != PTX_OPERAND_ADDRESS))
                continue;
            *global = phases->global[item->reg] > *global ? phases->global[item->reg] : *global;
            *shared = phases->shared[item->reg] > *shared ? phases->shared[item->reg] : *shared;
        }
    }
}

static void set_results(struct phases *phases, const struct ptx_inst *ptx, unsigned global,
                        unsigned shared)
{
    const struct flow_roles *roles = simt_flow_roles(ptx->op);
    for (unsigned k = 0; k < ptx->operand_count && k < 8; k++) {
        const struct ptx_operand *operand = &ptx->operands[k];
        if (!roles->is_written[k] || operand->kind == PTX_OPERAND_ADDRESS)
            continue;
        uint32_t count = operand->item_count ? operand->item_count : 1;
        for (uint32_t j = 0; j < count; j++) {
            uint32_t reg = operand->item_count ? operand->items[j].reg : operand->reg;
            if (reg == PTX_NO_REG || operand->kind == PTX_OPERAND_SINK)
                continue;
            phases->global[reg] = (uint8_t)(global > 200 ? 200 : global);
            phases->shared[reg] = (uint8_t)(shared > 200 ? 200 : shared);
        }
    }
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static void pass(struct phases *phases, const struct ptx_inst *ptx, struct watch_inst *what)
{
    unsigned global, shared;
    source_depths(phases, ptx, &global, &shared);
    bool is_shared = what->space == PTX_SPACE_SHARED;
    bool is_load = what->kind == WATCH_LOAD || what->kind == WATCH_ATOM ||
                   (what->kind == WATCH_MATRIX && !what->is_write) ||
                   (what->kind == WATCH_TILE && !what->is_write);
    phases->counts |= (ptx->op == PTX_OP_SETP_INT || ptx->op == PTX_OP_SETP_INT_BOOL) &&
                      (ptx_has(ptx, PTX_MOD_NE) || ptx_has(ptx, PTX_MOD_EQ));
    phases->loads += is_load && !is_shared && what->space != PTX_SPACE_CONST;
    phases->stays |= what->class == GPU_CLASS_BARRIER || (what->kind && !is_load) ||
                     (what->kind && is_shared) || what->kind == WATCH_ATOM;
    if (is_load && what->space != PTX_SPACE_CONST) {
        if (is_shared)
            shared = larger(shared, phases->floor_shared) + 1;
        else
            global = larger(global, what->space == PTX_SPACE_LOCAL ? 0 : phases->floor_global) + 1;
        what->waits = is_shared ? shared > phases->deepest_shared : global > phases->deepest_global;
    } else if (what->class == GPU_CLASS_BARRIER) {
        phases->floor_global = phases->deepest_global;
        phases->floor_shared = phases->deepest_shared;
    } else if (what->kind && what->space != PTX_SPACE_LOCAL) { /* a store that may be read next */
        if (!is_shared)
            phases->floor_global = larger(phases->floor_global, global);
        if (what->space != PTX_SPACE_GLOBAL)
            phases->floor_shared = larger(phases->floor_shared, shared);
    }
    phases->deepest_global = larger(phases->deepest_global, global);
    phases->deepest_shared = larger(phases->deepest_shared, shared);
    set_results(phases, ptx, global, shared);
}

/* Does the block lead back to itself, so that its turns differ in their addresses alone? */
static bool is_unrolled(const struct flow *flow, uint32_t block, const struct phases *phases)
{
    enum { ENOUGH = 8 };
    bool loops = false;
    for (uint32_t i = flow->first_edge[block]; i < flow->first_edge[block + 1]; i++)
        loops |= flow->edges[i].to == block;
    return loops && phases->counts && !phases->stays && phases->deepest_global == 1 &&
           phases->loads > 1 && phases->loads < ENOUGH;
}

void simt_watch_cost(const struct ptx_function *function, const uint32_t *places,
                     struct watch_inst *insts)
{
    struct flow flow = {0};
    flow_build(&flow, function);
    struct phases phases = {.global = lk_alloc_zeroed(function->reg_count + 1),
                            .shared = lk_alloc_zeroed(function->reg_count + 1)};
    uint32_t first = 0;
    for (uint32_t i = 0; i < function->inst_count; i++) {
        struct watch_inst *what = &insts[places[i]];
        what->slots = (uint8_t)slots_of(&function->insts[i], what);
        pass(&phases, &function->insts[i], what);
        if (i + 1 < function->inst_count && flow.block_of[i + 1] == flow.block_of[i])
            continue;
        struct watch_inst *leader = &insts[places[first]];
        leader->load_phases = (uint8_t)(phases.deepest_global > 255 ? 255 : phases.deepest_global);
        leader->quarters =
            is_unrolled(&flow, flow.block_of[i], &phases)
                ? (uint8_t)(phases.loads > 4 ? phases.loads / 2 : 2)
                : (uint8_t)(leader->load_phases > 63 ? 255 : leader->load_phases * 4);
        leader->shared_phases =
            (uint8_t)(phases.deepest_shared > 255 ? 255 : phases.deepest_shared);
        memset(phases.global, 0, function->reg_count);
        memset(phases.shared, 0, function->reg_count);
        phases.deepest_global = phases.deepest_shared = 0;
        phases.floor_global = phases.floor_shared = phases.loads = 0;
        phases.stays = phases.counts = false;
        first = i + 1;
    }
    free(phases.global);
    free(phases.shared);
    flow_free(&flow);
}
