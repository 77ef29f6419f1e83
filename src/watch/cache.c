/*
 * cache.c: see cache.h.
 */
#include "watch/cache.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void cache_open(struct cache *cache, size_t bytes)
{
    size_t lines = bytes >> CACHE_LINE_BITS;
    cache->set_count = lines / CACHE_WAYS ? lines / CACHE_WAYS : 1;
    cache->sets = lk_alloc_zeroed(cache->set_count * sizeof(*cache->sets));
    cache->epoch = 1;
    cache->clock = cache->fills = 0;
    cache->crowd = 1;
    cache->written_back = cache->dirtied = cache->read_alone = cache->dirty_alone = 0;
    memset(cache->recent, 0, sizeof(cache->recent));
}

void cache_clear(struct cache *cache)
{
    cache->written_back = cache->dirtied = cache->read_alone = cache->dirty_alone = 0;
    /* The clock goes on, so that lines of earlier epochs are the first to go. */
    if (++cache->epoch < 1u << (64 - CACHE_EPOCH_SHIFT) && cache->clock < UINT32_MAX / 2)
        return;
    cache->clock = 0;
    memset(cache->sets, 0, cache->set_count * sizeof(*cache->sets));
    cache->epoch = 1;
}

void cache_close(struct cache *cache)
{
    free(cache->sets);
    cache->sets = NULL;
}
