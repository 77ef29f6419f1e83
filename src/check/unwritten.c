/*
 * unwritten.c: reads of what nothing has written, and shuffles from lanes that do not take part.
 * Both are kept until the launch ends: what became of the value decides (taint.c), and a read that
 * came before the write it should have waited for is a race, and reported as that.
 */
#include "check/products.h"

enum { MOST = 64 }; /* sets of them are 64 bits */

uint64_t check_pending_add(struct check *check, const struct check_pending *pending)
{
    for (size_t i = 0; i < check->pending_count; i++)
        if (check->pending[i].inst == pending->inst && check->pending[i].kind == pending->kind) {
            check->pending[i].count++;
            check->pending[i].is_part &= pending->is_part;
            return UINT64_C(1) << i;
        }
    return check_pending_append(check, pending);
}

uint64_t check_pending_append(struct check *check, const struct check_pending *pending)
{
    if (check->pending_count == MOST)
        return 0;
    if (!check->pending)
        check->pending = lk_alloc(MOST * sizeof(*check->pending));
    check->pending[check->pending_count] = *pending;
    check->pending[check->pending_count].count = 1;
    return UINT64_C(1) << check->pending_count++;
}

void check_pending_choose(struct check_pending *pending, const struct check_side *use, int lane)
{
    if (pending->kind != CHECK_UNINITIALIZED || use->block != pending->block ||
        use->thread / SIMT_LANES != pending->warp || !(pending->lanes >> lane & 1))
        return;
    pending->side.block = use->block;
    pending->side.thread = use->thread;
    pending->subject.address = pending->addresses[lane];
}

/* The lanes of a warp that have read now, for check_pending_choose. */
static void note_lane(struct check_pending *pending, const struct watch_access *access, int lane,
                      uint64_t address, bool is_first)
{
    const struct simt_warp *w = access->w;
    if (pending->is_used)
        return;
    pending->lanes = is_first ? 0 : pending->lanes;
    pending->block = w->block->linear;
    pending->warp = w->index;
    pending->lanes |= 1u << lane;
    pending->addresses[lane] = address;
}

uint32_t check_unwritten_element(const struct watch_access *access)
{
    const struct ptx_inst *ptx = access->in->ptx;
    bool is_vector = access->what->kind == WATCH_LOAD && ptx->operand_count &&
                     ptx->operands[0].kind == PTX_OPERAND_VECTOR && ptx->operands[0].item_count;
    return is_vector ? access->bytes / ptx->operands[0].item_count : access->bytes;
}

/* Lanes that read the same as one of these: race.c looks at one of them only. */
static uint32_t with_copies(const struct watch_access *access, uint32_t lanes, uint32_t mask,
                            uint8_t *parts)
{
    uint32_t all = lanes;
    for (uint32_t rest = mask & ~lanes; rest; rest &= rest - 1)
        for (uint32_t found = lanes; found; found &= found - 1)
            if (access->addresses[__builtin_ctz(rest)] == access->addresses[__builtin_ctz(found)]) {
                all |= rest & -rest;
                parts[__builtin_ctz(rest)] = parts[__builtin_ctz(found)];
            }
    return all;
}

void check_unwritten(struct check *check, const struct watch_access *access, uint32_t lanes,
                     uint32_t mask, const uint8_t *parts)
{
    uint8_t traits = check->traits[access->number];
    /* CUB's merges read one element too many of their own storage, and do not use it. */
    if (traits & CHECK_TRAIT_RACED ||
        (access->space == PTX_SPACE_SHARED && traits & CHECK_TRAIT_LIBRARY))
        return;
    uint8_t elements[SIMT_LANES];
    uint32_t element = check_unwritten_element(access), count = access->bytes / element;
    memcpy(elements, parts, sizeof elements);
    lanes = with_copies(access, lanes, mask, elements);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const struct check_tainted_word *word =
            access->space == PTX_SPACE_SHARED ? check_taint_word(check, access, lane) : NULL;
        bool is_part = elements[lane] != (1u << count) - 1;
        uint64_t address = access->addresses[lane] +
                           (is_part ? element * (uint32_t)__builtin_ctz(elements[lane]) : 0);
        struct check_pending pending = {
            .kind = CHECK_UNINITIALIZED,
            .side = check_side_of(access->w, access->in, lane, check_verb(access->in, false)),
            .subject = {.space = access->space, .address = address},
            .bytes = is_part ? element : access->bytes,
            .is_part = is_part,
            .inst = access->number};
        uint64_t origins = word ? word->origins : check_pending_add(check, &pending);
        if (!word && origins)
            note_lane(&check->pending[__builtin_ctzll(origins)], access, lane, address,
                      rest == lanes);
        check_taint_loaded(check, access, rest & -rest, origins, elements[lane]);
    }
}

static void tell_read(struct check *check, struct check_pending *pending)
{
    struct lk_buf where = {0};
    bool used = pending->is_used;
    enum check_kind kind = used ? CHECK_UNINITIALIZED : CHECK_UNUSED_READ;
    const struct check_side *use =
        used && pending->use.in != pending->side.in ? &pending->use : NULL;
    lk_buf_add(&where, "", 0);
    check_describe_address(check, &pending->subject, &where);
    check_report(check, kind, &pending->subject, &pending->side, use,
                 "%s: %s of %u bytes at 0x%llx%s%s%s, which nothing has written%s",
                 used ? "uninitialized" : "unused", pending->side.does, pending->bytes,
                 (unsigned long long)pending->subject.address, where.size ? " (" : "", where.data,
                 where.size ? ")" : "", used ? "" : "; the value decides nothing");
    lk_buf_free(&where);
    for (uint32_t i = 1; i < pending->count; i++)
        check_is_known(check, kind, pending->side.in, use ? use->in : NULL);
}

static void tell_shuffle(struct check *check, struct check_pending *pending)
{
    static const struct check_subject no_memory = {.space = PTX_SPACE_REG};
    if (!pending->is_used)
        return;
    check_report(check, CHECK_SYNC_MASK, &no_memory, &pending->side, &pending->use,
                 "undefined shuffle: %s with mask 0x%08x reads lane %d, which %s; its value is "
                 "undefined, and is used",
                 pending->side.does, pending->mask, pending->lane, pending->why);
    for (uint32_t i = 1; i < pending->count; i++)
        check_is_known(check, CHECK_SYNC_MASK, pending->side.in, pending->use.in);
}

void check_unwritten_end(struct check *check)
{
    for (size_t i = 0; i < check->pending_count; i++) {
        struct check_pending *pending = &check->pending[i];
        if (pending->kind == CHECK_RACE)
            check_doubt_tell(check, pending);
        else if (pending->kind == CHECK_SYNC_MASK)
            tell_shuffle(check, pending);
        else if (!(check->traits[pending->inst] & CHECK_TRAIT_RACED) &&
                 (pending->is_used || !pending->is_part))
            tell_read(check, pending);
    }
    check->pending_count = 0;
    check->doubtful = 0;
}
