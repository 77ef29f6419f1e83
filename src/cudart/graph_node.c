/*
 * graph_node.c: nodes of graphs, except copies (graph_copy.c): kernels, fills, host functions,
 * child graphs, events, allocations. The runtime differs from the driver in two ways here: it names
 * a kernel by its host address, and it has no contexts.
 */
#include "cudart/cudart.h"

#include <stdint.h>

/* Any kind ------------------------------------------------------------------------------------- */

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
                                     cudaGraph_t clonedGraph)
{
    return CUDART_CALL(cuGraphNodeFindInClone(pNode, originalNode, clonedGraph));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, CUgraphNodeType *pType)
{
    return CUDART_CALL(cuGraphNodeGetType(node, pType));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    return CUDART_CALL(cuGraphDestroyNode(node));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                    unsigned isEnabled)
{
    return CUDART_CALL(cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                    unsigned *isEnabled)
{
    return CUDART_CALL(cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                  const cudaGraphNode_t *pDependencies, size_t numDependencies)
{
    return CUDART_CALL(cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies));
}

/* Kernels -------------------------------------------------------------------------------------- */

static cudart_code kernel_params(const cudaKernelNodeParams *params,
                                 CUDA_KERNEL_NODE_PARAMS *driver)
{
    if (!params)
        return cudaErrorInvalidValue;
    *driver = (CUDA_KERNEL_NODE_PARAMS){.gridDimX = params->gridDim.x,
                                        .gridDimY = params->gridDim.y,
                                        .gridDimZ = params->gridDim.z,
                                        .blockDimX = params->blockDim.x,
                                        .blockDimY = params->blockDim.y,
                                        .blockDimZ = params->blockDim.z,
                                        .sharedMemBytes = params->sharedMemBytes,
                                        .kernelParams = params->kernelParams,
                                        .extra = params->extra};
    return cudart_resolve(params->func, &driver->func);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    cudart_code error = cudart_enter() ?: kernel_params(pNodeParams, &driver);
    return cudart_finish(error
                             ?: (cudart_code)cuGraphAddKernelNode_v2(
                                    pGraphNode, graph, pDependencies, numDependencies, &driver));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    if (!pNodeParams)
        return cudart_finish(cudaErrorInvalidValue);
    cudart_code error = cudart_enter() ?: (cudart_code)cuGraphKernelNodeGetParams_v2(node, &driver);
    if (error)
        return cudart_finish(error);
    const void *host = cudart_host_of(driver.kern, driver.func);
    *pNodeParams =
        (cudaKernelNodeParams){.func = host          ? (void *)host
                                       : driver.kern ? (void *)driver.kern
                                                     : (void *)driver.func,
                               .gridDim = {driver.gridDimX, driver.gridDimY, driver.gridDimZ},
                               .blockDim = {driver.blockDimX, driver.blockDimY, driver.blockDimZ},
                               .sharedMemBytes = driver.sharedMemBytes,
                               .kernelParams = driver.kernelParams,
                               .extra = driver.extra};
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    cudart_code error = cudart_enter() ?: kernel_params(pNodeParams, &driver);
    return cudart_finish(error ?: (cudart_code)cuGraphKernelNodeSetParams_v2(node, &driver));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    cudart_code error = cudart_enter() ?: kernel_params(pNodeParams, &driver);
    return cudart_finish(
        error ?: (cudart_code)cuGraphExecKernelNodeSetParams_v2(hGraphExec, node, &driver));
}

/* CUDA 12 declares these two parameters the other way round. */
#if CUDART_VERSION_MAJOR == 12
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hSrc, cudaGraphNode_t hDst)
#else
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc)
#endif
{
    return CUDART_CALL(cuGraphKernelNodeCopyAttributes(hDst, hSrc));
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, CUlaunchAttributeID attr,
                                            cudaLaunchAttributeValue *value_out)
{
    return CUDART_CALL(cuGraphKernelNodeGetAttribute(hNode, attr, value_out));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, CUlaunchAttributeID attr,
                                            const cudaLaunchAttributeValue *value)
{
    return CUDART_CALL(cuGraphKernelNodeSetAttribute(hNode, attr, value));
}

/* Fills ---------------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const cudaMemsetParams *pMemsetParams)
{
    return CUDART_CALL(cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies,
                                            pMemsetParams, cudart_current_context()));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *pNodeParams)
{
    return CUDART_CALL(cuGraphMemsetNodeGetParams(node, pNodeParams));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *pNodeParams)
{
    return CUDART_CALL(cuGraphMemsetNodeSetParams(node, pNodeParams));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaMemsetParams *pNodeParams)
{
    return CUDART_CALL(
        cuGraphExecMemsetNodeSetParams(hGraphExec, node, pNodeParams, cudart_current_context()));
}

/* Host functions ------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                 const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                 const cudaHostNodeParams *pNodeParams)
{
    return CUDART_CALL(
        cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies, pNodeParams));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams *pNodeParams)
{
    return CUDART_CALL(cuGraphHostNodeGetParams(node, pNodeParams));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *pNodeParams)
{
    return CUDART_CALL(cuGraphHostNodeSetParams(node, pNodeParams));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                           const cudaHostNodeParams *pNodeParams)
{
    return CUDART_CALL(cuGraphExecHostNodeSetParams(hGraphExec, node, pNodeParams));
}

/* Child graphs --------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                       cudaGraph_t childGraph)
{
    return CUDART_CALL(
        cuGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies, childGraph));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph)
{
    return CUDART_CALL(cuGraphChildGraphNodeGetGraph(node, pGraph));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                 cudaGraph_t childGraph)
{
    return CUDART_CALL(cuGraphExecChildGraphNodeSetParams(hGraphExec, node, childGraph));
}

/* Events --------------------------------------------------------------------------------------- */

#define EVENT_NODE_CALLS(kind)                                                                     \
    cudaError_t cudaGraphAdd##kind##Node(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,           \
                                         const cudaGraphNode_t *pDependencies,                     \
                                         size_t numDependencies, cudaEvent_t event)                \
    {                                                                                              \
        return CUDART_CALL(                                                                        \
            cuGraphAdd##kind##Node(pGraphNode, graph, pDependencies, numDependencies, event));     \
    }                                                                                              \
    cudaError_t cudaGraph##kind##NodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)        \
    {                                                                                              \
        return CUDART_CALL(cuGraph##kind##NodeGetEvent(node, event_out));                          \
    }                                                                                              \
    cudaError_t cudaGraph##kind##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)             \
    {                                                                                              \
        return CUDART_CALL(cuGraph##kind##NodeSetEvent(node, event));                              \
    }                                                                                              \
    cudaError_t cudaGraphExec##kind##NodeSetEvent(cudaGraphExec_t hGraphExec,                      \
                                                  cudaGraphNode_t hNode, cudaEvent_t event)        \
    {                                                                                              \
        return CUDART_CALL(cuGraphExec##kind##NodeSetEvent(hGraphExec, hNode, event));             \
    }
EVENT_NODE_CALLS(EventRecord)
EVENT_NODE_CALLS(EventWait)
#undef EVENT_NODE_CALLS

/* Allocations ---------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     cudaMemAllocNodeParams *nodeParams)
{
    return CUDART_CALL(
        cuGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies, nodeParams));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams *params_out)
{
    return CUDART_CALL(cuGraphMemAllocNodeGetParams(node, params_out));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                    void *dptr)
{
    return CUDART_CALL(cuGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies,
                                             (CUdeviceptr)(uintptr_t)dptr));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out)
{
    return CUDART_CALL(cuGraphMemFreeNodeGetParams(node, dptr_out));
}

/* One call for every kind ---------------------------------------------------------------------- */

static cudart_code node_params(const cudaGraphNodeParams *params, CUgraphNodeParams *driver)
{
    if (!params)
        return cudaErrorInvalidValue;
    *driver = (CUgraphNodeParams){.type = params->type};
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        CUDA_KERNEL_NODE_PARAMS kernel;
        cudart_code error = kernel_params(&params->kernel, &kernel);
        if (error)
            return error;
        driver->kernel = (CUDA_KERNEL_NODE_PARAMS_v3){kernel.func,
                                                      kernel.gridDimX,
                                                      kernel.gridDimY,
                                                      kernel.gridDimZ,
                                                      kernel.blockDimX,
                                                      kernel.blockDimY,
                                                      kernel.blockDimZ,
                                                      kernel.sharedMemBytes,
                                                      kernel.kernelParams,
                                                      kernel.extra,
                                                      NULL,
                                                      cudart_current_context()};
        return 0;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        driver->memcpy.flags = params->memcpy.flags;
        driver->memcpy.copyCtx = cudart_current_context();
        return cudart_copy_3d_params(&params->memcpy.copyParams, &driver->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        driver->memset = (CUDA_MEMSET_NODE_PARAMS_v2){
            params->memset.dst,         params->memset.pitch, params->memset.value,
            params->memset.elementSize, params->memset.width, params->memset.height,
            cudart_current_context()};
        return 0;
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        for (size_t i = 0; i < sizeof params->reserved1 / sizeof params->reserved1[0]; i++)
            driver->reserved1[i] = params->reserved1[i];
        return 0;
    default:
        return cudart_unsupported("this kind of graph node");
    }
}

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph,
                            const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
                            size_t count, cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver;
    cudart_code error = cudart_enter() ?: node_params(params, &driver);
    if (!error)
        error = cuGraphAddNode_v2(node, graph, dependencies, edges, count, &driver);
    if (!error && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        params->alloc.dptr = driver.alloc.dptr;
    if (!error && params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        params->conditional.phGraph_out = driver.conditional.phGraph_out;
    return cudart_finish(error);
}

cudaError_t cudaGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, cudaGraph_t graph,
                                             unsigned initial, unsigned flags)
{
    return CUDART_CALL(
        cuGraphConditionalHandleCreate(handle, graph, cudart_current_context(), initial, flags));
}

#if CUDART_VERSION_MAJOR > 12
cudaError_t cudaGraphConditionalHandleCreate_v2(CUgraphConditionalHandle *handle, cudaGraph_t graph,
                                                const void *context, unsigned initial,
                                                unsigned flags)
{
    if (context) /* of cudaExecutionCtx..., which is not there either */
        return cudart_unsupported(__func__);
    return cudaGraphConditionalHandleCreate(handle, graph, initial, flags);
}
#endif

#if CUDART_VERSION_MAJOR == 12
cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t *pDependencies, size_t numDependencies,
                             cudaGraphNodeParams *nodeParams)
{
    return add_node(pGraphNode, graph, pDependencies, NULL, numDependencies, nodeParams);
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                const cudaGraphNode_t *pDependencies,
                                const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                cudaGraphNodeParams *nodeParams)
{
    return add_node(pGraphNode, graph, pDependencies, dependencyData, numDependencies, nodeParams);
}
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t *pDependencies,
                             const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                             cudaGraphNodeParams *nodeParams)
{
    return add_node(pGraphNode, graph, pDependencies, dependencyData, numDependencies, nodeParams);
}
#endif

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams driver;
    cudart_code error = cudart_enter() ?: node_params(nodeParams, &driver);
    return cudart_finish(error ?: (cudart_code)cuGraphNodeSetParams(node, &driver));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams driver;
    cudart_code error = cudart_enter() ?: node_params(nodeParams, &driver);
    return cudart_finish(error ?: (cudart_code)cuGraphExecNodeSetParams(graphExec, node, &driver));
}
