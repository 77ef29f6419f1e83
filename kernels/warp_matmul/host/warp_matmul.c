/*
 * warp_matmul.c: the warp_matmul family: products of many small matrices, each small enough for a
 * warp. The variants share operands through caches, shared memory, shuffles and registers.
 */
#include "zoo/zoo.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { BATCH, SIZE };
enum { A, B, C };

static const char *const sizes[] = {"16", "32", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static int64_t size_of(const struct zoo_problem *problem)
{
    return problem->value[SIZE] == 0 ? 16 : 32;
}

static size_t elements(const struct zoo_problem *problem)
{
    return (size_t)(problem->value[BATCH] * size_of(problem) * size_of(problem));
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    buffers[A] = (struct zoo_buffer){"a", ZOO_IN, ZOO_F32, elements(problem)};
    buffers[B] = (struct zoo_buffer){"b", ZOO_IN, ZOO_F32, elements(problem)};
    buffers[C] = (struct zoo_buffer){"c", ZOO_OUT, ZOO_F32, elements(problem)};
    return 3;
}

/* The usual numbers without the huge ones, whose sums overflow in one order and not in another. */
static void fill(const struct zoo_problem *problem, unsigned stream, float *to)
{
    size_t count = elements(problem);
    zoo_fill(problem, stream, ZOO_F32, to, count);
    if (problem->distribution == ZOO_SPECIAL)
        for (size_t i = 0; i < count; i++)
            to[i] = fabsf(to[i]) == 0x1p127f ? copysignf(1, to[i]) : to[i];
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    fill(problem, 0, buffer[A]);
    fill(problem, 1, buffer[B]);
}

/* The bound holds for every order: `size` products are added with `size` roundings. */
static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    int64_t size = size_of(problem), count = (int64_t)elements(problem);
    const float *a = buffer[A], *b = buffer[B];
#pragma omp parallel for schedule(static) if (count > 10000)
    for (int64_t i = 0; i < count; i++) {
        int64_t row = i / size * size, column = i / (size * size) * size * size + i % size;
        double sum = 0, magnitudes = 0;
        for (int64_t k = 0; k < size; k++) {
            double product = (double)a[row + k] * b[column + k * size];
            sum += product;
            magnitudes += fabs(product);
        }
        expected[C].value[i] = sum;
        expected[C].bound[i] =
            (double)(size + 1) * (FLT_EPSILON / 2) * magnitudes + (double)size * 0x1p-149;
    }
}

static double bytes(const struct zoo_problem *problem)
{
    return 12.0 * (double)elements(problem);
}

static double flops(const struct zoo_problem *problem)
{
    return 2.0 * (double)elements(problem) * (double)size_of(problem);
}

/* Launches --------------------------------------------------------------------------------------*/

/* Blocks of BLOCK threads, with `threads` for each matrix. */
static CUresult launch(struct zoo_call *call, int64_t threads)
{
    char name[16];
    int64_t batch = call->problem->value[BATCH];
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (batch == 0)
        return CUDA_SUCCESS;
    snprintf(name, sizeof name, "multiply_%s", sizes[call->problem->value[SIZE]]);
    return ZOO_LAUNCH(
        call, name,
        ((struct zoo_grid){.x = zoo_ceil_div(batch * threads, block), .threads = block}),
        &call->buffer[A], &call->buffer[B], &batch, &call->buffer[C]);
}

static CUresult launch_naive(struct zoo_call *call)
{
    int64_t size = size_of(call->problem);
    return launch(call, size * size);
}

static CUresult launch_shared(struct zoo_call *call)
{
    return launch(call, zoo_tunable(call, "BLOCK"));
}

static CUresult launch_warps(struct zoo_call *call)
{
    return launch(call, size_of(call->problem));
}

static const struct zoo_variant variants[] = {
    {"naive", "a thread for each element, everything from memory", launch_naive,
     .traits = ZOO_DETERMINISTIC},
    {"shared", "both matrices in shared memory, a block for each product", launch_shared,
     .traits = ZOO_DETERMINISTIC},
    {"shuffle", "columns in registers, rows passed around by shuffles", launch_warps,
     .traits = ZOO_DETERMINISTIC},
    {"register_tile", "tiles in registers, 16-byte reads of shared memory, no block-wide barrier",
     launch_warps, .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     "torch.bmm(x[0].view(-1, int(size), int(size)), x[1].view(-1, int(size), int(size)))",
     .takes = NULL},
    {0}};

static const char *const edges[] = {
    "batch=0,1,2,3,7,8,9,33 size=16,32",
    "batch=5 size=16,32 dist=constant,ascending,adversarial,special", "batch=301 size=16,32", NULL};

static const char *const bench[] = {"batch=64K size=32", "batch=256K size=16",
                                    "batch=1K,16K size=16,32", NULL};

const struct zoo_family zoo_warp_matmul = {
    .name = "warp_matmul",
    .title = "products of many small matrices",
    .problem = "c[i] = a[i] b[i] for a batch of square matrices of 16 or 32, row by row, in f32.",
    .parameters = {{"batch", "matrices", 0, 1 << 24, 1024, NULL},
                   {"size", "rows and columns: 16 or 32", 0, 1, 1, sizes},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "batch=1K size=32",
    ZOO_FAMILY_PARTS,
};
