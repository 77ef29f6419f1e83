/*
 * launch.c: how the variants run: products by the kernels of gemm_fused, and the passes between
 * them.
 */
#include "mlp.h"

#include "../../gemm_fused/host/plan.h"

#include <stdio.h>

static const char *const type_names[] = {"bf16", "f16", "f32"};

static size_t size_of(const struct mlp_shape *s)
{
    return zoo_type_bytes[s->type];
}

/* Products --------------------------------------------------------------------------------------*/

/* D = f(A B + bias): A is m x k, B is k x n; all without gaps. A matrix "by columns" lies
 * transposed. */
struct product {
    int64_t m, n, k;
    CUdeviceptr a, b, d, bias;
    bool a_by_columns, b_by_columns, d_by_columns;
    enum gemm_activation activation;
};

static struct gemm_request request_of(const struct mlp_shape *s, const struct product *p)
{
    static const enum gemm_number numbers[] = {
        [ZOO_BF16] = GEMM_NUMBER_BF16, [ZOO_F16] = GEMM_NUMBER_F16, [ZOO_F32] = GEMM_NUMBER_F32};
    struct gemm_request r = {
        .number = numbers[s->type],
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .batch = 1,
        .a_by_columns = p->a_by_columns,
        .b_by_columns = p->b_by_columns,
        .a_pitch = p->a_by_columns ? p->m : p->k,
        .b_pitch = p->b_by_columns ? p->k : p->n,
        .alpha = 1,
        .activation = p->activation,
        .a = p->a,
        .b = p->b,
        .d = p->d,
        .bias = p->bias,
    };
    if (p->d_by_columns)
        gemm_request_turn(&r);
    r.c_pitch = r.n;
    r.d_pitch = r.activation == GEMM_GATE ? r.n / 2 : r.n;
    return r;
}

static CUresult multiply(struct zoo_call *call, const struct mlp_shape *s, struct product p)
{
    const struct zoo_device *device = call->device;
    struct gemm_plan plan;
    CUresult status;
    if (p.m == 0 || p.n == 0)
        return CUDA_SUCCESS;
    struct gemm_request r = request_of(s, &p);
    bool has_tma = device->arch == 90 && device->cuda->cuTensorMapEncodeTiled;
    enum gemm_kind kind =
        has_tma ? gemm_plan_kind(&r, device->sm_count) : gemm_plan_kind_without_tma(&r);
    status = gemm_plan_make(&r, kind, device->cuda, device->sm_count, &plan);
    if (status != CUDA_SUCCESS)
        return status;
    struct zoo_call lent = *call;
    lent.kernels = zoo_borrow(call, plan.variant, &status);
    if (!lent.kernels)
        return status;
    status = ZOO_LAUNCH(&lent, plan.kernel, plan.grid, &plan.arguments);
    call->error = lent.error;
    return status;
}

/* What the activation sees. */
static CUresult first_product(struct zoo_call *call, const struct mlp_shape *s, CUdeviceptr d,
                              bool with_bias, enum gemm_activation activation)
{
    return multiply(call, s,
                    (struct product){.m = s->tokens,
                                     .n = s->wide,
                                     .k = s->dim,
                                     .a = call->buffer[MLP_X],
                                     .b = call->buffer[MLP_W1],
                                     .b_by_columns = s->by_columns,
                                     .bias = with_bias && s->bias ? call->buffer[MLP_B1] : 0,
                                     .d = d,
                                     .activation = activation});
}

static CUresult second_product(struct zoo_call *call, const struct mlp_shape *s, CUdeviceptr a,
                               bool with_bias)
{
    return multiply(call, s,
                    (struct product){.m = s->tokens,
                                     .n = s->dim,
                                     .k = s->hidden,
                                     .a = a,
                                     .b = call->buffer[MLP_W2],
                                     .b_by_columns = s->by_columns,
                                     .bias = with_bias && s->bias ? call->buffer[MLP_B2] : 0,
                                     .d = call->buffer[MLP_Y]});
}

/* Backward: the gradient of an input: d (m x k) w^T, where w is in x out. */
static CUresult input_gradient(struct zoo_call *call, const struct mlp_shape *s, CUdeviceptr d,
                               CUdeviceptr w, int64_t in, int64_t out, CUdeviceptr to)
{
    return multiply(call, s,
                    (struct product){.m = s->tokens,
                                     .n = in,
                                     .k = out,
                                     .a = d,
                                     .b = w,
                                     .b_by_columns = !s->by_columns,
                                     .d = to});
}
/* And that of a weight: x^T d. */
static CUresult weight_gradient(struct zoo_call *call, const struct mlp_shape *s, CUdeviceptr x,
                                CUdeviceptr d, int64_t in, int64_t out, CUdeviceptr to)
{
    return multiply(call, s,
                    (struct product){.m = in,
                                     .n = out,
                                     .k = s->tokens,
                                     .a = x,
                                     .a_by_columns = true,
                                     .b = d,
                                     .d = to,
                                     .d_by_columns = s->by_columns});
}

/* Passes ----------------------------------------------------------------------------------------*/

static void name_kernel(char (*name)[32], const char *pass, const struct zoo_problem *problem)
{
    snprintf(*name, sizeof *name, "%s_%s", pass, type_names[problem->value[MLP_TYPE]]);
}

static unsigned block_of(const struct zoo_call *call)
{
    return (unsigned)zoo_tunable(call, "BLOCK");
}

/* A grid that walks over `count` elements, 16 bytes at a time. */
static struct zoo_grid grid_over(const struct zoo_call *call, const struct mlp_shape *s,
                                 int64_t count)
{
    enum { BLOCKS_PER_SM = 16 };
    int64_t blocks = zoo_ceil_div(count, (int64_t)block_of(call) * (int64_t)(16 / size_of(s)));
    int64_t most = (int64_t)call->device->sm_count * BLOCKS_PER_SM;
    return (struct zoo_grid){.x = (unsigned)(blocks < most ? blocks : most),
                             .threads = block_of(call)};
}

static CUresult activate(struct zoo_call *call, const struct mlp_shape *s, CUdeviceptr product,
                         CUdeviceptr bias, CUdeviceptr pre, CUdeviceptr a)
{
    char kernel[32];
    int64_t rows = s->tokens, hidden = s->hidden;
    int function = s->function, gate = s->gate;
    if (rows * hidden == 0)
        return CUDA_SUCCESS;
    name_kernel(&kernel, "activate", call->problem);
    return ZOO_LAUNCH(call, kernel, grid_over(call, s, rows * hidden), &product, &bias, &pre, &a,
                      &rows, &hidden, &function, &gate);
}

static CUresult add_bias(struct zoo_call *call, const struct mlp_shape *s, CUdeviceptr x, int bias,
                         int64_t cols)
{
    char kernel[32];
    int64_t rows = s->tokens;
    CUdeviceptr from = s->bias ? call->buffer[bias] : 0;
    if (!s->bias || rows * cols == 0)
        return CUDA_SUCCESS;
    name_kernel(&kernel, "add_bias", call->problem);
    return ZOO_LAUNCH(call, kernel, grid_over(call, s, rows * cols), &x, &from, &rows, &cols);
}

/* Bands of rows: enough blocks for every SM, and some rows for each. */
static struct zoo_grid grid_of_bands(const struct zoo_call *call, const struct mlp_shape *s,
                                     int64_t cols)
{
    enum { BLOCKS_PER_SM = 8, LEAST_ROWS = 8, MOST_BANDS = 1024 };
    int64_t across = zoo_ceil_div(cols, (int64_t)block_of(call) * (int64_t)(16 / size_of(s)));
    int64_t bands = across > 0 ? (int64_t)call->device->sm_count * BLOCKS_PER_SM / across : 1;
    bands = bands > s->tokens / LEAST_ROWS ? s->tokens / LEAST_ROWS : bands;
    bands = bands > MOST_BANDS ? MOST_BANDS : bands < 1 ? 1 : bands;
    return (struct zoo_grid){
        .x = (unsigned)across, .y = (unsigned)bands, .threads = block_of(call)};
}

static CUresult add_bands(struct zoo_call *call, CUdeviceptr parts, CUdeviceptr out, int64_t cols,
                          int bands)
{
    char kernel[32];
    name_kernel(&kernel, "add_bands", call->problem);
    struct zoo_grid grid = {.x = zoo_ceil_div(cols, 32), .threads = 512};
    return ZOO_LAUNCH(call, kernel, grid, &parts, &out, &cols, &bands);
}

static CUresult sum_columns(struct zoo_call *call, const struct mlp_shape *s, CUdeviceptr x,
                            int64_t cols, CUdeviceptr parts, int out)
{
    char kernel[32];
    int64_t rows = s->tokens;
    if (!s->bias || cols == 0)
        return CUDA_SUCCESS;
    struct zoo_grid grid = grid_of_bands(call, s, cols);
    name_kernel(&kernel, "sum_columns", call->problem);
    CUresult status = ZOO_LAUNCH(call, kernel, grid, &x, &rows, &cols, &parts);
    return status == CUDA_SUCCESS ? add_bands(call, parts, call->buffer[out], cols, (int)grid.y)
                                  : status;
}

/* The workspace ---------------------------------------------------------------------------------*/

/* Where its parts begin; `end` is how many bytes it has. Each begins at a multiple of 256. */
struct rooms {
    size_t pre, a, da, dpre, parts, end;
};

static size_t take(struct rooms *rooms, int64_t count, size_t each)
{
    size_t begin = rooms->end;
    rooms->end += ((size_t)count * each + 255) / 256 * 256;
    return begin;
}

/* Can the first product's way out do all that stands between it and the second? */
static enum gemm_activation fused_activation(const struct mlp_shape *s)
{
    if (s->keep)
        return GEMM_NONE;
    if (s->gate == MLP_PAIRS && s->function == MLP_SILU)
        return GEMM_GATE;
    if (s->gate == MLP_NO_GATE)
        return s->function == MLP_GELU   ? GEMM_GELU
               : s->function == MLP_SILU ? GEMM_SILU
                                         : GEMM_NONE;
    return GEMM_NONE;
}

static struct rooms rooms_of(const struct zoo_call *call, const struct mlp_shape *s, bool needs_pre)
{
    struct rooms rooms = {0};
    rooms.a = take(&rooms, s->tokens * s->hidden, size_of(s));
    if (!s->backward) {
        if (needs_pre && !s->keep)
            rooms.pre = take(&rooms, s->tokens * s->wide, size_of(s));
        return rooms;
    }
    rooms.da = take(&rooms, s->tokens * s->hidden, size_of(s));
    rooms.dpre = take(&rooms, s->tokens * s->wide, size_of(s));
    if (s->bias) {
        int64_t of_wide = (int64_t)grid_of_bands(call, s, s->wide).y * s->wide;
        int64_t of_hidden = (int64_t)grid_of_bands(call, s, s->hidden).y * s->wide;
        int64_t of_dim = (int64_t)grid_of_bands(call, s, s->dim).y * s->dim;
        int64_t most = of_wide > of_hidden ? of_wide : of_hidden;
        rooms.parts = take(&rooms, most > of_dim ? most : of_dim, sizeof(float));
    }
    return rooms;
}

static size_t workspace_of(const struct zoo_call *call, bool chained)
{
    struct mlp_shape s = mlp_shape_of(call->problem);
    return rooms_of(call, &s, !chained || fused_activation(&s) == GEMM_NONE).end;
}

size_t mlp_workspace_separate(const struct zoo_call *call)
{
    return workspace_of(call, false);
}
size_t mlp_workspace_one_pass(const struct zoo_call *call)
{
    return workspace_of(call, false);
}
size_t mlp_workspace_chained(const struct zoo_call *call)
{
    return workspace_of(call, true);
}

/* Forward ---------------------------------------------------------------------------------------*/

enum technique { SEPARATE, ONE_PASS, CHAINED };

static CUresult forward(struct zoo_call *call, const struct mlp_shape *s, enum technique technique)
{
    enum gemm_activation fused = technique == CHAINED ? fused_activation(s) : GEMM_NONE;
    struct rooms rooms = rooms_of(call, s, fused == GEMM_NONE);
    CUdeviceptr a = call->workspace + rooms.a;
    CUdeviceptr pre = s->keep ? call->buffer[MLP_PRE] : call->workspace + rooms.pre;
    CUdeviceptr bias = s->bias && technique == ONE_PASS ? call->buffer[MLP_B1] : 0;
    CUresult status =
        first_product(call, s, fused == GEMM_NONE ? pre : a, technique == CHAINED, fused);
    if (status == CUDA_SUCCESS && technique == SEPARATE)
        status = add_bias(call, s, pre, MLP_B1, s->wide);
    if (status == CUDA_SUCCESS && fused == GEMM_NONE)
        status = activate(call, s, pre, bias, bias && s->keep ? pre : 0, a);
    if (status == CUDA_SUCCESS)
        status = second_product(call, s, a, technique != SEPARATE);
    if (status == CUDA_SUCCESS && technique == SEPARATE)
        status = add_bias(call, s, call->buffer[MLP_Y], MLP_B2, s->dim);
    return status;
}

/* Backward --------------------------------------------------------------------------------------*/

/* a and dpre from pre and da, and the gradient of the first bias. */
static CUresult back_separate(struct zoo_call *call, const struct mlp_shape *s,
                              const struct rooms *rooms)
{
    CUdeviceptr pre = call->buffer[MLP_BACK_PRE], a = call->workspace + rooms->a;
    CUdeviceptr da = call->workspace + rooms->da, dpre = call->workspace + rooms->dpre;
    int64_t rows = s->tokens, hidden = s->hidden;
    int function = s->function, gate = s->gate;
    char kernel[32];
    name_kernel(&kernel, "slopes", call->problem);
    CUresult status = activate(call, s, pre, 0, 0, a);
    if (status == CUDA_SUCCESS && rows * hidden > 0)
        status = ZOO_LAUNCH(call, kernel, grid_over(call, s, rows * hidden), &pre, &da, &dpre,
                            &rows, &hidden, &function, &gate);
    if (status == CUDA_SUCCESS)
        status = sum_columns(call, s, dpre, s->wide, call->workspace + rooms->parts, MLP_DB1);
    return status;
}

static CUresult back_one_pass(struct zoo_call *call, const struct mlp_shape *s,
                              const struct rooms *rooms)
{
    CUdeviceptr pre = call->buffer[MLP_BACK_PRE], a = call->workspace + rooms->a;
    CUdeviceptr da = call->workspace + rooms->da, dpre = call->workspace + rooms->dpre;
    CUdeviceptr parts = s->bias ? call->workspace + rooms->parts : 0;
    int64_t rows = s->tokens, hidden = s->hidden;
    int function = s->function, gate = s->gate;
    struct zoo_grid grid = grid_of_bands(call, s, hidden);
    char kernel[32];
    if (hidden == 0)
        return CUDA_SUCCESS;
    name_kernel(&kernel, "back", call->problem);
    CUresult status = ZOO_LAUNCH(call, kernel, grid, &pre, &da, &a, &dpre, &parts, &rows, &hidden,
                                 &function, &gate);
    if (status == CUDA_SUCCESS && s->bias)
        status = add_bands(call, parts, call->buffer[MLP_DB1], s->wide, (int)grid.y);
    return status;
}

static CUresult backward(struct zoo_call *call, const struct mlp_shape *s, enum technique technique)
{
    struct rooms rooms = rooms_of(call, s, false);
    CUdeviceptr a = call->workspace + rooms.a, da = call->workspace + rooms.da;
    CUdeviceptr dpre = call->workspace + rooms.dpre, parts = call->workspace + rooms.parts;
    CUdeviceptr dy = call->buffer[MLP_DY], *buffer = call->buffer;
    CUresult status = input_gradient(call, s, dy, buffer[MLP_W2], s->hidden, s->dim, da);
    if (status == CUDA_SUCCESS)
        status =
            technique == SEPARATE ? back_separate(call, s, &rooms) : back_one_pass(call, s, &rooms);
    if (status == CUDA_SUCCESS)
        status = weight_gradient(call, s, a, dy, s->hidden, s->dim, buffer[MLP_DW2]);
    if (status == CUDA_SUCCESS)
        status = input_gradient(call, s, dpre, buffer[MLP_W1], s->dim, s->wide, buffer[MLP_DX]);
    if (status == CUDA_SUCCESS)
        status = weight_gradient(call, s, buffer[MLP_X], dpre, s->dim, s->wide, buffer[MLP_DW1]);
    if (status == CUDA_SUCCESS)
        status = sum_columns(call, s, dy, s->dim, parts, MLP_DB2);
    return status;
}

static CUresult launch(struct zoo_call *call, enum technique technique)
{
    struct mlp_shape s = mlp_shape_of(call->problem);
    return s.backward ? backward(call, &s, technique) : forward(call, &s, technique);
}

CUresult mlp_launch_separate(struct zoo_call *call)
{
    return launch(call, SEPARATE);
}
CUresult mlp_launch_one_pass(struct zoo_call *call)
{
    return launch(call, ONE_PASS);
}
CUresult mlp_launch_chained(struct zoo_call *call)
{
    return launch(call, CHAINED);
}
