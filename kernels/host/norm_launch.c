/*
 * norm_launch.c: how many threads and blocks the kernels of rmsnorm and layernorm get.
 */
#include "norm_launch.h"

#include <stdio.h>

enum {
    VECTOR = NORM_VECTOR,
    MOST_BLOCKS = NORM_MOST_BLOCKS,
    MOST_THREADS = 1024,
    STAGES_THREADS = 512,
    LONG_ROW = 64 * 1024, /* bytes from which on a row goes over a cluster */
    OWN_SHARED = 1536,    /* bytes that the stages' kernels have beside the stages, at most */
    AFFINE_SHARED = 2560, /* the same for shared_affine */
    TEAM_SHARED = 1024,   /* and for teams */
    TEAM_MOST = 160,      /* blocks of a team: as in team.h */
    TEAM_SETS = 8
};

/* As in the kernels' headers. */
enum { HAS_RESIDUAL = 1, HAS_GAMMA = 2, HAS_BETA = 4, HAS_STATS = 8, HAS_FP8 = 16 };

static int64_t row_bytes(const struct zoo_problem *problem)
{
    return problem->value[NORM_COLS] * zoo_type_bytes[norm_type(problem)];
}
int64_t norm_vectors(const struct zoo_problem *problem)
{
    return (row_bytes(problem) + VECTOR - 1) / VECTOR;
}

/* Whole warps that hold a row, some vectors a thread. */
static unsigned threads_for(int64_t vectors, int each)
{
    unsigned warps = zoo_ceil_div(vectors, 32 * (int64_t)each);
    return 32 * (warps ? warps : 1);
}

bool norm_has_nothing_to_do(const struct zoo_problem *problem)
{
    return problem->value[NORM_ROWS] == 0 || problem->value[NORM_COLS] == 0;
}

/* What takes what -------------------------------------------------------------------------------*/

bool norm_takes_forward(const struct zoo_problem *problem)
{
    return !norm_is_backward(problem);
}
bool norm_takes_backward(const struct zoo_problem *problem)
{
    return norm_is_backward(problem);
}
bool norm_takes_plain(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return norm_takes_forward(problem) && norm_type(problem) == ZOO_BF16 && v[NORM_RESIDUAL] == 0 &&
           v[NORM_AFFINE] == AFFINE_YES && v[NORM_STORE] == STORE_SAME && v[NORM_STATS] == 0 &&
           problem->distribution != DIST_HUGE && zoo_as_float(v[NORM_EPS]) > 0;
}
static bool has_whole_rows(const struct zoo_problem *problem)
{
    return row_bytes(problem) % VECTOR == 0;
}
bool norm_takes_long_rows(const struct zoo_problem *problem)
{
    return norm_takes_forward(problem) && has_whole_rows(problem) && row_bytes(problem) >= LONG_ROW;
}
bool norm_takes_shared_affine(const struct zoo_problem *problem)
{
    return norm_takes_long_rows(problem) && row_bytes(problem) >= 2 * LONG_ROW &&
           problem->value[NORM_RESIDUAL] == 0;
}
/* What else there is would take registers. */
static bool is_plain(const struct zoo_problem *problem)
{
    return problem->value[NORM_RESIDUAL] == 0 && problem->value[NORM_AFFINE] == AFFINE_YES &&
           problem->value[NORM_STORE] == STORE_SAME;
}
bool norm_takes_plain_rows(const struct zoo_problem *problem)
{
    return norm_takes_long_rows(problem) && is_plain(problem);
}
bool norm_takes_groups(const struct zoo_problem *problem)
{
    return norm_takes_plain_rows(problem) && row_bytes(problem) >= 2 * LONG_ROW;
}
bool norm_takes_backward_stages(const struct zoo_problem *problem)
{
    return norm_takes_backward(problem) && has_whole_rows(problem);
}
/* Where they were measured to be faster. */
bool norm_takes_backward_groups(const struct zoo_problem *problem)
{
    return norm_takes_backward_stages(problem) && problem->value[NORM_RESIDUAL] == 0 &&
           row_bytes(problem) >= (norm_is_layer(problem) ? LONG_ROW / 4 : LONG_ROW / 8) &&
           row_bytes(problem) <= LONG_ROW;
}
bool norm_takes_backward_team(const struct zoo_problem *problem)
{
    return norm_takes_backward_stages(problem) && problem->value[NORM_RESIDUAL] == 0 &&
           (norm_is_layer(problem) ? row_bytes(problem) > LONG_ROW
                                   : row_bytes(problem) >= 2 * LONG_ROW);
}

/* Arguments -------------------------------------------------------------------------------------*/

/* All kernels of a step have the same arguments; some have one more, log_lanes. */
struct arguments {
    CUdeviceptr array[NORM_ARRAYS]; /* x for those that `has` says are not there */
    int64_t rows, cols;
    float eps, scale;
    int has, whole;
};

static struct arguments arguments_of(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct arguments a = {.rows = problem->value[NORM_ROWS],
                          .cols = problem->value[NORM_COLS],
                          .eps = zoo_as_float(problem->value[NORM_EPS]),
                          .scale = zoo_as_float(problem->value[NORM_SCALE]),
                          .whole = has_whole_rows(problem)};
    enum norm_array list[NORM_ARRAYS];
    unsigned count = norm_list(problem, list);
    for (unsigned i = 0; i < NORM_ARRAYS; i++)
        a.array[i] = call->buffer[0];
    for (unsigned i = 0; i < count; i++) {
        a.array[list[i]] = call->buffer[i];
        if (call->buffer[i] % VECTOR != 0)
            a.whole = 0;
    }
    a.has = (problem->value[NORM_RESIDUAL] ? HAS_RESIDUAL : 0) |
            (problem->value[NORM_AFFINE] == AFFINE_YES ? HAS_GAMMA | HAS_BETA : 0) |
            (problem->value[NORM_STATS] ? HAS_STATS : 0) |
            (problem->value[NORM_STORE] == STORE_E4M3 ? HAS_FP8 : 0);
    return a;
}

/* "block_bf16" */
static void name_kernel(const struct zoo_problem *problem, const char *stem, char name[32])
{
    snprintf(name, 32, "%s_%s", stem, zoo_type_names[norm_type(problem)]);
}

static CUresult launch_forward(struct zoo_call *call, const char *stem, struct zoo_grid grid,
                               unsigned log_lanes)
{
    struct arguments a = arguments_of(call);
    char name[32];
    name_kernel(call->problem, stem, name);
    return ZOO_LAUNCH(call, name, grid, &a.array[NORM_X], &a.array[NORM_RESIDUAL_IN],
                      &a.array[NORM_GAMMA], &a.array[NORM_BETA], &a.array[NORM_Y],
                      &a.array[NORM_SUM], &a.array[NORM_STATS_OUT], &a.rows, &a.cols, &a.eps,
                      &a.scale, &a.has, &a.whole, &log_lanes);
}

static CUresult launch_backward(struct zoo_call *call, const char *stem, struct zoo_grid grid,
                                unsigned log_lanes)
{
    struct arguments a = arguments_of(call);
    CUdeviceptr partial = a.has & HAS_GAMMA ? call->workspace : a.array[NORM_X];
    char name[32];
    name_kernel(call->problem, stem, name);
    return ZOO_LAUNCH(call, name, grid, &a.array[NORM_X], &a.array[NORM_GAMMA], &a.array[NORM_DY],
                      &a.array[NORM_DSUM], &a.array[NORM_STATS_IN], &a.array[NORM_DX], &partial,
                      &a.rows, &a.cols, &a.has, &a.whole, &log_lanes);
}

/* Forward ---------------------------------------------------------------------------------------*/

CUresult norm_launch_plain(struct zoo_call *call)
{
    struct arguments a = arguments_of(call);
    struct zoo_grid grid = {.x = (unsigned)a.rows, .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    if (norm_has_nothing_to_do(call->problem))
        return CUDA_SUCCESS;
    if (norm_is_layer(call->problem))
        return ZOO_LAUNCH(call, "layernorm", grid, &a.array[NORM_X], &a.array[NORM_GAMMA],
                          &a.array[NORM_BETA], &a.array[NORM_Y], &a.cols, &a.eps);
    return ZOO_LAUNCH(call, "rmsnorm", grid, &a.array[NORM_X], &a.array[NORM_GAMMA],
                      &a.array[NORM_Y], &a.cols, &a.eps);
}

/* Some lanes of a warp for each row, which hold `each` vectors. */
static struct zoo_grid lanes_grid(const struct zoo_problem *problem, int64_t vectors,
                                  unsigned *log_lanes)
{
    enum { BLOCK = 256 }; /* as in the kernels */
    *log_lanes = 0;
    while (*log_lanes < 5 && 1 << *log_lanes < vectors)
        ++*log_lanes;
    return (struct zoo_grid){.x = zoo_ceil_div(problem->value[NORM_ROWS] << *log_lanes, BLOCK),
                             .threads = BLOCK};
}

static CUresult launch_long(struct zoo_call *call)
{
    return launch_forward(
        call, "long",
        (struct zoo_grid){.x = (unsigned)call->problem->value[NORM_ROWS], .threads = MOST_THREADS},
        0);
}

CUresult norm_launch_registers(struct zoo_call *call)
{
    enum { LANES_EACH = 4, PLAIN_THREADS = 512 }; /* as in the kernels */
    int64_t rows = call->problem->value[NORM_ROWS], vectors = norm_vectors(call->problem);
    unsigned log_lanes, threads = threads_for(vectors, zoo_tunable(call, "VECTORS"));
    if (norm_has_nothing_to_do(call->problem))
        return CUDA_SUCCESS;
    if (vectors <= 32 * LANES_EACH) {
        struct zoo_grid grid = lanes_grid(call->problem, vectors, &log_lanes);
        return launch_forward(call, vectors <= 32 ? "short" : "lanes", grid, log_lanes);
    }
    if (arguments_of(call).whole && threads <= MOST_THREADS) {
        bool plain = norm_is_layer(call->problem) && is_plain(call->problem) && threads > 128 &&
                     threads <= PLAIN_THREADS; /* where it was measured to be faster */
        return launch_forward(call, plain ? "plain" : "block",
                              (struct zoo_grid){.x = (unsigned)rows, .threads = threads}, 0);
    }
    return launch_long(call);
}

/* Parts of a row for the blocks of a cluster. */
static struct zoo_grid parts_grid(const struct zoo_call *call)
{
    int64_t vectors = norm_vectors(call->problem), rows = call->problem->value[NORM_ROWS];
    int each = zoo_tunable(call, "VECTORS");
    unsigned blocks = 1;
    while (blocks < MOST_BLOCKS && vectors > (int64_t)blocks * zoo_tunable(call, "THREADS") * each)
        blocks *= 2;
    return (struct zoo_grid){.x = (unsigned)rows * blocks,
                             .threads = threads_for((vectors + blocks - 1) / blocks, each),
                             .cluster = blocks};
}

bool norm_fits_parts(const struct zoo_call *call)
{
    return parts_grid(call).threads <= MOST_THREADS;
}

static CUresult launch_parts(struct zoo_call *call, const char *kernel)
{
    if (norm_has_nothing_to_do(call->problem))
        return CUDA_SUCCESS;
    if (!arguments_of(call).whole)
        return launch_long(call);
    return launch_forward(call, kernel, parts_grid(call), 0);
}

CUresult norm_launch_parts(struct zoo_call *call)
{
    return launch_parts(call, "parts");
}

/* The kernels are compiled for so many threads. */
bool norm_fits_plain_rows(const struct zoo_call *call)
{
    return parts_grid(call).threads <= (unsigned)zoo_tunable(call, "THREADS");
}

CUresult norm_launch_plain_rows(struct zoo_call *call)
{
    return launch_parts(call, "plain");
}

/* Stages ----------------------------------------------------------------------------------------*/

/* How many clusters run at a time, if an SM takes `resident` blocks: GPCs do not all have the same
 * number of SMs. An H200 with 132 runs 66 clusters of 2, 31 of 4 and 15 of 8. */
static int64_t clusters_at_a_time(const struct zoo_call *call, int64_t resident, int64_t blocks)
{
    int64_t sms = call->device->sm_count, left = blocks > 2 && sms > 8 * blocks ? 8 : 0;
    int64_t clusters = (resident > 0 ? resident : 1) * ((sms - left) / blocks);
    return clusters > 0 ? clusters : 1;
}

/* Blocks that stay pay for their beginning: once every SM has one, each gets four rows at least. */
static int64_t clusters_with_rows(int64_t rows, int64_t for_all_sms)
{
    enum { LEAST_ROWS = 4 };
    return rows / LEAST_ROWS > for_all_sms ? rows / LEAST_ROWS : for_all_sms + 1;
}

/* Blocks that an SM has registers for: 64 a thread forward; backward twice that, but for rmsnorm's
 * large blocks, which do with 64 as well. */
static int64_t resident_blocks(const struct zoo_problem *problem, unsigned threads, bool wide)
{
    if (!norm_is_backward(problem))
        return 1024 / threads;
    return (!norm_is_layer(problem) && !wide && threads > 256 ? 1024 : 512) / threads;
}

/* With `each` vectors a thread. */
static struct norm_staged stage_rows_with(const struct zoo_call *call, int each, bool wide)
{
    const struct zoo_problem *problem = call->problem;
    bool back = norm_is_backward(problem);
    int64_t vectors = norm_vectors(problem), rows = problem->value[NORM_ROWS];
    int64_t arrays = (back ? 2 : 1) + (problem->value[NORM_RESIDUAL] ? 1 : 0);
    int64_t room = call->device->shared_per_block - OWN_SHARED, shared;
    struct norm_staged s = {.blocks = 1, .kernel = wide ? "wide" : "stages"};
    for (;; s.blocks *= 2) { /* clusters of other sizes leave SMs idle */
        int64_t part = (vectors + s.blocks - 1) / s.blocks;
        shared = zoo_tunable(call, "STAGES") * arrays * part * VECTOR;
        s.threads = threads_for(part, each);
        if (s.blocks == MOST_BLOCKS ||
            (part <= (int64_t)zoo_tunable(call, "THREADS") * each && shared <= room))
            break;
    }
    s.shared = shared <= room ? (unsigned)shared : 0;
    int64_t resident = resident_blocks(problem, s.threads, wide);
    int64_t by_shared = room / (shared + OWN_SHARED);
    int64_t most = clusters_at_a_time(call, resident < by_shared ? resident : by_shared, s.blocks);
    if (s.blocks > 1) /* fewer may run at a time elsewhere: several rounds then even that out */
        most *= zoo_tunable(call, "WAVES");
    int64_t few = clusters_with_rows(rows, call->device->sm_count / (int64_t)s.blocks);
    most = most < few ? most : few;
    s.clusters = (unsigned)(rows < most ? rows : most);
    return s;
}

static struct norm_staged stage_rows(const struct zoo_call *call)
{
    int each = zoo_tunable(call, "VECTORS");
    struct norm_staged s = stage_rows_with(call, each, false);
    if (norm_is_backward(call->problem) && s.threads > STAGES_THREADS)
        s = stage_rows_with(call, 2 * each, true);
    return s;
}

bool norm_fits_stages(const struct zoo_call *call)
{
    struct norm_staged s = stage_rows(call);
    return s.threads <= STAGES_THREADS && (s.shared > 0 || norm_has_nothing_to_do(call->problem));
}

static struct zoo_grid grid_of(struct norm_staged s)
{
    return (struct zoo_grid){
        .x = s.clusters * s.blocks, .threads = s.threads, .shared = s.shared, .cluster = s.blocks};
}

CUresult norm_launch_staged_forward(struct zoo_call *call, struct norm_staged s)
{
    if (norm_has_nothing_to_do(call->problem))
        return CUDA_SUCCESS;
    if (!arguments_of(call).whole)
        return launch_long(call);
    return launch_forward(call, s.kernel, grid_of(s), 0);
}

CUresult norm_launch_stages(struct zoo_call *call)
{
    return norm_launch_staged_forward(call, stage_rows(call));
}

/* Blocks that hold gamma and beta of their columns: as many as run at a time. */
static struct norm_staged hold_affine(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int64_t vectors = norm_vectors(problem), together = zoo_tunable(call, "ROWS");
    int64_t turns = (problem->value[NORM_ROWS] + together - 1) / together;
    int64_t room = call->device->shared_per_block, sms = call->device->sm_count, shared;
    int64_t arrays = together * zoo_tunable(call, "STAGES") + (norm_is_layer(problem) ? 2 : 1);
    struct norm_staged s = {.blocks = 1, .kernel = "shared_affine"};
    for (;; s.blocks *= 2) {
        int64_t part = (vectors + s.blocks - 1) / s.blocks;
        shared = arrays * part * VECTOR;
        s.threads = threads_for(part, zoo_tunable(call, "VECTORS"));
        if (s.blocks == MOST_BLOCKS ||
            (s.threads <= (unsigned)zoo_tunable(call, "THREADS") && shared + AFFINE_SHARED <= room))
            break;
    }
    s.shared = shared + AFFINE_SHARED <= room ? (unsigned)shared : 0;
    int64_t resident = room / (shared + AFFINE_SHARED);
    int64_t by_threads = (together == 1 ? 1024 : 512) / (int64_t)s.threads;
    resident = resident < by_threads ? resident : by_threads;
    /* GPCs do not all have the same number of SMs: clusters of 4 and 8 leave some idle. */
    int64_t idle = s.blocks > 2 && sms > 8 * (int64_t)s.blocks ? zoo_tunable(call, "IDLE") : 0;
    int64_t most = (resident > 0 ? resident : 1) * ((sms - idle) / (int64_t)s.blocks);
    most = most > 0 ? most * zoo_tunable(call, "WAVES") : 1;
    s.clusters = (unsigned)(turns < most ? turns : most);
    return s;
}

bool norm_fits_shared_affine(const struct zoo_call *call)
{
    struct norm_staged s = hold_affine(call);
    return s.threads <= STAGES_THREADS && (s.shared > 0 || norm_has_nothing_to_do(call->problem));
}

CUresult norm_launch_shared_affine(struct zoo_call *call)
{
    return norm_launch_staged_forward(call, hold_affine(call));
}

/* Backward --------------------------------------------------------------------------------------*/

/* dgamma and dbeta from their partial sums. Without rows they are 0. */
static CUresult launch_add_up(struct zoo_call *call, unsigned parts)
{
    struct arguments a = arguments_of(call);
    char name[32];
    if (!(a.has & HAS_GAMMA) || a.cols == 0)
        return CUDA_SUCCESS;
    name_kernel(call->problem, "add_up", name);
    struct zoo_grid grid = {.x = zoo_ceil_div(a.cols, 32),
                            .y = norm_is_layer(call->problem) ? 2 : 1,
                            .threads = 32,
                            .ty = 8};
    return ZOO_LAUNCH(call, name, grid, &call->workspace, &parts, &a.cols, &a.array[NORM_DGAMMA],
                      &a.array[NORM_DBETA]);
}

size_t norm_partial_bytes(const struct zoo_problem *problem, size_t parts)
{
    if (problem->value[NORM_AFFINE] != AFFINE_YES)
        return 0;
    return parts * (size_t)problem->value[NORM_COLS] * sizeof(float) *
           (norm_is_layer(problem) ? 2 : 1);
}

enum { COLUMNS_BLOCK = 256 };

/* Enough blocks for the GPU, if each then still has some rows to add up. */
static unsigned parts_of_rows(const struct zoo_call *call)
{
    enum { LEAST_ROWS = 16, BLOCKS_PER_SM = 8 };
    unsigned wide = zoo_ceil_div(call->problem->value[NORM_COLS], COLUMNS_BLOCK);
    int64_t parts = (int64_t)call->device->sm_count * BLOCKS_PER_SM / (wide ? wide : 1);
    int64_t most = call->problem->value[NORM_ROWS] / LEAST_ROWS;
    parts = parts > most ? most : parts;
    return parts ? (unsigned)parts : 1;
}

size_t norm_workspace_passes(const struct zoo_call *call)
{
    return norm_partial_bytes(call->problem, parts_of_rows(call));
}

/* Number by number. */
static CUresult launch_long_rows(struct zoo_call *call)
{
    unsigned threads = threads_for(call->problem->value[NORM_COLS], 4);
    struct zoo_grid grid = {.x = (unsigned)call->problem->value[NORM_ROWS],
                            .threads = threads > MOST_THREADS ? MOST_THREADS : threads};
    return launch_backward(call, "long", grid, 0);
}

static CUresult launch_rows(struct zoo_call *call)
{
    enum { LANES_EACH = 2 };
    int64_t rows = call->problem->value[NORM_ROWS], vectors = norm_vectors(call->problem);
    unsigned log_lanes, threads = threads_for(vectors, zoo_tunable(call, "VECTORS"));
    if (!arguments_of(call).whole || threads > MOST_THREADS)
        return launch_long_rows(call);
    if (vectors <= 32 * LANES_EACH) {
        struct zoo_grid grid = lanes_grid(call->problem, vectors, &log_lanes);
        return launch_backward(call, "lanes", grid, log_lanes);
    }
    return launch_backward(call, "block",
                           (struct zoo_grid){.x = (unsigned)rows, .threads = threads}, 0);
}

/* Partial sums of dgamma and dbeta. */
static CUresult launch_columns(struct zoo_call *call, unsigned parts)
{
    struct zoo_grid grid = {.x = zoo_ceil_div(call->problem->value[NORM_COLS], COLUMNS_BLOCK),
                            .y = parts,
                            .threads = COLUMNS_BLOCK};
    if (call->problem->value[NORM_AFFINE] != AFFINE_YES)
        return CUDA_SUCCESS;
    return launch_backward(call, "columns", grid, 0);
}

/* Columns first: dx may lie where x or dy does. */
static CUresult launch_passes(struct zoo_call *call, unsigned parts,
                              CUresult (*rows)(struct zoo_call *call))
{
    if (call->problem->value[NORM_ROWS] == 0)
        return launch_add_up(call, 0);
    if (norm_has_nothing_to_do(call->problem))
        return CUDA_SUCCESS;
    CUresult result = launch_columns(call, parts);
    if (result == CUDA_SUCCESS)
        result = rows(call);
    return result == CUDA_SUCCESS ? launch_add_up(call, parts) : result;
}

CUresult norm_launch_passes(struct zoo_call *call)
{
    return launch_passes(call, parts_of_rows(call), launch_rows);
}

CUresult norm_launch_staged_backward(struct zoo_call *call, struct norm_staged s)
{
    if (norm_has_nothing_to_do(call->problem) || !arguments_of(call).whole)
        return launch_passes(call, s.clusters, launch_long_rows);
    CUresult result = launch_backward(call, s.kernel, grid_of(s), 0);
    return result == CUDA_SUCCESS ? launch_add_up(call, s.clusters) : result;
}

size_t norm_workspace_stages(const struct zoo_call *call)
{
    return norm_partial_bytes(call->problem, stage_rows(call).clusters);
}

CUresult norm_launch_gradient_stages(struct zoo_call *call)
{
    return norm_launch_staged_backward(call, stage_rows(call));
}

/* Rows over teams of `size` blocks with `room` vectors each, one block on an SM. */
struct teams {
    unsigned size, room, count, warps, shared;
};

static struct teams teams_for(const struct zoo_call *call)
{
    enum { LINE = 8 }; /* vectors: no line of the L2 belongs to two blocks */
    const struct zoo_problem *problem = call->problem;
    int64_t most = 32 * (int64_t)zoo_tunable(call, "VECTORS"), vectors = norm_vectors(problem);
    int64_t sms = call->device->sm_count, least = (vectors + most - 1) / most;
    struct teams t = {.warps = (unsigned)zoo_tunable(call, "WARPS")};
    int64_t rounds = zoo_ceil_div(problem->value[NORM_ROWS], t.warps);
    int64_t count = least > 0 && least <= sms ? sms / least : 1;
    t.count = (unsigned)(count < rounds ? count : rounds ? rounds : 1);
    int64_t size = sms / t.count < TEAM_MOST ? sms / t.count : TEAM_MOST;
    t.room = zoo_ceil_div(zoo_ceil_div(vectors, size), LINE) * LINE;
    t.size = t.room ? zoo_ceil_div(vectors, t.room) : 1;
    /* beside the stages gamma, widened */
    int64_t stages = (int64_t)t.warps * zoo_tunable(call, "STAGES") * 2;
    t.shared = (unsigned)((stages + 4 / zoo_type_bytes[norm_type(problem)]) * most * VECTOR);
    return t;
}

bool norm_fits_backward_team(const struct zoo_call *call)
{
    struct teams t = teams_for(call);
    return (int)t.room <= 32 * zoo_tunable(call, "VECTORS") &&
           t.shared + TEAM_SHARED <= (unsigned)call->device->shared_per_block;
}

static size_t slots_bytes(struct teams t)
{
    return (size_t)t.count * t.size * t.warps * TEAM_SETS * 8;
}

/* Partial sums, then the slots. */
size_t norm_workspace_backward_team(const struct zoo_call *call)
{
    struct teams t = teams_for(call);
    return norm_partial_bytes(call->problem, t.count) + slots_bytes(t);
}

CUresult norm_launch_backward_team(struct zoo_call *call)
{
    struct arguments a = arguments_of(call);
    struct teams t = teams_for(call);
    char name[32];
    if (norm_has_nothing_to_do(call->problem) || !a.whole)
        return launch_passes(call, t.count, launch_long_rows);
    CUdeviceptr slots = call->workspace + norm_partial_bytes(call->problem, t.count);
    CUdeviceptr partial = a.has & HAS_GAMMA ? call->workspace : a.array[NORM_X];
    CUresult result = zoo_clear(call, slots, slots_bytes(t));
    if (result != CUDA_SUCCESS)
        return result;
    name_kernel(call->problem, "team", name);
    struct zoo_grid grid = {
        .x = t.count * t.size, .threads = 32 * t.warps, .shared = t.shared, .cooperative = true};
    result = ZOO_LAUNCH(call, name, grid, &a.array[NORM_X], &a.array[NORM_GAMMA], &a.array[NORM_DY],
                        &a.array[NORM_DSUM], &a.array[NORM_STATS_IN], &a.array[NORM_DX], &partial,
                        &a.rows, &a.cols, &a.has, &a.whole, &slots, &t.size, &t.room,
                        &a.array[NORM_DGAMMA], &a.array[NORM_DBETA]);
    return result == CUDA_SUCCESS && t.count > 1 ? launch_add_up(call, t.count) : result;
}
