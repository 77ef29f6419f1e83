/*
 * gemm_fused.c: the gemm_fused family: matrix products as lk_gemm makes them, in 16-bit types and
 * f32, every layout, in batches, with what is done to C on the way out.
 */
#include "epilogue.h"

#include "../../gemm/host/gemm.h"
#include "base/arena.h"
#include "zoo/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M, N, K, TYPE, BATCH, ORDER, EPILOGUE, WIDTH }; /* the first four as in the family gemm */
enum { A, B, D, C, BIAS };

static const char *const type_names[] = {"f32", "f16", "bf16", "tf32", NULL};
static const enum zoo_type types[] = {ZOO_F32, ZOO_F16, ZOO_BF16, ZOO_F32};

/* A's order, then B's: by rows or by columns. */
static const char *const order_names[] = {"rr", "rc", "cr", "cc", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static const struct gemm_epilogue *epilogue_of(const struct zoo_problem *problem)
{
    return &gemm_epilogues[problem->value[EPILOGUE]];
}

static int64_t columns_of_d(const struct zoo_problem *problem)
{
    return epilogue_of(problem)->activation == GEMM_GATE ? problem->value[N] / 2
                                                         : problem->value[N];
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    const struct gemm_epilogue *epilogue = epilogue_of(problem);
    enum zoo_type type = types[problem->value[TYPE]];
    size_t m = (size_t)problem->value[M], n = (size_t)problem->value[N],
           k = (size_t)problem->value[K], batch = (size_t)problem->value[BATCH];
    size_t bias = !epilogue->bias ? 0 : epilogue->bias_down ? m : n;
    buffers[A] = (struct zoo_buffer){"a", ZOO_IN, type, batch * m * k};
    buffers[B] = (struct zoo_buffer){"b", ZOO_IN, type, batch * k * n};
    buffers[D] = (struct zoo_buffer){"d", ZOO_OUT, type, batch * m * (size_t)columns_of_d(problem)};
    buffers[C] = (struct zoo_buffer){"c", ZOO_IN, type, epilogue->beta != 0 ? batch * m * n : 0};
    buffers[BIAS] = (struct zoo_buffer){"bias", ZOO_IN, type, bias};
    return 5;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    for (unsigned i = 0; i < count; i++)
        if (i != D)
            zoo_fill(problem, i, buffers[i].type, buffer[i], buffers[i].count);
}

/* The lines of a matrix along k as doubles, so that sums read them in order: of lines x k elements
 * from the one at from on, neighbours along k lie side by side, or those along the lines do. */
static double *lines_along_k(enum zoo_type type, const void *data, int64_t from, int64_t lines,
                             int64_t k, bool side_by_side)
{
    double *all = lk_alloc((size_t)(lines * k + 1) * sizeof(*all));
    for (int64_t line = 0; line < lines; line++)
        for (int64_t i = 0; i < k; i++)
            all[line * k + i] = zoo_get(
                type, data, (size_t)(from + (side_by_side ? line * k + i : i * lines + line)));
    return all;
}

struct sum {
    double products, magnitudes;
    bool overflows; /* on the way to the sum: where, and to what, depends on the order */
};

/* Finite products and their sums are beyond f32, in which kernels add up. */
static bool overflows(const double *a, const double *b, int64_t k)
{
    double sum = 0;
    for (int64_t i = 0; i < k; i++)
        if (isfinite(a[i] * b[i]))
            sum += fabs(a[i] * b[i]);
    return sum >= 0x1p128;
}

/* In four parts, which need not wait for one another. */
static struct sum sum_products(const double *a, const double *b, int64_t k)
{
    double products[4] = {0}, magnitudes[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= k; i += 4)
        for (int j = 0; j < 4; j++) {
            double product = a[i + j] * b[i + j];
            products[j] += product;
            magnitudes[j] += fabs(product);
        }
    for (; i < k; i++) {
        products[0] += a[i] * b[i];
        magnitudes[0] += fabs(a[i] * b[i]);
    }
    double all = magnitudes[0] + magnitudes[1] + magnitudes[2] + magnitudes[3];
    return (struct sum){products[0] + products[1] + products[2] + products[3], all,
                        !(all < 0x1p128) && overflows(a, b, k)};
}

/* Rounded to bf16, this may be infinite. */
#define NEARLY_INFINITE 0x1.fp127

static const struct gemm_result any_value = {0, INFINITY};

/* One element after its activation; row is of all matrices of the batch. */
static struct gemm_result finish(const struct zoo_problem *problem, void *const *buffer,
                                 struct sum sum, int64_t row, int64_t column)
{
    int64_t m = problem->value[M], n = problem->value[N], k = problem->value[K];
    enum zoo_type type = types[problem->value[TYPE]];
    const struct gemm_epilogue *e = epilogue_of(problem);
    /* Tensor cores cut at 24 bits with every step of k; plain f32 rounds with every product. */
    double error = ((double)k + 8) * 0x1p-23 * sum.magnitudes;
    if (problem->value[TYPE] == GEMM_NUMBER_TF32) /* both factors are rounded to 11 bits */
        error += (0x1p-10 + 0x1p-22) * sum.magnitudes;
    struct gemm_result x = {e->alpha * sum.products, fabs(e->alpha) * error};
    double finite = isfinite(x.value) ? fabs(x.value) : 0;
    if (e->beta != 0) {
        double c = e->beta * zoo_get(type, buffer[C], (size_t)(row * n + column));
        x.value += c;
        finite += isfinite(c) ? fabs(c) : 0;
    }
    if (e->bias)
        x.value += zoo_get(type, buffer[BIAS], (size_t)(e->bias_down ? row % m : column));
    if ((sum.overflows || finite >= NEARLY_INFINITE) && !isnan(x.value))
        return any_value;
    x.error += 4 * 0x1p-24 * (fabs(x.value) + sum.magnitudes + 4);
    return gemm_activate(x, e->activation);
}

/* a and b are the lines of one matrix of the batch. */
static void reference_element(const struct zoo_problem *problem, void *const *buffer,
                              const double *a, const double *b, int64_t row, int64_t column,
                              struct zoo_expected *expected)
{
    static const double units[] = {0x1p-24, 0x1p-11, 0x1p-8, 0x1p-24},
                        least[] = {0, 0x1p-25, 0x1p-134, 0};
    int64_t k = problem->value[K], type = problem->value[TYPE];
    int64_t at = row * columns_of_d(problem) + column;
    const double *line = a + row % problem->value[M] * k;
    struct gemm_result x;
    if (epilogue_of(problem)->activation == GEMM_GATE) {
        struct sum left_sum = sum_products(line, b + 2 * column * k, k);
        struct sum right_sum = sum_products(line, b + (2 * column + 1) * k, k);
        struct gemm_result left = finish(problem, buffer, left_sum, row, 2 * column);
        struct gemm_result right = finish(problem, buffer, right_sum, row, 2 * column + 1);
        x = isinf(left.error) || isinf(right.error) ? any_value : gemm_gate(left, right);
    } else {
        x = finish(problem, buffer, sum_products(line, b + column * k, k), row, column);
    }
    if (isfinite(x.value) && fabs(x.value) >= NEARLY_INFINITE)
        x = any_value;
    expected->value[at] = x.value;
    expected->bound[at] = x.error + (fabs(x.value) + x.error) * units[type] * 1.0001 + least[type];
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    int64_t m = problem->value[M], n = problem->value[N], k = problem->value[K];
    int64_t across = columns_of_d(problem);
    enum zoo_type type = types[problem->value[TYPE]];
    bool a_down = problem->value[ORDER] >= 2, b_down = problem->value[ORDER] % 2;
    for (int64_t matrix = 0; matrix < problem->value[BATCH]; matrix++) {
        double *a = lines_along_k(type, buffer[A], matrix * m * k, m, k, !a_down);
        double *b = lines_along_k(type, buffer[B], matrix * k * n, n, k, b_down);
#pragma omp parallel for schedule(dynamic, 64) collapse(2)
        for (int64_t row = matrix * m; row < (matrix + 1) * m; row++)
            for (int64_t column = 0; column < across; column++)
                reference_element(problem, buffer, a, b, row, column, &expected[D]);
        free(a);
        free(b);
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
    return 2.0 * (double)v[BATCH] * (double)v[M] * (double)v[N] * (double)v[K];
}

static const char *unit(const struct zoo_problem *problem)
{
    static const char *const units[] = {"f32", "tensor-f16", "tensor-bf16", "tensor-tf32"};
    return units[problem->value[TYPE]];
}

/* Launches --------------------------------------------------------------------------------------*/

static struct gemm_request request_of(const struct zoo_problem *problem, const CUdeviceptr *buffer)
{
    const int64_t *v = problem->value;
    const struct gemm_epilogue *e = epilogue_of(problem);
    bool a_down = v[ORDER] >= 2, b_down = v[ORDER] % 2;
    return (struct gemm_request){
        .number = (enum gemm_number)v[TYPE],
        .m = v[M],
        .n = v[N],
        .k = v[K],
        .batch = v[BATCH],
        .a_by_columns = a_down,
        .b_by_columns = b_down,
        .a_pitch = a_down ? v[M] : v[K],
        .b_pitch = b_down ? v[K] : v[N],
        .c_pitch = v[N],
        .d_pitch = columns_of_d(problem),
        .a_stride = v[M] * v[K],
        .b_stride = v[K] * v[N],
        .c_stride = v[M] * v[N],
        .d_stride = v[M] * columns_of_d(problem),
        .alpha = e->alpha,
        .beta = e->beta,
        .activation = e->activation,
        .bias_down = e->bias_down,
        .choice = {.width = (int)v[WIDTH], .rows = (int)v[WIDTH]},
        .a = buffer[A],
        .b = buffer[B],
        .c = e->beta != 0 ? buffer[C] : 0,
        .d = buffer[D],
        .bias = e->bias ? buffer[BIAS] : 0,
    };
}

/* What a search may choose at launch; 0 is what plan.c would choose. */
static const struct zoo_tunable of_tiles[] = {ZOO_AT_LAUNCH("WIDTH", 0, 0, 64, 128, 192, 224, 256),
                                              ZOO_AT_LAUNCH("GROUP", 0, 0, 4, 8, 16, 32),
                                              {{0}}};
static const struct zoo_tunable of_skinny[] = {ZOO_AT_LAUNCH("ROWS", 0, 0, 8, 16, 32, 64, 128),
                                               ZOO_AT_LAUNCH("CONSUMERS", 0, 0, 1, 2, 4),
                                               ZOO_AT_LAUNCH("PARTS", 0, 0, 1, 2, 4, 8),
                                               {{0}}};

static const struct zoo_tunable no_tunables[] = {{{0}}};

static void choose(struct gemm_choice *choice, enum gemm_kind kind, const int *value)
{
    if (kind == GEMM_TILES) {
        choice->width = choice->width ? choice->width : value[0];
        choice->group = value[1];
    } else if (kind == GEMM_SKINNY) {
        choice->rows = choice->rows ? choice->rows : value[0];
        choice->consumers = value[1];
        choice->parts = value[2];
    }
}

static CUresult launch(struct zoo_call *call, enum gemm_kind kind)
{
    struct gemm_request request = request_of(call->problem, call->buffer);
    int value[ZOO_TUNABLES] = {0};
    const struct zoo_tunable *tunable = request.number == GEMM_NUMBER_TF32 ? no_tunables
                                        : kind == GEMM_TILES               ? of_tiles
                                        : kind == GEMM_SKINNY              ? of_skinny
                                                                           : no_tunables;
    for (int i = 0; *tunable[i].name; i++)
        value[i] = zoo_tunable(call, tunable[i].name);
    choose(&request.choice, kind, value);
    struct gemm_plan plan;
    if (!request.m || !columns_of_d(call->problem) || !request.batch)
        return CUDA_SUCCESS;
    CUresult status =
        gemm_plan_make(&request, kind, call->device->cuda, call->device->sm_count, &plan);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, plan.kernel, plan.grid, &plan.arguments);
}

static CUresult launch_tiles(struct zoo_call *call)
{
    return launch(call, GEMM_TILES);
}

static CUresult launch_skinny(struct zoo_call *call)
{
    return launch(call, GEMM_SKINNY);
}

static CUresult launch_mma_sync(struct zoo_call *call)
{
    return launch(call, GEMM_MMA_SYNC);
}

static CUresult launch_general(struct zoo_call *call)
{
    return launch(call, GEMM_GENERAL);
}

/* Buffers are aligned in tests and benchmarks. */
static bool fits_tma(const struct zoo_problem *problem, enum gemm_number number, int64_t order)
{
    struct gemm_request request = request_of(problem, (CUdeviceptr[ZOO_BUFFERS]){0});
    return problem->value[TYPE] == (int64_t)number && problem->value[ORDER] == order &&
           gemm_plan_fits_tma(&request);
}

/* One for each file: its type and order. */
#define TAKES(name, number, order)                                                                 \
    static bool takes_##name(const struct zoo_problem *problem)                                    \
    {                                                                                              \
        return fits_tma(problem, number, order);                                                   \
    }
TAKES(bf16_rr, GEMM_NUMBER_BF16, 0)
TAKES(bf16_rc, GEMM_NUMBER_BF16, 1)
TAKES(bf16_cr, GEMM_NUMBER_BF16, 2)
TAKES(bf16_cc, GEMM_NUMBER_BF16, 3)
TAKES(f16_rr, GEMM_NUMBER_F16, 0)
TAKES(f16_rc, GEMM_NUMBER_F16, 1)
TAKES(f16_cr, GEMM_NUMBER_F16, 2)
TAKES(f16_cc, GEMM_NUMBER_F16, 3)
TAKES(tf32_rr, GEMM_NUMBER_TF32, 0)
TAKES(tf32_rc, GEMM_NUMBER_TF32, 1)
static bool takes_tf32(const struct zoo_problem *problem)
{
    return problem->value[TYPE] == GEMM_NUMBER_TF32;
}
static bool takes_but_tf32(const struct zoo_problem *problem)
{
    return !takes_tf32(problem);
}

#define TILES(name, text)                                                                          \
    {                                                                                              \
        "tiles_" #name, "a persistent grid of clusters; " text, launch_tiles,                      \
            .takes = takes_##name, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED,                      \
            .at_launch = of_tiles                                                                  \
    }
/* clang-format off */
static const struct zoo_variant variants[] = {
    {"general", "tiles in shared memory, any alignment", launch_general,
     .takes = takes_but_tf32, .traits = ZOO_DETERMINISTIC},
    {"skinny_bf16_r", "a cluster shares k; few rows; B by rows", launch_skinny,
     .takes = takes_bf16_rr, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED,
     .at_launch = of_skinny},
    {"skinny_bf16_c", "a cluster shares k; few rows; B by columns", launch_skinny,
     .takes = takes_bf16_rc, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED,
     .at_launch = of_skinny},
    {"skinny_f16_r", "a cluster shares k; few rows; B by rows", launch_skinny,
     .takes = takes_f16_rr, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED,
     .at_launch = of_skinny},
    {"skinny_f16_c", "a cluster shares k; few rows; B by columns", launch_skinny,
     .takes = takes_f16_rc, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED,
     .at_launch = of_skinny},
    TILES(bf16_rr, "A and B by rows"),
    TILES(bf16_rc, "A by rows, B by columns"),
    TILES(bf16_cr, "A by columns, B by rows"),
    TILES(bf16_cc, "A and B by columns"),
    TILES(f16_rr, "A and B by rows"),
    TILES(f16_rc, "A by rows, B by columns"),
    TILES(f16_cr, "A by columns, B by rows"),
    TILES(f16_cc, "A and B by columns"),
    {"mma_sync_tf32", "products of 16 x 8 x 8 by a warp, any layout", launch_mma_sync,
     .takes = takes_tf32, .traits = ZOO_DETERMINISTIC},
    {"tiles_tf32_rr", "a persistent grid of clusters; A and B by rows", launch_tiles,
     .takes = takes_tf32_rr, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"tiles_tf32_rc", "a persistent grid of clusters; A by rows, B by columns", launch_tiles,
     .takes = takes_tf32_rc, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {0}};
/* clang-format on */

/* cublasLt is called as the family gemm calls it: the first values and buffers are the same. */
static bool is_bare(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return v[BATCH] == 1 && v[ORDER] == 0 && v[EPILOGUE] == 0;
}

static const struct zoo_peer peers[] = {{"cublas", ZOO_PEER_LIBRARY, "cublasLtMatmul",
                                         .takes = is_bare, .workspace = gemm_cublas_workspace,
                                         .run = gemm_cublas_run, .version = gemm_cublas_version},
                                        {0}};

static const char *const edges[] = {
    "m=0,1,3 n=0,1,2 k=0,1,5 epilogue=none,scaled",
    "m=3 n=5 k=4 batch=0,2",
    "m=65 n=264 k=64,72 order=rr,rc,cr,cc type=bf16,f16 epilogue=none,scaled",
    "m=136 n=136 k=200 order=rr,rc,cr,cc epilogue=bias_gelu,residual",
    "m=72 n=72 k=40 batch=3 order=rr,rc,cr,cc type=bf16,f16 epilogue=bias",
    "m=1,9,33 n=136 k=1032 order=rr,rc epilogue=none,silu",
    "m=17,70 n=80 k=72 epilogue=gate type=bf16,f16,f32",
    "m=33 n=35 k=37 type=bf16,f16,f32 order=rr,cc epilogue=bias_relu,residual",
    "m=130 n=200 k=64 dist=constant,ascending,adversarial epilogue=bias_relu",
    "m=72 n=72 k=40 dist=special type=bf16,f16,f32 epilogue=none,scaled",
    "m=300 n=456 k=136 width=64,128,192,224,256 order=rr,rc epilogue=none,residual",
    "m=304 n=456 k=136 width=128,256 order=cr,cc type=bf16,f16",
    "m=130 n=72 k=136 width=8,16,32,64,128 order=rr,rc type=bf16,f16",
    "m=136 n=520 k=72 epilogue=gate,residual width=192,256",
    "m=3 n=232 k=200 batch=68 width=64,128,192,224,256", /* several tiles for a block */
    "m=3 n=232 k=200 batch=68 width=192,256 order=rc epilogue=bias_gelu,residual,gate",
    "m=3 n=232 k=200 batch=68 width=256 type=bf16,f16 epilogue=bias_relu",
    "m=5 n=72 k=8200",
    "m=0,1,3 n=0,1,2 k=0,1,5 type=tf32 epilogue=none,scaled",
    "m=33,130 n=35 k=37 type=tf32 order=rr,rc,cr,cc epilogue=bias_relu,residual",
    "m=65,300 n=264 k=64,72 type=tf32 order=rr,rc,cr,cc epilogue=none,scaled",
    "m=70,270 n=80 k=72 type=tf32 order=rr,rc,cr,cc epilogue=gate batch=3",
    "m=130 n=200 k=64 type=tf32 order=rr,rc,cc dist=constant,ascending,adversarial",
    "m=300 n=300 k=36 type=tf32 order=rr,rc epilogue=bias_gelu",
    NULL};

static const char *const bench[] = {"m=4K n=4K k=4K",
                                    "m=4K n=4K k=4K order=rc epilogue=bias_gelu",
                                    "m=1 n=14336 k=4096",
                                    "m=16 n=4096 k=14336",
                                    "m=64 n=6144 k=4096",
                                    "m=512 n=14336 k=4096",
                                    "m=1K n=1K k=1K",
                                    "m=512 n=512 k=512",
                                    "m=128 n=128 k=128",
                                    "m=4K n=4K k=4K type=tf32 order=rr,rc",
                                    NULL};

/* Tables --------------------------------------------------------------------------------------*/

bool gemm_plan_find(const struct zoo_table *table, const struct zoo_device *device,
                    const struct gemm_request *r, enum gemm_kind *kind, struct gemm_choice *choice)
{
    struct zoo_problem problem = zoo_problem_normal(&zoo_gemm_fused);
    struct zoo_demand demand = {.aligned_too = true};
    struct zoo_choice found;
    problem.value[M] = r->m;
    problem.value[N] = r->n;
    problem.value[K] = r->k;
    problem.value[TYPE] = (int64_t)r->number;
    problem.value[BATCH] = r->batch;
    problem.value[ORDER] = 2 * r->a_by_columns + r->b_by_columns;
    if (!gemm_plan_fits_tma(r) || !zoo_choose(table, device, &problem, demand, &found) ||
        !found.row || zoo_row_distance(found.row, &problem) > ZOO_VERY_NEAR)
        return false;
    *kind = found.variant->launch == launch_mma_sync ? GEMM_MMA_SYNC
            : found.variant->launch == launch_tiles  ? GEMM_TILES
            : found.variant->launch == launch_skinny ? GEMM_SKINNY
                                                     : GEMM_GENERAL;
    *choice = (struct gemm_choice){0};
    choose(choice, *kind, found.tuning.value);
    return true;
}

const struct zoo_family zoo_gemm_fused = {
    .name = "gemm_fused",
    .title = "matrix times matrix: layouts, batches, epilogues",
    .problem =
        "D = f(alpha A B + beta C + bias) for each matrix of a batch, as lk_gemm makes it: A "
        "is m x k and B is k x n, by rows or by columns; f is the identity, ReLU, GELU, SiLU "
        "or a SiLU gate over pairs of columns; sums are in f32.",
    .parameters = {{"m", "rows of A and D", 0, 1 << 24, 1024, NULL},
                   {"n", "columns of B and D", 0, 1 << 22, 1024, NULL},
                   {"k", "columns of A, rows of B", 0, 1 << 24, 1024, NULL},
                   {"type", "of A, B, C, D and bias; tf32: f32, factors rounded to TF32", 0, 3, 2,
                    type_names},
                   {"batch", "matrices of each kind", 0, 1 << 16, 1, NULL},
                   {"order", "A's and B's: by rows or by columns", 0, 3, 0, order_names},
                   {"epilogue", "what is done to the product", 0, GEMM_EPILOGUES - 1, 0,
                    gemm_epilogue_names},
                   {"width", "of tiles; 0: by the shape", 0, 256, 0, NULL},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "m=512 n=512 k=512 type=bf16,f16,tf32 order=rr,rc,cr,cc",
    .unit = unit,
    ZOO_FAMILY_PARTS,
};
