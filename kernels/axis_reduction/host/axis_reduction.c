/*
 * axis_reduction.c: the family: sums over one axis of an array. Any axis is the middle one of
 * [outer][middle][inner]: rows have inner = 1, columns have outer = 1. The variants go from a
 * thread an output to 16-byte loads and an axis cut over the whole GPU.
 */
#include "zoo/zoo.h"

#include <float.h>
#include <math.h>

enum { OUTER, MIDDLE, INNER };
enum { IN, OUT };

/* The problem -----------------------------------------------------------------------------------*/

static int64_t outputs(const struct zoo_problem *problem)
{
    return problem->value[OUTER] * problem->value[INNER];
}

/* No host has room for what runs over. */
static size_t elements(const struct zoo_problem *problem)
{
    int64_t count;
    if (__builtin_mul_overflow(outputs(problem), problem->value[MIDDLE], &count) ||
        count > (int64_t)1 << 48)
        count = (int64_t)1 << 48;
    return (size_t)count;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    buffers[IN] = (struct zoo_buffer){"in", ZOO_IN, ZOO_F32, elements(problem)};
    buffers[OUT] = (struct zoo_buffer){"out", ZOO_OUT, ZOO_F32, (size_t)outputs(problem)};
    return 2;
}

/* The common numbers, less the huge ones: whether their sums overflow depends on the order. */
static void generate(const struct zoo_problem *problem, void **buffer)
{
    size_t count = elements(problem);
    float *in = buffer[IN];
    zoo_fill(problem, 0, ZOO_F32, in, count);
    if (problem->distribution == ZOO_SPECIAL)
        for (size_t i = 0; i < count; i++)
            in[i] = fabsf(in[i]) == 0x1p127f ? copysignf(1, in[i]) : in[i];
}

/* Rounding in an unknown order: each addition by half a unit of a partial sum that is no
 * larger than the sum of magnitudes; the errors add up like a random walk, here at four times its
 * spread. */
static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    int64_t middle = problem->value[MIDDLE], inner = problem->value[INNER];
    const float *in = buffer[IN];
#pragma omp parallel for schedule(static) if (elements(problem) > 100000)
    for (int64_t i = 0; i < outputs(problem); i++) {
        const float *at = in + i / inner * middle * inner + i % inner;
        double sum = 0, magnitudes = 0;
        for (int64_t k = 0; k < middle; k++) {
            sum += at[k * inner];
            magnitudes += fabsf(at[k * inner]);
        }
        expected[OUT].value[i] = sum;
        expected[OUT].bound[i] = 2 * FLT_EPSILON * sqrt((double)middle + 1) * magnitudes;
    }
}

static double bytes(const struct zoo_problem *problem)
{
    return 4 * ((double)elements(problem) + (double)outputs(problem));
}

static double flops(const struct zoo_problem *problem)
{
    return (double)elements(problem);
}

static bool is_rows(const struct zoo_problem *problem)
{
    return problem->value[INNER] == 1;
}

/* Launches --------------------------------------------------------------------------------------*/

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static CUresult launch_thread_per_output(struct zoo_call *call)
{
    const int64_t *value = call->problem->value;
    int64_t outer = value[OUTER], middle = value[MIDDLE], inner = value[INNER];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (outputs(call->problem) == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(
        call, "reduce",
        ((struct zoo_grid){.x = zoo_ceil_div(outer * inner, block), .threads = block}),
        &call->buffer[IN], &outer, &middle, &inner, &call->buffer[OUT]);
}

static CUresult launch_warp_per_row(struct zoo_call *call)
{
    int64_t rows = call->problem->value[OUTER], length = call->problem->value[MIDDLE];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (rows == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "reduce",
                      ((struct zoo_grid){.x = zoo_ceil_div(rows * 32, block), .threads = block}),
                      &call->buffer[IN], &rows, &length, &call->buffer[OUT]);
}

static CUresult launch_block_per_row(struct zoo_call *call)
{
    int64_t rows = call->problem->value[OUTER], length = call->problem->value[MIDDLE];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (rows == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "reduce", ((struct zoo_grid){.x = (unsigned)rows, .threads = block}),
                      &call->buffer[IN], &length, &call->buffer[OUT]);
}

static CUresult launch_column_tiles(struct zoo_call *call)
{
    const int64_t *value = call->problem->value;
    int64_t middle = value[MIDDLE], inner = value[INNER];
    unsigned tiles = zoo_ceil_div(inner, 32), block = (unsigned)zoo_tunable(call, "BLOCK");
    if (outputs(call->problem) == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "reduce",
                      ((struct zoo_grid){.x = (unsigned)(value[OUTER] * tiles), .threads = block}),
                      &call->buffer[IN], &middle, &inner, &tiles, &call->buffer[OUT]);
}

/* How columns go to lanes: `width` to a lane, `wide` lanes beside each other, this many tiles. */
struct columns {
    unsigned width, wide, tiles;
};

static struct columns cut_columns(const struct zoo_problem *problem, bool aligned)
{
    int64_t inner = problem->value[INNER];
    struct columns cut = {.width = inner % 4 == 0 && aligned ? 4 : 1};
    cut.wide = (unsigned)lesser(32, inner / cut.width);
    cut.tiles = zoo_ceil_div(inner, (int64_t)cut.wide * cut.width);
    return cut;
}

static bool is_aligned(const struct zoo_call *call)
{
    return call->buffer[IN] % 16 == 0;
}

/* As many lanes as find two loads each in a row. */
static CUresult launch_rows(struct zoo_call *call)
{
    int64_t rows = call->problem->value[OUTER], length = call->problem->value[MIDDLE];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK"), log_lanes = 0;
    if (length >= 32 * block)
        return ZOO_LAUNCH(call, "long_rows",
                          ((struct zoo_grid){.x = (unsigned)rows, .threads = block}),
                          &call->buffer[IN], &length, &call->buffer[OUT]);
    while (log_lanes < 5 && 8 << log_lanes < length)
        log_lanes++;
    return ZOO_LAUNCH(
        call, "rows",
        ((struct zoo_grid){.x = zoo_ceil_div(rows << log_lanes, block), .threads = block}),
        &call->buffer[IN], &rows, &length, &log_lanes, &call->buffer[OUT]);
}

/* Planes with less than a block's work for each go to one thread an output. */
static CUresult launch_vectorised(struct zoo_call *call)
{
    const int64_t *value = call->problem->value;
    int64_t outer = value[OUTER], middle = value[MIDDLE], inner = value[INNER];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (outputs(call->problem) == 0)
        return CUDA_SUCCESS;
    if (inner == 1)
        return launch_rows(call);
    if (outer > 1 && middle * inner < 4 * block)
        return ZOO_LAUNCH(
            call, "outputs",
            ((struct zoo_grid){.x = zoo_ceil_div(outer * inner, block), .threads = block}),
            &call->buffer[IN], &outer, &middle, &inner, &call->buffer[OUT]);
    struct columns cut = cut_columns(call->problem, is_aligned(call));
    return ZOO_LAUNCH(call, cut.width == 4 ? "columns_4" : "columns_1",
                      ((struct zoo_grid){.x = (unsigned)(outer * cut.tiles), .threads = block}),
                      &call->buffer[IN], &middle, &inner, &cut.tiles, &cut.wide,
                      &call->buffer[OUT]);
}

/* How the axis is cut: enough pieces to fill the GPU, each with a few rounds for its block. */
struct pieces {
    unsigned blocks, pieces; /* without pieces; and of the axis */
    int64_t length;
};

static struct pieces cut_axis(const struct zoo_call *call, bool aligned)
{
    const int64_t *value = call->problem->value;
    bool rows = is_rows(call->problem);
    struct columns cut = cut_columns(call->problem, aligned);
    struct pieces result = {.blocks = (unsigned)(value[OUTER] * (rows ? 1 : cut.tiles))};
    int64_t round = (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "UNROLL");
    int64_t least_length = rows ? 4 * round : round / cut.wide;
    int64_t wanted = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t pieces =
        lesser(zoo_ceil_div(wanted, result.blocks), zoo_ceil_div(value[MIDDLE], least_length));
    if (pieces < 1)
        pieces = 1;
    /* Whole rounds of 16 bytes, so that a row's pieces begin on boundaries where the row does. */
    result.length = (zoo_ceil_div(value[MIDDLE], pieces) + 3) / 4 * 4;
    result.pieces = value[MIDDLE] ? zoo_ceil_div(value[MIDDLE], result.length) : 1;
    return result;
}

/* Enough for input that lies anywhere. */
static size_t workspace_split(const struct zoo_call *call)
{
    if (outputs(call->problem) == 0)
        return 0;
    unsigned even = cut_axis(call, true).pieces, odd = cut_axis(call, false).pieces;
    unsigned pieces = even > odd ? even : odd;
    return pieces == 1 ? 0 : 4 * (size_t)pieces * (size_t)outputs(call->problem);
}

static CUresult launch_pieces(struct zoo_call *call, struct pieces cut, CUdeviceptr parts)
{
    int64_t middle = call->problem->value[MIDDLE], inner = call->problem->value[INNER];
    struct columns columns = cut_columns(call->problem, is_aligned(call));
    struct zoo_grid grid = {
        .x = cut.blocks, .y = cut.pieces, .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    if (is_rows(call->problem))
        return ZOO_LAUNCH(call, "rows", grid, &call->buffer[IN], &middle, &cut.length, &parts);
    return ZOO_LAUNCH(call, columns.width == 4 ? "columns_4" : "columns_1", grid, &call->buffer[IN],
                      &middle, &inner, &columns.tiles, &columns.wide, &cut.length, &parts);
}

static CUresult launch_split(struct zoo_call *call)
{
    int64_t count = outputs(call->problem);
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (count == 0)
        return CUDA_SUCCESS;
    struct pieces cut = cut_axis(call, is_aligned(call));
    CUdeviceptr parts = cut.pieces == 1 ? call->buffer[OUT] : call->workspace;
    CUresult status = launch_pieces(call, cut, parts);
    if (status != CUDA_SUCCESS || cut.pieces == 1)
        return status;
    return ZOO_LAUNCH(call, "combine",
                      ((struct zoo_grid){.x = zoo_ceil_div(count * 32, block), .threads = block}),
                      &parts, &count, &cut.pieces, &call->buffer[OUT]);
}

static const struct zoo_variant variants[] = {
    {"thread_per_output", "one thread adds up each output", launch_thread_per_output,
     .traits = ZOO_DETERMINISTIC},
    {"warp_per_row", "32 lanes side by side on a row", launch_warp_per_row, .takes = is_rows,
     .traits = ZOO_DETERMINISTIC},
    {"block_per_row", "a block on a row", launch_block_per_row, .takes = is_rows,
     .traits = ZOO_DETERMINISTIC},
    {"column_tiles", "32 columns a block, its warps on different rows", launch_column_tiles,
     .traits = ZOO_DETERMINISTIC},
    {"vectorised", "16-byte loads, several in flight; lanes as there is work for",
     launch_vectorised, .traits = ZOO_DETERMINISTIC},
    {"split", "a long axis cut over all SMs, two passes", launch_split, workspace_split,
     .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"cub", ZOO_PEER_NVCC, "cub::DeviceSegmentedReduce::Sum", .takes = is_rows},
    {"torch", ZOO_PEER_PYTHON, "x[0].view(outer, middle, inner).sum(1)", .takes = NULL},
    {0}};

static const char *const edges[] = {
    "outer=0,1,2,33 middle=0,1,5,31,32,33 inner=1",
    "outer=1,7 middle=255,257,1023,1024,1025 inner=1",
    "outer=1 middle=0,1,3,33,100 inner=0,2,3,4,31,32,33,100,128,131",
    "outer=1,3,40 middle=1,6,70 inner=1,3,8,64,65",
    "outer=3 middle=50 inner=1,4,20 dist=constant,ascending,adversarial,special",
    "outer=1,2 middle=40003 inner=1",
    "outer=1 middle=20001 inner=1,3,4,32",
    "outer=300 middle=16 inner=4,5",
    NULL};

static const char *const bench[] = {"outer=256K middle=1K inner=1",
                                    "outer=1 middle=256K inner=1K",
                                    "outer=256 middle=1K inner=1K",
                                    "outer=1 middle=256M inner=1",
                                    "outer=1 middle=16M inner=16",
                                    "outer=4M middle=64 inner=1",
                                    "outer=16 middle=16M inner=1",
                                    "outer=64K middle=64 inner=64",
                                    "outer=1K middle=1K inner=1",
                                    "outer=1 middle=1K inner=1K",
                                    NULL};

const struct zoo_family zoo_axis_reduction = {
    .name = "axis_reduction",
    .title = "sums over one axis of an array",
    .problem = "out[o][i] = the sum over m of in[o][m][i], in f32. Rows have inner = 1, columns "
               "outer = 1.",
    .parameters = {{"outer", "rows, or planes", 0, 1 << 30, 1, NULL},
                   {"middle", "length of the axis that is added up", 0, 1 << 30, 1024, NULL},
                   {"inner", "columns", 0, 1 << 30, 1024, NULL},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "outer=1K middle=1K inner=1",
    ZOO_FAMILY_PARTS,
};
