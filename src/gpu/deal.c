/*
 * deal.c: see deal.h.
 * An H200 gives a pair of blocks to the two SMs of a TPC, the next pair to a TPC of the next GPC,
 * and so on round the GPCs that have room; within a GPC the TPCs take turns. Blocks are dealt out
 * while the launch's code is still on its way. Once the GPU is full, the next block goes to
 * whichever SM has room. So with a period in the blocks' lengths, some SMs get nothing but long
 * ones. Blocks on an SM all run as fast as they would alone, until together they would need more of
 * its busiest unit than there is; then all are slowed down alike. So an SM has one clock, of the
 * work that a block on it does, and a block ends when that clock has gone on by what it needs
 * alone.
 */
#include "gpu/deal.h"

#include "base/arena.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct resident {
    double ends; /* by the SM's clock */
    double use;  /* of the busiest unit, while nothing slows it down */
};

struct sm {
    double time, clock; /* when it was last looked at, and its clock then */
    double use;         /* of all its blocks */
    unsigned count;
    struct resident *blocks; /* [resident]: a heap, the one that ends first on top */
};

struct deal {
    const struct gpu_info *gpu;
    unsigned resident, free; /* places on an SM, and those that are free on all */
    struct sm *sms;
    unsigned gpcs, gpc;           /* how many, and whose turn it is */
    unsigned first[GPU_GPCS + 1]; /* TPC of each GPC, */
    unsigned tpc[GPU_GPCS];       /* and the one of it whose turn it is */
    unsigned partner;             /* SM for the second block of a pair; sms: none */
    double *ends;                 /* [2 * leaves]: a tree of when SMs' next blocks end */
    unsigned leaves;
};

/* SMs ------------------------------------------------------------------------------------------ */

static double speed(const struct sm *sm)
{
    return sm->use > 1 ? 1 / sm->use : 1;
}

/* The tree's root is the earliest. */
static void note_end(struct deal *deal, unsigned number)
{
    const struct sm *sm = &deal->sms[number];
    unsigned at = deal->leaves + number;
    deal->ends[at] = sm->count ? sm->time + (sm->blocks[0].ends - sm->clock) / speed(sm) : INFINITY;
    for (at /= 2; at; at /= 2)
        deal->ends[at] = fmin(deal->ends[2 * at], deal->ends[2 * at + 1]);
}

static void go_on(struct sm *sm, double now)
{
    if (now <= sm->time)
        return;
    sm->clock += (now - sm->time) * speed(sm);
    sm->time = now;
}

static void begin(struct deal *deal, unsigned number, const struct gpu_blocks *block, double now)
{
    struct sm *sm = &deal->sms[number];
    go_on(sm, now);
    double alone = fmax(fmax(block->alone, block->busy), 1);
    struct resident its = {sm->clock + alone, block->busy / alone};
    unsigned at = sm->count++;
    for (; at && sm->blocks[(at - 1) / 2].ends > its.ends; at = (at - 1) / 2)
        sm->blocks[at] = sm->blocks[(at - 1) / 2];
    sm->blocks[at] = its;
    sm->use += its.use;
    deal->free--;
    note_end(deal, number);
}

static void end_first(struct deal *deal, unsigned number, double now)
{
    struct sm *sm = &deal->sms[number];
    go_on(sm, now);
    sm->use = sm->count > 1 ? sm->use - sm->blocks[0].use : 0;
    struct resident last = sm->blocks[--sm->count];
    unsigned at = 0, next;
    for (; (next = 2 * at + 1) < sm->count; at = next) {
        next += next + 1 < sm->count && sm->blocks[next + 1].ends < sm->blocks[next].ends;
        if (last.ends <= sm->blocks[next].ends)
            break;
        sm->blocks[at] = sm->blocks[next];
    }
    sm->blocks[at] = last;
    deal->free++;
    note_end(deal, number);
}

static unsigned next_to_end(const struct deal *deal)
{
    unsigned at = 1;
    while (at < deal->leaves)
        at = deal->ends[2 * at] <= deal->ends[2 * at + 1] ? 2 * at : 2 * at + 1;
    return at - deal->leaves;
}

/* Dealing -------------------------------------------------------------------------------------- */

static bool has_room(const struct deal *deal, unsigned sm)
{
    return sm < deal->gpu->sms && deal->sms[sm].count < deal->resident;
}

/* A TPC with room on both its SMs, or on one if there is none; the SM of it that comes first. */
static unsigned choose_tpc(struct deal *deal, bool both)
{
    for (unsigned i = 0; i < deal->gpcs; i++) {
        unsigned gpc = (deal->gpc + i) % deal->gpcs;
        unsigned tpcs = deal->first[gpc + 1] - deal->first[gpc];
        for (unsigned k = 0; k < tpcs; k++) {
            unsigned turn = (deal->tpc[gpc] + k) % tpcs, sm = 2 * (deal->first[gpc] + turn);
            bool one = has_room(deal, sm), other = has_room(deal, sm + 1);
            if (both ? !one || !other : !one && !other)
                continue;
            deal->gpc = (gpc + 1) % deal->gpcs;
            deal->tpc[gpc] = (turn + 1) % tpcs;
            return one ? sm : sm + 1;
        }
    }
    return deal->gpu->sms;
}

/* There is room somewhere. */
static unsigned choose(struct deal *deal)
{
    unsigned sm = deal->partner;
    deal->partner = deal->gpu->sms;
    if (has_room(deal, sm))
        return sm;
    sm = choose_tpc(deal, true);
    if (sm < deal->gpu->sms) {
        deal->partner = sm + 1;
        return sm;
    }
    return choose_tpc(deal, false);
}

static void open_deal(struct deal *deal)
{
    const struct gpu_info *gpu = deal->gpu;
    deal->sms = lk_alloc_zeroed(gpu->sms * sizeof(*deal->sms));
    for (unsigned i = 0; i < gpu->sms; i++)
        deal->sms[i] = (struct sm){.time = GPU_START_CYCLES,
                                   .blocks = lk_alloc(deal->resident * sizeof(struct resident))};
    deal->gpcs = gpu_gpcs(gpu, deal->first);
    deal->free = gpu->sms * deal->resident;
    deal->partner = gpu->sms;
    for (deal->leaves = 1; deal->leaves < gpu->sms;)
        deal->leaves *= 2;
    deal->ends = lk_alloc(2 * deal->leaves * sizeof(*deal->ends));
    for (unsigned i = 0; i < 2 * deal->leaves; i++)
        deal->ends[i] = INFINITY;
}

static void close_deal(struct deal *deal)
{
    for (unsigned i = 0; i < deal->gpu->sms; i++)
        free(deal->sms[i].blocks);
    free(deal->sms);
    free(deal->ends);
}

double gpu_deal(const struct gpu_info *gpu, unsigned resident, const struct gpu_blocks *blocks,
                size_t count)
{
    struct deal deal = {.gpu = gpu, .resident = resident ? resident : 1};
    double now = 0;
    open_deal(&deal);
    for (size_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < blocks[i].count; k++) {
            while (!deal.free || deal.ends[1] <= now) {
                now = fmax(now, deal.ends[1]);
                end_first(&deal, next_to_end(&deal), deal.ends[1]);
            }
            begin(&deal, choose(&deal), &blocks[i], now);
            now += GPU_BLOCK_CYCLES;
        }
    while (!isinf(deal.ends[1])) {
        now = deal.ends[1];
        end_first(&deal, next_to_end(&deal), now);
    }
    close_deal(&deal);
    return now;
}
