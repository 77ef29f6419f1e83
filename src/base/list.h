/*
 * list.h: a growing list of words, such as a command line.
 */
#ifndef LOCKSTEP_BASE_LIST_H
#define LOCKSTEP_BASE_LIST_H

#include <stddef.h>

struct lk_list {
    const char **items; /* ends with NULL once something was added; words are not copied */
    size_t count, capacity;
};

void lk_list_add(struct lk_list *list, const char *item);
void lk_list_free(struct lk_list *list);

#endif
