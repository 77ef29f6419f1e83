/*
 * times.c: what timed launches are known to take. Counting costs several times the run itself, and
 * programs time the same launch again and again. A launch with the same kernel, shape and
 * parameters takes the same modelled time, since caches start empty, unless it reads other data. So
 * after two counted launches that ran equally many instructions, the next ones run without
 * counters, as long as they run as many.
 */
#include "driver/times.h"

#include "base/arena.h"
#include "base/hash.h"

#include <pthread.h>
#include <stdlib.h>

enum { KNOWN = 16, ENOUGH = 2 };

struct known_time {
    uint64_t key;
    unsigned alike; /* counted launches in a row that ran this many instructions; 0: free */
    struct simt_known known;
};

struct drv_times {
    struct known_time known[KNOWN];
    unsigned next; /* to be replaced */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t key_of(const struct drv_kernel_work *kernel)
{
    uint64_t key = lk_hash64(LK_HASH64, kernel->grid, sizeof kernel->grid);
    key = lk_hash64(key, kernel->block, sizeof kernel->block);
    key = lk_hash64(key, kernel->cluster, sizeof kernel->cluster);
    key = lk_hash64(key, &kernel->shared, sizeof kernel->shared);
    return lk_hash64(key, kernel->params, kernel->params ? kernel->params_size : 0);
}

/* The launch's entry; a fresh one if it has none. */
static struct known_time *find(const struct drv_kernel_work *kernel)
{
    struct drv_times **times = &kernel->function->times;
    uint64_t key = key_of(kernel);
    if (!*times)
        *times = lk_alloc_zeroed(sizeof **times);
    for (unsigned i = 0; i < KNOWN; i++)
        if ((*times)->known[i].alike && (*times)->known[i].key == key)
            return &(*times)->known[i];
    struct known_time *entry = &(*times)->known[(*times)->next++ % KNOWN];
    *entry = (struct known_time){.key = key};
    return entry;
}

bool drv_time_known(const struct drv_kernel_work *kernel, struct simt_known *known)
{
    pthread_mutex_lock(&lock);
    const struct known_time *entry = find(kernel);
    *known = entry->alike >= ENOUGH ? entry->known : (struct simt_known){0};
    pthread_mutex_unlock(&lock);
    return known->seconds > 0;
}

void drv_time_learn(const struct drv_kernel_work *kernel, bool counted,
                    const struct simt_stats *stats)
{
    pthread_mutex_lock(&lock);
    struct known_time *entry = find(kernel);
    bool same = entry->alike && entry->known.instructions == stats->warp_instructions;
    if (counted) {
        entry->alike = same ? entry->alike + 1 : 1;
        entry->known = (struct simt_known){stats->warp_instructions, stats->modelled_seconds,
                                           stats->modelled_share};
    } else if (!same) {
        entry->alike = 0;
    }
    pthread_mutex_unlock(&lock);
}
