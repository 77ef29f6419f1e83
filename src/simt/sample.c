/*
 * sample.c: see sample.h.
 */
#include "simt/sample.h"

#include "simt/blocks.h"
#include "simt/tensor_shape.h"
#include "simt/watch.h"

#include <math.h>
#include <stdlib.h>

#define PRODUCTS_PER_COST 512.0 /* multiply-adds of tensor cores, in an instruction's time */
#define ALIKE 0.01              /* blocks that differ by less cost the same */
enum { FEW_SMS = 3, FEW_BLOCKS = 6, FEW_ROUNDS = 4 };

struct product {
    uint32_t number; /* of the instruction */
    double cost;     /* for a warp */
};

struct simt_sample {
    bool by_sm;
    uint32_t sm, step, sm_count; /* whose blocks run, to the next one, of those that ran */
    uint64_t block;              /* the next one of them */
    uint64_t taken, of_sm;       /* blocks that ran, and those of this SM */
    uint64_t round;              /* blocks that an SM holds at once */
    double part;                 /* of the first SM's blocks that ran, if not all of them */
    double before, least, most;  /* cost when the block began, and of the blocks that ran */
    struct product *products;
    uint32_t product_count;
};

/* The machine's options are for launches that are counted anyway; the launch's own are for those
 * that only a timer watches, and may end without a cut. */
void simt_sample_choose(struct simt_launch_state *state)
{
    const struct simt_machine *machine = state->machine;
    if (!state->watch)
        return;
    if (machine->options.sample_blocks) { /* of a small grid all, unless they run for too long */
        uint64_t left_over = machine->options.sample_blocks % state->cluster_size;
        state->sampled = machine->options.sample_blocks + 4 < state->block_count
                             ? machine->options.sample_blocks - left_over
                             : state->block_count;
        state->sample_instructions = machine->options.sample_instructions;
    } else if (state->launch->sample_instructions && state->watch != machine->watch &&
               !state->launch->cooperative && !state->code->meets_blocks &&
               state->cluster_size == 1) {
        state->sampled = state->block_count;
        state->sample_instructions = state->launch->sample_instructions;
        state->sample = lk_alloc_zeroed(sizeof(*state->sample));
    }
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* Far from each other: blocks at the same place in a row of the grid often have as much to do. */
static uint32_t step_of(uint32_t sms)
{
    uint32_t step = sms * 5 / 8;
    step = step ? step : 1;
    while (common_divisor(step, sms) != 1)
        step++;
    return step;
}

void simt_sample_begin(struct simt_launch_state *state, bool is_followed)
{
    struct simt_sample *sample = state->sample;
    if (!sample)
        return;
    sample->products = lk_alloc_zeroed((state->code->inst_count + 1) * sizeof(*sample->products));
    for (uint32_t i = 0; i < state->code->inst_count; i++) {
        if (!state->watch->insts[i].is_product)
            continue;
        const struct ptx_inst *ptx = state->code->insts[i].ptx;
        struct tensor_shape shape = tensor_shape_of(ptx);
        double products = (double)shape.m * shape.n * shape.k / (ptx_is_wgmma(ptx->op) ? 4 : 1);
        sample->products[sample->product_count++] =
            (struct product){.number = i, .cost = products / PRODUCTS_PER_COST};
    }
    sample->by_sm = is_followed || sample->product_count;
    sample->step = step_of(state->machine->gpu->sms);
    sample->least = INFINITY;
    sample->part = 1;
    sample->round = (uint64_t)state->resident_limit * state->workers / state->machine->gpu->sms;
}

bool simt_sample_is_by_sm(const struct simt_launch_state *state)
{
    return state->sample && state->sample->by_sm;
}

bool simt_sample_has_products(const struct simt_launch_state *state)
{
    return state->sample && state->sample->product_count;
}

static double cost_of(const struct simt_launch_state *launch, uint64_t instructions)
{
    const struct simt_sample *sample = launch->sample;
    double cost = (double)instructions;
    for (uint32_t i = 0; sample && i < sample->product_count; i++)
        cost += (double)launch->watch->tallies[sample->products[i].number].warps *
                sample->products[i].cost;
    return cost;
}

static uint64_t blocks_of_sm(const struct simt_launch_state *launch)
{
    uint32_t sms = launch->machine->gpu->sms;
    return (launch->block_count - launch->sample->sm + sms - 1) / sms;
}

/* One SM's blocks alone may take too long. If they are alike, some rounds of them tell how long the
 * others take; so does an SM before it, of which all have run. */
static bool is_enough_of_sm(const struct simt_launch_state *launch, double cost)
{
    const struct simt_sample *sample = launch->sample;
    uint64_t rounds = FEW_ROUNDS * (sample->round ? sample->round : 1);
    return cost > (double)launch->sample_instructions && sample->taken >= FEW_BLOCKS &&
           (sample->sm_count || sample->of_sm >= rounds);
}

double simt_sample_part(const struct simt_launch_state *state)
{
    return state->sample ? state->sample->part : 1;
}

/* The SM's next block, or the first one of another SM; false: those that ran stand for the rest. */
static bool next_of_sm(struct simt_launch_state *launch, double cost, uint64_t *number)
{
    struct simt_sample *sample = launch->sample;
    uint32_t sms = launch->machine->gpu->sms;
    if (sample->taken) {
        double its = cost - sample->before;
        sample->least = its < sample->least ? its : sample->least;
        sample->most = its > sample->most ? its : sample->most;
    }
    sample->before = cost;
    bool alike = sample->most - sample->least <= ALIKE * sample->most;
    if (alike && sample->block < launch->block_count && is_enough_of_sm(launch, cost)) {
        if (!sample->sm_count)
            sample->part = (double)sample->of_sm / (double)blocks_of_sm(launch);
        return false;
    }
    if (sample->block >= launch->block_count) {
        sample->sm_count++;
        sample->of_sm = 0;
        if (cost > (double)launch->sample_instructions ||
            (alike && sample->sm_count >= FEW_SMS && sample->taken >= FEW_BLOCKS))
            return false;
        do
            sample->sm = (sample->sm + sample->step) % sms;
        while (sample->sm >= launch->block_count && sample->sm);
        sample->block = sample->sm;
        if (!sample->sm)
            return false; /* all have run */
    }
    *number = sample->block;
    sample->block += sms;
    sample->of_sm++;
    return true;
}

/* Neighbours share what they read: the sample is four rows of them, a quarter of the grid apart.
 * A cluster is taken whole. */
static bool next_of_rows(struct simt_launch_state *launch, double cost, uint64_t *number)
{
    uint64_t at = atomic_fetch_add(&launch->next_block, 1), size = launch->cluster_size;
    if (at * size >= launch->sampled)
        return false;
    if (at && cost > (double)launch->sample_instructions) {
        launch->sampled = at * size;
        return false;
    }
    uint64_t row = launch->block_count / size / 4;
    *number = at < 4 * row ? at % 4 * row + at / 4 : at;
    return true;
}

struct simt_block *simt_sample_take(struct simt_worker *worker)
{
    struct simt_launch_state *launch = worker->launch;
    struct simt_sample *sample = launch->sample;
    double cost = cost_of(launch, launch->instructions + worker->instructions);
    uint64_t number, *ran = launch->launch->ran;
    if (simt_sample_is_by_sm(launch)) {
        if (!next_of_sm(launch, cost, &number)) {
            launch->sampled = sample->taken;
            return NULL;
        }
    } else if (!next_of_rows(launch, cost, &number)) {
        return NULL;
    }
    if (sample)
        sample->taken++;
    if (ran)
        ran[number / 64] |= (uint64_t)1 << number % 64;
    return launch->cluster_size > 1 ? simt_cluster_start(worker, number)
                                    : simt_block_start(worker, number, 0);
}

double simt_sample_rest(const struct simt_launch_state *state)
{
    if (!state->sampled)
        return 0;
    double ran = (double)state->sampled, all = (double)state->block_count;
    return cost_of(state, state->instructions) * (all - ran) / ran;
}

void simt_sample_end(struct simt_launch_state *state)
{
    if (state->sample)
        free(state->sample->products);
    free(state->sample);
    state->sample = NULL;
}
