/*
 * order.c: what is ordered before what: segments, barriers, warp syncs, fences, and words
 * that carry order between threads. Warps of a block know each other exactly, in a table. Of other
 * blocks a warp knows ranges, which are joined to wider ones when there are many: then it knows a
 * little too much, which hides races and never invents one. Every atomic and every ordered read
 * takes what its word carries; an ordered write passes on what was done before the thread's last
 * fence, one with .release all of it.
 */
#include "check/check.h"

#include <stdlib.h>

/* Segments ---------------------------------------------------------------------------------------
 */

enum { SEGMENTS_KEPT = 1 << 24 };

/* Who a segment belonged to is kept for a while; then all that was remembered is history. */
uint32_t check_order_new_segment(struct check *check, struct check_block *block, uint32_t warp,
                                 uint32_t engine)
{
    uint32_t segment = ++check->time;
    if (segment - check->segment_base >= SEGMENTS_KEPT) {
        check->segment_base = check->first_segment = segment;
    } else if (segment - check->segment_base >= check->segment_capacity) {
        check->segment_capacity = check->segment_capacity * 2 + 1024;
        check->segment_warps = lk_realloc(check->segment_warps,
                                          check->segment_capacity * sizeof(*check->segment_warps));
        check->segment_engines = lk_realloc(check->segment_engines, check->segment_capacity);
    }
    check->segment_warps[segment - check->segment_base] = block->first_warp + warp;
    check->segment_engines[segment - check->segment_base] = (uint8_t)engine;
    return segment;
}

void check_order_open_segment(struct check *check, struct check_block *block, uint32_t warp)
{
    block->warps[warp].segment = check_order_new_segment(check, block, warp, 0);
}

/* Knowledge of other blocks
 * ------------------------------------------------------------------------ */

static void drop(struct check_knowledge *knowledge)
{
    if (knowledge && --knowledge->references == 0)
        free(knowledge);
}

static struct check_knowledge *keep(struct check_knowledge *knowledge)
{
    if (knowledge)
        knowledge->references++;
    return knowledge;
}

enum { RANGES_MOST = 96 };

static void add_range(struct check_knowledge *to, uint32_t first, uint32_t last, uint32_t time)
{
    struct check_range *previous = to->count ? &to->ranges[to->count - 1] : NULL;
    if (previous && previous->last + 1 == first && previous->time == time)
        previous->last = last;
    else
        to->ranges[to->count++] = (struct check_range){first, last, time};
}

/* Makes a list shorter: ranges that touch become one, with the later time. */
static void shorten(struct check_knowledge *knowledge)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < knowledge->count; i++) {
        struct check_range *range = &knowledge->ranges[i];
        struct check_range *last = count ? &knowledge->ranges[count - 1] : NULL;
        bool joins = last && (last->last + 1 == range->first || knowledge->count > RANGES_MOST * 4);
        if (joins) {
            last->last = range->last;
            last->time = last->time > range->time ? last->time : range->time;
        } else {
            knowledge->ranges[count++] = *range;
        }
    }
    knowledge->count = count;
}

/* Both, with the later time where they overlap. */
static struct check_knowledge *join(const struct check_knowledge *a,
                                    const struct check_knowledge *b)
{
    size_t most = 2 * (size_t)(a->count + b->count) + 1;
    struct check_knowledge *both = lk_alloc(sizeof(*both) + most * sizeof(both->ranges[0]));
    both->references = 1;
    both->count = 0;
    uint32_t i = 0, k = 0;
    uint64_t at = 0;
    while (i < a->count || k < b->count) {
        const struct check_range *x = i < a->count ? &a->ranges[i] : NULL;
        const struct check_range *y = k < b->count ? &b->ranges[k] : NULL;
        uint64_t x_first = x ? (x->first > at ? x->first : at) : UINT64_MAX;
        uint64_t y_first = y ? (y->first > at ? y->first : at) : UINT64_MAX;
        uint64_t first = x_first < y_first ? x_first : y_first, last;
        bool in_x = x_first == first, in_y = y_first == first;
        if (in_x && in_y)
            last = x->last < y->last ? x->last : y->last;
        else if (in_x)
            last = x->last < y_first - 1 ? x->last : y_first - 1;
        else
            last = y->last < x_first - 1 ? y->last : x_first - 1;
        uint32_t time = in_x ? x->time : 0;
        if (in_y && y->time > time)
            time = y->time;
        add_range(both, (uint32_t)first, (uint32_t)last, time);
        at = last + 1;
        i += x && x->last < at;
        k += y && y->last < at;
    }
    if (both->count > RANGES_MOST)
        shorten(both);
    return lk_realloc(both, sizeof(*both) + (both->count + 1) * sizeof(both->ranges[0]));
}

static uint32_t lookup(const struct check_knowledge *knowledge, uint32_t warp)
{
    uint32_t low = 0, high = knowledge ? knowledge->count : 0;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (knowledge->ranges[middle].last < warp)
            low = middle + 1;
        else
            high = middle;
    }
    return knowledge && low < knowledge->count && knowledge->ranges[low].first <= warp
               ? knowledge->ranges[low].time
               : 0;
}

/* Other blocks know the engines of a block that store as they know warps: by numbers above all
 * warps of the grid. */
enum { STORING_ENGINES = 2 * CHECK_STORE_ENGINES };

static uint32_t storing_number(const struct check_block *block, uint32_t warp)
{
    return 1u << 31 | warp / block->warp_count * STORING_ENGINES;
}

/* Questions
 * ---------------------------------------------------------------------------------------- */

bool check_order_is_before(const struct check *check, const struct check_block *block,
                           uint32_t warp, uint32_t lane, uint32_t segment, uint32_t info)
{
    uint32_t theirs = check->segment_warps[segment - check->segment_base];
    uint32_t in_block = theirs - block->first_warp;
    uint32_t engine = check->segment_engines[segment - check->segment_base];
    if (engine && in_block < block->warp_count)
        return segment <= check_known_by(block, warp)[block->warp_count + engine - 1];
    if (info & CHECK_ASYNC && in_block < block->warp_count &&
        segment > block->warps[in_block].waited)
        return false;
    if (in_block == warp) {
        if ((info & CHECK_LANE) == lane && !(info & CHECK_MANY))
            return true;
        if (segment <= check_known_by(block, warp)[warp] || info & CHECK_MIXED)
            return true;
        return check_lane_knows(&block->warps[warp], lane, segment, info);
    }
    if (in_block < block->warp_count)
        return segment <= check_known_by(block, warp)[in_block];
    if (engine > CHECK_LOAD_ENGINES)
        theirs = storing_number(block, theirs) + engine - 1 - CHECK_LOAD_ENGINES;
    return segment <= lookup(block->warps[warp].foreign, theirs);
}

bool check_order_knows_block(const struct check_block *block, uint32_t warp,
                             const struct check_block *other)
{
    for (uint32_t i = 0; i < other->warp_count; i++)
        if (lookup(block->warps[warp].foreign, other->first_warp + i) >= other->first_segment)
            return true;
    return false;
}

struct check_side check_side_of_segment(const struct check *check, uint32_t segment, uint32_t info,
                                        const char *does)
{
    uint32_t warp = check->segment_warps[segment - check->segment_base];
    uint32_t per_block = check->launch->warps_per_block;
    return (struct check_side){.in = &check->launch->code->insts[info >> CHECK_INST_SHIFT],
                               .block = warp / per_block,
                               .thread = warp % per_block * SIMT_LANES + (info & CHECK_LANE),
                               .does = does};
}

/* Barriers
 * ------------------------------------------------------------------------------------------ */

/* Warps that wait at the barrier, and so learn what the others did. */
static bool waits_at(const struct simt_warp_state *warp, uint32_t id)
{
    for (int i = 0; i < SIMT_LANES; i++)
        if (warp->paths[i].state == SIMT_PATH_BARRIER && warp->paths[i].barrier == id)
            return true;
    return false;
}

static struct check_knowledge *join_foreign(struct check_block *block, const bool *takes_part)
{
    struct check_knowledge *all = NULL;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct check_knowledge *one = block->warps[i].foreign;
        if (!takes_part[i] || !one || one == all)
            continue;
        if (!all) {
            all = keep(one);
            continue;
        }
        struct check_knowledge *both = join(all, one);
        drop(all);
        all = both;
    }
    return all;
}

void check_order_barrier(struct check *check, struct simt_block *simt, uint32_t id)
{
    struct check_block *block = simt->check;
    const struct simt_barrier *barrier = &simt->barriers[id];
    uint32_t count = block->warp_count, all = count + CHECK_ENGINES;
    uint32_t row[SIMT_LANES + CHECK_ENGINES] = {0};
    bool takes_part[SIMT_LANES], waits[SIMT_LANES];
    for (uint32_t i = 0; i < count; i++) {
        waits[i] = !barrier->expected || waits_at(&simt->warps[i], id);
        takes_part[i] = waits[i] || barrier->lanes[i] || block->arrived[id][i];
        if (!takes_part[i])
            continue;
        for (uint32_t k = 0; k < all; k++) {
            uint32_t known = check_known_by(block, i)[k];
            row[k] = known > row[k] ? known : row[k];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t until = waits[i] ? check->time : takes_part[i] ? block->arrived[id][i] : 0;
        row[i] = until > row[i] ? until : row[i];
    }
    struct check_knowledge *foreign = join_foreign(block, takes_part);
    for (uint32_t i = 0; i < count; i++) {
        if (!waits[i])
            continue;
        memcpy(check_known_by(block, i), row, all * sizeof(row[0]));
        struct check_knowledge *old = block->warps[i].foreign;
        block->warps[i].foreign = keep(foreign);
        drop(old);
        check_close_segment(&block->warps[i]);
    }
    drop(foreign);
    memset(block->arrived[id], 0, sizeof(block->arrived[id]));
}

void check_order_fence(struct check *check, struct simt_warp *w, const struct ptx_inst *ptx)
{
    struct check_warp *warp = check_warp_of(w);
    if (ptx->op == PTX_OP_FENCE_INIT) {
        warp->fence_init = check->time;
        check_close_segment(warp);
    }
    if (ptx->op != PTX_OP_MEMBAR && ptx->op != PTX_OP_FENCE && ptx->op != PTX_OP_FENCE_RESTRICT)
        return;
    warp->fence_block = check->time;
    if (!ptx_has(ptx, PTX_MOD_CTA))
        warp->fence_all = check->time;
    check_close_segment(warp);
}

/* Words that carry order
 * ----------------------------------------------------------------------------- */

static size_t hash(uint64_t key, size_t capacity)
{
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    return (size_t)(key >> 20) & (capacity - 1);
}

static struct check_carrier *find_carrier(const struct check_carriers *carriers, uint64_t key)
{
    if (!carriers->count)
        return NULL;
    for (size_t i = hash(key, carriers->capacity);; i = (i + 1) & (carriers->capacity - 1)) {
        if (carriers->slots[i].key == key)
            return &carriers->slots[i];
        if (!carriers->slots[i].key)
            return NULL;
    }
}

static struct check_carrier *put_carrier(struct check_carriers *carriers, uint64_t key)
{
    if (carriers->count * 2 >= carriers->capacity) {
        struct check_carriers larger = {.capacity =
                                            carriers->capacity ? carriers->capacity * 2 : 256};
        larger.slots = lk_alloc_zeroed(larger.capacity * sizeof(*larger.slots));
        for (size_t i = 0; i < carriers->capacity; i++)
            if (carriers->slots[i].key)
                *put_carrier(&larger, carriers->slots[i].key) = carriers->slots[i];
        free(carriers->slots);
        *carriers = larger;
    }
    size_t i = hash(key, carriers->capacity);
    while (carriers->slots[i].key && carriers->slots[i].key != key)
        i = (i + 1) & (carriers->capacity - 1);
    if (!carriers->slots[i].key) {
        carriers->slots[i].key = key;
        carriers->count++;
    }
    return &carriers->slots[i];
}

/* Global words carry for all, unless only fences of the block were used; then, and in shared
 * memory, they carry for the block. */
uint64_t check_order_key(const struct check_block *block, uint64_t address, bool for_all)
{
    return for_all ? address & ~UINT64_C(3)
                   : (((address & ~UINT64_C(3)) ^ ((uint64_t)block->first_warp + 1) << 40) | 1);
}

/* What the warp can pass on: itself up to `until`, the other warps of its block and the engines
 * that store for it, as it knows them, and what it knows of other blocks. */
static struct check_knowledge *what_is_known(const struct check_block *block, uint32_t warp,
                                             uint32_t until)
{
    const uint32_t *row = check_known_by(block, warp);
    struct check_knowledge *own =
        lk_alloc(sizeof(*own) + (block->warp_count + STORING_ENGINES) * sizeof(own->ranges[0]));
    own->references = 1;
    own->count = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        uint32_t time = i == warp ? until : row[i];
        if (time)
            add_range(own, block->first_warp + i, block->first_warp + i, time);
    }
    uint32_t engine = storing_number(block, block->first_warp);
    for (uint32_t i = 0; i < STORING_ENGINES; i++) {
        uint32_t time = row[block->warp_count + CHECK_LOAD_ENGINES + i];
        if (time)
            add_range(own, engine + i, engine + i, time);
    }
    if (!block->warps[warp].foreign)
        return own;
    struct check_knowledge *all = join(own, block->warps[warp].foreign);
    drop(own);
    return all;
}

static void join_engines(uint32_t *into, const uint32_t *engines)
{
    for (uint32_t i = 0; i < CHECK_ENGINES; i++)
        into[i] = into[i] > engines[i] ? into[i] : engines[i];
}

void check_order_take_engines(struct check_block *block, uint32_t warp)
{
    uint32_t *row = check_known_by(block, warp) + block->warp_count;
    for (uint32_t i = 0; i < block->warp_count; i++)
        join_engines(row, check_known_by(block, i) + block->warp_count);
}

/* A carrier has the engines of one block. What lies in shared memory of a cluster is used by others
 * too, but carries those of the block that it belongs to. */
static void carry_engines(struct check_carrier *carrier, const struct check_block *block,
                          uint32_t warp, bool is_new)
{
    bool is_owner = carrier->key >> 40 == (uint64_t)block->first_warp + 1;
    if (is_new || carrier->first_warp != block->first_warp) {
        if (!is_new && carrier->key & 1 && !is_owner)
            return;
        memset(carrier->engines, 0, sizeof(carrier->engines));
        carrier->first_warp = block->first_warp;
    }
    join_engines(carrier->engines, check_known_by(block, warp) + block->warp_count);
}

void check_order_pass_on(struct check *check, struct check_block *block, uint32_t warp,
                         uint64_t key, uint32_t until)
{
    struct check_carrier *carrier = put_carrier(&check->carriers, key);
    bool is_new = !carrier->known;
    check->passed_on = check->time;
    struct check_knowledge *new = what_is_known(block, warp, until);
    if (carrier->known) {
        struct check_knowledge *both = join(carrier->known, new);
        drop(carrier->known);
        drop(new);
        new = both;
    }
    carrier->known = new;
    carrier->version = ++check->versions;
    carry_engines(carrier, block, warp, is_new);
}

/* Learns what the range has of these numbers; true if it has no others. */
static bool learn_range(uint32_t *times, const struct check_range *range, uint32_t first,
                        uint32_t count)
{
    uint32_t last = first + count - 1;
    uint32_t from = range->first > first ? range->first : first;
    uint32_t to = range->last < last ? range->last : last;
    for (uint32_t i = from; i <= to && i >= from; i++)
        times[i - first] = times[i - first] > range->time ? times[i - first] : range->time;
    return range->first >= first && range->last <= last;
}

/* own_block: a read of block scope learns nothing of other blocks. */
void check_order_take(struct check *check, struct check_block *block, uint32_t number, uint64_t key,
                      bool own_block)
{
    struct check_warp *warp = &block->warps[number];
    const struct check_carrier *carrier = find_carrier(&check->carriers, key);
    if (!carrier || !carrier->known || carrier->version == warp->acquired)
        return;
    uint32_t *row = check_known_by(block, number), first = block->first_warp;
    uint32_t *engines = row + block->warp_count + CHECK_LOAD_ENGINES;
    bool foreign = false;
    for (uint32_t i = 0; i < carrier->known->count; i++) {
        const struct check_range *range = &carrier->known->ranges[i];
        bool is_own = learn_range(row, range, first, block->warp_count);
        is_own |= learn_range(engines, range, storing_number(block, first), STORING_ENGINES);
        foreign |= !is_own;
    }
    if (carrier->first_warp == first)
        join_engines(row + block->warp_count, carrier->engines);
    if (foreign && own_block)
        return;
    warp->acquired = carrier->version;
    if (!foreign)
        return;
    struct check_knowledge *before = warp->foreign;
    warp->foreign = before ? join(before, carrier->known) : keep(carrier->known);
    drop(before);
}

static bool is_release(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_RELEASE) || ptx_has(ptx, PTX_MOD_ACQ_REL);
}

/* Status words of the toolkit's libraries (decoupled look-back): a relaxed store of a flag, often
 * with its value beside it in one word. What the block did before is taken to be ordered by it: the
 * libraries' authors have seen to that, with fences that are not always where the model wants them.
 */
static bool is_status_word(const struct check *check, const struct watch_access *access)
{
    return access->what->kind == WATCH_STORE && check->traits[access->number] & CHECK_TRAIT_LIBRARY;
}

static void order_word(struct check *check, const struct watch_access *access, uint64_t address)
{
    struct check_block *block = access->w->block->check;
    uint32_t number = access->w->index;
    struct check_warp *warp = &block->warps[number];
    bool is_shared = access->space == PTX_SPACE_SHARED;
    const struct check_block *place = is_shared ? access->block->check : block;
    bool for_block = is_shared || check->traits[access->number] & CHECK_TRAIT_NARROW;
    if (access->is_read && access->what->kind != WATCH_RED && check->carriers.count) {
        if (!is_shared)
            check_order_take(check, block, number, check_order_key(block, address, true),
                             for_block);
        check_order_take(check, block, number, check_order_key(place, address, false), false);
    }
    if (!access->is_write)
        return;
    bool now = is_release(access->in->ptx) || is_status_word(check, access);
    uint32_t all = for_block ? 0 : now ? check->time : warp->fence_all;
    uint32_t own = now ? check->time : place == block ? warp->fence_block : warp->fence_all;
    if (all)
        check_order_pass_on(check, block, number, check_order_key(block, address, true), all);
    if (own > all)
        check_order_pass_on(check, block, number, check_order_key(place, address, false), own);
    if (now)
        check_close_segment(warp);
}

void check_order_access(struct check *check, const struct watch_access *access, uint32_t mask)
{
    uint64_t last = UINT64_MAX;
    const struct check_warp *warp = check_warp_of(access->w);
    if (!check->carriers.count && !warp->fence_block && !is_release(access->in->ptx) &&
        !is_status_word(check, access))
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t address = access->addresses[__builtin_ctz(rest)];
        if (address != last)
            order_word(check, access, address);
        last = address;
    }
}

/* Launches and blocks
 * ------------------------------------------------------------------------------------ */

void check_order_begin(struct check *check)
{
    check->first_segment = check->time + 1;
    check->segment_base = check->first_segment;
    check->passed_on = check->time;
}

void check_order_end(struct check *check)
{
    for (size_t i = 0; i < check->carriers.capacity; i++)
        drop(check->carriers.slots[i].known);
    free(check->carriers.slots);
    check->carriers = (struct check_carriers){0};
    for (struct check_block *block = check->spare_blocks, *next; block; block = next) {
        next = block->next;
        free(block->warps);
        free(block->known);
        free(block->cells);
        free(block->written);
        free(block->mbarriers);
        free(block->remotes);
        free(block);
    }
    check->spare_blocks = NULL;
}

static struct check_block *block_new(struct check *check, const struct simt_block *simt)
{
    struct check_block *block = check->spare_blocks;
    if (block) {
        check->spare_blocks = block->next;
        return block;
    }
    block = lk_alloc_zeroed(sizeof(*block));
    block->warp_count = simt->warp_count;
    block->warps = lk_alloc_zeroed(simt->warp_count * sizeof(*block->warps));
    block->known = lk_alloc_zeroed((size_t)simt->warp_count * (simt->warp_count + CHECK_ENGINES) *
                                   sizeof(*block->known));
    block->shared_bytes = simt->shared_end;
    block->cells = lk_alloc_zeroed((simt->shared_end / 4 + 1) * sizeof(*block->cells));
    block->written = lk_alloc_zeroed(simt->shared_end / 8 + 1);
    return block;
}

void check_order_block(struct check *check, struct simt_block *simt, bool begins)
{
    struct check_block *block = simt->check;
    if (!begins) {
        for (uint32_t i = 0; i < block->warp_count; i++) {
            free(block->warps[i].seen);
            check_taint_free(&block->warps[i]);
            drop(block->warps[i].foreign);
        }
        block->next = check->spare_blocks;
        check->spare_blocks = block;
        simt->check = NULL;
        return;
    }
    block = simt->check = block_new(check, simt);
    block->first_warp = (uint32_t)(simt->linear * simt->warp_count);
    block->first_segment = check->time + 1;
    memset(block->warps, 0, block->warp_count * sizeof(*block->warps));
    memset(block->known, 0,
           (size_t)block->warp_count * (block->warp_count + CHECK_ENGINES) * sizeof(*block->known));
    memset(block->engine_keys, 0, sizeof(block->engine_keys));
    memset(block->engine_last, 0, sizeof(block->engine_last));
    block->engine_next = 0;
    memset(block->fenced, 0, sizeof(block->fenced));
    memset(block->maps, 0, sizeof(block->maps));
    memset(block->written, 0, block->shared_bytes / 8 + 1);
    memset(block->arrived, 0, sizeof(block->arrived));
    block->cluster_phase = block->cluster_waited = 0;
    block->mbarrier_count = block->remote_count = 0;
}
