/*
 * doubt.c: races of what a warpgroup product reads. A product takes 64 rows of A even where a tile
 * has fewer, and the sums of the other rows are dropped: nothing is wrong with them. So such a race
 * is kept, as reads of undefined values are (unwritten.c), the sums of its rows are followed
 * (taint.c), and it is an error if one of them is stored, or decides something.
 *
 * What a product reads is ordered behind a write, or not, when it begins: then all is known. A
 * write may also come after the product has read. Its sums are followed from there on, and if they
 * were already used, the race is reported at once (products.c).
 */
#include "check/products.h"

#include <stdlib.h>

static bool is_product(const struct check_side *side)
{
    return side && side->in && ptx_is_wgmma(side->in->ptx->op);
}

static struct check_pending *find(struct check *check, const struct simt_inst *in,
                                  const struct simt_inst *other, uint64_t *bit)
{
    for (size_t i = 0; i < check->pending_count; i++) {
        struct check_pending *pending = &check->pending[i];
        *bit = UINT64_C(1) << i;
        if (pending->kind == CHECK_RACE && pending->side.in == in && pending->other.in == other)
            return pending;
    }
    return NULL;
}

/* The race's place in the list: a set of one; 0 if there are too many. */
static uint64_t keep(struct check *check, const struct check_subject *subject,
                     const struct check_side *side, const struct check_side *other,
                     const char *format, va_list arguments)
{
    uint64_t bit;
    struct check_pending *known = find(check, side->in, other->in, &bit);
    if (known) {
        known->count++;
        return bit;
    }
    struct check_pending pending = {.kind = CHECK_RACE,
                                    .side = *side,
                                    .other = *other,
                                    .subject = *subject,
                                    .inst = (uint32_t)(side->in - check->launch->code->insts)};
    bit = check_pending_append(check, &pending);
    if (!bit)
        return 0;
    struct lk_buf text = {0};
    lk_buf_vprintf(&text, format, arguments);
    check->pending[check->pending_count - 1].text = text.data;
    check->doubtful |= bit;
    return bit;
}

bool check_doubt(struct check *check, const struct check_subject *subject,
                 const struct check_side *side, const struct check_side *other, const char *format,
                 va_list arguments)
{
    bool reads = is_product(side), was_read = is_product(other);
    if (!check->has_products || reads == was_read || subject->space != PTX_SPACE_SHARED || !other)
        return false;
    if (was_read && !check_products_may_doubt(check, other->in, subject->address))
        return false;
    uint64_t bit = keep(check, subject, side, other, format, arguments);
    if (reads)
        check->doubts |= bit;
    else if (bit)
        check_products_doubt(check, subject->address, bit);
    return bit != 0;
}

void check_doubt_tell(struct check *check, struct check_pending *pending)
{
    if (pending->is_used) {
        check->tells_doubts = true;
        check_report(check, CHECK_RACE, &pending->subject, &pending->side, &pending->other, "%s",
                     pending->text);
        check->tells_doubts = false;
        for (uint32_t i = 1; i < pending->count; i++)
            check_is_known(check, CHECK_RACE, pending->side.in, pending->other.in);
    }
    free(pending->text);
}
