/*
 * capture.c: stream capture: what a stream is asked to do becomes nodes of a graph. A stream joins
 * a capture by waiting for an event recorded in it, and must be joined back before the end.
 * Calls that could wait for captured work are refused, and break the capture, as on a GPU.
 */
#include "driver/listened.h"
#include "driver/state.h"

#include "base/arena.h"

#include <stdlib.h>

static struct drv_list captures; /* those under way */
static uint64_t next_capture_id = 1;

static void capture_release(struct drv_capture *capture)
{
    if (--capture->references)
        return;
    drv_list_free(&capture->streams);
    drv_list_free(&capture->loose);
    free(capture);
}

void drv_capture_invalidate(struct drv_capture *capture)
{
    if (capture->status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

void drv_capture_leave_event(CUevent event)
{
    if (event->capture)
        capture_release(event->capture);
    event->capture = NULL;
    drv_list_free(&event->capture_nodes);
}

void drv_capture_leave_stream(CUstream stream)
{
    struct drv_capture *capture = stream->capture;
    if (!capture)
        return;
    for (size_t i = 0; i < stream->capture_nodes.count && capture->origin != stream; i++)
        drv_list_add(&capture->loose, stream->capture_nodes.items[i]);
    stream->capture = NULL;
    drv_list_free(&stream->capture_nodes);
    free(stream->capture_edges);
    stream->capture_edges = NULL;
    drv_list_remove(&capture->streams, stream);
    if (capture->origin == stream) { /* it ends, or can no longer be ended */
        capture->ended = true;
        drv_capture_invalidate(capture);
        drv_list_remove(&captures, capture);
        while (capture->streams.count)
            drv_capture_leave_stream(capture->streams.items[0]);
    }
    capture_release(capture);
}

static void join_nodes(struct drv_list *nodes, const struct drv_list *more)
{
    for (size_t i = 0; i < more->count; i++) {
        if (!drv_list_has(nodes, more->items[i]))
            drv_list_add(nodes, more->items[i]);
    }
}

static void join_stream(CUstream stream, struct drv_capture *capture)
{
    stream->capture = capture;
    capture->references++;
    drv_list_add(&capture->streams, stream);
}

CUresult drv_capture_add(CUstream stream, struct drv_work *work, CUgraphNode *result)
{
    struct drv_capture *capture = stream->capture;
    CUgraphNode node;
    if (capture->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (work->kind == DRV_WORK_EMPTY)
        return CUDA_SUCCESS;
    if (work->kind == DRV_WORK_CALLBACK) {
        drv_capture_invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    CUresult status =
        drv_graph_add(capture->graph, work, (CUgraphNode *)stream->capture_nodes.items,
                      stream->capture_nodes.count, &node);
    if (status != CUDA_SUCCESS) {
        drv_capture_invalidate(capture);
        return status;
    }
    stream->capture_nodes.count = 0;
    drv_list_add(&stream->capture_nodes, node);
    if (result)
        *result = node;
    return CUDA_SUCCESS;
}

CUresult drv_capture_record(CUstream stream, CUevent event)
{
    if (stream->capture->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    drv_capture_leave_event(event);
    drv_op_release(event->op);
    event->op = NULL;
    event->capture = stream->capture;
    event->capture->references++;
    join_nodes(&event->capture_nodes, &stream->capture_nodes);
    return CUDA_SUCCESS;
}

CUresult drv_capture_wait(CUstream stream, CUevent event, bool *handled)
{
    struct drv_capture *capture = event->capture;
    *handled = capture || stream->capture;
    if (!*handled)
        return CUDA_SUCCESS;
    if (stream->capture && stream->capture->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (capture && capture->ended)
        return CUDA_ERROR_INVALID_VALUE;
    if (!capture) { /* captured work may not wait for work outside */
        drv_capture_invalidate(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (capture->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_ERROR_CAPTURED_EVENT;
    if (!stream->capture) {
        if (stream == stream->context->legacy) {
            drv_capture_invalidate(capture);
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
        join_stream(stream, capture);
    } else if (stream->capture != capture) {
        drv_capture_invalidate(stream->capture);
        drv_capture_invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    join_nodes(&stream->capture_nodes, &event->capture_nodes);
    return CUDA_SUCCESS;
}

CUresult drv_capture_refuses_legacy(CUstream stream)
{
    if (!captures.count || stream != stream->context->legacy)
        return CUDA_SUCCESS;
    for (CUstream other = stream->context->streams; other; other = other->next) {
        if (other->capture && !(other->flags & CU_STREAM_NON_BLOCKING)) {
            drv_capture_invalidate(other->capture);
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    }
    return CUDA_SUCCESS;
}

/* Does this capture refuse calls that could wait, made by this thread? */
static bool forbids(const struct drv_capture *capture)
{
    if (drv_thread.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == drv_thread_id())
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           drv_thread.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

bool drv_capture_forbids(void)
{
    bool found = false;
    if (!__atomic_load_n(&captures.count, __ATOMIC_RELAXED))
        return false;
    drv_enter_lock();
    for (size_t i = 0; i < captures.count; i++)
        found = found || forbids(captures.items[i]);
    drv_leave_lock();
    return found;
}

void drv_capture_break(void)
{
    drv_enter_lock();
    for (size_t i = 0; i < captures.count; i++) {
        if (forbids(captures.items[i]))
            drv_capture_invalidate(captures.items[i]);
    }
    drv_leave_lock();
}

CUresult drv_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode old = drv_thread.capture_mode;
    drv_thread.capture_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

/* Begin and end -------------------------------------------------------------------------------- */

static CUresult capture_begin(CUstream handle, CUgraph graph, const CUgraphNode *nodes,
                              size_t count, CUstreamCaptureMode mode)
{
    CUcontext context;
    CUstream stream;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = drv_stream_find(context, handle, &stream);
    if (status == CUDA_SUCCESS && stream == stream->context->legacy)
        status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    else if (status == CUDA_SUCCESS && stream->capture)
        status = CUDA_ERROR_ILLEGAL_STATE;
    if (status == CUDA_SUCCESS) {
        struct drv_capture *capture = lk_alloc_zeroed(sizeof *capture);
        capture->own_graph = !graph;
        capture->graph = graph ? graph : drv_graph_new();
        capture->origin = stream;
        capture->mode = mode;
        capture->status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
        capture->id = next_capture_id++;
        capture->thread = drv_thread_id();
        join_stream(stream, capture);
        for (size_t i = 0; i < count; i++)
            drv_list_add(&stream->capture_nodes, nodes[i]);
        drv_list_add(&captures, capture);
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    const struct {
        CUstream stream;
        CUstreamCaptureMode mode;
    } given = {stream, mode};
    struct lk_activity_call call;
    drv_call_begins(&call, "cuStreamBeginCapture", &given);
    return drv_call_ends(&call, capture_begin(stream, NULL, NULL, 0, mode));
}

CUresult drv_cuStreamBeginCapture(CUstream stream)
{
    return capture_begin(stream, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult drv_cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                                         const CUgraphEdgeData *edges, size_t count,
                                         CUstreamCaptureMode mode)
{
    if (!drv_alive(graph, DRV_GRAPH) || (count && !nodes))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (!drv_alive(nodes[i], DRV_NODE) || nodes[i]->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return capture_begin(stream, graph, nodes, count, mode);
}

static void mark_before(CUgraphNode node)
{
    if (node->mark)
        return;
    node->mark = 1;
    for (size_t i = 0; i < node->before.count; i++)
        mark_before(node->before.items[i]);
}

/* Work of other streams that the origin does not wait for. */
static bool unjoined(struct drv_capture *capture)
{
    for (size_t i = 0; i < capture->graph->nodes.count; i++)
        ((CUgraphNode)capture->graph->nodes.items[i])->mark = 0;
    for (size_t i = 0; i < capture->origin->capture_nodes.count; i++)
        mark_before(capture->origin->capture_nodes.items[i]);
    for (size_t i = 0; i < capture->streams.count; i++) {
        CUstream stream = capture->streams.items[i];
        for (size_t k = 0; k < stream->capture_nodes.count; k++) {
            if (!((CUgraphNode)stream->capture_nodes.items[k])->mark)
                return true;
        }
    }
    for (size_t i = 0; i < capture->loose.count; i++) {
        if (!((CUgraphNode)capture->loose.items[i])->mark)
            return true;
    }
    return false;
}

static CUresult capture_end(CUstream handle, CUgraph *graph)
{
    CUcontext context;
    CUstream stream;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = drv_stream_find(context, handle, &stream);
    struct drv_capture *capture = status == CUDA_SUCCESS ? stream->capture : NULL;
    if (status == CUDA_SUCCESS && !graph && (!capture || capture->own_graph))
        status = CUDA_ERROR_INVALID_VALUE; /* a graph of the caller's need not be handed back */
    else if (status == CUDA_SUCCESS && !capture)
        status = CUDA_ERROR_ILLEGAL_STATE;
    else if (status == CUDA_SUCCESS && capture->origin != stream)
        status = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    else if (status == CUDA_SUCCESS && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
             capture->thread != drv_thread_id())
        status = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (status != CUDA_SUCCESS) {
        if (status == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)
            drv_capture_invalidate(capture);
        drv_leave_lock();
        return status;
    }
    if (capture->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (unjoined(capture))
        status = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    CUgraph made = capture->graph;
    bool own = capture->own_graph;
    drv_capture_leave_stream(stream);
    if (graph)
        *graph = status == CUDA_SUCCESS ? made : NULL;
    if (status != CUDA_SUCCESS && own)
        drv_graph_free(made);
    drv_leave_lock();
    drv_graph_flush_users();
    return status;
}

CUresult drv_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    const struct {
        CUstream stream;
        CUgraph *graph;
    } given = {stream, graph};
    struct lk_activity_call call;
    drv_call_begins(&call, "cuStreamEndCapture", &given);
    return drv_call_ends(&call, capture_end(stream, graph));
}

/* Asking about a capture ----------------------------------------------------------------------- */

CUresult drv_cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *state,
                                       cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                                       const CUgraphEdgeData **edges, size_t *count)
{
    CUcontext context;
    CUstream stream;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = drv_stream_find(context, handle, &stream);
    if (status == CUDA_SUCCESS)
        status = drv_capture_refuses_legacy(stream);
    if (status == CUDA_SUCCESS) {
        struct drv_capture *capture = stream->capture;
        *state = capture ? capture->status : CU_STREAM_CAPTURE_STATUS_NONE;
        bool active = *state == CU_STREAM_CAPTURE_STATUS_ACTIVE;
        if (id && active)
            *id = capture->id;
        if (graph && active)
            *graph = capture->graph;
        if (nodes && active)
            *nodes = (const CUgraphNode *)stream->capture_nodes.items;
        if (edges && active) { /* never NULL: cuda-python reads one for each node */
            free(stream->capture_edges);
            stream->capture_edges =
                lk_alloc_zeroed((stream->capture_nodes.count + 1) * sizeof **edges);
            *edges = stream->capture_edges;
        }
        if (count && active)
            *count = stream->capture_nodes.count;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *state,
                                       cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                                       size_t *count)
{
    return drv_cuStreamGetCaptureInfo_v3(stream, state, id, graph, nodes, NULL, count);
}

CUresult drv_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *state, cuuint64_t *id)
{
    return drv_cuStreamGetCaptureInfo_v3(stream, state, id, NULL, NULL, NULL, NULL);
}

CUresult drv_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *state)
{
    return drv_cuStreamGetCaptureInfo_v3(stream, state, NULL, NULL, NULL, NULL, NULL);
}

CUresult drv_cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *nodes,
                                                  const CUgraphEdgeData *edges, size_t count,
                                                  unsigned flags)
{
    CUcontext context;
    CUstream stream;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (count && !nodes))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = drv_stream_find(context, handle, &stream);
    if (status == CUDA_SUCCESS && !stream->capture)
        status = CUDA_ERROR_ILLEGAL_STATE;
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++) {
        if (!drv_alive(nodes[i], DRV_NODE) || nodes[i]->graph != stream->capture->graph)
            status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
            stream->capture_nodes.count = 0;
        join_nodes(&stream->capture_nodes, &(struct drv_list){(void **)nodes, count, count});
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t count,
                                               unsigned flags)
{
    return drv_cuStreamUpdateCaptureDependencies_v2(stream, nodes, NULL, count, flags);
}
