/*
 * pool.c: a few threads that run one function together; see pool.h.
 */
#include "host/pool.h"
#include "base/arena.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct pool_thread {
    struct lk_pool *pool;
    pthread_t thread;
    unsigned index;
};

struct lk_pool {
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    struct pool_thread *threads;
    unsigned capacity, started; /* threads beside the caller */
    unsigned long round;
    unsigned count, running;
    void (*function)(void *, unsigned);
    void *context;
    bool stop;
};

static void *thread_main(void *argument)
{
    struct pool_thread *self = argument;
    struct lk_pool *pool = self->pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && pool->round == seen)
            pthread_cond_wait(&pool->start, &pool->lock);
        if (pool->stop)
            break;
        seen = pool->round;
        if (self->index >= pool->count)
            continue;
        pthread_mutex_unlock(&pool->lock);
        pool->function(pool->context, self->index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->running == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

struct lk_pool *lk_pool_create(unsigned threads)
{
    struct lk_pool *pool = lk_alloc_zeroed(sizeof(*pool));
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->capacity = threads > 1 ? threads - 1 : 0;
    pool->threads = lk_alloc_zeroed((pool->capacity + 1) * sizeof(*pool->threads));
    return pool;
}

void lk_pool_destroy(struct lk_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->threads[i].thread, NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->start);
    pthread_cond_destroy(&pool->done);
    free(pool->threads);
    free(pool);
}

static void start_threads(struct lk_pool *pool, unsigned wanted)
{
    while (pool->started < wanted && pool->started < pool->capacity) {
        struct pool_thread *thread = &pool->threads[pool->started];
        thread->pool = pool;
        thread->index = pool->started + 1;
        if (pthread_create(&thread->thread, NULL, thread_main, thread) != 0)
            break; /* the caller and those that did start do the work */
        pool->started++;
    }
}

void lk_pool_run(struct lk_pool *pool, unsigned count, void (*function)(void *, unsigned),
                 void *context)
{
    start_threads(pool, count ? count - 1 : 0);
    unsigned helpers = count ? count - 1 : 0;
    if (helpers > pool->started)
        helpers = pool->started;
    pthread_mutex_lock(&pool->lock);
    pool->function = function;
    pool->context = context;
    pool->count = helpers + 1;
    pool->running = helpers;
    if (helpers) {
        pool->round++;
        pthread_cond_broadcast(&pool->start);
    }
    pthread_mutex_unlock(&pool->lock);
    function(context, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->running)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
