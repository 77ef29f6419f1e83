/*
 * work.c: what can stand in a stream or a graph node, and how it runs.
 * Kernels, copies and fills run in launch.c, copy.c and fill.c; the small kinds are here.
 */
#include "base/arena.h"
#include "driver/condition.h"
#include "driver/engine.h"
#include "driver/shared_event.h"
#include "simt/memory_events.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void drv_work_clear(struct drv_work *work)
{
    switch (work->kind) {
    case DRV_WORK_KERNEL:
        free(work->kernel.params);
        free(work->kernel.pointers);
        break;
    case DRV_WORK_COPY:
        free(work->copy.staged);
        break;
    case DRV_WORK_LIBRARY:
        free(work->library.data);
        break;
    case DRV_WORK_ALLOC:
        if (--work->memory->references == 0) {
            struct drv_allocation *allocation = drv_allocation_find(work->memory->address);
            if (allocation && allocation->graph_live) /* it outlives its graph, until it is freed */
                allocation->graph_owned = false;
            else if (allocation)
                drv_allocation_free(allocation);
            free(work->memory);
        }
        break;
    case DRV_WORK_CHILD:
        drv_graph_free(work->child);
        break;
    case DRV_WORK_SHARED_RECORD:
    case DRV_WORK_SHARED_WAIT:
        drv_shared_release(work->shared.event);
        break;
    case DRV_WORK_CONDITIONAL:
        drv_conditional_clear(&work->conditional);
        break;
    default:
        break;
    }
    *work = (struct drv_work){0};
}

struct drv_work drv_work_copy(const struct drv_work *work)
{
    struct drv_work copy = *work;
    switch (work->kind) {
    case DRV_WORK_KERNEL:
        copy.kernel.pointers = NULL;
        copy.kernel.params = lk_alloc(work->kernel.params_size + 1);
        memcpy(copy.kernel.params, work->kernel.params, work->kernel.params_size);
        break;
    case DRV_WORK_COPY:
        copy.copy.staged = NULL; /* graph nodes read their source when they run */
        break;
    case DRV_WORK_LIBRARY:
        copy.library.data = lk_alloc(work->library.size + 1);
        memcpy(copy.library.data, work->library.data, work->library.size);
        break;
    case DRV_WORK_ALLOC:
        copy.memory->references++;
        break;
    case DRV_WORK_CHILD:
        if (drv_graph_clone(work->child, &copy.child) == CUDA_SUCCESS)
            copy.child->parent = work->child->parent;
        break;
    case DRV_WORK_CONDITIONAL:
        drv_conditional_copy(&copy.conditional);
        break;
    default:
        break;
    }
    return copy;
}

/* Is it so for a node of a graph in it? */
static bool any_inside(const struct drv_work *work, bool (*test)(const struct drv_work *work))
{
    CUgraph const *graphs = NULL;
    unsigned count = drv_work_graphs(work, &graphs);
    if (work->kind == DRV_WORK_GRAPH) {
        graphs = &work->graph.exec->graph;
        count = 1;
    }
    for (unsigned k = 0; k < count; k++)
        for (size_t i = 0; i < graphs[k]->nodes.count; i++)
            if (test(&((CUgraphNode)graphs[k]->nodes.items[i])->work))
                return true;
    return false;
}

bool drv_work_uses_machine(const struct drv_work *work)
{
    return work->kind == DRV_WORK_KERNEL || any_inside(work, drv_work_uses_machine);
}

/* Runs the program's own code, or may wait for it: not for a thread that is inside a call. */
bool drv_work_calls_host(const struct drv_work *work)
{
    return work->kind == DRV_WORK_HOST || work->kind == DRV_WORK_CALLBACK ||
           work->kind == DRV_WORK_WAIT_VALUE || work->kind == DRV_WORK_SHARED_WAIT ||
           any_inside(work, drv_work_calls_host);
}

static void run_host(CUhostFn function, void *data)
{
    drv_thread.in_callback = true;
    function(data);
    drv_thread.in_callback = false;
}

static bool value_reached(const struct drv_work *work, uint64_t now)
{
    uint64_t wanted = work->value.value;
    switch (work->value.flags & 3) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return (work->value.wide ? ~(now | wanted) : (uint32_t) ~(now | wanted)) != 0;
    default: /* a cyclic comparison */
        return work->value.wide ? (int64_t)(now - wanted) >= 0 : (int32_t)(now - wanted) >= 0;
    }
}

static CUresult run_value(CUcontext context, struct drv_work *work)
{
    size_t size = work->value.wide ? 8 : 4;
    volatile void *at = drv_host(work->value.address, size);
    if (!at)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (work->kind == DRV_WORK_WRITE_VALUE) {
        if (work->value.wide)
            __atomic_store_n((volatile uint64_t *)at, work->value.value, __ATOMIC_SEQ_CST);
        else
            __atomic_store_n((volatile uint32_t *)at, (uint32_t)work->value.value,
                             __ATOMIC_SEQ_CST);
        simt_event_written(context->device->machine, work->value.address, 0, size);
        return CUDA_SUCCESS;
    }
    for (unsigned turn = 0;; turn++) {
        uint64_t now = work->value.wide
                           ? __atomic_load_n((volatile uint64_t *)at, __ATOMIC_SEQ_CST)
                           : __atomic_load_n((volatile uint32_t *)at, __ATOMIC_SEQ_CST);
        if (value_reached(work, now))
            return CUDA_SUCCESS;
        usleep(turn < 100 ? 10 : 200);
    }
}

CUresult drv_work_run(CUcontext context, struct drv_work *work, double *clock)
{
    switch (work->kind) {
    case DRV_WORK_KERNEL:
        return drv_kernel_run(context, &work->kernel, clock);
    case DRV_WORK_COPY:
        return drv_copy_run(context, &work->copy, clock);
    case DRV_WORK_FILL:
        return drv_fill_run(context, &work->fill, clock);
    case DRV_WORK_GRAPH:
        return drv_graph_run(work->graph.exec, clock);
    case DRV_WORK_HOST:
        run_host(work->host.function, work->host.data);
        *clock += 5e-6;
        return CUDA_SUCCESS;
    case DRV_WORK_LIBRARY:
        return drv_library_run(context, &work->library, clock);
    case DRV_WORK_CALLBACK:
        drv_thread.in_callback = true;
        work->callback.function(work->callback.stream, context->error, work->callback.data);
        drv_thread.in_callback = false;
        *clock += 5e-6;
        return CUDA_SUCCESS;
    case DRV_WORK_WAIT_VALUE:
    case DRV_WORK_WRITE_VALUE:
        *clock += 1e-6;
        return run_value(context, work);
    case DRV_WORK_SHARED_RECORD:
    case DRV_WORK_SHARED_WAIT:
        drv_shared_run(work);
        return CUDA_SUCCESS;
    case DRV_WORK_ALLOC:
        drv_enter_lock();
        drv_allocation_find(work->memory->address)->graph_live = true;
        drv_leave_lock();
        return CUDA_SUCCESS;
    case DRV_WORK_FREE: {
        drv_enter_lock();
        struct drv_allocation *allocation = drv_allocation_find(work->address);
        if (allocation && allocation->address == work->address)
            drv_allocation_release(allocation);
        else if (!allocation)
            simt_event_bad_free(context->device->machine, work->address);
        drv_leave_lock();
        return CUDA_SUCCESS;
    }
    default: /* a record takes no time: an empty kernel's is the time between two of them */
        return CUDA_SUCCESS;
    }
}
