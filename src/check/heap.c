/*
 * heap.c: what kernels allocate with malloc() and free again, so that an access beyond one of these
 * blocks names the block and the thread that asked for it. Blocks outlive their launch; the
 * instruction that allocated one is known only within it.
 */
#include "check/check.h"

#include <stdlib.h>

/* First block of the list that begins after address. */
static size_t after(const struct check_heap_list *list, uint64_t address)
{
    return lk_sorted_after(list->items, list->count, sizeof(*list->items), address);
}

static void put(struct check_heap_list *list, const struct check_heap_block *block)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 64;
        list->items = lk_realloc(list->items, list->capacity * sizeof(*list->items));
    }
    size_t at = after(list, block->address);
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof(*block));
    list->items[at] = *block;
    list->count++;
}

static void drop(struct check_heap_list *list, size_t at)
{
    list->count--;
    memmove(list->items + at, list->items + at + 1, (list->count - at) * sizeof(*list->items));
}

static const struct check_heap_block *find(const struct check_heap_list *list, uint64_t address)
{
    size_t at = after(list, address);
    return at > 0 && address - list->items[at - 1].address < list->items[at - 1].size
               ? &list->items[at - 1]
               : NULL;
}

const struct check_heap_block *check_heap_find(const struct check *check, uint64_t address)
{
    return find(&check->heap, address);
}

const struct check_heap_block *check_heap_find_freed(const struct check *check, uint64_t address)
{
    return find(&check->heap_freed, address);
}

size_t check_heap_near(const struct check *check, uint64_t address,
                       const struct check_heap_block *near[2])
{
    const struct check_heap_list *list = &check->heap;
    size_t at = after(list, address), count = 0;
    for (size_t i = at > 0 ? at - 1 : 0; i < at + 1 && i < list->count; i++)
        near[count++] = &list->items[i];
    return count;
}

void check_heap_name(const struct check *check, const struct check_heap_block *block,
                     struct lk_buf *text)
{
    const struct simt_launch *launch = check->launch->launch;
    lk_buf_printf(text, "a block of %llu bytes from device malloc",
                  (unsigned long long)block->size);
    if (block->launch == check->machine->grid_count)
        lk_buf_printf(text, " (by block %llu, thread %u)", (unsigned long long)block->block,
                      block->thread % (launch->block[0] * launch->block[1] * launch->block[2]));
    else
        lk_buf_printf(text, " (of an earlier launch)");
}

struct check_side check_heap_side(const struct check *check, const struct check_heap_block *block,
                                  const char *does)
{
    if (block->launch != check->machine->grid_count)
        return (struct check_side){.block = UINT64_MAX, .thread = UINT32_MAX, .does = does};
    return (struct check_side){block->in, block->block, block->thread, does};
}

static void report_free(struct check *check, struct simt_warp *w, const struct simt_inst *in,
                        int lane, uint64_t address)
{
    struct check_side side = check_side_of(w, in, lane, "free"), other;
    struct check_subject subject = {.space = PTX_SPACE_GLOBAL, .address = address};
    const struct check_heap_block *freed = check_heap_find_freed(check, address);
    const struct check_heap_block *inside = check_heap_find(check, address);
    struct lk_buf name = {0};
    lk_buf_add(&name, "", 0);
    if (freed || inside)
        check_heap_name(check, freed ? freed : inside, &name);
    other = check_heap_side(check,
                            freed    ? freed
                            : inside ? inside
                                     : &(struct check_heap_block){0},
                            freed ? "free" : "malloc");
    unsigned long long at = address;
    if (freed && freed->address == address)
        check_report(check, CHECK_INVALID_FREE, &subject, &side, other.in ? &other : NULL,
                     "double free: 0x%llx, %s, was freed before", at, name.data);
    else if (inside)
        check_report(check, CHECK_INVALID_FREE, &subject, &side, other.in ? &other : NULL,
                     "invalid free: 0x%llx is %llu bytes into %s; only its beginning can be freed",
                     at, at - inside->address, name.data);
    else
        check_report(check, CHECK_INVALID_FREE, &subject, &side, NULL,
                     "invalid free: 0x%llx did not come from device malloc", at);
    lk_buf_free(&name);
}

void check_heap_event(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in,
                      int lane, enum watch_heap_event event, uint64_t address, uint64_t size)
{
    struct check *check = (struct check *)watcher;
    struct check_heap_block block = {.address = address,
                                     .size = size,
                                     .in = in,
                                     .block = w->block->linear,
                                     .thread = w->index * SIMT_LANES + (uint32_t)lane,
                                     .launch = check->machine->grid_count};
    size_t at;
    switch (event) {
    case WATCH_HEAP_ALLOCATED:
        check_memory_fresh(check, address, size);
        put(&check->heap, &block);
        break;
    case WATCH_HEAP_FREED:
        at = after(&check->heap, address);
        if (at > 0 && check->heap.items[at - 1].address == address) {
            block.size = check->heap.items[at - 1].size;
            drop(&check->heap, at - 1);
            put(&check->heap_freed, &block);
        }
        for (uint32_t i = 0; i < check->launch->code->inst_count; i++)
            if (check->caches[i].low == address)
                check->caches[i].low = check->caches[i].high = 0;
        break;
    case WATCH_HEAP_BAD_FREE:
        report_free(check, w, in, lane, address);
        break;
    }
}

void check_heap_close(struct check *check)
{
    free(check->heap.items);
    free(check->heap_freed.items);
}
