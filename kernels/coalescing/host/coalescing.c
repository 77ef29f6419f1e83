/*
 * coalescing.c: the coalescing family: copies whose addresses are the lesson: shifted, strided, and
 * fields of an array of structures against those of a structure of arrays. All use the same number
 * of bytes, but memory has to move more for some than for others.
 */
#include "zoo/zoo.h"

enum { OFFSET, STRIDE, AOS, SOA };
enum { N, PATTERN, K };
enum { IN, OUT };

static const char *const patterns[] = {"offset", "stride", "aos", "soa", NULL};

/* The problem -----------------------------------------------------------------------------------*/

static bool has_fields(const struct zoo_problem *problem)
{
    return problem->value[PATTERN] == AOS || problem->value[PATTERN] == SOA;
}

static size_t count_out(const struct zoo_problem *problem)
{
    return (size_t)(problem->value[N] * (has_fields(problem) ? problem->value[K] : 1));
}

static size_t count_in(const struct zoo_problem *problem)
{
    int64_t n = problem->value[N], k = problem->value[K];
    switch (problem->value[PATTERN]) {
    case OFFSET:
        return (size_t)(n + k);
    case STRIDE: /* ends with the last one used, so that reading further is caught */
        return (size_t)(n ? (n - 1) * k + 1 : 0);
    default:
        return (size_t)(n * k);
    }
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    buffers[IN] = (struct zoo_buffer){"in", ZOO_IN, ZOO_F32, count_in(problem)};
    buffers[OUT] = (struct zoo_buffer){"out", ZOO_OUT, ZOO_F32, count_out(problem)};
    return 2;
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    zoo_fill(problem, 0, ZOO_F32, buffer[IN], count_in(problem));
}

/* The index of the element that goes to out[i]. */
static int64_t source_of(const struct zoo_problem *problem, int64_t i)
{
    int64_t n = problem->value[N], k = problem->value[K];
    switch (problem->value[PATTERN]) {
    case OFFSET:
        return i + k;
    case STRIDE:
        return i * k;
    case AOS: /* out[field][point] = in[point][field] */
        return i % n * k + i / n;
    default:
        return i;
    }
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    const float *in = buffer[IN];
    int64_t count = (int64_t)count_out(problem);
#pragma omp parallel for schedule(static) if (count > 100000)
    for (int64_t i = 0; i < count; i++)
        expected[OUT].value[i] = (double)in[source_of(problem, i)];
}

/* The bytes that are used; how many more have to be moved is what the family shows. */
static double bytes(const struct zoo_problem *problem)
{
    return 8 * (double)count_out(problem);
}

static double flops(const struct zoo_problem *problem)
{
    (void)problem;
    return 0;
}

/* Launches --------------------------------------------------------------------------------------*/

static CUresult launch(struct zoo_call *call, int64_t blocks, int shared)
{
    int64_t n = call->problem->value[N], k = call->problem->value[K];
    struct zoo_grid grid = {.x = (unsigned)blocks,
                            .threads = (unsigned)zoo_tunable(call, "BLOCK"),
                            .shared = (unsigned)shared};
    if (n == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, "copy", grid, &call->buffer[IN], &call->buffer[OUT], &n, &k);
}

static int64_t blocks_of_one_each(const struct zoo_call *call)
{
    return zoo_ceil_div(call->problem->value[N], zoo_tunable(call, "BLOCK"));
}

static CUresult launch_one_each(struct zoo_call *call)
{
    return launch(call, blocks_of_one_each(call), 0);
}

static CUresult launch_realigned(struct zoo_call *call)
{
    int64_t most = (int64_t)call->device->sm_count * zoo_tunable(call, "BLOCKS_PER_SM");
    int64_t blocks = zoo_ceil_div(call->problem->value[N], 4 * (int64_t)zoo_tunable(call, "BLOCK"));
    return launch(call, blocks < most ? blocks : most, 0);
}

static CUresult launch_through_shared(struct zoo_call *call)
{
    int words = zoo_tunable(call, "BLOCK") * (int)call->problem->value[K];
    return launch(call, blocks_of_one_each(call), 4 * (words + words / 32));
}

static bool takes_offset(const struct zoo_problem *problem)
{
    return problem->value[PATTERN] == OFFSET;
}

static bool takes_stride(const struct zoo_problem *problem)
{
    return problem->value[PATTERN] == STRIDE;
}

static bool takes_aos(const struct zoo_problem *problem)
{
    return problem->value[PATTERN] == AOS;
}

static bool takes_aos_of_fours(const struct zoo_problem *problem)
{
    return problem->value[PATTERN] == AOS && problem->value[K] % 4 == 0;
}

static bool takes_soa(const struct zoo_problem *problem)
{
    return problem->value[PATTERN] == SOA;
}

static const struct zoo_variant variants[] = {
    {"offset", "shifted: an extra sector for each request", launch_one_each, .takes = takes_offset,
     .traits = ZOO_DETERMINISTIC},
    {"realigned", "shifted, by aligned 16-byte loads and the next lane's registers",
     launch_realigned, .takes = takes_offset, .traits = ZOO_DETERMINISTIC},
    {"strided", "every k-th: up to a sector for each lane", launch_one_each, .takes = takes_stride,
     .traits = ZOO_DETERMINISTIC},
    {"aos", "structures, field by field", launch_one_each, .takes = takes_aos,
     .traits = ZOO_DETERMINISTIC},
    {"aos_vectors", "structures, four fields at a time", launch_one_each,
     .takes = takes_aos_of_fours, .traits = ZOO_DETERMINISTIC},
    {"aos_through_shared", "structures loaded as one stretch, split into fields in shared memory",
     launch_through_shared, .takes = takes_aos, .traits = ZOO_DETERMINISTIC},
    {"soa", "an array for each field", launch_one_each, .takes = takes_soa,
     .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     .call = "x[0][k:].clone() if pattern == 'offset' else "
             "x[0][::k].clone() if pattern == 'stride' else "
             "x[0].view(n, k).t().contiguous() if pattern == 'aos' else x[0].clone()"},
    {0}};

static const char *const edges[] = {
    "n=0,1,2,3,4,5,6,7,8,9,31,32,33,127,128,129,1023,1025 pattern=offset k=0,1,2,3,4,5,7,31,32",
    "n=0,1,2,31,33,256,257,1001 pattern=stride k=1,2,3,8,32",
    "n=0,1,5,31,32,33,255,256,257,700 pattern=aos,soa k=1,2,3,4,7,8,12,31,32",
    "n=3000 pattern=offset,stride,aos,soa k=4 dist=constant,ascending,special",
    "n=70001 pattern=offset,stride,aos,soa k=3",
    "n=30000 pattern=aos k=16",
    NULL};

static const char *const bench[] = {"n=128M pattern=offset k=0,1,4,8",
                                    "n=64M pattern=stride k=1,2,4,8", "n=32M pattern=aos,soa k=4,8",
                                    "n=32M pattern=aos,soa k=7", NULL};

const struct zoo_family zoo_coalescing = {
    .name = "coalescing",
    .title = "copies by offset and stride, of structures and arrays",
    .problem = "out[i] = in[i + k] (offset) or in[i * k] (stride) for n numbers in f32; or the k "
               "fields of n structures to k arrays, from an array of structures (aos) or from k "
               "arrays (soa).",
    .parameters = {{"n", "numbers, or structures", 0, (int64_t)1 << 32, 1 << 20, NULL},
                   {"pattern", "offset, stride, aos or soa", 0, 3, 0, patterns},
                   {"k", "offset, stride, or fields of a structure", 0, 32, 4, NULL},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "n=1M pattern=offset,stride,aos,soa",
    ZOO_FAMILY_PARTS,
};
