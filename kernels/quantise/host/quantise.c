/*
 * quantise.c: the family: arrays in 4 and 8 bits with scales, and back. FP8, INT8 and INT4 with f32
 * scales for the array, a row, a column or a block of a row; MXFP8, MXFP4 and NVFP4 with scales of
 * their own. One read and one write: the scale of a row or block is found on the way, that of an
 * array or a column costs a second read.
 */
#include "quantise.h"

#include <math.h>
#include <stdio.h>

enum { X, Q, SCALES, TENSOR_SCALE };

static const char *const formats[] = {"e4m3",       "e5m2",  "int8",  "int4", "mxfp8",
                                      "mxfp8_e5m2", "mxfp4", "nvfp4", NULL};
static const char *const groups[] = {"tensor", "row", "channel", "block32", "block128", NULL};
static const char *const sources[] = {"absmax", "given", NULL};
static const char *const roundings[] = {"nearest", "stochastic", NULL};
static const char *const directions[] = {"quantise", "dequantise", NULL};
static const char *const types[] = {"bf16", "f16", "f32", NULL};

/* The problem -----------------------------------------------------------------------------------*/

struct q_layout q_layout(const struct zoo_problem *problem)
{
    static const enum number_format numbers[] = {FORMAT_E4M3, FORMAT_E5M2, FORMAT_INT8,
                                                 FORMAT_INT4, FORMAT_E4M3, FORMAT_E5M2,
                                                 FORMAT_E2M1, FORMAT_E2M1};
    static const enum zoo_type type_of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    int64_t format = problem->value[Q_FORMAT], by = problem->value[Q_SCALES];
    size_t rows = (size_t)problem->value[Q_ROWS], cols = (size_t)problem->value[Q_COLS];
    struct q_layout of = {.numbers = numbers[format],
                          .type = type_of[problem->value[Q_TYPE]],
                          .floats = format <= Q_INT4,
                          .powers = format >= Q_MXFP8 && format <= Q_MXFP4,
                          .two_levels = format == Q_NVFP4};
    of.row_bytes = format_facts[of.numbers].bits == 8 ? cols : (cols + 1) / 2;
    of.block = of.two_levels ? 16 : of.powers || by == Q_BLOCK32 ? 32 : by == Q_BLOCK128 ? 128 : 0;
    size_t blocks = of.block ? (cols + (size_t)of.block - 1) / (size_t)of.block : 0;
    of.scales = of.block ? rows * blocks : by == Q_ROW ? rows : by == Q_CHANNEL ? cols : 1;
    return of;
}

static bool is_back(const struct zoo_problem *problem)
{
    return problem->value[Q_DIRECTION] == Q_BACK;
}
static bool is_given(const struct zoo_problem *problem)
{
    return problem->value[Q_SOURCE] == Q_GIVEN;
}
static size_t elements(const struct zoo_problem *problem)
{
    return (size_t)problem->value[Q_ROWS] * (size_t)problem->value[Q_COLS];
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    struct q_layout of = q_layout(problem);
    bool back = is_back(problem), given = back || is_given(problem);
    buffers[X] =
        (struct zoo_buffer){back ? "y" : "x", back ? ZOO_OUT : ZOO_IN, of.type, elements(problem)};
    buffers[Q] = (struct zoo_buffer){"q", back ? ZOO_IN : ZOO_OUT, ZOO_U8,
                                     (size_t)problem->value[Q_ROWS] * of.row_bytes};
    buffers[SCALES] = (struct zoo_buffer){"scales", (of.floats ? given : back) ? ZOO_IN : ZOO_OUT,
                                          of.floats ? ZOO_F32 : ZOO_U8, of.scales};
    if (!of.two_levels)
        return 3;
    buffers[TENSOR_SCALE] =
        (struct zoo_buffer){"tensor_scale", given ? ZOO_IN : ZOO_OUT, ZOO_F32, 1};
    return 4;
}

/* Scales that are given: some numbers are too large for them. Of 8 bits: every code, NaN too. */
static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct q_layout of = q_layout(problem);
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    float largest = of.two_levels ? FORMAT_NVFP4_LARGEST : format_facts[of.numbers].largest;
    for (unsigned i = 0; i < count; i++) {
        if (buffers[i].role != ZOO_IN)
            continue;
        if (i == X) {
            zoo_fill(problem, 0, of.type, buffer[X], buffers[X].count);
            continue;
        }
        for (size_t k = 0; k < buffers[i].count; k++) {
            uint64_t random = zoo_random(problem->seed, i, k);
            if (buffers[i].type == ZOO_F32)
                ((float *)buffer[i])[k] = (0.3f + (float)(random >> 44) * 0x1p-20f) / largest;
            else if (i == SCALES && of.powers) /* around 1; its smallest, its largest and NaN */
                ((uint8_t *)buffer[i])[k] =
                    (uint8_t)(k % 37 == 36 ? (k % 3 == 0 ? 0 : 253 + k % 3) : 110 + random % 30);
            else
                ((uint8_t *)buffer[i])[k] = (uint8_t)(random >> 20);
        }
    }
}

static double bytes(const struct zoo_problem *problem)
{
    struct q_layout of = q_layout(problem);
    return (double)elements(problem) * zoo_type_bytes[of.type] +
           (double)problem->value[Q_ROWS] * (double)of.row_bytes +
           (double)of.scales * (of.floats ? 4 : 1);
}

static double flops(const struct zoo_problem *problem)
{
    return (double)elements(problem) * (is_back(problem) ? 1 : 2);
}

/* Launches --------------------------------------------------------------------------------------*/

/* As arrays.h has them. */
struct arrays {
    CUdeviceptr x, q, scales, tensor_scale, factors;
    int64_t rows;
    int cols, by, block, stochastic;
    unsigned key;
};
enum { BY_TENSOR, BY_ROW, BY_CHANNEL, BY_BLOCKS };

static struct arrays arrays_of(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct q_layout of = q_layout(problem);
    return (struct arrays){.x = call->buffer[X],
                           .q = call->buffer[Q],
                           .scales = call->buffer[SCALES],
                           .tensor_scale = of.two_levels ? call->buffer[TENSOR_SCALE] : 0,
                           .rows = problem->value[Q_ROWS],
                           .cols = (int)problem->value[Q_COLS],
                           .by = of.block ? BY_BLOCKS : (int)problem->value[Q_SCALES],
                           .block = of.block ? of.block : 1,
                           .stochastic = problem->value[Q_ROUNDING] == Q_STOCHASTIC,
                           .key = (unsigned)problem->value[Q_KEY]};
}

static CUresult start(struct zoo_call *call, const char *pass, bool by_format, int64_t blocks,
                      unsigned threads, struct arrays *arrays, CUdeviceptr *of_scale)
{
    const char *type = types[call->problem->value[Q_TYPE]];
    char kernel[48];
    if (by_format)
        snprintf(kernel, sizeof kernel, "%s_%s_%s", pass, formats[call->problem->value[Q_FORMAT]],
                 type);
    else
        snprintf(kernel, sizeof kernel, "%s_%s", pass, type);
    struct zoo_grid grid = {.x = (unsigned)blocks, .threads = threads};
    return by_format
               ? ZOO_LAUNCH(call, kernel, grid, &arrays->x, &arrays->q, &arrays->scales,
                            &arrays->tensor_scale, &arrays->factors, &arrays->rows, &arrays->cols,
                            &arrays->by, &arrays->block, &arrays->stochastic, &arrays->key)
               : ZOO_LAUNCH(call, kernel, grid, &arrays->x, of_scale, &arrays->rows, &arrays->cols,
                            &arrays->by, &arrays->block);
}

static unsigned block_of(const struct zoo_call *call)
{
    return (unsigned)zoo_tunable(call, "BLOCK");
}

/* Scales as floats that kernels want the inverse of, in the workspace. */
static size_t factor_count(const struct zoo_problem *problem)
{
    struct q_layout of = q_layout(problem);
    return is_back(problem) || of.powers ? 0 : of.two_levels ? 1 : of.scales;
}
static size_t workspace_naive(const struct zoo_call *call)
{
    return factor_count(call->problem) * sizeof(float);
}

/* The launches before the last one. blocks_largest: of the search for the largest numbers. */
static CUresult make_factors(struct zoo_call *call, struct arrays *arrays, int64_t blocks_largest,
                             bool cleared)
{
    const struct zoo_problem *problem = call->problem;
    struct q_layout of = q_layout(problem);
    int64_t count = (int64_t)factor_count(problem);
    int given = is_given(problem);
    float target = of.two_levels ? FORMAT_NVFP4_LARGEST : format_facts[of.numbers].largest;
    CUresult result = CUDA_SUCCESS;
    arrays->factors = call->workspace;
    if (!given) {
        struct arrays all = *arrays;
        if (of.two_levels)
            all.by = BY_TENSOR;
        if (cleared && (result = zoo_clear(call, call->workspace, (size_t)count * 4)))
            return result;
        result =
            start(call, "largest", false, blocks_largest, block_of(call), &all, &call->workspace);
    }
    if (result != CUDA_SUCCESS)
        return result;
    return ZOO_LAUNCH(
        call, "make_scales",
        ((struct zoo_grid){.x = zoo_ceil_div(count, block_of(call)), .threads = block_of(call)}),
        &arrays->factors, of.two_levels ? &arrays->tensor_scale : &arrays->scales, &count, &target,
        &given);
}

static CUresult launch_naive(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int64_t n = (int64_t)elements(problem);
    struct arrays arrays = arrays_of(call);
    CUresult result = CUDA_SUCCESS;
    if (is_back(problem))
        return n == 0 ? CUDA_SUCCESS
                      : start(call, "dequantise", true, zoo_ceil_div(n, block_of(call)),
                              block_of(call), &arrays, NULL);
    if (factor_count(problem) > 0)
        result = make_factors(call, &arrays, zoo_ceil_div(n > 0 ? n : 1, block_of(call)), true);
    if (result != CUDA_SUCCESS || n == 0)
        return result;
    int64_t all_bytes = problem->value[Q_ROWS] * (int64_t)q_layout(problem).row_bytes;
    return start(call, "quantise", true, zoo_ceil_div(all_bytes, block_of(call)), block_of(call),
                 &arrays, NULL);
}

/* Blocks of f32 scales need no factors: their kernel finds the scale. */
static bool without_factors(const struct zoo_problem *problem)
{
    struct q_layout of = q_layout(problem);
    return factor_count(problem) == 0 || (of.floats && of.block && !is_given(problem));
}
static size_t workspace_vectorised(const struct zoo_call *call)
{
    return without_factors(call->problem) ? 0 : workspace_naive(call);
}

/* Threads of a row: chunks of 16 numbers, of blocks as many as a whole block has. */
static int64_t chunks_of_row(const struct zoo_problem *problem)
{
    struct q_layout of = q_layout(problem);
    int64_t cols = problem->value[Q_COLS], block = of.block ? of.block : 16;
    return (cols + block - 1) / block * (block / 16);
}
static int64_t vectors_of_row(const struct zoo_problem *problem)
{
    int64_t per = 16 / zoo_type_bytes[q_layout(problem).type];
    return (problem->value[Q_COLS] + per - 1) / per;
}

/* Blocks of threads that have `tile` places each: of long rows each has its own. */
static int64_t blocks_for(const struct zoo_problem *problem, int64_t per_row, int64_t tile)
{
    int64_t rows = problem->value[Q_ROWS];
    return per_row >= tile ? rows * zoo_ceil_div(per_row, tile)
                           : zoo_ceil_div(rows * per_row, tile);
}

/* Blocks for the search, as `largest` of vectorised.cu shares it out. */
static int64_t blocks_for_largest(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int64_t rows = problem->value[Q_ROWS], by = problem->value[Q_SCALES];
    unsigned block = block_of(call);
    if (!q_layout(problem).two_levels && by == Q_ROW)
        return rows;
    if (!q_layout(problem).two_levels && by == Q_CHANNEL)
        return zoo_ceil_div(vectors_of_row(problem) * zoo_ceil_div(rows, zoo_tunable(call, "ROWS")),
                            block);
    int64_t wanted = zoo_ceil_div(rows * vectors_of_row(problem), 4 * (int64_t)block);
    int64_t most = 8 * (int64_t)call->device->sm_count;
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

static CUresult launch_vectorised(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct arrays arrays = arrays_of(call);
    CUresult result = CUDA_SUCCESS;
    if (is_back(problem))
        return elements(problem) == 0
                   ? CUDA_SUCCESS
                   : start(call, "dequantise", true,
                           blocks_for(problem, vectors_of_row(problem),
                                      (int64_t)block_of(call) * zoo_tunable(call, "UNROLL")),
                           block_of(call), &arrays, NULL);
    if (!without_factors(problem)) {
        int64_t blocks = blocks_for_largest(call);
        bool stored = problem->value[Q_SCALES] == Q_ROW && problem->value[Q_COLS] > 0 &&
                      !q_layout(problem).two_levels;
        result = make_factors(call, &arrays, blocks < 1 ? 1 : blocks, !stored);
    }
    if (result != CUDA_SUCCESS || elements(problem) == 0)
        return result;
    return start(call, "quantise", true,
                 blocks_for(problem, chunks_of_row(problem), block_of(call)), block_of(call),
                 &arrays, NULL);
}

/* Threads are counted in 32 bits. */
static bool takes(const struct zoo_problem *problem)
{
    if (q_layout(problem).powers && is_given(problem) && !is_back(problem))
        return false; /* MX scales belong to the numbers */
    int64_t rows = problem->value[Q_ROWS];
    return rows * chunks_of_row(problem) < (int64_t)1 << 31 &&
           rows * vectors_of_row(problem) < (int64_t)1 << 31;
}

enum { MOST_IN_REGISTERS = 1024 * 8 * 4 }; /* row_in_registers.cu: BLOCK * CHUNK * CHUNKS */

static bool takes_rows(const struct zoo_problem *problem)
{
    return takes(problem) && !is_back(problem) && !is_given(problem) && q_layout(problem).floats &&
           problem->value[Q_SCALES] == Q_ROW && problem->value[Q_COLS] <= MOST_IN_REGISTERS;
}

static CUresult launch_rows(struct zoo_call *call)
{
    struct arrays arrays = arrays_of(call);
    int64_t chunks = zoo_ceil_div(arrays.cols, 8), each = zoo_tunable(call, "EACH");
    each = each > (chunks + 1023) / 1024 ? each : (chunks + 1023) / 1024;
    int64_t threads = chunks == 0 ? 32 : (int64_t)zoo_ceil_div(chunks, 32 * each) * 32;
    if (arrays.rows == 0)
        return CUDA_SUCCESS;
    return start(call, "quantise", true, arrays.rows, (unsigned)threads, &arrays, NULL);
}

/* Vectors of a thread, at least. */
static const struct zoo_tunable rows_at_launch[] = {ZOO_AT_LAUNCH("EACH", 4, 1, 2, 4),
                                                    {{0}, 0, {0}, 0}};

static const struct zoo_variant variants[] = {
    {"naive", "an atomic for each number finds the largest; a thread for each byte", launch_naive,
     .workspace = workspace_naive, .takes = takes, .traits = ZOO_DETERMINISTIC},
    {"vectorised", "16 bytes at a time; blocks find their largest by shuffles", launch_vectorised,
     .workspace = workspace_vectorised, .takes = takes, .traits = ZOO_DETERMINISTIC},
    {"row_in_registers", "a row waits in registers while its scale is found", launch_rows,
     .takes = takes_rows, .traits = ZOO_DETERMINISTIC, .at_launch = rows_at_launch},
    {0}};

/* PyTorch's own casts, which do not saturate: hence clamp. Divisions as here, so that every bit of
 * the results must agree; torch.compile divides with another rounding. */
#define TORCH_CAST                                                                                 \
    "lambda v: v.clamp(-448, 448).to(torch.float8_e4m3fn) if format == 'e4m3' else "               \
    "v.clamp(-57344, 57344).to(torch.float8_e5m2) if format == 'e5m2' else "                       \
    "v.round().clamp(-128, 127).to(torch.int8)"
#define TORCH_QUANTISE                                                                             \
    "(lambda v, top, cast: (lambda a: (cast(v.float() * (torch.full_like(a, top) / a))"            \
    ".view(torch.uint8), a / torch.full_like(a, top)))"                                            \
    "(v.abs().amax(1, keepdim=True).float() if sharing == 'row' else "                             \
    "v.abs().amax().float()))(x[0].view(rows, cols), "                                             \
    "{'e4m3': 448.0, 'e5m2': 57344.0, 'int8': 127.0}[format], " TORCH_CAST ")"
#define TORCH_BACK                                                                                 \
    "compiled(lambda q, s: (q.float() * s).to(torch.bfloat16))("                                   \
    "x[1].view({'e4m3': torch.float8_e4m3fn, 'e5m2': torch.float8_e5m2, 'int8': torch.int8}"       \
    "[format]).view(rows, cols), x[2].view(-1, 1))"

static bool peer_takes(const struct zoo_problem *problem)
{
    int64_t by = problem->value[Q_SCALES];
    return problem->value[Q_FORMAT] <= Q_INT8 && (by == Q_TENSOR || by == Q_ROW) &&
           problem->value[Q_ROUNDING] == Q_NEAREST && !is_given(problem) && !is_back(problem);
}
static bool peer_takes_back(const struct zoo_problem *problem)
{
    int64_t by = problem->value[Q_SCALES];
    return problem->value[Q_FORMAT] <= Q_INT8 && (by == Q_TENSOR || by == Q_ROW) &&
           problem->value[Q_TYPE] == 0 && is_back(problem);
}

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON, .call = TORCH_QUANTISE, .takes = peer_takes},
    {"torch_compile", ZOO_PEER_PYTHON, .call = TORCH_BACK, .takes = peer_takes_back},
    {0}};

static const char *const edges[] = {
    "rows=1,3 cols=1,31,128,515 format=e4m3,int4 sharing=tensor,row,channel,block32,block128 "
    "type=bf16",
    "rows=2 cols=160 format=e5m2,int8 sharing=row,block128 type=f16 source=absmax,given",
    "rows=3 cols=64,77 format=e4m3,int4 sharing=tensor,channel,block32 type=f32 source=given",
    "rows=3 cols=16,33,256 format=mxfp8,mxfp8_e5m2,mxfp4,nvfp4 type=bf16,f32",
    "rows=2 cols=48,100 format=nvfp4 type=f16 source=given",
    "rows=0,2 cols=0,16 format=e4m3,nvfp4,mxfp8 sharing=tensor,row type=bf16",
    "rows=2 cols=96,130 format=e4m3,e5m2,int8,int4 sharing=row rounding=stochastic key=0,77 "
    "type=bf16",
    "rows=2 cols=96 format=mxfp8,mxfp4,nvfp4 rounding=stochastic type=f32",
    "rows=2 cols=512 format=e4m3,e5m2,int8,int4,mxfp8,mxfp8_e5m2,mxfp4,nvfp4 type=f32 "
    "dist=special,adversarial rounding=nearest,stochastic",
    "rows=3 cols=96,512 format=mxfp4,mxfp8,nvfp4 type=bf16,f16 dist=special,adversarial,constant",
    "rows=3 cols=33,512 format=e4m3,e5m2,int8,int4 sharing=tensor,row,channel,block32,block128 "
    "direction=dequantise type=bf16",
    "rows=9 cols=480000 format=e4m3 sharing=row direction=dequantise type=bf16", /* later codes */
    "rows=3 cols=40,1036 format=mxfp8,mxfp8_e5m2,mxfp4,nvfp4 direction=dequantise "
    "type=bf16,f16,f32",
    NULL};

static const char *const bench[] = {
    "rows=16K cols=4K format=e4m3 sharing=row,tensor,channel,block128 type=bf16",
    "rows=16K cols=4K format=int4 sharing=row type=bf16",
    "rows=16K cols=4K format=mxfp8,mxfp4,nvfp4 type=bf16",
    "rows=16K cols=4K format=e4m3 sharing=row rounding=stochastic type=bf16",
    "rows=16K cols=4K format=e4m3 sharing=row direction=dequantise type=bf16",
    "rows=16K cols=4K format=nvfp4 direction=dequantise type=bf16",
    NULL};

const struct zoo_family zoo_quantise = {
    .name = "quantise",
    .title = "arrays in 4 and 8 bits with scales, and back",
    .problem =
        "q = x / scale in the format, to nearest or by chance, too large becoming the largest, "
        "with "
        "the scale that makes the largest finite number of its group the format's largest; or with "
        "given scales. Back, y = q * scale. MXFP8 and MXFP4 have powers of two for 32 numbers, "
        "NVFP4 an e4m3 for 16 and an f32 for the array.",
    .parameters = {{"rows", "rows", 0, (int64_t)1 << 28, 1024, NULL},
                   {"cols", "numbers in a row", 0, (int64_t)1 << 28, 1024, NULL},
                   {"format", "what the numbers become", 0, Q_FORMATS - 1, 0, formats},
                   {"sharing", "who shares one; mxfp8, mxfp4 and nvfp4 have their own blocks", 0, 4,
                    Q_ROW, groups},
                   {"source", "scales from the largest numbers, or given", 0, 1, 0, sources},
                   {"rounding", "to nearest even, or stochastic", 0, 1, 0, roundings},
                   {"direction", "quantise or dequantise", 0, 1, 0, directions},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {"key", "of the random numbers", 0, UINT32_MAX, 1, NULL, .scalar = true},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "rows=256 cols=4096",
    .edges = edges,
    .bench = bench,
    .shape = shape,
    .generate = generate,
    .reference = q_reference,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
