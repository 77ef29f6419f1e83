/*
 * list.c: see list.h.
 */
#include "base/list.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void lk_list_add(struct lk_list *list, const char *item)
{
    if (list->count + 2 > list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = lk_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = item;
    list->items[list->count] = NULL;
}

void lk_list_free(struct lk_list *list)
{
    free(list->items);
    *list = (struct lk_list){0};
}

size_t lk_sorted_after(const void *items, size_t count, size_t size, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        uint64_t found;
        memcpy(&found, (const char *)items + middle * size, sizeof found);
        if (found <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
