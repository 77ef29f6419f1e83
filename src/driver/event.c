/*
 * event.c: events: a point in a stream, to wait for and to take modelled time between. Once one
 * that takes the time is recorded, launches are counted, so that they last as long as `profile`
 * says.
 */
#include "driver/shared_event.h"
#include "driver/timeline.h"

CUevent drv_event_new(CUcontext context, unsigned flags)
{
    CUevent event = drv_new(sizeof *event, DRV_EVENT);
    event->context = context;
    event->flags = flags;
    drv_list_add(&context->events, event);
    return event;
}

CUresult drv_cuEventCreate(CUevent *event, unsigned flags)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!event || (flags & ~7u))
        return CUDA_ERROR_INVALID_VALUE;
    struct drv_shared_event *shared = NULL;
    if (flags & CU_EVENT_INTERPROCESS) {
        if (!(flags & CU_EVENT_DISABLE_TIMING))
            return CUDA_ERROR_INVALID_VALUE;
        shared = drv_shared_new();
        if (!shared)
            return CUDA_ERROR_OPERATING_SYSTEM;
    }
    drv_enter_lock();
    *event = drv_event_new(context, flags);
    (*event)->shared = shared;
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_event_in_graph(CUevent event)
{
    if (!event->shared)
        return CUDA_SUCCESS;
    drv_remark_once("events that other processes see are not supported in graphs");
    return CUDA_ERROR_NOT_SUPPORTED;
}

void drv_event_recorded(CUevent event)
{
    if (event->is_timing || (event->flags & CU_EVENT_DISABLE_TIMING))
        return;
    event->is_timing = true;
    event->context->device->timing_events++;
}

static void event_free(CUevent event)
{
    if (event->is_timing)
        event->context->device->timing_events--;
    drv_capture_leave_event(event);
    drv_op_release(event->op);
    drv_shared_release(event->shared);
    drv_delete(event);
}

CUresult drv_cuEventDestroy_v2(CUevent event)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!drv_alive(event, DRV_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    drv_enter_lock();
    drv_list_remove(&event->context->events, event);
    event_free(event);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuEventDestroy(CUevent event)
{
    return drv_cuEventDestroy_v2(event);
}

void drv_events_forget(CUcontext context)
{
    for (size_t i = 0; i < context->events.count; i++)
        event_free(context->events.items[i]);
    drv_list_free(&context->events);
}

/* Finds the stream and takes the lock, unless it fails. */
static CUresult enter(CUevent event, CUstream handle, bool flags_known, CUstream *stream)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!drv_alive(event, DRV_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!flags_known)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = drv_stream_find(context, handle, stream);
    if (status != CUDA_SUCCESS)
        drv_leave_lock();
    return status;
}

CUresult drv_cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned flags)
{
    CUstream stream;
    struct drv_work work = {.kind = DRV_WORK_RECORD, .event = event};
    CUresult status = enter(event, handle, flags <= CU_EVENT_RECORD_EXTERNAL, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (stream->context != event->context)
        status = CUDA_ERROR_INVALID_HANDLE;
    if (status == CUDA_SUCCESS)
        status = drv_capture_refuses_legacy(stream);
    if (status == CUDA_SUCCESS && stream->capture && flags & CU_EVENT_RECORD_EXTERNAL)
        status = drv_event_in_graph(event);
    if (status == CUDA_SUCCESS && stream->capture) {
        status = flags & CU_EVENT_RECORD_EXTERNAL ? drv_capture_add(stream, &work, NULL)
                                                  : drv_capture_record(stream, event);
    } else if (status == CUDA_SUCCESS) {
        drv_event_recorded(event);
        if (event->shared)
            work = drv_shared_record(event->shared);
        struct drv_op *op = drv_submit(stream, &work, NULL, true);
        drv_capture_leave_event(event);
        drv_op_release(event->op);
        event->op = op;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuEventRecord(CUevent event, CUstream stream)
{
    return drv_cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult drv_cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags)
{
    CUstream stream;
    bool handled = false;
    struct drv_work work = {.kind = DRV_WORK_WAIT, .event = event};
    CUresult status = enter(event, handle, flags <= CU_EVENT_WAIT_EXTERNAL, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    status = drv_capture_refuses_legacy(stream);
    if (status == CUDA_SUCCESS && stream->capture && flags == CU_EVENT_WAIT_EXTERNAL)
        status = drv_event_in_graph(event);
    if (status == CUDA_SUCCESS && stream->capture && flags == CU_EVENT_WAIT_EXTERNAL)
        status = drv_capture_add(stream, &work, NULL), handled = true;
    else if (status == CUDA_SUCCESS)
        status = drv_capture_wait(stream, event, &handled);
    bool waits = event->op != NULL;
    if (status == CUDA_SUCCESS && !handled && event->shared) {
        work = drv_shared_wait(event->shared);
        waits = true;
    }
    if (status == CUDA_SUCCESS && !handled && waits)
        drv_op_release(drv_submit(stream, &work, event->op, true));
    drv_leave_lock();
    return status;
}

/* Lock held on success. */
static CUresult event_enter(CUevent event)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!drv_alive(event, DRV_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    drv_enter_lock();
    if (event->capture) {
        CUresult refused =
            event->capture->ended ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_CAPTURED_EVENT;
        drv_capture_invalidate(event->capture);
        drv_leave_lock();
        return refused;
    }
    return CUDA_SUCCESS;
}

CUresult drv_cuEventQuery(CUevent event)
{
    CUresult status = event_enter(event);
    if (status != CUDA_SUCCESS)
        return status;
    if ((event->op && event->op->state != DRV_OP_DONE) ||
        (event->shared && !drv_shared_done(event->shared)))
        status = CUDA_ERROR_NOT_READY;
    else if (event->op)
        drv_timeline_waited(event->context, event->op);
    if (status == CUDA_SUCCESS && event->op)
        drv_watch_synced(event->op);
    if (status == CUDA_SUCCESS)
        status = event->context->error;
    drv_leave_lock();
    return status;
}

CUresult drv_cuEventSynchronize(CUevent event)
{
    CUresult status = event_enter(event);
    if (status != CUDA_SUCCESS)
        return status;
    CUcontext context = event->context;
    if (event->op)
        status = drv_wait(context, event->op);
    struct drv_work wait = {0};
    if (status == CUDA_SUCCESS && drv_alive(event, DRV_EVENT) && event->shared)
        wait = drv_shared_wait(event->shared);
    if (wait.kind) {
        drv_leave_lock();
        drv_shared_run(&wait);
        drv_enter_lock();
        drv_work_clear(&wait);
    }
    drv_leave_lock();
    simt_flush_printf(context->device->machine);
    return status;
}

static bool measures(CUevent event)
{
    return event->op && !(event->flags & CU_EVENT_DISABLE_TIMING);
}

CUresult drv_cuEventElapsedTime_v2(float *milliseconds, CUevent begin, CUevent end)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!drv_alive(begin, DRV_EVENT) || !drv_alive(end, DRV_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!milliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    if (begin->capture || end->capture)
        status = CUDA_ERROR_CAPTURED_EVENT;
    else if (!measures(begin) || !measures(end))
        status = CUDA_ERROR_INVALID_HANDLE;
    else if (begin->op->state != DRV_OP_DONE || end->op->state != DRV_OP_DONE)
        status = CUDA_ERROR_NOT_READY;
    else
        *milliseconds = (float)((end->op->clock - begin->op->clock) * 1e3);
    drv_leave_lock();
    return status;
}

CUresult drv_cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end)
{
    return drv_cuEventElapsedTime_v2(milliseconds, begin, end);
}
