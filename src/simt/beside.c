/*
 * beside.c: launches take turns on a machine, except one that only polls memory: another may begin
 * beside it, which may write what it polls for. The one beside runs on a single host thread, with
 * parameters and counters of its own. A checker sees one launch at a time: with one, the driver
 * sets no simt_set_yield, and nothing begins beside another.
 */
#include "simt/beside.h"

#include "simt/children.h"
#include "simt/stall.h"

#define PARAM_BYTES 32768

void simt_set_yield(struct simt_machine *machine, simt_yield *yield, void *context)
{
    machine->yield = yield;
    machine->yield_context = context;
}

static bool may_begin(const struct simt_machine *machine, const struct simt_code *code)
{
    return machine->launches == 0 || (machine->working == 0 && !code->fixed_params);
}

void simt_launch_enter(struct simt_launch_state *state)
{
    struct simt_machine *machine = state->machine;
    pthread_mutex_lock(&machine->launch_lock);
    while (!may_begin(machine, state->code))
        pthread_cond_wait(&machine->launch_changed, &machine->launch_lock);
    state->beside = machine->launches > 0;
    state->params_address = machine->params_address;
    state->grid_workspace = machine->grid_workspace;
    if (state->beside) {
        state->params_address =
            simt_memory_alloc(&machine->memory, PARAM_BYTES, SIMT_MEMORY_DEVICE, true);
        state->grid_workspace =
            simt_memory_alloc(&machine->memory, SIMT_GRANULE, SIMT_MEMORY_DEVICE, true);
    }
    machine->launches++;
    machine->working++;
    state->grid_number = ++machine->grid_count;
    state->started =
        state->launch->starts > machine->elapsed ? state->launch->starts : machine->elapsed;
    state->watch = simt_watch_for(machine, state);
    pthread_mutex_unlock(&machine->launch_lock);
}

void simt_launch_leave(struct simt_launch_state *state, double seconds)
{
    struct simt_machine *machine = state->machine;
    pthread_mutex_lock(&machine->launch_lock);
    if (state->beside) {
        simt_memory_free(&machine->memory, state->params_address, true);
        simt_memory_free(&machine->memory, state->grid_workspace, true);
    }
    simt_watch_return(machine, state);
    machine->launches--;
    machine->working -= !state->yielded;
    if (machine->elapsed < state->started + seconds)
        machine->elapsed = state->started + seconds;
    pthread_cond_broadcast(&machine->launch_changed);
    pthread_mutex_unlock(&machine->launch_lock);
}

/* All that its workers do is poll. */
static void yield(struct simt_launch_state *state)
{
    struct simt_machine *machine = state->machine;
    if (!machine->yield || atomic_exchange(&state->yielded, true))
        return;
    state->single = false;
    pthread_mutex_lock(&machine->launch_lock);
    machine->working--;
    pthread_cond_broadcast(&machine->launch_changed);
    pthread_mutex_unlock(&machine->launch_lock);
    machine->yield(machine->yield_context);
}

/* What it polls for may be a child's to write. */
static void run_children(struct simt_worker *worker)
{
    struct simt_launch_state *state = worker->launch;
    struct simt_children *children = state->launch->children;
    if (!children || !state->yielded || !simt_children_any_ready(children) ||
        atomic_exchange(&state->runs_children, true))
        return;
    children->calls->run_now(children);
    state->runs_children = false;
    state->news++;
    worker->vain = 1; /* it looks for a while before it says so again */
}

void simt_worker_polls(struct simt_worker *worker, bool polls, bool for_long)
{
    enum { PATIENCE = 256, LONG = 32 };
    struct simt_launch_state *state = worker->launch;
    worker->vain = polls ? worker->vain + (for_long ? LONG : 1) : 0;
    bool is_vain = worker->vain > PATIENCE + 4 * worker->parked_count;
    if (is_vain != worker->is_vain) {
        worker->is_vain = is_vain;
        state->news++;
        atomic_fetch_add(&state->vain, is_vain ? 1u : -1u);
    }
    if (!is_vain || state->vain != state->workers) {
        simt_stall_unsuspect(worker);
        return;
    }
    if (!state->yielded)
        yield(state);
    run_children(worker);
}

void simt_worker_ends(struct simt_worker *worker)
{
    simt_worker_polls(worker, false, false);
    atomic_fetch_sub(&worker->launch->workers, 1);
}
