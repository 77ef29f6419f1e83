/*
 * pool.h: a few threads that run one function together.
 */
#ifndef LOCKSTEP_HOST_POOL_H
#define LOCKSTEP_HOST_POOL_H

struct lk_pool;

/* Threads beside the caller are started when they are first needed. */
struct lk_pool *lk_pool_create(unsigned threads);
void lk_pool_destroy(struct lk_pool *pool);

/* Calls function(context, 0 .. count - 1) side by side and waits for all; 0 runs in the caller. */
void lk_pool_run(struct lk_pool *pool, unsigned count,
                 void (*function)(void *context, unsigned index), void *context);

#endif
