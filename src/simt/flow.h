/*
 * flow.h: the control-flow graph of a PTX function, and what the decoder needs from it.
 */
#ifndef LOCKSTEP_SIMT_FLOW_H
#define LOCKSTEP_SIMT_FLOW_H

#include "base/arena.h"
#include "ptx/ptx.h"

struct flow_edge {
    uint32_t from, to;
};

/* Blocks are numbered in program order; block_count stands for the function's end. */
struct flow {
    const struct ptx_function *function;
    uint32_t block_count;
    uint32_t *start;         /* [block_count + 1] first instruction of a block */
    uint32_t *block_of;      /* [inst_count] */
    struct flow_edge *edges; /* sorted by from */
    uint32_t *first_edge;    /* [block_count + 2] */
    uint32_t edge_count, edge_capacity;
};

void flow_build(struct flow *flow, const struct ptx_function *function);
void flow_free(struct flow *flow);

/* For each instruction that can split a path, the instruction where its sides meet again
 * (UINT32_MAX: only at the function's end, or not at all). */
uint32_t *simt_flow_joins(struct lk_arena *arena, const struct ptx_function *function);

/* Live ranges, in instruction numbers, loops and branches considered. */
struct flow_range {
    uint32_t first, last; /* first > last: the register is never used */
    bool unwritten;       /* on some way it is read, or written in part, before it is written */
};
struct flow_range *simt_flow_ranges(struct lk_arena *arena, const struct ptx_function *function);

/* The registers of an instruction: reads first, then writes, as it does them. partly: what was
 * there before stays in some lanes or bits. */
typedef void flow_visit(void *context, uint32_t reg, bool written, bool partly);
void simt_flow_visit(const struct ptx_inst *inst, flow_visit *visit, void *context);

/* Operand roles, from ops.def. */
struct flow_roles {
    uint8_t count;
    bool is_written[8], is_address[8], is_list[8];
};
const struct flow_roles *simt_flow_roles(enum ptx_op op);

#endif
