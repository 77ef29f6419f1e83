/*
 * adamw.c: the family: a step of AdamW for many tensors at once, with parameters in f32, in bf16
 * beside a copy in f32, or in bf16 alone with stochastic rounding. 22 to 28 bytes a parameter and
 * few operations: the memory's limit.
 */
#include "adamw.h"

#include "zoo/philox.h"
#include "zoo/tensors.h"

#include <math.h>
#include <stdio.h>

static const char *const modes[] = {"f32", "master", "stochastic", NULL};
static const char *const scales[] = {"none", "given", NULL};
static const char *const places[] = {"aligned", "any", NULL};

static const struct adamw_rates normal_rates = {1e-3, 0.9, 0.999, 1e-8, 0.01, 0};
static const float given_scale = 0.37F;

/* The problem -----------------------------------------------------------------------------------*/

/* Which buffer is which; -1: there is none. */
struct places_of {
    int param, grad, mean, square, master, table, scale;
    unsigned count;
};
static struct places_of places_of(const struct zoo_problem *problem)
{
    struct places_of at = {0, 1, 2, 3, -1, 4, -1, 5};
    if (problem->value[ADAM_MODE] == ADAM_MASTER) {
        at.master = 4;
        at.table = 5;
        at.count = 6;
    }
    if (problem->value[ADAM_SCALE])
        at.scale = (int)at.count++;
    return at;
}

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    return problem->value[ADAM_MODE] == ADAM_F32 ? ZOO_F32 : ZOO_BF16;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    struct places_of at = places_of(problem);
    enum zoo_type type = type_of(problem);
    bool master = at.master >= 0;
    size_t n = (size_t)problem->value[ADAM_N];
    buffers[at.param] = (struct zoo_buffer){"param", master ? ZOO_OUT : ZOO_IN_OUT, type, n};
    buffers[at.grad] = (struct zoo_buffer){"grad", ZOO_IN, type, n};
    buffers[at.mean] = (struct zoo_buffer){"mean", ZOO_IN_OUT, ZOO_F32, n};
    buffers[at.square] = (struct zoo_buffer){"square", ZOO_IN_OUT, ZOO_F32, n};
    if (master)
        buffers[at.master] = (struct zoo_buffer){"master", ZOO_IN_OUT, ZOO_F32, n};
    buffers[at.table] = (struct zoo_buffer){
        "table", ZOO_IN, ZOO_I64, (size_t)problem->value[ADAM_TENSORS] * ZOO_TENSOR_WORDS};
    if (at.scale >= 0)
        buffers[at.scale] = (struct zoo_buffer){"scale", ZOO_IN, ZOO_F32, 1};
    return at.count;
}

static bool is_aligned(const struct zoo_problem *problem)
{
    return problem->value[ADAM_PLACES] == 0;
}

static int64_t make_table(const struct zoo_problem *problem, void *table)
{
    return zoo_tensor_table(problem->value[ADAM_N], problem->value[ADAM_TENSORS],
                            is_aligned(problem), zoo_type_bytes[type_of(problem)], table);
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct places_of at = places_of(problem);
    size_t n = (size_t)problem->value[ADAM_N];
    zoo_fill(problem, 1, type_of(problem), buffer[at.grad], n);
    zoo_fill(problem, 2, ZOO_F32, buffer[at.mean], n);
    zoo_fill(problem, 3, ZOO_F32, buffer[at.square], n);
    if (at.master >= 0)
        zoo_fill(problem, 0, ZOO_F32, buffer[at.master], n);
    else
        zoo_fill(problem, 0, type_of(problem), buffer[at.param], n);
    float *square = buffer[at.square];
    for (size_t i = 0; i < n; i++) /* a mean of squares */
        square[i] = fabsf(square[i]);
    make_table(problem, buffer[at.table]);
    if (at.scale >= 0)
        *(float *)buffer[at.scale] = given_scale;
}

static struct adamw_rates rates_of(const struct zoo_problem *problem)
{
    struct adamw_rates rates = normal_rates;
    rates.step = problem->value[ADAM_STEP];
    return rates;
}

struct adamw_numbers adamw_numbers_of(const struct adamw_rates *r)
{
    return (struct adamw_numbers){.keep = (float)(1 - r->rate * r->decay),
                                  .rest1 = (float)(1 - r->beta1),
                                  .rest2 = (float)(1 - r->beta2),
                                  .step = (float)(r->rate / (1 - pow(r->beta1, (double)r->step))),
                                  .root = (float)(1 / sqrt(1 - pow(r->beta2, (double)r->step))),
                                  .epsilon = (float)r->epsilon};
}

/* The step in f64, and how far f32 may be off: each of a few roundings, those of the rates among
 * them, is of the size of what was added. Of a parameter in bf16 half a unit more, or a whole one
 * if it is rounded at random. */
struct exact_step {
    double mean, square, param, mean_off, square_off, param_off;
};
static struct exact_step exact_step(const struct adamw_rates *r, double g, double m, double v,
                                    double p)
{
    const double u = 0x1p-24, t = (double)r->step, rest1 = 1 - r->beta1, rest2 = 1 - r->beta2;
    double step = r->rate / (1 - pow(r->beta1, t)), root = 1 / sqrt(1 - pow(r->beta2, t));
    struct exact_step e = {.mean = m + rest1 * (g - m), .square = v + rest2 * (g * g - v)};
    double divisor = sqrt(e.square) * root + r->epsilon, update = step * e.mean / divisor;
    e.param = p * (1 - r->rate * r->decay) - update;
    e.mean_off = u * (fabs(e.mean) + 5 * rest1 * (fabs(g) + fabs(m))) + 0x1p-148;
    e.square_off = u * (fabs(e.square) + 6 * rest2 * (g * g + fabs(v))) + 0x1p-148;
    double divisor_off =
        (e.square > 0 ? e.square_off / (2 * sqrt(e.square)) * root : 0) + 5 * u * divisor;
    e.param_off = step * e.mean_off / divisor + fabs(update) * divisor_off / divisor +
                  5 * u * fabs(update) + u * (3 * fabs(p) + fabs(e.param)) + 0x1p-148;
    return e;
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    struct places_of at = places_of(problem);
    enum zoo_type type = type_of(problem);
    const struct zoo_precision *of = &zoo_precisions[type];
    const struct adamw_rates rates = rates_of(problem);
    double scale = at.scale >= 0 ? (double)*(const float *)buffer[at.scale] : 1;
    double units = type == ZOO_F32 ? 0 : problem->value[ADAM_MODE] == ADAM_STOCHASTIC ? 2 : 1;
    const float *means = buffer[at.mean], *squares = buffer[at.square];
#pragma omp parallel for schedule(static) if (problem->value[ADAM_N] > 100000)
    for (int64_t i = 0; i < problem->value[ADAM_N]; i++) {
        double p = at.master >= 0 ? (double)((const float *)buffer[at.master])[i]
                                  : zoo_get(type, buffer[at.param], (size_t)i);
        double g = scale * zoo_get(type, buffer[at.grad], (size_t)i);
        struct exact_step e = exact_step(&rates, g, (double)means[i], (double)squares[i], p);
        expected[at.mean].value[i] = e.mean;
        expected[at.mean].bound[i] = e.mean_off;
        expected[at.square].value[i] = e.square;
        expected[at.square].bound[i] = e.square_off;
        if (at.master >= 0) {
            expected[at.master].value[i] = e.param;
            expected[at.master].bound[i] = e.param_off;
        }
        expected[at.param].value[i] = e.param;
        expected[at.param].bound[i] =
            e.param_off + units * (1.01 * of->unit * fabs(e.param) + of->least);
    }
}

static double bytes(const struct zoo_problem *problem)
{
    static const double each[] = {28, 28, 22};
    return each[problem->value[ADAM_MODE]] * (double)problem->value[ADAM_N];
}

static double flops(const struct zoo_problem *problem)
{
    return 14 * (double)problem->value[ADAM_N];
}

/* Launches --------------------------------------------------------------------------------------*/

CUresult adamw_run(struct zoo_call *call, const struct adamw_launch *launch)
{
    struct adamw_launch l = *launch;
    char kernel[24];
    if (l.blocks == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "adamw_%s", modes[l.mode]);
    return ZOO_LAUNCH(
        call, kernel,
        ((struct zoo_grid){.x = l.blocks, .threads = (unsigned)zoo_tunable(call, "BLOCK")}),
        &l.param, &l.grad, &l.mean, &l.square, &l.master, &l.table, &l.tensors, &l.from,
        &l.numbers.keep, &l.numbers.rest1, &l.numbers.rest2, &l.numbers.step, &l.numbers.root,
        &l.numbers.epsilon, &l.scale, &l.seed, &l.offset);
}

static struct adamw_launch launch_of(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct places_of at = places_of(problem);
    struct adamw_rates rates = rates_of(problem);
    return (struct adamw_launch){
        .param = call->buffer[at.param],
        .grad = call->buffer[at.grad],
        .mean = call->buffer[at.mean],
        .square = call->buffer[at.square],
        .master = at.master >= 0 ? call->buffer[at.master] : 0,
        .table = call->buffer[at.table],
        .scale = at.scale >= 0 ? call->buffer[at.scale] : 0,
        .tensors = (int)problem->value[ADAM_TENSORS],
        .mode = (int)problem->value[ADAM_MODE],
        .numbers = adamw_numbers_of(&rates),
        .seed = (int64_t)problem->seed,
        .offset = problem->value[ADAM_STEP],
    };
}

static CUresult launch_naive(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct adamw_launch launch = launch_of(call);
    CUresult status = CUDA_SUCCESS;
    for (int64_t t = 0; t < problem->value[ADAM_TENSORS] && status == CUDA_SUCCESS; t++) {
        int64_t n = problem->value[ADAM_N], tensors = problem->value[ADAM_TENSORS];
        int64_t count = zoo_tensor_begin(n, tensors, t + 1, is_aligned(problem)) -
                        zoo_tensor_begin(n, tensors, t, is_aligned(problem));
        launch.from = (int)t;
        launch.blocks = zoo_ceil_div(count, zoo_tunable(call, "BLOCK"));
        status = adamw_run(call, &launch);
    }
    return status;
}

static CUresult launch_all(struct zoo_call *call)
{
    struct adamw_launch launch = launch_of(call);
    launch.blocks = (unsigned)make_table(call->problem, NULL);
    return adamw_run(call, &launch);
}

static const struct zoo_variant variants[] = {
    {"naive", "a launch for each tensor, a thread for each parameter", launch_naive,
     .traits = ZOO_DETERMINISTIC},
    {"multi_tensor", "one launch: a block finds its tensor by its number", launch_all,
     .traits = ZOO_DETERMINISTIC},
    {"vectorised", "four parameters at a time, all loads before the first store", launch_all,
     .traits = ZOO_DETERMINISTIC},
    {0}};

/* PyTorch's own fused step. Late steps: it computes 1 - beta^step in f32, which is far off for
 * early ones. */
static bool peer_takes(const struct zoo_problem *problem)
{
    return problem->value[ADAM_MODE] == ADAM_F32 && problem->value[ADAM_TENSORS] == 1 &&
           !problem->value[ADAM_SCALE];
}

static const struct zoo_peer peers[] = {
    {"torch_fused", ZOO_PEER_PYTHON,
     .call = "torch._fused_adamw_([x[0]], [x[1]], [x[2]], [x[3]], [], "
             "[torch.full((), float(step), device='cuda')], lr=1e-3, beta1=0.9, beta2=0.999, "
             "weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False) or (x[0], x[2], x[3])",
     .takes = peer_takes},
    {0}};

static const char *const edges[] = {
    "n=0,1,3,4,5,2047,2048,2049,9000 tensors=1 mode=f32,master,stochastic step=1",
    "n=700000 tensors=1 mode=master step=1", /* a later unit to ask for */
    "n=20000 tensors=2,7,33,40 mode=f32,master,stochastic places=aligned,any step=3",
    "n=100 tensors=100 mode=master places=any step=1000",
    "n=9000 tensors=5 mode=f32,master,stochastic scale=given step=10",
    "n=5000 tensors=3 mode=f32,master,stochastic dist=constant,ascending,adversarial step=2",
    NULL};

static const char *const bench[] = {"n=64M tensors=1 mode=f32,master,stochastic step=1M",
                                    "n=64M tensors=300 mode=master step=1M",
                                    "n=1M tensors=1,300 mode=f32 step=1M", NULL};

const struct zoo_family zoo_adamw = {
    .name = "adamw",
    .title = "AdamW for many tensors in one launch",
    .problem = "With g = scale * grad: mean += (1 - 0.9) (g - mean); square += (1 - 0.999) (g^2 - "
               "square); "
               "param = param (1 - 1e-5) - 1e-3 / (1 - 0.9^step) mean / (sqrt(square / (1 - "
               "0.999^step)) + "
               "1e-8). Tensors lie one after the other; a table has where. Parameters are f32, "
               "bf16 beside "
               "a master copy in f32, or bf16 with stochastic rounding.",
    .parameters = {{"n", "parameters, in all tensors", 0, (int64_t)1 << 38, 1 << 20, NULL},
                   {"tensors", "tensors", 1, 1 << 20, 1, NULL},
                   {"mode", "f32, master or stochastic", 0, 2, 0, modes},
                   {"step", "number of the step", 1, 1 << 30, 1, NULL, true},
                   {"scale", "of gradients: none, or a number in device memory", 0, 1, 0, scales},
                   {"places", "tensors at multiples of 64 elements, or anywhere", 0, 1, 0, places},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "n=256K tensors=8 mode=master",
    ZOO_FAMILY_PARTS,
};
