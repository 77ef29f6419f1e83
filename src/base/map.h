/*
 * map.h: a hash table from byte strings to pointers.
 */
#ifndef LOCKSTEP_BASE_MAP_H
#define LOCKSTEP_BASE_MAP_H

#include <stddef.h>

struct lk_map {
    struct lk_map_entry *entries;
    size_t count, capacity;
};

/* Keys are not copied: they must live as long as the map. */
void lk_map_put(struct lk_map *map, const char *key, size_t key_size, void *value);
void *lk_map_get(const struct lk_map *map, const char *key, size_t key_size); /* NULL if absent */
void lk_map_free(struct lk_map *map);

#endif
