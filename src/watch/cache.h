/*
 * cache.h: a sectored cache: 128-byte lines of four 32-byte sectors, least recently used goes.
 * A model of hits, not of data.
 */
#ifndef LOCKSTEP_WATCH_CACHE_H
#define LOCKSTEP_WATCH_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CACHE_LINE_BITS = 7,
    CACHE_SECTOR_BITS = 5,
    CACHE_SECTORS = 4,
    CACHE_WAYS = 16,
    CACHE_RECENT = 256
};

struct cache_set {
    uint64_t lines[CACHE_WAYS]; /* with the epoch in the upper bits */
    uint32_t used[CACHE_WAYS];  /* when */
    uint8_t valid[CACHE_WAYS];  /* a bit per sector */
    uint8_t dirty[CACHE_WAYS];
    uint8_t fetched[CACHE_WAYS]; /* a bit per piece of 64 bytes that was read from DRAM */
    uint32_t owner[CACHE_WAYS];  /* who used the line last, */
    uint32_t filled[CACHE_WAYS]; /* cache->fills then; */
    bool shared[CACHE_WAYS];     /* and did another one use it before? */
};

struct cache {
    struct cache_set *sets;
    uint64_t set_count;
    uint64_t epoch;        /* lines of another one are not there: clearing costs nothing */
    uint64_t written_back; /* dirty sectors that had to go */
    uint64_t dirtied;      /* sectors that became dirty */
    /* Pieces of 64 bytes, in which DRAM is read, that are the only one of their line: */
    uint64_t read_alone, dirty_alone;
    bool by_bursts; /* what is fetched is fetched in such pieces */
    uint32_t clock;
    /* Blocks run one after the other here, but crowd of them side by side on the GPU, and fill the
     * cache while one of them comes back to a line of its own. Lines that several use stay. */
    uint32_t crowd, owner; /* owner: the one that runs */
    uint32_t fills;        /* lines so far */
    struct cache_recent {  /* where a line was last found; true only if it is still there */
        struct cache_set *set;
        int way;
    } recent[CACHE_RECENT];
};

void cache_open(struct cache *cache, size_t bytes);
void cache_clear(struct cache *cache); /* everything invalid */
void cache_close(struct cache *cache);

enum { CACHE_EPOCH_SHIFT = 57 }; /* a line's number has less bits */

/* Sets are found by a hash of the line, as in hardware, so that power-of-two strides do not all
 * fall into one set. */
static inline struct cache_set *cache_set_of(const struct cache *cache, uint64_t line)
{
    uint64_t hash = (line * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    return &cache->sets[hash * cache->set_count >> 32];
}

static inline int cache_find(const struct cache_set *set, uint64_t tag)
{
    uint32_t found = 0;
    for (int way = 0; way < CACHE_WAYS; way++) /* without a branch: it becomes vector compares */
        found |= (uint32_t)(set->lines[way] == tag) << way;
    return found ? __builtin_ctz(found) : -1;
}

static inline int cache_oldest(const struct cache_set *set)
{
    int best = 0;
    for (int way = 1; way < CACHE_WAYS; way++)
        if (set->used[way] < set->used[best])
            best = way;
    return best;
}

/* Pieces of 64 bytes, two sectors each, of a line: bits 0 and 1. */
static inline unsigned cache_bursts(unsigned sectors)
{
    return (sectors & 3 ? 1u : 0) | (sectors & 12 ? 2u : 0);
}

static inline bool cache_is_one(unsigned bursts)
{
    return bursts == 1 || bursts == 2;
}

static inline void cache_dirty(struct cache *cache, uint8_t *dirty, unsigned sectors)
{
    unsigned before = cache_bursts(*dirty), after = cache_bursts(*dirty | sectors);
    cache->dirtied += (unsigned)__builtin_popcount(sectors & ~(unsigned)*dirty);
    cache->dirty_alone += (uint64_t)cache_is_one(after) - cache_is_one(before);
    *dirty |= (uint8_t)sectors;
}

static inline void cache_fetch(struct cache *cache, struct cache_set *set, int way,
                               unsigned missing)
{
    unsigned bursts = cache_bursts(missing), before = set->fetched[way];
    cache->read_alone += (uint64_t)cache_is_one(before | bursts) - cache_is_one(before);
    set->fetched[way] |= (uint8_t)bursts;
    set->valid[way] |= (uint8_t)((bursts & 1) * 3 | (bursts >> 1) * 12);
}

/* A line is used again. Has it gone meanwhile, for what the others have done? */
static inline void cache_use(struct cache *cache, struct cache_set *set, int way)
{
    uint64_t since = cache->fills - set->filled[way];
    if (set->owner[way] != cache->owner) {
        set->owner[way] = cache->owner;
        set->shared[way] = true;
    } else if (!set->shared[way] && cache->crowd > 1 &&
               since * cache->crowd > cache->set_count * CACHE_WAYS) {
        cache->written_back += (unsigned)__builtin_popcount(set->dirty[way]);
        set->valid[way] = set->dirty[way] = set->fetched[way] = 0;
        cache->fills++;
    }
    set->filled[way] = cache->fills;
}

/* Sectors (a bit each) of a line that were there; the others are now, if allocate. */
static inline unsigned cache_access(struct cache *cache, uint64_t line, unsigned sectors,
                                    bool is_write, bool allocate)
{
    uint64_t tag = line | cache->epoch << CACHE_EPOCH_SHIFT;
    struct cache_recent *recent = &cache->recent[(line ^ line >> 4 ^ line >> 9) % CACHE_RECENT];
    struct cache_set *set = recent->set;
    int way = recent->way;
    if (!set || set->lines[way] != tag) {
        set = cache_set_of(cache, line);
        way = cache_find(set, tag);
    }
    if (way < 0) {
        if (!allocate)
            return 0;
        way = cache_oldest(set);
        if (set->lines[way] >> CACHE_EPOCH_SHIFT == cache->epoch)
            cache->written_back += (unsigned)__builtin_popcount(set->dirty[way]);
        set->lines[way] = tag;
        set->valid[way] = set->dirty[way] = set->fetched[way] = 0;
        set->owner[way] = cache->owner;
        set->shared[way] = false;
        set->filled[way] = ++cache->fills;
    } else {
        cache_use(cache, set, way);
    }
    *recent = (struct cache_recent){set, way};
    set->used[way] = ++cache->clock;
    unsigned hits = set->valid[way] & sectors;
    if (cache->by_bursts && !is_write && (sectors & ~hits))
        cache_fetch(cache, set, way, sectors & ~hits);
    if (allocate)
        set->valid[way] |= (uint8_t)sectors;
    if (is_write && allocate)
        cache_dirty(cache, &set->dirty[way], sectors);
    return hits;
}

#endif
