/*
 * late.c: what cp.async copies is seen when the program has waited for it, not before. Sources are
 * read at once; the bytes are kept until the warp waits for their group, and it gives up its turn
 * first, so that other warps' stores to the same place come before them, as they do on a GPU.
 * Groups are counted by warp. Where its lanes commit apart, a copy may be seen sooner than it must.
 */
#include "simt/clock.h"

#define MOST 8192 /* copies that a warp keeps; then the oldest are seen */

static void see(struct simt_late *late, uint32_t count)
{
    if (count == 0) /* there may be no list yet */
        return;
    for (uint32_t i = 0; i < count; i++)
        memcpy(late->copies[i].to, late->copies[i].bytes, late->copies[i].size);
    late->count -= count;
    memmove(late->copies, late->copies + count, late->count * sizeof(*late->copies));
}

uint8_t *simt_late_copy(struct simt_warp *w, uint8_t *to, uint32_t size)
{
    struct simt_late *late = &simt_state(w)->late;
    if (late->count == MOST)
        see(late, MOST / 2);
    if (late->count == late->capacity) {
        late->capacity = late->capacity ? late->capacity * 2 : 64;
        late->copies = lk_realloc(late->copies, late->capacity * sizeof(*late->copies));
    }
    struct simt_late_copy *copy = &late->copies[late->count++];
    *copy = (struct simt_late_copy){.to = to, .group = late->groups, .size = (uint8_t)size};
    return copy->bytes;
}

void simt_late_commit(struct simt_warp *w)
{
    simt_state(w)->late.groups++;
}

void simt_late_see_all(struct simt_warp *w)
{
    struct simt_late *late = &simt_state(w)->late;
    see(late, late->count);
}

bool simt_late_wait(struct simt_warp *w, uint32_t pending, bool all)
{
    struct simt_late *late = &simt_state(w)->late;
    uint32_t groups = late->groups > pending ? late->groups - pending : 0, due = 0;
    while (due < late->count && (all || late->copies[due].group < groups))
        due++;
    if (due && !late->gave_way) {
        late->gave_way = true;
        simt_end_turn(simt_state(w));
        return false;
    }
    late->gave_way = false;
    see(late, due);
    return true;
}
