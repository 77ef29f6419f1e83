/*
 * run.c: runs a grid: blocks on workers, warps in turns, instructions one after the other.
 * A worker runs one block at a time. A block whose warps all poll memory is put aside for another,
 * so that kernels whose blocks wait for each other (grid barriers, look-back) come to an end.
 */
#include "simt/beside.h"
#include "simt/blocks.h"
#include "simt/clock.h"
#include "simt/cluster.h"
#include "simt/sample.h"
#include "simt/slice.h"
#include "simt/stall.h"
#include "simt/states.h"
#include "simt/watch.h"

#include "base/clock.h"
#include "host/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Instructions a path runs before others get their turn. Watched warps take turns more often, so
 * that the caches see them side by side. */
enum { SLICE = 16384, SUSPECT_SLICE = 1024, WATCHED_SLICE = 64 };

/* Rounds of a block with nothing but failed waits, after which its warps' states are looked at, and
 * after which nothing is taken to end them if no state was new (stall.c). */
enum { VAIN_LOOK = 64, VAIN_MOST = 256 };

/* A loop that waits may never use up a slice: its lanes part and meet, or it has a barrier. So what
 * polls has had its turn after this many instructions as well: other lanes of the warp that wait
 * for it are let go, and another block gets the worker. */
enum { GIVE_WAY = 1 << 16 };

/* So has what may be polling by loads that look like any other, after this many. */
enum { REST = 1 << 22 };

/* In a launch that is suspected of repeating itself (stall.c), whose steps take longer. */
enum { SUSPECT_TURN = 1 << 13 };

/* Sixteenths of a cycle from an instruction of a warp to its next, if it has the SM to itself. */
enum { FASTEST = 29 };

/* Instructions
 * -------------------------------------------------------------------------------------- */

/* Runs a path until it waits, ends, or its slice is used up (true). run: how an instruction runs;
 * NULL: by its body. */
static inline __attribute__((always_inline)) bool
slice(struct simt_warp_state *warp, struct simt_path *path, int32_t fuel, simt_body *run)
{
    struct simt_warp *w = &warp->w;
    const struct simt_inst *in = simt_slice_begin(warp, path, fuel);
    uint64_t count = 0;
    do {
        count++;
        if (in->guard == SIMT_NO_GUARD) {
            in = run ? run(w, in) : in->run(w, in);
        } else {
            uint32_t guard = *SIMT_SLOT(uint32_t, in->guard);
            guard = (in->flags & SIMT_FLAG_GUARD_NOT ? ~guard : guard) & w->path_mask;
            w->mask = guard;
            in = !guard ? in + 1 : run ? run(w, in) : in->run(w, in);
        }
        w->mask = w->path_mask;
    } while (in && --warp->fuel > 0);
    return simt_slice_end(warp, in, count);
}

static bool run_slice(struct simt_warp_state *warp, struct simt_path *path, int32_t fuel)
{
    return warp->w.block->launch->suspect ? slice(warp, path, fuel, simt_stall_step)
                                          : slice(warp, path, fuel, NULL);
}

/* Rounds
 * -----------------------------------------------------------------------------------------------
 */

/* A block that rests gives way as one that waits does, but is not taken to wait. One that waits for
 * its own warps, or for its cluster, keeps its worker: nobody else can end that. */
enum block_result {
    BLOCK_DONE,
    BLOCK_WAITS,
    BLOCK_WAITS_FOR_ITSELF,
    BLOCK_RESTS,
    BLOCK_STUCK,
    BLOCK_STOPPED,
    BLOCK_GOES_ON
};

/* Threads at a barrier may wait for threads that wait for them behind a branch. */
static bool unblock_barrier(struct simt_block *block)
{
    bool any = false;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        if (block->launch->watch && block->warps[i].w.live)
            simt_watch_stuck(&block->warps[i].w, true);
        any |= simt_path_unblock(&block->warps[i], SIMT_PATH_BARRIER);
    }
    return any;
}

/* Often short, so that a load and the store that belongs to it come apart. */
static int32_t random_slice(struct simt_block *block)
{
    uint64_t random = simt_next_random(&block->random);
    return 1 + (int32_t)((random >> 8) % (random & 1 ? 8 : 256));
}

/* A turn with failed waits that only the block or cluster can end, and no other way to learn
 * something from others. */
static bool was_vain(const struct simt_warp_state *warp)
{
    return warp->vain_waits && warp->vain_waits == warp->sync_ops;
}

static void add_slice(struct simt_turn *turn, const struct simt_warp_state *warp, int32_t fuel,
                      bool polled)
{
    turn->polled += polled ? (uint64_t)((int64_t)fuel - warp->fuel) : 0;
    turn->executed += warp->executed;
}

/* Has it looked at what other blocks may change? */
static bool asks_others(const struct simt_warp_state *warp)
{
    return warp->sync_ops > warp->vain_waits + warp->blind_ops;
}

/* Is the turn over? Then another begins. */
static enum block_result turn_result(struct simt_turn *turn, const struct simt_block *block)
{
    bool suspect = block->launch->suspect;
    bool waits = turn->polled >= (suspect ? SUSPECT_TURN : GIVE_WAY);
    if (!waits && turn->executed < (suspect ? SUSPECT_TURN : REST))
        return BLOCK_GOES_ON;
    *turn = (struct simt_turn){0};
    return waits ? BLOCK_WAITS : BLOCK_RESTS;
}

/* One turn for each warp of the block. */
static enum block_result block_round(struct simt_block *block)
{
    bool shuffle = block->launch->machine->options.random_schedule;
    bool any_live = false, any_ran = false, all_poll = true, all_vain = true, some_work = false;
    bool any_asks = false;
    uint32_t first = shuffle ? (uint32_t)(simt_next_random(&block->random) % block->warp_count) : 0;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        struct simt_warp_state *warp = &block->warps[(first + k) % block->warp_count];
        if (!warp->w.live)
            continue;
        any_live = true;
        if (shuffle)
            warp->next_path = (uint32_t)(simt_next_random(&block->random) % SIMT_LANES);
        struct simt_watch *watch = block->launch->watch;
        struct simt_path *path = simt_path_ready(warp);
        if (!path && watch)
            simt_watch_stuck(&warp->w, false);
        if (!path && simt_path_unblock(warp, SIMT_PATH_SYNC))
            path = simt_path_ready(warp);
        if (!path)
            continue;
        any_ran = true;
        int32_t fuel = shuffle                  ? random_slice(block)
                       : watch                  ? WATCHED_SLICE
                       : block->launch->suspect ? SUSPECT_SLICE
                                                : SLICE;
        bool expired = watch ? watch->slice(warp, path, fuel) : run_slice(warp, path, fuel);
        if (atomic_load_explicit(&block->launch->stop, memory_order_relaxed))
            return BLOCK_STOPPED;
        add_slice(&block->turn, warp, fuel, asks_others(warp));
        add_slice(&warp->turn, warp, fuel, warp->sync_ops != 0);
        if (expired) {
            simt_path_expire(warp, warp->w.path);
            warp->turn = (struct simt_turn){0};
        } else if (turn_result(&warp->turn, block) != BLOCK_GOES_ON) {
            simt_paths_let_go(warp);
        }
        all_poll &= expired && warp->sync_ops;
        all_vain &= expired && was_vain(warp);
        any_asks |= asks_others(warp);
        some_work |= warp->sync_ops != warp->vain_waits;
    }
    if (!any_live)
        return BLOCK_DONE;
    if (!any_ran)
        return BLOCK_STUCK;
    if (all_vain) {
        block->vain += shuffle ? VAIN_MOST / 64 : 1;
        block->still++;
    } else if (!shuffle || some_work) { /* a short turn may miss the wait */
        block->vain = block->still = block->skips = 0;
    }
    if (shuffle && simt_next_random(&block->random) % 4 == 0)
        return BLOCK_WAITS;
    return !all_poll ? BLOCK_GOES_ON : any_asks ? BLOCK_WAITS : BLOCK_WAITS_FOR_ITSELF;
}

static bool waits(enum block_result result)
{
    return result == BLOCK_WAITS || result == BLOCK_WAITS_FOR_ITSELF;
}

/* Has the block done nothing but poll, without a new state? */
static bool is_stuck(struct simt_block *block)
{
    if (block->vain > VAIN_LOOK && simt_stall_has_news(block->worker, block))
        block->vain = VAIN_LOOK;
    if (block->vain > VAIN_MOST && simt_stall_skip_time(block))
        block->vain = VAIN_LOOK;
    return block->vain > VAIN_MOST;
}

/* One round of a block without a cluster. */
static enum block_result lone_round(struct simt_block *block)
{
    enum block_result result = block_round(block);
    if (result == BLOCK_STUCK && unblock_barrier(block))
        return BLOCK_GOES_ON;
    if (waits(result) && is_stuck(block))
        return BLOCK_STUCK;
    if (result == BLOCK_GOES_ON || result == BLOCK_WAITS_FOR_ITSELF)
        return turn_result(&block->turn, block);
    return result;
}

/* One round of each block of a cluster, which goes on while one of them does. */
static enum block_result cluster_round(struct simt_cluster *cluster)
{
    bool goes_on = false, any_waits = false, any_polls = false, all_vain = true;
    enum block_result turn = BLOCK_GOES_ON;
    for (uint32_t i = 0; i < cluster->size; i++) {
        struct simt_block *block = cluster->blocks[i];
        if (block->has_ended)
            continue;
        enum block_result result = block_round(block);
        enum block_result own = turn_result(&block->turn, block);
        turn = own < turn ? own : turn;
        if (result == BLOCK_STOPPED)
            return result;
        if (result == BLOCK_DONE) {
            block->has_ended = true;
            cluster->ended++;
            if (block->launch->watch)
                simt_watch_cluster_exit(block);
        }
        goes_on |= result == BLOCK_GOES_ON || result == BLOCK_DONE;
        any_waits |= waits(result);
        any_polls |= result == BLOCK_WAITS;
        all_vain &= result == BLOCK_STUCK || (waits(result) && is_stuck(block));
    }
    if (cluster->ended == cluster->size)
        return BLOCK_DONE;
    if (goes_on)
        return turn;
    if (any_waits)
        return all_vain ? BLOCK_STUCK : any_polls ? BLOCK_WAITS : turn;
    for (uint32_t i = 0; i < cluster->size; i++)
        goes_on |= !cluster->blocks[i]->has_ended && unblock_barrier(cluster->blocks[i]);
    return goes_on ? BLOCK_GOES_ON : BLOCK_STUCK;
}

static void check_limit(struct simt_worker *worker, struct simt_block *block)
{
    struct simt_launch_state *launch = worker->launch;
    uint64_t limit = launch->machine->options.instruction_limit;
    uint64_t total =
        atomic_fetch_add(&launch->instructions, worker->instructions) + worker->instructions;
    worker->instructions = 0;
    if (total - launch->progress <= limit)
        return;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct simt_path *path = simt_path_ready(&block->warps[i]);
        if (!block->warps[i].w.live || !path)
            continue;
        simt_path_enter(&block->warps[i], path);
        simt_raise(
            &block->warps[i].w, path->ip, SIMT_FAULT_TIMEOUT, __builtin_ctz(path->mask),
            "the launch has run %llu warp instructions, which is its limit: an endless loop?",
            (unsigned long long)total);
        return;
    }
}

/* Workers
 * ------------------------------------------------------------------------------------------------
 */

static void park(struct simt_worker *worker, struct simt_block *block)
{
    block->next = NULL;
    if (worker->parked_last)
        worker->parked_last->next = block;
    else
        worker->parked_first = block;
    worker->parked_last = block;
    worker->parked_count++;
}

static struct simt_block *unpark(struct simt_worker *worker)
{
    struct simt_block *block = worker->parked_first;
    if (!block)
        return NULL;
    simt_blocks_catch_up(worker, block);
    worker->parked_first = block->next;
    if (!worker->parked_first)
        worker->parked_last = NULL;
    worker->parked_count--;
    return block;
}

/* Neighbours change places. All of them are resident, so that one that waits for another gets it,
 * as it does on a GPU. */
static uint64_t shuffled(const struct simt_launch_state *launch, uint64_t linear, uint64_t count)
{
    uint64_t window = launch->resident_limit < 32 ? 1 : 16;
    while ((linear & ~(window - 1)) + window > count)
        window /= 2;
    uint64_t state = launch->random ^ (linear & ~(window - 1));
    return linear ^ (simt_next_random(&state) & (window - 1));
}

/* As part of a sample, before this launch. */
static bool has_run(const struct simt_launch_state *launch, uint64_t number)
{
    const uint64_t *ran = launch->launch->goes_on ? launch->launch->ran : NULL;
    return ran && ran[number / 64] >> number % 64 & 1;
}

static struct simt_block *take_new(struct simt_worker *worker)
{
    struct simt_launch_state *launch = worker->launch;
    uint64_t count = launch->block_count / launch->cluster_size; /* of clusters */
    if (launch->sampled)
        return simt_sample_take(worker);
    if (worker->parked_count >= launch->resident_limit || atomic_load(&launch->next_block) >= count)
        return NULL;
    uint64_t number;
    do
        number = atomic_fetch_add(&launch->next_block, 1);
    while (number < count && has_run(launch, number));
    if (number >= count)
        return NULL;
    if (launch->machine->options.random_schedule)
        number = shuffled(launch, number, count);
    return launch->cluster_size > 1 ? simt_cluster_start(worker, number)
                                    : simt_block_start(worker, number, 0);
}

static void run_blocks(struct simt_worker *worker)
{
    struct simt_launch_state *launch = worker->launch;
    bool was_waiting = false;
    for (;;) {
        struct simt_block *block = was_waiting ? take_new(worker) : unpark(worker);
        if (!block)
            block = was_waiting ? unpark(worker) : take_new(worker);
        if (!block)
            return;
        enum block_result result;
        do {
            result = block->cluster ? cluster_round(block->cluster) : lone_round(block);
            if (result != BLOCK_STOPPED && worker->instructions > worker->check_after)
                check_limit(worker, block);
        } while (result == BLOCK_GOES_ON && !launch->stop);
        was_waiting = result == BLOCK_WAITS || result == BLOCK_RESTS;
        simt_blocks_note_clock(worker, block, result == BLOCK_DONE);
        /* What rests and comes back as it was may poll with loads that look like any other. */
        bool polls =
            result == BLOCK_WAITS || (result == BLOCK_RESTS && !simt_stall_has_news(worker, block));
        simt_worker_polls(worker, polls, result == BLOCK_RESTS);
        polls = polls && simt_stall_is_stuck(worker, block);
        if (result == BLOCK_STUCK || polls)
            simt_raise_stuck(block, polls);
        if (was_waiting) {
            /* Alone: let the other workers, or the host, do what it waits for. A watched launch has
             * one worker, and turns so short that only some of them are given away. */
            if (!worker->parked_count && (!launch->watch || worker->waits++ % 64 == 0))
                usleep(0);
            park(worker, block);
        } else {
            simt_block_retire(worker, block);
        }
        if (launch->stop)
            return;
    }
}

/* Blocks that a worker's part of the GPU holds at once. */
static uint32_t slot_count(const struct simt_launch_state *launch)
{
    uint64_t count = (uint64_t)launch->resident_limit * launch->cluster_size;
    count = count < launch->block_count ? count : launch->block_count;
    return count ? (uint32_t)count : 1;
}

static void worker_main(void *context, unsigned index)
{
    struct simt_worker worker = {.launch = context, .index = index};
    uint64_t limit = worker.launch->machine->options.instruction_limit;
    worker.check_after = limit < 1 << 20 ? limit : 1 << 20;
    worker.slot_count = slot_count(worker.launch);
    worker.slots = lk_alloc_zeroed(worker.slot_count * sizeof(*worker.slots));
    run_blocks(&worker);
    for (struct simt_block *block; (block = unpark(&worker));)
        simt_block_drop(&worker, block);
    for (struct simt_block *block = worker.free_blocks, *next; block; block = next) {
        next = block->next;
        for (uint32_t i = 0; i < block->warp_count; i++)
            worker.hidden += block->warps[i].hidden;
        simt_block_free(block);
    }
    atomic_fetch_add(&worker.launch->instructions, worker.instructions);
    free(worker.slots);
    simt_stall_free(&worker);
    simt_worker_ends(&worker);
    atomic_fetch_sub(&worker.launch->instructions, worker.hidden);
}

/* Launches
 * -------------------------------------------------------------------------------------------------
 */

static unsigned worker_count(const struct simt_launch_state *state)
{
    unsigned threads = state->watch || state->beside ? 1 : state->machine->options.threads;
    uint64_t units = state->block_count / state->cluster_size;
    return units < threads ? (unsigned)units : threads;
}

/* Local memory of a lane. Where calls have no known depth, the stack is more than a GPU's, whose
 * frames are smaller; never more than a thread may have. */
static uint32_t local_stride(const struct simt_code *code, size_t stack_bytes)
{
    uint64_t stride = code->local_bytes, least = code->functions[0].local_bytes;
    if (code->unbounded_stack)
        stride += (stack_bytes < SIMT_LOCAL_MOST ? stack_bytes : SIMT_LOCAL_MOST) * 16;
    stride = stride < SIMT_LOCAL_MOST ? stride : SIMT_LOCAL_MOST;
    stride = stride < least ? least : stride;
    return (uint32_t)(stride + 15) & ~15u;
}

static void prepare(struct simt_launch_state *state, struct simt_machine *machine,
                    const struct simt_launch *launch)
{
    const struct simt_code *code = simt_kernel_code(launch->kernel);
    state->machine = machine;
    state->kernel = launch->kernel;
    state->code = code;
    state->launch = launch;
    state->entry = &code->functions[0];
    state->threads_per_block = launch->block[0] * launch->block[1] * launch->block[2];
    state->warps_per_block = (state->threads_per_block + SIMT_LANES - 1) / SIMT_LANES;
    state->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    state->cluster_size = 1;
    for (int i = 0; i < 3; i++) {
        state->cluster[i] = launch->cluster[i] ? launch->cluster[i] : 1;
        state->cluster_size *= state->cluster[i];
    }
    state->shared_bytes = code->static_shared + launch->dynamic_shared;
    state->shared_readable = (state->shared_bytes + 15) & ~15u;
    state->reserved_at = state->shared_end = state->shared_bytes;
    if (code->uses_reserved) {
        state->reserved_at =
            (state->shared_bytes + 2 * SIMT_RESERVED_GAP - 1) & ~(uint32_t)(SIMT_RESERVED_GAP - 1);
        state->shared_end = state->reserved_at + machine->gpu->shared_reserved_per_block;
    }
    state->local_stride = local_stride(code, machine->stack_bytes);
    simt_launch_enter(state);
    state->params = (uint8_t *)(uintptr_t)(state->params_address + SIMT_BACKING);
    unsigned workers = worker_count(state);
    state->workers = workers;
    state->single = workers <= 1 && !state->beside;
    struct gpu_occupancy occupancy =
        gpu_occupancy(machine->gpu, state->threads_per_block, simt_kernel_registers(launch->kernel),
                      state->shared_bytes);
    uint64_t resident =
        (uint64_t)machine->gpu->sms * (occupancy.blocks_per_sm ? occupancy.blocks_per_sm : 1);
    uint64_t share = resident / state->cluster_size / (workers ? workers : 1);
    share = share ? share : state->cluster_size > 1;
    state->resident_limit = launch->cooperative ? UINT32_MAX : (uint32_t)share;
    simt_sample_choose(state);
    /* A scheduler issues one instruction a cycle, to the warps of its SM in turn. */
    uint64_t blocks_of_sm = (state->block_count + machine->gpu->sms - 1) / machine->gpu->sms;
    if (occupancy.blocks_per_sm && blocks_of_sm > occupancy.blocks_per_sm)
        blocks_of_sm = occupancy.blocks_per_sm;
    uint64_t warps = blocks_of_sm * state->warps_per_block;
    state->pace = (uint32_t)(warps * (1 << SIMT_CLOCK_BITS) / machine->gpu->schedulers_per_sm);
    state->pace = state->pace < FASTEST ? FASTEST : state->pace;
    uint64_t waiting = resident < state->block_count ? resident : state->block_count;
    waiting = waiting * state->warps_per_block / 512;
    state->wait_part = SIMT_WAIT_PART_FEW / (uint32_t)(waiting ? waiting : 1);
    state->wait_part =
        state->wait_part < SIMT_WAIT_PART_MANY ? SIMT_WAIT_PART_MANY : state->wait_part;
    /* Another order in each launch, the same in each run of the program. */
    state->random = machine->options.seed;
    state->random = simt_next_random(&state->random) + state->grid_number;
    state->random = simt_next_random(&state->random);
    pthread_mutex_init(&state->fault_lock, NULL);
}

/* Nothing of an earlier launch's parameters is left after a kernel's own. */
static void fill_params(struct simt_launch_state *state)
{
    struct simt_machine *machine = state->machine;
    uint32_t bytes = state->kernel->info.param_bytes;
    if (!state->beside) {
        if (machine->params_used > bytes)
            memset(state->params + bytes, 0, machine->params_used - bytes);
        machine->params_used = bytes;
    }
    if (state->launch->params && bytes)
        memcpy(state->params, state->launch->params, bytes);
}

/* From the counters if there are any; else from an earlier launch that was counted, by the number
 * of instructions; else as if every scheduler issued one instruction a cycle, an answer that nobody
 * asks for. */
static double model_seconds(const struct simt_launch_state *state)
{
    const struct gpu_info *gpu = state->machine->gpu;
    if (state->watch && state->watch->modelled_seconds > 0)
        return state->watch->modelled_seconds;
    const struct simt_known *known = &state->launch->known;
    if (known->seconds > 0 && known->instructions > 0)
        return known->seconds * (double)state->instructions / (double)known->instructions;
    double sms = state->block_count < gpu->sms ? (double)state->block_count : gpu->sms;
    double issue = sms * gpu->schedulers_per_sm * gpu->boost_mhz * 1e6;
    return (issue > 0 ? (double)state->instructions / issue : 0) + 3e-6;
}

enum simt_fault_kind simt_run(struct simt_machine *machine, const struct simt_launch *launch,
                              struct simt_stats *stats, struct simt_fault *fault)
{
    struct simt_launch_state state = {0};
    double start = lk_seconds();
    fault->kind = SIMT_OK;
    fault->text[0] = 0;
    state.fault = fault;
    prepare(&state, machine, launch);
    fill_params(&state);
    memset((void *)(uintptr_t)(state.grid_workspace + SIMT_BACKING), 0, SIMT_GRANULE);
    if (state.watch)
        simt_watch_launch(&state);
    if (machine->states && !state.beside)
        simt_states_record(&state, false);
    if (state.beside)
        worker_main(&state, 0);
    else
        lk_pool_run(machine->pool, worker_count(&state), worker_main, &state);
    if (machine->states && !state.beside)
        simt_states_record(&state, true);
    if (state.sampled == state.block_count)
        state.sampled = 0;
    double rest = simt_sample_rest(&state);
    if (state.watch)
        simt_watch_done(&state);
    simt_sample_end(&state);
    double seconds = model_seconds(&state);
    simt_launch_leave(&state, seconds);
    pthread_mutex_destroy(&state.fault_lock);
    if (stats) {
        *stats =
            (struct simt_stats){.warp_instructions = state.instructions,
                                .blocks = state.block_count,
                                .warps = state.block_count * state.warps_per_block,
                                .is_sampled = state.sampled > 0,
                                .rest = rest,
                                .host_seconds = lk_seconds() - start,
                                .modelled_seconds = seconds,
                                .modelled_share = state.watch && state.watch->modelled_seconds > 0
                                                      ? state.watch->modelled_share
                                                      : launch->known.share,
                                .yielded = state.yielded};
    }
    return fault->kind;
}

const struct gpu_info *simt_warp_gpu(const struct simt_warp *w)
{
    return w->block->launch->machine->gpu;
}
