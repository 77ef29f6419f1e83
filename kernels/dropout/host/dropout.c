/*
 * dropout.c: the family: each number is set to 0 with probability p, and multiplied by 1 / (1 - p)
 * otherwise. The random numbers are a function of the seed, the offset and the place, so the
 * backward pass computes the same mask again: it is the same problem on the gradient.
 */
#include "dropout.h"

#include "zoo/philox.h"

#include <stdio.h>

static const char *const types[] = {"bf16", "f16", "f32", NULL};
static const char *const states[] = {"none", "given", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    static const enum zoo_type of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return of[problem->value[DROP_TYPE]];
}

static bool has_state(const struct zoo_problem *problem)
{
    return problem->value[DROP_STATE] == STATE_GIVEN;
}

/* x, y, and state if there is one. */
static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t n = (size_t)problem->value[DROP_N];
    buffers[0] = (struct zoo_buffer){"x", ZOO_IN, type_of(problem), n};
    buffers[1] = (struct zoo_buffer){"y", ZOO_OUT, type_of(problem), n};
    buffers[2] = (struct zoo_buffer){"state", ZOO_IN, ZOO_I64, 2};
    return has_state(problem) ? 3 : 2;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    zoo_fill(problem, 0, type_of(problem), buffer[0], (size_t)problem->value[DROP_N]);
    if (has_state(problem)) {
        ((int64_t *)buffer[2])[0] = (int64_t)zoo_random(problem->seed, 1, 0);
        ((int64_t *)buffer[2])[1] = (int64_t)zoo_random(problem->seed, 1, 1);
    }
}

/* Exact: one product in f32, rounded to the type. */
static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    enum zoo_type type = type_of(problem);
    struct zoo_dropout d = zoo_dropout_of((double)zoo_as_float(problem->value[DROP_P]));
    uint64_t seed = problem->seed, offset = (uint64_t)problem->value[DROP_OFFSET];
    if (has_state(problem)) {
        seed += ((const uint64_t *)buffer[2])[0];
        offset += ((const uint64_t *)buffer[2])[1];
    }
#pragma omp parallel for schedule(static) if (problem->value[DROP_N] > 100000)
    for (int64_t i = 0; i < problem->value[DROP_N]; i++) {
        unsigned char rounded[8];
        float x = (float)zoo_get(type, buffer[0], (size_t)i);
        bool dropped = zoo_dropped(d, seed, offset, (uint64_t)i);
        zoo_put(type, rounded, 0, dropped ? 0 : (double)(x * d.scale));
        expected[1].value[i] = zoo_get(type, rounded, 0);
    }
}

static double bytes(const struct zoo_problem *problem)
{
    return 2.0 * (double)problem->value[DROP_N] * zoo_type_bytes[type_of(problem)];
}

static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[DROP_N];
}

/* Launches --------------------------------------------------------------------------------------*/

static CUresult launch(struct zoo_call *call, int64_t blocks)
{
    const struct zoo_problem *problem = call->problem;
    struct zoo_dropout d = zoo_dropout_of((double)zoo_as_float(problem->value[DROP_P]));
    int64_t n = problem->value[DROP_N], offset = problem->value[DROP_OFFSET];
    int64_t seed = (int64_t)problem->seed;
    CUdeviceptr state = has_state(problem) ? call->buffer[2] : 0;
    char kernel[16];
    if (n == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "dropout_%s", types[problem->value[DROP_TYPE]]);
    return ZOO_LAUNCH(
        call, kernel,
        ((struct zoo_grid){.x = (unsigned)blocks, .threads = (unsigned)zoo_tunable(call, "BLOCK")}),
        &call->buffer[0], &call->buffer[1], &n, &d.threshold, &d.scale, &seed, &offset, &state);
}

static CUresult launch_naive(struct zoo_call *call)
{
    return launch(call, zoo_ceil_div(call->problem->value[DROP_N], zoo_tunable(call, "BLOCK")));
}

/* Elements of 16 bytes. */
static int64_t per_vector(const struct zoo_problem *problem)
{
    return 16 / zoo_type_bytes[type_of(problem)];
}

static CUresult launch_vectorised(struct zoo_call *call)
{
    int64_t most = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t wanted = zoo_ceil_div(call->problem->value[DROP_N],
                                  zoo_tunable(call, "BLOCK") * per_vector(call->problem));
    return launch(call, wanted < most ? wanted : most);
}

static CUresult launch_in_flight(struct zoo_call *call)
{
    int64_t tile = (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "UNROLL") *
                   per_vector(call->problem);
    return launch(call, zoo_ceil_div(call->problem->value[DROP_N], tile));
}

static const struct zoo_variant variants[] = {
    {"naive", "one thread, and one call of Philox, for each element", launch_naive,
     .traits = ZOO_DETERMINISTIC},
    {"vectorised", "16 bytes, and one call of Philox for eight elements, at a time",
     launch_vectorised, .traits = ZOO_DETERMINISTIC},
    {"in_flight", "a block for each tile; random numbers are made while its loads are under way",
     launch_in_flight, .traits = ZOO_DETERMINISTIC},
    {0}};

/* By itself PyTorch stores the mask, a byte an element, for the backward pass. A problem has one
 * peer of PyTorch: the largest its own kernel, others what torch.compile makes. */
static bool is_largest(const struct zoo_problem *problem)
{
    return problem->value[DROP_N] >= (int64_t)1 << 27;
}
static bool is_smaller(const struct zoo_problem *problem)
{
    return !is_largest(problem);
}

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON, .call = "torch.ops.aten.native_dropout(x[0], p, True)",
     .takes = is_largest, .draws = true},
    {"torch_compile", ZOO_PEER_PYTHON,
     .call = "compiled(lambda v: torch.nn.functional.dropout(v, p, True))(x[0])",
     .takes = is_smaller, .draws = true},
    {0}};

static const char *const edges[] = {
    "n=0,1,7,8,9,15,255,2048,2049,5003 type=bf16,f16,f32 p=0.1",
    "n=2200003 type=bf16 p=0.1", /* a later tile to ask for */
    "n=1000 type=bf16,f32 p=0,0.5,0.999999,1 offset=1,77",
    "n=3000 type=bf16,f16,f32 p=0.25 state=given offset=5 seed=9",
    "n=2048 type=bf16,f16,f32 p=0.5 dist=special,adversarial,constant",
    NULL};

static const char *const bench[] = {"n=128M type=bf16 p=0.125", "n=64M type=bf16,f32 p=0.125",
                                    "n=64K,1M,16M type=bf16 p=0.125", NULL};

const struct zoo_family zoo_dropout = {
    .name = "dropout",
    .title = "dropout by Philox, forward and backward",
    .problem =
        "y[i] = 0 if 16 random bits of place i are below p 2^16, else x[i] / (1 - p). The bits are "
        "half-word i % 8 of Philox4x32-7 with the seed as key and (i / 8, offset) as counter. "
        "Backward is the same with the gradient as x. A state in memory is added to seed and "
        "offset.",
    .parameters = {{"n", "numbers", 0, (int64_t)1 << 38, 1 << 20, NULL},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {"p", "probability that a number is dropped", 0,
                    ZOO_FLOAT + 0x3f800000 /* 1.0 */, ZOO_FLOAT + 0x3e000000 /* 0.125 */, NULL,
                    true},
                   {"offset", "counter's upper half: another one for each call", 0, UINT32_MAX, 0,
                    NULL, true},
                   {"state", "none, or given: two numbers in device memory", 0, 1, 0, states},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "n=1M type=bf16",
    ZOO_FAMILY_PARTS,
};
