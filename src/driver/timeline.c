/*
 * timeline.c: the host's side of modelled time, and the timeline of the whole program for
 * `lockstep profile`: a line of the counters' file for each operation when it has run, and for each
 * call that waited. src/report/timeline_read.c reads them; times are microseconds.
 * The first OPERATIONS_MAX are written; what comes after them is added up.
 */
#include "driver/timeline.h"

#include "base/buf.h"
#include "driver/listened.h"
#include "watch/counters.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPERATIONS_MAX = 20000, MORE_EVERY = 10000 };

/* What a call keeps the host, in seconds: an H200 beside a Xeon. No longer than what it starts
 * takes on the device by itself, so that one stream never waits for the host. A record takes none:
 * the time between two of them has a launch in it already. */
#define LAUNCH_SECONDS 2.0e-6
#define COPY_SECONDS 1.5e-6
#define GRAPH_SECONDS 2.5e-6

static double call_seconds(const struct drv_work *work)
{
    switch (work->kind) {
    case DRV_WORK_KERNEL:
    case DRV_WORK_LIBRARY:
    case DRV_WORK_HOST:
    case DRV_WORK_CALLBACK:
        return LAUNCH_SECONDS;
    case DRV_WORK_COPY:
    case DRV_WORK_FILL:
        return COPY_SECONDS;
    case DRV_WORK_GRAPH:
        return GRAPH_SECONDS;
    default:
        return 0;
    }
}

void drv_timeline_asked(struct drv_op *op)
{
    CUcontext context = op->stream->context;
    op->call = drv_thread.call;
    op->asked = context->host_clock;
    context->host_clock += call_seconds(&op->work);
    op->issued = context->host_clock;
    drv_activity_asked(op);
}

/* Lines ---------------------------------------------------------------------------------------- */

/* What is beyond the limit, by device. */
static struct more {
    uint64_t operations, kernels, copies;
    double kernel_seconds, copy_seconds, until;
} more[DRV_DEVICES_MAX];
static unsigned written;

static bool is_shown(const struct drv_work *work)
{
    return work->kind != DRV_WORK_EMPTY && work->kind != DRV_WORK_ALLOC &&
           work->kind != DRV_WORK_FREE && work->kind != DRV_WORK_CHILD &&
           work->kind != DRV_WORK_CONDITIONAL;
}

static const char *kind_word(const struct drv_work *work)
{
    static const char *const words[] = {[DRV_WORK_KERNEL] = "kernel",
                                        [DRV_WORK_COPY] = "copy",
                                        [DRV_WORK_FILL] = "memset",
                                        [DRV_WORK_HOST] = "host function",
                                        [DRV_WORK_CALLBACK] = "host function",
                                        [DRV_WORK_LIBRARY] = "library call",
                                        [DRV_WORK_RECORD] = "event",
                                        [DRV_WORK_WAIT] = "event wait",
                                        [DRV_WORK_SHARED_RECORD] = "event",
                                        [DRV_WORK_SHARED_WAIT] = "event wait",
                                        [DRV_WORK_WAIT_VALUE] = "value wait",
                                        [DRV_WORK_WRITE_VALUE] = "value",
                                        [DRV_WORK_GRAPH] = "graph"};
    return words[work->kind];
}

/* The entry point's name without its version. */
static void put_call(struct lk_buf *out, const char *call)
{
    if (!call)
        return;
    size_t length = strlen(call);
    if (length > 3 && strcmp(call + length - 3, "_v2") == 0)
        length -= 3;
    lk_buf_printf(out, ",\"call\":\"%.*s\"", (int)length, call);
}

static void put_work(struct lk_buf *out, const struct drv_work *work)
{
    const struct drv_kernel_work *kernel = &work->kernel;
    const struct drv_copy_work *copy = &work->copy;
    switch (work->kind) {
    case DRV_WORK_KERNEL:
        lk_buf_printf(out, ",\"name\":");
        lk_buf_json(out, kernel->function->info->name);
        lk_buf_printf(out, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", kernel->grid[0],
                      kernel->grid[1], kernel->grid[2], kernel->block[0], kernel->block[1],
                      kernel->block[2]);
        break;
    case DRV_WORK_LIBRARY:
        lk_buf_printf(out, ",\"name\":");
        lk_buf_json(out, work->library.name);
        break;
    case DRV_WORK_COPY:
        lk_buf_printf(out, ",\"way\":\"%s\",\"bytes\":%zu",
                      copy->to_device ? copy->from_device ? "inside" : "to" : "from",
                      copy->width * copy->height * copy->depth);
        break;
    case DRV_WORK_FILL:
        lk_buf_printf(out, ",\"bytes\":%zu",
                      work->fill.width * work->fill.element * work->fill.height);
        break;
    default:
        break;
    }
}

static void begin_line(struct lk_buf *out, const struct drv_device *device, const char *kind)
{
    lk_buf_printf(out, "{\"timeline\":\"%s\",\"process\":%ld,\"device\":%d,\"gpu\":\"%s\"", kind,
                  (long)getpid(), device->ordinal, device->gpu->id);
}

static void put_more(const struct drv_device *device)
{
    struct lk_buf out = {0};
    const struct more *sum = &more[device->ordinal];
    begin_line(&out, device, "more");
    lk_buf_printf(&out,
                  ",\"operations\":%llu,\"kernels\":%llu,\"copies\":%llu,\"kernel_time\":%.4f,"
                  "\"copy_time\":%.4f,\"end\":%.4f}\n",
                  (unsigned long long)sum->operations, (unsigned long long)sum->kernels,
                  (unsigned long long)sum->copies, sum->kernel_seconds * 1e6,
                  sum->copy_seconds * 1e6, sum->until * 1e6);
    counters_append(out.data, out.size);
    lk_buf_free(&out);
}

/* Is there room for one more line? Else it is added up. Lock held. */
static bool has_room(const struct drv_device *device, const struct drv_work *work, double end)
{
    if (written < OPERATIONS_MAX) {
        written++;
        return true;
    }
    struct more *sum = &more[device->ordinal];
    double seconds = end - drv_thread.began;
    if (work && (work->kind == DRV_WORK_KERNEL || work->kind == DRV_WORK_LIBRARY))
        sum->kernels++, sum->kernel_seconds += seconds;
    else if (work && work->kind == DRV_WORK_COPY)
        sum->copies++, sum->copy_seconds += seconds;
    sum->until = sum->until > end ? sum->until : end;
    if (sum->operations++ % MORE_EVERY == 0)
        put_more(device);
    return false;
}

static void put_ran(const struct drv_device *device, const struct drv_op *op,
                    const struct drv_work *work, double end)
{
    drv_enter_lock();
    bool fits = has_room(device, work, end);
    drv_leave_lock();
    if (!fits)
        return;
    struct lk_buf out = {0};
    begin_line(&out, device, kind_word(work));
    put_call(&out, op->call);
    lk_buf_printf(&out,
                  ",\"stream\":%llu,\"asked\":%.4f,\"issued\":%.4f,\"begin\":%.4f,\"end\":%.4f",
                  (unsigned long long)op->stream->id, op->asked * 1e6, op->issued * 1e6,
                  drv_thread.began * 1e6, end * 1e6);
    if (op->work.kind == DRV_WORK_GRAPH)
        lk_buf_printf(&out, ",\"graph\":%llu", (unsigned long long)op->sequence + 1);
    put_work(&out, work);
    lk_buf_printf(&out, "}\n");
    counters_append(out.data, out.size);
    lk_buf_free(&out);
}

void drv_timeline_begins(struct drv_op *op)
{
    drv_thread.began = op->clock;
    drv_thread.op = op;
}

bool drv_timeline_in_graph(void)
{
    return drv_thread.op && drv_thread.op->work.kind == DRV_WORK_GRAPH;
}

void drv_timeline_ran(const struct drv_op *op)
{
    const struct drv_device *device = op->stream->context->device;
    drv_thread.op = NULL;
    drv_activity_ran(op, &op->work, op->clock);
    if (!device->profiles || !is_shown(&op->work))
        return;
    if (op->work.kind == DRV_WORK_GRAPH) /* its nodes have changed it */
        drv_thread.began = drv_thread.graph_began;
    put_ran(device, op, &op->work, op->clock);
}

void drv_timeline_node(CUcontext context, const struct drv_work *work, double end)
{
    if (drv_thread.op)
        drv_activity_ran(drv_thread.op, work, end);
    if (context->device->profiles && drv_thread.op && is_shown(work))
        put_ran(context->device, drv_thread.op, work, end);
}

void drv_timeline_waited(CUcontext context, const struct drv_op *op)
{
    const struct drv_device *device = context->device;
    double from = context->host_clock;
    if (from >= op->clock || drv_thread.settles)
        return;
    context->host_clock = op->clock;
    drv_thread.began = from;
    if (!device->profiles || !has_room(device, NULL, op->clock))
        return;
    struct lk_buf out = {0};
    begin_line(&out, device, "wait");
    put_call(&out, drv_thread.call);
    lk_buf_printf(&out, ",\"stream\":%llu,\"begin\":%.4f,\"end\":%.4f}\n",
                  (unsigned long long)op->stream->id, from * 1e6, op->clock * 1e6);
    counters_append(out.data, out.size);
    lk_buf_free(&out);
}

void drv_timeline_end(void)
{
    for (int i = 0; i < drv_device_count; i++)
        if (more[i].operations)
            put_more(&drv_devices[i]);
}
