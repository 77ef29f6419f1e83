/*
 * global_norm.c: the family: the norm of all gradients together, what they must be multiplied by so
 * that it is at most `most`, and with op=clip the product, in place.
 */
#include "global_norm.h"

#include "zoo/tensors.h"

#include <math.h>

enum { N, TENSORS, TYPE, OP, MOST, PLACES };
enum { GRAD, TABLE, NORM };

static const char *const types[] = {"f32", "bf16", NULL};
static const char *const ops[] = {"norm", "clip", NULL};
static const char *const places[] = {"aligned", "any", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    return problem->value[TYPE] == NORM_F32 ? ZOO_F32 : ZOO_BF16;
}

static bool clips(const struct zoo_problem *problem)
{
    return problem->value[OP] == 1;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    buffers[GRAD] = (struct zoo_buffer){"grad", clips(problem) ? ZOO_IN_OUT : ZOO_IN,
                                        type_of(problem), (size_t)problem->value[N]};
    buffers[TABLE] = (struct zoo_buffer){"table", ZOO_IN, ZOO_I64,
                                         (size_t)problem->value[TENSORS] * ZOO_TENSOR_WORDS};
    buffers[NORM] = (struct zoo_buffer){"norm", ZOO_OUT, ZOO_F32, 2};
    return 3;
}

static int64_t make_table(const struct zoo_problem *problem, void *table)
{
    return zoo_tensor_table(problem->value[N], problem->value[TENSORS], problem->value[PLACES] == 0,
                            zoo_type_bytes[type_of(problem)], table);
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    zoo_fill(problem, 0, type_of(problem), buffer[GRAD], (size_t)problem->value[N]);
    make_table(problem, buffer[TABLE]);
}

/* Eight squares are added in f32, everything else in f64. */
static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    enum zoo_type type = type_of(problem);
    const struct zoo_precision *of = &zoo_precisions[type];
    int64_t n = problem->value[N];
    double sum = 0, u = 0x1p-24;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (n > 100000)
    for (int64_t i = 0; i < n; i++) {
        double x = zoo_get(type, buffer[GRAD], (size_t)i);
        sum += x * x;
    }
    double norm = sqrt(sum), factor = (double)zoo_as_float(problem->value[MOST]) / (norm + 1e-6);
    factor = factor > 1 ? 1 : factor;
    expected[NORM].value[0] = norm;
    expected[NORM].bound[0] = 6 * u * norm;
    expected[NORM].value[1] = factor;
    expected[NORM].bound[1] = 9 * u * factor;
    if (!clips(problem))
        return;
#pragma omp parallel for schedule(static) if (n > 100000)
    for (int64_t i = 0; i < n; i++) {
        double x = factor * zoo_get(type, buffer[GRAD], (size_t)i);
        expected[GRAD].value[i] = x;
        expected[GRAD].bound[i] =
            10 * u * fabs(x) + (type == ZOO_F32 ? 0 : 1.01 * of->unit * fabs(x)) + of->least;
    }
}

static double bytes(const struct zoo_problem *problem)
{
    double once = (double)problem->value[N] * zoo_type_bytes[type_of(problem)];
    return clips(problem) ? 3 * once : once;
}

static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[N] * (clips(problem) ? 3 : 2);
}

/* Launches --------------------------------------------------------------------------------------*/

CUresult global_norm_run(struct zoo_call *call, const struct norm_launch *launch, unsigned blocks)
{
    struct norm_launch l = *launch;
    int parts = (int)blocks;
    CUresult status = CUDA_SUCCESS;
    if (blocks > 0)
        status = ZOO_LAUNCH(call, l.type == NORM_F32 ? "squares_f32" : "squares_bf16",
                            ((struct zoo_grid){.x = blocks, .threads = 256}), &l.grad, &l.table,
                            &l.tensors, &l.units, &l.workspace);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, "finish", ((struct zoo_grid){.x = 1, .threads = 256}), &l.workspace,
                      &parts, &l.most, &l.norm);
}

CUresult global_norm_clip(struct zoo_call *call, const struct norm_launch *launch)
{
    struct norm_launch l = *launch;
    if (l.units == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, l.type == NORM_F32 ? "clip_f32" : "clip_bf16",
                      ((struct zoo_grid){.x = (unsigned)l.units, .threads = 256}), &l.grad,
                      &l.table, &l.tensors, &l.norm);
}

static struct norm_launch launch_of(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    return (struct norm_launch){.grad = call->buffer[GRAD],
                                .table = call->buffer[TABLE],
                                .norm = call->buffer[NORM],
                                .workspace = call->workspace,
                                .tensors = (int)problem->value[TENSORS],
                                .type = (int)problem->value[TYPE],
                                .units = make_table(problem, NULL),
                                .most = zoo_as_float(problem->value[MOST])};
}

static unsigned blocks_for(const struct zoo_device *device, int64_t units, int blocks_per_sm)
{
    int64_t most = (int64_t)device->sm_count * blocks_per_sm;
    return (unsigned)(units < most ? units : most);
}

size_t global_norm_workspace(const struct zoo_device *device, int64_t units, int blocks_per_sm)
{
    return ((size_t)blocks_for(device, units, blocks_per_sm) + 1) * sizeof(double);
}

static size_t workspace_atomics(const struct zoo_call *call)
{
    (void)call;
    return sizeof(double);
}

static size_t workspace_two_stage(const struct zoo_call *call)
{
    return global_norm_workspace(call->device, make_table(call->problem, NULL),
                                 zoo_tunable(call, "BLOCKS_PER_SM"));
}

static CUresult launch_atomics(struct zoo_call *call)
{
    struct norm_launch launch = launch_of(call);
    CUresult status = zoo_clear(call, call->workspace, sizeof(double));
    if (status == CUDA_SUCCESS)
        status = global_norm_run(call, &launch, (unsigned)launch.units);
    if (status == CUDA_SUCCESS && clips(call->problem))
        status = global_norm_clip(call, &launch);
    return status;
}

static CUresult launch_two_stage(struct zoo_call *call)
{
    struct norm_launch launch = launch_of(call);
    unsigned blocks = blocks_for(call->device, launch.units, zoo_tunable(call, "BLOCKS_PER_SM"));
    CUresult status = global_norm_run(call, &launch, blocks);
    if (status == CUDA_SUCCESS && clips(call->problem))
        status = global_norm_clip(call, &launch);
    return status;
}

/* Fewer blocks, so that each has some units. The workspace for more is large enough. */
static CUresult launch_neighbours(struct zoo_call *call)
{
    struct norm_launch launch = launch_of(call);
    int64_t groups = zoo_ceil_div(launch.units, zoo_tunable(call, "UNITS"));
    unsigned blocks = blocks_for(call->device, groups, zoo_tunable(call, "BLOCKS_PER_SM"));
    CUresult status = global_norm_run(call, &launch, blocks);
    if (status == CUDA_SUCCESS && clips(call->problem))
        status = global_norm_clip(call, &launch);
    return status;
}

static const struct zoo_variant variants[] = {
    {"global_atomics", "every warp adds its sum to one number", launch_atomics, workspace_atomics},
    {"two_stage", "blocks store their sums, which one block adds in a fixed order",
     launch_two_stage, workspace_two_stage, .traits = ZOO_DETERMINISTIC},
    {"neighbours", "each block takes neighbouring units, and searches once", launch_neighbours,
     workspace_two_stage, .traits = ZOO_DETERMINISTIC},
    {0}};

static bool peer_takes(const struct zoo_problem *problem)
{
    return !clips(problem);
}

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     .call = "(lambda s: torch.stack((s, torch.clamp(most / (s + 1e-6), max=1))))"
             "(torch.linalg.vector_norm(x[0], dtype=torch.float32))",
     .takes = peer_takes},
    {0}};

static const char *const edges[] = {
    "n=0,1,5,2047,2048,2049,9000 tensors=1 type=f32,bf16 op=norm,clip",
    "n=20000 tensors=2,7,40 type=f32,bf16 op=norm,clip places=aligned,any",
    "n=60000 tensors=1,5,200 type=f32,bf16 op=norm places=aligned,any",
    "n=5000 tensors=3 type=f32,bf16 op=norm,clip most=0.5,1000",
    "n=5000 tensors=3 type=f32,bf16 op=norm,clip dist=constant,ascending,adversarial",
    NULL};

static const char *const bench[] = {"n=256M type=bf16 op=norm,clip", "n=128M type=f32 op=norm",
                                    "n=256M tensors=300 type=bf16 op=norm",
                                    "n=1M type=bf16 op=norm", NULL};

const struct zoo_family zoo_global_norm = {
    .name = "global_norm",
    .title = "norm of all gradients, and clipping",
    .problem =
        "norm[0] = sqrt(sum of squares) over the gradients of all tensors, norm[1] = min(1, most / "
        "(norm[0] + 1e-6)); with op=clip the gradients are multiplied by norm[1].",
    .parameters = {{"n", "gradients, in all tensors", 0, (int64_t)1 << 38, 1 << 20, NULL},
                   {"tensors", "tensors", 1, 1 << 20, 1, NULL},
                   {"type", "f32 or bf16", 0, 1, 1, types},
                   {"op", "norm, or clip: the product as well", 0, 1, 0, ops},
                   {"most", "the norm that is allowed", 0, 1 << 20, 1, NULL, true},
                   {"places", "tensors at multiples of 64 elements, or anywhere", 0, 1, 0, places},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "n=512K tensors=8",
    ZOO_FAMILY_PARTS,
};
