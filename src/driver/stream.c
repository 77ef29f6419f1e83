/*
 * stream.c: streams: handles, waiting, queries, attributes, and the small operations in them.
 */
#include "driver/timeline.h"

#include <string.h>

static uint64_t next_stream_id = 1;

CUstream drv_stream_new(CUcontext context, unsigned flags, int priority)
{
    CUstream stream = drv_new(sizeof *stream, DRV_STREAM);
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = next_stream_id++;
    stream->references = 1;
    stream->next = context->streams;
    context->streams = stream;
    return stream;
}

static void unlink_stream(CUstream stream)
{
    CUstream *link = &stream->context->streams;
    while (*link && *link != stream)
        link = &(*link)->next;
    if (*link)
        *link = stream->next;
}

void drv_stream_release(CUstream stream)
{
    if (--stream->references)
        return;
    unlink_stream(stream);
    drv_delete(stream);
}

void drv_stream_retire(CUstream stream)
{
    struct drv_op *last = stream->last;
    drv_watch_retire(stream);
    stream->last = NULL;
    unlink_stream(stream);
    drv_op_release(last);
}

/* Each thread has one of its own in each context. */
static CUstream per_thread(CUcontext context)
{
    for (CUstream stream = context->streams; stream; stream = stream->next) {
        if (stream->thread == drv_thread_id())
            return stream;
    }
    CUstream stream = drv_stream_new(context, CU_STREAM_DEFAULT, 0);
    stream->thread = drv_thread_id();
    return stream;
}

CUresult drv_stream_find(CUcontext context, CUstream handle, CUstream *stream)
{
    if (handle == NULL)
        *stream = drv_thread.per_thread_default ? per_thread(context) : context->legacy;
    else if (handle == CU_STREAM_LEGACY)
        *stream = context->legacy;
    else if (handle == CU_STREAM_PER_THREAD)
        *stream = per_thread(context);
    else if (!drv_alive(handle, DRV_STREAM) || handle->destroyed)
        return CUDA_ERROR_INVALID_HANDLE;
    else
        *stream = handle;
    return CUDA_SUCCESS;
}

/* A stream that the program made serves also where no context is current. */
CUresult drv_current_of(CUstream handle, CUcontext *context)
{
    CUresult status = drv_current(context);
    if (status != CUDA_ERROR_INVALID_CONTEXT || drv_context_top() || handle == NULL ||
        handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD ||
        !drv_alive(handle, DRV_STREAM) || handle->destroyed)
        return status;
    *context = handle->context;
    return (*context)->error;
}

/* For entry points: the current context and the stream, with the lock held on success. */
static CUresult stream_enter(CUstream handle, CUcontext *context, CUstream *stream)
{
    CUresult status = drv_current_of(handle, context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = drv_stream_find(*context, handle, stream);
    if (status != CUDA_SUCCESS)
        drv_leave_lock();
    return status;
}

CUresult drv_cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!stream || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    *stream = drv_stream_new(context, flags, priority > 0 ? 0 : priority < -5 ? -5 : priority);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuStreamCreate(CUstream *stream, unsigned flags)
{
    return drv_cuStreamCreateWithPriority(stream, flags, 0);
}

/* Returns at once; what is queued still runs. */
CUresult drv_cuStreamDestroy_v2(CUstream stream)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD ||
        !drv_alive(stream, DRV_STREAM) || stream->destroyed)
        return CUDA_ERROR_INVALID_HANDLE;
    drv_enter_lock();
    drv_capture_leave_stream(stream);
    stream->destroyed = true;
    if (drv_stream_idle(stream))
        drv_stream_retire(stream);
    drv_stream_release(stream);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuStreamDestroy(CUstream stream)
{
    return drv_cuStreamDestroy_v2(stream);
}

static CUresult refuse_captured(CUstream stream)
{
    if (!stream->capture)
        return drv_capture_refuses_legacy(stream);
    drv_capture_invalidate(stream->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* The legacy stream is idle when every blocking stream is. */
static bool all_idle(CUstream stream)
{
    if (stream != stream->context->legacy)
        return drv_stream_idle(stream);
    for (CUstream other = stream->context->streams; other; other = other->next) {
        if (!(other->flags & CU_STREAM_NON_BLOCKING) && !drv_stream_idle(other))
            return false;
    }
    return true;
}

CUresult drv_cuStreamSynchronize(CUstream handle)
{
    CUcontext context;
    CUstream stream;
    CUresult status = stream_enter(handle, &context, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    status = refuse_captured(stream);
    if (status == CUDA_SUCCESS) {
        context = stream->context;
        if (!all_idle(stream) && stream == context->legacy) {
            struct drv_work marker = {.kind = DRV_WORK_EMPTY};
            drv_op_release(drv_submit(stream, &marker, NULL, false));
        }
        status = drv_wait_stream(stream);
    }
    drv_leave_lock();
    simt_flush_printf(context->device->machine);
    return status;
}

CUresult drv_cuStreamQuery(CUstream handle)
{
    CUcontext context;
    CUstream stream;
    CUresult status = stream_enter(handle, &context, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    status = refuse_captured(stream);
    if (status == CUDA_SUCCESS)
        status = all_idle(stream) ? stream->context->error : CUDA_ERROR_NOT_READY;
    if (status == CUDA_SUCCESS && stream->last) {
        drv_timeline_waited(context, stream->last);
        drv_watch_synced(stream->last);
    }
    drv_leave_lock();
    return status;
}

/* The calls that read one value of a stream. */
#define GETTER(call, type, value)                                                                  \
    CUresult drv_##call(CUstream handle, type *result)                                             \
    {                                                                                              \
        CUcontext context;                                                                         \
        CUstream stream;                                                                           \
        if (!result)                                                                               \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        CUresult status = stream_enter(handle, &context, &stream);                                 \
        if (status != CUDA_SUCCESS)                                                                \
            return status;                                                                         \
        *result = value;                                                                           \
        drv_leave_lock();                                                                          \
        return CUDA_SUCCESS;                                                                       \
    }
GETTER(cuStreamGetPriority, int, stream->priority)
GETTER(cuStreamGetFlags, unsigned, stream->flags)
GETTER(cuStreamGetId, unsigned long long, stream->id)
GETTER(cuStreamGetCtx, CUcontext, stream->context)
#undef GETTER

CUresult drv_cuStreamGetDevice(CUstream handle, CUdevice *device)
{
    CUcontext context;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = drv_cuStreamGetCtx(handle, &context);
    if (status == CUDA_SUCCESS)
        *device = context->device->ordinal;
    return status;
}

/* Attributes are kept, but have no effect. */
static bool attribute_known(CUstreamAttrID id)
{
    return id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
           id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY || id == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
           id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
           id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

CUresult drv_cuStreamGetAttribute(CUstream handle, CUstreamAttrID id, CUstreamAttrValue *value)
{
    CUcontext context;
    CUstream stream;
    if (!value || !attribute_known(id))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = stream_enter(handle, &context, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    *value = stream->attributes[id];
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value->priority = stream->priority;
    if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY && !value->syncPolicy)
        value->syncPolicy = CU_SYNC_POLICY_AUTO;
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuStreamSetAttribute(CUstream handle, CUstreamAttrID id,
                                  const CUstreamAttrValue *value)
{
    CUcontext context;
    CUstream stream;
    if (!value || !attribute_known(id))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = stream_enter(handle, &context, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    stream->attributes[id] = *value;
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        stream->priority = value->priority;
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuStreamCopyAttributes(CUstream to_handle, CUstream from_handle)
{
    CUcontext context;
    CUstream to, from;
    CUresult status = stream_enter(to_handle, &context, &to);
    if (status != CUDA_SUCCESS)
        return status;
    status = drv_stream_find(context, from_handle, &from);
    if (status == CUDA_SUCCESS)
        memcpy(to->attributes, from->attributes, sizeof to->attributes);
    drv_leave_lock();
    return status;
}

CUresult drv_cuStreamAddCallback(CUstream stream, CUstreamCallback function, void *data,
                                 unsigned flags)
{
    struct drv_work work = {.kind = DRV_WORK_CALLBACK};
    if (!function || flags)
        return CUDA_ERROR_INVALID_VALUE;
    work.callback.function = function;
    work.callback.stream = stream;
    work.callback.data = data;
    return drv_issue_to(stream, &work, false);
}

static CUresult value_op(enum drv_work_kind kind, CUstream stream, CUdeviceptr address,
                         uint64_t value, unsigned flags, bool wide)
{
    struct drv_work work = {.kind = kind};
    size_t size = wide ? 8 : 4;
    if (!address || address % size || !drv_host(address, size))
        return CUDA_ERROR_INVALID_VALUE;
    work.value.address = address;
    work.value.value = value;
    work.value.flags = flags;
    work.value.wide = wide;
    return drv_issue_to(stream, &work, false);
}

CUresult drv_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                    unsigned flags)
{
    return value_op(DRV_WORK_WAIT_VALUE, stream, address, value, flags, false);
}

CUresult drv_cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                    unsigned flags)
{
    return value_op(DRV_WORK_WAIT_VALUE, stream, address, value, flags, true);
}

CUresult drv_cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned flags)
{
    return value_op(DRV_WORK_WRITE_VALUE, stream, address, value, flags, false);
}

CUresult drv_cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                     unsigned flags)
{
    return value_op(DRV_WORK_WRITE_VALUE, stream, address, value, flags, true);
}
