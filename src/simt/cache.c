/*
 * cache.c: see cache.h. Sets are found by a hash of the line, as in hardware, so that power-of-two
 * strides do not all fall into one set.
 */
#include "simt/cache.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void cache_open(struct cache *cache, size_t bytes)
{
    size_t lines = bytes >> CACHE_LINE_BITS;
    cache->set_count = lines / CACHE_WAYS ? lines / CACHE_WAYS : 1;
    cache->sets = lk_alloc_zeroed(cache->set_count * sizeof(*cache->sets));
    cache->epoch = 1;
    cache->written_back = 0;
}

enum { EPOCH_SHIFT = 57 }; /* a line's number has less bits */

void cache_clear(struct cache *cache)
{
    cache->written_back = 0;
    if (++cache->epoch < 1u << (64 - EPOCH_SHIFT))
        return;
    memset(cache->sets, 0, cache->set_count * sizeof(*cache->sets));
    cache->epoch = 1;
}

void cache_close(struct cache *cache)
{
    free(cache->sets);
    cache->sets = NULL;
}

static struct cache_set *set_of(const struct cache *cache, uint64_t line)
{
    uint64_t hash = (line * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    return &cache->sets[hash * cache->set_count >> 32];
}

static void to_front(struct cache_set *set, int way)
{
    uint64_t line = set->lines[way];
    uint8_t valid = set->valid[way], dirty = set->dirty[way];
    for (; way > 0; way--) {
        set->lines[way] = set->lines[way - 1];
        set->valid[way] = set->valid[way - 1];
        set->dirty[way] = set->dirty[way - 1];
    }
    set->lines[0] = line;
    set->valid[0] = valid;
    set->dirty[0] = dirty;
}

unsigned cache_access(struct cache *cache, uint64_t line, unsigned sectors, bool is_write,
                      bool allocate)
{
    struct cache_set *set = set_of(cache, line);
    uint64_t tag = line | cache->epoch << EPOCH_SHIFT;
    int way = 0;
    while (way < CACHE_WAYS && set->lines[way] != tag)
        way++;
    if (way == CACHE_WAYS) {
        if (!allocate)
            return 0;
        way = CACHE_WAYS - 1;
        if (set->lines[way] >> EPOCH_SHIFT == cache->epoch)
            cache->written_back += (unsigned)__builtin_popcount(set->dirty[way]);
        set->lines[way] = tag;
        set->valid[way] = set->dirty[way] = 0;
    }
    if (way)
        to_front(set, way);
    unsigned hits = set->valid[0] & sectors;
    if (allocate)
        set->valid[0] |= (uint8_t)sectors;
    if (is_write && allocate)
        set->dirty[0] |= (uint8_t)sectors;
    return hits;
}
