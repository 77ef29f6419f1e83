/*
 * list.h: a growing list of words, such as a command line; search in sorted arrays.
 */
#ifndef LOCKSTEP_BASE_LIST_H
#define LOCKSTEP_BASE_LIST_H

#include <stddef.h>
#include <stdint.h>

struct lk_list {
    const char **items; /* ends with NULL once something was added; words are not copied */
    size_t count, capacity;
};

void lk_list_add(struct lk_list *list, const char *item);
void lk_list_free(struct lk_list *list);

/* How many of count items, of size bytes each and sorted by the uint64_t that they begin with, have
 * one of at most key. */
size_t lk_sorted_after(const void *items, size_t count, size_t size, uint64_t key);

#endif
