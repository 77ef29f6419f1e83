/*
 * fused.c: the family: chains of small functions between two matrix products of a transformer:
 * bias, GELU and dropout; bias, dropout and residual. Forward and backward, with the gradient of
 * the bias. One pass over the arrays where separate kernels make three.
 */
#include "fused.h"

#include "zoo/philox.h"

#include <math.h>
#include <stdio.h>

static const char *const operations[] = {"gelu", "gelu_tanh", "residual", NULL};
static const char *const directions[] = {"forward", "backward", NULL};
static const char *const types[] = {"bf16", "f16", "f32", NULL};
static const char *const states[] = {"none", "given", NULL};

/* The problem -----------------------------------------------------------------------------------*/

/* Which buffer is which; -1: there is none. other: the residual, or dy. */
struct places {
    int x, bias, other, out, dbias, state;
    unsigned count;
};
static bool is_residual(const struct zoo_problem *problem)
{
    return problem->value[FUSED_OP] == FUSED_RESIDUAL;
}
static bool is_backward(const struct zoo_problem *problem)
{
    return problem->value[FUSED_DIRECTION] == FUSED_BACKWARD;
}
static struct places places_of(const struct zoo_problem *problem)
{
    bool backward = is_backward(problem), residual = is_residual(problem);
    int next = 0;
    struct places at = {-1, -1, -1, -1, -1, -1, 0};
    if (!backward || !residual) {
        at.x = next++;
        at.bias = next++;
    }
    if (backward || residual)
        at.other = next++;
    at.out = next++;
    if (backward)
        at.dbias = next++;
    if (problem->value[FUSED_STATE])
        at.state = next++;
    at.count = (unsigned)next;
    return at;
}

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    static const enum zoo_type of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return of[problem->value[FUSED_TYPE]];
}

static int64_t elements(const struct zoo_problem *problem)
{
    return problem->value[FUSED_ROWS] * problem->value[FUSED_COLS];
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    struct places at = places_of(problem);
    enum zoo_type type = type_of(problem);
    bool backward = is_backward(problem);
    size_t n = (size_t)elements(problem), cols = (size_t)problem->value[FUSED_COLS];
    if (at.x >= 0) {
        buffers[at.x] = (struct zoo_buffer){"x", ZOO_IN, type, n};
        buffers[at.bias] = (struct zoo_buffer){"bias", ZOO_IN, type, cols};
    }
    if (at.other >= 0)
        buffers[at.other] = (struct zoo_buffer){backward ? "dy" : "residual", ZOO_IN, type, n};
    buffers[at.out] = (struct zoo_buffer){backward ? "dx" : "y", ZOO_OUT, type, n};
    if (backward)
        buffers[at.dbias] = (struct zoo_buffer){"dbias", ZOO_OUT, type, cols};
    if (at.state >= 0)
        buffers[at.state] = (struct zoo_buffer){"state", ZOO_IN, ZOO_I64, 2};
    return at.count;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    for (unsigned i = 0; i < count; i++) {
        if (buffers[i].role != ZOO_IN)
            continue;
        if (buffers[i].type == ZOO_I64) {
            ((int64_t *)buffer[i])[0] = (int64_t)zoo_random(problem->seed, 9, 0);
            ((int64_t *)buffer[i])[1] = (int64_t)zoo_random(problem->seed, 9, 1);
            continue;
        }
        zoo_fill(problem, i, buffers[i].type, buffer[i], buffers[i].count);
        for (size_t k = 0; problem->distribution == ZOO_UNIFORM && k < buffers[i].count; k++)
            zoo_put(buffers[i].type, buffer[i], k, 3 * zoo_get(buffers[i].type, buffer[i], k));
    }
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* The function of x + bias, its slope, and what activations.h is off by beside roundings. */
struct at_point {
    double value, slope, value_off, slope_off;
};
static struct at_point point_of(int64_t operation, double x)
{
    double wide = 1 + fmin(fabs(x), 16), u = 0x1p-24;
    if (operation == FUSED_RESIDUAL)
        return (struct at_point){x, 1, u * fabs(x), 0};
    double moved = 1.2 * u * fabs(x); /* by the rounding of the sum */
    if (operation == FUSED_GELU) {
        double normal = 0.5 * erfc(-x * M_SQRT1_2);
        return (struct at_point){x * normal, normal + x * exp(-x * x / 2) / sqrt(2 * M_PI),
                                 4e-8 * wide + moved, 6e-8 * wide + moved};
    }
    double scale = 2 * sqrt(2 / M_PI), z = scale * (x + 0.044715 * x * x * x), s = logistic(z);
    double slope = s + x * s * logistic(-z) * scale * (1 + 3 * 0.044715 * x * x);
    return (struct at_point){x * s, slope, 4e-8 * wide + moved, 3e-7 * wide + moved};
}

/* One element: what it must be and how far off it may be, before it is rounded to its type. */
struct result {
    double value, off;
};
static struct result result_of(const struct zoo_problem *problem, const struct places *at,
                               void *const *buffer, size_t i, double scale)
{
    enum zoo_type type = type_of(problem);
    size_t column = i % (size_t)problem->value[FUSED_COLS];
    double x = at->x < 0 ? 0 : zoo_get(type, buffer[at->x], i);
    double bias = at->x < 0 ? 0 : zoo_get(type, buffer[at->bias], column);
    double other = at->other < 0 ? 0 : zoo_get(type, buffer[at->other], i), u = 0x1p-24;
    struct at_point p = point_of(problem->value[FUSED_OP], x + bias);
    if (is_backward(problem)) {
        double value = scale == 0 ? 0 : scale * other * p.slope;
        return (struct result){value, scale * fabs(other) * p.slope_off + 4 * u * fabs(value)};
    }
    double chain = scale == 0 ? 0 : scale * p.value;
    double value = is_residual(problem) ? chain + other : chain;
    return (struct result){value, scale * p.value_off + 2 * u * fabs(chain) + 2 * u * fabs(value)};
}

static void expect(struct zoo_expected *expected, size_t at, enum zoo_type type, struct result r)
{
    const struct zoo_precision *of = &zoo_precisions[type];
    expected->value[at] = fabs(r.value) >= of->most ? copysign(INFINITY, r.value) : r.value;
    expected->bound[at] =
        r.off + (type == ZOO_F32 ? 0 : of->unit * 1.01 * fabs(r.value)) + of->least;
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    enum zoo_type type = type_of(problem);
    struct places at = places_of(problem);
    struct zoo_dropout d = zoo_dropout_of((double)zoo_as_float(problem->value[FUSED_P]));
    uint64_t seed = problem->seed, offset = (uint64_t)problem->value[FUSED_OFFSET];
    int64_t rows = problem->value[FUSED_ROWS], cols = problem->value[FUSED_COLS];
    if (at.state >= 0) {
        seed += ((const uint64_t *)buffer[at.state])[0];
        offset += ((const uint64_t *)buffer[at.state])[1];
    }
#pragma omp parallel for schedule(static) if (elements(problem) > 100000)
    for (int64_t c = 0; c < cols; c++) {
        struct result sum = {0, 0};
        double size = 0;
        for (int64_t row = 0; row < rows; row++) {
            size_t i = (size_t)(row * cols + c);
            bool dropped = zoo_dropped(d, seed, offset, i);
            struct result r = result_of(problem, &at, buffer, i, dropped ? 0 : (double)d.scale);
            expect(&expected[at.out], i, type, r);
            sum.value += r.value;
            sum.off += r.off;
            size += fabs(r.value);
        }
        sum.off += (double)rows * 0x1p-24 * size;
        if (is_backward(problem))
            expect(&expected[at.dbias], (size_t)c, type, sum);
    }
}

/* Arrays of this many elements that are read or written. */
static double bytes(const struct zoo_problem *problem)
{
    bool residual = is_residual(problem), backward = is_backward(problem);
    double arrays = backward ? (residual ? 2 : 3) : (residual ? 3 : 2);
    double lines = backward ? (residual ? 1 : 2) : 1;
    return (arrays * (double)elements(problem) + lines * (double)problem->value[FUSED_COLS]) *
           zoo_type_bytes[type_of(problem)];
}

static double flops(const struct zoo_problem *problem)
{
    static const double forward[] = {20, 12, 3}, backward[] = {29, 21, 2};
    int64_t operation = problem->value[FUSED_OP];
    return (double)elements(problem) *
           (is_backward(problem) ? backward[operation] : forward[operation]);
}

/* Launches --------------------------------------------------------------------------------------*/

/* What all kernels get after their arrays. */
struct draws {
    struct zoo_dropout d;
    int64_t seed, offset;
    CUdeviceptr state;
};
static struct draws draws_of(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct places at = places_of(problem);
    return (struct draws){zoo_dropout_of((double)zoo_as_float(problem->value[FUSED_P])),
                          (int64_t)problem->seed, problem->value[FUSED_OFFSET],
                          at.state >= 0 ? call->buffer[at.state] : 0};
}

static CUdeviceptr buffer_at(const struct zoo_call *call, int place)
{
    return place >= 0 ? call->buffer[place] : 0;
}

static CUresult launch(struct zoo_call *call, struct zoo_grid grid)
{
    const struct zoo_problem *problem = call->problem;
    struct places at = places_of(problem);
    struct draws r = draws_of(call);
    int64_t rows = problem->value[FUSED_ROWS], cols = problem->value[FUSED_COLS];
    CUdeviceptr x = buffer_at(call, at.x), bias = buffer_at(call, at.bias);
    CUdeviceptr other = buffer_at(call, at.other), out = buffer_at(call, at.out);
    CUdeviceptr parts = call->workspace;
    char kernel[40];
    grid.threads = (unsigned)zoo_tunable(call, "BLOCK");
    snprintf(kernel, sizeof kernel, "%s_%s_%s", operations[problem->value[FUSED_OP]],
             directions[problem->value[FUSED_DIRECTION]], types[problem->value[FUSED_TYPE]]);
    if (is_backward(problem))
        return ZOO_LAUNCH(call, kernel, grid, &x, &bias, &other, &out, &rows, &cols, &r.d.threshold,
                          &r.d.scale, &r.seed, &r.offset, &r.state, &parts);
    return ZOO_LAUNCH(call, kernel, grid, &x, &bias, &other, &out, &rows, &cols, &r.d.threshold,
                      &r.d.scale, &r.seed, &r.offset, &r.state);
}

/* Elements of 16 bytes. */
static int64_t per_vector(const struct zoo_problem *problem)
{
    return 16 / zoo_type_bytes[type_of(problem)];
}

static CUresult launch_vectorised(struct zoo_call *call)
{
    int64_t most = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t wanted = zoo_ceil_div(elements(call->problem),
                                  zoo_tunable(call, "BLOCK") * per_vector(call->problem));
    if (wanted == 0)
        return CUDA_SUCCESS;
    return launch(call, (struct zoo_grid){.x = (unsigned)(wanted < most ? wanted : most)});
}

static int64_t tiles_of(const struct zoo_call *call)
{
    return zoo_ceil_div(call->problem->value[FUSED_COLS],
                        zoo_tunable(call, "BLOCK") * per_vector(call->problem));
}

static CUresult launch_in_flight(struct zoo_call *call)
{
    int high = is_residual(call->problem) ? 2 : zoo_tunable(call, "ROWS");
    int64_t bands = zoo_ceil_div(call->problem->value[FUSED_ROWS], high);
    if (elements(call->problem) == 0)
        return CUDA_SUCCESS;
    return launch(call, (struct zoo_grid){.x = (unsigned)(bands * tiles_of(call))});
}

/* One kernel of `separate`, from x and y, whose rows have `cols`, to out. */
static CUresult launch_one(struct zoo_call *call, const char *kernel, CUdeviceptr x, CUdeviceptr y,
                           int64_t cols, CUdeviceptr out)
{
    struct draws r = draws_of(call);
    int64_t n = elements(call->problem);
    int64_t block = zoo_tunable(call, "BLOCK");
    struct zoo_grid grid = {.x = zoo_ceil_div(n, 4 * block), .threads = (unsigned)block};
    return ZOO_LAUNCH(call, kernel, grid, &x, &y, &out, &n, &cols, &r.d.threshold, &r.d.scale,
                      &r.seed, &r.offset, &r.state);
}

static size_t workspace_separate(const struct zoo_call *call)
{
    return (size_t)elements(call->problem) * 8; /* two arrays */
}

static CUresult launch_separate(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct places at = places_of(problem);
    bool residual = is_residual(problem);
    CUdeviceptr x = buffer_at(call, at.x), bias = buffer_at(call, at.bias);
    CUdeviceptr y = buffer_at(call, at.out), one = call->workspace;
    CUdeviceptr other = one + (size_t)elements(problem) * 4;
    if (elements(problem) == 0)
        return CUDA_SUCCESS;
    const char *gelu = problem->value[FUSED_OP] == FUSED_GELU ? "apply_gelu" : "apply_gelu_tanh";
    int64_t n = elements(problem);
    CUresult status = launch_one(call, "add", x, bias, problem->value[FUSED_COLS], one);
    if (status == CUDA_SUCCESS && !residual)
        status = launch_one(call, gelu, one, 0, n, other);
    if (status == CUDA_SUCCESS)
        status =
            launch_one(call, "apply_dropout", residual ? one : other, 0, n, residual ? other : y);
    if (status == CUDA_SUCCESS && residual)
        status = launch_one(call, "add", other, call->buffer[at.other], n, y);
    return status;
}

/* Bands of rows, so that the GPU is full. */
static unsigned bands_of(const struct zoo_call *call)
{
    int64_t tiles = tiles_of(call), rows = call->problem->value[FUSED_ROWS];
    int64_t wanted = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t bands = tiles > 0 ? wanted / tiles : 0;
    bands = bands > rows ? rows : bands;
    return (unsigned)(bands < 1 ? 1 : bands > 65535 ? 65535 : bands);
}

static size_t workspace_columns(const struct zoo_call *call)
{
    return (size_t)bands_of(call) * (size_t)call->problem->value[FUSED_COLS] * sizeof(float);
}

static CUresult launch_bands(struct zoo_call *call, bool overlaps)
{
    const struct zoo_problem *problem = call->problem;
    struct places at = places_of(problem);
    int64_t cols = problem->value[FUSED_COLS];
    int bands = (int)bands_of(call);
    char kernel[24];
    if (cols == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "add_bands_%s", types[problem->value[FUSED_TYPE]]);
    CUresult status =
        launch(call, (struct zoo_grid){.x = (unsigned)tiles_of(call), .y = (unsigned)bands});
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(
        call, kernel,
        ((struct zoo_grid){.x = zoo_ceil_div(cols, 32), .threads = 512, .overlaps = overlaps}),
        &call->workspace, &call->buffer[at.dbias], &cols, &bands);
}
static CUresult launch_columns(struct zoo_call *call)
{
    return launch_bands(call, false);
}
static CUresult launch_overlapped(struct zoo_call *call)
{
    return launch_bands(call, true);
}

static bool takes_separate(const struct zoo_problem *problem)
{
    return !is_backward(problem) && type_of(problem) == ZOO_F32;
}
static bool takes_forward(const struct zoo_problem *problem)
{
    return !is_backward(problem);
}
static bool takes_backward(const struct zoo_problem *problem)
{
    return is_backward(problem);
}

static const struct zoo_variant variants[] = {
    {"separate", "forward: a kernel for each function, whole arrays in between", launch_separate,
     workspace_separate, .takes = takes_separate, .traits = ZOO_DETERMINISTIC},
    {"vectorised", "forward: the chain in registers, 16 bytes at a time", launch_vectorised,
     .takes = takes_forward, .traits = ZOO_DETERMINISTIC},
    {"in_flight", "forward: the same columns of several rows; the bias is loaded once",
     launch_in_flight, .takes = takes_forward, .traits = ZOO_DETERMINISTIC},
    {"columns", "backward: dx, and the bias's gradient from sums kept on the way down",
     launch_columns, workspace_columns, .takes = takes_backward, .traits = ZOO_DETERMINISTIC},
    {"overlapped", "backward: columns, whose second launch overlaps the first", launch_overlapped,
     workspace_columns, .takes = takes_backward, .traits = ZOO_DETERMINISTIC},
    {0}};

#define TORCH_GELU                                                                                 \
    "torch.nn.functional.gelu(v + b, approximate='tanh' if op == 'gelu_tanh' else 'none')"
#define TORCH_FORWARD                                                                              \
    "(lambda v, b, r: r + torch.nn.functional.dropout(v + b, p, True)) if op == 'residual' else "  \
    "(lambda v, b, r: torch.nn.functional.dropout(" TORCH_GELU ", p, True))"
#define TORCH_ARGUMENTS                                                                            \
    "(x[0].view(rows, cols), x[1], x[2].view(rows, cols) if op == 'residual' else None)"

/* A problem has one peer of PyTorch: in f32 its own kernels, else what torch.compile makes. */
static bool takes_compiled(const struct zoo_problem *problem)
{
    return takes_forward(problem) && type_of(problem) != ZOO_F32;
}

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON, .call = "(" TORCH_FORWARD ")" TORCH_ARGUMENTS,
     .takes = takes_separate, .draws = true},
    {"torch_compile", ZOO_PEER_PYTHON, .call = "compiled(" TORCH_FORWARD ")" TORCH_ARGUMENTS,
     .takes = takes_compiled, .draws = true},
    {0}};

static const char *const edges[] = {
    "rows=0,1,3 cols=0,1,8,9,100,1032 op=gelu,residual direction=forward,backward type=bf16",
    "rows=5 cols=33,264 op=gelu,gelu_tanh,residual direction=forward,backward type=f16,f32",
    "rows=40 cols=72 op=gelu,gelu_tanh,residual direction=forward,backward type=bf16,f32 p=0.5 "
    "offset=3 state=given",
    "rows=7 cols=64 op=gelu,gelu_tanh,residual direction=forward,backward type=bf16,f32 p=0,1",
    "rows=16 cols=64 op=gelu,residual direction=forward,backward type=bf16,f32 "
    "dist=constant,ascending,adversarial",
    NULL};

static const char *const bench[] = {
    "rows=8K cols=14336 op=gelu,residual direction=forward type=bf16",
    "rows=4K cols=14336 op=gelu,residual direction=forward type=f32",
    "rows=8K cols=14336 op=gelu,residual direction=backward type=bf16",
    "rows=16K cols=4K op=residual direction=forward type=bf16",
    "rows=16,256 cols=4K op=gelu direction=forward type=bf16",
    NULL};

const struct zoo_family zoo_fused = {
    .name = "fused",
    .title = "bias, GELU and dropout, or bias, dropout and residual, in one pass",
    .problem =
        "With s = x + bias and a dropout D of each element: y = D(GELU(s)), or y = D(s) + "
        "residual. "
        "Backward dx = D(dy * GELU'(s)), or D(dy), and dbias = the sum of dx over all rows. The "
        "random bits are those of the family dropout for element row * cols + column.",
    .parameters = {{"rows", "rows", 0, (int64_t)1 << 30, 1024, NULL},
                   {"cols", "numbers in a row", 0, (int64_t)1 << 30, 1024, NULL},
                   {"op", "gelu, gelu_tanh or residual", 0, 2, 0, operations},
                   {"direction", "forward or backward", 0, 1, 0, directions},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {"p", "probability that a number is dropped", 0,
                    ZOO_FLOAT + 0x3f800000 /* 1.0 */, ZOO_FLOAT + 0x3e000000 /* 0.125 */, NULL,
                    true},
                   {"offset", "counter's upper half: another one for each call", 0, UINT32_MAX, 0,
                    NULL, true},
                   {"state", "none, or given: two numbers in device memory", 0, 1, 0, states},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "rows=256 cols=2048 op=gelu type=bf16",
    ZOO_FAMILY_PARTS,
};
