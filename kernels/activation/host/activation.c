/*
 * activation.c: the family: GELU and SiLU of each element, alone or as the gate of another array
 * (SwiGLU, GeGLU), forward and backward. A few bytes and some twenty instructions an element: the
 * question is whether the arithmetic hides behind the memory.
 */
#include "activation.h"

#include <math.h>
#include <stdio.h>

static const char *const operations[] = {"gelu", "gelu_tanh", "silu", "geglu", "swiglu", NULL};
static const char *const directions[] = {"forward", "backward", NULL};
static const char *const types[] = {"bf16", "f16", "f32", NULL};
static const char *const layouts[] = {"apart", "packed", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    static const enum zoo_type of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return of[problem->value[ACT_TYPE]];
}

static bool is_gated(const struct zoo_problem *problem)
{
    return problem->value[ACT_OP] >= OP_GEGLU;
}

static bool is_backward(const struct zoo_problem *problem)
{
    return problem->value[ACT_DIRECTION] == ACT_BACKWARD;
}

/* One array has the rows of x and up, each half a row. */
static bool is_packed(const struct zoo_problem *problem)
{
    return is_gated(problem) && problem->value[ACT_LAYOUT] == ACT_PACKED;
}

static size_t elements(const struct zoo_problem *problem)
{
    return (size_t)problem->value[ACT_ROWS] * (size_t)problem->value[ACT_COLS];
}

/* x, up (unless x has both), dy, then the outputs. */
static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    enum zoo_type type = type_of(problem);
    bool gated = is_gated(problem), packed = is_packed(problem), backward = is_backward(problem);
    size_t n = elements(problem);
    unsigned count = 0;
    buffers[count++] = (struct zoo_buffer){"x", ZOO_IN, type, packed ? 2 * n : n};
    if (gated && !packed)
        buffers[count++] = (struct zoo_buffer){"up", ZOO_IN, type, n};
    if (!backward) {
        buffers[count++] = (struct zoo_buffer){"y", ZOO_OUT, type, n};
        return count;
    }
    buffers[count++] = (struct zoo_buffer){"dy", ZOO_IN, type, n};
    buffers[count++] = (struct zoo_buffer){"dx", ZOO_OUT, type, packed ? 2 * n : n};
    if (gated && !packed)
        buffers[count++] = (struct zoo_buffer){"dup", ZOO_OUT, type, n};
    return count;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    for (unsigned i = 0; i < count; i++) {
        if (buffers[i].role != ZOO_IN)
            continue;
        zoo_fill(problem, i, buffers[i].type, buffer[i], buffers[i].count);
        if (problem->distribution != ZOO_UNIFORM)
            continue;
        /* From -1 .. 1 to -6 .. 6, where the functions bend. */
        for (size_t k = 0; k < buffers[i].count; k++)
            zoo_put(buffers[i].type, buffer[i], k, 6 * zoo_get(buffers[i].type, buffer[i], k));
    }
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* The function and its slope. */
static double value_of(int64_t operation, double x)
{
    if (operation == OP_GELU || operation == OP_GEGLU)
        return x * 0.5 * erfc(-x * M_SQRT1_2);
    if (operation == OP_GELU_TANH)
        return x * logistic(2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
    return x * logistic(x);
}
static double slope_of(int64_t operation, double x)
{
    if (operation == OP_GELU || operation == OP_GEGLU)
        return 0.5 * erfc(-x * M_SQRT1_2) + x * exp(-x * x / 2) / sqrt(2 * M_PI);
    if (operation == OP_GELU_TANH) {
        double scale = 2 * sqrt(2 / M_PI), z = scale * (x + 0.044715 * x * x * x);
        return logistic(z) + x * logistic(z) * logistic(-z) * scale * (1 + 3 * 0.044715 * x * x);
    }
    return logistic(x) + x * logistic(x) * logistic(-x);
}

/* What activations.h is off by, beside a few roundings in f32, is below this times 1 + |x|. The
 * slope of GELU by tanh multiplies 1 - s, which has lost its last bits, by up to 20. */
static double error_of(int64_t operation, bool is_slope)
{
    if (!is_slope)
        return 4e-8;
    return operation == OP_GELU_TANH ? 3e-7 : 6e-8;
}

/* One result: rounded once to its type; the function's own error times what it is multiplied by. */
static void expect(struct zoo_expected *expected, size_t at, enum zoo_type type, double value,
                   double error, double x, double factor)
{
    const struct zoo_precision *of = &zoo_precisions[type];
    double inner = error * (1 + fmin(fabs(x), 16)) * fabs(factor);
    expected->value[at] = fabs(value) >= of->most ? copysign(INFINITY, value) : value;
    expected->bound[at] = (of->unit * 1.01 + 5 * 0x1p-24) * fabs(value) + inner + of->least;
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    enum zoo_type type = type_of(problem);
    bool gated = is_gated(problem), packed = is_packed(problem), backward = is_backward(problem);
    int64_t cols = problem->value[ACT_COLS], operation = problem->value[ACT_OP];
    unsigned dy_at = gated && !packed ? 2 : 1, out = dy_at + (backward ? 1 : 0);
    double of_value = error_of(operation, false), of_slope = error_of(operation, true);
#pragma omp parallel for schedule(static) if (elements(problem) > 100000)
    for (int64_t i = 0; i < (int64_t)elements(problem); i++) {
        size_t at = (size_t)i, wide = packed ? (size_t)(i / cols * 2 * cols + i % cols) : at;
        size_t wide_up = packed ? wide + (size_t)cols : at;
        double x = zoo_get(type, buffer[0], wide);
        double up = gated ? zoo_get(type, buffer[packed ? 0 : 1], wide_up) : 1;
        double dy = backward ? zoo_get(type, buffer[dy_at], at) : 1;
        if (!backward) {
            expect(&expected[out], at, type, value_of(operation, x) * up, of_value, x, up);
            continue;
        }
        expect(&expected[out], wide, type, dy * up * slope_of(operation, x), of_slope, x, dy * up);
        if (gated)
            expect(&expected[packed ? out : out + 1], wide_up, type, dy * value_of(operation, x),
                   of_value, x, dy);
    }
}

/* Arrays of this many elements that are read or written. */
static unsigned array_count(const struct zoo_problem *problem)
{
    if (is_gated(problem))
        return is_backward(problem) ? 5 : 3;
    return is_backward(problem) ? 3 : 2;
}

static double bytes(const struct zoo_problem *problem)
{
    return (double)elements(problem) * zoo_type_bytes[type_of(problem)] * array_count(problem);
}

/* As activations.h counts them, a fused multiply-add as two. */
static double flops(const struct zoo_problem *problem)
{
    static const double forward[] = {18, 10, 4, 19, 5}, backward[] = {26, 18, 9, 44, 14};
    int64_t operation = problem->value[ACT_OP];
    return (double)elements(problem) *
           (is_backward(problem) ? backward[operation] : forward[operation]);
}

/* Launches --------------------------------------------------------------------------------------*/

/* Arrays whose rows follow each other are one long row. */
static int64_t rows_of(const struct zoo_problem *problem)
{
    return is_packed(problem) ? problem->value[ACT_ROWS] : 1;
}
static int64_t cols_of(const struct zoo_problem *problem)
{
    return is_packed(problem) ? problem->value[ACT_COLS] : (int64_t)elements(problem);
}

static CUresult launch(struct zoo_call *call, int64_t blocks)
{
    const struct zoo_problem *problem = call->problem;
    bool gated = is_gated(problem), packed = is_packed(problem), backward = is_backward(problem);
    int64_t rows = rows_of(problem), cols = cols_of(problem), stride = packed ? 2 * cols : cols;
    size_t half = (size_t)cols * zoo_type_bytes[type_of(problem)];
    unsigned dy_at = gated && !packed ? 2 : 1, out_at = dy_at + (backward ? 1 : 0);
    CUdeviceptr x = call->buffer[0], up = packed ? x + half : gated ? call->buffer[1] : 0;
    CUdeviceptr dy = backward ? call->buffer[dy_at] : 0, out = call->buffer[out_at];
    CUdeviceptr out_up = !gated || !backward ? 0 : packed ? out + half : call->buffer[out_at + 1];
    char kernel[48];
    if (elements(problem) == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "%s_%s_%s", operations[problem->value[ACT_OP]],
             directions[problem->value[ACT_DIRECTION]], types[problem->value[ACT_TYPE]]);
    return ZOO_LAUNCH(
        call, kernel,
        ((struct zoo_grid){.x = (unsigned)blocks, .threads = (unsigned)zoo_tunable(call, "BLOCK")}),
        &x, &up, &dy, &out, &out_up, &rows, &cols, &stride);
}

static CUresult launch_naive(struct zoo_call *call)
{
    return launch(call, zoo_ceil_div((int64_t)elements(call->problem), zoo_tunable(call, "BLOCK")));
}

/* Elements of 16 bytes. */
static int64_t per_vector(const struct zoo_problem *problem)
{
    return 16 / zoo_type_bytes[type_of(problem)];
}

static CUresult launch_vectorised(struct zoo_call *call)
{
    int64_t most = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t wanted = zoo_ceil_div((int64_t)elements(call->problem),
                                  zoo_tunable(call, "BLOCK") * per_vector(call->problem));
    return launch(call, wanted < most ? wanted : most);
}

static CUresult launch_in_flight(struct zoo_call *call)
{
    int64_t tile = (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "UNROLL") *
                   per_vector(call->problem);
    return launch(call, rows_of(call->problem) * zoo_ceil_div(cols_of(call->problem), tile));
}

static const struct zoo_variant variants[] = {
    {"naive", "one thread for each element", launch_naive, .traits = ZOO_DETERMINISTIC},
    {"vectorised", "16 bytes of each array at a time, by a grid that walks over them",
     launch_vectorised, .traits = ZOO_DETERMINISTIC},
    {"in_flight", "a block for each tile, all loads of which come before its first store",
     launch_in_flight, .traits = ZOO_DETERMINISTIC},
    {0}};

/* The function, and its backward. */
#define TORCH_FUNCTION                                                                             \
    "{'gelu': torch.ops.aten.gelu, 'geglu': torch.ops.aten.gelu, 'silu': torch.ops.aten.silu, "    \
    "'swiglu': torch.ops.aten.silu, "                                                              \
    "'gelu_tanh': lambda v: torch.ops.aten.gelu(v, approximate='tanh')}[op]"
#define TORCH_BACKWARD                                                                             \
    "{'gelu': torch.ops.aten.gelu_backward, 'geglu': torch.ops.aten.gelu_backward, "               \
    "'silu': torch.ops.aten.silu_backward, 'swiglu': torch.ops.aten.silu_backward, "               \
    "'gelu_tanh': lambda d, v: torch.ops.aten.gelu_backward(d, v, approximate='tanh')}[op]"

/* Functions without a gate are single operations of PyTorch. Those with one are two, which
 * torch.compile makes one of: by themselves they round in between. */
static bool takes_plain(const struct zoo_problem *problem)
{
    return !is_gated(problem);
}
static bool takes_gated(const struct zoo_problem *problem)
{
    return is_gated(problem) && !is_packed(problem);
}

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     .call = TORCH_FUNCTION "(x[0]) if direction == 'forward' else " TORCH_BACKWARD "(x[1], x[0])",
     .takes = takes_plain},
    {"torch_compile", ZOO_PEER_PYTHON,
     .call = "compiled(lambda v, up: " TORCH_FUNCTION "(v) * up)(x[0], x[1]) "
             "if direction == 'forward' else compiled(lambda v, up, dy: (" TORCH_BACKWARD
             "(dy * up, v), dy * " TORCH_FUNCTION "(v)))(x[0], x[1], x[2])",
     .takes = takes_gated},
    {0}};

static const char *const edges[] = {
    "rows=1 cols=0,1,7,8,9,255,256,2049,4096 op=gelu,gelu_tanh,silu direction=forward,backward "
    "type=bf16",
    "rows=3 cols=1,8,33,100,5000 op=geglu,swiglu direction=forward,backward type=bf16,f32 "
    "layout=packed,apart",
    "rows=2 cols=1000 op=gelu,gelu_tanh,silu,geglu,swiglu direction=forward,backward type=f16,f32",
    "rows=220 cols=5000,5001 op=gelu,silu direction=forward type=bf16", /* asks for later tiles */
    "rows=0,5 cols=16 op=swiglu direction=forward,backward type=f16 layout=packed",
    "rows=1 cols=2048 op=gelu,gelu_tanh,silu,swiglu direction=forward type=bf16,f16,f32 "
    "dist=special,adversarial",
    "rows=1 cols=2048 op=gelu,gelu_tanh,silu direction=backward type=bf16,f32 "
    "dist=ascending,constant",
    NULL};

static const char *const bench[] = {
    "rows=16K cols=14336 op=swiglu,geglu,gelu,gelu_tanh,silu type=bf16 direction=forward,backward",
    "rows=16K cols=14336 op=swiglu type=bf16 direction=forward,backward layout=packed",
    "rows=16,256 cols=14336 op=swiglu type=bf16 direction=forward", NULL};

const struct zoo_family zoo_activation = {
    .name = "activation",
    .title = "GELU, SiLU, SwiGLU and GeGLU, forward and backward",
    .problem =
        "y = f(x), or y = f(x) * up with a gate, of rows x cols numbers; backward dx = dy * f'(x), "
        "with a gate dx = dy * up * f'(x) and dup = dy * f(x). f is GELU (exact, or by tanh) or "
        "SiLU. Packed, a row of x is followed by its row of up in one array.",
    .parameters = {{"rows", "rows", 0, (int64_t)1 << 31, 1024, NULL},
                   {"cols", "numbers in a row", 0, (int64_t)1 << 31, 1024, NULL},
                   {"op", "gelu, gelu_tanh, silu, geglu or swiglu", 0, 4, 0, operations},
                   {"direction", "forward or backward", 0, 1, 0, directions},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {"layout", "x and up apart, or packed row by row", 0, 1, 0, layouts},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "rows=256 cols=4096 op=swiglu type=bf16",
    ZOO_FAMILY_PARTS,
};
