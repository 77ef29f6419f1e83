/*
 * live.c: which registers are alive where.
 * The decoder gives registers whose live ranges do not overlap the same slot: nvcc writes PTX with
 * a fresh register for nearly every value, and a warp's registers should fit the host's cache.
 * Ranges are intervals of instruction numbers: a register alive into or out of a block is alive in
 * all of it. That is safe per lane: each lane runs the same graph, whatever the others do.
 */
#include "simt/flow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct flow_roles roles[PTX_OP_COUNT];
static pthread_once_t roles_once = PTHREAD_ONCE_INIT;

static void read_roles(void)
{
    for (int op = 0; op < PTX_OP_COUNT; op++) {
        const char *text = ptx_op_infos[op].operands;
        struct flow_roles *role = &roles[op];
        while (*text && role->count < 8) {
            role->is_address[role->count] = *text == '[';
            role->is_written[role->count] = *text == 'd';
            size_t length = strcspn(text, ",");
            role->is_list[role->count++] = memchr(text, '{', length) != NULL;
            text += length;
            text += *text == ',';
        }
    }
}

const struct flow_roles *simt_flow_roles(enum ptx_op op)
{
    pthread_once(&roles_once, read_roles);
    return &roles[op];
}

/* Bit sets over registers ------------------------------------------------------------------------
 */

struct live {
    const struct ptx_function *function;
    uint32_t words;
    uint64_t *in, *kill, *use; /* [block][words] */
};

static void set_bit(uint64_t *set, uint32_t reg)
{
    set[reg / 64] |= UINT64_C(1) << (reg % 64);
}

static bool has_bit(const uint64_t *set, uint32_t reg)
{
    return set[reg / 64] >> (reg % 64) & 1;
}

static void visit_operand(const struct ptx_operand *operand, bool written, bool partly,
                          flow_visit *visit, void *context)
{
    if (operand->kind == PTX_OPERAND_VECTOR) {
        for (uint32_t i = 0; i < operand->item_count; i++)
            visit_operand(&operand->items[i], written, partly, visit, context);
        if (operand->pair != PTX_NO_REG)
            visit(context, operand->pair, written, partly);
        return;
    }
    for (uint32_t i = 0; operand->kind == PTX_OPERAND_ADDRESS && i < operand->item_count; i++)
        visit_operand(&operand->items[i], false, false, visit, context);
    if (operand->reg != PTX_NO_REG &&
        (operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_ADDRESS))
        visit(context, operand->reg, written, partly);
    if (operand->kind == PTX_OPERAND_REG && operand->pair != PTX_NO_REG)
        visit(context, operand->pair, written, partly);
}

void simt_flow_visit(const struct ptx_inst *inst, flow_visit *visit, void *context)
{
    const struct flow_roles *role = simt_flow_roles(inst->op);
    bool is_call = inst->op == PTX_OP_CALL;
    /* A video instruction with a selector on d, a guarded one and a call write only some lanes or
     * bits: what was there before stays alive. */
    bool partly = inst->guard != PTX_NO_REG || is_call;
    if (inst->guard != PTX_NO_REG)
        visit(context, inst->guard, false, false);
    if (ptx_is_wgmma(inst->op)) /* its accumulators are read too */
        visit_operand(&inst->operands[0], false, false, visit, context);
    for (int pass = 0; pass < 2; pass++)
        for (unsigned k = 0; k < inst->operand_count; k++) {
            const struct ptx_operand *operand = &inst->operands[k];
            bool address = operand->kind == PTX_OPERAND_ADDRESS;
            bool written = is_call ? k == 0 : !address && k < 8 && role->is_written[k];
            if (written == (pass == 1))
                visit_operand(operand, written, partly || operand->selector, visit, context);
        }
}

struct block_sets {
    uint64_t *kill, *use;
};

static void note_block(void *context, uint32_t reg, bool written, bool partly)
{
    struct block_sets *sets = context;
    if ((!written || partly) && !has_bit(sets->kill, reg))
        set_bit(sets->use, reg);
    if (written && !partly)
        set_bit(sets->kill, reg);
}

static bool propagate(const struct flow *flow, struct live *live, uint32_t block, uint64_t *out)
{
    memset(out, 0, live->words * sizeof(uint64_t));
    for (uint32_t i = flow->first_edge[block]; i < flow->first_edge[block + 1]; i++)
        if (flow->edges[i].to < flow->block_count)
            for (uint32_t word = 0; word < live->words; word++)
                out[word] |= live->in[(size_t)flow->edges[i].to * live->words + word];
    bool changed = false;
    for (uint32_t word = 0; word < live->words; word++) {
        size_t at = (size_t)block * live->words + word;
        uint64_t value = live->use[at] | (out[word] & ~live->kill[at]);
        changed |= value != live->in[at];
        live->in[at] = value;
    }
    return changed;
}

static void extend(struct flow_range *range, uint32_t at)
{
    if (at < range->first)
        range->first = at;
    if (at > range->last || range->last == UINT32_MAX)
        range->last = at;
}

struct range_context {
    struct flow_range *ranges;
    uint32_t at;
};

static void note_range(void *context, uint32_t reg, bool written, bool partly)
{
    struct range_context *here = context;
    extend(&here->ranges[reg], here->at);
}

static void extend_set(struct flow_range *ranges, const uint64_t *set, uint32_t words, uint32_t at)
{
    for (uint32_t word = 0; word < words; word++)
        for (uint64_t bits = set[word]; bits; bits &= bits - 1)
            extend(&ranges[word * 64 + (uint32_t)__builtin_ctzll(bits)], at);
}

struct flow_range *simt_flow_ranges(struct lk_arena *arena, const struct ptx_function *function)
{
    struct flow_range *ranges = lk_arena_alloc(arena, (function->reg_count + 1) * sizeof(*ranges));
    for (uint32_t reg = 0; reg < function->reg_count; reg++)
        ranges[reg] = (struct flow_range){UINT32_MAX, UINT32_MAX, false};
    struct flow flow;
    flow_build(&flow, function);
    struct live live = {function, (function->reg_count + 63) / 64, NULL, NULL, NULL};
    size_t bytes = (size_t)flow.block_count * live.words * sizeof(uint64_t);
    live.in = lk_alloc_zeroed(bytes);
    live.kill = lk_alloc_zeroed(bytes);
    live.use = lk_alloc_zeroed(bytes);
    for (uint32_t block = 0; block < flow.block_count; block++) {
        struct block_sets sets = {live.kill + (size_t)block * live.words,
                                  live.use + (size_t)block * live.words};
        for (uint32_t i = flow.start[block]; i < flow.start[block + 1]; i++)
            simt_flow_visit(&function->insts[i], note_block, &sets);
    }
    uint64_t *out = lk_alloc_zeroed((live.words + 1) * sizeof(uint64_t));
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t block = flow.block_count; block-- > 0;)
            changed |= propagate(&flow, &live, block, out);
    }
    for (uint32_t block = 0; block < flow.block_count; block++) {
        propagate(&flow, &live, block, out);
        extend_set(ranges, out, live.words, flow.start[block + 1] - 1);
        extend_set(ranges, live.in + (size_t)block * live.words, live.words, flow.start[block]);
        for (uint32_t i = flow.start[block]; i < flow.start[block + 1]; i++) {
            struct range_context here = {ranges, i};
            simt_flow_visit(&function->insts[i], note_range, &here);
        }
    }
    for (uint32_t reg = 0; reg < function->reg_count; reg++)
        ranges[reg].unwritten = flow.block_count && has_bit(live.in, reg);
    free(out);
    free(live.in);
    free(live.kill);
    free(live.use);
    flow_free(&flow);
    return ranges;
}
