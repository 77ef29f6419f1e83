/*
 * graph_node.c: adding nodes: CUDA's parameter structures into work. The way back, and changes, are
 * in graph_params.c.
 */
#include "driver/condition.h"
#include "driver/shared_event.h"

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
    case DRV_WORK_LIBRARY:
        return CU_GRAPH_NODE_TYPE_HOST;
    case DRV_WORK_CHILD:
        return CU_GRAPH_NODE_TYPE_GRAPH;
    case DRV_WORK_CONDITIONAL:
        return CU_GRAPH_NODE_TYPE_CONDITIONAL;
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

/* Parameters into work. Lock held. ------------------------------------------------------------- */

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
    if (!drv_alive(event, DRV_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    return drv_event_in_graph(event);
}

static CUresult child_to_work(CUgraph child, struct drv_work *work)
{
    *work = (struct drv_work){0};
    if (!drv_alive(child, DRV_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    if (drv_has_conditional(child))
        return CUDA_ERROR_NOT_SUPPORTED;
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
    const CUmemPoolProps *properties = &params->poolProps;
    bool managed = properties->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    bool on_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (!params->bytesize ||
        (!managed && (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || !on_device)))
        return CUDA_ERROR_INVALID_VALUE;
    status = on_device ? drv_check_device(properties->location.id) : CUDA_SUCCESS;
    struct drv_device *device = context->device;
    if (status == CUDA_SUCCESS)
        status = drv_pool_allocate(context,
                                   managed ? drv_pool_managed(device) : drv_pool_default(device),
                                   params->bytesize, &params->dptr);
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

CUresult drv_params_to_work(CUgraphNodeParams *params, struct drv_work *work)
{
    _Static_assert(sizeof params->kernel == sizeof(CUDA_KERNEL_NODE_PARAMS), "same layout");
    *work = (struct drv_work){0};
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
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
    default: /* also conditional nodes: what they are cannot be changed later */
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* Adding --------------------------------------------------------------------------------------- */

static CUresult add_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                         CUgraphNodeParams *params)
{
    struct drv_work work;
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!node || !drv_alive(graph, DRV_GRAPH) || (count && !before))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    CUresult status = params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL
                          ? drv_conditional_to_work(&params->conditional, graph, &work)
                          : drv_params_to_work(params, &work);
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

/* A node whose own parameter structure is the start of its part of CUgraphNodeParams. */
static CUresult add_typed(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                          CUgraphNodeType type, const void *part, size_t size)
{
    CUgraphNodeParams params = {.type = type};
    if (!part)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.reserved1, part, size); /* the whole of the union */
    return add_node(node, graph, before, count, &params);
}

CUresult drv_cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                     size_t count, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    return add_typed(node, graph, before, count, CU_GRAPH_NODE_TYPE_KERNEL, kernel, sizeof *kernel);
}

CUresult drv_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                  size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *kernel)
{
    return add_typed(node, graph, before, count, CU_GRAPH_NODE_TYPE_KERNEL, kernel, sizeof *kernel);
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
    return add_typed(node, graph, before, count, CU_GRAPH_NODE_TYPE_MEMSET, fill, sizeof *fill);
}

CUresult drv_cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                size_t count, const CUDA_HOST_NODE_PARAMS *host)
{
    return add_typed(node, graph, before, count, CU_GRAPH_NODE_TYPE_HOST, host, sizeof *host);
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
