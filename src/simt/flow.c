/*
 * flow.c: control flow of a PTX function: basic blocks, where split paths meet again (immediate
 * post-dominators), and which registers are alive where.
 * Works on the checked PTX, before decoding.
 */
#include "simt/flow.h"

#include <stdlib.h>
#include <string.h>

static bool ends_block(const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
        return true;
    default:
        return false;
    }
}

static void mark_targets(const struct ptx_inst *inst, uint8_t *leader)
{
    for (unsigned k = 0; k < inst->operand_count; k++) {
        const struct ptx_operand *operand = &inst->operands[k];
        if (operand->kind == PTX_OPERAND_LABEL)
            leader[operand->target] = 1;
        if (operand->kind == PTX_OPERAND_TARGETS)
            for (uint32_t i = 0; i < operand->item_count; i++)
                leader[operand->items[i].target] = 1;
    }
}

static void add_edge(struct flow *flow, uint32_t from, uint32_t to)
{
    if (flow->edge_count == flow->edge_capacity) {
        flow->edge_capacity = flow->edge_capacity ? flow->edge_capacity * 2 : 64;
        flow->edges = lk_realloc(flow->edges, flow->edge_capacity * sizeof(*flow->edges));
    }
    flow->edges[flow->edge_count++] = (struct flow_edge){from, to};
}

/* The edges that leave a block; the exit is block number block_count. */
static void add_block_edges(struct flow *flow, uint32_t block)
{
    const struct ptx_function *function = flow->function;
    uint32_t last = flow->start[block + 1] - 1;
    const struct ptx_inst *inst = &function->insts[last];
    uint32_t exit = flow->block_count;
    uint32_t next = last + 1 < function->inst_count ? flow->block_of[last + 1] : exit;
    bool guarded = inst->guard != PTX_NO_REG;
    if (!ends_block(inst) || guarded)
        add_edge(flow, block, next);
    if (inst->op == PTX_OP_RET || inst->op == PTX_OP_EXIT || inst->op == PTX_OP_TRAP)
        add_edge(flow, block, exit);
    if (inst->op != PTX_OP_BRA && inst->op != PTX_OP_BRX)
        return;
    for (unsigned k = 0; k < inst->operand_count; k++) {
        const struct ptx_operand *operand = &inst->operands[k];
        if (operand->kind == PTX_OPERAND_LABEL)
            add_edge(flow, block, flow->block_of[operand->target]);
        if (operand->kind == PTX_OPERAND_TARGETS)
            for (uint32_t i = 0; i < operand->item_count; i++)
                add_edge(flow, block, flow->block_of[operand->items[i].target]);
    }
}

static int by_from(const void *a, const void *b)
{
    const struct flow_edge *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

void flow_build(struct flow *flow, const struct ptx_function *function)
{
    memset(flow, 0, sizeof(*flow));
    flow->function = function;
    uint32_t count = function->inst_count;
    uint8_t *leader = lk_alloc_zeroed(count + 1);
    leader[0] = 1;
    for (uint32_t i = 0; i < count; i++) {
        mark_targets(&function->insts[i], leader);
        if (ends_block(&function->insts[i]))
            leader[i + 1] = 1;
    }
    flow->block_of = lk_alloc((count + 1) * sizeof(uint32_t));
    flow->start = lk_alloc((count + 2) * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        if (leader[i])
            flow->start[flow->block_count++] = i;
        flow->block_of[i] = flow->block_count - 1;
    }
    flow->start[flow->block_count] = count;
    free(leader);
    for (uint32_t block = 0; block < flow->block_count; block++)
        add_block_edges(flow, block);
    qsort(flow->edges, flow->edge_count, sizeof(*flow->edges), by_from);
    flow->first_edge = lk_alloc_zeroed((flow->block_count + 2) * sizeof(uint32_t));
    for (uint32_t i = 0; i < flow->edge_count; i++)
        flow->first_edge[flow->edges[i].from + 1]++;
    for (uint32_t block = 0; block <= flow->block_count; block++)
        flow->first_edge[block + 1] += flow->first_edge[block];
}

void flow_free(struct flow *flow)
{
    free(flow->block_of);
    free(flow->start);
    free(flow->edges);
    free(flow->first_edge);
}

/* Immediate post-dominators (Cooper, Harvey and Kennedy on the reversed graph) --------------------
 */

struct postdom {
    uint32_t *order; /* block -> its number; the exit has the highest, UNREACHED if it cannot end */
    uint32_t *by_order; /* number -> block */
    uint32_t *parent;   /* block -> immediate post-dominator */
    uint32_t count;
};

#define UNREACHED UINT32_MAX

/* Numbers blocks in postorder of the reversed graph from the exit, without recursion. */
static void number_blocks(const struct flow *flow, struct postdom *dom)
{
    uint32_t nodes = flow->block_count + 1, exit = flow->block_count;
    uint32_t *first = lk_alloc_zeroed((nodes + 1) * sizeof(uint32_t));
    uint32_t *sources = lk_alloc((flow->edge_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < flow->edge_count; i++)
        first[flow->edges[i].to + 1]++;
    for (uint32_t i = 0; i < nodes; i++)
        first[i + 1] += first[i];
    uint32_t *next = lk_alloc((nodes + 1) * sizeof(uint32_t));
    memcpy(next, first, (nodes + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < flow->edge_count; i++)
        sources[next[flow->edges[i].to]++] = flow->edges[i].from;
    memcpy(next, first, (nodes + 1) * sizeof(uint32_t));
    uint32_t *stack = lk_alloc((nodes + 1) * sizeof(uint32_t)), depth = 0;
    uint8_t *seen = lk_alloc_zeroed(nodes);
    stack[depth++] = exit;
    seen[exit] = 1;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (next[node] < first[node + 1]) {
            uint32_t source = sources[next[node]++];
            if (!seen[source]) {
                seen[source] = 1;
                stack[depth++] = source;
            }
        } else {
            dom->by_order[dom->count] = node;
            dom->order[node] = dom->count++;
            depth--;
        }
    }
    free(first);
    free(sources);
    free(next);
    free(stack);
    free(seen);
}

static uint32_t common(const struct postdom *dom, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (dom->order[a] < dom->order[b])
            a = dom->parent[a];
        while (dom->order[b] < dom->order[a])
            b = dom->parent[b];
    }
    return a;
}

static bool improve(const struct flow *flow, struct postdom *dom, uint32_t block)
{
    uint32_t best = UNREACHED;
    for (uint32_t i = flow->first_edge[block]; i < flow->first_edge[block + 1]; i++) {
        uint32_t to = flow->edges[i].to;
        if (dom->order[to] == UNREACHED || dom->parent[to] == UNREACHED)
            continue;
        best = best == UNREACHED ? to : common(dom, best, to);
    }
    bool changed = dom->parent[block] != best;
    dom->parent[block] = best;
    return changed;
}

static void find_postdoms(const struct flow *flow, struct postdom *dom)
{
    uint32_t nodes = flow->block_count + 1, exit = flow->block_count;
    dom->order = lk_alloc(nodes * sizeof(uint32_t));
    dom->by_order = lk_alloc(nodes * sizeof(uint32_t));
    dom->parent = lk_alloc(nodes * sizeof(uint32_t));
    dom->count = 0;
    memset(dom->order, 0xff, nodes * sizeof(uint32_t));
    memset(dom->parent, 0xff, nodes * sizeof(uint32_t));
    number_blocks(flow, dom);
    dom->parent[exit] = exit;
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t k = dom->count; k-- > 0;)
            if (dom->by_order[k] != exit)
                changed |= improve(flow, dom, dom->by_order[k]);
    }
}

static bool can_split(const struct ptx_inst *inst)
{
    return (inst->op == PTX_OP_BRA && inst->guard != PTX_NO_REG) || inst->op == PTX_OP_BRX;
}

/* A call that only some lanes make: guarded, or through pointers that differ. */
static bool is_partial_call(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_CALL &&
           (inst->guard != PTX_NO_REG || inst->operands[1].kind != PTX_OPERAND_FUNCTION);
}

uint32_t *simt_flow_joins(struct lk_arena *arena, const struct ptx_function *function)
{
    uint32_t *joins = lk_arena_alloc(arena, (function->inst_count + 1) * sizeof(uint32_t));
    memset(joins, 0xff, (function->inst_count + 1) * sizeof(uint32_t));
    struct flow flow;
    struct postdom dom = {0};
    flow_build(&flow, function);
    find_postdoms(&flow, &dom);
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *inst = &function->insts[i];
        if (can_split(inst)) {
            uint32_t block = dom.parent[flow.block_of[i]];
            if (block != UNREACHED && block != flow.block_count)
                joins[i] = flow.start[block];
        } else if (is_partial_call(inst) && i + 1 < function->inst_count) {
            joins[i] = i + 1; /* lanes that do not call wait for those that do */
        }
    }
    free(dom.order);
    free(dom.by_order);
    free(dom.parent);
    flow_free(&flow);
    return joins;
}
