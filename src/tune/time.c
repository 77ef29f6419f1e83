/*
 * time.c: how long one launch takes. A small loop of its own, enough to order configurations; what
 * is published is measured by src/bench.
 *
 * Long kernels are timed one by one, with the L2 emptied before each; short ones in a row, so that
 * the events' own time does not count, and then with whatever the L2 keeps.
 */
#include "tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHORT_SECONDS 20e-6
#define SAMPLE_SECONDS 300e-6 /* that many short launches make one sample */
enum { LEAST_SAMPLES = 5, MOST_SAMPLES = 101, MOST_LAUNCHES = 64 };

struct clock {
    struct zoo_run *run;
    const struct lk_driver *cuda;
    CUevent begin, end;
    CUdeviceptr flush; /* 0: nothing is emptied */
    size_t flush_bytes;
    CUresult status;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds of one of so many launches; negative if something failed. */
static double sample(struct clock *clock, unsigned launches)
{
    const struct lk_driver *cuda = clock->cuda;
    struct zoo_call *call = &clock->run->call;
    float milliseconds = 0;
    if (clock->flush)
        clock->status = cuda->cuMemsetD8Async(clock->flush, 0, clock->flush_bytes, call->stream);
    if (clock->status == CUDA_SUCCESS)
        clock->status = cuda->cuEventRecord(clock->begin, call->stream);
    for (unsigned i = 0; i < launches && clock->status == CUDA_SUCCESS; i++)
        clock->status = clock->run->variant->launch(call);
    if (clock->status == CUDA_SUCCESS)
        clock->status = cuda->cuEventRecord(clock->end, call->stream);
    if (clock->status == CUDA_SUCCESS)
        clock->status = cuda->cuEventSynchronize(clock->end);
    if (clock->status == CUDA_SUCCESS)
        clock->status = cuda->cuEventElapsedTime(&milliseconds, clock->begin, clock->end);
    return clock->status == CUDA_SUCCESS ? milliseconds * 1e-3 / launches : -1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median of as many samples as the budget has room for. */
static double measure(struct clock *clock, double budget)
{
    double samples[MOST_SAMPLES], start = now();
    sample(clock, 1); /* warm-up: code, clocks, page tables */
    double first = sample(clock, 1);
    if (first < 0)
        return -1;
    unsigned launches = 1, count = 0;
    if (first < SHORT_SECONDS) {
        launches = (unsigned)(SAMPLE_SECONDS / (first > 1e-6 ? first : 1e-6));
        launches = launches > MOST_LAUNCHES ? MOST_LAUNCHES : launches;
    }
    while (count < MOST_SAMPLES && (count < LEAST_SAMPLES || now() - start < budget)) {
        samples[count] = sample(clock, launches);
        if (samples[count++] < 0)
            return -1;
        if (count >= 1 && now() - start > 10 * budget + 1)
            break;
    }
    qsort(samples, count, sizeof *samples, compare);
    return samples[count / 2];
}

bool tune_time(struct zoo_run *run, double budget, double *seconds, char **message)
{
    const struct zoo_device *device = run->call.device;
    struct clock clock = {.run = run, .cuda = device->cuda};
    *message = NULL;
    clock.status = device->cuda->cuEventCreate(&clock.begin, 0);
    if (clock.status == CUDA_SUCCESS)
        clock.status = device->cuda->cuEventCreate(&clock.end, 0);
    if (device->cuda->simulated) {
        *seconds = clock.status == CUDA_SUCCESS ? sample(&clock, 1) : -1;
    } else if (clock.status == CUDA_SUCCESS) {
        clock.flush_bytes = 2 * (size_t)device->l2_bytes;
        if (device->cuda->cuMemAlloc_v2(&clock.flush, clock.flush_bytes) != CUDA_SUCCESS)
            clock.flush = 0;
        *seconds = measure(&clock, budget);
    }
    if (clock.flush)
        device->cuda->cuMemFree_v2(clock.flush);
    if (clock.begin)
        device->cuda->cuEventDestroy_v2(clock.begin);
    if (clock.end)
        device->cuda->cuEventDestroy_v2(clock.end);
    if (clock.status == CUDA_SUCCESS)
        return true;
    struct lk_buf text = {0};
    lk_buf_printf(&text, "timing failed: %s", zoo_error(device->cuda, clock.status));
    *message = text.data;
    return false;
}
