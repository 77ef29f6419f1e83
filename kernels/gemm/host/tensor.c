/*
 * tensor.c: launches of the variants that use tensor cores, from wmma to stream_k and TF32.
 */
#include "gemm.h"

enum { M = GEMM_M, N = GEMM_N, K = GEMM_K, TYPE = GEMM_TYPE };
enum { A = GEMM_A, B = GEMM_B, C = GEMM_C };
enum { BM = 128, BK = 64, BARRIERS = 1024 };

/* Problems --------------------------------------------------------------------------------------*/

bool gemm_is_f16(const struct zoo_problem *problem)
{
    return problem->value[TYPE] == GEMM_F16;
}

bool gemm_is_half(const struct zoo_problem *problem)
{
    return gemm_is_f16(problem) || problem->value[TYPE] == GEMM_BF16;
}

bool gemm_is_tf32(const struct zoo_problem *problem)
{
    return problem->value[TYPE] == GEMM_TF32;
}

static int64_t bytes_of_element(const struct zoo_problem *problem)
{
    return gemm_is_half(problem) ? 2 : 4;
}

/* Rows begin at multiples of 16 bytes. */
static bool has_wide_rows(const struct zoo_problem *problem)
{
    int64_t chunk = 16 / bytes_of_element(problem);
    return problem->value[N] % chunk == 0 && problem->value[K] % chunk == 0;
}

bool gemm_is_wide_bf16(const struct zoo_problem *problem)
{
    return problem->value[TYPE] == GEMM_BF16 && has_wide_rows(problem);
}

bool gemm_is_wide_tf32(const struct zoo_problem *problem)
{
    return gemm_is_tf32(problem) && has_wide_rows(problem);
}

/* C where there is nothing to multiply. */
static bool is_trivial(struct zoo_call *call, CUresult *status)
{
    const int64_t *value = call->problem->value;
    *status = CUDA_SUCCESS;
    if (value[M] && value[N] && !value[K])
        *status = zoo_clear(call, call->buffer[C],
                            (size_t)(value[M] * value[N] * bytes_of_element(call->problem)));
    return !value[M] || !value[N] || !value[K];
}

/* By pointers -----------------------------------------------------------------------------------*/

/* A block for each tile of bm x bn. */
static CUresult launch_tiles(struct zoo_call *call, const char *kernel, int bm, int bn, int threads,
                             int stage_bytes)
{
    CUresult status;
    if (is_trivial(call, &status))
        return status;
    int m = (int)call->problem->value[M], n = (int)call->problem->value[N],
        k = (int)call->problem->value[K];
    struct zoo_grid grid = {.x = zoo_ceil_div(m, bm),
                            .y = zoo_ceil_div(n, bn),
                            .threads = (unsigned)threads,
                            .shared = (unsigned)(zoo_tunable(call, "STAGES") * stage_bytes)};
    return ZOO_LAUNCH(call, kernel, grid, &call->buffer[A], &call->buffer[B], &call->buffer[C], &m,
                      &n, &k);
}

static CUresult launch_pointers(struct zoo_call *call, const char *kernel, int stage_bytes)
{
    return launch_tiles(call, kernel, BM, 128, 256, stage_bytes);
}

static bool loads_wide(const struct zoo_call *call)
{
    return has_wide_rows(call->problem) && (call->buffer[A] | call->buffer[B]) % 16 == 0;
}

CUresult gemm_launch_wmma(struct zoo_call *call)
{
    bool wide = loads_wide(call) && call->buffer[C] % 16 == 0;
    return launch_pointers(call, wide ? "gemm_wide" : "gemm_any", 18944);
}

CUresult gemm_launch_mma_sync(struct zoo_call *call)
{
    bool is_f16 = gemm_is_f16(call->problem);
    const char *wide = is_f16 ? "gemm_wide_f16" : "gemm_wide_bf16";
    const char *any = is_f16 ? "gemm_any_f16" : "gemm_any_bf16";
    int bm = zoo_tunable(call, "BM"), bn = zoo_tunable(call, "BN");
    return launch_tiles(call, loads_wide(call) ? wide : any, bm, bn, bm / 64 * (bn / 32) * 32,
                        (bm + bn) * BK * 2);
}

CUresult gemm_launch_mma_sync_tf32(struct zoo_call *call)
{
    return launch_pointers(call, loads_wide(call) ? "gemm_wide" : "gemm_any", 32768);
}

CUresult gemm_launch_wgmma(struct zoo_call *call)
{
    return launch_pointers(call, "gemm", 32768);
}

/* By TMA ----------------------------------------------------------------------------------------*/

/* A matrix by rows, in boxes of `box_rows` lines of 128 bytes, swizzled. */
static CUresult make_map(struct zoo_call *call, CUtensorMap *map, CUdeviceptr at, int64_t rows,
                         int64_t columns, int box_rows)
{
    bool is_tf32 = gemm_is_tf32(call->problem);
    cuuint64_t each = (cuuint64_t)bytes_of_element(call->problem);
    cuuint64_t size[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, pitch[1] = {size[0] * each};
    cuuint32_t box[2] = {(cuuint32_t)(128 / each), (cuuint32_t)box_rows}, step[2] = {1, 1};
    if (!call->device->cuda->cuTensorMapEncodeTiled) /* drivers before 12.0 */
        return CUDA_ERROR_NOT_SUPPORTED;
    return call->device->cuda->cuTensorMapEncodeTiled(
        map, is_tf32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2,
        (void *)(uintptr_t)at, size, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* Of A, with boxes of so many rows, and of B. */
static CUresult map_factors(struct zoo_call *call, CUtensorMap *a, int a_rows, CUtensorMap *b,
                            int b_rows)
{
    const int64_t *value = call->problem->value;
    CUresult status = make_map(call, a, call->buffer[A], value[M], value[K], a_rows);
    if (status == CUDA_SUCCESS)
        status = make_map(call, b, call->buffer[B], value[K], value[N], b_rows);
    return status;
}

static unsigned stage_bytes(const struct zoo_call *call, int bm, int bn, int bk)
{
    return (unsigned)(zoo_tunable(call, "STAGES") * (bm + bn) * bk *
                      (int)bytes_of_element(call->problem));
}

/* As many blocks as there are SMs, or tiles. */
static unsigned persistent_blocks(const struct zoo_call *call, unsigned tiles, int cluster)
{
    unsigned most = (unsigned)(call->device->sm_count / cluster * cluster);
    return tiles < most ? tiles : most;
}

/* How a variant is launched: the columns of its tile, its threads, the blocks of a cluster. */
struct tiling {
    int bn, threads, cluster;
    bool persistent;
};

static CUresult launch_maps(struct zoo_call *call, struct tiling tiling)
{
    CUresult status;
    CUtensorMap a, b;
    if (is_trivial(call, &status) || (status = map_factors(call, &a, BM, &b, BK)) != CUDA_SUCCESS)
        return status;
    int m = (int)call->problem->value[M], n = (int)call->problem->value[N],
        k = (int)call->problem->value[K];
    unsigned down = zoo_ceil_div(m, BM * tiling.cluster) * (unsigned)tiling.cluster;
    struct zoo_grid grid = {.x = down,
                            .y = zoo_ceil_div(n, tiling.bn),
                            .threads = (unsigned)tiling.threads,
                            .shared = stage_bytes(call, BM, tiling.bn, BK) + BARRIERS,
                            .cluster = (unsigned)tiling.cluster};
    if (tiling.persistent) {
        grid.x = persistent_blocks(call, grid.x * grid.y, tiling.cluster);
        grid.y = 1;
    }
    return ZOO_LAUNCH(call, "gemm", grid, &a, &b, &call->buffer[C], &m, &n, &k);
}

CUresult gemm_launch_tma(struct zoo_call *call)
{
    return launch_maps(call, (struct tiling){128, 256, 1});
}

CUresult gemm_launch_warp_specialised(struct zoo_call *call)
{
    return launch_maps(call, (struct tiling){256, 384, 1});
}

CUresult gemm_launch_multicast(struct zoo_call *call)
{
    return launch_maps(call, (struct tiling){256, 384, 2});
}

CUresult gemm_launch_persistent(struct zoo_call *call)
{
    return launch_maps(call, (struct tiling){256, 384, 2, .persistent = true});
}

/* C has a map as well, and boxes on their way out. */
CUresult gemm_launch_overlapped(struct zoo_call *call)
{
    enum { BN = 256, STAGES = 4, LEAVING = 4 * 64 * 64 * 2 };
    CUresult status;
    CUtensorMap a, b, c;
    int m = (int)call->problem->value[M], n = (int)call->problem->value[N],
        k = (int)call->problem->value[K];
    if (is_trivial(call, &status) || (status = map_factors(call, &a, BM, &b, BK)) != CUDA_SUCCESS ||
        (status = make_map(call, &c, call->buffer[C], m, n, 64)) != CUDA_SUCCESS)
        return status;
    unsigned tiles = zoo_ceil_div(m, BM * 2) * 2 * zoo_ceil_div(n, BN);
    struct zoo_grid grid = {.x = persistent_blocks(call, tiles, 2),
                            .threads = 384,
                            .shared = STAGES * (BM + BN) * BK * 2 + LEAVING + BARRIERS,
                            .cluster = 2,
                            .overlaps = true};
    return ZOO_LAUNCH(call, "gemm", grid, &a, &b, &c, &m, &n, &k);
}

CUresult gemm_launch_wgmma_tf32(struct zoo_call *call)
{
    enum { ROWS = 256, COLUMNS = 128, DEEP = 32 };
    CUresult status;
    CUtensorMap a, b;
    int m = (int)call->problem->value[M], n = (int)call->problem->value[N],
        k = (int)call->problem->value[K];
    if (is_trivial(call, &status) ||
        (status = map_factors(call, &a, ROWS / 2, &b, DEEP)) != CUDA_SUCCESS)
        return status;
    unsigned tiles = zoo_ceil_div(m, ROWS) * zoo_ceil_div(n, COLUMNS * 2) * 2;
    struct zoo_grid grid = {.x = persistent_blocks(call, tiles, 2),
                            .threads = 384,
                            .shared = stage_bytes(call, ROWS, COLUMNS, DEEP) + BARRIERS,
                            .cluster = 2};
    return ZOO_LAUNCH(call, "gemm", grid, &a, &b, &call->buffer[C], &m, &n, &k);
}

/* Sharing k -------------------------------------------------------------------------------------*/

/* As many as the SMs take at once, with some steps each. */
static unsigned parts_of(const struct zoo_call *call, unsigned tiles)
{
    unsigned steps = zoo_ceil_div(call->problem->value[K], BK);
    unsigned parts = (unsigned)call->device->sm_count / (tiles ? tiles : 1);
    parts = parts < steps / 4 ? parts : steps / 4;
    return parts ? parts : 1;
}

static struct zoo_grid grid_of_parts(const struct zoo_call *call)
{
    struct zoo_grid grid = {.x = zoo_ceil_div(call->problem->value[M], BM),
                            .y = zoo_ceil_div(call->problem->value[N], 256),
                            .threads = 384,
                            .shared = stage_bytes(call, BM, 256, BK) + BARRIERS};
    grid.z = parts_of(call, grid.x * grid.y);
    return grid;
}

size_t gemm_split_k_workspace(const struct zoo_call *call)
{
    const int64_t *value = call->problem->value;
    return grid_of_parts(call).z * (size_t)(value[M] * value[N]) * 4;
}

CUresult gemm_launch_split_k(struct zoo_call *call)
{
    CUresult status;
    CUtensorMap a, b;
    if (is_trivial(call, &status) || (status = map_factors(call, &a, BM, &b, BK)) != CUDA_SUCCESS)
        return status;
    int m = (int)call->problem->value[M], n = (int)call->problem->value[N],
        k = (int)call->problem->value[K];
    struct zoo_grid grid = grid_of_parts(call);
    struct zoo_grid adding = {.x = zoo_ceil_div((int64_t)m * n / 2, 256), .threads = 256};
    status = ZOO_LAUNCH(call, "multiply_parts", grid, &a, &b, &call->workspace, &m, &n, &k);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, "add_parts", adding, &call->workspace, &call->buffer[C], &grid.z, &m,
                      &n);
}

/* A block's sums, 128 x 256, and two flags. */
enum { STRETCH_BYTES = BM * 256 * 4, FLAGS_BYTES = 2 * 4 };

size_t gemm_stream_k_workspace(const struct zoo_call *call)
{
    return (size_t)call->device->sm_count * (STRETCH_BYTES + FLAGS_BYTES);
}

CUresult gemm_launch_stream_k(struct zoo_call *call)
{
    CUresult status;
    CUtensorMap a, b;
    size_t blocks = (size_t)call->device->sm_count;
    CUdeviceptr flags = call->workspace + blocks * STRETCH_BYTES;
    if (is_trivial(call, &status) || (status = map_factors(call, &a, BM, &b, BK)) != CUDA_SUCCESS ||
        (status = zoo_clear(call, flags, blocks * FLAGS_BYTES)) != CUDA_SUCCESS)
        return status;
    int m = (int)call->problem->value[M], n = (int)call->problem->value[N],
        k = (int)call->problem->value[K];
    struct zoo_grid grid = {
        .x = (unsigned)blocks, .threads = 384, .shared = stage_bytes(call, BM, 256, BK) + BARRIERS};
    return ZOO_LAUNCH(call, "gemm", grid, &a, &b, &call->buffer[C], &m, &n, &k, &call->workspace,
                      &flags);
}
