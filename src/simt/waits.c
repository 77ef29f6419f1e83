/*
 * waits.c: finds loops that do nothing but wait for a clock, so that clock.h can fast-forward them.
 * In such a loop no turn leaves anything behind for the next: it stores nothing, calls nothing,
 * waits for no other thread, and every register that it writes is written before it is read. What
 * ends it can only be the clock. A loop that counts its turns, or adds up what it measures, is none
 * of these. Nor is one that also looks at an mbarrier: its clock reads and sleeps are marked.
 */
#include "simt/clock.h"

#include <stdlib.h>

static bool is_clock_read(const struct ptx_inst *inst)
{
    const struct ptx_operand *from = inst->op == PTX_OP_MOV ? &inst->operands[1] : NULL;
    return from && from->kind == PTX_OPERAND_SREG && from->sreg >= PTX_SREG_CLOCK &&
           from->sreg <= PTX_SREG_GLOBALTIMER_HI;
}

/* Reads or changes memory that other blocks may write at the same time. */
static bool is_shared_by_blocks(const struct ptx_inst *inst)
{
    if (ptx_has(inst, PTX_MOD_SHARED) || ptx_has(inst, PTX_MOD_SHARED_CTA) ||
        ptx_has(inst, PTX_MOD_LOCAL))
        return false;
    switch (inst->op) {
    case PTX_OP_ATOM:
    case PTX_OP_ATOM_NOFTZ:
    case PTX_OP_ATOM_CAS:
    case PTX_OP_ATOM_VEC:
    case PTX_OP_RED:
    case PTX_OP_RED_NOFTZ:
    case PTX_OP_RED_VEC:
    case PTX_OP_LD_SYNC:
        return true;
    default:
        return inst->op == PTX_OP_LD && ptx_has(inst, PTX_MOD_VOLATILE);
    }
}

/* Can leave something behind, or depends on what others do. */
static bool is_more_than_waiting(const struct ptx_inst *inst)
{
    switch (ptx_op_infos[inst->op].group) {
    case PTX_GROUP_MEMORY:
        return inst->op != PTX_OP_LD ||
               !(ptx_has(inst, PTX_MOD_PARAM) || ptx_has(inst, PTX_MOD_CONST));
    case PTX_GROUP_CONTROL:
        return inst->op != PTX_OP_BRA && inst->op != PTX_OP_NANOSLEEP;
    case PTX_GROUP_INTEGER:
    case PTX_GROUP_COMPARE:
    case PTX_GROUP_FLOAT:
    case PTX_GROUP_APPROX:
    case PTX_GROUP_CONVERT:
    case PTX_GROUP_MOVE:
        return false;
    default:
        return true;
    }
}

struct carried {
    uint8_t *written; /* [register]: 1 written in the loop before, 2 read before it was */
    bool any;
};

enum { WRITTEN = 1, READ_FIRST = 2 };

static void note(void *context, uint32_t reg, bool written, bool partly)
{
    struct carried *carried = context;
    uint8_t *state = &carried->written[reg];
    if (!written && !(*state & WRITTEN))
        *state |= READ_FIRST;
    if (written && (*state & READ_FIRST || (partly && !(*state & WRITTEN))))
        carried->any = true;
    if (written)
        *state |= WRITTEN;
}

/* Instructions first to last, of which the last leads back to the first. */
static bool only_waits(const struct ptx_function *function, uint32_t first, uint32_t last)
{
    struct carried carried = {.written = lk_alloc_zeroed(function->reg_count + 1)};
    for (uint32_t i = first; i <= last && !carried.any; i++) {
        carried.any = is_more_than_waiting(&function->insts[i]);
        simt_flow_visit(&function->insts[i], note, &carried);
    }
    free(carried.written);
    return !carried.any;
}

static bool looks_at_mbarrier(const struct ptx_function *function, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++)
        switch (function->insts[i].op) {
        case PTX_OP_MBARRIER_TEST_WAIT:
        case PTX_OP_MBARRIER_TEST_WAIT_PARITY:
        case PTX_OP_MBARRIER_TRY_WAIT:
        case PTX_OP_MBARRIER_TRY_WAIT_PARITY:
            return true;
        default:
            break;
        }
    return false;
}

/* The smallest loop around an instruction, as its text lies: first and last instruction. */
static bool find_loop(const struct flow *flow, uint32_t at, uint32_t *first, uint32_t *last)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < flow->edge_count; i++) {
        const struct flow_edge *edge = &flow->edges[i];
        if (edge->to > edge->from || edge->to >= flow->block_count)
            continue;
        uint32_t begin = flow->start[edge->to], end = flow->start[edge->from + 1] - 1;
        if (begin <= at && at <= end && end - begin < best) {
            best = end - begin;
            *first = begin;
            *last = end;
        }
    }
    return best != UINT32_MAX;
}

void simt_find_waits(struct simt_code *code)
{
    enum { LONGEST = 256 };
    const struct ptx_function *built = NULL;
    struct flow flow = {0};
    for (uint32_t i = 0; i < code->inst_count; i++) {
        struct simt_inst *inst = &code->insts[i];
        code->meets_blocks |= is_shared_by_blocks(inst->ptx);
        bool reads_clock = is_clock_read(inst->ptx);
        if (reads_clock)
            inst->imm = 0; /* was the register's number */
        if (inst->flags & SIMT_FLAG_HIDDEN || (!reads_clock && inst->ptx->op != PTX_OP_NANOSLEEP))
            continue;
        code->reads_clock |= reads_clock;
        code->counts_cycles |= reads_clock && inst->ptx->operands[1].sreg <= PTX_SREG_CLOCK64;
        const struct ptx_function *function = NULL;
        for (uint32_t k = 0; k < code->function_count; k++) {
            const struct ptx_function *each = code->functions[k].ptx;
            if (inst->ptx >= each->insts && inst->ptx < each->insts + each->inst_count)
                function = each;
        }
        if (!function)
            continue;
        if (built != function) {
            if (built)
                flow_free(&flow);
            flow = (struct flow){0};
            flow_build(&flow, function);
            built = function;
        }
        uint32_t first, last;
        if (!find_loop(&flow, (uint32_t)(inst->ptx - function->insts), &first, &last))
            continue;
        if (looks_at_mbarrier(function, first, last))
            inst->flags |= SIMT_FLAG_BACKOFF;
        if (reads_clock && last - first < LONGEST && only_waits(function, first, last))
            inst->imm = (int64_t)(first + 1) << 32 | (last - first + 1);
    }
    if (built)
        flow_free(&flow);
}
