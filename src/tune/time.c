/*
 * time.c: how long one launch takes. A small loop of its own, enough to order configurations; what
 * is published is measured by src/bench.
 *
 * Long kernels are timed one by one, with the L2 emptied before each; short ones as a graph of many
 * launches, so that neither the events' nor the host's time counts, and then with what the L2 keeps
 * from one to the next. What fills a good part of the L2 counts as long: it would not stay there.
 */
#include "tune/tune.h"

#include "base/clock.h"
#include "zoo/flush.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_SECONDS 20e-6
#define SAMPLE_SECONDS 300e-6 /* short launches fill one sample of this length */
enum { LEAST_SAMPLES = 5, MOST_SAMPLES = 101, MOST_LAUNCHES = 64 };

struct clock {
    struct zoo_run *run;
    const struct lk_driver *cuda;
    CUstream stream;
    CUevent begin, end;
    CUgraphExec graph; /* of launches; NULL: one by one */
    unsigned launches;
    struct zoo_flush flush; /* without memory: nothing is emptied */
    CUresult status;
};

static CUresult launch_all(struct clock *clock)
{
    CUresult status = CUDA_SUCCESS;
    if (clock->graph)
        return clock->cuda->cuGraphLaunch(clock->graph, clock->stream);
    for (unsigned i = 0; i < clock->launches && status == CUDA_SUCCESS; i++)
        status = clock->run->variant->launch(&clock->run->call);
    return status;
}

/* Seconds of one launch among clock->launches; negative if something failed. */
static double sample(struct clock *clock)
{
    const struct lk_driver *cuda = clock->cuda;
    float milliseconds = 0;
    CUresult status = CUDA_SUCCESS;
    if (clock->flush.at)
        status = zoo_flush(&clock->flush, clock->run->call.device, clock->stream);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventRecord(clock->begin, clock->stream);
    if (status == CUDA_SUCCESS)
        status = launch_all(clock);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventRecord(clock->end, clock->stream);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventSynchronize(clock->end);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventElapsedTime(&milliseconds, clock->begin, clock->end);
    clock->status = status;
    return status == CUDA_SUCCESS ? milliseconds * 1e-3 / clock->launches : -1;
}

/* Where it cannot be captured, the launches go in one by one. */
static void capture(struct clock *clock)
{
    const struct lk_driver *cuda = clock->cuda;
    CUgraph graph = NULL;
    if (!cuda->cuStreamBeginCapture_v2 || !cuda->cuGraphInstantiateWithFlags ||
        cuda->cuStreamBeginCapture_v2(clock->stream, CU_STREAM_CAPTURE_MODE_RELAXED) !=
            CUDA_SUCCESS)
        return;
    CUresult launched = launch_all(clock);
    if (cuda->cuStreamEndCapture(clock->stream, &graph) != CUDA_SUCCESS || !graph)
        return;
    if (launched != CUDA_SUCCESS ||
        cuda->cuGraphInstantiateWithFlags(&clock->graph, graph, 0) != CUDA_SUCCESS)
        clock->graph = NULL;
    cuda->cuGraphDestroy(graph);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median of as many samples as the budget has room for. */
static double measure(struct clock *clock, double budget)
{
    double samples[MOST_SAMPLES], start = lk_seconds();
    unsigned count = 0;
    if (sample(clock) < 0) /* warm-up: code, clocks, page tables */
        return -1;
    double first = sample(clock);
    const struct zoo_problem *problem = clock->run->call.problem;
    bool small = problem->family->bytes(problem) < clock->run->call.device->l2_bytes / 4.0;
    if (first >= 0 && first < SHORT_SECONDS && small) {
        double wanted = SAMPLE_SECONDS / (first > 1e-6 ? first : 1e-6);
        clock->launches = wanted > MOST_LAUNCHES ? MOST_LAUNCHES : (unsigned)wanted;
        capture(clock);
        first = sample(clock);
    }
    if (first < 0)
        return -1;
    while (count < MOST_SAMPLES) {
        double spent = lk_seconds() - start;
        if (count >= LEAST_SAMPLES ? spent > budget : count && spent > 10 * budget + 1)
            break;
        samples[count] = sample(clock);
        if (samples[count++] < 0)
            return -1;
    }
    qsort(samples, count, sizeof *samples, compare);
    return samples[count / 2];
}

static bool clock_open(struct clock *clock, const struct zoo_device *device)
{
    const struct lk_driver *cuda = clock->cuda;
    /* The new stream waits for no other: what fills the buffers must be done. */
    clock->status = cuda->cuCtxSynchronize();
    if (clock->status == CUDA_SUCCESS)
        clock->status = cuda->cuStreamCreate(&clock->stream, CU_STREAM_NON_BLOCKING);
    if (clock->status == CUDA_SUCCESS)
        clock->status = cuda->cuEventCreate(&clock->begin, 0);
    if (clock->status == CUDA_SUCCESS)
        clock->status = cuda->cuEventCreate(&clock->end, 0);
    if (clock->status == CUDA_SUCCESS && !cuda->simulated &&
        zoo_flush_open(&clock->flush, device, 2 * (size_t)device->l2_bytes) != CUDA_SUCCESS)
        zoo_flush_close(&clock->flush, device);
    return clock->status == CUDA_SUCCESS;
}

static void clock_close(struct clock *clock)
{
    const struct lk_driver *cuda = clock->cuda;
    if (clock->graph)
        cuda->cuGraphExecDestroy(clock->graph);
    zoo_flush_close(&clock->flush, clock->run->call.device);
    if (clock->begin)
        cuda->cuEventDestroy_v2(clock->begin);
    if (clock->end)
        cuda->cuEventDestroy_v2(clock->end);
    if (clock->stream)
        cuda->cuStreamDestroy_v2(clock->stream);
}

/* A modelled time is the same each time; LOCKSTEP_TUNE_TIMED measures it nevertheless, for tests.
 */
bool tune_time(struct zoo_run *run, double budget, double *seconds, char **message)
{
    const struct zoo_device *device = run->call.device;
    struct clock clock = {.run = run, .cuda = device->cuda, .launches = 1};
    CUstream stream = run->call.stream;
    *message = NULL;
    *seconds = -1;
    if (clock_open(&clock, device)) {
        run->call.stream = clock.stream;
        *seconds = device->cuda->simulated && !getenv("LOCKSTEP_TUNE_TIMED")
                       ? sample(&clock)
                       : measure(&clock, budget);
        run->call.stream = stream;
    }
    clock_close(&clock);
    if (*seconds >= 0)
        return true;
    struct lk_buf text = {0};
    lk_buf_printf(&text, "timing failed: %s", zoo_error(device->cuda, clock.status));
    *message = text.data;
    return false;
}
