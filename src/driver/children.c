/*
 * children.c: dynamic parallelism: runs what the threads of a grid have launched, and answers their
 * calls of the device runtime (simt/children.h).
 *
 * A grid is complete when everything that it launched is. Children run when their parent's own
 * blocks have ended, depth first, in the order in which they were launched; those of the tail
 * stream come last. That is one of the orders that a GPU may choose, and the same in each run. In
 * modelled time, what different blocks and streams launched overlaps.
 */
#include "driver/children.h"
#include "driver/condition.h"
#include "driver/timeline.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* Calls of the device runtime ------------------------------------------------------------------ */

static const char *error_text(int error, bool is_name)
{
    static const struct {
        int value;
        const char *name, *text;
    } errors[] = {
#define ERROR(name, value, text) {value, #name, text},
#include "cuda/runtime_errors.def"
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == error)
            return is_name ? errors[i].name : errors[i].text;
    return "unrecognized error code";
}

static struct drv_kernel_work kernel_of(CUfunction parent, const struct simt_child *child)
{
    struct drv_kernel_work kernel = {.shared = child->shared, .params = child->params};
    drv_enter_lock();
    drv_module_function(parent->module, simt_kernel_info(child->kernel)->name, &kernel.function);
    drv_leave_lock();
    memcpy(kernel.grid, child->grid, sizeof kernel.grid);
    memcpy(kernel.block, child->block, sizeof kernel.block);
    memcpy(kernel.cluster, kernel.function->settings.cluster, sizeof kernel.cluster);
    kernel.params_size = kernel.function->info->param_bytes;
    return kernel;
}

static bool in_memory(uint64_t address, size_t pitch, const struct simt_child *child)
{
    size_t step = pitch ? pitch : child->width, bytes;
    if (!child->width || !child->height)
        return true;
    if (step < child->width || __builtin_mul_overflow(step, child->height - 1, &bytes) ||
        __builtin_add_overflow(bytes, child->width, &bytes))
        return false;
    return drv_host(address, bytes) != NULL;
}

static int check(struct simt_children *children, const struct simt_child *child)
{
    enum { INVALID_VALUE = 1, INVALID_CONFIGURATION = 9 }; /* cudaError_t */
    CUfunction parent = children->context;
    if (child->kind != SIMT_CHILD_KERNEL) {
        bool fine =
            in_memory(child->to, child->to_pitch, child) &&
            (child->kind == SIMT_CHILD_FILL || in_memory(child->from, child->from_pitch, child));
        return fine ? 0 : INVALID_VALUE;
    }
    struct drv_kernel_work kernel = kernel_of(parent, child);
    CUresult status = drv_kernel_check(parent->module->context, &kernel);
    return status == CUDA_ERROR_INVALID_VALUE ? INVALID_CONFIGURATION : (int)status;
}

static int device_count(void)
{
    return drv_device_count;
}

static int device_of(struct simt_children *children)
{
    return ((CUfunction)children->context)->module->context->device->ordinal;
}

/* What an H200 says, with CUDA 13. */
static int version(void)
{
    return 6000;
}

static int device_attribute(int attribute, int device, int *value)
{
    return (int)drv_cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device);
}

static int limit(struct simt_children *children, int which, uint64_t *value)
{
    CUcontext context = ((CUfunction)children->context)->module->context;
    if (which < 0 || which > CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT ||
        which == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = context->limits[which];
    return 0;
}

static int occupancy(struct simt_children *children, struct simt_kernel *kernel, int block,
                     uint64_t shared, int *blocks)
{
    const struct gpu_info *gpu = ((CUfunction)children->context)->module->context->device->gpu;
    const struct simt_kernel_info *info = simt_kernel_info(kernel);
    if (block <= 0 || shared > UINT32_MAX - info->static_shared)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = (int)gpu_occupancy(gpu, (unsigned)block, info->registers,
                                 info->static_shared + (unsigned)shared)
                  .blocks_per_sm;
    return 0;
}

static void run_now(struct simt_children *children);

void drv_children_open(struct simt_children *children, CUcontext context, CUfunction function)
{
    static const struct simt_runtime_calls calls = {.check = check,
                                                    .error_text = error_text,
                                                    .device_count = device_count,
                                                    .device = device_of,
                                                    .version = version,
                                                    .device_attribute = device_attribute,
                                                    .limit = limit,
                                                    .occupancy = occupancy,
                                                    .set_condition = drv_condition_set,
                                                    .run_now = run_now};
    simt_children_open(children, context->device->machine, &calls);
    children->context = function;
    children->most = context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT];
}

/* Running -------------------------------------------------------------------------------------- */

struct grid {
    struct simt_child *child; /* NULL: the one that the host launched */
    struct grid *parent;
    struct grid *previous; /* of the same stream: ends before this begins; NULL: none */
    double ran;            /* modelled end of its own blocks, */
    double ends;           /* and of all that it launched, so far */
};

struct tree {
    struct lk_arena *arena;
    struct grid **waiting; /* the next one to run is last */
    size_t count, capacity;
    bool beside; /* a grid that has not ended waits for it */
};

static void push(struct tree *tree, struct grid *grid)
{
    if (tree->count == tree->capacity) {
        tree->capacity = tree->capacity ? 2 * tree->capacity : 64;
        tree->waiting = lk_realloc(tree->waiting, tree->capacity * sizeof *tree->waiting);
    }
    tree->waiting[tree->count++] = grid;
}

static bool same_stream(const struct simt_child *a, const struct simt_child *b)
{
    return a->from_block == b->from_block && a->stream == b->stream &&
           a->stream != SIMT_STREAM_FORGET;
}

/* The latest of its stream among the grids of the same block before it. */
static struct grid *previous_of(struct grid *const *grids, size_t index)
{
    const struct simt_child *child = grids[index]->child;
    for (size_t i = index; i-- > 0 && grids[i]->child->from_block == child->from_block;)
        if (same_stream(grids[i]->child, child))
            return grids[i];
    return NULL;
}

/* What parent launched waits: its tail stream below the others, the first on top. */
static void push_children(struct tree *tree, struct grid *parent, struct simt_children *children)
{
    size_t count = children->count;
    struct grid **grids = lk_alloc((count + 1) * sizeof *grids);
    for (size_t i = 0; i < count; i++) {
        struct grid grid = {.child = children->items[i], .parent = parent};
        grids[i] = lk_arena_dup(tree->arena, &grid, sizeof grid);
        if (grid.child->stream != SIMT_STREAM_TAIL)
            grids[i]->previous = previous_of(grids, i);
    }
    for (int tail = 1; tail >= 0; tail--)
        for (size_t i = count; i-- > 0;)
            if ((grids[i]->child->stream == SIMT_STREAM_TAIL) == tail)
                push(tree, grids[i]);
    free(grids);
    free(children->items);
}

static struct drv_work move_of(const struct simt_child *child)
{
    struct drv_work work = {0};
    if (child->kind == SIMT_CHILD_FILL) {
        work.kind = DRV_WORK_FILL;
        work.fill = (struct drv_fill_work){child->to,     child->to_pitch, child->width,
                                           child->height, child->value,    1};
    } else {
        work.kind = DRV_WORK_COPY;
        work.copy = (struct drv_copy_work){
            .from = {.type = CU_MEMORYTYPE_DEVICE,
                     .address = child->from,
                     .pitch = child->from_pitch},
            .to = {.type = CU_MEMORYTYPE_DEVICE, .address = child->to, .pitch = child->to_pitch},
            .width = child->width,
            .height = child->height,
            .depth = 1,
            .from_device = true,
            .to_device = true};
    }
    return work;
}

static CUresult run_one(CUcontext context, CUfunction function, struct tree *tree,
                        struct grid *grid)
{
    struct simt_child *child = grid->child;
    double clock = grid->parent->ran, ended = 0;
    CUresult status = CUDA_SUCCESS;
    if (child->stream == SIMT_STREAM_TAIL)
        clock = grid->parent->ends;
    else if (grid->previous && grid->previous->ends > clock)
        clock = grid->previous->ends;
    if (child->kind == SIMT_CHILD_KERNEL && tree->beside &&
        !simt_kernel_runs_beside(child->kernel)) {
        drv_remark(
            "%s takes the address of a parameter, and cannot begin while a grid polls for it",
            simt_kernel_info(child->kernel)->name);
        status = CUDA_ERROR_NOT_SUPPORTED;
    } else if (child->kind == SIMT_CHILD_KERNEL) {
        struct drv_work work = {.kind = DRV_WORK_KERNEL, .kernel = kernel_of(function, child)};
        struct simt_children children;
        drv_children_open(&children, context, function);
        status = drv_grid_run(context, &work.kernel, &children, &clock);
        drv_timeline_node(context, &work, clock);
        simt_children_close(&children);
        grid->ran = clock;
        ended = children.ended;
        status = status == CUDA_SUCCESS ? (CUresult)children.status : status;
        push_children(tree, grid, &children);
    } else {
        struct drv_work work = move_of(child);
        status = drv_work_run(context, &work, &clock);
        drv_timeline_node(context, &work, clock);
    }
    ended = ended > clock ? ended : clock;
    for (struct grid *at = grid; at; at = at->parent)
        at->ends = at->ends > ended ? at->ends : ended;
    simt_child_free(child);
    return status;
}

/* Runs children and all that they launch, beside the grid or after it; *clock: when they may begin,
 * and then when all have ended. */
static CUresult run_tree(CUcontext context, CUfunction function, struct simt_children *children,
                         bool beside, CUresult status, double *clock)
{
    double began = drv_thread.began;
    struct tree tree = {.arena = lk_arena_create(), .beside = beside};
    struct grid root = {.ran = *clock, .ends = *clock};
    push_children(&tree, &root, children);
    while (tree.count && status == CUDA_SUCCESS) {
        struct grid *next = tree.waiting[--tree.count];
        status = run_one(context, function, &tree, next);
    }
    while (tree.count)
        simt_child_free(tree.waiting[--tree.count]->child);
    free(tree.waiting);
    lk_arena_destroy(tree.arena);
    drv_thread.began = began; /* the timeline shows the first grid with all that it launched */
    *clock = root.ends;
    return status;
}

/* The grid polls; the thread is one of those that run its blocks. */
static void run_now(struct simt_children *children)
{
    CUfunction function = children->context;
    CUcontext context = function->module->context;
    struct simt_children ready = {0};
    double clock = children->began;
    ready.items = simt_children_take_ready(children, &ready.count);
    drv_machine_resumes(context->device);
    CUresult status = run_tree(context, function, &ready, true, CUDA_SUCCESS, &clock);
    drv_machine_yields(context->device);
    children->ended = clock > children->ended ? clock : children->ended;
    children->status = children->status ? children->status : (int)status;
}

CUresult drv_children_run(CUcontext context, CUfunction function, struct simt_children *children,
                          CUresult status, double *clock)
{
    simt_children_close(children);
    if (status == CUDA_SUCCESS)
        status = (CUresult)children->status;
    if (children->count)
        status = run_tree(context, function, children, false, status, clock);
    else
        free(children->items);
    *clock = children->ended > *clock ? children->ended : *clock;
    return status;
}
