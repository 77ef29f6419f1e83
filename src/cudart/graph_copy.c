/*
 * graph_copy.c: copy nodes: of boxes, of bytes, to and from symbols.
 */
#include "cudart/cudart.h"

#include <stdint.h>

static cudaError_t add_copy(cudaGraphNode_t *node, cudaGraph_t graph,
                            const cudaGraphNode_t *dependencies, size_t count,
                            const cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    cudart_code error = cudart_enter() ?: cudart_copy_3d_params(params, &copy);
    return cudart_finish(error
                             ?: (cudart_code)cuGraphAddMemcpyNode(node, graph, dependencies, count,
                                                                  &copy, cudart_current_context()));
}

static cudaError_t set_copy(cudaGraphNode_t node, const cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    cudart_code error = cudart_enter() ?: cudart_copy_3d_params(params, &copy);
    return cudart_finish(error ?: (cudart_code)cuGraphMemcpyNodeSetParams(node, &copy));
}

static cudaError_t set_exec_copy(cudaGraphExec_t exec, cudaGraphNode_t node,
                                 const cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    cudart_code error = cudart_enter() ?: cudart_copy_3d_params(params, &copy);
    return cudart_finish(error
                             ?: (cudart_code)cuGraphExecMemcpyNodeSetParams(
                                    exec, node, &copy, cudart_current_context()));
}

/* A run of bytes is a box of one row; its pitch does not matter and is read back as 0. */
static cudaMemcpy3DParms bytes(void *target, const void *source, size_t count, cudaMemcpyKind kind)
{
    return (cudaMemcpy3DParms){.srcPtr = {.ptr = (void *)source},
                               .dstPtr = {.ptr = target},
                               .extent = {count, 1, 1},
                               .kind = kind};
}

static cudart_code symbol_place(const void *symbol, size_t count, size_t offset, void **place)
{
    CUdeviceptr address = 0;
    size_t size = 0, end;
    cudart_code error = cudart_enter() ?: cudart_symbol(symbol, &address, &size);
    if (!error && (__builtin_add_overflow(offset, count, &end) || end > size))
        error = cudaErrorInvalidValue;
    *place = (void *)(uintptr_t)(address + offset);
    return error;
}

/* Boxes ---------------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const cudaMemcpy3DParms *pCopyParams)
{
    return add_copy(pGraphNode, graph, pDependencies, numDependencies, pCopyParams);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D copy;
    if (!pNodeParams)
        return cudart_finish(cudaErrorInvalidValue);
    cudaError_t error = CUDART_CALL(cuGraphMemcpyNodeGetParams(node, &copy));
    if (!error)
        cudart_copy_3d_params_back(&copy, pNodeParams);
    return error;
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *pNodeParams)
{
    return set_copy(node, pNodeParams);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms *pNodeParams)
{
    return set_exec_copy(hGraphExec, node, pNodeParams);
}

/* Bytes ---------------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     void *dst, const void *src, size_t count, cudaMemcpyKind kind)
{
    cudaMemcpy3DParms params = bytes(dst, src, count, kind);
    return add_copy(pGraphNode, graph, pDependencies, numDependencies, &params);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                           size_t count, cudaMemcpyKind kind)
{
    cudaMemcpy3DParms params = bytes(dst, src, count, kind);
    return set_copy(node, &params);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                               void *dst, const void *src, size_t count,
                                               cudaMemcpyKind kind)
{
    cudaMemcpy3DParms params = bytes(dst, src, count, kind);
    return set_exec_copy(hGraphExec, node, &params);
}

/* Symbols -------------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t *pDependencies,
                                           size_t numDependencies, const void *symbol,
                                           const void *src, size_t count, size_t offset,
                                           cudaMemcpyKind kind)
{
    void *place;
    cudart_code error = symbol_place(symbol, count, offset, &place);
    if (error)
        return cudart_finish(error);
    return cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies, place, src,
                                    count, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t *pDependencies,
                                             size_t numDependencies, void *dst, const void *symbol,
                                             size_t count, size_t offset, cudaMemcpyKind kind)
{
    void *place;
    cudart_code error = symbol_place(symbol, count, offset, &place);
    if (error)
        return cudart_finish(error);
    return cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies, numDependencies, dst, place,
                                    count, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *src, size_t count, size_t offset,
                                                 cudaMemcpyKind kind)
{
    void *place;
    cudart_code error = symbol_place(symbol, count, offset, &place);
    if (error)
        return cudart_finish(error);
    return cudaGraphMemcpyNodeSetParams1D(node, place, src, count, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
                                                   const void *symbol, size_t count, size_t offset,
                                                   cudaMemcpyKind kind)
{
    void *place;
    cudart_code error = symbol_place(symbol, count, offset, &place);
    if (error)
        return cudart_finish(error);
    return cudaGraphMemcpyNodeSetParams1D(node, dst, place, count, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec,
                                                     cudaGraphNode_t node, const void *symbol,
                                                     const void *src, size_t count, size_t offset,
                                                     cudaMemcpyKind kind)
{
    void *place;
    cudart_code error = symbol_place(symbol, count, offset, &place);
    if (error)
        return cudart_finish(error);
    return cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, place, src, count, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
                                                       cudaGraphNode_t node, void *dst,
                                                       const void *symbol, size_t count,
                                                       size_t offset, cudaMemcpyKind kind)
{
    void *place;
    cudart_code error = symbol_place(symbol, count, offset, &place);
    if (error)
        return cudart_finish(error);
    return cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, dst, place, count, kind);
}
