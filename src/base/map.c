/*
 * map.c: open addressing with linear probing, at most half full; see map.h.
 */
#include "base/map.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct lk_map_entry {
    const char *key;
    size_t key_size;
    uint64_t hash;
    void *value;
};

static uint64_t map_hash(const char *key, size_t size)
{
    uint64_t hash = lk_hash64(LK_HASH64, key, size);
    return hash ^ hash >> 32; /* slots are chosen by the low bits */
}

static struct lk_map_entry *map_slot(const struct lk_map *map, const char *key, size_t size,
                                     uint64_t hash)
{
    size_t index = hash & (map->capacity - 1);
    for (;; index = (index + 1) & (map->capacity - 1)) {
        struct lk_map_entry *entry = &map->entries[index];
        if (!entry->key ||
            (entry->hash == hash && entry->key_size == size && memcmp(entry->key, key, size) == 0))
            return entry;
    }
}

void *lk_map_get(const struct lk_map *map, const char *key, size_t key_size)
{
    if (!map->count)
        return NULL;
    return map_slot(map, key, key_size, map_hash(key, key_size))->value;
}

void lk_map_put(struct lk_map *map, const char *key, size_t key_size, void *value)
{
    if ((map->count + 1) * 2 > map->capacity) {
        struct lk_map grown = {NULL, map->count, map->capacity ? map->capacity * 2 : 32};
        grown.entries = lk_alloc_zeroed(grown.capacity * sizeof(*grown.entries));
        for (size_t i = 0; i < map->capacity; i++)
            if (map->entries[i].key) {
                struct lk_map_entry *from = &map->entries[i];
                *map_slot(&grown, from->key, from->key_size, from->hash) = *from;
            }
        free(map->entries);
        *map = grown;
    }
    uint64_t hash = map_hash(key, key_size);
    struct lk_map_entry *entry = map_slot(map, key, key_size, hash);
    if (!entry->key)
        map->count++;
    *entry = (struct lk_map_entry){key, key_size, hash, value};
}

void lk_map_free(struct lk_map *map)
{
    free(map->entries);
    memset(map, 0, sizeof(*map));
}
