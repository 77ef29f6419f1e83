/*
 * cache.h: a sectored cache: 128-byte lines of four 32-byte sectors, least recently used goes.
 * A model of hits, not of data.
 */
#ifndef LOCKSTEP_SIMT_CACHE_H
#define LOCKSTEP_SIMT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CACHE_LINE_BITS = 7, CACHE_SECTOR_BITS = 5, CACHE_SECTORS = 4, CACHE_WAYS = 16 };

struct cache_set {
    uint64_t lines[CACHE_WAYS]; /* most recently used first; with the epoch in the upper bits */
    uint8_t valid[CACHE_WAYS];  /* a bit per sector */
    uint8_t dirty[CACHE_WAYS];
};

struct cache {
    struct cache_set *sets;
    uint64_t set_count;
    uint64_t epoch;        /* lines of another one are not there: clearing costs nothing */
    uint64_t written_back; /* dirty sectors that had to go */
};

void cache_open(struct cache *cache, size_t bytes);
void cache_clear(struct cache *cache); /* everything invalid */
void cache_close(struct cache *cache);

/* Sectors (a bit each) of a line that were there; the others are now, if allocate. */
unsigned cache_access(struct cache *cache, uint64_t line, unsigned sectors, bool is_write,
                      bool allocate);

#endif
