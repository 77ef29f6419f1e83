/*
 * taint.c: which registers hold a value that nobody defined: read from memory that nothing has
 * written, or shuffled out of a lane that did not take part. Such a value may be read, copied and
 * computed with; it is an error when it decides something: a branch, an address, what is stored in
 * global memory, an atomic. Only launches in which there is such a value are followed: the machine
 * calls check_taint_step for each instruction once watch->follows is set.
 *
 * A register is defined or not as a whole, lane by lane. Registers are those of the PTX text, by
 * frame. Every undefined value knows where it came from: a set of check->pending.
 */
#include "check/taint.h"

#include <stdlib.h>

static const struct taint defined;

/* Registers ---------------------------------------------------------------------------------------
 */

struct check_taint *taint_find(const struct check_warp *warp, const struct simt_frame *frame)
{
    for (struct check_taint *taint = warp->taint; taint; taint = taint->next)
        if (taint->frame == frame)
            return taint;
    return NULL;
}

static struct taint get(const struct check_taint *taint, uint32_t reg)
{
    if (!taint || reg >= taint->count)
        return defined;
    return taint->registers[reg];
}

static struct taint all_from(uint32_t lanes, uint64_t origins)
{
    struct taint taint = {.lanes = lanes};
    for (int i = 0; i < SIMT_LANES; i++)
        taint.origins[i] = origins;
    return taint;
}

void taint_set(struct check *check, struct check_warp *warp, const struct simt_frame *frame,
               uint32_t reg, const struct taint *value, uint32_t mask)
{
    struct check_taint *taint = taint_find(warp, frame);
    if (reg == PTX_NO_REG || (!taint && !(value->lanes & mask)))
        return;
    if (!taint) {
        uint32_t count = frame->function->ptx->reg_count;
        taint = lk_alloc_zeroed(sizeof(*taint) + count * sizeof(taint->registers[0]));
        taint->frame = frame;
        taint->count = count;
        taint->next = warp->taint;
        warp->taint = taint;
        check->machine->watch->follows = true;
    }
    if (reg >= taint->count)
        return;
    struct taint *at = &taint->registers[reg];
    at->lanes = (at->lanes & ~mask) | (value->lanes & mask);
    for (uint32_t rest = value->lanes & mask; rest; rest &= rest - 1)
        at->origins[__builtin_ctz(rest)] = value->origins[__builtin_ctz(rest)];
}

void check_taint_free(struct check_warp *warp)
{
    for (struct check_taint *taint = warp->taint, *next; taint; taint = next) {
        next = taint->next;
        free(taint);
    }
    warp->taint = NULL;
}

void taint_join(struct taint *to, const struct taint *from, uint32_t mask)
{
    for (uint32_t rest = from->lanes & mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        to->origins[lane] = (to->lanes >> lane & 1 ? to->origins[lane] : 0) | from->origins[lane];
    }
    to->lanes |= from->lanes & mask;
}

/* What any lane of a quad brings, for all of it: such lanes have the same rows of a product. */
static struct taint spread_rows(const struct taint *taint, uint32_t mask)
{
    struct taint rows = {0};
    for (uint32_t rest = taint->lanes & mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct taint quad = all_from(15u << (lane & ~3), taint->origins[lane]);
        taint_join(&rows, &quad, SIMT_ALL);
    }
    return rows;
}

/* What any of the lanes brings, for all of them. */
struct taint taint_spread(const struct taint *taint, uint32_t mask)
{
    uint64_t origins = 0;
    for (uint32_t rest = taint->lanes & mask; rest; rest &= rest - 1)
        origins |= taint->origins[__builtin_ctz(rest)];
    return taint->lanes & mask ? all_from(SIMT_ALL, origins) : defined;
}

/* Operands ----------------------------------------------------------------------------------------
 */

static void join_operand(struct taint *to, const struct check_taint *taint,
                         const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_VECTOR) {
        for (uint32_t i = 0; i < operand->item_count; i++)
            join_operand(to, taint, &operand->items[i]);
    } else if ((operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_ADDRESS) &&
               taint && operand->reg < taint->count) {
        taint_join(to, &taint->registers[operand->reg], SIMT_ALL);
    }
}

/* Lanes in which no element of a vector that is stored is defined: programs copy structs with their
 * padding. */
static uint32_t wholly(const struct check_taint *taint, const struct ptx_inst *ptx)
{
    uint32_t lanes = SIMT_ALL;
    for (unsigned k = 0; k < ptx->operand_count; k++) {
        const struct ptx_operand *operand = &ptx->operands[k];
        for (uint32_t i = 0; operand->kind == PTX_OPERAND_VECTOR && i < operand->item_count; i++) {
            struct taint item = {0};
            join_operand(&item, taint, &operand->items[i]);
            lanes &= item.lanes;
        }
    }
    return lanes;
}

struct taint taint_of(const struct check_taint *taint, const struct ptx_operand *operand)
{
    struct taint all = {0};
    join_operand(&all, taint, operand);
    return all;
}

static bool is_result(const struct ptx_inst *ptx, unsigned k)
{
    return k < 8 && ptx->operands[k].kind != PTX_OPERAND_ADDRESS &&
           simt_flow_roles(ptx->op)->is_written[k];
}

/* What all the operands bring that are read, without addresses. */
struct taint taint_sources(const struct check_taint *taint, const struct ptx_inst *ptx)
{
    struct taint all = {0};
    for (unsigned k = 0; k < ptx->operand_count; k++)
        if (!is_result(ptx, k) && ptx->operands[k].kind != PTX_OPERAND_ADDRESS)
            join_operand(&all, taint, &ptx->operands[k]);
    return all;
}

/* elements: of a vector, as bits; the others are defined. */
static void set_elements(struct check *check, struct check_warp *warp,
                         const struct simt_frame *frame, const struct ptx_inst *ptx,
                         const struct taint *value, uint32_t mask, uint32_t elements)
{
    for (unsigned k = 0; k < ptx->operand_count; k++) {
        const struct ptx_operand *operand = &ptx->operands[k];
        if (!is_result(ptx, k))
            continue;
        for (uint32_t i = 0; operand->kind == PTX_OPERAND_VECTOR && i < operand->item_count; i++)
            if (operand->items[i].kind == PTX_OPERAND_REG)
                taint_set(check, warp, frame, operand->items[i].reg,
                          elements >> i & 1 ? value : &defined, mask);
        if (operand->kind != PTX_OPERAND_REG)
            continue;
        taint_set(check, warp, frame, operand->reg, value, mask);
        if (operand->pair != PTX_NO_REG)
            taint_set(check, warp, frame, operand->pair, value, mask);
    }
}

void taint_set_results(struct check *check, struct check_warp *warp, const struct simt_frame *frame,
                       const struct ptx_inst *ptx, const struct taint *value, uint32_t mask)
{
    set_elements(check, warp, frame, ptx, value, mask, UINT32_MAX);
}

/* Use ---------------------------------------------------------------------------------------------
 */

static void use(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                const struct taint *taint, uint32_t mask, const char *how)
{
    for (uint32_t rest = taint->lanes & mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (uint64_t set = taint->origins[lane]; set; set &= set - 1) {
            struct check_pending *pending = &check->pending[__builtin_ctzll(set)];
            if (pending->is_used)
                continue;
            pending->is_used = true;
            pending->use = check_side_of(w, in, lane, how);
            check_pending_choose(pending, &pending->use, lane);
        }
    }
}

/* Instructions ------------------------------------------------------------------------------------
 */

/* Lanes in which the operand is a known 0 (or ~0), so that a logic operation does not depend on the
 * other one. */
static uint32_t lanes_at(const struct simt_warp *w, const struct ptx_inst *ptx, uint32_t slot,
                         struct taint taint, bool ones)
{
    uint32_t lanes = 0;
    if (ptx->types[0] == PTX_PRED) {
        lanes = ones ? simt_predicate(w, slot) : ~simt_predicate(w, slot);
    } else if (ptx_type_bits(ptx->types[0]) == 32) {
        const uint32_t *values = SIMT_SLOT(const uint32_t, slot);
        for (int i = 0; i < SIMT_LANES; i++)
            lanes |= (uint32_t)(values[i] == (ones ? SIMT_ALL : 0)) << i;
    }
    return lanes & ~taint.lanes;
}

static struct taint logic(const struct simt_warp *w, const struct simt_inst *in,
                          const struct check_taint *taint, bool ones)
{
    const struct ptx_inst *ptx = in->ptx;
    struct taint a = taint_of(taint, &ptx->operands[1]), b = taint_of(taint, &ptx->operands[2]);
    uint32_t decided = lanes_at(w, ptx, in->a, a, ones) | lanes_at(w, ptx, in->b, b, ones);
    taint_join(&a, &b, SIMT_ALL);
    a.lanes &= ~decided;
    return a;
}

static struct taint chosen(const struct simt_warp *w, const struct simt_inst *in,
                           const struct check_taint *taint)
{
    const struct ptx_inst *ptx = in->ptx;
    struct taint a = taint_of(taint, &ptx->operands[1]), b = taint_of(taint, &ptx->operands[2]);
    struct taint c = taint_of(taint, &ptx->operands[3]), result = {0};
    uint32_t yes = simt_predicate(w, in->c);
    if (ptx->operands[3].negate)
        yes = ~yes;
    taint_join(&result, &a, yes);
    taint_join(&result, &b, ~yes);
    taint_join(&result, &c, SIMT_ALL);
    return result;
}

/* setp.lt.and d, a, b, c */
static struct taint compared(const struct simt_warp *w, const struct simt_inst *in,
                             const struct check_taint *taint)
{
    const struct ptx_inst *ptx = in->ptx;
    struct taint all = taint_sources(taint, ptx), c = taint_of(taint, &ptx->operands[3]);
    uint32_t third = simt_predicate(w, in->c), decided = 0;
    if (ptx->operands[3].negate)
        third = ~third;
    if (ptx_has(ptx, PTX_MOD_AND))
        decided = ~third;
    else if (ptx_has(ptx, PTX_MOD_OR))
        decided = third;
    all.lanes &= ~(decided & ~c.lanes);
    return all;
}

static struct taint result_of(const struct simt_warp *w, const struct simt_inst *in,
                              const struct check_taint *taint)
{
    switch (in->ptx->op) {
    case PTX_OP_SELP:
        return chosen(w, in, taint);
    case PTX_OP_AND:
        return logic(w, in, taint, false);
    case PTX_OP_OR:
        return logic(w, in, taint, true);
    case PTX_OP_SETP_INT_BOOL:
    case PTX_OP_SETP_FLOAT_BOOL:
        return compared(w, in, taint);
    default:
        return taint_sources(taint, in->ptx);
    }
}

static void leave(struct check_warp *warp, const struct simt_frame *frame, uint32_t lanes)
{
    struct check_taint *taint = taint_find(warp, frame);
    for (uint32_t i = 0; taint && i < taint->count; i++)
        taint->registers[i].lanes &= ~lanes;
}

/* A warpgroup product: sums that it adds to keep what they had. */
static void product(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                    const struct check_taint *taint)
{
    const struct ptx_inst *ptx = in->ptx;
    struct taint value = taint_sources(taint, ptx);
    value = spread_rows(&value, w->mask);
    uint32_t adds = simt_predicate(w, ptx_is_sparse_wgmma(ptx->op) ? in->e : in->b);
    for (uint32_t i = 0; i < ptx->operands[0].item_count; i++) {
        uint32_t reg = ptx->operands[0].items[i].reg;
        struct taint sum = value, before = get(taint, reg);
        if (adds)
            taint_join(&sum, &before, SIMT_ALL);
        if (ptx->operands[0].items[i].kind == PTX_OPERAND_REG)
            taint_set(check, check_warp_of(w), w->path->frame, reg, &sum, w->mask);
    }
}

void check_taint_rows(struct check *check, struct simt_warp *w, const struct simt_frame *frame,
                      const uint8_t *halves, uint32_t count, const uint64_t origins[16])
{
    struct check_warp *warp = check_warp_of(w);
    for (uint32_t reg = 0; reg < count; reg++) {
        struct taint sum = {0};
        for (int lane = 0; halves[reg] && lane < SIMT_LANES; lane++) {
            uint64_t from = (halves[reg] & 1 ? origins[lane / 4] : 0) |
                            (halves[reg] & 2 ? origins[lane / 4 + 8] : 0);
            sum.origins[lane] = from;
            sum.lanes |= (uint32_t)(from != 0) << lane;
        }
        if (!sum.lanes)
            continue;
        struct taint before = get(taint_find(warp, frame), reg);
        taint_join(&sum, &before, SIMT_ALL);
        taint_set(check, warp, frame, reg, &sum, SIMT_ALL);
    }
}

/* A sum of a product that read what others were writing must not get anywhere: not into shared
 * memory either, from where another product may take it. */
static void use_doubtful(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                         const struct taint *value)
{
    struct taint doubtful = *value;
    if (!check->doubtful || (in->ptx->op != PTX_OP_ST && in->ptx->op != PTX_OP_ST_SYNC) ||
        ptx_has(in->ptx, PTX_MOD_LOCAL))
        return;
    for (int i = 0; i < SIMT_LANES; i++) {
        doubtful.origins[i] &= check->doubtful;
        if (value->lanes >> i & 1 && !doubtful.origins[i])
            doubtful.lanes &= ~(1u << i);
    }
    use(check, w, in, &doubtful, w->mask, "is stored");
}

void check_taint_step(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in)
{
    struct check *check = (struct check *)watcher;
    struct check_warp *warp = check_warp_of(w);
    const struct ptx_inst *ptx = in->ptx;
    check->stored_lanes = 0;
    if (!warp->taint)
        return;
    const struct simt_frame *frame = w->path->frame;
    const struct check_taint *taint = taint_find(warp, frame);
    if (ptx->guard != PTX_NO_REG) {
        struct taint guard = get(taint, ptx->guard);
        use(check, w, in, &guard, w->path_mask, "decides what is executed");
    }
    if (!w->mask)
        return;
    if (ptx->op == PTX_OP_RET || ptx->op == PTX_OP_EXIT) {
        leave(warp, frame, w->mask);
        return;
    }
    struct taint value = {0};
    for (unsigned k = 0; k < ptx->operand_count; k++)
        if (ptx->operands[k].kind == PTX_OPERAND_ADDRESS)
            join_operand(&value, taint, &ptx->operands[k]);
    use(check, w, in, &value, w->mask, "is an address");
    switch (ptx_op_infos[ptx->op].group) {
    case PTX_GROUP_WARP: /* when its lanes have come: check_taint_sync */
        if (ptx->op != PTX_OP_SHFL_OLD && ptx->op != PTX_OP_ACTIVEMASK)
            return;
        break;
    case PTX_GROUP_CONTROL:
    case PTX_GROUP_BARRIER:
    case PTX_GROUP_ATOMIC:
    case PTX_GROUP_ASYNC:
    case PTX_GROUP_BULK:
        value = taint_sources(taint, ptx);
        use(check, w, in, &value, w->mask, "is used");
        value.lanes = 0;
        break;
    case PTX_GROUP_MEMORY:
        value = taint_sources(taint, ptx);
        use_doubtful(check, w, in, &value);
        check->stored_lanes = value.lanes & w->mask & wholly(taint, ptx);
        memcpy(check->stored_origins, value.origins, sizeof(check->stored_origins));
        if (in->flags & (SIMT_FLAG_PARAM | SIMT_FLAG_FRAME))
            use(check, w, in, &value, w->mask, "is passed on");
        value.lanes = 0;
        break;
    case PTX_GROUP_TENSOR:
        value = taint_sources(taint, ptx);
        if (ptx->op == PTX_OP_STMATRIX || ptx->op == PTX_OP_WMMA_STORE)
            use(check, w, in, &value, w->mask, "is stored");
        if (ptx_is_wgmma(ptx->op)) {
            product(check, w, in, taint);
            return;
        }
        value = taint_spread(&value, w->mask);
        break;
    default:
        value = result_of(w, in, taint);
    }
    taint_set_results(check, warp, frame, ptx, &value, w->mask);
}

/* Memory ------------------------------------------------------------------------------------------
 */

void check_taint_loaded(struct check *check, const struct watch_access *access, uint32_t lanes,
                        uint64_t origins, uint32_t elements)
{
    struct simt_warp *w = access->w;
    struct taint taint = all_from(lanes, origins);
    if (access->what->kind != WATCH_LOAD) {
        use(check, w, access->in, &taint, lanes, "is used");
        return;
    }
    set_elements(check, check_warp_of(w), w->path->frame, access->in->ptx, &taint, lanes, elements);
}

/* Words of shared and local memory that hold an undefined value, with their origins. Words of
 * shared memory are marked as not written as well (race.c). */
static uint64_t key_of(const struct watch_access *access, int lane, uint64_t word)
{
    const struct simt_warp *w = access->w;
    uint64_t owner = access->space == PTX_SPACE_SHARED ? SIMT_LANES * SIMT_LANES
                                                       : w->index * SIMT_LANES + (unsigned)lane;
    uint64_t key = (access->block->linear * 2048 + owner) * 0x9e3779b97f4a7c15u;
    return ((key ^ key >> 29 ^ word) * 0xbf58476d1ce4e5b9u) | 1;
}

static struct check_tainted_word *find_word(struct check *check, uint64_t key, bool add)
{
    if (add && check->tainted_count * 2 >= check->tainted_capacity) {
        struct check_tainted_word *old = check->tainted;
        size_t count = check->tainted_capacity;
        check->tainted_capacity = count ? count * 2 : 256;
        check->tainted = lk_alloc_zeroed(check->tainted_capacity * sizeof(*old));
        check->tainted_count = 0;
        for (size_t i = 0; i < count; i++)
            if (old[i].key && old[i].is_set)
                *find_word(check, old[i].key, true) = old[i];
        free(old);
    }
    if (!check->tainted_capacity)
        return NULL;
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (check->tainted_capacity - 1);
    while (check->tainted[at].key && check->tainted[at].key != key)
        at = (at + 1) & (check->tainted_capacity - 1);
    if (!check->tainted[at].key && !add)
        return NULL;
    if (!check->tainted[at].key) {
        check->tainted[at].key = key;
        check->tainted_count++;
    }
    return &check->tainted[at];
}

/* The undefined word that the lane reads; NULL: there is none. */
const struct check_tainted_word *check_taint_word(struct check *check,
                                                  const struct watch_access *access, int lane)
{
    uint64_t first = access->addresses[lane] / 4;
    uint64_t last = (access->addresses[lane] + access->bytes - 1) / 4;
    for (uint64_t word = first; check->tainted_count && word <= last; word++) {
        const struct check_tainted_word *found =
            find_word(check, key_of(access, lane, word), false);
        if (found && found->is_set)
            return found;
    }
    return NULL;
}

/* A load of local memory. */
void check_taint_load_local(struct check *check, const struct watch_access *access, uint32_t mask)
{
    for (uint32_t rest = mask; check->tainted_count && rest; rest &= rest - 1) {
        const struct check_tainted_word *word =
            check_taint_word(check, access, __builtin_ctz(rest));
        if (word)
            check_taint_loaded(check, access, rest & -rest, word->origins, UINT32_MAX);
    }
}

/* A store, after race.c has seen it. */
void check_taint_store(struct check *check, const struct watch_access *access, uint32_t mask)
{
    uint32_t undefined = check->stored_lanes & mask;
    if (access->space != PTX_SPACE_SHARED && access->space != PTX_SPACE_LOCAL) {
        struct taint stored = {.lanes = undefined};
        memcpy(stored.origins, check->stored_origins, sizeof(stored.origins));
        use(check, access->w, access->in, &stored, undefined, "is stored");
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        bool is_set = undefined >> lane & 1;
        uint64_t first = access->addresses[lane], end = first + access->bytes;
        for (uint64_t word = first / 4; word <= (end - 1) / 4; word++) {
            struct check_tainted_word *at = find_word(check, key_of(access, lane, word), is_set);
            if (at)
                *at = (struct check_tainted_word){at->key, check->stored_origins[lane], is_set};
        }
        if (is_set && access->space == PTX_SPACE_SHARED)
            check_race_unwrite(access->block->check, (uint32_t)first, access->bytes);
    }
}

/* The launch's end -----------------------------------------------------------------------------*/

void check_taint_end(struct check *check)
{
    free(check->tainted);
    check->tainted = NULL;
    check->tainted_count = check->tainted_capacity = 0;
    check->stored_lanes = 0;
}
