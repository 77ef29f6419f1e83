/*
 * fused_norm.c: the family: the end of a transformer's layer and the beginning of the next: bias,
 * dropout, residual, and the norm of the sum, forward and backward with all gradients. The chains
 * of family fused work element by element; here a block must see a whole row.
 */
#include "fused_norm.h"

#include "zoo/philox.h"

#include <stdio.h>

static const char *const norms[] = {"rmsnorm", "layernorm", NULL};
static const char *const directions[] = {"forward", "backward", NULL};
static const char *const types[] = {"bf16", "f16", "f32", NULL};
static const char *const given[] = {"none", "given", NULL};

/* The problem -----------------------------------------------------------------------------------*/

enum zoo_type fn_type(const struct zoo_problem *problem)
{
    static const enum zoo_type of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return of[problem->value[FN_TYPE]];
}
bool fn_is_layer(const struct zoo_problem *problem)
{
    return problem->value[FN_NORM] == FN_LAYERNORM;
}
bool fn_is_backward(const struct zoo_problem *problem)
{
    return problem->value[FN_DIRECTION] == FN_BACKWARD;
}

static bool has(const struct zoo_problem *problem, enum fn_array array)
{
    bool backward = fn_is_backward(problem), layer = fn_is_layer(problem);
    switch (array) {
    case FN_GAMMA:
        return true;
    case FN_BETA:
        return layer && !backward;
    case FN_DBETA:
        return layer && backward;
    case FN_DSUM_IN:
        return backward && problem->value[FN_DSUM];
    case FN_STATE_IN:
        return problem->value[FN_STATE];
    case FN_SUM_IN:
    case FN_STATS_IN:
    case FN_DY:
    case FN_DRESIDUAL:
    case FN_DX:
    case FN_DBIAS:
    case FN_DGAMMA:
        return backward;
    default:
        return !backward;
    }
}

int fn_at(const struct zoo_problem *problem, enum fn_array array)
{
    int at = 0;
    if (!has(problem, array))
        return -1;
    for (int i = 0; i < (int)array; i++)
        at += has(problem, (enum fn_array)i);
    return at;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    static const char *const names[FN_ARRAYS] = {
        "x",   "bias", "residual", "sum",       "gamma", "beta",  "stats",  "dy",    "dsum",
        "sum", "y",    "stats",    "dresidual", "dx",    "dbias", "dgamma", "dbeta", "state"};
    size_t rows = (size_t)problem->value[FN_ROWS], cols = (size_t)problem->value[FN_COLS];
    unsigned count = 0;
    for (int i = 0; i < FN_ARRAYS; i++) {
        struct zoo_buffer b = {names[i], i >= FN_SUM && i < FN_STATE_IN ? ZOO_OUT : ZOO_IN,
                               fn_type(problem), rows * cols};
        if (!has(problem, (enum fn_array)i))
            continue;
        if (i == FN_BIAS || i == FN_GAMMA || i == FN_BETA || i == FN_DBIAS || i == FN_DGAMMA ||
            i == FN_DBETA)
            b.count = cols;
        if (i == FN_STATS || i == FN_STATS_IN) {
            b.type = ZOO_F32;
            b.count = cols == 0 ? 0 : fn_is_layer(problem) ? 2 * rows : rows;
        }
        if (i == FN_STATE_IN) {
            b.type = ZOO_I64;
            b.count = 2;
        }
        buffers[count++] = b;
    }
    return count;
}

static double bytes(const struct zoo_problem *problem)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    double sum = 0;
    for (unsigned i = 0; i < count; i++) /* but for the two numbers of state */
        sum += buffers[i].type == ZOO_I64 ? 0 : (double)zoo_buffer_bytes(&buffers[i]);
    return sum;
}

static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[FN_ROWS] * (double)problem->value[FN_COLS] *
           (fn_is_backward(problem) ? 16 : 9);
}

/* Launches --------------------------------------------------------------------------------------*/

enum { HAS_GAMMA = 2, HAS_BETA = 4, HAS_STATS = 8 }; /* as in norm.h of the kernels */

/* Arguments of all kernels, as chain.h and norm.h have them. */
struct arguments {
    CUdeviceptr array[FN_ARRAYS]; /* 0: there is none */
    int64_t rows, cols, seed, offset;
    float eps, scale, keep;
    int has, whole;
    unsigned threshold;
};

static int64_t row_bytes(const struct zoo_problem *problem)
{
    return problem->value[FN_COLS] * zoo_type_bytes[fn_type(problem)];
}

static struct arguments arguments_of(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct zoo_dropout d = zoo_dropout_of((double)zoo_as_float(problem->value[FN_P]));
    struct arguments a = {.rows = problem->value[FN_ROWS],
                          .cols = problem->value[FN_COLS],
                          .seed = (int64_t)problem->seed,
                          .offset = problem->value[FN_OFFSET],
                          .eps = zoo_as_float(problem->value[FN_EPS]),
                          .scale = 1,
                          .keep = d.scale,
                          .threshold = d.threshold,
                          .has = HAS_GAMMA | HAS_BETA | HAS_STATS,
                          .whole = row_bytes(problem) % 16 == 0};
    for (int i = 0; i < FN_ARRAYS; i++) {
        int at = fn_at(problem, (enum fn_array)i);
        a.array[i] = at >= 0 ? call->buffer[at] : 0;
        if (i != FN_STATE_IN && i != FN_STATS && i != FN_STATS_IN && a.array[i] % 16)
            a.whole = 0;
    }
    return a;
}

static void name_kernel(char (*name)[40], const char *pass, const struct zoo_problem *problem)
{
    snprintf(*name, sizeof *name, "%s_%s_%s", pass, norms[problem->value[FN_NORM]],
             types[problem->value[FN_TYPE]]);
}

static CUresult launch_forward(struct zoo_call *call, const char *pass, struct arguments *a,
                               unsigned threads)
{
    char kernel[40];
    name_kernel(&kernel, pass, call->problem);
    struct zoo_grid grid = {.x = (unsigned)a->rows, .threads = threads};
    return ZOO_LAUNCH(call, kernel, grid, &a->array[FN_X], &a->array[FN_RESIDUAL],
                      &a->array[FN_GAMMA], &a->array[FN_BETA], &a->array[FN_Y], &a->array[FN_SUM],
                      &a->array[FN_STATS], &a->rows, &a->cols, &a->eps, &a->scale, &a->has,
                      &a->whole, &a->array[FN_BIAS], &a->threshold, &a->keep, &a->seed, &a->offset,
                      &a->array[FN_STATE_IN]);
}

/* Whole warps that hold a row, so many vectors a thread. */
static unsigned threads_for(const struct zoo_problem *problem, int vectors)
{
    unsigned warps = zoo_ceil_div(row_bytes(problem), (int64_t)16 * 32 * vectors);
    return 32 * (warps ? warps : 1);
}

static bool is_empty(const struct zoo_problem *problem)
{
    return problem->value[FN_ROWS] == 0 || problem->value[FN_COLS] == 0;
}

static CUresult launch_separate(struct zoo_call *call)
{
    struct arguments a = arguments_of(call);
    if (is_empty(call->problem))
        return CUDA_SUCCESS;
    CUresult status = launch_forward(call, "chain", &a, (unsigned)zoo_tunable(call, "BLOCK"));
    if (status != CUDA_SUCCESS)
        return status;
    a.array[FN_X] = a.array[FN_SUM];
    unsigned threads = threads_for(call->problem, 2);
    return launch_forward(call, "norm", &a, threads > 1024 ? 1024 : threads);
}

/* Does every thread of a block have all its vectors? More than 2^35 elements, or all of them
 * dropped, are no case to be fast in. */
static bool is_full(const struct arguments *a, const struct zoo_call *call, unsigned threads)
{
    return row_bytes(call->problem) == (int64_t)16 * threads * zoo_tunable(call, "VECTORS") &&
           a->threshold < 65536 && a->rows * a->cols >> 35 == 0;
}

static CUresult launch_rows(struct zoo_call *call)
{
    struct arguments a = arguments_of(call);
    unsigned threads = threads_for(call->problem, zoo_tunable(call, "VECTORS"));
    if (is_empty(call->problem))
        return CUDA_SUCCESS;
    if (a.whole && threads <= 1024)
        return launch_forward(call, is_full(&a, call, threads) ? "full" : "rows", &a, threads);
    return launch_forward(call, "long", &a, threads > 1024 ? 1024 : threads);
}

static CUresult launch_backward(struct zoo_call *call, const char *pass, struct arguments *a,
                                struct zoo_grid grid)
{
    char kernel[40];
    name_kernel(&kernel, pass, call->problem);
    return ZOO_LAUNCH(call, kernel, grid, &a->array[FN_SUM_IN], &a->array[FN_GAMMA],
                      &a->array[FN_STATS_IN], &a->array[FN_DY], &a->array[FN_DSUM_IN],
                      &a->array[FN_DRESIDUAL], &a->array[FN_DX], &call->workspace, &a->rows,
                      &a->cols, &a->threshold, &a->keep, &a->seed, &a->offset,
                      &a->array[FN_STATE_IN]);
}

/* The second step of sums over rows: dbias, dgamma and dbeta lie one after the other. */
static CUresult add_bands(struct zoo_call *call, struct arguments *a, int bands)
{
    static const enum fn_array out[] = {FN_DBIAS, FN_DGAMMA, FN_DBETA};
    struct zoo_grid grid = {.x = zoo_ceil_div(a->cols, 32), .threads = 512};
    char kernel[40];
    CUresult status = CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "add_bands_%s", types[call->problem->value[FN_TYPE]]);
    for (int i = 0; i < (fn_is_layer(call->problem) ? 3 : 2) && status == CUDA_SUCCESS; i++) {
        CUdeviceptr parts = call->workspace + (size_t)i * (size_t)bands * (size_t)a->cols * 4;
        status = ZOO_LAUNCH(call, kernel, grid, &parts, &a->array[out[i]], &a->cols, &bands);
    }
    return status;
}

/* Bands of rows: for the passes by columns, and for blocks that walk down. */
static int64_t bands_by_columns(const struct zoo_call *call)
{
    int64_t across = zoo_ceil_div(call->problem->value[FN_COLS], 256);
    int64_t bands = across ? (int64_t)call->device->sm_count * 8 / across : 1;
    int64_t most = call->problem->value[FN_ROWS] / 8;
    bands = bands > most ? most : bands;
    return bands < 1 ? 1 : bands;
}
static int64_t bands_down(const struct zoo_call *call)
{
    enum { LEAST_ROWS = 4 }; /* so that sums are few beside what is summed */
    int64_t rows = call->problem->value[FN_ROWS], blocks = call->device->sm_count;
    blocks *= threads_for(call->problem, zoo_tunable(call, "VECTORS")) > 256 ? 1 : 2;
    blocks = blocks > rows / LEAST_ROWS ? rows / LEAST_ROWS : blocks;
    return blocks < 1 ? 1 : blocks;
}
static size_t workspace_of(const struct zoo_problem *problem, int64_t bands)
{
    return (size_t)(fn_is_layer(problem) ? 3 : 2) * (size_t)bands *
           (size_t)problem->value[FN_COLS] * sizeof(float);
}
static size_t workspace_passes(const struct zoo_call *call)
{
    return workspace_of(call->problem, bands_by_columns(call));
}
static size_t workspace_bands(const struct zoo_call *call)
{
    return workspace_of(call->problem, bands_down(call));
}

static CUresult launch_passes(struct zoo_call *call)
{
    struct arguments a = arguments_of(call);
    int64_t bands = bands_by_columns(call);
    unsigned threads = threads_for(call->problem, 1);
    struct zoo_grid columns = {
        .x = zoo_ceil_div(a.cols, 256), .y = (unsigned)bands, .threads = 256};
    if (a.cols == 0)
        return CUDA_SUCCESS;
    CUresult status = launch_backward(call, "sums_of_norm", &a, columns);
    if (status == CUDA_SUCCESS && a.rows > 0)
        status = launch_backward(
            call, "by_rows", &a,
            (struct zoo_grid){.x = (unsigned)a.rows, .threads = threads > 1024 ? 1024 : threads});
    if (status == CUDA_SUCCESS)
        status = launch_backward(call, "sums_of_bias", &a, columns);
    return status == CUDA_SUCCESS ? add_bands(call, &a, (int)bands) : status;
}

static CUresult launch_bands(struct zoo_call *call)
{
    struct arguments a = arguments_of(call);
    int64_t bands = bands_down(call);
    if (a.cols == 0)
        return CUDA_SUCCESS;
    CUresult status = launch_backward(
        call, "bands", &a,
        (struct zoo_grid){.x = (unsigned)bands,
                          .threads = threads_for(call->problem, zoo_tunable(call, "VECTORS"))});
    return status == CUDA_SUCCESS ? add_bands(call, &a, (int)bands) : status;
}

static bool takes_forward(const struct zoo_problem *problem)
{
    return !fn_is_backward(problem);
}
/* Rows of whole vectors, as many as 512 threads hold. */
static bool takes_bands(const struct zoo_problem *problem)
{
    return fn_is_backward(problem) && row_bytes(problem) % 16 == 0 &&
           row_bytes(problem) <= 512 * 16;
}

static const struct zoo_variant variants[] = {
    {"separate", "forward: a kernel for the sum, one for its norm", launch_separate,
     .takes = takes_forward, .traits = ZOO_DETERMINISTIC},
    {"rows", "forward: a row waits in registers between its sum and its norm", launch_rows,
     .takes = takes_forward, .traits = ZOO_DETERMINISTIC},
    {"passes", "backward: by columns, by rows, by columns: number by number", launch_passes,
     workspace_passes, .takes = fn_is_backward, .traits = ZOO_DETERMINISTIC},
    {"bands", "backward: blocks walk down rows and keep the sums of their columns", launch_bands,
     workspace_bands, .takes = takes_bands, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {0}};

#define TORCH_NORM                                                                                 \
    "(torch.nn.functional.rms_norm(s, (cols,), g, eps) if norm == 'rmsnorm' else "                 \
    "torch.nn.functional.layer_norm(s, (cols,), g, c, eps))"
#define TORCH_FORWARD                                                                              \
    "compiled(lambda v, b, r, g, c: (lambda s: (s, " TORCH_NORM                                    \
    "))(r + torch.nn.functional.dropout(v + b, p, True)))"
static const struct zoo_peer peers[] = {
    {"torch_compile", ZOO_PEER_PYTHON,
     .call = TORCH_FORWARD "(x[0].view(rows, cols), x[1], x[2].view(rows, cols), x[3], x[4])",
     .takes = takes_forward, .draws = true},
    {0}};

static const char *const edges[] = {
    "rows=0,1,3 cols=0,1,8,9,100,1032 norm=rmsnorm,layernorm direction=forward,backward type=bf16",
    "rows=5 cols=33,264 norm=rmsnorm,layernorm direction=forward,backward type=f16,f32",
    "rows=20 cols=72 norm=rmsnorm,layernorm direction=forward,backward p=0.5 offset=3 state=given",
    "rows=20 cols=72 norm=rmsnorm,layernorm direction=backward type=bf16,f32 p=0.5 dsum=none",
    "rows=7 cols=64 norm=rmsnorm,layernorm direction=forward,backward type=bf16,f32 p=0,1",
    "rows=2 cols=4096,9000 norm=rmsnorm,layernorm direction=forward,backward type=bf16,f32",
    "rows=3 cols=1024 norm=rmsnorm direction=forward type=bf16,f16,f32 p=0,0.25,1 state=given",
    "rows=3 cols=1024 norm=layernorm direction=forward type=bf16,f16,f32 p=0,0.25,1 state=given",
    "rows=2 cols=40008 norm=layernorm type=bf16,f32",
    "rows=300 cols=24 norm=rmsnorm,layernorm direction=backward type=bf16,f16",
    "rows=6 cols=64 norm=rmsnorm,layernorm direction=forward type=bf16,f32 dist=ascending",
    NULL};

static const char *const bench[] = {
    "rows=16K cols=4K norm=rmsnorm,layernorm direction=forward type=bf16",
    "rows=16K cols=4K norm=rmsnorm,layernorm direction=backward type=bf16",
    "rows=8K cols=8K norm=rmsnorm direction=forward,backward type=bf16", NULL};

const struct zoo_family zoo_fused_norm = {
    .name = "fused_norm",
    .title = "bias, dropout, residual and the norm of the sum, in one kernel",
    .problem =
        "sum = D(x + bias) + residual with a dropout D of each element, and y = the rmsnorm or "
        "layernorm of sum along each row, times gamma (plus beta). Backward, from dy and the "
        "gradient dsum that comes to the sum from elsewhere: dresidual, dx = D(dresidual), dbias, "
        "dgamma and dbeta. The random bits are those of the family dropout.",
    .parameters = {{"rows", "rows", 0, (int64_t)1 << 27, 1024, NULL},
                   {"cols", "numbers in a row", 0, (int64_t)1 << 27, 1024, NULL},
                   {"norm", "rmsnorm or layernorm", 0, 1, 0, norms},
                   {"direction", "forward or backward", 0, 1, 0, directions},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {"p", "probability that a number is dropped", 0,
                    ZOO_FLOAT + 0x3f800000 /* 1.0 */, ZOO_FLOAT + 0x3e000000 /* 0.125 */, NULL,
                    true},
                   {"offset", "counter's upper half: another one for each call", 0, UINT32_MAX, 0,
                    NULL, true},
                   {"state", "none, or given: two numbers in device memory", 0, 1, 0, given},
                   {"dsum", "backward: is there a gradient of sum besides?", 0, 1, 1, given},
                   {"eps", "added to the mean of squares", 0, 2 * ZOO_FLOAT,
                    ZOO_FLOAT + 0x3727c5ac /* 1e-5 */, NULL, true},
                   {0}},
    .distributions = zoo_distributions,
    .edges = edges,
    .bench = bench,
    .profile = "rows=256 cols=2K",
    .shape = shape,
    .generate = fn_generate,
    .reference = fn_reference,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
