/*
 * graph.c: graphs as structures: nodes, edges, clones, queries.
 * What a node does is a struct drv_work (graph_node.c fills it in); running is graph_exec.c's.
 */
#include "driver/condition.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUuserObject_st {
    struct drv_object object;
    void *pointer;
    CUhostFn destroy;
    unsigned references;
};

static struct drv_list orphans; /* user objects whose graph is gone; released without the lock */

CUgraph drv_graph_new(void)
{
    return drv_new(sizeof(struct CUgraph_st), DRV_GRAPH);
}

static void node_free(CUgraphNode node)
{
    drv_work_clear(&node->work);
    drv_list_free(&node->before);
    drv_delete(node);
}

void drv_graph_free(CUgraph graph)
{
    if (!graph)
        return;
    for (size_t i = 0; i < graph->nodes.count; i++)
        node_free(graph->nodes.items[i]);
    for (size_t i = 0; i < graph->users.count; i++)
        drv_list_add(&orphans, graph->users.items[i]);
    for (size_t i = 0; i < graph->conditions.count; i++)
        drv_condition_release(graph->conditions.items[i]);
    drv_list_free(&graph->nodes);
    drv_list_free(&graph->users);
    drv_list_free(&graph->conditions);
    drv_delete(graph);
}

/* Without the lock: it runs the program's destructor. */
static void user_release(CUuserObject user, unsigned count)
{
    drv_enter_lock();
    user->references -= count < user->references ? count : user->references;
    bool last = !user->references;
    CUhostFn destroy = user->destroy;
    void *pointer = user->pointer;
    if (last)
        drv_delete(user);
    drv_leave_lock();
    if (last)
        destroy(pointer);
}

void drv_graph_flush_users(void)
{
    drv_enter_lock();
    struct drv_list users = orphans;
    orphans = (struct drv_list){0};
    drv_leave_lock();
    for (size_t i = 0; i < users.count; i++)
        user_release(users.items[i], 1);
    drv_list_free(&users);
}

CUresult drv_graph_add(CUgraph graph, struct drv_work *work, const CUgraphNode *before,
                       size_t count, CUgraphNode *result)
{
    for (size_t i = 0; i < count; i++) {
        bool twice = false;
        for (size_t k = 0; k < i && count < 64; k++)
            twice = twice || before[k] == before[i];
        if (twice || !drv_alive(before[i], DRV_NODE) || before[i]->graph != graph) {
            drv_work_clear(work);
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    CUgraphNode node = drv_new(sizeof *node, DRV_NODE);
    node->graph = graph;
    node->id = graph->next_id++;
    node->work = *work;
    *work = (struct drv_work){0};
    for (size_t i = 0; i < count; i++) {
        if (!drv_list_has(&node->before, before[i]))
            drv_list_add(&node->before, before[i]);
    }
    drv_list_add(&graph->nodes, node);
    *result = node;
    return CUDA_SUCCESS;
}

CUresult drv_graph_clone(CUgraph graph, CUgraph *result)
{
    CUgraph clone = drv_graph_new();
    clone->origin = graph;
    clone->next_id = graph->next_id;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode from = graph->nodes.items[i], to = drv_new(sizeof *to, DRV_NODE);
        from->mark = (unsigned)i;
        to->graph = clone;
        to->id = from->id;
        to->origin = from;
        to->disabled = from->disabled;
        to->work = drv_work_copy(&from->work);
        CUgraph const *inside;
        unsigned count = drv_work_graphs(&to->work, &inside);
        for (unsigned k = 0; k < count; k++)
            inside[k]->parent = clone;
        drv_list_add(&clone->nodes, to);
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode from = graph->nodes.items[i], to = clone->nodes.items[i];
        for (size_t k = 0; k < from->before.count; k++)
            drv_list_add(&to->before,
                         clone->nodes.items[((CUgraphNode)from->before.items[k])->mark]);
    }
    for (size_t i = 0; i < graph->users.count; i++) {
        CUuserObject user = graph->users.items[i];
        user->references++;
        drv_list_add(&clone->users, user);
    }
    *result = clone;
    return CUDA_SUCCESS;
}

/* In the order they were added, as far as the edges let them; false if they go in a circle. */
bool drv_graph_sort(CUgraph graph)
{
    struct drv_list sorted = {0};
    for (size_t i = 0; i < graph->nodes.count; i++)
        ((CUgraphNode)graph->nodes.items[i])->mark = 0;
    for (bool progress = true; progress && sorted.count < graph->nodes.count;) {
        progress = false;
        for (size_t i = 0; i < graph->nodes.count; i++) {
            CUgraphNode node = graph->nodes.items[i];
            bool ready = !node->mark;
            for (size_t k = 0; k < node->before.count && ready; k++)
                ready = ((CUgraphNode)node->before.items[k])->mark != 0;
            if (!ready)
                continue;
            node->mark = 1;
            drv_list_add(&sorted, node);
            progress = true;
        }
    }
    bool fine = sorted.count == graph->nodes.count;
    if (fine && sorted.count) {
        memcpy(graph->nodes.items, sorted.items, sorted.count * sizeof *sorted.items);
        for (size_t i = 0; i < sorted.count && fine; i++) {
            CUgraph const *inside;
            unsigned count = drv_work_graphs(&((CUgraphNode)sorted.items[i])->work, &inside);
            for (unsigned k = 0; k < count && fine; k++)
                fine = drv_graph_sort(inside[k]);
        }
    }
    drv_list_free(&sorted);
    return fine;
}

/* Entry points --------------------------------------------------------------------------------- */

CUresult drv_cuGraphCreate(CUgraph *graph, unsigned flags)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!graph || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = drv_graph_new();
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphDestroy(CUgraph graph)
{
    if (!drv_alive(graph, DRV_GRAPH) || graph->parent)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    drv_graph_free(graph);
    drv_leave_lock();
    drv_graph_flush_users();
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphClone(CUgraph *clone, CUgraph graph)
{
    if (!clone || !drv_alive(graph, DRV_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    CUresult status =
        drv_has_conditional(graph) ? CUDA_ERROR_NOT_SUPPORTED : drv_graph_clone(graph, clone);
    drv_leave_lock();
    return status;
}

CUresult drv_cuGraphNodeFindInClone(CUgraphNode *result, CUgraphNode original, CUgraph clone)
{
    if (!result || !drv_alive(original, DRV_NODE) || !drv_alive(clone, DRV_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < clone->nodes.count; i++) {
        CUgraphNode node = clone->nodes.items[i];
        if (node->origin == original) {
            *result = node;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* CUDA's way to return arrays: without an array only the count; else as many as fit, padded with
 * NULL. */
static CUresult hand_out(const struct drv_list *list, CUgraphNode *nodes, size_t *count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    size_t room = *count;
    if (!nodes) {
        *count = list->count;
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < room; i++)
        nodes[i] = i < list->count ? list->items[i] : NULL;
    *count = room < list->count ? room : list->count;
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    if (!drv_alive(graph, DRV_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    CUresult status = hand_out(&graph->nodes, nodes, count);
    drv_leave_lock();
    return status;
}

CUresult drv_cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    struct drv_list roots = {0};
    if (!drv_alive(graph, DRV_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i];
        if (!node->before.count)
            drv_list_add(&roots, node);
    }
    CUresult status = hand_out(&roots, nodes, count);
    drv_leave_lock();
    drv_list_free(&roots);
    return status;
}

CUresult drv_cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                CUgraphEdgeData *data, size_t *count)
{
    struct drv_list firsts = {0}, seconds = {0};
    if (!drv_alive(graph, DRV_GRAPH) || !count || (!from != !to))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i];
        for (size_t k = 0; k < node->before.count; k++) {
            drv_list_add(&firsts, node->before.items[k]);
            drv_list_add(&seconds, node);
        }
    }
    size_t room = *count;
    if (data && from)
        memset(data, 0, room * sizeof *data);
    CUresult status = hand_out(&firsts, from, count);
    if (status == CUDA_SUCCESS)
        status = hand_out(&seconds, to, to ? &room : count);
    drv_leave_lock();
    drv_list_free(&firsts);
    drv_list_free(&seconds);
    return status;
}

CUresult drv_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return drv_cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

CUresult drv_cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes,
                                           CUgraphEdgeData *data, size_t *count)
{
    if (!drv_alive(node, DRV_NODE) || !count)
        return CUDA_ERROR_INVALID_VALUE;
    if (data && nodes)
        memset(data, 0, *count * sizeof *data);
    drv_enter_lock();
    CUresult status = hand_out(&node->before, nodes, count);
    drv_leave_lock();
    return status;
}

CUresult drv_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return drv_cuGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}

CUresult drv_cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                             CUgraphEdgeData *data, size_t *count)
{
    struct drv_list after = {0};
    if (!drv_alive(node, DRV_NODE) || !count)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    for (size_t i = 0; i < node->graph->nodes.count; i++) {
        CUgraphNode other = node->graph->nodes.items[i];
        if (drv_list_has(&other->before, node))
            drv_list_add(&after, other);
    }
    if (data && nodes)
        memset(data, 0, *count * sizeof *data);
    CUresult status = hand_out(&after, nodes, count);
    drv_leave_lock();
    drv_list_free(&after);
    return status;
}

CUresult drv_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return drv_cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}

static CUresult check_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                            size_t count, bool there)
{
    if (!drv_alive(graph, DRV_GRAPH) || (count && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (!drv_alive(from[i], DRV_NODE) || !drv_alive(to[i], DRV_NODE) || from[i] == to[i] ||
            from[i]->graph != graph || to[i]->graph != graph ||
            drv_list_has(&to[i]->before, from[i]) != there)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                       const CUgraphNode *to, const CUgraphEdgeData *data,
                                       size_t count)
{
    drv_enter_lock();
    CUresult status = check_edges(graph, from, to, count, false);
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++)
        drv_list_add(&to[i]->before, from[i]);
    drv_leave_lock();
    return status;
}

CUresult drv_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                    size_t count)
{
    return drv_cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

CUresult drv_cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                          const CUgraphNode *to, const CUgraphEdgeData *data,
                                          size_t count)
{
    drv_enter_lock();
    CUresult status = check_edges(graph, from, to, count, true);
    for (size_t i = 0; i < count && status == CUDA_SUCCESS; i++)
        drv_list_remove(&to[i]->before, from[i]);
    drv_leave_lock();
    return status;
}

CUresult drv_cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                       const CUgraphNode *to, size_t count)
{
    return drv_cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

CUresult drv_cuGraphDestroyNode(CUgraphNode node)
{
    if (!drv_alive(node, DRV_NODE))
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    for (size_t i = 0; i < node->graph->nodes.count; i++)
        drv_list_remove(&((CUgraphNode)node->graph->nodes.items[i])->before, node);
    drv_list_remove(&node->graph->nodes, node);
    node_free(node);
    drv_leave_lock();
    drv_graph_flush_users(); /* of graphs inside the node */
    return CUDA_SUCCESS;
}

/* User objects --------------------------------------------------------------------------------- */

CUresult drv_cuUserObjectCreate(CUuserObject *result, void *pointer, CUhostFn destroy,
                                unsigned references, unsigned flags)
{
    if (!result || !destroy || !references || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    CUuserObject user = drv_new(sizeof *user, DRV_USER);
    user->pointer = pointer;
    user->destroy = destroy;
    user->references = references;
    *result = user;
    return CUDA_SUCCESS;
}

CUresult drv_cuUserObjectRetain(CUuserObject user, unsigned count)
{
    if (!drv_alive(user, DRV_USER) || !count)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    user->references += count;
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuUserObjectRelease(CUuserObject user, unsigned count)
{
    if (!drv_alive(user, DRV_USER) || !count)
        return CUDA_ERROR_INVALID_VALUE;
    user_release(user, count);
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphRetainUserObject(CUgraph graph, CUuserObject user, unsigned count,
                                     unsigned flags)
{
    if (!drv_alive(graph, DRV_GRAPH) || !drv_alive(user, DRV_USER) || !count ||
        flags > CU_GRAPH_USER_OBJECT_MOVE)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    if (flags != CU_GRAPH_USER_OBJECT_MOVE)
        user->references += count;
    for (unsigned i = 0; i < count; i++)
        drv_list_add(&graph->users, user);
    drv_leave_lock();
    return CUDA_SUCCESS;
}

CUresult drv_cuGraphReleaseUserObject(CUgraph graph, CUuserObject user, unsigned count)
{
    if (!drv_alive(graph, DRV_GRAPH) || !drv_alive(user, DRV_USER) || !count)
        return CUDA_ERROR_INVALID_VALUE;
    drv_enter_lock();
    for (unsigned i = 0; i < count; i++)
        drv_list_remove(&graph->users, user);
    drv_leave_lock();
    user_release(user, count);
    return CUDA_SUCCESS;
}
