/*
 * timing.h: how the programs of this folder launch their kernels, for comparing counters and
 * modelled time with a GPU's (`make gpu-counters`).
 *   PROGRAM            runs each kernel once: under ncu, or under `lockstep profile`
 *   PROGRAM time       times each one on this GPU between events: its label, the median of 21 in
 *                      microseconds with a cold L2, and of 21 one after the other
 */
#ifndef LOCKSTEP_TESTS_COUNTERS_TIMING_H
#define LOCKSTEP_TESTS_COUNTERS_TIMING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH = 256 << 20, REPEATS = 21 };

static bool timing;
static char *flush_memory;

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

template <typename T> static T *memory(size_t count)
{
    T *at;
    check(cudaMalloc(&at, count * sizeof(T)), "memory");
    check(cudaMemset(at, 0, count * sizeof(T)), "memory");
    return at;
}

static void begin(int argc, char **argv)
{
    timing = argc > 1 && strcmp(argv[1], "time") == 0;
    if (timing)
        flush_memory = memory<char>(FLUSH);
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median microseconds of a launch. */
template <typename Launch> static float time_of(const char *label, bool cold, Launch launch)
{
    float times[REPEATS];
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int r = 0; r < REPEATS; r++) {
        if (cold)
            cudaMemsetAsync(flush_memory, r, FLUSH);
        cudaEventRecord(from);
        launch();
        cudaEventRecord(to);
        check(cudaEventSynchronize(to), label);
        cudaEventElapsedTime(&times[r], from, to);
    }
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    qsort(times, REPEATS, sizeof(float), by_size);
    return times[REPEATS / 2] * 1000;
}

template <typename Launch> static void measure(const char *label, Launch launch)
{
    if (timing) {
        float cold = time_of(label, true, launch), warm = time_of(label, false, launch);
        printf("%s\t%.2f\t%.2f\n", label, cold, warm);
    } else {
        launch();
        check(cudaDeviceSynchronize(), label);
        printf("%s\n", label);
    }
    check(cudaGetLastError(), label);
    fflush(stdout);
}

#define LAUNCH(label, ...) measure(label, [&] { __VA_ARGS__; })

#endif
