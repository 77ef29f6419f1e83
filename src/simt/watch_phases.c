/*
 * watch_phases.c: how long a warp by itself waits in a basic block, for the time model: how often
 * for loads, and how many cycles for results that follow from one another.
 * Loads of a block are started as early as their addresses are known; only a load whose address
 * comes from another one, or that follows a store which may have changed what it reads, starts a
 * new phase. A block that is a small counted loop is unrolled four times by the assembler, unless
 * .pragma "nounroll" forbids it: its turns are looked at together, for what they load may be
 * started together too. A small block that a branch skips becomes guarded instructions of the block
 * before it, and what follows them goes on with that.
 */
#include "simt/watch.h"

#include "gpu/counters.h"

#include <stdlib.h>

enum { TURNS = 4, UNROLLED_SLOTS = 64, GUARDED_SLOTS = 6 };

struct ready { /* when a register's value is known: after how many loads, and cycles of arithmetic
                */
    uint16_t global, shared, cycles;
};

struct phases {
    struct ready *regs; /* [reg] */
    struct ready deepest;
    unsigned floor_global, floor_shared; /* loads that a next one must wait for */
    uint32_t stored;                     /* register that stores address with so far, and what */
    unsigned stored_floor;               /* loads by way of other registers must wait for */
    unsigned before;                     /* phases of loads of the blocks so far */
};

static uint16_t later(unsigned a, unsigned b)
{
    unsigned most = a > b ? a : b;
    return (uint16_t)(most < UINT16_MAX ? most : UINT16_MAX);
}

static void wait_for(struct ready *ready, const struct ready *other)
{
    ready->global = later(ready->global, other->global);
    ready->shared = later(ready->shared, other->shared);
    ready->cycles = later(ready->cycles, other->cycles);
}

/* Registers --------------------------------------------------------------------------------------
 */

struct visit {
    struct phases *phases;
    struct ready ready;
    bool sets; /* what is written becomes ready; else what is read is waited for */
};

static void visit(void *context, uint32_t reg, bool written, bool partly)
{
    struct visit *visit = context;
    (void)partly;
    if (visit->sets && written)
        visit->phases->regs[reg] = visit->ready;
    else if (!visit->sets && !written)
        wait_for(&visit->ready, &visit->phases->regs[reg]);
}

static uint32_t base_of(const struct ptx_inst *ptx)
{
    for (unsigned k = 0; k < ptx->operand_count; k++)
        if (ptx->operands[k].kind == PTX_OPERAND_ADDRESS)
            return ptx->operands[k].reg;
    return PTX_NO_REG;
}

/* Instructions -----------------------------------------------------------------------------------
 */

/* From its operands to its result. Moves are folded away. */
static unsigned result_cycles(const struct ptx_inst *ptx, const struct watch_inst *what)
{
    unsigned each = 4u * what->slots;
    switch ((enum gpu_class)what->class) {
    case GPU_CLASS_MOVE:
    case GPU_CLASS_PARAM:
    case GPU_CLASS_CONTROL:
    case GPU_CLASS_BARRIER:
    case GPU_CLASS_MEMORY:
        return 0;
    case GPU_CLASS_TENSOR: /* wgmma is waited for elsewhere */
        return ptx_is_wgmma(ptx->op) ? 0 : what->slots > 1 ? 32 : 25;
    case GPU_CLASS_SPECIAL:
        return 16 + each;
    case GPU_CLASS_WARP:
        return 24;
    case GPU_CLASS_CONVERT:
    case GPU_CLASS_F64:
        return 2 * each;
    default:
        return each;
    }
}

static void load(struct phases *phases, const struct ptx_inst *ptx, const struct watch_inst *what,
                 struct ready *ready)
{
    if (what->space == PTX_SPACE_SHARED) {
        ready->shared = later(ready->shared + 1u, phases->floor_shared + 1);
        return;
    }
    unsigned floor = phases->floor_global;
    if (base_of(ptx) != phases->stored)
        floor = later(floor, phases->stored_floor);
    if (what->space == PTX_SPACE_LOCAL || ptx_has(ptx, PTX_MOD_NC)) /* nobody writes there */
        floor = 0;
    ready->global = later(ready->global + 1u, floor + 1);
}

/* Loads that come later may read what it writes, unless both count from the same register. */
static void store(struct phases *phases, const struct ptx_inst *ptx, const struct watch_inst *what,
                  const struct ready *ready)
{
    if (what->space != PTX_SPACE_GLOBAL)
        phases->floor_shared = later(phases->floor_shared, ready->shared);
    if (what->space == PTX_SPACE_SHARED)
        return;
    uint32_t base = base_of(ptx);
    bool is_plain = what->kind == WATCH_STORE && base != PTX_NO_REG;
    if (is_plain && (phases->stored == PTX_NO_REG || phases->stored == base)) {
        phases->stored = base;
        phases->stored_floor = later(phases->stored_floor, ready->global);
    } else {
        phases->floor_global = later(phases->floor_global, ready->global);
    }
}

static void pass(struct phases *phases, const struct ptx_inst *ptx, struct watch_inst *what)
{
    struct visit look = {.phases = phases};
    simt_flow_visit(ptx, visit, &look);
    struct ready *ready = &look.ready;
    bool is_load = what->kind == WATCH_LOAD || what->kind == WATCH_ATOM ||
                   ((what->kind == WATCH_MATRIX || what->kind == WATCH_TILE) && !what->is_write);
    if (is_load && what->space != PTX_SPACE_CONST) {
        load(phases, ptx, what, ready);
        what->waits = what->space == PTX_SPACE_SHARED ? ready->shared > phases->deepest.shared
                                                      : ready->global > phases->deepest.global;
        if (what->space != PTX_SPACE_SHARED)
            what->scoreboard =
                (uint8_t)((phases->before + ready->global - 1u) % SIMT_SCOREBOARDS + 1);
    } else if (what->class == GPU_CLASS_BARRIER) {
        phases->floor_global = phases->deepest.global;
        phases->floor_shared = phases->deepest.shared;
    } else if (what->class == GPU_CLASS_TENSOR) { /* its loads are not moved across others */
        phases->floor_global = later(phases->floor_global, ready->global);
    } else if (what->kind && what->space != PTX_SPACE_LOCAL) {
        store(phases, ptx, what, ready);
    }
    ready->cycles = later(ready->cycles + result_cycles(ptx, what), 0);
    wait_for(&phases->deepest, ready);
    look.sets = true;
    simt_flow_visit(ptx, visit, &look);
}

/* Blocks -----------------------------------------------------------------------------------------
 */

/* Is a register changed by a constant in each turn, and by nothing else? */
static bool counts(const struct ptx_inst *insts, uint32_t count, uint32_t reg)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_inst *ptx = &insts[i];
        if (!ptx->operand_count || ptx->operands[0].kind != PTX_OPERAND_REG ||
            ptx->operands[0].reg != reg || !simt_flow_roles(ptx->op)->is_written[0])
            continue;
        found = (ptx->op == PTX_OP_ADD || ptx->op == PTX_OP_SUB) && ptx->operands[1].reg == reg &&
                ptx->operands[2].kind == PTX_OPERAND_IMM;
        if (!found)
            return false;
    }
    return found;
}

/* Does the block lead back to itself as long as a counter says so, and is it small? */
static bool is_unrolled(const struct flow *flow, uint32_t block, const uint32_t *places,
                        const struct watch_inst *whats)
{
    uint32_t first = flow->start[block], count = flow->start[block + 1] - first;
    const struct ptx_inst *insts = &flow->function->insts[first], *last = &insts[count - 1];
    bool loops = false, is_counted = false;
    for (uint32_t i = flow->first_edge[block]; i < flow->first_edge[block + 1]; i++)
        loops |= flow->edges[i].to == block;
    if (!loops || last->guard == PTX_NO_REG || flow->function->keeps_loops)
        return false;
    unsigned slots = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (insts[i].keeps_loop)
            return false;
        slots += whats[places[first + i]].slots;
        if (insts[i].op == PTX_OP_SETP_INT && insts[i].operands[0].reg == last->guard)
            is_counted = counts(insts, count, insts[i].operands[1].reg);
    }
    return is_counted && slots <= UNROLLED_SLOTS;
}

/* Where the blocks that lead to a block lie: an empty range if there are none. */
struct callers {
    uint32_t first, last;
};

static struct callers *find_callers(const struct flow *flow)
{
    struct callers *callers = lk_alloc_zeroed((flow->block_count + 1) * sizeof(*callers));
    for (uint32_t i = 0; i <= flow->block_count; i++)
        callers[i] = (struct callers){UINT32_MAX, 0};
    for (uint32_t i = 0; i < flow->edge_count; i++) {
        struct callers *its = &callers[flow->edges[i].to];
        its->first = flow->edges[i].from < its->first ? flow->edges[i].from : its->first;
        its->last = flow->edges[i].from > its->last ? flow->edges[i].from : its->last;
    }
    return callers;
}

/* May the assembler guard the instructions of a block in place of the branch over it? They are few,
 * and it has no branches of its own. */
static bool is_guarded(const struct flow *flow, uint32_t block, const struct callers *callers,
                       const uint32_t *places, const struct watch_inst *whats)
{
    unsigned slots = 0;
    if (callers[block].first != block - 1 || callers[block].last != block - 1 ||
        flow->first_edge[block + 1] - flow->first_edge[block] != 1 ||
        flow->edges[flow->first_edge[block]].to != block + 1)
        return false;
    for (uint32_t i = flow->start[block]; i < flow->start[block + 1]; i++) {
        const struct watch_inst *what = &whats[places[i]];
        slots += what->slots;
        if (what->class == GPU_CLASS_BARRIER || what->class == GPU_CLASS_TENSOR ||
            flow->function->insts[i].op == PTX_OP_CALL)
            return false;
    }
    return slots <= GUARDED_SLOTS;
}

/* [block]: does it go on with the one before it, in the assembler's eyes? */
static bool *find_joined(const struct flow *flow, const uint32_t *places,
                         const struct watch_inst *whats)
{
    bool *joined = lk_alloc_zeroed((flow->block_count + 1) * sizeof(*joined));
    struct callers *callers = find_callers(flow);
    for (uint32_t block = 1; block + 1 < flow->block_count; block++) {
        bool is_skipped = false; /* by a branch of the block before it */
        for (uint32_t i = flow->first_edge[block - 1]; i < flow->first_edge[block]; i++)
            is_skipped |= flow->edges[i].to == block + 1;
        if (!is_skipped || !is_guarded(flow, block, callers, places, whats))
            continue;
        joined[block] = true;
        joined[block + 1] =
            callers[block + 1].first >= block - 1 && callers[block + 1].last <= block;
    }
    free(callers);
    return joined;
}

static uint16_t of_4(unsigned all, unsigned turns)
{
    return later(all * (TURNS / turns), 0);
}

static uint8_t of_1(unsigned all)
{
    return (uint8_t)(all < UINT8_MAX ? all : UINT8_MAX);
}

/* Does the instruction only count an unrolled loop's turns, or addresses that go with them? Four
 * turns count once: addresses have offsets. */
static bool is_counter(const struct flow *flow, uint32_t first, uint32_t end, uint32_t i)
{
    const struct ptx_inst *insts = flow->function->insts, *ptx = &insts[i], *last = &insts[end - 1];
    if (ptx == last || (ptx->op == PTX_OP_SETP_INT && ptx->operands[0].reg == last->guard))
        return true;
    return ptx->op == PTX_OP_ADD && ptx->operands[0].kind == PTX_OPERAND_REG &&
           counts(&insts[first], end - first, ptx->operands[0].reg);
}

/* Of a phase's latency, for a turn of a block whose turns wait together. */
static uint8_t quarters(unsigned phases_of_4, unsigned phases)
{
    return phases && phases_of_4 < 4 * phases ? (uint8_t)((phases_of_4 + phases - 1) / phases) : 4;
}

static void block_phases(struct phases *phases, const struct flow *flow, uint32_t block,
                         bool is_joined, const uint32_t *places, struct watch_inst *whats)
{
    const struct ptx_function *function = flow->function;
    uint32_t first = flow->start[block], end = flow->start[block + 1];
    struct watch_inst *leader = &whats[places[first]];
    unsigned turns = is_unrolled(flow, block, places, whats) ? TURNS : 1;
    if (!is_joined) {
        memset(phases->regs, 0, function->reg_count * sizeof(*phases->regs));
        *phases = (struct phases){.regs = phases->regs,
                                  .stored = PTX_NO_REG,
                                  .before = phases->before + phases->deepest.global};
    }
    const struct ready before = phases->deepest;
    for (unsigned turn = 0; turn < turns; turn++) {
        for (uint32_t i = first; i < end; i++) {
            const struct watch_inst first_turn = whats[places[i]];
            pass(phases, &function->insts[i], &whats[places[i]]);
            if (turn) {
                whats[places[i]].waits |= first_turn.waits;
                whats[places[i]].scoreboard = first_turn.scoreboard;
            }
        }
        if (turn)
            continue;
        leader->load_phases = of_1(phases->deepest.global - before.global);
        leader->shared_phases = of_1(phases->deepest.shared - before.shared);
    }
    leader->load_phases_of_4 = of_4(phases->deepest.global - before.global, turns);
    leader->shared_phases_of_4 = of_4(phases->deepest.shared - before.shared, turns);
    leader->chain_of_4 = of_4(phases->deepest.cycles - before.cycles, turns);
    unsigned slots_of_4 = 0;
    for (uint32_t i = first; i < end; i++) {
        struct watch_inst *what = &whats[places[i]];
        bool is_shared = what->space == PTX_SPACE_SHARED;
        bool is_merged = turns > 1 && is_counter(flow, first, end, i);
        what->alone = what->slots;
        what->slots_of_4 = what->path_of_4 = (uint16_t)(what->slots * (is_merged ? 1 : TURNS));
        slots_of_4 += what->slots_of_4;
        what->quarters = quarters(is_shared ? leader->shared_phases_of_4 : leader->load_phases_of_4,
                                  is_shared ? leader->shared_phases : leader->load_phases);
    }
    leader->alone = later(leader->alone + leader->chain_of_4 / TURNS, 0);
    /* What does not wait for the chain is done meanwhile. */
    if (leader->chain_of_4 > slots_of_4)
        leader->path_of_4 = later(leader->path_of_4 + leader->chain_of_4 - slots_of_4, 0);
}

/* Scoreboards ---------------------------------------------------------------------------------- */

/* By which scoreboards registers are waited for. */
struct loaded {
    uint16_t *regs;         /* [reg] */
    uint16_t read, written; /* of the instruction's operands; and what it writes, */
    bool sets;              /* if these are to be set */
};

static void look(void *context, uint32_t reg, bool written, bool partly)
{
    struct loaded *loaded = context;
    (void)partly;
    if (!written)
        loaded->read |= loaded->regs[reg];
    else if (loaded->sets)
        loaded->regs[reg] |= loaded->written;
}

static bool is_move(const struct watch_inst *what)
{
    return what->class == GPU_CLASS_MOVE && !what->kind;
}

/* Loads set scoreboards, moves pass them on: the assembler makes one register of both. */
static void find_loaded(const struct ptx_function *function, const uint32_t *places,
                        const struct watch_inst *whats, struct loaded *loaded)
{
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct watch_inst *what = &whats[places[i]];
        if (!what->scoreboard && !is_move(what))
            continue;
        loaded->read = 0;
        loaded->sets = false;
        simt_flow_visit(&function->insts[i], look, loaded);
        loaded->written =
            what->scoreboard ? (uint16_t)(1u << (what->scoreboard - 1)) : loaded->read;
        loaded->sets = true;
        simt_flow_visit(&function->insts[i], look, loaded);
    }
}

/* What needs a load's result first waits for it, in each basic block. */
static void find_awaits(const struct flow *flow, const uint32_t *places, struct watch_inst *whats)
{
    const struct ptx_function *function = flow->function;
    struct loaded loaded = {.regs =
                                lk_alloc_zeroed((function->reg_count + 1) * sizeof(*loaded.regs))};
    find_loaded(function, places, whats, &loaded);
    find_loaded(function, places, whats, &loaded); /* moves of what a loop loads later */
    loaded.sets = false;
    for (uint32_t block = 0; block < flow->block_count; block++) {
        unsigned awaited = 0;
        for (uint32_t i = flow->start[block]; i < flow->start[block + 1]; i++) {
            struct watch_inst *what = &whats[places[i]];
            loaded.read = 0;
            if (!is_move(what))
                simt_flow_visit(&function->insts[i], look, &loaded);
            what->awaits = (uint16_t)(loaded.read & ~awaited);
            awaited |= loaded.read;
            if (what->scoreboard)
                awaited &= ~(1u << (what->scoreboard - 1));
        }
    }
    free(loaded.regs);
}

void simt_watch_phases(const struct ptx_function *function, const uint32_t *places,
                       struct watch_inst *insts)
{
    struct flow flow = {0};
    flow_build(&flow, function);
    struct phases phases = {.regs =
                                lk_alloc_zeroed((function->reg_count + 1) * sizeof(*phases.regs))};
    for (uint32_t i = 0; i < function->inst_count; i++)
        insts[places[i]].slots = (uint8_t)simt_watch_slots(&function->insts[i], &insts[places[i]]);
    bool *joined = find_joined(&flow, places, insts);
    for (uint32_t block = 0; block < flow.block_count; block++)
        if (flow.start[block] < flow.start[block + 1])
            block_phases(&phases, &flow, block, joined[block], places, insts);
    find_awaits(&flow, places, insts);
    free(joined);
    free(phases.regs);
    flow_free(&flow);
}
