/*
 * embedding.c: the family: rows of a table by number, and the gradient of the table: the sum of the
 * gradients of all tokens that took a row. Forward is a copy; backward must bring tokens of one
 * number together, and should give the same bits in every run.
 */
#include "embedding.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { IDS, IN, OUT };
enum { LONG = 256, PART = 256, SUM_ROWS = 4, SUM_THREADS = 256 }; /* as in sorted.cu */

static const char *const types[] = {"bf16", "f16", "f32", NULL};
static const char *const indices[] = {"i32", "i64", NULL};
static const char *const directions[] = {"forward", "backward", NULL};
static const char *const distributions[] = {"uniform",   "words",   "same",
                                            "ascending", "outside", NULL};
enum { UNIFORM, WORDS, SAME, ASCENDING, OUTSIDE };

/* The problem -----------------------------------------------------------------------------------*/

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    static const enum zoo_type of[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return of[problem->value[EMB_TYPE]];
}

static enum zoo_type index_of(const struct zoo_problem *problem)
{
    return problem->value[EMB_INDEX] == 0 ? ZOO_I32 : ZOO_I64;
}

static bool is_backward(const struct zoo_problem *problem)
{
    return problem->value[EMB_DIRECTION] == EMB_BACKWARD;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    bool backward = is_backward(problem);
    size_t tokens = (size_t)problem->value[EMB_TOKENS], dim = (size_t)problem->value[EMB_DIM];
    size_t table = (size_t)problem->value[EMB_VOCAB] * dim;
    buffers[IDS] = (struct zoo_buffer){"ids", ZOO_IN, index_of(problem), tokens};
    buffers[IN] = (struct zoo_buffer){backward ? "dout" : "table", ZOO_IN, type_of(problem),
                                      backward ? tokens * dim : table};
    buffers[OUT] = (struct zoo_buffer){backward ? "dtable" : "out", ZOO_OUT, type_of(problem),
                                       backward ? table : tokens * dim};
    return 3;
}

/* Words: the k-th most frequent one about 1 / k as often as the first. */
static int64_t number_of(const struct zoo_problem *problem, int64_t token)
{
    int64_t vocab = problem->value[EMB_VOCAB];
    double unit = zoo_random_unit(problem->seed, 0, (uint64_t)token);
    switch (problem->distribution) {
    case WORDS: {
        int64_t rank = (int64_t)pow((double)vocab, unit) - 1;
        return (int64_t)((uint64_t)rank * 2654435761U % (uint64_t)vocab);
    }
    case SAME:
        return vocab / 2;
    case ASCENDING:
        return token % vocab;
    case OUTSIDE:
        return (int64_t)(unit * 2 * (double)vocab) - vocab / 2;
    default:
        return (int64_t)(unit * (double)vocab);
    }
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    struct zoo_problem plain = *problem;
    shape(problem, buffers);
    for (int64_t i = 0; i < problem->value[EMB_TOKENS]; i++)
        zoo_put(buffers[IDS].type, buffer[IDS], (size_t)i, (double)number_of(problem, i));
    plain.distribution = ZOO_UNIFORM;
    zoo_fill(&plain, 1, buffers[IN].type, buffer[IN], buffers[IN].count);
}

/* A sum of k numbers in any order has at most k - 1 roundings of the size of their magnitudes. */
static void reference_backward(const struct zoo_problem *problem, void *const *buffer,
                               struct zoo_expected *expected)
{
    enum zoo_type type = type_of(problem);
    const struct zoo_precision *of = &zoo_precisions[type];
    int64_t vocab = problem->value[EMB_VOCAB], dim = problem->value[EMB_DIM];
    double *size = expected->bound; /* sums of magnitudes, until the bounds are known */
    int64_t *count = lk_alloc_zeroed((size_t)vocab * sizeof *count);
    for (int64_t t = 0; t < problem->value[EMB_TOKENS]; t++) {
        int64_t id = (int64_t)zoo_get(index_of(problem), buffer[IDS], (size_t)t);
        if (id < 0 || id >= vocab)
            continue;
        count[id]++;
        for (int64_t c = 0; c < dim; c++) {
            double x = zoo_get(type, buffer[IN], (size_t)(t * dim + c));
            expected->value[id * dim + c] += x;
            size[id * dim + c] += fabs(x);
        }
    }
    for (int64_t i = 0; i < vocab * dim; i++) {
        double additions = (double)(count[i / dim] > 0 ? count[i / dim] - 1 : 0);
        double rounding = type == ZOO_F32 ? 0 : 1.01 * of->unit * fabs(expected->value[i]);
        expected->bound[i] = additions * 0x1p-24 * size[i] + rounding;
    }
    free(count);
}

static void reference(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected)
{
    enum zoo_type type = type_of(problem);
    int64_t dim = problem->value[EMB_DIM];
    if (is_backward(problem)) {
        reference_backward(problem, buffer, &expected[OUT]);
        return;
    }
#pragma omp parallel for schedule(static) if (problem->value[EMB_TOKENS] * dim > 100000)
    for (int64_t t = 0; t < problem->value[EMB_TOKENS]; t++) {
        int64_t id = (int64_t)zoo_get(index_of(problem), buffer[IDS], (size_t)t);
        bool known = id >= 0 && id < problem->value[EMB_VOCAB];
        for (int64_t c = 0; c < dim; c++)
            expected[OUT].value[t * dim + c] =
                known ? zoo_get(type, buffer[IN], (size_t)(id * dim + c)) : 0;
    }
}

/* Forward at most as many rows are read as there are; backward every row is written. */
static double bytes(const struct zoo_problem *problem)
{
    double tokens = (double)problem->value[EMB_TOKENS], vocab = (double)problem->value[EMB_VOCAB];
    double row = (double)problem->value[EMB_DIM] * zoo_type_bytes[type_of(problem)];
    double rows = is_backward(problem) ? vocab : fmin(tokens, vocab);
    return tokens * zoo_type_bytes[index_of(problem)] + (tokens + rows) * row;
}

static double flops(const struct zoo_problem *problem)
{
    double all = (double)problem->value[EMB_TOKENS] * (double)problem->value[EMB_DIM];
    return is_backward(problem) ? all : 0;
}

/* Launches --------------------------------------------------------------------------------------*/

static int64_t per_vector(const struct zoo_problem *problem)
{
    return 16 / zoo_type_bytes[type_of(problem)];
}

static bool has_rows(const struct zoo_problem *problem)
{
    return problem->value[EMB_DIM] > 0 &&
           (is_backward(problem) ? problem->value[EMB_VOCAB] : problem->value[EMB_TOKENS]) > 0;
}

/* Of naive, in_flight, atomics and rescan: their arguments are the same but for the last. */
static CUresult launch(struct zoo_call *call, int64_t blocks, unsigned slices, int lanes)
{
    const struct zoo_problem *problem = call->problem;
    int64_t tokens = problem->value[EMB_TOKENS], vocab = problem->value[EMB_VOCAB];
    int64_t dim = problem->value[EMB_DIM];
    struct zoo_grid grid = {
        .x = (unsigned)blocks, .y = slices, .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    char kernel[32];
    snprintf(kernel, sizeof kernel, "%s_%s_%s", directions[problem->value[EMB_DIRECTION]],
             types[problem->value[EMB_TYPE]], indices[problem->value[EMB_INDEX]]);
    if (blocks == 0)
        return CUDA_SUCCESS;
    if (is_backward(problem))
        return ZOO_LAUNCH(call, kernel, grid, &call->buffer[IDS], &call->buffer[IN],
                          &call->buffer[OUT], &tokens, &vocab, &dim);
    return ZOO_LAUNCH(call, kernel, grid, &call->buffer[IDS], &call->buffer[IN], &call->buffer[OUT],
                      &tokens, &vocab, &dim, &lanes);
}

static int64_t elements(const struct zoo_problem *problem)
{
    return problem->value[EMB_TOKENS] * problem->value[EMB_DIM];
}

static CUresult launch_naive(struct zoo_call *call)
{
    return launch(call, zoo_ceil_div(elements(call->problem), zoo_tunable(call, "BLOCK")), 1, 0);
}

/* As many threads for a row as it has vectors for them, a power of two. */
static CUresult launch_in_flight(struct zoo_call *call)
{
    int64_t vectors = zoo_ceil_div(call->problem->value[EMB_DIM],
                                   per_vector(call->problem) * zoo_tunable(call, "UNROLL"));
    int block = zoo_tunable(call, "BLOCK"), lanes = 1;
    if (!has_rows(call->problem))
        return CUDA_SUCCESS;
    while (lanes < block && lanes < vectors)
        lanes *= 2;
    return launch(call, zoo_ceil_div(call->problem->value[EMB_TOKENS], block / lanes), 1, lanes);
}

static CUresult launch_atomics(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    size_t table = (size_t)problem->value[EMB_VOCAB] * (size_t)problem->value[EMB_DIM] * 4;
    CUresult status = table ? zoo_clear(call, call->buffer[OUT], table) : CUDA_SUCCESS;
    return status == CUDA_SUCCESS ? launch_naive(call) : status;
}

static unsigned slices_of(const struct zoo_problem *problem, int64_t threads)
{
    return zoo_ceil_div(problem->value[EMB_DIM], threads * per_vector(problem));
}

static CUresult launch_rescan(struct zoo_call *call)
{
    if (!has_rows(call->problem))
        return CUDA_SUCCESS;
    return launch(call, call->problem->value[EMB_VOCAB],
                  slices_of(call->problem, zoo_tunable(call, "BLOCK")), 0);
}

/* As lists_in has it. */
static size_t workspace_sorted(const struct zoo_call *call)
{
    const int64_t *value = call->problem->value;
    int64_t tokens = value[EMB_TOKENS], parts = tokens / PART + tokens / LONG;
    int64_t words = 4 + 3 * value[EMB_VOCAB] + 2 * tokens + 2 * parts + tokens / LONG;
    return (size_t)((words + 3) / 4 * 4 + parts * value[EMB_DIM]) * 4;
}

/* Tokens into lists. */
static CUresult launch_lists(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int64_t tokens = problem->value[EMB_TOKENS], vocab = problem->value[EMB_VOCAB];
    const char *index = indices[problem->value[EMB_INDEX]];
    struct zoo_grid by_tokens = {.x = zoo_ceil_div(tokens, 256), .threads = 256};
    struct zoo_grid by_rows = {.x = zoo_ceil_div(vocab, 256), .threads = 256};
    struct zoo_grid by_lists = {.x = (unsigned)(tokens / LONG), .threads = 1024};
    char count[16], place[16], arrange[16];
    snprintf(count, sizeof count, "count_%s", index);
    snprintf(place, sizeof place, "place_%s", index);
    snprintf(arrange, sizeof arrange, "arrange_%s", index);
    CUresult status = zoo_clear(call, call->workspace, (size_t)(4 + vocab) * 4);
    if (status == CUDA_SUCCESS && tokens > 0)
        status = ZOO_LAUNCH(call, count, by_tokens, &call->buffer[IDS], &call->workspace, &tokens,
                            &vocab);
    if (status == CUDA_SUCCESS)
        status = ZOO_LAUNCH(call, "allocate", by_rows, &call->workspace, &tokens, &vocab);
    if (status == CUDA_SUCCESS && tokens > 0)
        status = ZOO_LAUNCH(call, place, by_tokens, &call->buffer[IDS], &call->workspace, &tokens,
                            &vocab);
    if (status == CUDA_SUCCESS && tokens / LONG > 0)
        status = ZOO_LAUNCH(call, arrange, by_lists, &call->buffer[IDS], &call->workspace, &tokens,
                            &vocab);
    return status;
}

static CUresult launch_sorted(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int64_t tokens = problem->value[EMB_TOKENS], vocab = problem->value[EMB_VOCAB];
    int64_t dim = problem->value[EMB_DIM], vectors = zoo_ceil_div(dim, per_vector(problem));
    unsigned threads = vectors < SUM_THREADS ? zoo_ceil_div(vectors, 32) * 32 : SUM_THREADS;
    const char *type = types[problem->value[EMB_TYPE]];
    char parts[16], sum[16];
    if (!has_rows(problem))
        return CUDA_SUCCESS;
    unsigned slices = slices_of(problem, threads);
    struct zoo_grid by_parts = {
        .x = (unsigned)(tokens / PART + tokens / LONG), .y = slices, .threads = threads};
    struct zoo_grid by_rows = {.x = zoo_ceil_div(vocab, SUM_ROWS), .y = slices, .threads = threads};
    snprintf(parts, sizeof parts, "parts_%s", type);
    snprintf(sum, sizeof sum, "sum_%s", type);
    CUresult status = launch_lists(call);
    if (status == CUDA_SUCCESS && tokens / LONG > 0)
        status = ZOO_LAUNCH(call, parts, by_parts, &call->buffer[IN], &call->workspace, &tokens,
                            &vocab, &dim);
    if (status == CUDA_SUCCESS)
        status = ZOO_LAUNCH(call, sum, by_rows, &call->buffer[IN], &call->buffer[OUT],
                            &call->workspace, &tokens, &vocab, &dim);
    return status;
}

/* As in ranges.cu. A warp has a count for each row of a range. */
enum { RANGE_LONG = 64, RANGE_MOST = 1024, RANGE_WARPS = 32, RANGE_SUM_BLOCK = 256 };

static int64_t rows_of_range(const struct zoo_call *call)
{
    int64_t rows = zoo_ceil_div(call->problem->value[EMB_VOCAB], call->device->sm_count);
    return rows < RANGE_MOST ? rows : RANGE_MOST;
}
static unsigned shared_of_range(const struct zoo_call *call)
{
    return (unsigned)(RANGE_WARPS * rows_of_range(call)) * 4;
}
static unsigned range_sum_threads(const struct zoo_problem *problem)
{
    int64_t vectors = zoo_ceil_div(problem->value[EMB_DIM], per_vector(problem));
    return vectors < RANGE_SUM_BLOCK ? zoo_ceil_div(vectors, 32) * 32 : RANGE_SUM_BLOCK;
}
static int64_t slots_of(const struct zoo_problem *problem)
{
    return problem->value[EMB_TOKENS] / RANGE_LONG + 1;
}
static int64_t whole_vectors(int64_t words)
{
    return (words + 3) / 4 * 4;
}
static size_t workspace_ranges(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    if (!has_rows(problem))
        return 0;
    int64_t slots = slots_of(problem);
    int64_t arrived = slots * slices_of(problem, range_sum_threads(problem));
    return (size_t)(whole_vectors(problem->value[EMB_VOCAB] + 1) +
                    whole_vectors(problem->value[EMB_TOKENS]) + 4 * slots + whole_vectors(arrived) +
                    slots * problem->value[EMB_DIM]) *
           4;
}

static CUresult launch_ranges(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int64_t tokens = problem->value[EMB_TOKENS], vocab = problem->value[EMB_VOCAB];
    int64_t dim = problem->value[EMB_DIM];
    char lists[16], sum[16];
    if (!has_rows(problem))
        return CUDA_SUCCESS;
    unsigned threads = range_sum_threads(problem);
    int slices = (int)slices_of(problem, threads), most = (int)rows_of_range(call);
    int64_t items = slots_of(problem) + zoo_ceil_div(vocab, SUM_ROWS);
    snprintf(lists, sizeof lists, "lists_%s", indices[problem->value[EMB_INDEX]]);
    snprintf(sum, sizeof sum, "sum_%s", types[problem->value[EMB_TYPE]]);
    struct zoo_grid by_ranges = {
        .x = zoo_ceil_div(vocab, most), .threads = 1024, .shared = shared_of_range(call)};
    struct zoo_grid by_rows = {
        .x = (unsigned)(items * slices), .threads = threads, .overlaps = true};
    CUresult status = ZOO_LAUNCH(call, lists, by_ranges, &call->buffer[IDS], &call->workspace,
                                 &tokens, &vocab, &most, &slices);
    if (status != CUDA_SUCCESS)
        return status;
    return ZOO_LAUNCH(call, sum, by_rows, &call->buffer[IN], &call->buffer[OUT], &call->workspace,
                      &tokens, &vocab, &dim, &slices);
}
static bool fits_ranges(const struct zoo_call *call)
{
    return call->device->shared_per_block >= (int)shared_of_range(call);
}

static bool takes_forward(const struct zoo_problem *problem)
{
    return !is_backward(problem);
}
static bool takes_atomics(const struct zoo_problem *problem)
{
    return is_backward(problem) && type_of(problem) == ZOO_F32;
}
/* Every row reads all numbers. */
static bool takes_rescan(const struct zoo_problem *problem)
{
    return is_backward(problem) &&
           problem->value[EMB_VOCAB] * problem->value[EMB_TOKENS] <= (int64_t)1 << 28;
}
static bool takes_backward(const struct zoo_problem *problem)
{
    return is_backward(problem);
}

static const struct zoo_variant variants[] = {
    {"naive", "forward: one thread for each element", launch_naive, .takes = takes_forward,
     .traits = ZOO_DETERMINISTIC},
    {"in_flight", "forward: vectors, several of a row under way before the first is stored",
     launch_in_flight, .takes = takes_forward, .traits = ZOO_DETERMINISTIC},
    {"atomics", "backward: every element is added to its place", launch_atomics,
     .takes = takes_atomics},
    {"rescan", "backward: each row looks at all tokens", launch_rescan, .takes = takes_rescan,
     .traits = ZOO_DETERMINISTIC},
    {"sorted", "backward: tokens are listed by number, and each row is written once", launch_sorted,
     workspace_sorted, .takes = takes_backward, .traits = ZOO_DETERMINISTIC},
    {"ranges", "backward: a block for each SM lists a range's tokens; two launches", launch_ranges,
     workspace_ranges, .takes = takes_backward, .fits = fits_ranges, .traits = ZOO_DETERMINISTIC},
    {0}};

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     .call = "torch.nn.functional.embedding(x[0], x[1].view(vocab, dim)) if direction == 'forward' "
             "else torch.ops.aten.embedding_dense_backward(x[1].view(tokens, dim), x[0], vocab, "
             "-1, False)"},
    {0}};

static const char *const edges[] = {
    "tokens=0,1,5,100 vocab=1,7 dim=1,7,8,64 type=bf16 direction=forward,backward",
    "tokens=50 vocab=33 dim=0,40,1032 type=bf16,f16,f32 index=i32,i64 direction=forward,backward",
    "tokens=700 vocab=40 dim=24 type=bf16,f32 direction=backward dist=words,same",
    "tokens=1500 vocab=3 dim=9 type=f32,f16 index=i64 direction=backward dist=uniform,ascending",
    "tokens=60 vocab=20 dim=32 type=bf16,f32 direction=forward,backward dist=outside",
    NULL};

static const char *const bench[] = {
    "tokens=32K vocab=32K dim=4K type=bf16 index=i64 direction=forward,backward",
    "tokens=16K vocab=16K dim=4K type=f32 index=i64 direction=backward",
    "tokens=32K vocab=32K dim=4K type=bf16 index=i64 direction=backward dist=words,same",
    "tokens=8K vocab=32K dim=1K type=bf16 index=i64 direction=forward,backward", NULL};

const struct zoo_family zoo_embedding = {
    .name = "embedding",
    .title = "rows of a table by number, forward and backward",
    .problem =
        "Forward out[t] = table[ids[t]]; backward dtable[v] is the sum of dout[t] over all t with "
        "ids[t] = v, in f32. Rows have dim numbers. A number outside of the vocabulary gives zeros "
        "and gets no gradient.",
    .parameters = {{"tokens", "rows of the output", 0, (int64_t)1 << 30, 1024, NULL},
                   {"vocab", "rows of the table", 1, (int64_t)1 << 30, 1024, NULL},
                   {"dim", "numbers in a row", 0, 1 << 24, 1024, NULL},
                   {"type", "bf16, f16 or f32", 0, 2, 0, types},
                   {"index", "of the row numbers: i32 or i64", 0, 1, 0, indices},
                   {"direction", "forward or backward", 0, 1, 0, directions},
                   {0}},
    .distributions = distributions,
    .profile = "tokens=1K vocab=1K dim=512",
    ZOO_FAMILY_PARTS,
};
