/*
 * hadamard.c: the family: each block of 2^k numbers is rotated by the Walsh-Hadamard matrix,
 * which spreads an outlier over its whole block: what follows is quantised with a smaller scale. A
 * read and a write; k additions a number.
 */
#include "hadamard.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { X, Y };

static const char *const types[] = {"bf16", "f16", "f32", NULL};

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    static const enum zoo_type of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return of[problem->value[HADAMARD_TYPE]];
}

static int log_of(const struct zoo_problem *problem)
{
    return __builtin_ctzll((unsigned long long)problem->value[HADAMARD_SIZE]);
}

static int64_t elements(const struct zoo_problem *problem)
{
    return problem->value[HADAMARD_BLOCKS] * problem->value[HADAMARD_SIZE];
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t n = (size_t)elements(problem);
    buffers[X] = (struct zoo_buffer){"x", ZOO_IN, type_of(problem), n};
    buffers[Y] = (struct zoo_buffer){"y", ZOO_OUT, type_of(problem), n};
    return 2;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    zoo_fill(problem, 0, type_of(problem), buffer[X], (size_t)elements(problem));
}

/* Sums in f64 of f32's own rounding errors: each bit adds one rounding to sums of up to all. */
static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const struct zoo_precision *of = &zoo_precisions[type_of(problem)];
    int64_t n = problem->value[HADAMARD_SIZE];
    int log = log_of(problem);
    double scale = sqrt(1 / (double)n);
#pragma omp parallel for schedule(static) if (elements(problem) > 100000)
    for (int64_t block = 0; block < problem->value[HADAMARD_BLOCKS]; block++) {
        double *v = lk_alloc((size_t)n * sizeof *v), size = 0;
        for (int64_t i = 0; i < n; i++) {
            v[i] = zoo_get(type_of(problem), buffer[X], (size_t)(block * n + i));
            size += fabs(v[i]);
        }
        for (int64_t bit = 1; bit < n; bit *= 2)
            for (int64_t i = 0; i < n; i++)
                if (!(i & bit)) {
                    double low = v[i], high = v[i | bit];
                    v[i] = low + high;
                    v[i | bit] = low - high;
                }
        for (int64_t i = 0; i < n; i++) {
            double value = v[i] * scale;
            expected[Y].value[block * n + i] =
                fabs(value) >= of->most ? copysign(INFINITY, value) : value;
            expected[Y].bound[block * n + i] = (double)log * 0x1p-24 * size * scale +
                                               (of->unit * 1.01 + 2 * 0x1p-24) * fabs(value) +
                                               of->least;
        }
        free(v);
    }
}

static double bytes(const struct zoo_problem *problem)
{
    return 2.0 * (double)elements(problem) * zoo_type_bytes[type_of(problem)];
}
static double flops(const struct zoo_problem *problem)
{
    return (double)elements(problem) * (log_of(problem) + 1);
}

static bool is_power(const struct zoo_problem *problem)
{
    int64_t size = problem->value[HADAMARD_SIZE];
    return (size & (size - 1)) == 0;
}

/* Launches --------------------------------------------------------------------------------------*/

static float scale_of(const struct zoo_problem *problem)
{
    return (float)sqrt(1 / (double)problem->value[HADAMARD_SIZE]);
}

static size_t workspace_passes(const struct zoo_call *call)
{
    return call->problem->value[HADAMARD_SIZE] > 2 ? (size_t)elements(call->problem) * sizeof(float)
                                                   : 0;
}

static CUresult launch_passes(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    const char *type = types[problem->value[HADAMARD_TYPE]];
    int64_t pairs = elements(problem) / 2;
    int last = log_of(problem) - 1;
    struct zoo_grid grid = {.x = zoo_ceil_div(pairs, zoo_tunable(call, "BLOCK")),
                            .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    CUresult status = CUDA_SUCCESS;
    for (int bit = 0; bit <= last && pairs > 0 && status == CUDA_SUCCESS; bit++) {
        CUdeviceptr in = bit == 0 ? call->buffer[X] : call->workspace;
        CUdeviceptr out = bit == last ? call->buffer[Y] : call->workspace;
        float scale = bit == last ? scale_of(problem) : 1;
        char kernel[24] = "between";
        if (bit == 0 || bit == last)
            snprintf(kernel, sizeof kernel, "%s_%s",
                     last == 0  ? "only"
                     : bit == 0 ? "first"
                                : "last",
                     type);
        status = ZOO_LAUNCH(call, kernel, grid, &in, &out, &pairs, &bit, &scale);
    }
    return status;
}

static CUresult launch_shared(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int log = log_of(problem);
    float scale = scale_of(problem);
    unsigned half = 1U << (log - 1), threads = half < 32 ? 32 : half > 1024 ? 1024 : half;
    char kernel[24];
    if (problem->value[HADAMARD_BLOCKS] == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "shared_%s", types[problem->value[HADAMARD_TYPE]]);
    struct zoo_grid grid = {.x = (unsigned)problem->value[HADAMARD_BLOCKS],
                            .threads = threads,
                            .shared = (unsigned)sizeof(float) << log};
    return ZOO_LAUNCH(call, kernel, grid, &call->buffer[X], &call->buffer[Y], &log, &scale);
}
static bool fits_shared(const struct zoo_call *call)
{
    return call->device->shared_per_block >=
           (int)sizeof(float) * (int)call->problem->value[HADAMARD_SIZE];
}

/* Of registers, tensor_cores and prefetched: 32 numbers a thread, at least four warps. Blocks of
 * numbers of more than 1024 pass through shared memory, in f32 and with gaps. */
enum { MOST_TILE_LOG = 14, MOST_WARP_LOG = 10, LEAST_PRODUCT_LOG = 5 };
static bool takes_registers(const struct zoo_problem *problem)
{
    return is_power(problem) && log_of(problem) <= MOST_TILE_LOG;
}
static bool takes_tensor_cores(const struct zoo_problem *problem)
{
    return takes_registers(problem) && type_of(problem) != ZOO_F32 &&
           log_of(problem) >= LEAST_PRODUCT_LOG;
}
static unsigned threads_of(const struct zoo_problem *problem)
{
    int64_t size = problem->value[HADAMARD_SIZE];
    return size > 4096 ? (unsigned)(size / 32) : 128;
}
static unsigned shared_of(const struct zoo_problem *problem)
{
    unsigned tile = 32 * threads_of(problem);
    return log_of(problem) > MOST_WARP_LOG ? (tile + tile / 8) * 4 : 0;
}
static bool fits_tiles(const struct zoo_call *call)
{
    return call->device->shared_per_block >= (int)shared_of(call->problem);
}

static CUresult launch_tiles(struct zoo_call *call, const char *variant)
{
    const struct zoo_problem *problem = call->problem;
    int log = log_of(problem);
    int64_t n = elements(problem);
    float scale = scale_of(problem);
    char kernel[24];
    if (n == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "%s_%s", variant, types[problem->value[HADAMARD_TYPE]]);
    struct zoo_grid grid = {.x = zoo_ceil_div(n, 32 * (int64_t)threads_of(problem)),
                            .threads = threads_of(problem),
                            .shared = shared_of(problem)};
    return ZOO_LAUNCH(call, kernel, grid, &call->buffer[X], &call->buffer[Y], &n, &log, &scale);
}
static CUresult launch_registers(struct zoo_call *call)
{
    return launch_tiles(call, "registers");
}
static CUresult launch_tensor_cores(struct zoo_call *call)
{
    return launch_tiles(call, "tensor_cores");
}
static bool takes_prefetched(const struct zoo_problem *problem)
{
    return takes_tensor_cores(problem) && log_of(problem) > MOST_WARP_LOG;
}
static CUresult launch_prefetched(struct zoo_call *call)
{
    return launch_tiles(call, "prefetched");
}

static const struct zoo_variant variants[] = {
    {"passes", "a launch for each bit, f32 in memory between them", launch_passes, workspace_passes,
     .traits = ZOO_DETERMINISTIC},
    {"shared", "a block waits in shared memory while all bits are done", launch_shared,
     .takes = is_power, .fits = fits_shared, .traits = ZOO_DETERMINISTIC},
    {"registers", "32 numbers a thread: bits in registers, by shuffles, by one exchange",
     launch_registers, .takes = takes_registers, .fits = fits_tiles, .traits = ZOO_DETERMINISTIC},
    {"tensor_cores", "16-bit types: four bits in one product with a matrix of 1 and -1",
     launch_tensor_cores, .takes = takes_tensor_cores, .fits = fits_tiles,
     .traits = ZOO_DETERMINISTIC},
    {"prefetched",
     "16-bit types, 2048 to 16384: seven bits in two products, later tiles prefetched",
     launch_prefetched, .takes = takes_prefetched, .fits = fits_tiles, .traits = ZOO_DETERMINISTIC},
    {0}};

/* python/peer_torch.py has the function. */
static const struct zoo_peer peers[] = {{"torch_compile", ZOO_PEER_PYTHON,
                                         "compiled(lambda v: hadamard(v, size))(x[0])",
                                         .takes = is_power},
                                        {0}};

static const char *const edges[] = {
    "blocks=0,1,3,300 size=2,4,8,32,256 type=bf16",
    "blocks=1,3 size=16,128,256,512,1024,2048,4096,8192 type=bf16,f16,f32",
    "blocks=1 size=16384,32768 type=bf16,f32",
    "blocks=7 size=64,512 type=bf16,f32 dist=constant,ascending,adversarial",
    "blocks=5 size=512,2048,16384 type=bf16,f16 dist=adversarial,special",
    "blocks=1057 size=2048",
    "blocks=265 size=16384", /* a later tile to ask for */
    NULL};

static const char *const bench[] = {
    "blocks=1M size=128",   "blocks=256K size=512",          "blocks=64K size=2048",
    "blocks=16K size=8192", "blocks=32K size=4096 type=f32", NULL};

const struct zoo_family zoo_hadamard = {
    .name = "hadamard",
    .title = "Walsh-Hadamard rotation of blocks of numbers",
    .problem = "Each block of `size` neighbours is multiplied by the Walsh-Hadamard matrix of that "
               "size, divided by the root of it: a rotation, and its own inverse. Sums are in f32.",
    .parameters = {{"blocks", "blocks of numbers", 0, 1 << 30, 1024, NULL},
                   {"size", "of a block in numbers: a power of two", 2, HADAMARD_MOST, 512, NULL},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "blocks=1K size=512",
    ZOO_FAMILY_PARTS,
};
