/*
 * queue.c: the order of work on a device, and the threads that do it.
 * An operation waits for the one before it in its stream, for the events its stream waited for,
 * and for what the legacy default stream orders. What waits for nothing is ready; executor threads
 * take ready operations in order of submission. A thread that waits for a stream runs that stream's
 * operations itself, so that a small program pays for no hand-over between threads. It runs no
 * other stream's: that kernel may wait for something this thread does later.
 */
#include "base/arena.h"
#include "driver/array.h"
#include "driver/listened.h"
#include "driver/state.h"
#include "driver/timeline.h"
#include "simt/memory_events.h"

#include <stdlib.h>
#include <time.h>

static void *executor(void *argument);

struct drv_op *drv_op_retain(struct drv_op *op)
{
    op->references++;
    return op;
}

void drv_op_release(struct drv_op *op)
{
    if (!op || --op->references)
        return;
    drv_list_free(&op->dependents);
    drv_work_clear(&op->work);
    simt_event_op_release(op->stream->context->device->machine, op->watched);
    drv_stream_release(op->stream);
    free(op);
}

static void ready_insert(struct drv_device *device, struct drv_op *op)
{
    struct drv_op *after = device->ready_last;
    while (after && after->sequence > op->sequence)
        after = after->previous;
    op->state = DRV_OP_READY;
    op->previous = after;
    op->next = after ? after->next : device->ready_first;
    *(op->next ? &op->next->previous : &device->ready_last) = op;
    *(after ? &after->next : &device->ready_first) = op;
}

static void ready_remove(struct drv_device *device, struct drv_op *op)
{
    *(op->previous ? &op->previous->next : &device->ready_first) = op->next;
    *(op->next ? &op->next->previous : &device->ready_last) = op->previous;
    op->previous = op->next = NULL;
}

/* Does anybody look at modelled time? Then work that takes an engine runs one after another, that
 * which begins first in modelled time before the rest: so engines serve it in the order in which a
 * GPU's would, whatever the host's threads do. */
static bool is_timed(const struct drv_device *device)
{
    return (device->profiles || device->timing_events || drv_is_listened()) && !device->in_order;
}

/* Done soon, whatever else runs. */
static bool is_quick(const struct drv_op *op)
{
    return op->work.kind == DRV_WORK_COPY || op->work.kind == DRV_WORK_FILL ||
           op->work.kind == DRV_WORK_FREE;
}

static bool may_run(const struct drv_device *device, const struct drv_op *op)
{
    if (is_timed(device) && is_quick(op))
        return !device->machine_busy && !device->copying;
    if (device->in_order && op->work.kind == DRV_WORK_FREE && device->machine_busy)
        return false;
    if (!drv_work_uses_machine(&op->work))
        return true;
    return !device->machine_busy && !((device->in_order || is_timed(device)) && device->copying);
}

/* The one that begins first in modelled time; NULL too if that is not for the thread. */
static struct drv_op *ready_first(const struct drv_device *device, CUstream only)
{
    struct drv_op *first = NULL;
    for (struct drv_op *op = device->ready_first; op; op = op->next)
        if (may_run(device, op) && (!first || op->clock < first->clock))
            first = op;
    bool is_ours =
        first && (!only || (first->stream == only && !drv_work_calls_host(&first->work)));
    return is_ours ? first : NULL;
}

/* The first ready operation that may run now; of one stream, for a thread that waits for it. */
static struct drv_op *ready_find(const struct drv_device *device, CUstream only)
{
    if (is_timed(device))
        return ready_first(device, only);
    for (struct drv_op *op = device->ready_first; op; op = op->next) {
        bool is_ours = !only || (op->stream == only && !drv_work_calls_host(&op->work));
        if (!is_ours && !device->in_order)
            continue;
        if (may_run(device, op))
            return is_ours ? op : NULL;
    }
    return NULL;
}

static struct drv_op *ready_take(struct drv_device *device, CUstream only)
{
    struct drv_op *op = ready_find(device, only);
    if (op) {
        ready_remove(device, op);
        op->state = DRV_OP_RUNNING;
    }
    return op;
}

/* Wakes an idle executor for the ready list, or starts a new one. */
static void wake_executor(struct drv_device *device)
{
    if (device->idle || device->waiters)
        pthread_cond_broadcast(&device->changed);
    if (device->idle || device->executors == DRV_EXECUTORS_MAX)
        return;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, executor, device) == 0)
        device->executors++;
    pthread_attr_destroy(&attributes);
}

/* after: collects what watchers know it by. */
static void depend(struct drv_op *op, struct drv_op *before, struct drv_list *after)
{
    if (!before)
        return;
    if (before->watched)
        drv_list_add(after, before->watched);
    if (before->state == DRV_OP_DONE && before->clock > op->clock)
        op->clock = before->clock;
    if (before->state == DRV_OP_DONE || drv_list_has(&before->dependents, op))
        return;
    drv_list_add(&before->dependents, drv_op_retain(op));
    op->waits_for++;
}

struct drv_op *drv_submit(CUstream stream, struct drv_work *work, struct drv_op *also_after,
                          bool wake)
{
    CUcontext context = stream->context;
    struct drv_device *device = context->device;
    drv_textures_settle(context);
    struct drv_op *op = lk_alloc_zeroed(sizeof *op);
    op->references = 3; /* the queue's, the stream's, as its last one, and the caller's */
    op->stream = stream;
    stream->references++;
    op->sequence = device->next_sequence++;
    op->clock = context->host_clock;
    op->work = *work;
    drv_timeline_asked(op);
    *work = (struct drv_work){0};
    struct drv_list after = {0};
    depend(op, stream->last, &after);
    depend(op, also_after, &after);
    if (stream == context->legacy) {
        for (CUstream other = context->streams; other; other = other->next) {
            if (other != stream && !(other->flags & CU_STREAM_NON_BLOCKING))
                depend(op, other->last, &after);
        }
        drv_watch_after_retired(context, &after);
    } else if (!(stream->flags & CU_STREAM_NON_BLOCKING)) {
        depend(op, context->legacy->last, &after);
    }
    drv_watch_submit(op, &after);
    drv_list_free(&after);
    drv_op_release(stream->last);
    stream->last = op;
    if (!op->waits_for) {
        ready_insert(device, op);
        if (wake && may_run(device, op))
            wake_executor(device);
    }
    return op;
}

/* The thread that ran op takes one of the operations that become ready by itself (helper: only one
 * of the stream it waits for), so another thread is woken only for the others. */
static void op_done(struct drv_device *device, struct drv_op *op, CUstream helper)
{
    bool mine = false, others = false;
    op->state = DRV_OP_DONE;
    for (size_t i = 0; i < op->dependents.count; i++) {
        struct drv_op *next = op->dependents.items[i];
        if (next->clock < op->clock)
            next->clock = op->clock;
        if (--next->waits_for == 0) {
            struct drv_device *home = next->stream->context->device;
            ready_insert(home, next);
            if (home != device)
                wake_executor(home);
            else if (!mine &&
                     (!helper || (helper == next->stream && !drv_work_calls_host(&next->work))))
                mine = true;
            else
                others = true;
        }
        drv_op_release(next);
    }
    drv_list_free(&op->dependents);
    if (device->waiters)
        pthread_cond_broadcast(&device->changed);
    if (others)
        wake_executor(device);
}

/* Lock held on entry and on return, not while the work runs. */
static void op_run(struct drv_device *device, struct drv_op *op, CUstream helper)
{
    CUcontext context = op->stream->context;
    bool machine = drv_work_uses_machine(&op->work);
    bool quick = is_quick(op);
    if (machine)
        device->machine_busy++;
    device->copying += quick;
    /* One idle executor may have been woken for two operations, and this one may wait for what the
     * other does. */
    if (ready_find(device, NULL))
        wake_executor(device);
    CUresult result = context->error;
    if (result == CUDA_SUCCESS || op->work.kind == DRV_WORK_CALLBACK) {
        drv_leave_lock();
        simt_event_op_begins(device->machine, op->watched);
        if (op->work.kind == DRV_WORK_GRAPH)
            drv_thread.watched = op->watched;
        drv_timeline_begins(op);
        result = drv_work_run(context, &op->work, &op->clock);
        drv_timeline_ran(op);
        drv_thread.watched = NULL;
        simt_event_op_ends(device->machine, op->watched);
        drv_enter_lock();
        if (result != CUDA_SUCCESS)
            drv_device_fault(device, result);
    }
    if (op->work.kind == DRV_WORK_GRAPH) {
        op->work.graph.exec->pending--;
        drv_exec_release(op->work.graph.exec);
        op->work.kind = DRV_WORK_EMPTY;
        drv_leave_lock();
        drv_graph_flush_users(); /* of a graph that was destroyed while it ran */
        drv_enter_lock();
    }
    if (machine)
        device->machine_busy--;
    device->copying -= quick;
    if ((device->in_order || is_timed(device)) && device->ready_first)
        wake_executor(device);
    op_done(device, op, helper);
    if (op->stream->destroyed && op->stream->last == op)
        drv_stream_retire(op->stream);
    drv_op_release(op);
}

void drv_machine_yields(void *context)
{
    struct drv_device *device = context;
    drv_enter_lock();
    device->machine_busy--;
    if (ready_find(device, NULL))
        wake_executor(device);
    drv_leave_lock();
}

void drv_machine_resumes(struct drv_device *device)
{
    drv_enter_lock();
    device->machine_busy++;
    drv_leave_lock();
}

static void *executor(void *argument)
{
    struct drv_device *device = argument;
    drv_enter_lock();
    for (;;) {
        struct drv_op *op = ready_take(device, NULL);
        if (op) {
            op_run(device, op, NULL);
            continue;
        }
        device->idle++;
        pthread_cond_wait(&device->changed, &drv_lock);
        device->idle--;
    }
    return NULL;
}

CUresult drv_wait(CUcontext context, struct drv_op *op)
{
    struct drv_device *device = op->stream->context->device;
    drv_op_retain(op);
    while (op->state != DRV_OP_DONE) {
        struct drv_op *mine = ready_take(device, op->stream);
        if (mine) {
            op_run(device, mine, op->stream);
            continue;
        }
        /* This thread must not run what it waits for. */
        if (device->ready_first)
            wake_executor(device);
        device->waiters++;
        pthread_cond_wait(&device->changed, &drv_lock);
        device->waiters--;
    }
    if (device->ready_first) /* another thread's, for which no executor was woken */
        wake_executor(device);
    drv_timeline_waited(context, op);
    drv_watch_synced(op);
    CUresult error = context->error;
    drv_op_release(op);
    return error;
}

bool drv_stream_idle(CUstream stream)
{
    return !stream->last || stream->last->state == DRV_OP_DONE;
}

CUresult drv_wait_stream(CUstream stream)
{
    CUcontext context = stream->context;
    if (stream->last)
        return drv_wait(context, stream->last);
    return context->error;
}

CUresult drv_wait_context(CUcontext context)
{
    for (bool again = true; again;) {
        again = false;
        for (CUstream stream = context->streams; stream; stream = stream->next) {
            if (drv_stream_idle(stream)) {
                if (stream->last) {
                    drv_timeline_waited(context, stream->last);
                    drv_watch_synced(stream->last);
                }
                continue;
            }
            stream->references++; /* it may be destroyed while we wait */
            drv_wait_stream(stream);
            drv_stream_release(stream);
            again = true; /* the list may have changed */
            break;
        }
    }
    drv_watch_context_synced(context);
    drv_textures_settle(context);
    return context->error;
}

CUresult drv_issue(CUstream stream, struct drv_work *work, bool wait)
{
    CUcontext context = stream->context;
    CUresult status = context->error;
    if (status == CUDA_SUCCESS)
        status = drv_capture_refuses_legacy(stream);
    if (status == CUDA_SUCCESS && stream->capture) {
        status = drv_capture_add(stream, work, NULL);
    } else if (status == CUDA_SUCCESS) {
        struct drv_op *op = drv_submit(stream, work, NULL, !wait);
        if (wait)
            status = drv_wait(context, op);
        drv_op_release(op);
    }
    drv_work_clear(work);
    return status;
}

CUresult drv_issue_to(CUstream handle, struct drv_work *work, bool wait)
{
    CUcontext context;
    CUstream stream;
    CUresult status = drv_current(&context);
    if (status == CUDA_SUCCESS) {
        drv_enter_lock();
        status = drv_stream_find(context, handle, &stream);
        if (status == CUDA_SUCCESS)
            status = drv_issue(stream, work, wait);
        drv_leave_lock();
        if (wait)
            simt_flush_printf(context->device->machine);
    }
    drv_work_clear(work);
    return status;
}
