/*
 * stream.c: streams and events, and capture of a stream into a graph.
 */
#include "cudart/cudart.h"

#include <stdint.h>

cudaError_t cudaStreamCreate(cudaStream_t *pStream)
{
    return CUDART_CALL(cuStreamCreate(pStream, CU_STREAM_DEFAULT));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned flags)
{
    return CUDART_CALL(cuStreamCreate(pStream, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned flags, int priority)
{
    return CUDART_CALL(cuStreamCreateWithPriority(pStream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    /* The default streams cannot be destroyed. */
    if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        return cudart_finish(cudaErrorInvalidResourceHandle);
    return CUDART_CALL(cuStreamDestroy_v2(stream));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    return CUDART_CALL(cuStreamGetPriority(stream, priority));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    return CUDART_CALL(cuStreamGetFlags(stream, flags));
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *streamId)
{
    return CUDART_CALL(cuStreamGetId(stream, streamId));
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    return CUDART_CALL(cuStreamGetDevice(stream, device));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t stream)
{
    return CUDART_CALL(cuStreamCopyAttributes(dst, stream));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, CUlaunchAttributeID attr,
                                   cudaLaunchAttributeValue *value_out)
{
    return CUDART_CALL(cuStreamGetAttribute(stream, attr, value_out));
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, CUlaunchAttributeID attr,
                                   const cudaLaunchAttributeValue *value)
{
    return CUDART_CALL(cuStreamSetAttribute(stream, attr, value));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return CUDART_CALL(cuStreamWaitEvent(stream, event, flags));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return CUDART_CALL(cuStreamSynchronize(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return CUDART_CALL(cuStreamQuery(stream));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                     unsigned flags)
{
    return CUDART_CALL(
        cuStreamAttachMemAsync(stream, (CUdeviceptr)(uintptr_t)devPtr, length, flags));
}

/* Events --------------------------------------------------------------------------------------- */

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return CUDART_CALL(cuEventCreate(event, CU_EVENT_DEFAULT));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return CUDART_CALL(cuEventCreate(event, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return CUDART_CALL(cuEventRecord(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    return CUDART_CALL(cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return CUDART_CALL(cuEventQuery(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return CUDART_CALL(cuEventSynchronize(event));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return CUDART_CALL(cuEventDestroy_v2(event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    if (!ms)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(cuEventElapsedTime_v2(ms, start, end));
}

#if CUDART_VERSION_MAJOR == 12
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return cudaEventElapsedTime(ms, start, end);
}
#endif

/* Capture -------------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, CUstreamCaptureMode mode)
{
    return CUDART_CALL(cuStreamBeginCapture_v2(stream, mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *dependencyData,
                                          size_t numDependencies, CUstreamCaptureMode mode)
{
    return CUDART_CALL(cuStreamBeginCaptureToGraph(stream, graph, dependencies, dependencyData,
                                                   numDependencies, mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    return CUDART_CALL(cuStreamEndCapture(stream, pGraph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, CUstreamCaptureStatus *pCaptureStatus)
{
    return CUDART_CALL(cuStreamIsCapturing(stream, pCaptureStatus));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    return CUDART_CALL(cuThreadExchangeStreamCaptureMode(mode));
}

#if CUDART_VERSION_MAJOR == 12
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, CUstreamCaptureStatus *status,
                                     cuuint64_t *id_out)
{
    return CUDART_CALL(cuStreamGetCaptureInfo_v3(stream, status, id_out, NULL, NULL, NULL, NULL));
}

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, CUstreamCaptureStatus *status,
                                        cuuint64_t *id_out, cudaGraph_t *graph_out,
                                        const cudaGraphNode_t **dependencies_out,
                                        size_t *numDependencies_out)
{
    return CUDART_CALL(cuStreamGetCaptureInfo_v3(stream, status, id_out, graph_out,
                                                 dependencies_out, NULL, numDependencies_out));
}

cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, CUstreamCaptureStatus *status,
                                        cuuint64_t *id_out, cudaGraph_t *graph_out,
                                        const cudaGraphNode_t **dependencies_out,
                                        const cudaGraphEdgeData **edgeData_out,
                                        size_t *numDependencies_out)
{
    return CUDART_CALL(cuStreamGetCaptureInfo_v3(
        stream, status, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out));
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                size_t numDependencies, unsigned flags)
{
    return CUDART_CALL(
        cuStreamUpdateCaptureDependencies_v2(stream, dependencies, NULL, numDependencies, flags));
}

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream,
                                                   cudaGraphNode_t *dependencies,
                                                   const cudaGraphEdgeData *dependencyData,
                                                   size_t numDependencies, unsigned flags)
{
    return CUDART_CALL(cuStreamUpdateCaptureDependencies_v2(stream, dependencies, dependencyData,
                                                            numDependencies, flags));
}
#else
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, CUstreamCaptureStatus *status,
                                     cuuint64_t *id_out, cudaGraph_t *graph_out,
                                     const cudaGraphNode_t **dependencies_out,
                                     const cudaGraphEdgeData **edgeData_out,
                                     size_t *numDependencies_out)
{
    return CUDART_CALL(cuStreamGetCaptureInfo_v3(
        stream, status, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out));
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *dependencyData,
                                                size_t numDependencies, unsigned flags)
{
    return CUDART_CALL(cuStreamUpdateCaptureDependencies_v2(stream, dependencies, dependencyData,
                                                            numDependencies, flags));
}
#endif
