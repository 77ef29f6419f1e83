/*
 * condition.c: conditional nodes of graphs: the handles that kernels set (cudaGraphSetConditional),
 * and which of a node's bodies runs. A handle belongs to the graph that it was made for and to at
 * most one node; executable graphs made from it share its value, and set it anew as they begin if
 * it has a default.
 */
#include "driver/condition.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct drv_condition {
    unsigned references; /* the graph's, and one a node with it */
    uint64_t handle;
    CUgraph graph; /* that it was made for */
    bool has_default, is_used;
    unsigned initial;
    _Atomic unsigned value;
};

static struct drv_table conditions; /* by handle; drv_lock guards it */

/* Handles -------------------------------------------------------------------------------------- */

void drv_condition_release(struct drv_condition *condition)
{
    if (--condition->references)
        return;
    drv_table_remove(&conditions, condition->handle);
    free(condition);
}

CUresult drv_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                            CUcontext context, unsigned initial, unsigned flags)
{
    static uint64_t next_handle = 1;
    if (!handle || !drv_alive(graph, DRV_GRAPH) || flags > CU_GRAPH_COND_ASSIGN_DEFAULT)
        return CUDA_ERROR_INVALID_VALUE;
    if (context && !drv_alive(context, DRV_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    drv_enter_lock();
    struct drv_condition *condition = lk_alloc_zeroed(sizeof *condition);
    *condition = (struct drv_condition){.references = 1,
                                        .handle = next_handle++ << 4,
                                        .graph = graph,
                                        .has_default = flags & CU_GRAPH_COND_ASSIGN_DEFAULT,
                                        .initial = initial,
                                        .value = initial};
    drv_table_put(&conditions, condition->handle, condition);
    drv_list_add(&graph->conditions, condition);
    *handle = condition->handle;
    drv_leave_lock();
    return CUDA_SUCCESS;
}

bool drv_condition_set(struct simt_children *children, uint64_t handle, unsigned value)
{
    (void)children;
    drv_enter_lock();
    struct drv_condition *condition = handle ? drv_table_get(&conditions, handle) : NULL;
    if (condition)
        condition->value = value;
    drv_leave_lock();
    return condition != NULL;
}

/* Nodes ---------------------------------------------------------------------------------------- */

static bool size_fits(CUgraphConditionalNodeType type, unsigned size)
{
    switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
        return size == 1 || size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
        return size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
        return size >= 1;
    default:
        return false;
    }
}

CUresult drv_conditional_to_work(CUDA_CONDITIONAL_NODE_PARAMS *params, CUgraph graph,
                                 struct drv_work *work)
{
    struct drv_condition *condition =
        params->handle ? drv_table_get(&conditions, params->handle) : NULL;
    if (!condition || condition->is_used || !size_fits(params->type, params->size))
        return CUDA_ERROR_INVALID_VALUE;
    struct drv_conditional_work *conditional = &work->conditional;
    *work = (struct drv_work){.kind = DRV_WORK_CONDITIONAL};
    condition->is_used = true;
    condition->references++;
    conditional->condition = condition;
    conditional->type = params->type;
    conditional->size = params->size;
    conditional->bodies = lk_alloc(params->size * sizeof *conditional->bodies);
    for (unsigned i = 0; i < params->size; i++) {
        conditional->bodies[i] = drv_graph_new();
        conditional->bodies[i]->parent = graph;
    }
    params->phGraph_out = conditional->bodies; /* as long as the node is there */
    return CUDA_SUCCESS;
}

void drv_conditional_clear(struct drv_conditional_work *conditional)
{
    for (unsigned i = 0; i < conditional->size; i++)
        drv_graph_free(conditional->bodies[i]);
    free(conditional->bodies);
    drv_condition_release(conditional->condition);
}

void drv_conditional_copy(struct drv_conditional_work *copy)
{
    CUgraph *bodies = lk_alloc(copy->size * sizeof *bodies);
    copy->condition->references++;
    for (unsigned i = 0; i < copy->size; i++) {
        drv_graph_clone(copy->bodies[i], &bodies[i]);
        bodies[i]->parent = copy->bodies[i]->parent;
    }
    copy->bodies = bodies;
}

unsigned drv_work_graphs(const struct drv_work *work, CUgraph const **graphs)
{
    *graphs = work->kind == DRV_WORK_CHILD ? &work->child : work->conditional.bodies;
    return work->kind == DRV_WORK_CHILD         ? 1
           : work->kind == DRV_WORK_CONDITIONAL ? work->conditional.size
                                                : 0;
}

bool drv_conditions_unused(CUgraph graph)
{
    for (size_t i = 0; i < graph->conditions.count; i++)
        if (!((struct drv_condition *)graph->conditions.items[i])->is_used)
            return true;
    return false;
}

bool drv_has_conditional(CUgraph graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (((CUgraphNode)graph->nodes.items[i])->work.kind == DRV_WORK_CONDITIONAL)
            return true;
    return false;
}

static bool fits_body(const struct drv_work *work)
{
    return work->kind == DRV_WORK_EMPTY || work->kind == DRV_WORK_KERNEL ||
           work->kind == DRV_WORK_COPY || work->kind == DRV_WORK_FILL ||
           work->kind == DRV_WORK_LIBRARY || work->kind == DRV_WORK_CHILD ||
           work->kind == DRV_WORK_CONDITIONAL;
}

/* inside: the graph is a body, or in one. */
static bool refuses(CUgraph graph, bool inside)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct drv_work *work = &((CUgraphNode)graph->nodes.items[i])->work;
        CUgraph const *graphs;
        unsigned count = drv_work_graphs(work, &graphs);
        if (inside && !fits_body(work))
            return true;
        for (unsigned k = 0; k < count; k++)
            if (refuses(graphs[k], inside || work->kind == DRV_WORK_CONDITIONAL))
                return true;
    }
    return false;
}

bool drv_conditional_refuses(CUgraph graph)
{
    return refuses(graph, false);
}

/* Running -------------------------------------------------------------------------------------- */

void drv_conditions_begin(CUgraph graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct drv_work *work = &((CUgraphNode)graph->nodes.items[i])->work;
        CUgraph const *inside;
        unsigned count = drv_work_graphs(work, &inside);
        for (unsigned k = 0; k < count; k++)
            drv_conditions_begin(inside[k]);
        if (work->kind == DRV_WORK_CONDITIONAL && work->conditional.condition->has_default)
            work->conditional.condition->value = work->conditional.condition->initial;
    }
}

CUgraph drv_conditional_next(const struct drv_conditional_work *conditional, unsigned ran)
{
    unsigned value = conditional->condition->value;
    switch (conditional->type) {
    case CU_GRAPH_COND_TYPE_WHILE:
        return value ? conditional->bodies[0] : NULL;
    case CU_GRAPH_COND_TYPE_IF:
        if (ran)
            return NULL;
        return value                   ? conditional->bodies[0]
               : conditional->size > 1 ? conditional->bodies[1]
                                       : NULL;
    default:
        return !ran && value < conditional->size ? conditional->bodies[value] : NULL;
    }
}
