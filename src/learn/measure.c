/*
 * measure.c: how long a learner's kernel takes on a real GPU. A sample is a row of launches between
 * two events, long enough for the events to be exact; the median of several is reported. Buffers
 * are warm: the measured sizes of exercises fit in the L2.
 */
#include "learn/problem.h"

#include "bench/stats.h"

enum { WARM_UP = 3, SAMPLES = 21, MOST_LAUNCHES = 100 };
#define SAMPLE_MS 0.4f

/* Launches in a row would each begin with what the one before has left. */
static bool changes_inputs(const struct zoo_instance *instance)
{
    for (unsigned i = 0; i < instance->count; i++)
        if (instance->buffer[i].role == ZOO_IN_OUT)
            return true;
    return false;
}

static CUresult sample(const struct problem_timed *timed, CUevent begin, CUevent end,
                       unsigned launches, float *ms)
{
    const struct lk_driver *cuda = timed->run->call.device->cuda;
    CUresult status = zoo_run_reset(timed->run);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventRecord(begin, NULL);
    for (unsigned i = 0; i < launches && status == CUDA_SUCCESS; i++)
        status = problem_start(cuda, timed->function, timed->launch);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventRecord(end, NULL);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventSynchronize(end);
    return status == CUDA_SUCCESS ? cuda->cuEventElapsedTime(ms, begin, end) : status;
}

CUresult problem_measure(const struct problem_timed *timed, double *us)
{
    const struct lk_driver *cuda = timed->run->call.device->cuda;
    CUevent begin = NULL, end = NULL;
    double samples[SAMPLES];
    unsigned launches = 1;
    float ms = 0;
    CUresult status = cuda->cuEventCreate(&begin, CU_EVENT_DEFAULT);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventCreate(&end, CU_EVENT_DEFAULT);
    for (int i = 0; i < WARM_UP && status == CUDA_SUCCESS; i++)
        status = sample(timed, begin, end, 1, &ms);
    if (!changes_inputs(timed->run->instance))
        while (launches < MOST_LAUNCHES && ms * (float)launches < SAMPLE_MS)
            launches++;
    for (int i = 0; i < SAMPLES && status == CUDA_SUCCESS; i++) {
        status = sample(timed, begin, end, launches, &ms);
        samples[i] = (double)ms * 1e3 / launches;
    }
    if (status == CUDA_SUCCESS)
        *us = bench_summarise(samples, SAMPLES).median;
    if (begin)
        cuda->cuEventDestroy_v2(begin);
    if (end)
        cuda->cuEventDestroy_v2(end);
    return status;
}
