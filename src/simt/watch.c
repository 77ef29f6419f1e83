/*
 * watch.c: the watchers of a machine, and the events of launches, blocks, barriers and host memory
 * that they receive. Accesses reach them from exec_watch.c.
 */
#include "simt/watch.h"
#include "simt/memory_events.h"

#include <stdlib.h>

/* Watchers --------------------------------------------------------------------------------------
 */

static void add(struct simt_watch **watch, struct simt_watcher *watcher)
{
    if (!*watch)
        *watch = lk_alloc_zeroed(sizeof(**watch));
    (*watch)->slice = simt_watched_slice();
    watcher->next = (*watch)->first;
    (*watch)->wants_all |= watcher->wants_all;
    (*watch)->first = watcher;
}

void simt_watch_add(struct simt_machine *machine, struct simt_watcher *watcher)
{
    if (watcher)
        add(&machine->watch, watcher);
}

static void watch_close(struct simt_watch **watch)
{
    if (!*watch)
        return;
    for (struct simt_watcher *watcher = (*watch)->first, *next; watcher; watcher = next) {
        next = watcher->next;
        if (watcher->close)
            watcher->close(watcher);
    }
    free(*watch);
    *watch = NULL;
}

void simt_watch_close(struct simt_machine *machine)
{
    watch_close(&machine->watch);
    watch_close(&machine->timer);
}

void simt_set_timer(struct simt_machine *machine, simt_timer_open *open)
{
    machine->open_timer = open;
}

struct simt_watch *simt_watch_for(struct simt_machine *machine,
                                  const struct simt_launch_state *state)
{
    struct simt_watch *beside = NULL;
    if (machine->watch && !state->beside)
        return machine->watch;
    if (!machine->open_timer || !(state->launch->timed || machine->watch))
        return NULL;
    if (machine->timer_busy || state->beside) { /* a launch that waits for this one may have it */
        add(&beside, machine->open_timer(machine));
        return beside;
    }
    if (!machine->timer)
        add(&machine->timer, machine->open_timer(machine));
    machine->timer_busy = true;
    return machine->timer;
}

void simt_watch_return(struct simt_machine *machine, struct simt_launch_state *state)
{
    if (state->watch == machine->timer)
        machine->timer_busy = false;
    else if (state->watch != machine->watch)
        watch_close(&state->watch);
}

void simt_watch_launch(struct simt_launch_state *launch)
{
    struct simt_watch *watch = launch->watch;
    watch->code = launch->code;
    watch->modelled_seconds = watch->modelled_share = 0;
    watch->follows = false;
    pthread_mutex_lock(&launch->machine->launch_lock);
    if (!launch->code->watched)
        ((struct simt_code *)launch->code)->watched = simt_watch_describe(launch->code);
    pthread_mutex_unlock(&launch->machine->launch_lock);
    watch->insts = launch->code->watched;
    watch->tallies = lk_alloc_zeroed((launch->code->inst_count + 1) * sizeof(*watch->tallies));
    EACH_WATCHER(watch, launch) watcher->launch(watcher, launch);
}

void simt_watch_done(struct simt_launch_state *launch)
{
    struct simt_watch *watch = launch->watch;
    EACH_WATCHER(watch, done) watcher->done(watcher, launch);
    free(watch->tallies);
    watch->insts = NULL;
    watch->tallies = NULL;
    watch->code = NULL;
}

void simt_watch_block(struct simt_block *block, bool begins)
{
    EACH_WATCHER(block->launch->watch, block) watcher->block(watcher, block, begins);
}

void simt_watch_warp_sync(struct simt_warp *w, const struct simt_inst *in, uint32_t lanes)
{
    EACH_WATCHER(w->block->launch->watch, warp_sync)
    watcher->warp_sync(watcher, w, in, lanes);
}

void simt_watch_barrier(struct simt_block *block, uint32_t id)
{
    EACH_WATCHER(block->launch->watch, barrier) watcher->barrier(watcher, block, id);
}

void simt_watch_cluster_barrier(struct simt_block *block)
{
    EACH_WATCHER(block->launch->watch, cluster_barrier) watcher->cluster_barrier(watcher, block);
}

void simt_watch_cluster_exit(struct simt_block *block)
{
    EACH_WATCHER(block->launch->watch, cluster_exit) watcher->cluster_exit(watcher, block);
}

void simt_watch_stuck(struct simt_warp *w, bool barrier)
{
    EACH_WATCHER(w->block->launch->watch, stuck) watcher->stuck(watcher, w, barrier);
}

void simt_watch_heap(struct simt_warp *w, const struct simt_inst *in, int lane,
                     enum watch_heap_event event, uint64_t address, uint64_t size)
{
    struct simt_watch *watch = w->block->launch->watch;
    if (watch)
        EACH_WATCHER(watch, heap) watcher->heap(watcher, w, in, lane, event, address, size);
}

/* Memory, as the host uses it ---------------------------------------------------------------------
 */

void simt_watch_allocated(struct simt_machine *machine, uint64_t address, size_t size)
{
    EACH_WATCHER(machine->watch, allocated) watcher->allocated(watcher, address, size);
}

void simt_watch_freed(struct simt_machine *machine, uint64_t address)
{
    EACH_WATCHER(machine->watch, freed) watcher->freed(watcher, address);
}

void simt_event_bad_free(struct simt_machine *machine, uint64_t address)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, bad_free) watcher->bad_free(watcher, address);
}

void simt_event_bad_range(struct simt_machine *machine, uint64_t address, size_t size)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, bad_range) watcher->bad_range(watcher, address, size);
}

void simt_event_written(struct simt_machine *machine, uint64_t to, uint64_t from, size_t size)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, written) watcher->written(watcher, to, from, size);
}

void simt_event_left(struct simt_machine *machine, uint64_t address)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, left) watcher->left(watcher, address);
}

/* Operations of streams: of one watcher, whose handles they are
 * ----------------------------------*/

void *simt_event_submitted(struct simt_machine *machine, const struct simt_op_info *info)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, submitted) return watcher->submitted(watcher, info);
    return NULL;
}

static void op_event(struct simt_machine *machine, void *op, enum watch_op_event event)
{
    if (!op || !machine->watch)
        return;
    EACH_WATCHER(machine->watch, op_event) watcher->op_event(watcher, op, event);
}

void simt_event_op_begins(struct simt_machine *machine, void *op)
{
    op_event(machine, op, WATCH_OP_BEGINS);
}

void simt_event_op_ends(struct simt_machine *machine, void *op)
{
    op_event(machine, op, WATCH_OP_ENDS);
}

void simt_event_op_synced(struct simt_machine *machine, void *op)
{
    op_event(machine, op, WATCH_OP_SYNCED);
}

void *simt_event_op_retain(struct simt_machine *machine, void *op)
{
    op_event(machine, op, WATCH_OP_RETAIN);
    return op;
}

void simt_event_op_release(struct simt_machine *machine, void *op)
{
    op_event(machine, op, WATCH_OP_RELEASE);
}

void simt_event_freeing(struct simt_machine *machine, uint64_t address, size_t size)
{
    if (machine->watch)
        EACH_WATCHER(machine->watch, freeing) watcher->freeing(watcher, address, size);
}
