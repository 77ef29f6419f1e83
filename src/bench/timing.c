/*
 * timing.c: samples on a real GPU. Contestants take turns sample by sample, so that any drift
 * affects all alike; the host stays ahead of the GPU, so that no sample waits for it.
 *
 * Long kernels: one launch between two events, rotating through copies of the buffers. Where the
 * fastest contestant is short, all are timed as graphs of many launches (or as queues of them, if
 * one cannot be captured), with the L2 emptied before each sample that does not empty it itself.
 */
#include "bench/contest.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_SECONDS 20e-6   /* below this, launches are timed many at a time */
#define SAMPLE_SECONDS 400e-6 /* which then take about this long together */
#define BATCH_SECONDS 30e-3   /* between two waits of the host */
#define ENOUGH 0.005          /* uncertainty of the median */
#define SETTLED_SECONDS 0.05  /* no contestant counts as settled before this much GPU time, or */
#define LOW_CLOCK 0.85        /* of the highest seen: discarded below */
enum {
    LEAST_SAMPLES = 15,
    SETTLED_SAMPLES = 60,
    FEW_SAMPLES = 5,
    MOST_LAUNCHES = 100,
    PAIRS = 512
};

struct pair {
    CUevent begin, end;
    struct bench_entrant *entrant;
};

struct race {
    struct bench_session *session;
    const struct lk_driver *cuda;
    struct bench_entrant *entrants;
    size_t count;
    const struct bench_slab *slab;
    struct bench_result *result;
    enum bench_method method;
    double share; /* seconds of GPU time that each may take */
    struct pair pairs[PAIRS];
    unsigned used;
    unsigned next_copy; /* shared by all, so that each finds a copy that was not used lately */
};

/* What a sample consists of ---------------------------------------------------------------------*/

static bool takes_part(const struct bench_entrant *entrant)
{
    return entrant->entry->state == BENCH_MEASURED;
}

static void fail(struct bench_entrant *entrant, const struct race *race, const char *what,
                 CUresult status)
{
    bench_entrant_fail(entrant, BENCH_WRONG,
                       lk_format("%s failed: %s", what, zoo_error(race->cuda, status)));
}

static bool launch_next(struct race *race, struct bench_entrant *entrant)
{
    unsigned copy = race->next_copy++ % race->slab->copies;
    return bench_entrant_launch(race->session, entrant, race->slab, copy);
}

static CUresult empty_l2(struct race *race)
{
    return zoo_flush(&race->session->flush, &race->session->device, race->session->stream);
}

/* Does a sample touch so many copies that the next one finds nothing of its own in the L2? */
static bool rotates(const struct race *race, const struct bench_entrant *entrant)
{
    return race->slab->copies == 1 || race->method == BENCH_SINGLE ||
           entrant->launches * race->slab->stride > race->session->flush.bytes;
}

/* Puts a sample between two events into the stream. False if it failed, which the entry says. */
static bool put_sample(struct race *race, struct bench_entrant *entrant)
{
    struct pair *pair = &race->pairs[race->used];
    CUstream stream = race->session->stream;
    bool launched = true;
    CUresult status = rotates(race, entrant) ? CUDA_SUCCESS : empty_l2(race);
    /* Launches one by one take the host longer: more work for the GPU before them. */
    for (unsigned i = 0; i < entrant->launches && race->method == BENCH_QUEUE; i += 8)
        status = status == CUDA_SUCCESS ? empty_l2(race) : status;
    if (status == CUDA_SUCCESS)
        status = race->cuda->cuEventRecord(pair->begin, stream);
    if (status == CUDA_SUCCESS && entrant->graph)
        status = race->cuda->cuGraphLaunch(entrant->graph, stream);
    for (unsigned i = 0; i < entrant->launches && !entrant->graph && launched; i++)
        launched = status == CUDA_SUCCESS && launch_next(race, entrant);
    if (status == CUDA_SUCCESS && launched)
        status = race->cuda->cuEventRecord(pair->end, stream);
    if (status != CUDA_SUCCESS && takes_part(entrant))
        fail(entrant, race, "timing", status);
    pair->entrant = entrant;
    race->used += takes_part(entrant);
    return takes_part(entrant);
}

/* Waits for the samples in the stream and files them. */
static bool collect(struct race *race, unsigned mhz_before, char **message)
{
    struct bench_session *session = race->session;
    CUresult status = race->cuda->cuStreamSynchronize(session->stream);
    unsigned after = bench_clocks_read(session->clocks);
    unsigned mhz = after < mhz_before ? after : mhz_before;
    if (after > session->most_mhz)
        session->most_mhz = after;
    for (unsigned i = 0; i < race->used && status == CUDA_SUCCESS; i++) {
        struct pair *pair = &race->pairs[i];
        float ms = 0;
        status = race->cuda->cuEventElapsedTime(&ms, pair->begin, pair->end);
        bench_entrant_add(pair->entrant, ms * 1e-3 / pair->entrant->launches, mhz);
        pair->entrant->spent += ms * 1e-3;
    }
    race->used = 0;
    if (status == CUDA_SUCCESS)
        return true;
    session->dead = true;
    *message =
        lk_format("the GPU stopped while it was measured: %s", zoo_error(race->cuda, status));
    return false;
}

/* Choosing how ----------------------------------------------------------------------------------*/

/* A few single launches each, one after the other: the least time of them. */
static bool estimate(struct race *race, struct bench_entrant *entrant, char **message)
{
    if (entrant->python) {
        char *why = NULL;
        if (!bench_torch_estimate(race->session->torch, &entrant->estimate, &why))
            bench_entrant_fail(entrant, BENCH_SKIPPED, why);
        return true;
    }
    entrant->launches = 1;
    for (int i = 0; i < 4; i++) {
        if (empty_l2(race) != CUDA_SUCCESS || !put_sample(race, entrant))
            break;
        if (!collect(race, 0, message))
            return false;
        double seconds = entrant->samples[entrant->count - 1];
        if (i == 0 || seconds < entrant->estimate)
            entrant->estimate = seconds;
        if (seconds > 0.1)
            break;
    }
    entrant->count = 0;
    entrant->spent = 0;
    return true;
}

static double fastest(const struct race *race)
{
    double least = 1e9;
    for (size_t i = 0; i < race->count; i++)
        if (takes_part(&race->entrants[i]) && race->entrants[i].estimate < least)
            least = race->entrants[i].estimate;
    return least;
}

static void forget_graph(struct race *race, struct bench_entrant *entrant)
{
    if (entrant->graph)
        race->cuda->cuGraphExecDestroy(entrant->graph);
    entrant->graph = NULL;
}

/* The entrant's launches as a graph; false if it cannot be captured. */
static bool capture(struct race *race, struct bench_entrant *entrant)
{
    const struct lk_driver *cuda = race->cuda;
    CUstream stream = race->session->stream;
    CUgraph graph = NULL;
    if (!cuda->cuStreamBeginCapture_v2 || !cuda->cuStreamEndCapture || !cuda->cuGraphLaunch ||
        !cuda->cuGraphInstantiateWithFlags || !cuda->cuGraphExecDestroy || !cuda->cuGraphDestroy)
        return false;
    if (cuda->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS)
        return false;
    bool launched = true;
    race->next_copy = 0;
    for (unsigned i = 0; i < entrant->launches && launched; i++)
        launched = launch_next(race, entrant);
    CUresult status = cuda->cuStreamEndCapture(stream, &graph);
    if (status == CUDA_SUCCESS && graph && launched)
        status = cuda->cuGraphInstantiateWithFlags(&entrant->graph, graph, 0);
    if (graph)
        cuda->cuGraphDestroy(graph);
    if (!launched) { /* outside of a capture it works: it was verified */
        free(entrant->entry->message);
        entrant->entry->message = NULL;
        entrant->entry->state = BENCH_MEASURED;
    }
    if (status != CUDA_SUCCESS || !launched)
        entrant->graph = NULL;
    /* The first launch of a graph brings it to the GPU. */
    return entrant->graph && cuda->cuGraphLaunch(entrant->graph, stream) == CUDA_SUCCESS &&
           cuda->cuStreamSynchronize(stream) == CUDA_SUCCESS;
}

static void set_launches(struct race *race, struct bench_entrant *entrant)
{
    double wanted = SAMPLE_SECONDS / (entrant->estimate > 1e-7 ? entrant->estimate : 1e-7);
    entrant->launches = race->method == BENCH_SINGLE ? 1
                        : wanted > MOST_LAUNCHES     ? MOST_LAUNCHES
                        : wanted < 1                 ? 1
                                                     : (unsigned)wanted;
}

/* Graphs for all entrants, or queues for all. */
static void capture_all(struct race *race)
{
    for (size_t i = 0; i < race->count; i++) {
        struct bench_entrant *entrant = &race->entrants[i];
        if (!takes_part(entrant) || entrant->python || capture(race, entrant))
            continue;
        bench_remark(race->result, "%s cannot be captured in a graph: all are timed in queues",
                     entrant->entry->name);
        race->method = BENCH_QUEUE;
        for (size_t k = 0; k < race->count; k++)
            forget_graph(race, &race->entrants[k]);
        return;
    }
}

static void prepare_python(struct race *race, struct bench_entrant *entrant)
{
    char *why = NULL;
    enum bench_method method = race->method;
    size_t flush = rotates(race, entrant) ? 0 : race->session->flush.bytes;
    if (!bench_torch_prepare(race->session->torch, &method, entrant->launches, flush, &why))
        bench_entrant_fail(entrant, BENCH_SKIPPED, why);
    else if (method != race->method)
        bench_remark(race->result, "%s is timed by %s, as it cannot be captured",
                     entrant->entry->name, bench_method_names[method]);
    entrant->entry->method = method;
}

static void choose_method(struct race *race)
{
    race->method = fastest(race) < SHORT_SECONDS ? BENCH_GRAPH : BENCH_SINGLE;
    for (size_t i = 0; i < race->count; i++)
        set_launches(race, &race->entrants[i]);
    if (race->method == BENCH_GRAPH)
        capture_all(race);
    for (size_t i = 0; i < race->count; i++) {
        race->entrants[i].entry->method = race->method;
        if (takes_part(&race->entrants[i]) && race->entrants[i].python)
            prepare_python(race, &race->entrants[i]);
        race->entrants[i].entry->launches = race->entrants[i].launches;
    }
}

/* Rounds ----------------------------------------------------------------------------------------*/

static bool wants_more(const struct race *race, const struct bench_entrant *entrant)
{
    if (!takes_part(entrant) || entrant->settled)
        return false;
    if (entrant->count >= 1 && entrant->spent > 4 * race->share)
        return false;
    return entrant->count < FEW_SAMPLES || entrant->spent < race->share;
}

static void settle(struct race *race)
{
    for (size_t i = 0; i < race->count; i++) {
        struct bench_entrant *entrant = &race->entrants[i];
        if (!takes_part(entrant) || entrant->settled || entrant->count < LEAST_SAMPLES ||
            (entrant->count < SETTLED_SAMPLES && entrant->spent < SETTLED_SECONDS))
            continue;
        struct bench_summary summary = bench_summarise(entrant->samples, entrant->count);
        entrant->settled = bench_uncertainty(&summary) <= ENOUGH;
    }
}

/* How many rounds fit into a batch. */
static unsigned batch_rounds(const struct race *race)
{
    double round = 0;
    unsigned active = 0;
    for (size_t i = 0; i < race->count; i++)
        if (wants_more(race, &race->entrants[i])) {
            round += race->entrants[i].estimate * race->entrants[i].launches + 20e-6;
            active++;
        }
    double rounds = round > 0 ? BATCH_SECONDS / round : 1, most = active ? PAIRS / active : 1;
    rounds = rounds < most ? rounds : most;
    return rounds < 1 ? 1 : (unsigned)rounds;
}

static void python_turn(struct race *race, struct bench_entrant *entrant, unsigned samples)
{
    double seconds[PAIRS];
    char *why = NULL;
    unsigned mhz = bench_clocks_read(race->session->clocks);
    if (!bench_torch_time(race->session->torch, samples, seconds, &why)) {
        bench_entrant_fail(entrant, BENCH_SKIPPED, why);
        return;
    }
    unsigned after = bench_clocks_read(race->session->clocks);
    mhz = after < mhz ? after : mhz;
    for (unsigned i = 0; i < samples; i++) {
        bench_entrant_add(entrant, seconds[i], mhz);
        entrant->spent += seconds[i] * entrant->launches;
    }
}

/* Several rounds of samples without a wait of the host, then Python's as many. */
static bool run_batch(struct race *race, bool *any, char **message)
{
    unsigned rounds = batch_rounds(race), mhz = bench_clocks_read(race->session->clocks);
    /* Work for the GPU while the host gets ahead of it. */
    for (int i = 0; i < 3; i++)
        empty_l2(race);
    *any = false;
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < race->count; i++) {
            struct bench_entrant *entrant = &race->entrants[i];
            if (!entrant->python && race->used < PAIRS && wants_more(race, entrant))
                *any = put_sample(race, entrant) || *any;
        }
    if (!collect(race, mhz, message))
        return false;
    for (size_t i = 0; i < race->count; i++)
        if (race->entrants[i].python && wants_more(race, &race->entrants[i])) {
            python_turn(race, &race->entrants[i], rounds);
            *any = true;
        }
    return true;
}

static void show_progress(const struct race *race, double elapsed, double seconds)
{
    const struct bench_host *host = &race->session->host;
    size_t settled = 0;
    for (size_t i = 0; i < race->count; i++)
        settled += !wants_more(race, &race->entrants[i]);
    double by_time = elapsed / seconds, by_count = (double)settled / (double)race->count;
    if (host->progress)
        host->progress(host->context, race->result->text, by_time > by_count ? by_time : by_count);
}

/* Samples at a clock far below the highest seen do not describe this GPU. */
static void discard_slow_clocks(struct race *race)
{
    unsigned least = (unsigned)(LOW_CLOCK * race->session->most_mhz);
    for (size_t i = 0; i < race->count; i++) {
        struct bench_entrant *entrant = &race->entrants[i];
        size_t kept = 0;
        for (size_t k = 0; k < entrant->count; k++)
            kept += entrant->clocks[k] >= least;
        if (kept == entrant->count)
            continue;
        if (kept < entrant->count / 2 || kept == 0) {
            bench_remark(race->result,
                         "%s: the clock was below %u MHz in most samples, of at most "
                         "%u MHz: the GPU is held back",
                         entrant->entry->name, least, race->session->most_mhz);
            continue;
        }
        entrant->entry->discarded = entrant->count - kept;
        kept = 0;
        for (size_t k = 0; k < entrant->count; k++)
            if (entrant->clocks[k] >= least)
                entrant->samples[kept++] = entrant->samples[k];
        entrant->count = kept;
    }
}

static bool run_race(struct race *race, double seconds, char **message)
{
    size_t active = 0;
    for (size_t i = 0; i < race->count; i++) {
        if (takes_part(&race->entrants[i]) && !estimate(race, &race->entrants[i], message))
            return false;
        active += takes_part(&race->entrants[i]);
    }
    if (active == 0)
        return true;
    race->share = 2 * seconds / (double)active;
    choose_method(race);
    double start = bench_now(), elapsed = 0;
    for (bool any = true; any && elapsed < seconds; elapsed = bench_now() - start) {
        if (!run_batch(race, &any, message))
            return false;
        settle(race);
        show_progress(race, elapsed, seconds);
    }
    discard_slow_clocks(race);
    return true;
}

bool bench_time(struct bench_session *session, struct bench_entrant *entrants, size_t count,
                const struct bench_slab *slab, double seconds, struct bench_result *result,
                char **message)
{
    struct race *race = lk_alloc_zeroed(sizeof *race);
    *race = (struct race){.session = session,
                          .cuda = session->device.cuda,
                          .entrants = entrants,
                          .count = count,
                          .slab = slab,
                          .result = result};
    CUresult status = CUDA_SUCCESS;
    *message = NULL;
    for (unsigned i = 0; i < PAIRS && status == CUDA_SUCCESS; i++) {
        status = race->cuda->cuEventCreate(&race->pairs[i].begin, 0);
        if (status == CUDA_SUCCESS)
            status = race->cuda->cuEventCreate(&race->pairs[i].end, 0);
    }
    if (status != CUDA_SUCCESS)
        *message = lk_format("events: %s", zoo_error(race->cuda, status));
    bool fine = status == CUDA_SUCCESS && run_race(race, seconds, message);
    for (size_t i = 0; i < count; i++)
        forget_graph(race, &entrants[i]);
    for (unsigned i = 0; i < PAIRS; i++) {
        if (race->pairs[i].begin)
            race->cuda->cuEventDestroy_v2(race->pairs[i].begin);
        if (race->pairs[i].end)
            race->cuda->cuEventDestroy_v2(race->pairs[i].end);
    }
    free(race);
    return fine;
}
