/*
 * graph_node.c: nodes: CUDA's parameter structures into work, and work back into them.
 */
#include "driver/state.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

CUgraphNodeType drv_node_type(CUgraphNode node)
{
    switch (node->work.kind) {
    case DRV_WORK_KERNEL:
        return CU_GRAPH_NODE_TYPE_KERNEL;
    case DRV_WORK_COPY:
        return CU_GRAPH_NODE_TYPE_MEMCPY;
    case DRV_WORK_FILL:
        return CU_GRAPH_NODE_TYPE_MEMSET;
    case DRV_WORK_HOST:
        return CU_GRAPH_NODE_TYPE_HOST;
    case DRV_WORK_CHILD:
        return CU_GRAPH_NODE_TYPE_GRAPH;
    case DRV_WORK_RECORD:
        return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case DRV_WORK_WAIT:
        return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case DRV_WORK_ALLOC:
        return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    case DRV_WORK_FREE:
        return CU_GRAPH_NODE_TYPE_MEM_FREE;
    case DRV_WORK_WAIT_VALUE:
    case DRV_WORK_WRITE_VALUE:
        return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    default:
        return CU_GRAPH_NODE_TYPE_EMPTY;
    }
}

/* Parameters into work. Lock held.
 * ------------------------------------------------------------------- */

static CUresult kernel_to_work(const CUDA_KERNEL_NODE_PARAMS *params, struct drv_work *work)
{
    CUcontext context;
    *work = (struct drv_work){.kind = DRV_WORK_KERNEL};
    CUresult status = drv_current(&context);
    if (params->ctx && drv_alive(params->ctx, DRV_CONTEXT)) {
        context = params->ctx;
        status = context->error;
    }
    if (status != CUDA_SUCCESS)
        return status;
    struct drv_kernel_work *kernel = &work->kernel;
    kernel->grid[0] = params->gridDimX;
    kernel->grid[1] = params->gridDimY;
    kernel->grid[2] = params->gridDimZ;
    kernel->block[0] = params->blockDimX;
    kernel->block[1] = params->blockDimY;
    kernel->block[2] = params->blockDimZ;
    kernel->shared = params->sharedMemBytes;
    status = drv_function_find(context, params->func ? params->func : (CUfunction)params->kern,
                               &kernel->function);
    if (status == CUDA_SUCCESS) {
        memcpy(kernel->cluster, kernel->function->settings.cluster, sizeof kernel->cluster);
        status = drv_kernel_check(context, kernel);
    }
    if (status == CUDA_SUCCESS)
        status = drv_kernel_pack(kernel, params->kernelParams, params->extra);
    if (status != CUDA_SUCCESS)
        drv_work_clear(work);
    return status;
}

static CUresult copy_to_work(const CUDA_MEMCPY3D *params, struct drv_work *work)
{
    CUresult status = drv_copy_from_3d(params, work);
    return status == CUDA_SUCCESS ? drv_copy_check(&work->copy) : status;
}

static CUresult fill_to_work(const CUDA_MEMSET_NODE_PARAMS *params, struct drv_work *work)
{
    *work = (struct drv_work){.kind = DRV_WORK_FILL};
    work->fill = (struct drv_fill_work){params->dst,    params->pitch, params->width,
                                        params->height, params->value, params->elementSize};
    if (!params->width || !params->height)
        return CUDA_ERROR_INVALID_VALUE;
    return drv_fill_check(&work->fill);
}

static CUresult host_to_work(CUhostFn function, void *data, struct drv_work *work)
{
    *work = (struct drv_work){.kind = DRV_WORK_HOST};
    work->host.function = function;
    work->host.data = data;
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult event_to_work(enum drv_work_kind kind, CUevent event, struct drv_work *work)
{
    *work = (struct drv_work){.kind = kind, .event = event};
    return drv_alive(event, DRV_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult child_to_work(CUgraph child, struct drv_work *work)
{
    *work = (struct drv_work){0};
    if (!drv_alive(child, DRV_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    work->kind = DRV_WORK_CHILD;
    drv_graph_clone(child, &work->child);
    work->child->parent = child;
    return CUDA_SUCCESS;
}

/* The address is fixed when the node is made; the memory is there as long as the node is. */
static CUresult alloc_to_work(CUDA_MEM_ALLOC_NODE_PARAMS *params, struct drv_work *work)
{
    CUcontext context;
    *work = (struct drv_work){0};
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!params->bytesize || params->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    status = drv_check_device(params->poolProps.location.id);
    struct drv_device *device = context->device;
    if (status == CUDA_SUCCESS)
        status =
            drv_pool_allocate(context, drv_pool_default(device), params->bytesize, &params->dptr);
    if (status != CUDA_SUCCESS)
        return status;
    drv_allocation_give_to_graph(params->dptr);
    work->kind = DRV_WORK_ALLOC;
    work->memory = lk_alloc_zeroed(sizeof *work->memory);
    work->memory->references = 1;
    work->memory->address = params->dptr;
    work->memory->params = *params;
    return CUDA_SUCCESS;
}

static CUresult params_to_work(CUgraphNodeParams *params, struct drv_work *work)
{
    *work = (struct drv_work){0};
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        _Static_assert(sizeof params->kernel == sizeof(CUDA_KERNEL_NODE_PARAMS), "same layout");
        return kernel_to_work((const CUDA_KERNEL_NODE_PARAMS *)&params->kernel, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return copy_to_work(&params->memcpy.copyParams, work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return fill_to_work((const CUDA_MEMSET_NODE_PARAMS *)&params->memset, work);
    case CU_GRAPH_NODE_TYPE_HOST:
        return host_to_work(params->host.fn, params->host.userData, work);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return child_to_work(params->graph.graph, work);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return event_to_work(DRV_WORK_WAIT, params->eventWait.event, work);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return event_to_work(DRV_WORK_RECORD, params->eventRecord.event, work);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return alloc_to_work((CUDA_MEM_ALLOC_NODE_PARAMS *)&params->alloc, work);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        work->kind = DRV_WORK_FREE;
        work->address = params->free.dptr;
        return drv_allocation_find(work->address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        drv_remark_once("conditional graph nodes are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* Adding
 * ---------------------------------------------------------------------------------------------- */

static CUresult add_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                         CUgraphNodeParams *params)
{
    struct drv_work work;
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!node || !drv_alive(graph, DRV_GRAPH) || (count && !before))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    CUresult status = params_to_work(params, &work);
    if (status == CUDA_SUCCESS)
        status = drv_graph_add(graph, &work, before, count, node);
    if (status == CUDA_SUCCESS && (*node)->work.kind == DRV_WORK_CHILD)
        (*node)->work.child->parent = graph;
    drv_leave_lock();
    return status;
}

CUresult drv_cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                               const CUgraphEdgeData *edges, size_t count,
                               CUgraphNodeParams *params)
{
    return params ? add_node(node, graph, before, count, params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                            size_t count, CUgraphNodeParams *params)
{
    return drv_cuGraphAddNode_v2(node, graph, before, NULL, count, params);
}

CUresult drv_cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                     size_t count, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.kernel, kernel, sizeof *kernel);
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                  size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *kernel)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.kernel, kernel, sizeof *kernel);
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                  size_t count, const CUDA_MEMCPY3D *copy, CUcontext context)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    params.memcpy.copyParams = *copy;
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                  size_t count, const CUDA_MEMSET_NODE_PARAMS *fill,
                                  CUcontext context)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    if (!fill)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.memset, fill, sizeof *fill);
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                size_t count, const CUDA_HOST_NODE_PARAMS *host)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_HOST};
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    params.host.fn = host->fn;
    params.host.userData = host->userData;
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                      size_t count, CUgraph child)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                 size_t count)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                       size_t count, CUevent event)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    params.eventRecord.event = event;
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                     size_t count, CUevent event)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    params.eventWait.event = event;
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                    size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *alloc)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    if (!alloc)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.alloc, alloc, sizeof *alloc);
    CUresult status = add_node(node, graph, before, count, &params);
    if (status == CUDA_SUCCESS)
        alloc->dptr = params.alloc.dptr;
    return status;
}

CUresult drv_cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                   size_t count, CUdeviceptr address)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    params.free.dptr = address;
    return add_node(node, graph, before, count, &params);
}

/* Asking
 * ---------------------------------------------------------------------------------------------- */

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

CUresult drv_cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    CUresult status = node_check(node, DRV_WORK_CHILD, graph);
    if (status == CUDA_SUCCESS)
        *graph = node->work.child;
    return status;
}

CUresult drv_cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
    CUresult status = node_check(node, DRV_WORK_RECORD, event);
    if (status == CUDA_SUCCESS)
        *event = node->work.event;
    return status;
}

CUresult drv_cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    CUresult status = node_check(node, DRV_WORK_WAIT, event);
    if (status == CUDA_SUCCESS)
        *event = node->work.event;
    return status;
}

CUresult drv_cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUresult status = node_check(node, DRV_WORK_ALLOC, params);
    if (status == CUDA_SUCCESS)
        *params = node->work.memory->params;
    return status;
}

CUresult drv_cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address)
{
    CUresult status = node_check(node, DRV_WORK_FREE, address);
    if (status == CUDA_SUCCESS)
        *address = node->work.address;
    return status;
}

/* Changing: a node, or its copy in an executable graph
 * ----------------------------------------------- */

static CUgraphNode node_in(CUgraph graph, CUgraphNode original)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i], inside = NULL;
        if (node->origin == original)
            return node;
        if (node->work.kind == DRV_WORK_CHILD)
            inside = node_in(node->work.child, original);
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
        status = params_to_work(params, &work);
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

/* Attributes of kernel nodes
 * -------------------------------------------------------------------------- */

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
