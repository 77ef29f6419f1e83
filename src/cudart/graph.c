/*
 * graph.c: graphs as a whole: making, walking, instantiating, launching, updating. Nodes are in
 * graph_node.c.
 */
#include "cudart/cudart.h"

#include <stdint.h>

cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned flags)
{
    return CUDART_CALL(cuGraphCreate(pGraph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return CUDART_CALL(cuGraphDestroy(graph));
}

cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    return CUDART_CALL(cuGraphClone(pGraphClone, originalGraph));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    return CUDART_CALL(cuGraphDebugDotPrint(graph, path, flags));
}

/* Walking -------------------------------------------------------------------------------------- */

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    return CUDART_CALL(cuGraphGetNodes(graph, nodes, numNodes));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes,
                                  size_t *pNumRootNodes)
{
    return CUDART_CALL(cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes));
}

/* CUDA 12 has these with and, as _v2, without loss of the edges' data; CUDA 13 kept the latter
 * under the plain names. */
#if CUDART_VERSION_MAJOR == 12
#define EDGES(name) name##_v2

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              size_t *numEdges)
{
    return CUDART_CALL(cuGraphGetEdges(graph, from, to, numEdges));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *dependencies,
                                         size_t *count)
{
    return CUDART_CALL(cuGraphNodeGetDependencies(node, dependencies, count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *dependents,
                                           size_t *count)
{
    return CUDART_CALL(cuGraphNodeGetDependentNodes(node, dependents, count));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, size_t count)
{
    return CUDART_CALL(cuGraphAddDependencies_v2(graph, from, to, NULL, count));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, size_t count)
{
    return CUDART_CALL(cuGraphRemoveDependencies_v2(graph, from, to, NULL, count));
}
#else
#define EDGES(name) name
#endif

cudaError_t EDGES(cudaGraphGetEdges)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                     cudaGraphEdgeData *edgeData, size_t *numEdges)
{
    return CUDART_CALL(cuGraphGetEdges_v2(graph, from, to, edgeData, numEdges));
}

cudaError_t EDGES(cudaGraphNodeGetDependencies)(cudaGraphNode_t node, cudaGraphNode_t *dependencies,
                                                cudaGraphEdgeData *edgeData, size_t *count)
{
    return CUDART_CALL(cuGraphNodeGetDependencies_v2(node, dependencies, edgeData, count));
}

cudaError_t EDGES(cudaGraphNodeGetDependentNodes)(cudaGraphNode_t node, cudaGraphNode_t *dependents,
                                                  cudaGraphEdgeData *edgeData, size_t *count)
{
    return CUDART_CALL(cuGraphNodeGetDependentNodes_v2(node, dependents, edgeData, count));
}

cudaError_t EDGES(cudaGraphAddDependencies)(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *edgeData, size_t count)
{
    return CUDART_CALL(cuGraphAddDependencies_v2(graph, from, to, edgeData, count));
}

cudaError_t EDGES(cudaGraphRemoveDependencies)(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to,
                                               const cudaGraphEdgeData *edgeData, size_t count)
{
    return CUDART_CALL(cuGraphRemoveDependencies_v2(graph, from, to, edgeData, count));
}

/* Instances ------------------------------------------------------------------------------------ */

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                 unsigned long long flags)
{
    return CUDART_CALL(cuGraphInstantiateWithFlags(pGraphExec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(pGraphExec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *instantiateParams)
{
    return CUDART_CALL(cuGraphInstantiateWithParams(pGraphExec, graph, instantiateParams));
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams *instantiateParams)
{
    return CUDART_CALL(cuGraphInstantiateWithParams_ptsz(pGraphExec, graph, instantiateParams));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, cuuint64_t *flags)
{
    return CUDART_CALL(cuGraphExecGetFlags(graphExec, flags));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo *resultInfo)
{
    return CUDART_CALL(cuGraphExecUpdate_v2(hGraphExec, hGraph, resultInfo));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    return CUDART_CALL(cuGraphUpload(graphExec, stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    return CUDART_CALL(cuGraphLaunch(graphExec, stream));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    return CUDART_CALL(cuGraphExecDestroy(graphExec));
}

/* Memory that graphs own ----------------------------------------------------------------------- */

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return CUDART_CALL(cuDeviceGraphMemTrim(device));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, CUgraphMem_attribute attr, void *value)
{
    return CUDART_CALL(cuDeviceGetGraphMemAttribute(device, attr, value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, CUgraphMem_attribute attr, void *value)
{
    return CUDART_CALL(cuDeviceSetGraphMemAttribute(device, attr, value));
}

/* User objects --------------------------------------------------------------------------------- */

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy,
                                 unsigned initialRefcount, unsigned flags)
{
    return CUDART_CALL(cuUserObjectCreate(object_out, ptr, destroy, initialRefcount, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
    return CUDART_CALL(cuUserObjectRetain(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
    return CUDART_CALL(cuUserObjectRelease(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags)
{
    return CUDART_CALL(cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
    return CUDART_CALL(cuGraphReleaseUserObject(graph, object, count));
}
