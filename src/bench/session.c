/*
 * session.c: a device that is ready to be measured: its stream, clock, and the bandwidth of a copy.
 */
#include "bench/contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_method_names[] = {[BENCH_SINGLE] = "single launches",
                                          [BENCH_GRAPH] = "graphs of launches",
                                          [BENCH_QUEUE] = "queues of launches",
                                          [BENCH_MODEL] = "modelled",
                                          [BENCH_CLOCK] = "the CPU's clock"};

/* The table's row for what the device calls itself: "NVIDIA H200", "Tesla T4". The longest name
 * that it contains, or that contains it. */
static const struct gpu_info *find_info(const char *name)
{
    const struct gpu_info *best = NULL;
    for (unsigned i = 0; i < gpu_info_count; i++) {
        const struct gpu_info *info = &gpu_infos[i];
        if (strcmp(info->name, name) == 0)
            return info;
        if (strstr(name, info->name) && (!best || strlen(info->name) > strlen(best->name)))
            best = info;
    }
    return best;
}

/* Median of a few copies of 1 GiB, or less where memory is small; reads and writes count. */
static double measure_copy(struct bench_session *session)
{
    enum { TIMES = 21 };
    const struct lk_driver *cuda = session->device.cuda;
    size_t bytes = (size_t)1 << 30;
    while (bytes > session->device.memory_bytes / 8)
        bytes /= 2;
    CUdeviceptr from = 0, to = 0;
    CUevent events[TIMES + 1] = {0};
    double seconds[TIMES], rate = 0;
    CUresult status = cuda->cuMemAlloc_v2(&from, bytes);
    if (status == CUDA_SUCCESS)
        status = cuda->cuMemAlloc_v2(&to, bytes);
    if (status == CUDA_SUCCESS)
        status = cuda->cuMemsetD8Async(from, 1, bytes, session->stream);
    for (int i = 0; i <= TIMES && status == CUDA_SUCCESS; i++)
        status = cuda->cuEventCreate(&events[i], 0);
    for (int i = 0; i < 3 && status == CUDA_SUCCESS; i++)
        status = cuda->cuMemcpyDtoDAsync_v2(to, from, bytes, session->stream);
    for (int i = 0; i <= TIMES && status == CUDA_SUCCESS; i++) {
        status = cuda->cuEventRecord(events[i], session->stream);
        if (status == CUDA_SUCCESS && i < TIMES)
            status = cuda->cuMemcpyDtoDAsync_v2(to, from, bytes, session->stream);
    }
    if (status == CUDA_SUCCESS)
        status = cuda->cuStreamSynchronize(session->stream);
    for (int i = 0; i < TIMES && status == CUDA_SUCCESS; i++) {
        float ms = 0;
        status = cuda->cuEventElapsedTime(&ms, events[i], events[i + 1]);
        seconds[i] = ms * 1e-3;
    }
    if (status == CUDA_SUCCESS)
        rate = 2 * (double)bytes / bench_summarise(seconds, TIMES).median / 1e9;
    for (int i = 0; i <= TIMES; i++)
        if (events[i])
            cuda->cuEventDestroy_v2(events[i]);
    if (from)
        cuda->cuMemFree_v2(from);
    if (to)
        cuda->cuMemFree_v2(to);
    return rate;
}

static void describe(struct bench_session *session, const char *gpu)
{
    struct bench_place *place = &session->place;
    const struct lk_driver *cuda = session->device.cuda;
    int version = 0;
    place->gpu = strdup(gpu);
    snprintf(place->name, sizeof place->name, "%s", session->device.name);
    place->modelled = cuda->simulated;
    if (cuda->simulated) {
        place->info = gpu_find(gpu + strlen("sim:"));
        snprintf(place->driver, sizeof place->driver, "simulated");
        return;
    }
    place->info = find_info(place->name);
    cuda->cuDriverGetVersion(&version);
    const char *driver = bench_clocks_driver(session->clocks);
    snprintf(place->driver, sizeof place->driver, "CUDA %d.%d%s%.60s", version / 1000,
             version % 1000 / 10, *driver ? ", " : "", driver);
}

/* The stream, what empties the L2, the clock; the measured roof needs all of them. Tests go the way
 * of a real GPU on a simulated one, with an L2 that is quickly emptied. */
static bool get_ready(struct bench_session *session, char **message)
{
    const struct lk_driver *cuda = session->device.cuda;
    CUresult status = cuda->cuStreamCreate(&session->stream, CU_STREAM_NON_BLOCKING);
    session->timed = !cuda->simulated || getenv("LOCKSTEP_BENCH_TIMED");
    session->l2_bytes = cuda->simulated ? (size_t)1 << 16 : (size_t)session->device.l2_bytes;
    if (status == CUDA_SUCCESS && session->timed)
        status = zoo_flush_open(&session->flush, &session->device, 2 * session->l2_bytes);
    if (status != CUDA_SUCCESS) {
        *message =
            lk_format("%s cannot be measured: %s", session->device.name, zoo_error(cuda, status));
        return false;
    }
    session->clocks = bench_clocks_open(&session->device);
    return true;
}

struct bench_session *bench_open(const char *gpu, const struct bench_host *host, char **message)
{
    struct bench_session *session = lk_alloc_zeroed(sizeof *session);
    session->host = *host;
    *message = NULL;
    if (strcmp(gpu, "cpu") == 0) {
        session->place = (struct bench_place){.gpu = strdup(gpu), .copy_gb_s = bench_cpu_copy()};
        snprintf(session->place.name, sizeof session->place.name, "CPU");
        return session;
    }
    if (!zoo_device_open(gpu, &session->device, message) || !get_ready(session, message)) {
        if (!*message)
            *message = lk_format("%s did not open", gpu);
        bench_close(session);
        return NULL;
    }
    zoo_table_read(&session->table, &session->device);
    describe(session, gpu);
    if (!session->device.cuda->simulated)
        session->place.copy_gb_s = measure_copy(session);
    return session;
}

void bench_close(struct bench_session *session)
{
    if (!session)
        return;
    zoo_table_free(&session->table);
    bench_torch_stop(session->torch);
    bench_clocks_close(session->clocks);
    if (session->device.cuda)
        zoo_flush_close(&session->flush, &session->device);
    if (session->device.cuda && session->stream)
        session->device.cuda->cuStreamDestroy_v2(session->stream);
    for (unsigned i = 0; i < session->loaded_count; i++)
        free(session->loaded[i].message);
    free(session->no_torch);
    free((char *)session->place.gpu);
    free(session);
}

const struct bench_place *bench_place(const struct bench_session *session)
{
    return &session->place;
}

bool bench_is_dead(const struct bench_session *session)
{
    return session->dead;
}
