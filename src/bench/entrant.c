/*
 * entrant.c: a contestant of a problem: launching it on a copy of the buffers, keeping its times.
 */
#include "bench/contest.h"

#include <stdlib.h>

void bench_entrant_fail(struct bench_entrant *entrant, enum bench_state state, char *message)
{
    free(entrant->entry->message);
    entrant->entry->state = state;
    entrant->entry->message = message ? message : lk_format("it failed");
}

static bool launch_variant(struct bench_session *session, struct bench_entrant *entrant)
{
    entrant->call.error = NULL;
    CUresult status = entrant->variant->launch(&entrant->call);
    if (status == CUDA_SUCCESS)
        return true;
    const char *error = entrant->call.error;
    bench_entrant_fail(entrant, BENCH_WRONG,
                       lk_format("launching failed: %s%s%s",
                                 zoo_error(session->device.cuda, status), error ? ": " : "",
                                 error ? error : ""));
    return false;
}

static bool launch_peer(struct bench_entrant *entrant)
{
    int status = entrant->code.run(&entrant->peer_call);
    if (status == 0)
        return true;
    bench_entrant_fail(entrant, status == -1 ? BENCH_SKIPPED : BENCH_WRONG,
                       status == -1 ? lk_format("its library is not here")
                                    : lk_format("it returned error %d", status));
    return false;
}

bool bench_entrant_launch(struct bench_session *session, struct bench_entrant *entrant,
                          const struct bench_slab *slab, unsigned copy)
{
    for (unsigned i = 0; i < slab->count; i++) {
        CUdeviceptr at = bench_slab_buffer(slab, copy, i);
        entrant->call.buffer[i] = at;
        entrant->peer_call.buffer[i] = (void *)(uintptr_t)at;
    }
    return entrant->variant ? launch_variant(session, entrant) : launch_peer(entrant);
}

void bench_entrant_add(struct bench_entrant *entrant, double seconds, unsigned mhz)
{
    if (entrant->count == entrant->capacity) {
        entrant->capacity = entrant->capacity ? 2 * entrant->capacity : 64;
        entrant->samples =
            lk_realloc(entrant->samples, entrant->capacity * sizeof *entrant->samples);
        entrant->clocks = lk_realloc(entrant->clocks, entrant->capacity * sizeof *entrant->clocks);
    }
    entrant->samples[entrant->count] = seconds;
    entrant->clocks[entrant->count++] = mhz;
}
