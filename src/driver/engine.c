/*
 * engine.c: modelled time: when the device's engines are free, and how long a piece of work keeps
 * one. A copy engine does one copy at a time. Kernels share the SMs: each takes the share that its
 * resident blocks, or the units it keeps busy, need of the whole GPU, and the next one gets what
 * is left, as from a GPU's block scheduler. Work is run in the order in which it becomes ready on
 * the host, not in modelled order, so an engine knows its latest spans and lets work into gaps.
 */
#include "driver/engine.h"

#include <string.h>

#define NOTHING 1e-9 /* shares below this are rounding */

/* The oldest span goes where there is no room: nothing begins before its end from then on. */
static void add_span(struct drv_schedule *schedule, double begin, double end, double share)
{
    struct drv_span *spans = schedule->spans;
    if (end <= begin)
        return;
    if (schedule->count == DRV_SPANS) {
        if (schedule->floor < spans[0].end)
            schedule->floor = spans[0].end;
        memmove(spans, spans + 1, (DRV_SPANS - 1) * sizeof *spans);
        schedule->count--;
    }
    unsigned at = schedule->count++;
    for (; at > 0 && spans[at - 1].end > end; at--)
        spans[at] = spans[at - 1];
    spans[at] = (struct drv_span){begin, end, share};
}

/* What is free at a time, and until when that stays so. */
static double free_share(const struct drv_schedule *schedule, double at, double *until)
{
    double left = 1;
    *until = 1e300;
    if (at < schedule->floor) {
        *until = schedule->floor;
        return 0;
    }
    for (unsigned i = 0; i < schedule->count; i++) {
        const struct drv_span *span = &schedule->spans[i];
        if (span->begin <= at && at < span->end)
            left -= span->share;
        if (span->begin > at && span->begin < *until)
            *until = span->begin;
        if (span->end > at && span->end < *until)
            *until = span->end;
    }
    return left > NOTHING ? left : 0;
}

/* The first gap of this length. */
static double find_gap(const struct drv_schedule *schedule, double seconds, double from)
{
    double begin = from > schedule->floor ? from : schedule->floor;
    double at = begin, until;
    while (at < begin + seconds) {
        if (free_share(schedule, at, &until) < 1)
            begin = until;
        at = until;
    }
    return begin;
}

void drv_model(CUcontext context, enum drv_engine engine, double seconds, double *clock)
{
    double begin = *clock;
    if (engine != DRV_ENGINE_NONE) {
        drv_enter_lock();
        struct drv_schedule *schedule = &context->device->engines[engine];
        begin = find_gap(schedule, seconds, *clock);
        add_span(schedule, begin, begin + seconds, 1);
        drv_leave_lock();
    }
    drv_thread.began = begin;
    *clock = begin + seconds;
}

/* Kernels -------------------------------------------------------------------------------------- */

double drv_kernel_share(const struct gpu_info *gpu, const struct drv_kernel_work *kernel)
{
    const struct simt_kernel_info *info = kernel->function->info;
    uint64_t blocks = (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    struct gpu_occupancy fits =
        gpu_occupancy(gpu, kernel->block[0] * kernel->block[1] * kernel->block[2], info->registers,
                      info->static_shared + kernel->shared);
    double places = (double)gpu->sms * (fits.blocks_per_sm ? fits.blocks_per_sm : 1);
    return (double)blocks < places ? (double)blocks / places : 1;
}

/* Where it has less than it wants it runs as much slower; all: it needs its whole share at once. */
static double usable(double left, double share, bool all)
{
    if (left + NOTHING >= share)
        return share;
    return all ? 0 : left;
}

double drv_model_kernel_start(CUcontext context, double share, bool all, double clock)
{
    double until;
    drv_enter_lock();
    const struct drv_schedule *schedule = &context->device->engines[DRV_ENGINE_COMPUTE];
    while (usable(free_share(schedule, clock, &until), share, all) <= 0)
        clock = until;
    drv_leave_lock();
    return clock;
}

void drv_model_kernel(CUcontext context, double share, bool all, double seconds, double *clock)
{
    struct drv_span pieces[DRV_SPANS];
    unsigned count = 0;
    bool has_begun = false;
    double until;
    drv_enter_lock();
    struct drv_schedule *schedule = &context->device->engines[DRV_ENGINE_COMPUTE];
    drv_thread.began = *clock;
    for (double left = seconds; left > 0; *clock = until) {
        double used = usable(free_share(schedule, *clock, &until), share, all);
        if (used <= 0)
            continue;
        if (!has_begun)
            drv_thread.began = *clock;
        has_begun = true;
        double needed = left * share / used;
        if (until - *clock >= needed || count + 1 == DRV_SPANS)
            until = *clock + needed, left = 0;
        else
            left -= (until - *clock) * used / share;
        pieces[count++] = (struct drv_span){*clock, until, used};
    }
    for (unsigned i = 0; i < count; i++)
        add_span(schedule, pieces[i].begin, pieces[i].end, pieces[i].share);
    drv_leave_lock();
}
