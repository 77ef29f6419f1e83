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
static const char *const out_names[] = {"bf16", "f16", "f32", "e4m3", NULL};
static const enum zoo_type out_types[] = {ZOO_BF16, ZOO_F16, ZOO_F32, ZOO_E4M3};
static const char *const scale_names[] = {"tensors", "lines", "blocks", NULL};
static const char *const sum_names[] = {"promoted", "fast", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    const int64_t *v = problem->value;
    size_t m = (size_t)v[SCALED_M], n = (size_t)v[SCALED_N], k = (size_t)v[SCALED_K];
    size_t blocks = (k + SCALE_BLOCK - 1) / SCALE_BLOCK, a_scales = 1, b_scales = 1;
    if (v[SCALED_SCALES] == SCALE_LINES) {
        a_scales = m;
        b_scales = n;
    } else if (v[SCALED_SCALES] == SCALE_BLOCKS) {
        a_scales = blocks * m;
        b_scales = blocks * ((n + SCALE_BLOCK - 1) / SCALE_BLOCK);
    }
    buffers[SCALED_A] = (struct zoo_buffer){"a", ZOO_IN, scaled_type_of_a(problem), m * k};
    buffers[SCALED_B] = (struct zoo_buffer){"b", ZOO_IN, scaled_type_of_b(problem), k * n};
    buffers[SCALED_D] = (struct zoo_buffer){"d", ZOO_OUT, out_types[v[SCALED_OUT]], m * n};
    buffers[SCALED_A_SCALE] = (struct zoo_buffer){"a_scale", ZOO_IN, ZOO_F32, a_scales};
    buffers[SCALED_B_SCALE] = (struct zoo_buffer){"b_scale", ZOO_IN, ZOO_F32, b_scales};
    buffers[SCALED_D_SCALE] =
        (struct zoo_buffer){"d_scale", ZOO_IN, ZOO_F32, v[SCALED_OUT] == STORE_E4M3};
    return SCALED_BUFFERS;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    zoo_fill(problem, SCALED_A, buffers[SCALED_A].type, buffer[SCALED_A], buffers[SCALED_A].count);
    zoo_fill(problem, SCALED_B, buffers[SCALED_B].type, buffer[SCALED_B], buffers[SCALED_B].count);
    for (unsigned i = SCALED_A_SCALE; i < count; i++)
        for (size_t j = 0; j < buffers[i].count; j++)
            ((float *)buffer[i])[j] = (float)(0.5 + 1.5 * zoo_random_unit(problem->seed, i, j));
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
    return 2.0 * (double)v[SCALED_M] * (double)v[SCALED_N] * (double)v[SCALED_K];
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
    return (struct scaled_request){
        .number = (enum scaled_number)v[SCALED_TYPE],
        .scaling = (enum scaled_scaling)v[SCALED_SCALES],
        .stored = (enum scaled_stored)v[SCALED_OUT],
        .alpha = 1,
        .fast = v[SCALED_SUMS],
        .m = v[SCALED_M],
        .n = v[SCALED_N],
        .k = v[SCALED_K],
        .b_by_columns = true,
        .a_pitch = v[SCALED_K],
        .b_pitch = v[SCALED_K],
        .d_pitch = v[SCALED_N],
        .width = (int)v[SCALED_WIDTH],
        .a = buffer[SCALED_A],
        .b = buffer[SCALED_B],
        .d = buffer[SCALED_D],
        .a_scale = buffer[SCALED_A_SCALE],
        .b_scale = buffer[SCALED_B_SCALE],
        .d_scale = v[SCALED_OUT] == STORE_E4M3 ? buffer[SCALED_D_SCALE] : 0,
    };
}

static CUresult launch(struct zoo_call *call, enum scaled_kind kind)
{
    struct scaled_request request = request_of(call->problem, call->buffer);
    struct scaled_plan plan;
    if (!request.m || !request.n)
        return CUDA_SUCCESS;
    if (kind == SCALED_MMA_SYNC)
        request.stages = zoo_tunable(call, "STAGES");
    CUresult status =
        scaled_plan_make(&request, kind, call->device->cuda, call->device->sm_count, &plan);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, plan.kernel, plan.grid, &plan.arguments);
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

/* Buffers are aligned in tests and benchmarks. */
static bool fits_tma(const struct zoo_problem *problem, enum scaled_number number)
{
    struct scaled_request request = request_of(problem, (CUdeviceptr[ZOO_BUFFERS]){0});
    return request.number == number && scaled_plan_fits_tma(&request);
}

static bool takes_e4m3(const struct zoo_problem *problem)
{
    return fits_tma(problem, SCALED_E4M3) && problem->value[SCALED_SCALES] != SCALE_BLOCKS &&
           !problem->value[SCALED_SUMS];
}
static bool takes_e4m3_fast(const struct zoo_problem *problem)
{
    return fits_tma(problem, SCALED_E4M3) && problem->value[SCALED_SCALES] != SCALE_BLOCKS &&
           problem->value[SCALED_SUMS];
}
static bool takes_e4m3_blocks(const struct zoo_problem *problem)
{
    return fits_tma(problem, SCALED_E4M3) && problem->value[SCALED_SCALES] == SCALE_BLOCKS;
}
static bool takes_e4m3_e5m2(const struct zoo_problem *problem)
{
    return fits_tma(problem, SCALED_E4M3_E5M2);
}
static bool takes_e5m2_e4m3(const struct zoo_problem *problem)
{
    return fits_tma(problem, SCALED_E5M2_E4M3);
}
static bool takes_s8(const struct zoo_problem *problem)
{
    return fits_tma(problem, SCALED_S8);
}

#define TILES(name, text)                                                                          \
    {                                                                                              \
        "tiles_" #name, "a persistent grid of clusters; " text, launch_tiles,                      \
            .takes = takes_##name, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED                       \
    }
/* clang-format off */
static const struct zoo_variant variants[] = {
    {"general", "tiles in shared memory, any alignment", launch_general, .takes = takes_any,
     .traits = ZOO_DETERMINISTIC},
    {"mma_sync", "products of 16 x 8 x 32 by a warp, ldmatrix", launch_mma_sync,
     .takes = takes_any, .traits = ZOO_DETERMINISTIC},
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
           v[SCALED_SCALES] != SCALE_BLOCKS;
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
    "m=5 n=72 k=8208 sums=promoted,fast out=f32 dist=uniform,ascending",
    "m=33 n=48 k=160 dist=special",
    NULL};

static const char *const bench[] = {"m=8K n=8K k=8K sums=promoted,fast",
                                    "m=8K n=8K k=8K scales=lines,blocks",
                                    "m=8K n=8K k=8K type=s8",
                                    "m=4K n=4K k=4K sums=promoted,fast",
                                    "m=4K n=4K k=4K scales=lines,blocks",
                                    "m=4K n=4K k=4K type=s8",
                                    "m=4K n=7168 k=2K scales=blocks",
                                    "m=2K n=2K k=2K",
                                    "m=64 n=14336 k=4096",
                                    NULL};

const struct zoo_family zoo_gemm_scaled = {
    .name = "gemm_scaled",
    .title = "matrix times matrix in 8 bits, with scales",
    .problem =
        "D = s A B with A (m x k, by rows) and B (k x n, by columns) in FP8 or 8-bit integers, as "
        "lk_gemm makes it. The scales belong to whole matrices, to rows of A and columns of B, or "
        "to blocks of 128 of k; sums are in f32 (integers: s32), or in the tensor cores' 14 bits.",
    .parameters = {{"m", "rows of A and D", 0, 1 << 24, 1024, NULL},
                   {"n", "columns of B and D", 0, 1 << 22, 1024, NULL},
                   {"k", "columns of A, rows of B", 0, 1 << 17, 1024, NULL},
                   {"type", "of A and B", 0, 3, 0, type_names},
                   {"out", "type of D", 0, 3, 0, out_names},
                   {"scales", "what a scale belongs to", 0, 2, 0, scale_names},
                   {"sums", "in f32 every 128 of k, or never", 0, 1, 0, sum_names},
                   {"width", "of tiles; 0: by the shape", 0, 256, 0, NULL},
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
