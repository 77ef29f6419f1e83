/*
 * mlp.c: the family: the two products of a transformer's MLP with what stands between them, forward
 * and backward. The products are gemm_fused's kernels; what the variants differ in is how often the
 * hidden layer goes to memory and back between them.
 */
#include "mlp.h"

#include "../../gemm_fused/host/plan.h"

#include <math.h>

static const char *const functions[] = {"gelu", "gelu_tanh", "silu", NULL};
static const char *const gates[] = {"none", "halves", "pairs", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const orders[] = {"rows", "columns", NULL};
static const char *const directions[] = {"forward", "backward", NULL};
static const char *const types[] = {"bf16", "f16", "f32", NULL};

struct mlp_shape mlp_shape_of(const struct zoo_problem *problem)
{
    static const enum zoo_type of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    const int64_t *v = problem->value;
    struct mlp_shape s = {.tokens = v[MLP_TOKENS],
                          .dim = v[MLP_DIM],
                          .hidden = v[MLP_HIDDEN],
                          .wide = v[MLP_GATE] ? 2 * v[MLP_HIDDEN] : v[MLP_HIDDEN],
                          .function = (int)v[MLP_FUNCTION],
                          .gate = (int)v[MLP_GATE],
                          .bias = v[MLP_BIAS],
                          .by_columns = v[MLP_ORDER] == MLP_BY_COLUMNS,
                          .backward = v[MLP_DIRECTION] == MLP_BACKWARD,
                          .keep = v[MLP_KEEP],
                          .type = of[v[MLP_TYPE]]};
    return s;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    struct mlp_shape s = mlp_shape_of(problem);
    size_t outer = (size_t)(s.tokens * s.dim), inner = (size_t)(s.tokens * s.wide);
    size_t w1 = (size_t)(s.dim * s.wide), w2 = (size_t)(s.hidden * s.dim);
    size_t b1 = s.bias ? (size_t)s.wide : 0, b2 = s.bias ? (size_t)s.dim : 0;
    buffers[MLP_X] = (struct zoo_buffer){"x", ZOO_IN, s.type, outer};
    buffers[MLP_W1] = (struct zoo_buffer){"w1", ZOO_IN, s.type, w1};
    buffers[MLP_W2] = (struct zoo_buffer){"w2", ZOO_IN, s.type, w2};
    if (!s.backward) {
        buffers[MLP_B1] = (struct zoo_buffer){"b1", ZOO_IN, s.type, b1};
        buffers[MLP_B2] = (struct zoo_buffer){"b2", ZOO_IN, s.type, b2};
        buffers[MLP_Y] = (struct zoo_buffer){"y", ZOO_OUT, s.type, outer};
        buffers[MLP_PRE] = (struct zoo_buffer){"pre", ZOO_OUT, s.type, inner};
        return s.keep ? 7 : 6;
    }
    buffers[MLP_BACK_PRE] = (struct zoo_buffer){"pre", ZOO_IN, s.type, inner};
    buffers[MLP_DY] = (struct zoo_buffer){"dy", ZOO_IN, s.type, outer};
    buffers[MLP_DX] = (struct zoo_buffer){"dx", ZOO_OUT, s.type, outer};
    buffers[MLP_DW1] = (struct zoo_buffer){"dw1", ZOO_OUT, s.type, w1};
    buffers[MLP_DW2] = (struct zoo_buffer){"dw2", ZOO_OUT, s.type, w2};
    buffers[MLP_DB1] = (struct zoo_buffer){"db1", ZOO_OUT, s.type, b1};
    buffers[MLP_DB2] = (struct zoo_buffer){"db2", ZOO_OUT, s.type, b2};
    return 10;
}

/* Weights are divided by the root of what they add up, as a network's are: activations then bend,
 * and nothing overflows. */
static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct mlp_shape s = mlp_shape_of(problem);
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    for (unsigned i = 0; i < count; i++) {
        double factor = i == MLP_W1   ? 3 / sqrt((double)s.dim + 1)
                        : i == MLP_W2 ? 2 / sqrt((double)s.hidden + 1)
                                      : 2;
        if (buffers[i].role != ZOO_IN)
            continue;
        zoo_fill(problem, i, buffers[i].type, buffer[i], buffers[i].count);
        for (size_t k = 0; problem->distribution == ZOO_UNIFORM && k < buffers[i].count; k++)
            zoo_put(s.type, buffer[i], k, factor * zoo_get(s.type, buffer[i], k));
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
    struct mlp_shape s = mlp_shape_of(problem);
    double once = 2.0 * (double)s.tokens * (double)s.dim * (double)(s.wide + s.hidden);
    return s.backward ? 2 * once : once;
}

static const char *unit(const struct zoo_problem *problem)
{
    static const char *const units[] = {"tensor-bf16", "tensor-f16", "f32"};
    return units[problem->value[MLP_TYPE]];
}

static const struct zoo_variant variants[] = {
    {"separate", "product, bias, activation, product, bias: a kernel each", mlp_launch_separate,
     mlp_workspace_separate, .traits = ZOO_DETERMINISTIC, .borrows = &zoo_gemm_fused},
    {"one_pass", "one kernel between the products: bias, activation, gate; slopes and sums",
     mlp_launch_one_pass, mlp_workspace_one_pass, .traits = ZOO_DETERMINISTIC,
     .borrows = &zoo_gemm_fused},
    {"chained", "the products add biases and activate on their way out", mlp_launch_chained,
     mlp_workspace_chained, .traits = ZOO_DETERMINISTIC, .borrows = &zoo_gemm_fused},
    {0}};

/* PyTorch ---------------------------------------------------------------------------------------*/

/* python/peer_torch.py has the functions. */
#define TORCH_INPUTS "mlp_inputs(x, tokens, dim, hidden, gate, bias, order)"

static bool is_for_torch(const struct zoo_problem *problem)
{
    return problem->value[MLP_DIRECTION] == MLP_FORWARD && !problem->value[MLP_KEEP];
}
/* A problem has one peer of PyTorch: by rows its own kernels, else what torch.compile makes. */
static bool takes_eager(const struct zoo_problem *problem)
{
    return is_for_torch(problem) && problem->value[MLP_ORDER] == MLP_BY_ROWS;
}
static bool takes_compiled(const struct zoo_problem *problem)
{
    return is_for_torch(problem) && problem->value[MLP_ORDER] == MLP_BY_COLUMNS;
}

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON, .call = "mlp(*" TORCH_INPUTS ", function, gate)",
     .takes = takes_eager, .leeway = 2},
    {"torch_compile", ZOO_PEER_PYTHON,
     .call = "compiled(lambda *inputs: mlp(*inputs, function, gate))(*" TORCH_INPUTS ")",
     .takes = takes_compiled, .leeway = 2},
    {0}};

/* Problems --------------------------------------------------------------------------------------*/

static const char *const edges[] = {
    "tokens=0,1,5 dim=0,1,8 hidden=0,1,24 bias=yes direction=forward,backward",
    "tokens=3 dim=17 hidden=9 function=gelu,gelu_tanh,silu gate=none,halves,pairs bias=no,yes "
    "direction=forward,backward type=f32 order=rows,columns",
    "tokens=9 dim=24 hidden=40 function=gelu,gelu_tanh,silu gate=none,halves,pairs keep=no,yes "
    "bias=no,yes type=f32",
    "tokens=70 dim=72 hidden=136 function=gelu,silu gate=none,halves,pairs bias=no,yes "
    "type=bf16,f16 order=rows,columns keep=no,yes",
    "tokens=72 dim=64 hidden=136 function=gelu_tanh,silu gate=none,halves,pairs bias=no,yes "
    "type=bf16,f16 order=rows,columns direction=backward",
    "tokens=130 dim=200 hidden=264 gate=pairs function=silu type=bf16 direction=forward,backward",
    "tokens=1,17 dim=136 hidden=520 gate=pairs function=silu type=bf16,f16 bias=no,yes",
    "tokens=33 dim=35 hidden=37 gate=none,halves,pairs type=bf16,f16 direction=forward,backward "
    "bias=yes",
    "tokens=16 dim=64 hidden=64 dist=constant,ascending type=f32,bf16 bias=yes",
    NULL};

static const char *const bench[] = {
    "tokens=4K dim=2K hidden=8K function=gelu bias=yes order=rows,columns",
    "tokens=4K dim=2K hidden=5632 function=silu gate=pairs order=rows,columns",
    "tokens=4K dim=2K hidden=5632 function=silu gate=halves",
    "tokens=4K dim=2K hidden=8K function=gelu bias=yes direction=backward",
    "tokens=4K dim=2K hidden=5632 function=silu gate=pairs direction=backward",
    "tokens=16 dim=4K hidden=14336 function=silu gate=pairs order=rows,columns",
    NULL};

const struct zoo_family zoo_mlp = {
    .name = "mlp",
    .title = "a transformer's MLP: two products and what stands between them",
    .problem =
        "y = f(x w1 + b1) w2 + b2, or with a gate y = (f(g) * u) w2 + b2, where g and u are the "
        "two "
        "halves of x w1 + b1, or its even and odd columns. Backward dx, dw1, dw2 and the biases' "
        "gradients from dy and pre = x w1 + b1. x is tokens x dim, w1 is dim x hidden (with a gate "
        "2 hidden), w2 is hidden x dim; sums are in f32.",
    .parameters = {{"tokens", "rows of x and y", 0, 1 << 24, 512, NULL},
                   {"dim", "columns of x and y", 0, 1 << 20, 512, NULL},
                   {"hidden", "numbers of the layer between the products", 0, 1 << 20, 1024, NULL},
                   {"function", "gelu, gelu_tanh or silu", 0, 2, 0, functions},
                   {"gate", "none; or gates and factors in halves of w1, or in pairs of columns", 0,
                    2, 0, gates},
                   {"bias", "are there b1 and b2?", 0, 1, 0, no_yes},
                   {"order", "of w1 and w2: in x out by rows or by columns", 0, 1, 0, orders},
                   {"direction", "forward or backward", 0, 1, 0, directions},
                   {"keep", "does forward also write pre, for backward?", 0, 1, 0, no_yes},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {0}},
    .distributions = zoo_distributions,
    .edges = edges,
    .bench = bench,
    .profile = "tokens=512 dim=256 hidden=512 bias=yes direction=forward,backward",
    .shape = shape,
    .generate = generate,
    .reference = mlp_reference,
    .bytes = bytes,
    .flops = flops,
    .unit = unit,
    .variants = variants,
    .peers = peers,
};
