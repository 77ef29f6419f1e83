/*
 * check.c: the checker: examines every access of a watched launch before it happens, blocks those
 * that are out of bounds, and reports what it finds. LOCKSTEP_CHECK=FILE turns it on; see check.h.
 */
#include "check/check.h"
#include "check/checker.h"
#include "check/ops.h"
#include "check/products.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void begin_launch(struct simt_watcher *watcher, struct simt_launch_state *launch)
{
    struct check *check = (struct check *)watcher;
    pthread_mutex_lock(&check->host_lock);
    check->is_running = true;
    pthread_mutex_unlock(&check->host_lock);
    check->launch = launch;
    check->frame_function = NULL;
    check->caches = lk_alloc_zeroed((launch->code->inst_count + 1) * sizeof(*check->caches));
    check_shared_variables(check);
    check->traits = check_traits(launch, check->owners, &check->has_narrow);
    check_ops_launch_begins(check);
    check_order_begin(check);
    if (check_products_begin(check, launch))
        launch->watch->follows = true;
}

static void end_launch(struct simt_watcher *watcher, struct simt_launch_state *launch)
{
    struct check *check = (struct check *)watcher;
    check_memory_drain(check);
    check->had_fault |= launch->fault->kind != SIMT_OK;
    check_ops_launch_ends(check);
    check_unwritten_end(check);
    check_taint_end(check);
    check_sync_fault(check, launch);
    check_write_counts(check);
    check_order_end(check);
    pthread_mutex_lock(&check->host_lock);
    check->is_running = false;
    free(check->caches);
    free(check->traits);
    check->caches = NULL;
    check->traits = NULL;
    pthread_mutex_unlock(&check->host_lock);
    check_memory_drain(check);
    check->launch = NULL;
}

static void at_block(struct simt_watcher *watcher, struct simt_block *block, bool begins)
{
    struct check *check = (struct check *)watcher;
    if (!begins)
        check_async_end(check, block);
    if (check->has_products && !begins)
        check_products_block(block, false);
    check_order_block(check, block, begins);
    if (check->has_products && begins)
        check_products_block(block, true);
    if (!begins)
        block->launch->progress = block->launch->instructions + block->worker->instructions;
}

static uint32_t at_access(struct simt_watcher *watcher, const struct watch_access *access)
{
    struct check *check = (struct check *)watcher;
    uint32_t refused;
    bool tracks = false;
    if (access->audience == WATCH_FOR_COUNTERS)
        return 0;
    if (atomic_load_explicit(&check->has_events, memory_order_relaxed))
        check_memory_drain(check);
    switch (access->space) {
    case PTX_SPACE_LOCAL:
        refused = check_local_bounds(check, access);
        if (check->machine->watch->follows && access->what->kind == WATCH_STORE)
            check_taint_store(check, access, access->mask & ~refused);
        else if (check->machine->watch->follows)
            check_taint_load_local(check, access, access->mask & ~refused);
        return refused;
    case PTX_SPACE_CONST: /* the host, or another stream, may be changing it */
        refused = check_memory_bounds(check, access, &tracks);
        tracks = false;
        break;
    case PTX_SPACE_SHARED:
        refused = check_shared_bounds(check, access);
        break;
    default:
        refused = check_memory_bounds(check, access, &tracks);
    }
    uint32_t mask = access->mask & ~refused;
    if (!mask)
        return refused;
    if (access->what->is_ordered) {
        check_order_access(check, access, mask);
        if (check->op && access->space == PTX_SPACE_GLOBAL &&
            access->addresses[__builtin_ctz(mask)] - check->machine->memory.base >= SIMT_ARENA_HALF)
            check->op->talks = true; /* with the host, or another kernel */
    }
    check_race_access(check, access, mask, tracks);
    if (check->has_products && access->space == PTX_SPACE_SHARED && access->is_write)
        check_products_write(check, access, mask);
    if (check->machine->watch->follows && access->what->kind == WATCH_STORE)
        check_taint_store(check, access, mask);
    if (access->space == PTX_SPACE_SHARED && access->block != access->w->block)
        check_cluster_access(check, access, mask);
    if (access->space == PTX_SPACE_SHARED && access->is_write)
        check_async_wrote(check, access);
    return refused;
}

static void at_order(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in)
{
    struct check *check = (struct check *)watcher;
    switch (ptx_op_infos[in->ptx->op].group) {
    case PTX_GROUP_ATOMIC:
        check_order_fence(check, w, in->ptx);
        check_bulk_order(check, w, in);
        break;
    case PTX_GROUP_BULK:
        check_bulk_order(check, w, in);
        break;
    case PTX_GROUP_ASYNC:
        if (!check_bulk_order(check, w, in))
            check_async_order(check, w, in);
        break;
    case PTX_GROUP_CONTROL:
        if (ptx_has(in->ptx, PTX_MOD_WAIT)) {
            check_order_open_segment(check, w->block->check, w->index);
            check_warp_of(w)->waited_for_grid = check->time;
        }
        break;
    case PTX_GROUP_CLUSTER:
        check_cluster_order(check, w, in);
        break;
    default:
        check_sync_before(check, w, in);
    }
}

static void at_warp_sync(struct simt_watcher *watcher, struct simt_warp *w,
                         const struct simt_inst *in, uint32_t lanes)
{
    struct check *check = (struct check *)watcher;
    check_sync_gathered(check, w, in, lanes);
    check_taint_sync(check, w, in, lanes);
    check_order_warp_sync(check, w, in, lanes);
}

static void at_barrier(struct simt_watcher *watcher, struct simt_block *block, uint32_t id)
{
    struct check *check = (struct check *)watcher;
    check_sync_barrier(check, block, id);
    check_order_barrier(check, block, id);
}

/* Python gives back at its end what scripts still hold, or does not: sitecustomize.py has put the
 * process's number here. */
static bool is_python(void)
{
    const char *process = getenv("LOCKSTEP_CHECK_PYTHON");
    return process && strtol(process, NULL, 10) == getpid();
}

static void at_left(struct simt_watcher *watcher, uint64_t address)
{
    struct check *check = (struct check *)watcher;
    struct check_subject subject = {.space = PTX_SPACE_GLOBAL, .address = address};
    if (!check->had_fault && !is_python() &&
        check_find_allocation(check, address, &subject.allocation))
        check_report_host(check, CHECK_LEAK, &subject, &subject.allocation.callers, NULL,
                          "leak: " CHECK_ALLOCATION " was never freed");
}

static void at_close(struct simt_watcher *watcher)
{
    struct check *check = (struct check *)watcher;
    check_memory_close(check);
    check_heap_close(check);
    fclose(check->file);
    free(check->segment_warps);
    free(check->segment_engines);
    free(check->errors);
    pthread_mutex_destroy(&check->report_lock);
    free(check);
}

static void at_follow(struct simt_watcher *watcher, struct simt_warp *w, const struct simt_inst *in)
{
    struct check *check = (struct check *)watcher;
    check_taint_step(watcher, w, in);
    if (check->has_products)
        check_products_step(check, w, in);
}

struct simt_watcher *checker_open(struct simt_machine *machine, const char *path)
{
    enum { PATIENCE = 6 };
    if (!getenv("LOCKSTEP_PATIENCE"))
        machine->options.patience = PATIENCE;
    FILE *file = fopen(path, "ae");
    if (!file) {
        fprintf(stderr, "lockstep: check: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    struct check *check = lk_alloc_zeroed(sizeof(*check));
    check->machine = machine;
    check->file = file;
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&check->report_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    check->history = UINT32_MAX;
    check_memory_open(check);
    check_owner_open(check);
    check->watcher = (struct simt_watcher){.launch = begin_launch,
                                           .block = at_block,
                                           .access = at_access,
                                           .bulk = check_bulk_hook,
                                           .warp_sync = at_warp_sync,
                                           .barrier = at_barrier,
                                           .cluster_barrier = check_cluster_barrier,
                                           .cluster_exit = check_cluster_exit,
                                           .order = at_order,
                                           .follow = at_follow,
                                           .stuck = check_sync_stuck,
                                           .heap = check_heap_event,
                                           .allocated = check_memory_alloc,
                                           .freed = check_memory_free,
                                           .bad_free = check_memory_bad_free,
                                           .bad_range = check_memory_bad_range,
                                           .written = check_memory_written,
                                           .left = at_left,
                                           .submitted = check_op_submitted,
                                           .op_event = check_op_event,
                                           .freeing = check_host_freeing,
                                           .done = end_launch,
                                           .close = at_close};
    return &check->watcher;
}
