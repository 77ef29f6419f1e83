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
#include "check/check.h"

#include <stdlib.h>

/* Lanes that are undefined, and for each of them, what it came from: a bit of check->pending. */
struct taint {
    uint32_t lanes;
    uint64_t origins[SIMT_LANES]; /* of the others: not set */
};

struct check_taint { /* of a frame */
    struct check_taint *next;
    const struct simt_frame *frame;
    uint32_t count;
    struct taint registers[]; /* [count] */
};

static const struct taint defined;

/* Registers ---------------------------------------------------------------------------------------
 */

static struct check_taint *find(const struct check_warp *warp, const struct simt_frame *frame)
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

static void set(struct check *check, struct check_warp *warp, const struct simt_frame *frame,
                uint32_t reg, const struct taint *value, uint32_t mask)
{
    struct check_taint *taint = find(warp, frame);
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

static void join(struct taint *to, const struct taint *from, uint32_t mask)
{
    for (uint32_t rest = from->lanes & mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        to->origins[lane] = (to->lanes >> lane & 1 ? to->origins[lane] : 0) | from->origins[lane];
    }
    to->lanes |= from->lanes & mask;
}

/* What any of the lanes brings, for all of them. */
static struct taint spread(const struct taint *taint, uint32_t mask)
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
        join(to, &taint->registers[operand->reg], SIMT_ALL);
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

static struct taint taint_of(const struct check_taint *taint, const struct ptx_operand *operand)
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
static struct taint sources_of(const struct check_taint *taint, const struct ptx_inst *ptx)
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
                set(check, warp, frame, operand->items[i].reg, elements >> i & 1 ? value : &defined,
                    mask);
        if (operand->kind != PTX_OPERAND_REG)
            continue;
        set(check, warp, frame, operand->reg, value, mask);
        if (operand->pair != PTX_NO_REG)
            set(check, warp, frame, operand->pair, value, mask);
    }
}

static void set_results(struct check *check, struct check_warp *warp,
                        const struct simt_frame *frame, const struct ptx_inst *ptx,
                        const struct taint *value, uint32_t mask)
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
    join(&a, &b, SIMT_ALL);
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
    join(&result, &a, yes);
    join(&result, &b, ~yes);
    join(&result, &c, SIMT_ALL);
    return result;
}

/* setp.lt.and d, a, b, c */
static struct taint compared(const struct simt_warp *w, const struct simt_inst *in,
                             const struct check_taint *taint)
{
    const struct ptx_inst *ptx = in->ptx;
    struct taint all = sources_of(taint, ptx), c = taint_of(taint, &ptx->operands[3]);
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
        return sources_of(taint, in->ptx);
    }
}

static void leave(struct check_warp *warp, const struct simt_frame *frame, uint32_t lanes)
{
    struct check_taint *taint = find(warp, frame);
    for (uint32_t i = 0; taint && i < taint->count; i++)
        taint->registers[i].lanes &= ~lanes;
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
    const struct check_taint *taint = find(warp, frame);
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
        value = sources_of(taint, ptx);
        use(check, w, in, &value, w->mask, "is used");
        value.lanes = 0;
        break;
    case PTX_GROUP_MEMORY:
        value = sources_of(taint, ptx);
        check->stored_lanes = value.lanes & w->mask & wholly(taint, ptx);
        memcpy(check->stored_origins, value.origins, sizeof(check->stored_origins));
        if (in->flags & (SIMT_FLAG_PARAM | SIMT_FLAG_FRAME))
            use(check, w, in, &value, w->mask, "is passed on");
        value.lanes = 0;
        break;
    case PTX_GROUP_TENSOR:
        value = sources_of(taint, ptx);
        value = spread(&value, w->mask);
        break;
    default:
        value = result_of(w, in, taint);
    }
    set_results(check, warp, frame, ptx, &value, w->mask);
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

/* Lanes together ----------------------------------------------------------------------------------
 */

/* The instruction by which a lane takes part, and its frame: lanes may come from elsewhere. */
static const struct simt_inst *part_of(struct simt_warp *w, const struct simt_inst *in, int lane,
                                       const struct simt_frame **frame)
{
    const struct simt_warp_state *state = simt_state(w);
    *frame = w->path->frame;
    if (w->mask >> lane & 1)
        return in;
    for (int i = 0; i < SIMT_LANES; i++) {
        const struct simt_path *path = &state->paths[i];
        if (path->state != SIMT_PATH_SYNC || !(path->sync_lanes >> lane & 1))
            continue;
        *frame = path->frame;
        return path->ip;
    }
    return in;
}

/* Which lane a shuffle reads; -1: its own value, because that lane is out of range. */
static int source_of(const struct simt_inst *in, const struct simt_frame *frame, int lane)
{
    uint32_t offset = ((const uint32_t *)(const void *)(frame->regs + in->b))[lane] & 31;
    uint32_t c = ((const uint32_t *)(const void *)(frame->regs + in->c))[lane];
    int segment = c >> 8 & 31, clamp = c & 31;
    int highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment, from;
    if (ptx_has(in->ptx, PTX_MOD_UP)) {
        from = lane - (int)offset;
        return from >= highest ? from & 31 : -1;
    }
    from = ptx_has(in->ptx, PTX_MOD_DOWN)   ? lane + (int)offset
           : ptx_has(in->ptx, PTX_MOD_BFLY) ? lane ^ (int)offset
                                            : lowest | ((int)offset & ~segment);
    return from <= highest ? from & 31 : -1;
}

/* An undefined lane is read: is the value used later? */
static uint64_t undefined_shuffle(struct check *check, struct simt_warp *w,
                                  const struct simt_inst *in, int lane, int from, uint32_t mask)
{
    struct check_pending pending = {.kind = CHECK_SYNC_MASK,
                                    .side = check_side_of(w, in, lane, in->ptx->text),
                                    .inst = (uint32_t)(in - check->launch->code->insts),
                                    .lane = from,
                                    .why = !(w->live >> from & 1) ? "has exited"
                                           : mask >> from & 1     ? "does not execute it"
                                                                  : "the mask does not name",
                                    .mask = mask};
    return check_pending_add(check, &pending);
}

static void shuffle(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                    uint32_t lanes)
{
    struct check_warp *warp = check_warp_of(w);
    struct taint values = {0};
    uint32_t named = SIMT_ALL;
    for (int i = 0; i < SIMT_LANES; i++)
        named &= SIMT_SLOT(const uint32_t, in->e)[i];
    if (!warp->taint && w->mask == SIMT_ALL && named == SIMT_ALL)
        return; /* all lanes are here, and name all */
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_frame *frame, *their_frame;
        const struct simt_inst *mine = part_of(w, in, lane, &frame);
        uint32_t mask = ((const uint32_t *)(const void *)(frame->regs + mine->e))[lane];
        int from = source_of(mine, frame, lane);
        from = from < 0 ? lane : from;
        if (!(lanes >> from & 1) || !(mask >> from & 1)) {
            values.origins[lane] = undefined_shuffle(check, w, mine, lane, from, mask);
            values.lanes |= 1u << lane;
            continue;
        }
        const struct simt_inst *theirs = part_of(w, in, from, &their_frame);
        struct taint value = taint_of(find(warp, their_frame), &theirs->ptx->operands[1]);
        values.lanes |= (value.lanes >> from & 1) << lane;
        values.origins[lane] = value.origins[from];
    }
    for (uint32_t rest = values.lanes || warp->taint ? lanes : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct simt_frame *frame;
        const struct simt_inst *mine = part_of(w, in, lane, &frame);
        if (mine->ptx->operands[0].kind == PTX_OPERAND_REG)
            set(check, warp, frame, mine->ptx->operands[0].reg, &values, 1u << lane);
    }
}

void check_taint_sync(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                      uint32_t lanes)
{
    struct check_warp *warp = check_warp_of(w);
    const struct simt_frame *frame;
    if (in->ptx->op == PTX_OP_SHFL) {
        shuffle(check, w, in, lanes);
        return;
    }
    if (!warp->taint || ptx_op_infos[in->ptx->op].group != PTX_GROUP_WARP)
        return;
    struct taint all = {0};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const struct simt_inst *part = part_of(w, in, __builtin_ctz(rest), &frame);
        struct taint mine = sources_of(find(warp, frame), part->ptx);
        join(&all, &mine, rest & -rest);
    }
    all = spread(&all, SIMT_ALL);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const struct simt_inst *part = part_of(w, in, __builtin_ctz(rest), &frame);
        set_results(check, warp, frame, part->ptx, &all, rest & -rest);
    }
}

void check_taint_end(struct check *check)
{
    free(check->tainted);
    check->tainted = NULL;
    check->tainted_count = check->tainted_capacity = 0;
    check->stored_lanes = 0;
}
