/*
 * one_pass.h: host code that the one-pass families (scan, compaction) share: tiles of BLOCK threads
 * with ROWS vectors of four each, a state for each tile, and grids that stay on the GPU with STAGES
 * tiles in shared memory. The problem's size is its parameter n.
 */
#ifndef LOCKSTEP_KERNELS_ONE_PASS_H
#define LOCKSTEP_KERNELS_ONE_PASS_H

#include "zoo/zoo.h"

static inline unsigned one_pass_tiles(const struct zoo_call *call)
{
    return zoo_ceil_div(zoo_value(call->problem, "n"),
                        (int64_t)zoo_tunable(call, "BLOCK") * 4 * zoo_tunable(call, "ROWS"));
}

/* The ticket takes the first 16 bytes; a state for each tile follows. */
static inline size_t one_pass_workspace(const struct zoo_call *call)
{
    return 16 + 8 * (size_t)one_pass_tiles(call);
}

/* By a kernel of the same module: it starts sooner than a memset would. */
static inline CUresult one_pass_clear(struct zoo_call *call)
{
    int64_t words = (int64_t)one_pass_workspace(call) / 8;
    return ZOO_LAUNCH(call, "clear",
                      ((struct zoo_grid){.x = zoo_ceil_div(words, 256), .threads = 256}),
                      &call->workspace, &words);
}

/* Blocks that stay, all of them resident; x is still to be set. */
static inline struct zoo_grid one_pass_grid(const struct zoo_call *call)
{
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK");
    return (struct zoo_grid){.threads = threads,
                             .shared = threads * 16 * (unsigned)zoo_tunable(call, "ROWS") *
                                       (unsigned)zoo_tunable(call, "STAGES"),
                             .cooperative = true};
}

/* As many as fit, or as there are tiles; 0 if one alone does not fit. */
static inline unsigned one_pass_blocks(struct zoo_call *call, const char *kernel,
                                       struct zoo_grid grid)
{
    unsigned most =
        zoo_resident(call, kernel, grid.threads, grid.shared) * (unsigned)call->device->sm_count;
    unsigned tiles = one_pass_tiles(call);
    return tiles < most ? tiles : most;
}

/* A kilobyte is left for the kernel's own shared variables. */
static inline bool one_pass_fits(const struct zoo_call *call)
{
    return one_pass_grid(call).shared + 1024 <= (unsigned)call->device->shared_per_block;
}

/* Short inputs, for which each block reads everything before it itself: that grows with n^2. */
static inline bool one_pass_is_short(const struct zoo_problem *problem)
{
    return zoo_value(problem, "n") <= 128 * 1024;
}

/* Short inputs, for which each block adds up a number of every tile before its own. */
static inline bool one_pass_is_few_tiles(const struct zoo_problem *problem)
{
    return zoo_value(problem, "n") <= 2 * 1024 * 1024;
}

static inline size_t one_pass_number_of_each(const struct zoo_call *call)
{
    return 4 * (size_t)one_pass_tiles(call);
}

/* A block for each tile. */
static inline struct zoo_grid one_pass_tile_grid(const struct zoo_call *call)
{
    return (struct zoo_grid){.x = one_pass_tiles(call),
                             .threads = (unsigned)zoo_tunable(call, "BLOCK")};
}

#endif
