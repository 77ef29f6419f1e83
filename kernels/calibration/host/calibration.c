/*
 * calibration.c: the family: scales for numbers of 4 and 8 bits that lose less than the largest
 * number's: a percentile, the ratio of least squared error, and AWQ's channel scales, which depend
 * on the sizes of a product's inputs.
 */
#include "calibration.h"

#include <math.h>
#include <stdio.h>

static const char *const methods[] = {"absmax", "percentile", "mse", "awq", NULL};
static const char *const formats[] = {"e4m3", "e5m2", "int8", "int4", NULL};
static const char *const sharings[] = {"tensor", "row", "block128", NULL};
static const char *const types[] = {"bf16", "f16", "f32", NULL};
static const char *const distributions[] = {"uniform", "constant", "ascending", "adversarial",
                                            "special", "outliers", NULL};
enum { OUTLIERS = 5 };

/* The problem -----------------------------------------------------------------------------------*/

struct cal_groups cal_groups_of(const struct zoo_problem *problem)
{
    static const enum zoo_type type_of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    static const enum number_format format_of[] = {FORMAT_E4M3, FORMAT_E5M2, FORMAT_INT8,
                                                   FORMAT_INT4};
    const int64_t *v = problem->value;
    struct cal_groups g = {.rows = v[CAL_ROWS],
                           .cols = v[CAL_COLS],
                           .method = (int)v[CAL_METHOD],
                           .format = format_of[v[CAL_FORMAT]],
                           .type = type_of[v[CAL_TYPE]],
                           .percent = zoo_as_float(v[CAL_PERCENT])};
    g.length = v[CAL_SCALES] == CAL_TENSOR ? g.rows * g.cols
               : v[CAL_SCALES] == CAL_ROW  ? g.cols
                                           : 128;
    g.per_row = v[CAL_SCALES] == CAL_TENSOR ? 0
                : v[CAL_SCALES] == CAL_ROW  ? 1
                                            : (g.cols + 127) / 128;
    g.count = v[CAL_SCALES] == CAL_TENSOR ? 1 : g.rows * g.per_row;
    return g;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    struct cal_groups g = cal_groups_of(problem);
    bool awq = g.method == CAL_AWQ;
    buffers[CAL_X] =
        (struct zoo_buffer){awq ? "w" : "x", ZOO_IN, g.type, (size_t)(g.rows * g.cols)};
    buffers[CAL_OUT] =
        (struct zoo_buffer){"scales", ZOO_OUT, ZOO_F32, (size_t)(awq ? g.cols : g.count)};
    buffers[CAL_MEANS] = (struct zoo_buffer){"means", ZOO_IN, ZOO_F32, (size_t)g.cols};
    return awq ? 3 : 2;
}

/* Some numbers, or some inputs, are far larger than the others. */
static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct cal_groups g = cal_groups_of(problem);
    struct zoo_problem plain = *problem;
    bool outliers = problem->distribution == OUTLIERS;
    size_t n = (size_t)(g.rows * g.cols);
    if (outliers)
        plain.distribution = ZOO_UNIFORM;
    zoo_fill(&plain, 0, g.type, buffer[CAL_X], n);
    for (size_t i = 0; outliers && i < n; i++)
        if (zoo_random(problem->seed, 7, i) % 64 == 0)
            zoo_put(g.type, buffer[CAL_X], i, 30 * zoo_get(g.type, buffer[CAL_X], i));
    for (int64_t j = 0; g.method == CAL_AWQ && j < g.cols; j++) {
        double unit = zoo_random_unit(problem->seed, 9, (uint64_t)j);
        ((float *)buffer[CAL_MEANS])[j] = (float)((0.05 + unit) * (j % 37 == 5 ? 40 : 1));
    }
}

static double bytes(const struct zoo_problem *problem)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += (double)zoo_buffer_bytes(&buffers[i]);
    return sum;
}

/* A number is quantised with each ratio or exponent: a product, a rounding, a product, a
 * difference, a square. */
static double flops(const struct zoo_problem *problem)
{
    static const double each[] = {1, 31, 5.0 * CAL_RATIOS, 7.0 * CAL_EXPONENTS};
    struct cal_groups g = cal_groups_of(problem);
    return (double)g.rows * (double)g.cols * each[g.method];
}

/* Launches --------------------------------------------------------------------------------------*/

/* Of AWQ: errors of each exponent and group, their sums, and the logarithms of the means. */
static size_t workspace_warps(const struct zoo_call *call)
{
    struct cal_groups g = cal_groups_of(call->problem);
    if (g.method != CAL_AWQ)
        return 0;
    return (size_t)(CAL_EXPONENTS * (g.count + 1)) * sizeof(double) +
           (size_t)g.cols * sizeof(float);
}

static void name_kernel(char (*name)[40], const char *pass, const struct zoo_problem *problem)
{
    snprintf(*name, sizeof *name, "%s_%s_%s", pass, formats[problem->value[CAL_FORMAT]],
             types[problem->value[CAL_TYPE]]);
}

static CUresult finish_awq(struct zoo_call *call, struct cal_groups *g, CUdeviceptr errors,
                           CUdeviceptr sums, CUdeviceptr logs)
{
    CUresult status =
        ZOO_LAUNCH(call, "add_up", ((struct zoo_grid){.x = CAL_EXPONENTS, .threads = 256}), &errors,
                   &g->count, &sums);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, "channels",
                      ((struct zoo_grid){.x = zoo_ceil_div(g->cols, 256), .threads = 256}), &sums,
                      &logs, &call->buffer[CAL_OUT], &g->cols);
}

/* exponents: how many blocks share a group's for AWQ. */
static CUresult launch_warps(struct zoo_call *call, unsigned exponents)
{
    struct cal_groups g = cal_groups_of(call->problem);
    bool awq = g.method == CAL_AWQ;
    unsigned threads = (unsigned)zoo_tunable(call, "BLOCK");
    CUdeviceptr x = call->buffer[CAL_X], means = awq ? call->buffer[CAL_MEANS] : 0;
    CUdeviceptr errors = awq ? call->workspace : 0;
    CUdeviceptr sums = awq ? errors + (size_t)(CAL_EXPONENTS * g.count) * 8 : 0;
    CUdeviceptr logs = awq ? sums + CAL_EXPONENTS * 8 : 0;
    CUresult status = CUDA_SUCCESS;
    char kernel[40];
    if (awq && g.cols == 0)
        return CUDA_SUCCESS;
    if (awq)
        status = ZOO_LAUNCH(call, "centre", ((struct zoo_grid){.x = 1, .threads = 1024}), &means,
                            &logs, &g.cols);
    name_kernel(&kernel, "calibrate", call->problem);
    struct zoo_grid grid = {
        .x = zoo_ceil_div(g.count * 32, threads), .y = awq ? exponents : 1, .threads = threads};
    if (status == CUDA_SUCCESS && g.count > 0)
        status =
            ZOO_LAUNCH(call, kernel, grid, &x, &g.rows, &g.cols, &g.count, &g.per_row, &g.length,
                       &g.method, &g.percent, &means, &logs, &call->buffer[CAL_OUT], &errors);
    return status == CUDA_SUCCESS && awq ? finish_awq(call, &g, errors, sums, logs) : status;
}

static CUresult launch_warp_per_group(struct zoo_call *call)
{
    return launch_warps(call, CAL_EXPONENTS);
}
static CUresult launch_in_registers(struct zoo_call *call)
{
    return launch_warps(call, 1);
}
static bool takes_in_registers(const struct zoo_problem *problem)
{
    return cal_groups_of(problem).length <= 1024;
}

/* whole_grid.cu's state, as it declares it, and the errors of each block. */
enum { STATE_BYTES = 16 + 2048 * 8 };
static unsigned blocks_of(const struct zoo_call *call, const struct cal_groups *g)
{
    int64_t wanted = zoo_ceil_div(g->rows * g->cols, 2048), most = 4 * call->device->sm_count;
    return (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}
static size_t workspace_whole_grid(const struct zoo_call *call)
{
    struct cal_groups g = cal_groups_of(call->problem);
    return STATE_BYTES +
           (g.method == CAL_MSE ? (size_t)blocks_of(call, &g) * CAL_RATIOS * sizeof(double) : 0);
}

/* Three rounds of a histogram. */
static CUresult launch_rounds(struct zoo_call *call, struct cal_groups *g, struct zoo_grid grid)
{
    CUdeviceptr x = call->buffer[CAL_X], state = call->workspace;
    int64_t n = g->rows * g->cols;
    char kernel[40];
    CUresult status = CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "bins_%s", types[call->problem->value[CAL_TYPE]]);
    for (int round = 0; round < 3 && status == CUDA_SUCCESS; round++) {
        status = ZOO_LAUNCH(call, kernel, grid, &x, &n, &round, &state);
        if (status == CUDA_SUCCESS)
            status = ZOO_LAUNCH(call, "pick", ((struct zoo_grid){.x = 1, .threads = 32}), &state,
                                &round, &g->percent);
    }
    return status;
}

static CUresult launch_whole_grid(struct zoo_call *call)
{
    struct cal_groups g = cal_groups_of(call->problem);
    CUdeviceptr x = call->buffer[CAL_X], state = call->workspace, parts = state + STATE_BYTES;
    int64_t n = g.rows * g.cols;
    int percentile = g.method == CAL_PERCENTILE, blocks = (int)blocks_of(call, &g);
    float target = format_facts[g.format].largest;
    struct zoo_grid grid = {.x = (unsigned)blocks, .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    char kernel[40];
    CUresult status = zoo_clear(call, state, STATE_BYTES);
    if (status != CUDA_SUCCESS)
        return status;
    snprintf(kernel, sizeof kernel, "largest_%s", types[call->problem->value[CAL_TYPE]]);
    status =
        percentile ? launch_rounds(call, &g, grid) : ZOO_LAUNCH(call, kernel, grid, &x, &n, &state);
    if (status != CUDA_SUCCESS)
        return status;
    if (g.method != CAL_MSE)
        return ZOO_LAUNCH(call, "finish", ((struct zoo_grid){.x = 1, .threads = 1}), &state,
                          &percentile, &target, &call->buffer[CAL_OUT]);
    name_kernel(&kernel, "ratios", call->problem);
    status = ZOO_LAUNCH(call, kernel, grid, &x, &n, &state, &parts);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, "best_ratio", ((struct zoo_grid){.x = 1, .threads = CAL_RATIOS}),
                      &state, &parts, &blocks, &target, &call->buffer[CAL_OUT]);
}
static bool takes_whole_grid(const struct zoo_problem *problem)
{
    return problem->value[CAL_SCALES] == CAL_TENSOR && problem->value[CAL_METHOD] != CAL_AWQ;
}

static const struct zoo_variant variants[] = {
    {"warp_per_group", "a warp reads its group again for every question", launch_warp_per_group,
     workspace_warps, .traits = ZOO_DETERMINISTIC},
    {"in_registers", "groups of up to 1024 numbers are read once", launch_in_registers,
     workspace_warps, .takes = takes_in_registers, .traits = ZOO_DETERMINISTIC},
    {"whole_grid", "one scale for all, by all blocks: histograms, and errors of all ratios",
     launch_whole_grid, workspace_whole_grid, .takes = takes_whole_grid,
     .traits = ZOO_DETERMINISTIC},
    {0}};

/* python/peer_torch.py has the function. */
static bool peer_takes(const struct zoo_problem *problem)
{
    struct cal_groups g = cal_groups_of(problem);
    return g.method == CAL_ABSMAX && g.count > 0 && g.cols > 0 &&
           (g.per_row < 2 || g.cols % 128 == 0);
}
static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     "absmax_scales(x[0], 1 if sharing == 'tensor' else rows if sharing == 'row' else "
     "rows * cols // 128, format)",
     .takes = peer_takes},
    {0}};

static const char *const edges[] = {
    "rows=0,1,3 cols=0,1,5,130 method=absmax,percentile,mse,awq sharing=tensor,row,block128",
    "rows=5 cols=300 method=absmax,percentile,mse format=e4m3,e5m2,int8,int4 "
    "sharing=tensor,row,block128 type=bf16,f32 dist=outliers",
    "rows=6 cols=200 method=awq format=e4m3,e5m2,int8,int4 sharing=row,block128 type=bf16,f16,f32 "
    "dist=outliers",
    "rows=2 cols=1500 method=percentile,mse,awq sharing=row,tensor format=int8 type=f16",
    "rows=3 cols=257 method=percentile sharing=tensor,row,block128 percent=1,50,100 type=f32,bf16",
    "rows=2 cols=256 method=absmax,percentile,mse sharing=tensor,row,block128 format=int8,e4m3 "
    "dist=constant,ascending,adversarial,special",
    "rows=40 cols=700 method=percentile,mse sharing=tensor format=int4 type=f32",
    NULL};

static const char *const bench[] = {
    "rows=8K cols=4K method=absmax,percentile,mse format=int8 sharing=tensor",
    "rows=8K cols=4K method=absmax,percentile,mse format=int4 sharing=block128",
    "rows=4K cols=4K method=awq format=int4 sharing=block128", NULL};

const struct zoo_family zoo_calibration = {
    .name = "calibration",
    .title = "scales of 4- and 8-bit numbers: percentile, least error, AWQ",
    .problem =
        "A scale for each group of numbers: the largest size (absmax), the size that `percent` % "
        "of "
        "them do not exceed, or of 64 ratios of the largest the one of least squared error (mse), "
        "over the format's largest number. awq: a factor for each column of weights, a power of "
        "its "
        "input's mean size, whose exponent of 20 makes the error of weights times means least.",
    .parameters = {{"rows", "rows", 0, (int64_t)1 << 24, 256, NULL},
                   {"cols", "numbers in a row", 0, (int64_t)1 << 24, 4096, NULL},
                   {"method", "absmax, percentile, mse or awq", 0, 3, 2, methods},
                   {"format", "e4m3, e5m2, int8 or int4", 0, 3, 3, formats},
                   {"sharing", "who shares one: the array, a row or 128 numbers of a row", 0, 2, 2,
                    sharings},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {"percent", "of the numbers that are not cut off", 0,
                    ZOO_FLOAT + 0x42c80000 /* 100.0 */, ZOO_FLOAT + 0x42c7cccd /* 99.9 */, NULL,
                    true},
                   {0}},
    .distributions = distributions,
    .edges = edges,
    .bench = bench,
    .profile = "rows=64 cols=2K method=mse",
    .shape = shape,
    .generate = generate,
    .reference = cal_reference,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
