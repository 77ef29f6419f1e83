/*
 * graph_params.c: reads and changes nodes after they were added: parameters, events, attributes, in
 * a graph or in an executable one.
 */
#include "driver/condition.h"

#include "base/arena.h"

#include <string.h>

/* Asking --------------------------------------------------------------------------------------- */

static CUresult node_check(CUgraphNode node, enum drv_work_kind kind, const void *result)
{
    if (!drv_alive(node, DRV_NODE) || !result || node->work.kind != kind)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    if (!drv_alive(node, DRV_NODE) || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = drv_node_type(node);
    return CUDA_SUCCESS;
}

/* The parameters live in the node, as they do in a GPU's driver. */
static void kernel_from_work(struct drv_kernel_work *kernel, CUDA_KERNEL_NODE_PARAMS *params)
{
    unsigned count = kernel->function->info->param_count;
    if (!kernel->pointers) {
        kernel->pointers = lk_alloc_zeroed((count + 1) * sizeof *kernel->pointers);
        for (unsigned i = 0; i < count; i++) {
            size_t offset, size;
            if (simt_kernel_param(kernel->function->kernel, i, &offset, &size))
                kernel->pointers[i] = (char *)kernel->params + offset;
        }
    }
    *params = (CUDA_KERNEL_NODE_PARAMS){.func = kernel->function,
                                        .gridDimX = kernel->grid[0],
                                        .gridDimY = kernel->grid[1],
                                        .gridDimZ = kernel->grid[2],
                                        .blockDimX = kernel->block[0],
                                        .blockDimY = kernel->block[1],
                                        .blockDimZ = kernel->block[2],
                                        .sharedMemBytes = kernel->shared,
                                        .kernelParams = count ? kernel->pointers : NULL,
                                        .kern = kernel->function->owner,
                                        .ctx = kernel->function->module->context};
}

CUresult drv_cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    CUresult status = node_check(node, DRV_WORK_KERNEL, params);
    if (status == CUDA_SUCCESS)
        kernel_from_work(&node->work.kernel, params);
    return status;
}

CUresult drv_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    CUDA_KERNEL_NODE_PARAMS whole;
    CUresult status = node_check(node, DRV_WORK_KERNEL, params);
    if (status == CUDA_SUCCESS) {
        kernel_from_work(&node->work.kernel, &whole);
        memcpy(params, &whole, sizeof *params);
    }
    return status;
}

CUresult drv_cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params)
{
    CUresult status = node_check(node, DRV_WORK_COPY, params);
    if (status == CUDA_SUCCESS)
        drv_copy_to_3d(&node->work.copy, params);
    return status;
}

CUresult drv_cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
    CUresult status = node_check(node, DRV_WORK_FILL, params);
    if (status == CUDA_SUCCESS) {
        const struct drv_fill_work *fill = &node->work.fill;
        *params = (CUDA_MEMSET_NODE_PARAMS){fill->address, fill->pitch, fill->value,
                                            fill->element, fill->width, fill->height};
    }
    return status;
}

CUresult drv_cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
    CUresult status = node_check(node, DRV_WORK_HOST, params);
    if (status == CUDA_SUCCESS)
        *params = (CUDA_HOST_NODE_PARAMS){node->work.host.function, node->work.host.data};
    return status;
}

/* The calls that read one value of a node of one kind. */
#define GETTER(call, kind, type, value)                                                            \
    CUresult drv_##call(CUgraphNode node, type *result)                                            \
    {                                                                                              \
        CUresult status = node_check(node, kind, result);                                          \
        if (status == CUDA_SUCCESS)                                                                \
            *result = node->work.value;                                                            \
        return status;                                                                             \
    }
GETTER(cuGraphChildGraphNodeGetGraph, DRV_WORK_CHILD, CUgraph, child)
GETTER(cuGraphEventRecordNodeGetEvent, DRV_WORK_RECORD, CUevent, event)
GETTER(cuGraphEventWaitNodeGetEvent, DRV_WORK_WAIT, CUevent, event)
GETTER(cuGraphMemAllocNodeGetParams, DRV_WORK_ALLOC, CUDA_MEM_ALLOC_NODE_PARAMS, memory->params)
GETTER(cuGraphMemFreeNodeGetParams, DRV_WORK_FREE, CUdeviceptr, address)
#undef GETTER

/* Changing: a node, or its copy in an executable graph ----------------------------------------- */

static CUgraphNode node_in(CUgraph graph, CUgraphNode original)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i], inside = NULL;
        if (node->origin == original)
            return node;
        CUgraph const *graphs;
        unsigned count = drv_work_graphs(&node->work, &graphs);
        for (unsigned k = 0; k < count && !inside; k++)
            inside = node_in(graphs[k], original);
        if (inside)
            return inside;
    }
    return NULL;
}

/* Lock held. Launches under way keep what they were launched with. */
static CUresult exec_node(CUgraphExec exec, CUgraphNode original, CUgraphNode *node)
{
    if (!drv_alive(exec, DRV_EXEC) || exec->destroyed || !drv_alive(original, DRV_NODE))
        return CUDA_ERROR_INVALID_VALUE;
    *node = node_in(exec->graph, original);
    if (!*node)
        return CUDA_ERROR_INVALID_VALUE;
    if (exec->pending && exec->last)
        drv_wait(exec->context, exec->last);
    return CUDA_SUCCESS;
}

static CUresult set_params(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
    struct drv_work work = {0};
    CUresult status = drv_alive(node, DRV_NODE) && params ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    if (status == CUDA_SUCCESS && exec)
        status = exec_node(exec, node, &node);
    if (status == CUDA_SUCCESS && drv_node_type(node) != params->type)
        status = CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS)
        status = drv_params_to_work(params, &work);
    if (status == CUDA_SUCCESS && work.kind == DRV_WORK_KERNEL) {
        /* what the node's attributes say is not in the parameters */
        work.kernel.cooperative = node->work.kernel.cooperative;
        work.kernel.priority = node->work.kernel.priority;
        memcpy(work.kernel.cluster, node->work.kernel.cluster, sizeof work.kernel.cluster);
    }
    if (status == CUDA_SUCCESS && work.kind == DRV_WORK_CHILD && !drv_graph_sort(work.child))
        status = CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS) {
        drv_work_clear(&node->work);
        node->work = work;
        if (work.kind == DRV_WORK_CHILD)
            work.child->parent = node->graph;
    } else {
        drv_work_clear(&work);
    }
    drv_leave_lock();
    drv_graph_flush_users(); /* of a child graph that was replaced */
    return status;
}

CUresult drv_cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params)
{
    return set_params(NULL, node, params);
}

CUresult drv_cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
    return exec ? set_params(exec, node, params) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_kernel(CUgraphExec exec, CUgraphNode node, const void *kernel, size_t size)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.kernel, kernel, size);
    return set_params(exec, node, &params);
}

CUresult drv_cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    return set_kernel(NULL, node, params, sizeof *params);
}

CUresult drv_cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return set_kernel(NULL, node, params, sizeof *params);
}

CUresult drv_cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                               const CUDA_KERNEL_NODE_PARAMS *params)
{
    return exec ? set_kernel(exec, node, params, sizeof *params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return exec ? set_kernel(exec, node, params, sizeof *params) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    params.memcpy.copyParams = *copy;
    return set_params(exec, node, &params);
}

CUresult drv_cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *params)
{
    return set_copy(NULL, node, params);
}

CUresult drv_cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_MEMCPY3D *params, CUcontext context)
{
    return exec ? set_copy(exec, node, params) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_fill(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *fill)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    if (!fill)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.memset, fill, sizeof *fill);
    return set_params(exec, node, &params);
}

CUresult drv_cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
    return set_fill(NULL, node, params);
}

CUresult drv_cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_MEMSET_NODE_PARAMS *params,
                                            CUcontext context)
{
    return exec ? set_fill(exec, node, params) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_host(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *host)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_HOST};
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    params.host.fn = host->fn;
    params.host.userData = host->userData;
    return set_params(exec, node, &params);
}

CUresult drv_cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
    return set_host(NULL, node, params);
}

CUresult drv_cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                          const CUDA_HOST_NODE_PARAMS *params)
{
    return exec ? set_host(exec, node, params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    return exec ? set_params(exec, node, &params) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_event(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, CUevent event)
{
    CUgraphNodeParams params = {.type = type};
    params.eventRecord.event = event;
    return set_params(exec, node, &params);
}

CUresult drv_cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    return set_event(NULL, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult drv_cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    return set_event(NULL, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult drv_cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    return exec ? set_event(exec, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event)
                : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    return exec ? set_event(exec, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event)
                : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    drv_enter_lock();
    CUresult status = exec_node(exec, node, &node);
    if (status == CUDA_SUCCESS && node->work.kind != DRV_WORK_KERNEL &&
        node->work.kind != DRV_WORK_COPY && node->work.kind != DRV_WORK_FILL)
        status = CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS)
        node->disabled = !enabled;
    drv_leave_lock();
    return status;
}

CUresult drv_cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled)
{
    if (!enabled)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    CUresult status = exec_node(exec, node, &node);
    if (status == CUDA_SUCCESS)
        *enabled = !node->disabled;
    drv_leave_lock();
    return status;
}

/* Attributes of kernel nodes ------------------------------------------------------------------- */

CUresult drv_cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                           CUkernelNodeAttrValue *value)
{
    CUresult status = node_check(node, DRV_WORK_KERNEL, value);
    if (status != CUDA_SUCCESS)
        return status;
    const struct drv_kernel_work *kernel = &node->work.kernel;
    *value = (CUkernelNodeAttrValue){0};
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
        value->cooperative = kernel->cooperative;
    } else if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
        value->priority = kernel->priority;
    } else if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        value->clusterDim.x = kernel->cluster[0];
        value->clusterDim.y = kernel->cluster[1];
        value->clusterDim.z = kernel->cluster[2];
    }
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                           const CUkernelNodeAttrValue *value)
{
    CUresult status = node_check(node, DRV_WORK_KERNEL, value);
    if (status != CUDA_SUCCESS)
        return status;
    struct drv_kernel_work *kernel = &node->work.kernel;
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
        kernel->cooperative = value->cooperative != 0;
    } else if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
        kernel->priority = value->priority;
    } else if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        kernel->cluster[0] = value->clusterDim.x;
        kernel->cluster[1] = value->clusterDim.y;
        kernel->cluster[2] = value->clusterDim.z;
    }
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    CUresult status = node_check(to, DRV_WORK_KERNEL, from);
    if (status == CUDA_SUCCESS)
        status = node_check(from, DRV_WORK_KERNEL, to);
    if (status != CUDA_SUCCESS)
        return status;
    to->work.kernel.cooperative = from->work.kernel.cooperative;
    to->work.kernel.priority = from->work.kernel.priority;
    memcpy(to->work.kernel.cluster, from->work.kernel.cluster, sizeof to->work.kernel.cluster);
    return CUDA_SUCCESS;
}
