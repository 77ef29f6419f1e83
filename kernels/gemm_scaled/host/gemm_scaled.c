/*
 * gemm_scaled.c: the gemm_scaled family: products of 8-bit matrices with scales, as lk_gemm makes
 * them. reference.c has what must come out.
 */
#include "gemm_scaled.h"

enum zoo_type scaled_type_of_a(const struct zoo_problem *problem)
{
    static const enum zoo_type types[] = {ZOO_E4M3, ZOO_E4M3, ZOO_E5M2, ZOO_S8};
    return types[problem->value[SCALED_TYPE]];
}
enum zoo_type scaled_type_of_b(const struct zoo_problem *problem)
{
    static const enum zoo_type types[] = {ZOO_E4M3, ZOO_E5M2, ZOO_E4M3, ZOO_S8};
    return types[problem->value[SCALED_TYPE]];
}

static const char *const type_names[] = {"e4m3", "e4m3_e5m2", "e5m2_e4m3", "s8", NULL};
static const char *const out_names[] = {"bf16",      "f16",         "f32", "e4m3",
                                        "e4m3_rows", "e4m3_blocks", NULL};
static const enum zoo_type stored_types[] = {ZOO_BF16, ZOO_F16, ZOO_F32, ZOO_E4M3};
static const char *const scale_names[] = {"tensors", "lines", "blocks", NULL};
static const char *const sum_names[] = {"promoted", "fast", NULL};

/* The problem -----------------------------------------------------------------------------------*/

enum scaled_stored scaled_stored_of(const struct zoo_problem *problem)
{
    int64_t out = problem->value[SCALED_OUT];
    return out > STORE_E4M3 ? STORE_E4M3 : (enum scaled_stored)out;
}

enum scaled_scaling scaled_quantised_of(const struct zoo_problem *problem)
{
    int64_t out = problem->value[SCALED_OUT];
    return out == OUT_E4M3_ROWS     ? SCALE_LINES
           : out == OUT_E4M3_BLOCKS ? SCALE_BLOCKS
                                    : SCALE_TENSORS;
}

const struct gemm_epilogue *scaled_epilogue_of(const struct zoo_problem *problem)
{
    return &gemm_epilogues[problem->value[SCALED_EPILOGUE]];
}

int64_t scaled_columns(const struct zoo_problem *problem)
{
    return scaled_epilogue_of(problem)->activation == GEMM_GATE ? problem->value[SCALED_N] / 2
                                                                : problem->value[SCALED_N];
}

enum zoo_type scaled_type_added(const struct zoo_problem *problem)
{
    enum scaled_stored stored = scaled_stored_of(problem);
    return stored == STORE_E4M3 ? ZOO_BF16 : stored_types[stored];
}

/* Computed ones, or the one that is given with a D in e4m3. */
static size_t scales_of_d(const struct zoo_problem *problem)
{
    enum scaled_scaling quantised = scaled_quantised_of(problem);
    if (quantised == SCALE_TENSORS)
        return problem->value[SCALED_OUT] == OUT_E4M3;
    return (size_t)(problem->value[SCALED_BATCH] *
                    scaled_count_a(quantised, problem->value[SCALED_M], scaled_columns(problem)));
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    const int64_t *v = problem->value;
    const struct gemm_epilogue *epilogue = scaled_epilogue_of(problem);
    enum scaled_scaling scaling = (enum scaled_scaling)v[SCALED_SCALES];
    enum zoo_type added = scaled_type_added(problem);
    size_t m = (size_t)v[SCALED_M], n = (size_t)v[SCALED_N], k = (size_t)v[SCALED_K];
    size_t batch = (size_t)v[SCALED_BATCH], bias = epilogue->bias_down ? m : n;
    size_t a_scales = batch * (size_t)scaled_count_a(scaling, v[SCALED_M], v[SCALED_K]);
    size_t b_scales = batch * (size_t)scaled_count_b(scaling, v[SCALED_N], v[SCALED_K]);
    bool computes = scaled_quantised_of(problem) != SCALE_TENSORS;
    buffers[SCALED_A] = (struct zoo_buffer){"a", ZOO_IN, scaled_type_of_a(problem), batch * m * k};
    buffers[SCALED_B] = (struct zoo_buffer){"b", ZOO_IN, scaled_type_of_b(problem), batch * k * n};
    buffers[SCALED_D] = (struct zoo_buffer){"d", ZOO_OUT, stored_types[scaled_stored_of(problem)],
                                            batch * m * (size_t)scaled_columns(problem)};
    buffers[SCALED_A_SCALE] = (struct zoo_buffer){"a_scale", ZOO_IN, ZOO_F32, a_scales};
    buffers[SCALED_B_SCALE] = (struct zoo_buffer){"b_scale", ZOO_IN, ZOO_F32, b_scales};
    buffers[SCALED_D_SCALE] =
        (struct zoo_buffer){"d_scale", computes ? ZOO_OUT : ZOO_IN, ZOO_F32, scales_of_d(problem)};
    buffers[SCALED_C] =
        (struct zoo_buffer){"c", ZOO_IN, added, epilogue->beta != 0 ? batch * m * n : 0};
    buffers[SCALED_BIAS] = (struct zoo_buffer){"bias", ZOO_IN, added, epilogue->bias ? bias : 0};
    return SCALED_BUFFERS;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    for (unsigned i = 0; i < count; i++) {
        bool is_scale = i == SCALED_A_SCALE || i == SCALED_B_SCALE || i == SCALED_D_SCALE;
        if (buffers[i].role != ZOO_IN)
            continue;
        if (!is_scale)
            zoo_fill(problem, i, buffers[i].type, buffer[i], buffers[i].count);
        for (size_t j = 0; is_scale && j < buffers[i].count; j++)
            ((float *)buffer[i])[j] = (float)(0.5 + 1.5 * zoo_random_unit(problem->seed, i, j));
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

static double flops(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return 2.0 * (double)v[SCALED_BATCH] * (double)v[SCALED_M] * (double)v[SCALED_N] *
           (double)v[SCALED_K];
}

static const char *unit(const struct zoo_problem *problem)
{
    return problem->value[SCALED_TYPE] == SCALED_S8 ? "tensor-int8" : "tensor-f8";
}

/* Launches --------------------------------------------------------------------------------------*/

static struct scaled_request request_of(const struct zoo_problem *problem,
                                        const CUdeviceptr *buffer)
{
    const int64_t *v = problem->value;
    const struct gemm_epilogue *e = scaled_epilogue_of(problem);
    int64_t columns = scaled_columns(problem);
    bool computes = scaled_quantised_of(problem) != SCALE_TENSORS;
    return (struct scaled_request){
        .product =
            {
                .m = v[SCALED_M],
                .n = v[SCALED_N],
                .k = v[SCALED_K],
                .batch = v[SCALED_BATCH],
                .b_by_columns = true,
                .a_pitch = v[SCALED_K],
                .b_pitch = v[SCALED_K],
                .c_pitch = v[SCALED_N],
                .d_pitch = columns,
                .a_stride = v[SCALED_M] * v[SCALED_K],
                .b_stride = v[SCALED_K] * v[SCALED_N],
                .c_stride = v[SCALED_M] * v[SCALED_N],
                .d_stride = v[SCALED_M] * columns,
                .alpha = e->alpha,
                .beta = e->beta,
                .activation = e->activation,
                .bias_down = e->bias_down,
                .choice = {.width = (int)v[SCALED_WIDTH], .rows = (int)v[SCALED_WIDTH]},
                .a = buffer[SCALED_A],
                .b = buffer[SCALED_B],
                .c = e->beta != 0 ? buffer[SCALED_C] : 0,
                .d = buffer[SCALED_D],
                .bias = e->bias ? buffer[SCALED_BIAS] : 0,
            },
        .number = (enum scaled_number)v[SCALED_TYPE],
        .scaling = (enum scaled_scaling)v[SCALED_SCALES],
        .stored = scaled_stored_of(problem),
        .quantised = scaled_quantised_of(problem),
        .fast = v[SCALED_SUMS],
        .a_scale = buffer[SCALED_A_SCALE],
        .b_scale = buffer[SCALED_B_SCALE],
        .d_scale = v[SCALED_OUT] == OUT_E4M3 ? buffer[SCALED_D_SCALE] : 0,
        .scale_out = computes ? buffer[SCALED_D_SCALE] : 0,
    };
}

static size_t workspace(const struct zoo_call *call)
{
    struct scaled_request request = request_of(call->problem, (CUdeviceptr[ZOO_BUFFERS]){0});
    return scaled_workspace(&request);
}

/* What a search may choose at launch; 0 is what plan.c would choose. */
static const struct zoo_tunable of_skinny[] = {ZOO_AT_LAUNCH("ROWS", 0, 0, 8, 16, 32, 64),
                                               ZOO_AT_LAUNCH("CONSUMERS", 0, 0, 1, 2, 4),
                                               ZOO_AT_LAUNCH("PARTS", 0, 0, 1, 2, 4, 8),
                                               {{0}}};

static CUresult launch(struct zoo_call *call, enum scaled_kind kind)
{
    struct scaled_request request = request_of(call->problem, call->buffer);
    struct gemm_choice *choice = &request.product.choice;
    struct scaled_plan plan;
    if (!request.product.m || !scaled_columns(call->problem) || !request.product.batch)
        return CUDA_SUCCESS;
    request.workspace = call->workspace;
    if (kind == SCALED_MMA_SYNC)
        request.stages = zoo_tunable(call, "STAGES");
    if (kind == SCALED_SKINNY) {
        choice->rows = choice->rows ? choice->rows : zoo_tunable(call, "ROWS");
        choice->consumers = zoo_tunable(call, "CONSUMERS");
        choice->parts = zoo_tunable(call, "PARTS");
    }
    CUresult status =
        scaled_plan_make(&request, kind, call->device->cuda, call->device->sm_count, &plan);
    return status == CUDA_SUCCESS ? scaled_plan_launch(&plan, call) : status;
}

static CUresult launch_skinny(struct zoo_call *call)
{
    return launch(call, SCALED_SKINNY);
}

static CUresult launch_tiles(struct zoo_call *call)
{
    return launch(call, SCALED_TILES);
}

static CUresult launch_general(struct zoo_call *call)
{
    return launch(call, SCALED_GENERAL);
}

static CUresult launch_mma_sync(struct zoo_call *call)
{
    return launch(call, SCALED_MMA_SYNC);
}

static bool takes_any(const struct zoo_problem *problem)
{
    return problem->value[SCALED_SCALES] != SCALE_BLOCKS ||
           problem->value[SCALED_TYPE] != SCALED_S8;
}

/* Its tiles have 64 columns. */
static bool takes_general(const struct zoo_problem *problem)
{
    struct scaled_request request = request_of(problem, (CUdeviceptr[ZOO_BUFFERS]){0});
    return takes_any(problem) &&
           (request.quantised != SCALE_BLOCKS || request.product.activation == GEMM_GATE);
}

/* Buffers are aligned in tests and benchmarks. */
static bool fits_tma(const struct zoo_problem *problem, enum scaled_number number)
{
    struct scaled_request request = request_of(problem, (CUdeviceptr[ZOO_BUFFERS]){0});
    return request.number == number && takes_any(problem) && scaled_plan_fits_tma(&request);
}

/* Where there are more rows, skinny kernels only take their time. */
enum { MOST_ROWS = 2048 };
/* One for each file: its types, and for tiles how sums are kept. */
enum keeping { KEEP_ANY, KEEP_PROMOTED, KEEP_FAST, KEEP_BLOCKS };
static bool keeps(const struct zoo_problem *problem, enum keeping keeping)
{
    bool by_blocks = problem->value[SCALED_SCALES] == SCALE_BLOCKS;
    bool fast = problem->value[SCALED_SUMS];
    return keeping == KEEP_BLOCKS
               ? by_blocks
               : !by_blocks && (keeping == KEEP_ANY || fast == (keeping == KEEP_FAST));
}
#define TAKES(name, number, keeping)                                                               \
    static bool takes_##name(const struct zoo_problem *problem)                                    \
    {                                                                                              \
        return fits_tma(problem, number) && keeps(problem, keeping);                               \
    }
TAKES(e4m3, SCALED_E4M3, KEEP_PROMOTED)
TAKES(e4m3_fast, SCALED_E4M3, KEEP_FAST)
TAKES(e4m3_blocks, SCALED_E4M3, KEEP_BLOCKS)
TAKES(e4m3_e5m2, SCALED_E4M3_E5M2, KEEP_ANY)
TAKES(e5m2_e4m3, SCALED_E5M2_E4M3, KEEP_ANY)
TAKES(s8, SCALED_S8, KEEP_ANY)
#define SKINNY_TAKES(name, number)                                                                 \
    static bool skinny_takes_##name(const struct zoo_problem *problem)                             \
    {                                                                                              \
        return fits_tma(problem, number) && problem->value[SCALED_M] <= MOST_ROWS;                 \
    }
SKINNY_TAKES(e4m3, SCALED_E4M3)
SKINNY_TAKES(e4m3_e5m2, SCALED_E4M3_E5M2)
SKINNY_TAKES(e5m2_e4m3, SCALED_E5M2_E4M3)
SKINNY_TAKES(s8, SCALED_S8)

#define SKINNY(name, text)                                                                         \
    {                                                                                              \
        "skinny_" #name, "a cluster shares k; few rows; " text, launch_skinny,                     \
            .takes = skinny_takes_##name, .workspace = workspace,                                  \
            .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED, .at_launch = of_skinny                      \
    }
#define TILES(name, text)                                                                          \
    {                                                                                              \
        "tiles_" #name, "a persistent grid of clusters; " text, launch_tiles,                      \
            .takes = takes_##name, .workspace = workspace,                                         \
            .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED                                              \
    }
/* clang-format off */
static const struct zoo_variant variants[] = {
    {"general", "tiles in shared memory, any alignment", launch_general, .takes = takes_general,
     .workspace = workspace, .traits = ZOO_DETERMINISTIC},
    {"mma_sync", "products of 16 x 8 x 32 by a warp, ldmatrix", launch_mma_sync,
     .takes = takes_any, .workspace = workspace, .traits = ZOO_DETERMINISTIC},
    SKINNY(e4m3, "A and B in e4m3"),
    SKINNY(e4m3_e5m2, "A in e4m3, B in e5m2"),
    SKINNY(e5m2_e4m3, "A in e5m2, B in e4m3"),
    SKINNY(s8, "integers"),
    TILES(e4m3, "sums promoted every 128 of k"),
    TILES(e4m3_fast, "sums of 14 bits"),
    TILES(e4m3_blocks, "sums scaled and promoted every 128 of k"),
    TILES(e4m3_e5m2, "A in e4m3, B in e5m2"),
    TILES(e5m2_e4m3, "A in e5m2, B in e4m3"),
    TILES(s8, "exact sums of integers"),
    {0}};
/* clang-format on */

static bool torch_takes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return v[SCALED_M] > 0 && v[SCALED_N] > 0 && v[SCALED_K] > 0 && v[SCALED_N] % 16 == 0 &&
           v[SCALED_K] % 16 == 0 && v[SCALED_TYPE] == SCALED_E4M3 && v[SCALED_OUT] == STORE_BF16 &&
           v[SCALED_SCALES] != SCALE_BLOCKS && v[SCALED_BATCH] == 1 && v[SCALED_EPILOGUE] == 0;
}

static const struct zoo_peer peers[] = {
    {"cublas", ZOO_PEER_LIBRARY, "cublasLtMatmul", .takes = scaled_cublas_takes,
     .workspace = scaled_cublas_workspace, .run = scaled_cublas_run,
     .version = scaled_cublas_version},
    {"torch", ZOO_PEER_PYTHON,
     "torch._scaled_mm(x[0].view(m, k), x[1].view(n, k).t(), "
     "scale_a=x[3] if scales == 'tensors' else x[3].view(m, 1), "
     "scale_b=x[4] if scales == 'tensors' else x[4].view(1, n), "
     "out_dtype=torch.bfloat16, use_fast_accum=sums == 'fast')",
     .takes = torch_takes},
    {0}};

static const char *const edges[] = {
    "m=0,1,3 n=0,1,2 k=0,1,5 type=e4m3,s8 scales=tensors,lines",
    "m=3 n=5 k=0,1,130 type=e4m3,e4m3_e5m2 scales=blocks",
    "m=65 n=264 k=64,144 out=bf16,f16,f32,e4m3 scales=tensors,lines",
    "m=65 n=264 k=144 type=s8 out=bf16,f16,f32,e4m3 scales=tensors,lines",
    "m=130 n=272 k=272 scales=blocks out=bf16,f16,f32,e4m3",
    "m=130 n=72 k=160 type=e4m3_e5m2,e5m2_e4m3 scales=tensors,lines",
    "m=70 n=33 k=48 type=e4m3,e5m2_e4m3,s8 out=bf16,f32,e4m3 scales=lines",
    "m=33 n=35 k=37 type=e4m3,e4m3_e5m2,e5m2_e4m3,s8 out=bf16,f16,f32,e4m3",
    "m=130 n=200 k=400 dist=constant,ascending,adversarial sums=promoted,fast",
    "m=130 n=200 k=400 dist=constant,ascending,adversarial scales=blocks out=f32",
    "m=67 n=88 k=400 dist=ascending,adversarial type=s8 out=f32,e4m3",
    "m=300 n=464 k=144 width=64,128,192,256 sums=promoted,fast",
    "m=300 n=464 k=272 width=64,128,192,256 scales=blocks",
    "m=300 n=464 k=144 width=64,128,192,256 type=s8 scales=lines out=e4m3",
    "m=300 n=464 k=144 width=64,128,192,256 type=e4m3_e5m2,e5m2_e4m3",
    "m=3 n=232 k=400 batch=68 width=64,192,256 sums=promoted,fast", /* several tiles for a block */
    "m=3 n=232 k=400 batch=68 width=256 sums=promoted,fast scales=lines",
    "m=300 n=208 k=1552 width=64,128,192,256 scales=tensors,blocks", /* turns, and a rest */
    "m=4 n=232 k=1168 batch=68 width=128,192 scales=tensors,blocks",
    "m=3 n=232 k=400 batch=68 width=128,256 type=s8 scales=lines out=f16,e4m3",
    "m=5 n=72 k=8208 sums=promoted,fast out=f32 dist=uniform,ascending",
    "m=33 n=48 k=160 dist=special",
    "m=0,70 n=40 k=48 batch=0,3 scales=tensors,lines,blocks",
    "m=3 n=35 k=37 batch=3 type=e4m3,s8 epilogue=residual,scaled scales=lines",
    "m=70,200 n=272 k=144 epilogue=bias,bias_relu,bias_gelu,silu,gate,residual,scaled",
    "m=5,70 n=272 k=144 epilogue=bias_gelu,gate,residual,scaled out=f32,f16,e4m3 scales=lines",
    "m=5,70 n=136 k=144 epilogue=residual,gate batch=2 type=s8 out=e4m3,bf16 scales=lines",
    "m=1,5,130 n=16,272 k=144 out=e4m3_rows,e4m3_blocks epilogue=none,gate,residual",
    "m=5,130 n=150 k=150 out=e4m3_rows,e4m3_blocks type=e5m2_e4m3,s8 batch=2 scales=lines",
    "m=5,70 n=272 k=272 out=e4m3_rows,e4m3_blocks scales=blocks epilogue=none,bias_gelu batch=2",
    "m=1,9,33,64 n=136 k=1040 scales=tensors,lines,blocks",
    "m=9,33 n=136 k=1040 type=e4m3_e5m2,e5m2_e4m3,s8 scales=tensors,lines out=f32",
    "m=9,33 n=136 k=400 type=e4m3_e5m2,e5m2_e4m3 scales=blocks out=f32",
    "m=50 n=72 k=272 width=8,16,32,64 scales=lines,blocks",
    NULL};

static const char *const bench[] = {"m=8K n=8K k=8K sums=promoted,fast",
                                    "m=8K n=8K k=8K scales=lines,blocks",
                                    "m=8K n=8K k=8K type=s8",
                                    "m=4K n=4K k=4K sums=promoted,fast",
                                    "m=4K n=4K k=4K scales=lines,blocks",
                                    "m=4K n=4K k=4K type=s8",
                                    "m=4K n=7168 k=2K scales=blocks",
                                    "m=2K n=2K k=2K",
                                    "m=64 n=14336 k=4096 scales=tensors,blocks",
                                    "m=16 n=14336 k=4096",
                                    "m=1 n=14336 k=4096",
                                    "m=64 n=4096 k=14336",
                                    NULL};

const struct zoo_family zoo_gemm_scaled = {
    .name = "gemm_scaled",
    .title = "matrix times matrix in 8 bits, with scales",
    .problem =
        "D = f(s A B) with A (m x k, by rows) and B (k x n, by columns) in FP8 or 8-bit integers, "
        "for each matrix of a batch, as lk_gemm makes it; f as in gemm_fused. The scales belong to "
        "whole matrices, to rows of A and columns of B, or "
        "to blocks of 128 of k; sums are in f32 (integers: s32), or in the tensor cores' 14 bits.",
    .parameters = {{"m", "rows of A and D", 0, 1 << 24, 1024, NULL},
                   {"n", "columns of B and D", 0, 1 << 22, 1024, NULL},
                   {"k", "columns of A, rows of B", 0, 1 << 17, 1024, NULL},
                   {"type", "of A and B", 0, 3, 0, type_names},
                   {"out", "type of D, and e4m3 with scales that are computed", 0, 5, 0, out_names},
                   {"scales", "what a scale belongs to", 0, 2, 0, scale_names},
                   {"sums", "in f32 every 128 of k, or never", 0, 1, 0, sum_names},
                   {"width", "of tiles; 0: by the shape", 0, 256, 0, NULL},
                   {"batch", "matrices of each kind", 0, 1 << 16, 1, NULL},
                   {"epilogue", "what is done to the product", 0, GEMM_EPILOGUES - 1, 0,
                    gemm_epilogue_names},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "m=512 n=512 k=512 type=e4m3,e4m3_e5m2,e5m2_e4m3,s8 scales=tensors,blocks "
               "sums=promoted,fast",
    .unit = unit,
    .reference = scaled_reference,
    .edges = edges,
    .bench = bench,
    .shape = shape,
    .generate = generate,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
