/*
 * graph_print.c: cuGraphDebugDotPrint: a graph as a file for Graphviz.
 */
#include "driver/condition.h"

#include <stdio.h>

static const char *const type_names[] = {
    "KERNEL",       "MEMCPY",       "MEMSET",           "HOST",           "GRAPH",     "EMPTY",
    "WAIT_EVENT",   "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE",
    "BATCH_MEM_OP", "CONDITIONAL"};

static void print_node(FILE *file, CUgraphNode node, unsigned graph, unsigned flags)
{
    const struct drv_work *work = &node->work;
    fprintf(file, "    \"graph_%u_node_%u\" [shape=record label=\"{%u | %s", graph, node->id,
            node->id, type_names[drv_node_type(node)]);
    if (work->kind == DRV_WORK_KERNEL) {
        const struct drv_kernel_work *kernel = &work->kernel;
        fprintf(file, " | %s\\<\\<\\<(%u,%u,%u),(%u,%u,%u),%u\\>\\>\\>",
                kernel->function->info->name, kernel->grid[0], kernel->grid[1], kernel->grid[2],
                kernel->block[0], kernel->block[1], kernel->block[2], kernel->shared);
    } else if (work->kind == DRV_WORK_COPY) {
        fprintf(file, " | 0x%llx to 0x%llx | %zu x %zu x %zu bytes", work->copy.from.address,
                work->copy.to.address, work->copy.width, work->copy.height, work->copy.depth);
    } else if (work->kind == DRV_WORK_FILL) {
        fprintf(file, " | 0x%llx = %u | %zu x %zu of %u bytes", work->fill.address,
                work->fill.value, work->fill.width, work->fill.height, work->fill.element);
    }
    if (flags & (CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE))
        fprintf(file, " | handle %p", (void *)node);
    fprintf(file, "}\"];\n");
}

static void print_graph(FILE *file, CUgraph graph, unsigned *next, unsigned flags)
{
    unsigned self = (*next)++;
    fprintf(file, "  subgraph cluster_%u {\n    label=\"graph_%u\";\n", self, self);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i];
        print_node(file, node, self, flags);
        for (size_t k = 0; k < node->before.count; k++)
            fprintf(file, "    \"graph_%u_node_%u\" -> \"graph_%u_node_%u\";\n", self,
                    ((CUgraphNode)node->before.items[k])->id, self, node->id);
    }
    fprintf(file, "  }\n");
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i];
        CUgraph const *inside;
        unsigned count = drv_work_graphs(&node->work, &inside);
        for (unsigned k = 0; k < count; k++)
            print_graph(file, inside[k], next, flags);
    }
}

CUresult drv_cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags)
{
    unsigned next = 0;
    if (!drv_alive(graph, DRV_GRAPH) || !path)
        return CUDA_ERROR_INVALID_VALUE;
    FILE *file = fopen(path, "w");
    if (!file)
        return CUDA_ERROR_OPERATING_SYSTEM;
    drv_enter_lock();
    fprintf(file, "digraph dot {\n");
    print_graph(file, graph, &next, flags);
    fprintf(file, "}\n");
    drv_leave_lock();
    return fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
