/*
 * watched.c: tells watchers of the operations of streams and graphs, and of their order. Without
 * watchers nothing happens, and handles are NULL.
 */
#include "driver/state.h"

#include "simt/memory_events.h"

static struct simt_machine *machine_of(CUcontext context)
{
    return context->device->machine;
}

/* Slices that do not follow each other like rows are told of as far as the first one. */
static struct simt_box box_of(const struct drv_copy_side *side, const struct drv_copy_work *copy,
                              bool is_write)
{
    size_t pitch = side->pitch ? side->pitch : side->x + copy->width;
    size_t rows = side->height ? side->height : side->y + copy->height;
    struct simt_box box = {side->address + (side->z * rows + side->y) * pitch + side->x,
                           copy->width, pitch, copy->height, is_write};
    if (rows == copy->height)
        box.rows *= copy->depth;
    return box;
}

static void put_boxes(const struct drv_work *work, struct simt_op_info *info)
{
    const struct drv_copy_work *copy = &work->copy;
    const struct drv_fill_work *fill = &work->fill;
    struct drv_allocation *allocation;
    switch (work->kind) {
    case DRV_WORK_COPY:
        info->kind = SIMT_OP_COPY;
        if (!copy->staged && drv_is_device_address(copy->from.address))
            info->boxes[info->box_count++] = box_of(&copy->from, copy, false);
        if (drv_is_device_address(copy->to.address))
            info->boxes[info->box_count++] = box_of(&copy->to, copy, true);
        break;
    case DRV_WORK_FILL:
        info->kind = SIMT_OP_FILL;
        info->boxes[info->box_count++] = (struct simt_box){
            fill->address, fill->width * fill->element, fill->pitch, fill->height, true};
        break;
    case DRV_WORK_FREE:
        info->kind = SIMT_OP_FREE;
        allocation = drv_allocation_find(work->address);
        if (allocation)
            info->boxes[info->box_count++] =
                (struct simt_box){allocation->address, allocation->size, 0, 1, true};
        break;
    default:
        break;
    }
}

static struct simt_op_info describe(const struct drv_work *work, const struct drv_list *after)
{
    struct simt_op_info info = {.after = after->items, .after_count = after->count};
    if (work->kind == DRV_WORK_KERNEL) {
        info.kind = SIMT_OP_KERNEL;
        info.name = work->kernel.function->info->name;
        info.may_begin_early = work->kernel.programmatic;
        info.params = work->kernel.params;
        info.params_size = work->kernel.params_size;
    } else if (work->kind == DRV_WORK_GRAPH) {
        info.kind = SIMT_OP_GRAPH;
    } else {
        put_boxes(work, &info);
    }
    return info;
}

void drv_watch_submit(struct drv_op *op, const struct drv_list *after)
{
    struct simt_op_info info = describe(&op->work, after);
    info.stream = op->stream->id;
    op->watched = simt_event_submitted(machine_of(op->stream->context), &info);
}

void *drv_watch_node(CUcontext context, const struct drv_work *work, const struct drv_list *after)
{
    if (!drv_thread.watched)
        return NULL;
    drv_enter_lock();
    struct simt_op_info info = describe(work, after);
    drv_leave_lock();
    info.graph = drv_thread.watched;
    return simt_event_submitted(machine_of(context), &info);
}

void drv_watch_synced(const struct drv_op *op)
{
    simt_event_op_synced(machine_of(op->stream->context), op->watched);
}

void drv_watch_retire(CUstream stream)
{
    CUcontext context = stream->context;
    if (stream->last && stream->last->watched && !(stream->flags & CU_STREAM_NON_BLOCKING))
        drv_list_add(&context->retired,
                     simt_event_op_retain(machine_of(context), stream->last->watched));
}

void drv_watch_after_retired(CUcontext context, struct drv_list *after)
{
    for (size_t i = 0; i < context->retired.count; i++)
        drv_list_add(after, context->retired.items[i]);
}

void drv_watch_context_synced(CUcontext context)
{
    for (size_t i = 0; i < context->retired.count; i++) {
        simt_event_op_synced(machine_of(context), context->retired.items[i]);
        simt_event_op_release(machine_of(context), context->retired.items[i]);
    }
    drv_list_free(&context->retired);
}
