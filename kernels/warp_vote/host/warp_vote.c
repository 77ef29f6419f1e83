/*
 * warp_vote.c: the family: questions that 32 elements ask each other: who stays, and who is like
 * me? The variants answer them by walking, through shared memory, by shuffles, by votes and by
 * match.
 */
#include "zoo/zoo.h"

enum { ROWS, KEYS, OP };
enum { COMPACT, GROUP };
enum { IN, OUT, SIZES };
enum { UNIFORM, CONSTANT, ASCENDING, SPARSE };
enum { LANES = 32 };

static const char *const operations[] = {"compact", "group", NULL};
static const char *const distributions[] = {"uniform", "constant", "ascending", "sparse", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t rows = (size_t)problem->value[ROWS];
    buffers[IN] = (struct zoo_buffer){"in", ZOO_IN, ZOO_I32, rows * LANES};
    buffers[OUT] = (struct zoo_buffer){"out", ZOO_OUT, ZOO_I32, rows * LANES};
    buffers[SIZES] = (struct zoo_buffer){"sizes", ZOO_OUT, ZOO_I32, rows};
    return 3;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    int32_t *in = buffer[IN];
    int64_t count = problem->value[ROWS] * LANES, keys = problem->value[KEYS];
#pragma omp parallel for schedule(static) if (count > 100000)
    for (int64_t i = 0; i < count; i++) {
        uint64_t random = zoo_random(problem->seed, 0, (uint64_t)i);
        int64_t value = (int64_t)(random % (uint64_t)keys);
        switch (problem->distribution) {
        case CONSTANT:
            value = keys - 1;
            break;
        case ASCENDING:
            value = i % keys;
            break;
        case SPARSE: /* one in sixteen is not zero */
            value = random >> 60 ? 0 : value;
            break;
        }
        in[i] = (int32_t)value;
    }
}

static void compact_row(const int32_t *in, double *out, double *size)
{
    int count = 0;
    for (int i = 0; i < LANES; i++)
        if (in[i])
            out[count++] = in[i];
    *size = count;
}

static void group_row(const int32_t *in, double *out, double *size)
{
    for (int i = 0; i < LANES; i++) {
        for (int j = 0; j < i; j++)
            out[i] += in[j] == in[i];
        *size += out[i] == 0;
    }
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const int32_t *in = buffer[IN];
    for (int64_t row = 0; row < problem->value[ROWS]; row++) {
        double *out = expected[OUT].value + row * LANES, *size = expected[SIZES].value + row;
        if (problem->value[OP] == COMPACT)
            compact_row(in + row * LANES, out, size);
        else
            group_row(in + row * LANES, out, size);
    }
}

static double bytes(const struct zoo_problem *problem)
{
    return (double)problem->value[ROWS] * (2 * LANES + 1) * 4;
}

/* One question an element. */
static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[ROWS] * LANES;
}

static bool compacts(const struct zoo_problem *problem)
{
    return problem->value[OP] == COMPACT;
}

static bool groups(const struct zoo_problem *problem)
{
    return problem->value[OP] == GROUP;
}

/* Launches --------------------------------------------------------------------------------------*/

static CUresult launch(struct zoo_call *call, unsigned blocks)
{
    int64_t rows = call->problem->value[ROWS];
    unsigned bits = 0;
    while ((int64_t)1 << bits < call->problem->value[KEYS])
        bits++;
    if (rows == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(
        call, operations[call->problem->value[OP]],
        ((struct zoo_grid){.x = blocks, .threads = (unsigned)zoo_tunable(call, "BLOCK")}),
        &call->buffer[IN], &rows, &bits, &call->buffer[OUT], &call->buffer[SIZES]);
}

static CUresult launch_thread_per_row(struct zoo_call *call)
{
    return launch(call, zoo_ceil_div(call->problem->value[ROWS], zoo_tunable(call, "BLOCK")));
}

/* A lane an element, this many rows a warp, and no more blocks than fit twice. */
static CUresult launch_warps(struct zoo_call *call, int64_t rows_per_warp)
{
    int block = zoo_tunable(call, "BLOCK");
    int64_t wanted = zoo_ceil_div(call->problem->value[ROWS], block / 32 * rows_per_warp);
    int64_t most = 2 * (int64_t)call->device->sm_count * (call->device->threads_per_sm / block);
    return launch(call, (unsigned)(wanted < most ? wanted : most));
}

static CUresult launch_one_row(struct zoo_call *call)
{
    return launch_warps(call, 1);
}

static CUresult launch_several_rows(struct zoo_call *call)
{
    return launch_warps(call, zoo_tunable(call, "UNROLL"));
}

static const struct zoo_variant variants[] = {
    {"thread_per_row", "one thread walks each row", launch_thread_per_row,
     .traits = ZOO_DETERMINISTIC},
    {"shared", "a thread an element looks through the row in shared memory", launch_one_row,
     .traits = ZOO_DETERMINISTIC},
    {"shuffle", "a prefix sum, or all pairs, through registers", launch_one_row,
     .traits = ZOO_DETERMINISTIC},
    {"match", "match.any finds the lanes with the same value", launch_several_rows, .takes = groups,
     .traits = ZOO_DETERMINISTIC},
    {"ballot", "votes give every lane all flags as one word", launch_several_rows,
     .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     "(lambda v: (x[2].copy_((v != 0).sum(1)), "
     "v.gather(1, (v == 0).to(torch.uint8).sort(dim=1, stable=True).indices))[1])"
     "(x[0].view(-1, 32))",
     .takes = compacts},
    {0}};

static const char *const edges[] = {
    "rows=0,1,2,7,8,9,33,127,129 keys=2,16 op=compact,group",
    "rows=40 keys=1,3,5,32,33,1000,65536 op=compact,group",
    "rows=50 keys=2,40 op=compact,group dist=constant,ascending,sparse",
    "rows=20011 keys=2 op=compact",
    "rows=5003 keys=32 op=group",
    NULL};

static const char *const bench[] = {
    "rows=4M keys=2,16 op=compact", "rows=4M keys=2,16,64K op=group",
    "rows=4M keys=16 op=compact,group dist=constant,sparse", "rows=1K,32K op=compact,group", NULL};

const struct zoo_family zoo_warp_vote = {
    .name = "warp_vote",
    .title = "what 32 elements ask each other",
    .problem =
        "For each row of 32 integers. compact: those that are not zero go to the front of the "
        "row in their order, zeros fill the rest, and sizes counts them. group: each element "
        "becomes the number of equal ones before it, and sizes counts the different values.",
    .parameters = {{"rows", "rows of 32", 0, (int64_t)1 << 32, 1 << 15, NULL},
                   {"keys", "values go from 0 to keys - 1", 1, 65536, 16, NULL},
                   {"op", "compact or group", 0, 1, 0, operations},
                   {0}},
    .distributions = distributions,
    .profile = "rows=32K op=compact,group",
    ZOO_FAMILY_PARTS,
};
