/*
 * sample.c: see sample.h.
 */
#include "driver/sample.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { KEEPS = 1, FOLLOWS = 2 };
#define ALSO_READ ((uint64_t)1 << 63)

static _Atomic uint64_t sample_instructions, sample_rest, cut_launches;
static _Atomic unsigned sample_flags;

/* Where launches may have left memory incomplete. 0: it could not be told where. */
static struct {
    pthread_mutex_t lock;
    uint64_t *addresses;
    size_t count, capacity;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

EXPORT uint64_t lk_driver_sample(uint64_t instructions, uint64_t rest, unsigned flags);
uint64_t lk_driver_sample(uint64_t instructions, uint64_t rest, unsigned flags)
{
    sample_instructions = instructions;
    sample_rest = rest;
    sample_flags = flags;
    return cut_launches;
}

EXPORT size_t lk_driver_incomplete(uint64_t *addresses, size_t most);
size_t lk_driver_incomplete(uint64_t *addresses, size_t most)
{
    pthread_mutex_lock(&kept.lock);
    size_t given = 0;
    while (given < most && kept.count)
        addresses[given++] = kept.addresses[--kept.count];
    pthread_mutex_unlock(&kept.lock);
    return given;
}

/* Memory that is incomplete: pairs of first and last address. */
static struct {
    pthread_mutex_t lock;
    uint64_t *pairs;
    _Atomic size_t count;
} guarded = {.lock = PTHREAD_MUTEX_INITIALIZER};

EXPORT void lk_driver_guard(const uint64_t *pairs, size_t count);
void lk_driver_guard(const uint64_t *pairs, size_t count)
{
    pthread_mutex_lock(&guarded.lock);
    free(guarded.pairs);
    guarded.pairs = lk_alloc((count + 1) * 2 * sizeof *pairs);
    memcpy(guarded.pairs, pairs, count * 2 * sizeof *pairs);
    guarded.count = count;
    pthread_mutex_unlock(&guarded.lock);
}

static bool is_guarded(uint64_t first, uint64_t last)
{
    pthread_mutex_lock(&guarded.lock);
    bool found = false;
    for (size_t i = 0; i < guarded.count && !found; i++)
        found = first <= guarded.pairs[2 * i + 1] && guarded.pairs[2 * i] <= last;
    pthread_mutex_unlock(&guarded.lock);
    return found;
}

static bool refuse(const char *name)
{
    drv_remark("%s is given what a launch wrote inside do_bench or perf_report, which ran a part "
               "of its blocks to be timed: LOCKSTEP_BENCH=whole runs all of them",
               name);
    return true;
}

bool drv_sample_refuses(const struct drv_kernel_work *kernel)
{
    bool tunes = sample_instructions && !(sample_flags & KEEPS);
    bool found = false;
    for (size_t i = 0; guarded.count && !tunes && i + 8 <= kernel->params_size; i += 8) {
        uint64_t word;
        memcpy(&word, (const char *)kernel->params + i, sizeof word);
        found = found || is_guarded(word, word);
    }
    if (found && sample_flags & KEEPS)
        sample_flags |= FOLLOWS;
    return found && !(sample_flags & KEEPS) && refuse(kernel->function->info->name);
}

bool drv_sample_refuses_copy(uint64_t address, size_t size)
{
    bool tunes = sample_instructions && !(sample_flags & KEEPS);
    return guarded.count && !tunes && address && size && is_guarded(address, address + size - 1) &&
           refuse("a copy");
}

uint64_t drv_sample_instructions(void)
{
    return sample_instructions;
}

static void keep(void *context, uint64_t address, bool also_read)
{
    address |= also_read ? ALSO_READ : 0;
    enum { RECENT = 16 };
    for (size_t i = 0; i < RECENT && i < kept.count; i++)
        if (kept.addresses[kept.count - 1 - i] == address)
            return;
    if (kept.count == kept.capacity) {
        kept.capacity = kept.capacity ? 2 * kept.capacity : 64;
        kept.addresses = lk_realloc(kept.addresses, kept.capacity * sizeof *kept.addresses);
    }
    kept.addresses[kept.count++] = address;
}

static void ignore(void *context, uint64_t address, bool also_read)
{
}

static bool is_known(struct drv_kernel_work *kernel, simt_output *visit)
{
    return simt_kernel_outputs(kernel->function->kernel, kernel->params, visit, NULL);
}

bool drv_sample_completes(struct drv_kernel_work *kernel, double rest)
{
    return rest <= (double)sample_rest || (sample_flags & KEEPS && !is_known(kernel, ignore));
}

void drv_sample_ran(struct drv_kernel_work *kernel, bool cut)
{
    cut_launches += cut;
    if (cut && sample_flags & KEEPS)
        sample_flags |= FOLLOWS;
    if (!(sample_flags & KEEPS) || !(sample_flags & FOLLOWS))
        return;
    pthread_mutex_lock(&kept.lock);
    if (!is_known(kernel, keep))
        keep(NULL, 0, false);
    pthread_mutex_unlock(&kept.lock);
}
