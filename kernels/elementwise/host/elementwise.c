/*
 * elementwise.c: the family: each element of the result from the elements at the same index (sum
 * of two vectors, a vector times a number, ReLU, saxpy). There is nothing to reuse, so that the
 * only question is how well the memory is kept busy.
 */
#include "zoo/zoo.h"

#include <math.h>

enum { OP_ADD, OP_SCALE, OP_RELU, OP_SAXPY };
enum { N, OP, SCALAR };

static const char *const operations[] = {"add", "scale", "relu", "saxpy", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t n = (size_t)problem->value[N];
    buffers[0] = (struct zoo_buffer){"x", ZOO_IN, ZOO_F32, n};
    switch (problem->value[OP]) {
    case OP_ADD:
        buffers[1] = (struct zoo_buffer){"y", ZOO_IN, ZOO_F32, n};
        buffers[2] = (struct zoo_buffer){"out", ZOO_OUT, ZOO_F32, n};
        return 3;
    case OP_SAXPY:
        buffers[1] = (struct zoo_buffer){"y", ZOO_IN_OUT, ZOO_F32, n};
        return 2;
    default:
        buffers[1] = (struct zoo_buffer){"out", ZOO_OUT, ZOO_F32, n};
        return 2;
    }
}

static bool reads_y(const struct zoo_problem *problem)
{
    return problem->value[OP] == OP_ADD || problem->value[OP] == OP_SAXPY;
}

static unsigned output_of(const struct zoo_problem *problem)
{
    return problem->value[OP] == OP_ADD ? 2 : 1;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    zoo_fill(problem, 0, ZOO_F32, buffer[0], (size_t)problem->value[N]);
    if (reads_y(problem))
        zoo_fill(problem, 1, ZOO_F32, buffer[1], (size_t)problem->value[N]);
}

/* Each is one operation, rounded once: the result is exact, and so is what a kernel must give. */
static float apply(int64_t operation, float x, float y, float scalar)
{
    switch (operation) {
    case OP_ADD:
        return x + y;
    case OP_SCALE:
        return scalar * x;
    case OP_RELU:
        return x < 0 ? 0 : x;
    default:
        return fmaf(scalar, x, y);
    }
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const float *x = buffer[0], *y = reads_y(problem) ? buffer[1] : x;
    double *out = expected[output_of(problem)].value;
    float scalar = zoo_as_float(problem->value[SCALAR]);
    int64_t n = problem->value[N], operation = problem->value[OP];
#pragma omp parallel for schedule(static) if (n > 100000)
    for (int64_t i = 0; i < n; i++)
        out[i] = (double)apply(operation, x[i], y[i], scalar);
}

static double bytes(const struct zoo_problem *problem)
{
    return (double)problem->value[N] * (reads_y(problem) ? 12 : 8);
}

static double flops(const struct zoo_problem *problem)
{
    return (double)problem->value[N] * (problem->value[OP] == OP_SAXPY ? 2 : 1);
}

/* Launches --------------------------------------------------------------------------------------*/

static CUresult launch_blocks(struct zoo_call *call, unsigned blocks, int threads)
{
    const struct zoo_problem *problem = call->problem;
    int64_t n = problem->value[N];
    float scalar = zoo_as_float(problem->value[SCALAR]);
    if (n == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, operations[problem->value[OP]],
                      ((struct zoo_grid){.x = blocks, .threads = (unsigned)threads}),
                      &call->buffer[0], &call->buffer[reads_y(problem) ? 1 : 0],
                      &call->buffer[output_of(problem)], &scalar, &n);
}

static CUresult launch(struct zoo_call *call, unsigned blocks)
{
    return launch_blocks(call, blocks, zoo_tunable(call, "BLOCK"));
}

/* One for each stretch of this many elements, but at most BLOCKS_PER_SM if that is not zero. */
static unsigned blocks_for(const struct zoo_call *call, int64_t elements)
{
    int64_t most = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t wanted = (call->problem->value[N] + elements - 1) / elements;
    return (unsigned)(most == 0 || wanted < most ? wanted : most);
}

static CUresult launch_naive(struct zoo_call *call)
{
    return launch(call, zoo_ceil_div(call->problem->value[N], zoo_tunable(call, "BLOCK")));
}

static CUresult launch_grid_stride(struct zoo_call *call)
{
    return launch(call, blocks_for(call, zoo_tunable(call, "BLOCK")));
}

static CUresult launch_vectorised(struct zoo_call *call)
{
    return launch(call, blocks_for(call, 4 * (int64_t)zoo_tunable(call, "BLOCK")));
}

static CUresult launch_in_flight(struct zoo_call *call)
{
    int64_t vectors = (int64_t)zoo_tunable(call, "BLOCK") * zoo_tunable(call, "UNROLL");
    return launch(call, blocks_for(call, 4 * vectors));
}

/* A block for each tile. */
static CUresult launch_bulk(struct zoo_call *call)
{
    bool two = reads_y(call->problem);
    int tile =
        two ? zoo_tunable(call, "TILE_BYTES") / 8 : zoo_tunable(call, "TILE_BYTES_OF_ONE") / 4;
    return launch_blocks(call, zoo_ceil_div(call->problem->value[N], tile),
                         zoo_tunable(call, two ? "BLOCK" : "BLOCK_OF_ONE"));
}

static const struct zoo_variant variants[] = {
    {"naive", "one thread for each element", launch_naive, .traits = ZOO_DETERMINISTIC},
    {"grid_stride", "a grid of the GPU's size that walks over the arrays", launch_grid_stride,
     .traits = ZOO_DETERMINISTIC},
    {"vectorised", "16 bytes of each array at a time", launch_vectorised,
     .traits = ZOO_DETERMINISTIC},
    {"in_flight", "all loads of a tile before its first store, past the caches", launch_in_flight,
     .traits = ZOO_DETERMINISTIC},
    {"bulk", "tiles come into shared memory by bulk copies, which one thread starts", launch_bulk,
     .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"cub", ZOO_PEER_NVCC, .call = "cub::DeviceTransform::Transform"},
    {"torch", ZOO_PEER_PYTHON,
     .call =
         "torch.add(x[0], x[1], out=x[2]) if op == 'add' else "
         "torch.mul(x[0], scalar, out=x[1]) if op == 'scale' else "
         "torch.clamp_min(x[0], 0, out=x[1]) if op == 'relu' else x[1].add_(x[0], alpha=scalar)"},
    {0}};

static const char *const edges[] = {
    ("n=0,1,2,3,4,5,31,32,33,127,128,129,255,256,257,1023,1024,1025,4095,4096,4097,4103 "
     "op=add,saxpy"),
    "n=0,1,7,1000,16385,40003 op=scale,relu",
    "n=257,2048 op=add,scale,relu,saxpy dist=constant,ascending,adversarial,special",
    "n=1001 op=scale,saxpy scalar=0,-7,3.14159274 dist=special",
    "n=300007 op=add,scale,relu,saxpy",
    NULL};

static const char *const bench[] = {"n=256M op=add,saxpy,scale,relu",
                                    "n=1K,16K,64K,256K,1M,4M,16M,64M op=add", NULL};

const struct zoo_family zoo_elementwise = {
    .name = "elementwise",
    .title = "each element by itself: add, scale, ReLU, saxpy",
    .problem = "out = x + y, out = scalar * x, out = max(x, 0), or y = scalar * x + y in place, of "
               "n numbers in f32. ReLU keeps NaN; saxpy rounds once.",
    .parameters = {{"n", "numbers", 0, (int64_t)1 << 34, 1 << 20, NULL},
                   {"op", "add, scale, relu or saxpy", 0, 3, 0, operations},
                   {"scalar", "what x is multiplied by", -(1 << 24), 1 << 24, 3, NULL, true},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "n=1M",
    ZOO_FAMILY_PARTS,
};
