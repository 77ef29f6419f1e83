/*
 * graph_exec.c: executable graphs: made from a graph, changed, launched. A launch is one operation
 * of its stream; its nodes run one after another in an order that the edges allow, while their
 * modelled time overlaps as the edges let it.
 */
#include "driver/condition.h"
#include "driver/listened.h"
#include "driver/timeline.h"
#include "simt/memory_events.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void exec_free(CUgraphExec exec)
{
    drv_graph_free(exec->graph);
    drv_op_release(exec->last);
    drv_delete(exec);
}

void drv_exec_release(CUgraphExec exec)
{
    if (exec->destroyed && !exec->pending)
        exec_free(exec);
}

static CUresult instantiate(CUgraphExec *result, CUgraph graph, uint64_t flags,
                            CUgraphInstantiateResult *why)
{
    CUcontext context;
    CUgraph copy;
    *why = CUDA_GRAPH_INSTANTIATE_ERROR;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!result || !drv_alive(graph, DRV_GRAPH) || (flags & ~15ull))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
        drv_remark_once("launching graphs from the device is not supported");
        *why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    drv_enter_lock();
    if (drv_conditions_unused(graph)) {
        drv_leave_lock();
        *why = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
        return CUDA_ERROR_INVALID_VALUE;
    }
    drv_graph_clone(graph, &copy);
    if (drv_conditional_refuses(copy)) {
        drv_graph_free(copy);
        *why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        status = CUDA_ERROR_INVALID_VALUE;
    } else if (drv_graph_sort(copy)) {
        CUgraphExec exec = drv_new(sizeof *exec, DRV_EXEC);
        exec->context = context;
        exec->graph = copy;
        exec->flags = flags;
        *result = exec;
        *why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    } else {
        drv_graph_free(copy);
        *why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        status = CUDA_ERROR_INVALID_VALUE;
    }
    drv_leave_lock();
    drv_graph_flush_users();
    return status;
}

CUresult drv_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    CUgraphInstantiateResult why;
    return instantiate(exec, graph, flags, &why);
}

CUresult drv_cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node,
                                   char *log, size_t log_size)
{
    CUgraphInstantiateResult why;
    if (error_node)
        *error_node = NULL;
    if (log && log_size)
        *log = 0;
    CUresult status = instantiate(exec, graph, 0, &why);
    if (log && log_size && why == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE)
        snprintf(log, log_size, "the graph has a circle");
    return status;
}

CUresult drv_cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node,
                                char *log, size_t log_size)
{
    return drv_cuGraphInstantiate_v2(exec, graph, error_node, log, log_size);
}

CUresult drv_cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    params->hErrNode_out = NULL;
    return instantiate(exec, graph, params->flags, &params->result_out);
}

CUresult drv_cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    if (!drv_alive(exec, DRV_EXEC) || exec->destroyed || !flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphExecDestroy(CUgraphExec exec)
{
    if (!drv_alive(exec, DRV_EXEC) || exec->destroyed)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    exec->destroyed = true;
    drv_exec_release(exec);
    drv_leave_lock();
    drv_graph_flush_users();
    return CUDA_SUCCESS;
}

/* Launching ------------------------------------------------------------------------------------ */

/* Events that the graph waits for or records are met in the stream; lock held. */
static void launch_events(CUgraph graph, CUstream stream, struct drv_op *launch)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct drv_work *work = &((CUgraphNode)graph->nodes.items[i])->work;
        CUgraph const *inside;
        unsigned count = drv_work_graphs(work, &inside);
        for (unsigned k = 0; k < count; k++)
            launch_events(inside[k], stream, launch);
        if ((work->kind != DRV_WORK_WAIT && work->kind != DRV_WORK_RECORD) ||
            !drv_alive(work->event, DRV_EVENT))
            continue;
        if (work->kind == DRV_WORK_WAIT && !launch && work->event->op) {
            struct drv_work wait = {.kind = DRV_WORK_WAIT, .event = work->event};
            drv_op_release(drv_submit(stream, &wait, work->event->op, true));
        } else if (work->kind == DRV_WORK_RECORD && launch) {
            drv_event_recorded(work->event);
            drv_capture_leave_event(work->event);
            drv_op_release(work->event->op);
            work->event->op = drv_op_retain(launch);
        }
    }
}

static CUresult launch_captured(CUgraphExec exec, CUstream stream)
{
    struct drv_work work = {.kind = DRV_WORK_CHILD};
    CUgraphNode node;
    drv_graph_clone(exec->graph, &work.child);
    work.child->parent = stream->capture->graph;
    return drv_capture_add(stream, &work, &node);
}

static CUresult launch(CUgraphExec exec, CUstream handle)
{
    CUcontext context;
    CUstream stream;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!drv_alive(exec, DRV_EXEC) || exec->destroyed)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    status = drv_stream_find(context, handle, &stream);
    if (status == CUDA_SUCCESS)
        status = drv_capture_refuses_legacy(stream);
    if (status == CUDA_SUCCESS && stream->capture) {
        status = launch_captured(exec, stream);
    } else if (status == CUDA_SUCCESS) {
        struct drv_work work = {.kind = DRV_WORK_GRAPH};
        work.graph.exec = exec;
        exec->pending++;
        launch_events(exec->graph, stream, NULL);
        struct drv_op *op = drv_submit(stream, &work, exec->last, true);
        launch_events(exec->graph, stream, op);
        drv_op_release(exec->last);
        exec->last = op;
    }
    drv_leave_lock();
    return status;
}

CUresult drv_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    const struct {
        CUgraphExec exec;
        CUstream stream;
    } given = {exec, stream};
    struct lk_activity_call call;
    drv_call_begins(&call, "cuGraphLaunch", &given);
    return drv_call_ends(&call, launch(exec, stream));
}

CUresult drv_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    if (!drv_alive(exec, DRV_EXEC) || exec->destroyed)
        return CUDA_ERROR_INVALID_VALUE;
    struct drv_work nothing = {.kind = DRV_WORK_EMPTY};
    return drv_issue_to(stream, &nothing, false);
}

/* An event recorded inside a graph has its own time, not the graph's end. */
static void record_inside(CUcontext context, CUevent event, double clock)
{
    drv_enter_lock();
    if (drv_alive(event, DRV_EVENT) && context->legacy) {
        struct drv_op *op = lk_alloc_zeroed(sizeof *op);
        op->references = 1;
        op->state = DRV_OP_DONE;
        op->clock = clock;
        op->stream = context->legacy;
        op->watched = simt_event_op_retain(context->device->machine, drv_thread.watched);
        op->stream->references++;
        drv_op_release(event->op);
        event->op = op;
    }
    drv_leave_lock();
}

static void forget_nodes(CUcontext context, CUgraph graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i];
        simt_event_op_release(context->device->machine, node->watched);
        node->watched = NULL;
    }
}

/* What comes after a child graph comes after all of its nodes. */
static void *join_child(CUcontext context, CUgraph child, struct drv_list *after)
{
    for (size_t i = 0; i < child->nodes.count; i++) {
        CUgraphNode node = child->nodes.items[i];
        if (node->watched)
            drv_list_add(after, node->watched);
    }
    void *all = drv_watch_node(context, &(struct drv_work){0}, after);
    forget_nodes(context, child);
    return all;
}

static CUresult run_nodes(CUcontext context, CUgraph graph, double *clock,
                          const struct drv_list *outside);

/* Its bodies one after another, as long as there is one to run. after: what the node comes after,
 * for watchers. */
static CUresult run_conditional(CUcontext context, CUgraphNode node, const struct drv_list *after)
{
    struct simt_machine *machine = context->device->machine;
    const struct drv_list *outside = after;
    struct drv_list last = {0};
    CUresult status = CUDA_SUCCESS;
    CUgraph body;
    void *all = NULL;
    for (unsigned ran = 0; (body = drv_conditional_next(&node->work.conditional, ran)); ran = 1) {
        struct drv_list order = {0};
        for (size_t k = 0; k < outside->count; k++)
            drv_list_add(&order, outside->items[k]);
        status = run_nodes(context, body, &node->clock, outside);
        void *joined = join_child(context, body, &order);
        drv_list_free(&order);
        drv_list_free(&last);
        simt_event_op_release(machine, all);
        all = joined;
        if (all)
            drv_list_add(&last, all);
        outside = &last;
        if (status != CUDA_SUCCESS || context->error)
            break;
    }
    node->watched = all ? all : drv_watch_node(context, &(struct drv_work){0}, after);
    drv_list_free(&last);
    return status;
}

/* outside: what the whole graph comes after, for watchers: of a child, what its node does. */
static CUresult run_nodes(CUcontext context, CUgraph graph, double *clock,
                          const struct drv_list *outside)
{
    struct simt_machine *machine = context->device->machine;
    CUresult status = CUDA_SUCCESS;
    double begin = *clock;
    for (size_t i = 0; i < graph->nodes.count && status == CUDA_SUCCESS; i++) {
        CUgraphNode node = graph->nodes.items[i];
        struct drv_list after = {0};
        node->clock = begin;
        for (size_t k = 0; k < outside->count; k++)
            drv_list_add(&after, outside->items[k]);
        for (size_t k = 0; k < node->before.count; k++) {
            CUgraphNode before = node->before.items[k];
            if (before->clock > node->clock)
                node->clock = before->clock;
            if (before->watched)
                drv_list_add(&after, before->watched);
        }
        if (node->disabled) {
            node->watched = drv_watch_node(context, &(struct drv_work){0}, &after);
        } else if (node->work.kind == DRV_WORK_CHILD) {
            status = run_nodes(context, node->work.child, &node->clock, &after);
            node->watched = join_child(context, node->work.child, &after);
        } else if (node->work.kind == DRV_WORK_CONDITIONAL) {
            status = run_conditional(context, node, &after);
        } else {
            node->watched = drv_watch_node(context, &node->work, &after);
            simt_event_op_begins(machine, node->watched);
            drv_thread.began = node->clock;
            status = drv_work_run(context, &node->work, &node->clock);
            drv_timeline_node(context, &node->work, node->clock);
            simt_event_op_ends(machine, node->watched);
        }
        drv_list_free(&after);
        if (node->disabled)
            continue;
        if (node->work.kind == DRV_WORK_RECORD)
            record_inside(context, node->work.event, node->clock);
        if (node->clock > *clock)
            *clock = node->clock;
    }
    return status;
}

CUresult drv_graph_run(CUgraphExec exec, double *clock)
{
    drv_thread.graph_began = *clock;
    drv_conditions_begin(exec->graph);
    *clock +=
        2.5e-6; /* a graph launch; its kernels follow faster than single ones: GPU_NODE_SECONDS */
    CUresult status = run_nodes(exec->context, exec->graph, clock, &(struct drv_list){0});
    forget_nodes(exec->context, exec->graph);
    return status;
}

/* Updating the whole --------------------------------------------------------------------------- */

static unsigned place_of(CUgraph graph, CUgraphNode node)
{
    for (unsigned i = 0; i < graph->nodes.count; i++) {
        if (graph->nodes.items[i] == node)
            return i;
    }
    return UINT32_MAX;
}

static bool same_edges(CUgraph old, CUgraphNode a, CUgraph new, CUgraphNode b)
{
    if (a->before.count != b->before.count)
        return false;
    for (size_t k = 0; k < a->before.count; k++) {
        unsigned place = place_of(old, a->before.items[k]);
        bool found = false;
        for (size_t j = 0; j < b->before.count && !found; j++)
            found = place_of(new, b->before.items[j]) == place;
        if (!found)
            return false;
    }
    return true;
}

static CUgraphExecUpdateResult compare(CUgraph old, CUgraph new, CUgraphExecUpdateResultInfo *info)
{
    if (old->nodes.count != new->nodes.count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < old->nodes.count; i++) {
        CUgraphNode a = old->nodes.items[i], b = new->nodes.items[i];
        info->errorNode = b->origin;
        info->errorFromNode = NULL;
        if (!same_edges(old, a, new, b))
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        if (a->work.kind != b->work.kind)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        CUgraph const *inside_a, *inside_b;
        unsigned count = drv_work_graphs(&a->work, &inside_a);
        if (drv_work_graphs(&b->work, &inside_b) != count ||
            (a->work.kind == DRV_WORK_CONDITIONAL &&
             a->work.conditional.type != b->work.conditional.type))
            return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
        for (unsigned k = 0; k < count; k++) {
            CUgraphExecUpdateResult inside = compare(inside_a[k], inside_b[k], info);
            if (inside != CU_GRAPH_EXEC_UPDATE_SUCCESS)
                return inside;
        }
        if (a->work.kind == DRV_WORK_KERNEL &&
            a->work.kernel.cooperative != b->work.kernel.cooperative)
            return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    }
    info->errorNode = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* The new work in the old nodes, which keep their place and origin. */
static void take_over(CUgraph old, CUgraph new)
{
    for (size_t i = 0; i < old->nodes.count; i++) {
        CUgraphNode a = old->nodes.items[i], b = new->nodes.items[i];
        CUgraph const *inside_a, *inside_b;
        unsigned count = drv_work_graphs(&a->work, &inside_a);
        drv_work_graphs(&b->work, &inside_b);
        for (unsigned k = 0; k < count; k++)
            take_over(inside_a[k], inside_b[k]);
        if (a->work.kind == DRV_WORK_CONDITIONAL) { /* the new graph's handle, and its default */
            struct drv_condition *condition = a->work.conditional.condition;
            a->work.conditional.condition = b->work.conditional.condition;
            b->work.conditional.condition = condition;
        }
        if (count)
            continue;
        struct drv_work work = a->work;
        a->work = b->work;
        b->work = work;
    }
}

CUresult drv_cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                  CUgraphExecUpdateResultInfo *info)
{
    CUgraphExecUpdateResultInfo own = {0};
    CUgraph copy;
    if (!drv_alive(exec, DRV_EXEC) || exec->destroyed || !drv_alive(graph, DRV_GRAPH) || !info)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    if (exec->pending && exec->last)
        drv_wait(exec->context, exec->last);
    drv_graph_clone(graph, &copy);
    own.result =
        drv_graph_sort(copy) ? compare(exec->graph, copy, &own) : CU_GRAPH_EXEC_UPDATE_ERROR;
    if (own.result == CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        take_over(exec->graph, copy);
        struct drv_list users = exec->graph->users; /* from now on the new graph's are needed */
        exec->graph->users = copy->users;
        copy->users = users;
    }
    drv_graph_free(copy);
    drv_leave_lock();
    drv_graph_flush_users();
    *info = own;
    return own.result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
                                                      : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult drv_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                               CUgraphExecUpdateResult *result)
{
    CUgraphExecUpdateResultInfo info = {0};
    CUresult status = drv_cuGraphExecUpdate_v2(exec, graph, &info);
    if (error_node)
        *error_node = info.errorNode;
    if (result)
        *result = info.result;
    return status;
}

/* Graph memory --------------------------------------------------------------------------------- */

/* What was freed is counted as the graphs' until here, or until another graph takes it. */
CUresult drv_cuDeviceGraphMemTrim(CUdevice device)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    drv_devices[device].graph_memory[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] -=
        drv_devices[device].graph_spare;
    drv_devices[device].graph_memory[CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] -=
        drv_devices[device].graph_spare;
    drv_devices[device].graph_spare = 0;
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                          void *value)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!value || (unsigned)attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    *(cuuint64_t *)value = drv_devices[device].graph_memory[attribute];
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                          void *value)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!value ||
        (attribute != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
         attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) ||
        *(cuuint64_t *)value)
        return CUDA_ERROR_INVALID_VALUE;
    drv_devices[device].graph_memory[attribute] = drv_devices[device].graph_memory[attribute - 1];
    return CUDA_SUCCESS;
}
