/*
 * f32.c: launches of the variants in f32, from one dot product per thread to tiles in registers
 * that keep the f32 units busy; tensor cores are not used.
 */
#include "gemm.h"

enum { M = GEMM_M, N = GEMM_N, K = GEMM_K };
enum { A = GEMM_A, B = GEMM_B, C = GEMM_C };

bool gemm_is_f32(const struct zoo_problem *problem)
{
    return problem->value[GEMM_TYPE] == GEMM_F32;
}

/* A grid has at most 65535 blocks along y, and naive.cu's are 16 columns wide. */
bool gemm_is_narrow_f32(const struct zoo_problem *problem)
{
    return gemm_is_f32(problem) && problem->value[N] <= 1000000;
}

static CUresult launch(struct zoo_call *call, const char *kernel, struct zoo_grid grid)
{
    int64_t m = call->problem->value[M], n = call->problem->value[N], k = call->problem->value[K];
    if (m == 0 || n == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, kernel, grid, &call->buffer[A], &call->buffer[B], &call->buffer[C], &m,
                      &n, &k);
}

/* A block for each down x across elements of C. Rows go along x, because a grid has at most 65535
 * blocks along y, and very tall matrices are more common than very wide ones. */
static struct zoo_grid grid_of(const struct zoo_call *call, int64_t down, int64_t across)
{
    return (struct zoo_grid){.x = zoo_ceil_div(call->problem->value[M], down),
                             .y = zoo_ceil_div(call->problem->value[N], across)};
}

CUresult gemm_launch_naive(struct zoo_call *call)
{
    int across = zoo_tunable(call, "ACROSS");
    struct zoo_grid grid = grid_of(call, 32, across);
    grid.threads = 32;
    grid.ty = (unsigned)across;
    return launch(call, "gemm", grid);
}

CUresult gemm_launch_coalesced(struct zoo_call *call)
{
    int down = zoo_tunable(call, "DOWN");
    struct zoo_grid grid = grid_of(call, down, 32);
    grid.threads = 32;
    grid.ty = (unsigned)down;
    return launch(call, "gemm", grid);
}

CUresult gemm_launch_shared_tiled(struct zoo_call *call)
{
    int tile = zoo_tunable(call, "TILE");
    struct zoo_grid grid = grid_of(call, tile, tile);
    grid.threads = grid.ty = (unsigned)tile;
    return launch(call, "gemm", grid);
}

CUresult gemm_launch_register_column(struct zoo_call *call)
{
    int bm = zoo_tunable(call, "BM"), bn = zoo_tunable(call, "BN");
    struct zoo_grid grid = grid_of(call, bm, bn);
    grid.threads = (unsigned)(bm / zoo_tunable(call, "TM") * bn);
    return launch(call, "gemm", grid);
}

static unsigned threads_of_tiles(const struct zoo_call *call)
{
    return (unsigned)(zoo_tunable(call, "BM") / zoo_tunable(call, "TM") *
                      (zoo_tunable(call, "BN") / zoo_tunable(call, "TN")));
}

CUresult gemm_launch_register_tiled(struct zoo_call *call)
{
    struct zoo_grid grid = grid_of(call, zoo_tunable(call, "BM"), zoo_tunable(call, "BN"));
    grid.threads = threads_of_tiles(call);
    return launch(call, "gemm", grid);
}

/* The kernel for rows of B and C, and of A as well, that all begin at multiples of 16 bytes; or the
 * one for any. */
static const char *wide_or_any(const struct zoo_call *call, bool with_a)
{
    bool wide = (call->buffer[B] | call->buffer[C]) % 16 == 0 && call->problem->value[N] % 4 == 0;
    bool a_wide = call->buffer[A] % 16 == 0 && call->problem->value[K] % 4 == 0;
    return wide && (a_wide || !with_a) ? "gemm_wide" : "gemm_any";
}

CUresult gemm_launch_wide(struct zoo_call *call)
{
    struct zoo_grid grid = grid_of(call, zoo_tunable(call, "BM"), zoo_tunable(call, "BN"));
    grid.threads = threads_of_tiles(call);
    return launch(call, wide_or_any(call, true), grid);
}

/* A grid of one dimension: the kernel chooses the order of its tiles itself. Rows of A's tile are
 * four elements longer than BM. */
CUresult gemm_launch_pipelined(struct zoo_call *call)
{
    int bm = zoo_tunable(call, "BM"), bn = zoo_tunable(call, "BN"), bk = zoo_tunable(call, "BK");
    struct zoo_grid grid = grid_of(call, bm, bn);
    grid.x *= grid.y;
    grid.y = 1;
    grid.threads = threads_of_tiles(call);
    grid.shared = (unsigned)(zoo_tunable(call, "STAGES") * (bm + 4 + bn) * bk * 4);
    return launch(call, wide_or_any(call, false), grid);
}
