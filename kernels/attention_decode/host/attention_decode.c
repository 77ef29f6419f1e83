/*
 * attention_decode.c: the attention_decode family: a few new queries of each sequence against the
 * keys and values that are cached, in one piece or in pages, with sequences of any length and heads
 * that share K and V. reference.c has what must come out.
 */
#include "decode.h"

#include <math.h>
#include <stdio.h>

enum { BATCH = DECODE_P_BATCH, HEADS = DECODE_P_HEADS, GROUP = DECODE_P_GROUP };
enum { QUERIES = DECODE_P_QUERIES, KEYS = DECODE_P_KEYS, DIM = DECODE_P_DIM };
enum { TYPE = DECODE_P_TYPE, PAGE = DECODE_P_PAGE };
enum { F32 = 2 }; /* of type_names */

static const char *const type_names[] = {"bf16", "f16", "f32", NULL};
static const char *const layout_names[] = {"heads_first", "rows_first", NULL};
static const char *const length_names[] = {"alike", "ragged", NULL};
static const char *const answer_names[] = {"no", "yes", NULL};
static const char *const distributions[] = {"uniform", "matched", "huge", "equal", NULL};

enum zoo_type decode_type(const struct zoo_problem *problem)
{
    static const enum zoo_type types[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return types[problem->value[TYPE]];
}

/* The problem -----------------------------------------------------------------------------------*/

static int64_t pages_of_sequence(const struct zoo_problem *problem)
{
    int64_t page = problem->value[PAGE];
    return page ? (problem->value[KEYS] + page - 1) / page : 1;
}
static int64_t pool_of(const struct zoo_problem *problem)
{
    int64_t pool = problem->value[DECODE_P_POOL];
    return problem->value[PAGE] && pool ? pool : problem->value[BATCH] * pages_of_sequence(problem);
}

/* Whole; a third; one key; none; nearly whole; and again. */
int64_t decode_length(const struct zoo_problem *problem, int64_t number)
{
    int64_t most = problem->value[KEYS];
    if (!problem->value[DECODE_P_LENGTHS])
        return most;
    const int64_t lengths[] = {most, most / 3, most > 0, 0, most - most / 7};
    return lengths[number % 5];
}

/* All pages of the pool in an order that jumps about; again from the first when it ends. */
int64_t decode_page(const struct zoo_problem *problem, int64_t number)
{
    int64_t pool = pool_of(problem), jump = 7919, a, b;
    for (;; jump++) {
        for (a = jump, b = pool; b;) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return number % pool * (jump % pool) % pool;
    }
}

size_t decode_at(const struct zoo_problem *problem, int64_t sequence, int64_t head, int64_t key)
{
    struct decode_arguments g = decode_arguments_of(problem);
    int64_t page = problem->value[PAGE]
                       ? decode_page(problem, sequence * g.table_row + key / g.page)
                       : sequence;
    return (size_t)(page * g.step + head * g.head + key % g.page * g.row);
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    const int64_t *v = problem->value;
    enum zoo_type type = decode_type(problem);
    size_t rows = (size_t)(v[BATCH] * v[HEADS] * v[GROUP] * v[QUERIES]), dim = (size_t)v[DIM];
    size_t cache = (size_t)(pool_of(problem) * (v[PAGE] ? v[PAGE] : v[KEYS]) * v[HEADS]) * dim;
    size_t table = v[PAGE] ? (size_t)(v[BATCH] * pages_of_sequence(problem)) : 0;
    buffers[DECODE_B_Q] = (struct zoo_buffer){"q", ZOO_IN, type, rows * dim};
    buffers[DECODE_B_K] = (struct zoo_buffer){"k", ZOO_IN, type, cache};
    buffers[DECODE_B_V] = (struct zoo_buffer){"v", ZOO_IN, type, cache};
    buffers[DECODE_B_O] = (struct zoo_buffer){"o", ZOO_OUT, type, rows * dim};
    buffers[DECODE_B_LSE] =
        (struct zoo_buffer){"lse", ZOO_OUT, ZOO_F32, v[DECODE_P_LSE] ? rows : 0};
    buffers[DECODE_B_LENGTHS] =
        (struct zoo_buffer){"lengths", ZOO_IN, ZOO_I32, v[DECODE_P_LENGTHS] ? (size_t)v[BATCH] : 0};
    buffers[DECODE_B_TABLE] = (struct zoo_buffer){"table", ZOO_IN, ZOO_I32, table};
    return DECODE_BUFFERS;
}

static double number_of(const struct zoo_problem *problem, unsigned buffer, int64_t row,
                        int64_t column)
{
    uint64_t i = (uint64_t)(row * problem->value[DIM] + column);
    double unit = 2 * zoo_random_unit(problem->seed, buffer, i) - 1;
    if (buffer == DECODE_B_V)
        return problem->distribution == DECODE_EQUAL
                   ? ((double)(row % 61) + (double)(column % 7)) / 16
                   : unit;
    switch ((enum decode_distribution)problem->distribution) {
    case DECODE_MATCHED: /* of few rows, so that most queries find their key */
        return (buffer == DECODE_B_Q ? 4 : 1) *
               (zoo_random(problem->seed, 7, (uint64_t)(row * 29 % 97 * 1000 + column)) % 2 ? 1.0
                                                                                            : -1.0);
    case DECODE_HUGE:
        return 64 * unit;
    case DECODE_EQUAL:
        return column % 3 == 0 ? 0.5 : -0.25;
    default:
        return 2 * unit;
    }
}

/* Keys beyond a sequence's length, and pages that nobody has, are NaN: they must not count. */
static void fill_cache(const struct zoo_problem *problem, unsigned buffer, size_t count, void *data)
{
    const int64_t *v = problem->value;
    enum zoo_type type = decode_type(problem);
    if (v[PAGE] || v[DECODE_P_LENGTHS]) {
#pragma omp parallel for schedule(static) if (count > 100000)
        for (size_t i = 0; i < count; i++)
            zoo_put(type, data, i, NAN);
    }
#pragma omp parallel for schedule(dynamic) if (count > 100000)
    for (int64_t line = 0; line < v[BATCH] * v[HEADS]; line++) {
        int64_t sequence = line / v[HEADS], length = decode_length(problem, sequence);
        for (int64_t key = 0; key < length; key++) {
            size_t at = decode_at(problem, sequence, line % v[HEADS], key);
            for (int64_t i = 0; i < v[DIM]; i++)
                zoo_put(type, data, at + (size_t)i,
                        number_of(problem, buffer, line * v[KEYS] + key, i));
        }
    }
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    int32_t *lengths = buffer[DECODE_B_LENGTHS], *table = buffer[DECODE_B_TABLE];
    shape(problem, buffers);
    for (size_t i = 0; i < buffers[DECODE_B_Q].count; i++)
        zoo_put(buffers[DECODE_B_Q].type, buffer[DECODE_B_Q], i,
                number_of(problem, DECODE_B_Q, (int64_t)i / problem->value[DIM],
                          (int64_t)i % problem->value[DIM]));
    for (unsigned b = DECODE_B_K; b <= DECODE_B_V; b++)
        fill_cache(problem, b, buffers[b].count, buffer[b]);
    for (size_t i = 0; i < buffers[DECODE_B_LENGTHS].count; i++)
        lengths[i] = (int32_t)decode_length(problem, (int64_t)i);
    for (size_t i = 0; i < buffers[DECODE_B_TABLE].count; i++)
        table[i] = (int32_t)decode_page(problem, (int64_t)i);
}

/* Keys of all sequences. */
static double all_keys(const struct zoo_problem *problem)
{
    double keys = 0;
    for (int64_t i = 0; i < problem->value[BATCH]; i++)
        keys += (double)decode_length(problem, i);
    return keys;
}

static double bytes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    double row = zoo_type_bytes[decode_type(problem)] * (double)v[DIM];
    double rows = (double)(v[BATCH] * v[HEADS] * v[GROUP] * v[QUERIES]);
    return 2 * row * (rows + (double)v[HEADS] * all_keys(problem)) +
           (v[DECODE_P_LSE] ? 4 * rows : 0);
}

static double flops(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return 4 * (double)(v[HEADS] * v[GROUP] * v[QUERIES] * v[DIM]) * all_keys(problem);
}

static const char *unit(const struct zoo_problem *problem)
{
    static const char *const units[] = {"tensor-bf16", "tensor-f16", "f32"};
    return units[problem->value[TYPE]];
}

/* Launches --------------------------------------------------------------------------------------*/

struct decode_arguments decode_arguments_of(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    bool by_heads = v[DECODE_P_LAYOUT] == DECODE_HEADS_FIRST;
    int64_t heads = v[HEADS] * v[GROUP], page = v[PAGE] ? v[PAGE] : v[KEYS];
    double scale = (double)zoo_as_float(v[DECODE_P_SCALE]);
    return (struct decode_arguments){
        .q_row = by_heads ? v[DIM] : heads * v[DIM],
        .q_head = by_heads ? v[QUERIES] * v[DIM] : v[DIM],
        .q_batch = heads * v[QUERIES] * v[DIM],
        .row = by_heads ? v[DIM] : v[HEADS] * v[DIM],
        .head = by_heads ? page * v[DIM] : v[DIM],
        .step = page * v[HEADS] * v[DIM],
        .batch = (int)v[BATCH],
        .heads = (int)v[HEADS],
        .group = (int)v[GROUP],
        .queries = (int)v[QUERIES],
        .keys = (int)v[KEYS],
        .dim = (int)v[DIM],
        .page = page > 0 ? (int)page : 1,
        .table_row = (int)pages_of_sequence(problem),
        .scale = (float)((scale != 0 ? scale : 1 / sqrt((double)v[DIM])) * 1.4426950408889634),
    };
}

static struct decode_arguments arguments_of(const struct zoo_call *call, int64_t parts)
{
    struct decode_arguments g = decode_arguments_of(call->problem);
    const int64_t *v = call->problem->value;
    g.q = call->buffer[DECODE_B_Q];
    g.k = call->buffer[DECODE_B_K];
    g.v = call->buffer[DECODE_B_V];
    g.o = call->buffer[DECODE_B_O];
    g.lse = v[DECODE_P_LSE] ? call->buffer[DECODE_B_LSE] : 0;
    g.lengths = v[DECODE_P_LENGTHS] ? call->buffer[DECODE_B_LENGTHS] : 0;
    g.table = v[PAGE] ? call->buffer[DECODE_B_TABLE] : 0;
    g.parts = (int)parts;
    return g;
}

static int64_t rows_of(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return v[BATCH] * v[HEADS] * v[GROUP] * v[QUERIES];
}

static CUresult launch_naive(struct zoo_call *call)
{
    char kernel[32];
    struct decode_arguments g = arguments_of(call, 1);
    int64_t rows = rows_of(call->problem);
    if (rows == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "decode_%s", type_names[call->problem->value[TYPE]]);
    return ZOO_LAUNCH(call, kernel, ((struct zoo_grid){.x = (unsigned)rows, .threads = 256}), &g);
}

/* Eight blocks for each SM, but no parts of less than 64 keys. */
static int64_t parts_of_split(const struct zoo_call *call)
{
    int64_t rows = rows_of(call->problem), wanted = 8 * call->device->sm_count;
    int64_t parts = rows ? (wanted + rows - 1) / rows : 1;
    int64_t most = (call->problem->value[KEYS] + 63) / 64;
    parts = parts < most ? parts : most;
    return parts < 1 ? 1 : parts;
}
static size_t workspace_split(const struct zoo_call *call)
{
    return (size_t)rows_of(call->problem) * (size_t)parts_of_split(call) *
           (size_t)(call->problem->value[DIM] + 2) * 4;
}
static CUresult launch_split(struct zoo_call *call)
{
    char kernel[32];
    int64_t rows = rows_of(call->problem), parts = parts_of_split(call);
    const int64_t *v = call->problem->value;
    struct decode_arguments g = arguments_of(call, parts);
    g.workspace = call->workspace;
    if (rows == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "decode_%s_%d", type_names[v[TYPE]], (int)v[DIM]);
    CUresult status = ZOO_LAUNCH(
        call, kernel,
        ((struct zoo_grid){.x = (unsigned)rows, .y = (unsigned)parts, .threads = 128}), &g);
    if (status != CUDA_SUCCESS)
        return status;
    snprintf(kernel, sizeof kernel, "merge_%s", type_names[v[TYPE]]);
    return ZOO_LAUNCH(call, kernel,
                      ((struct zoo_grid){.x = (unsigned)rows, .threads = (unsigned)v[DIM]}), &g);
}

static CUresult launch_cluster(struct zoo_call *call)
{
    char kernel[32];
    const int64_t *v = call->problem->value;
    int64_t rows = rows_of(call->problem), parts = v[KEYS] >= 1024 ? 8 : v[KEYS] >= 256 ? 4 : 2;
    struct decode_arguments g = arguments_of(call, parts);
    if (rows == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "decode_%s_%d", type_names[v[TYPE]], (int)v[DIM]);
    struct zoo_grid grid = {
        .x = (unsigned)(rows * parts), .threads = 128, .cluster = (unsigned)parts};
    return ZOO_LAUNCH(call, kernel, grid, &g);
}

/* Rows of a packet of packed.cu, and packets of all heads. */
static int64_t packet_rows(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return v[GROUP] * v[QUERIES] <= 16 || v[DIM] == 256 ? 16 : 32;
}
static int64_t packets_of(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value, rows = packet_rows(problem);
    return v[HEADS] * ((v[GROUP] * v[QUERIES] + rows - 1) / rows);
}
/* As many blocks as are resident at once, but none with less than eight tiles of 16 keys. */
static int64_t parts_of_packed(const struct zoo_call *call)
{
    const int64_t *v = call->problem->value;
    int64_t parts = (int64_t)call->device->sm_count * (v[DIM] == 256 ? 1 : 2);
    int64_t tiles = v[BATCH] * packets_of(call->problem) * ((v[KEYS] + 15) / 16 + 4);
    int64_t most = (tiles + 7) / 8;
    parts = parts < most ? parts : most;
    return parts < 1 ? 1 : parts;
}
static size_t workspace_packed(const struct zoo_call *call)
{
    return (size_t)parts_of_packed(call) * 2 * (size_t)packet_rows(call->problem) *
           (size_t)(call->problem->value[DIM] + 2) * 4;
}
static CUresult launch_shares(struct zoo_call *call, bool chained)
{
    char name[32], kernel[48];
    const int64_t *v = call->problem->value;
    int64_t parts = parts_of_packed(call), dim = v[DIM];
    struct decode_arguments g = arguments_of(call, parts);
    g.workspace = call->workspace;
    unsigned row = zoo_ceil_div(dim, 64) * 128, stages = dim == 64 ? 6 : 3;
    unsigned shared = 4 * stages * 2 * 16 * row + 16 * ((unsigned)dim + 8) * 4 + 4 * 16 * 8 + 16;
    if (rows_of(call->problem) == 0)
        return CUDA_SUCCESS;
    snprintf(name, sizeof name, "%s_%d_%d", type_names[v[TYPE]], (int)dim,
             (int)packet_rows(call->problem));
    snprintf(kernel, sizeof kernel, "decode_%s", name);
    CUresult status =
        ZOO_LAUNCH(call, kernel,
                   ((struct zoo_grid){.x = (unsigned)parts, .threads = 128, .shared = shared}), &g);
    if (status != CUDA_SUCCESS)
        return status;
    snprintf(kernel, sizeof kernel, "merge_%s", name);
    return ZOO_LAUNCH(call, kernel,
                      ((struct zoo_grid){.x = (unsigned)(v[GROUP] * v[QUERIES]),
                                         .y = (unsigned)v[HEADS],
                                         .z = (unsigned)v[BATCH],
                                         .threads = 128,
                                         .overlaps = chained}),
                      &g);
}
static CUresult launch_packed(struct zoo_call *call)
{
    return launch_shares(call, false);
}
static CUresult launch_chained(struct zoo_call *call)
{
    return launch_shares(call, true);
}

static bool has_tile(const struct zoo_problem *problem)
{
    int64_t dim = problem->value[DIM];
    return (dim == 64 || dim == 96 || dim == 128 || dim == 256) && problem->value[TYPE] != F32;
}
static bool takes_naive(const struct zoo_problem *problem)
{
    return rows_of(problem) < (int64_t)1 << 31;
}
static bool takes_vectors(const struct zoo_problem *problem)
{
    return has_tile(problem) && rows_of(problem) < (int64_t)1 << 27;
}
/* A tile of 16 keys lies in one page, and tiles are counted in 31 bits. */
static bool takes_packed(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return has_tile(problem) && v[PAGE] % 16 == 0 && v[BATCH] < 1 << 16 &&
           v[BATCH] * packets_of(problem) * (v[KEYS] / 16 + 5) < (int64_t)1 << 31;
}

static const struct zoo_variant variants[] = {
    {"naive", "a block for each head, a warp for each key", launch_naive, .takes = takes_naive,
     .traits = ZOO_DETERMINISTIC},
    {"split", "parts of the sequence, 16 bytes a lane; a second kernel merges", launch_split,
     workspace_split, takes_vectors, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"cluster", "parts merge in distributed shared memory", launch_cluster, .takes = takes_vectors,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"packed", "tensor cores take a group at once: each byte is read once; equal shares",
     launch_packed, workspace_packed, takes_packed, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"chained", "the merge is launched ahead", launch_chained, workspace_packed, takes_packed,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {0}};

/* One query for each head: the heads of a group are then as good as queries. */
static bool torch_takes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return v[BATCH] && v[QUERIES] == 1 && v[KEYS] && !v[PAGE] && !v[DECODE_P_LENGTHS] &&
           !v[DECODE_P_LSE] && !v[DECODE_P_SCALE] && v[TYPE] != F32 &&
           v[DECODE_P_LAYOUT] == DECODE_HEADS_FIRST;
}

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     "torch.nn.functional.scaled_dot_product_attention("
     "x[0].view(batch, heads, group, dim), x[1].view(batch, heads, keys, dim), "
     "x[2].view(batch, heads, keys, dim))",
     .takes = torch_takes},
    {0}};

static const char *const edges[] = {
    "batch=0,1 keys=0,1,3 type=bf16,f32 lse=yes",
    "batch=2 heads=2 group=1,3 keys=1,16,17,130 type=bf16,f16 lse=yes",
    "heads=2 group=2 keys=70 dim=64,96,128,256 type=bf16,f16 lse=yes",
    "heads=1 group=2 keys=300 dim=96,256 lse=yes",
    "heads=1 group=5 queries=2,3,7 keys=1,2,5,140 type=bf16 lse=yes",
    "heads=1 group=17,40 keys=60 dim=64,128,256 lse=yes",
    "batch=7 heads=2 group=4 keys=200 lengths=ragged lse=yes",
    "batch=6 heads=2 group=2 queries=3 keys=90 lengths=ragged dim=64 lse=yes",
    "batch=140 heads=1 keys=20 lengths=ragged dim=64", /* more sequences than threads */
    "batch=5 heads=2 group=3 keys=150 page=16,48,256 lengths=ragged lse=yes",
    "batch=3 heads=2 keys=100 page=1,7 lengths=ragged lse=yes",
    "batch=4 heads=2 group=4 keys=130 page=0,32 layout=rows_first lengths=ragged dim=96 lse=yes",
    "batch=2 heads=2 group=2 keys=100 page=16 pool=40 lse=yes",
    "heads=1 group=2 keys=180 dist=matched,huge,equal type=bf16,f16,f32 lse=yes",
    "heads=1 group=4 keys=1100 dist=huge lse=yes",
    "heads=1 keys=40 dim=1,7,200,512 type=bf16,f16,f32 lse=yes",
    "heads=1 group=2 keys=60 scale=1,3 lse=yes",
    NULL};

static const char *const bench[] = {"batch=16 heads=8 group=4 keys=16K",
                                    "batch=16 heads=8 group=4 keys=16K page=16,64,256",
                                    "batch=16 heads=8 group=4 keys=16K page=64 layout=rows_first",
                                    "batch=16 heads=8 group=8 keys=16K",
                                    "batch=16 heads=32 group=1 keys=4K",
                                    "batch=64 heads=8 group=4 keys=4K",
                                    "batch=60 heads=8 group=4 keys=8K page=64 lengths=ragged",
                                    "batch=1 heads=8 group=4 keys=128K",
                                    "batch=1 heads=8 group=4 keys=8K",
                                    "batch=16 heads=8 group=4 queries=4 keys=16K",
                                    "batch=16 heads=8 group=8 keys=16K dim=64",
                                    NULL};

const struct zoo_family zoo_attention_decode = {
    .name = "attention_decode",
    .title = "attention of new queries to a cache",
    .problem =
        "O = softmax(scale Q K^T) V for the last few queries of every sequence, whose keys and "
        "values are in a cache, in one piece for each sequence or in pages that a table names; and "
        "each row's log-sum-exp. Heads of queries share one of K and V in groups. The last query "
        "stands at the last key, and each sees keys up to where it stands. Who sees no key gets "
        "zeros.",
    .parameters = {{"batch", "sequences", 0, 1 << 16, 1, NULL},
                   {"heads", "of K and V", 1, 1 << 10, 2, NULL},
                   {"group", "heads of Q for each of K and V", 1, 128, 1, NULL},
                   {"queries", "new ones of a sequence", 1, 1 << 10, 1, NULL},
                   {"keys", "in the cache of a sequence, at most", 0, 1 << 24, 512, NULL},
                   {"dim", "of a head", 1, 512, 128, NULL},
                   {"type", "of Q, K, V and O", 0, 2, 0, type_names},
                   {"page", "keys of a page; 0: not paged", 0, 1 << 16, 0, NULL},
                   {"pool", "pages of the cache; 0: as many as needed", 0, 1 << 28, 0, NULL},
                   {"layout", "of the tensors", 0, 1, 0, layout_names},
                   {"lengths", "of the sequences", 0, 1, 0, length_names},
                   {"lse", "is the log-sum-exp wanted?", 0, 1, 0, answer_names},
                   {"scale", "of the scores; 0: 1 / sqrt(dim)", 0, 1 << 10, 0, NULL, true},
                   {0}},
    .distributions = distributions,
    .profile = "batch=2 heads=2 group=4 keys=1K",
    .unit = unit,
    .reference = decode_reference,
    .edges = edges,
    .bench = bench,
    .shape = shape,
    .generate = generate,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
