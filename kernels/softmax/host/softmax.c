/*
 * softmax.c: the family: softmax, log-softmax and log-sum-exp of rows, and the gradient. The steps
 * are written for plain rows of bf16, from the formula as it stands to a row over a cluster; the
 * generic variants do the rest: other types, operations and masks. reference.c has what must come
 * out, launch.c how the kernels are launched.
 */
#include "softmax.h"

#include <math.h>

static const enum zoo_type types[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
static const char *const type_names[] = {"bf16", "f16", "f32", NULL};
static const char *const operations[] = {"softmax", "log_softmax", "log_sum_exp", NULL};
static const char *const steps[] = {"forward", "backward", NULL};
static const char *const masks[] = {
    "none",     "causal",          "padding",          "causal_padding",
    "additive", "causal_additive", "padding_additive", "all",
    NULL};
static const char *const distributions[] = {"uniform", "large",   "one_huge", "minus_infinity",
                                            "tiny",    "special", NULL};

enum zoo_type softmax_type(const struct zoo_problem *problem)
{
    return types[problem->value[SM_TYPE]];
}

int64_t softmax_visible(const struct zoo_problem *problem, const int32_t *lengths, int64_t row)
{
    int64_t cols = problem->value[SM_COLS], group = problem->value[SM_GROUP], end = cols;
    if (problem->value[SM_MASK] & MASK_CAUSAL)
        end = cols - group + row % group + 1;
    if (problem->value[SM_MASK] & MASK_PADDING && lengths[row / group] < end)
        end = lengths[row / group];
    return end < 0 ? 0 : end < cols ? end : cols;
}

static size_t elements(int64_t rows, int64_t cols)
{
    int64_t count;
    if (__builtin_mul_overflow(rows, cols, &count) || count > (int64_t)1 << 48)
        count = (int64_t)1 << 48;
    return (size_t)count;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    const int64_t *v = problem->value;
    size_t all = elements(v[SM_ROWS], v[SM_COLS]);
    int64_t groups = (v[SM_ROWS] + v[SM_GROUP] - 1) / v[SM_GROUP];
    enum zoo_type type = softmax_type(problem);
    bool back = v[SM_STEP] == STEP_BACKWARD, sums = !back && v[SM_OP] == OP_LOG_SUM_EXP;
    size_t biases = v[SM_MASK] & MASK_ADDITIVE ? elements(v[SM_GROUP], v[SM_COLS]) : 0;
    buffers[SM_IN] = (struct zoo_buffer){back ? "y" : "in", ZOO_IN, type, all};
    buffers[SM_SECOND] =
        (struct zoo_buffer){back ? "dy" : "bias", ZOO_IN, type, back ? all : biases};
    buffers[SM_LENGTHS] = (struct zoo_buffer){"lengths", ZOO_IN, ZOO_I32,
                                              v[SM_MASK] & MASK_PADDING ? (size_t)groups : 0};
    buffers[SM_OUT] = (struct zoo_buffer){back ? "dx" : "out", ZOO_OUT, sums ? ZOO_F32 : type,
                                          sums ? (size_t)v[SM_ROWS] : all};
    return SM_BUFFERS;
}

/* Columns that all rows see together; lengths are even from 0 to all columns. In the order of
 * export.inc, so that both give the same number. */
static double seen(const struct zoo_problem *problem, double each)
{
    double rows = (double)problem->value[SM_ROWS], cols = (double)problem->value[SM_COLS];
    double group = (double)problem->value[SM_GROUP], columns = 2 * cols, parts = 2;
    if (problem->value[SM_MASK] & MASK_CAUSAL) {
        columns = group > cols ? cols * (cols + 1) : 2 * cols - group + 1;
        parts = group > cols ? 2 * group : 2;
    }
    if (problem->value[SM_MASK] & MASK_PADDING)
        parts *= 2;
    return each * rows * columns / parts;
}

static double bytes(const struct zoo_problem *problem)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    shape(problem, buffers);
    unsigned inputs = problem->value[SM_STEP] == STEP_BACKWARD ? 2 : 1;
    double sum = seen(problem, inputs) * zoo_type_bytes[softmax_type(problem)];
    if (inputs == 1)
        sum += (double)zoo_buffer_bytes(&buffers[SM_SECOND]);
    return sum + (double)zoo_buffer_bytes(&buffers[SM_LENGTHS]) +
           (double)zoo_buffer_bytes(&buffers[SM_OUT]);
}

/* A subtraction, two products, a power and an addition; of the gradient a few less. */
static double flops(const struct zoo_problem *problem)
{
    return seen(problem, 5);
}

/* Variants --------------------------------------------------------------------------------------*/

static bool is_plain(const struct zoo_problem *problem)
{
    return softmax_type(problem) == ZOO_BF16 && problem->value[SM_OP] == OP_SOFTMAX &&
           problem->value[SM_STEP] == STEP_FORWARD && problem->value[SM_MASK] == 0;
}

/* exp(x) of what is not small overflows. */
static bool takes_naive(const struct zoo_problem *problem)
{
    return is_plain(problem) &&
           (problem->distribution == SOFTMAX_UNIFORM || problem->distribution == SOFTMAX_TINY);
}

static bool is_plain_vectors(const struct zoo_problem *problem)
{
    return is_plain(problem) && problem->value[SM_COLS] % 8 == 0;
}

static bool is_forward(const struct zoo_problem *problem)
{
    return problem->value[SM_STEP] == STEP_FORWARD;
}

static bool is_backward(const struct zoo_problem *problem)
{
    return !is_forward(problem) && problem->value[SM_OP] != OP_LOG_SUM_EXP;
}

/* In bytes of a row: above, the blocks of a cluster are better than one. */
static bool is_longer(const struct zoo_problem *problem, int64_t bytes)
{
    return problem->value[SM_COLS] * zoo_type_bytes[softmax_type(problem)] > bytes;
}

static bool is_long_forward(const struct zoo_problem *problem)
{
    return is_forward(problem) && is_longer(problem, 128 << 10);
}

static bool is_long_backward(const struct zoo_problem *problem)
{
    return is_backward(problem) && is_longer(problem, 32 << 10);
}

static const struct zoo_variant variants[] = {
    {"naive", "the formula as it stands: overflows above 88", softmax_launch_simple,
     .takes = takes_naive, .traits = ZOO_DETERMINISTIC | ZOO_FOR_SHOW},
    {"stable", "less the largest number: three reads of the row", softmax_launch_simple,
     .takes = is_plain, .traits = ZOO_DETERMINISTIC},
    {"online", "the largest number and the sum in one pass: two reads", softmax_launch_simple,
     .takes = is_plain, .traits = ZOO_DETERMINISTIC},
    {"registers", "16-byte loads, the row stays in registers: one read", softmax_launch_registers,
     .takes = is_plain_vectors, .fits = softmax_fits_registers,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"shared", "bulk copies fetch the next rows into shared memory meanwhile",
     softmax_launch_shared, .takes = is_plain_vectors, .fits = softmax_fits_shared,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"cluster", "a row over the blocks of a cluster, with distributed shared memory",
     softmax_launch_cluster, .takes = is_plain_vectors, .fits = softmax_fits_cluster,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"generic", "registers for every type, operation and mask", softmax_launch_generic,
     .takes = is_forward, .traits = ZOO_DETERMINISTIC},
    {"generic_cluster", "cluster for every type, operation and mask",
     softmax_launch_generic_cluster, .takes = is_long_forward, .fits = softmax_fits_generic_cluster,
     .traits = ZOO_DETERMINISTIC},
    {"backward", "the gradient, with two rows in registers", softmax_launch_generic,
     .takes = is_backward, .traits = ZOO_DETERMINISTIC},
    {"backward_cluster", "the gradient, with two rows over a cluster",
     softmax_launch_generic_cluster, .takes = is_long_backward,
     .fits = softmax_fits_generic_cluster, .traits = ZOO_DETERMINISTIC},
    {0}};

/* Its log-sum-exp has the type of the input, and its gradient rounds twice: both miss the bounds.
 */
static bool torch_takes(const struct zoo_problem *problem)
{
    return is_forward(problem) && problem->value[SM_MASK] == 0 &&
           problem->value[SM_OP] != OP_LOG_SUM_EXP && zoo_as_float(problem->value[SM_SCALE]) == 1 &&
           problem->value[SM_ROWS] > 0 && problem->value[SM_COLS] > 0;
}

static const struct zoo_peer peers[] = {{"torch", ZOO_PEER_PYTHON,
                                         "getattr(torch, op)(x[0].view(rows, cols), 1)",
                                         .takes = torch_takes},
                                        {0}};

static const char *const edges[] = {
    "rows=0,1,3 cols=0,1,2,7,8,9,31,32,33,64",
    "rows=37 cols=1,5,8,40,100,128,256,257 type=bf16,f16,f32 op=softmax,log_softmax,log_sum_exp",
    "rows=5 cols=264,1000,1024,1032,2047,2048,4104 type=bf16,f32",
    "rows=2 cols=8200,16384,16392 type=bf16,f32 op=softmax,log_sum_exp",
    "rows=2 cols=33000,65544 type=bf16,f16,f32 op=softmax,log_softmax",
    "rows=1 cols=300001,600000 type=bf16,f32",
    "rows=140 cols=16392", /* a later row to ask for */
    "rows=35 cols=65544 step=forward,backward",
    "rows=9 cols=72,1100 dist=large,one_huge,tiny type=bf16,f16,f32 op=softmax,log_softmax",
    "rows=9 cols=72,1100 dist=minus_infinity,special type=bf16,f16,f32 op=softmax,log_softmax",
    "rows=9 cols=72,1100 dist=large,one_huge,minus_infinity,tiny,special type=bf16 op=log_sum_exp",
    "rows=3 cols=17000,70000 dist=minus_infinity,special,one_huge op=softmax,log_sum_exp",
    "rows=21 cols=1,13,72,600 mask=causal,padding,causal_padding group=1,5,40",
    "rows=21 cols=1,13,72,600 mask=additive,causal_additive,padding_additive,all group=1,5,40",
    "rows=6 cols=72,2100 mask=all group=4 type=f16,f32 op=log_softmax,log_sum_exp scale=0.125",
    "rows=3 cols=17000,70001 mask=causal,all group=3",
    "rows=3 cols=40000 mask=additive group=2 type=f16,f32 scale=3 op=softmax,log_softmax",
    "rows=4 cols=33,520,1024 scale=0.125,2.5",
    "rows=0,1,3 cols=0,1,2,8,9,64 step=backward",
    "rows=11 cols=1,8,100,256,257,600 step=backward type=bf16,f16,f32 op=softmax,log_softmax",
    "rows=2 cols=4104,16384,16392,40001 step=backward type=bf16,f32 op=softmax,log_softmax",
    "rows=1 cols=300001 step=backward",
    "rows=9 cols=40,2056 step=backward dist=large,one_huge,minus_infinity op=softmax,log_softmax",
    "rows=9 cols=40,2056 step=backward mask=causal,padding group=4 op=softmax,log_softmax scale=2",
    "rows=9 cols=40,17000 step=backward mask=causal_padding group=4 op=softmax,log_softmax",
    NULL};

static const char *const bench[] = {"rows=32K cols=4K",
                                    "rows=16K cols=16K",
                                    "rows=4K cols=128K",
                                    "rows=32K cols=4K step=backward",
                                    "rows=16K cols=16K step=backward",
                                    "rows=4K cols=128K step=backward",
                                    "rows=16K cols=4K type=f32",
                                    "rows=1M cols=128",
                                    "rows=256 cols=1M",
                                    "rows=16K cols=16001",
                                    "rows=16K cols=16K op=log_softmax,log_sum_exp",
                                    "rows=16K cols=16K mask=causal,additive group=16K scale=0.125",
                                    NULL};

const struct zoo_family zoo_softmax = {
    .name = "softmax",
    .title = "probabilities of a row's numbers",
    .problem =
        "out = exp(s x) over the sum of exp(s x) along each row, its logarithm, or the logarithm "
        "of "
        "the sum; or the gradient dx of the first two. Sums are in f32. Masks: causal, by lengths, "
        "and added; what a row does not see has probability 0.",
    .parameters = {{"rows", "rows", 0, 1 << 27, 1024, NULL},
                   {"cols", "numbers in a row", 0, 1 << 30, 1024, NULL},
                   {"type", "of the numbers", 0, 2, 0, type_names},
                   {"op", "softmax, log_softmax or log_sum_exp", 0, 2, 0, operations},
                   {"step", "forward or backward", 0, 1, 0, steps},
                   {"mask", "what a row does not see", 0, 7, 0, masks},
                   {"group", "rows that share a length; the bias and the causal mask repeat", 1,
                    1 << 27, 1, NULL},
                   {"scale", "of the numbers: 1 / temperature", 1, 1 << 20, 1, NULL, true},
                   {0}},
    .distributions = distributions,
    .edges = edges,
    .bench = bench,
    .profile = "rows=256 cols=4K",
    .shape = shape,
    .generate = softmax_generate,
    .reference = softmax_reference,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
