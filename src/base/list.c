/*
 * list.c: a growing list of words; see list.h.
 */
#include "base/list.h"

#include "base/arena.h"

#include <stdlib.h>

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
