/*
 * attention.c: the attention family: O = softmax(scale Q K^T) V for every head, with a causal mask,
 * a window, a softcap, heads that share K and V, and sequences of any length. plan.c has the
 * launches, reference.c what must come out.
 */
#include "attention.h"

#include <math.h>

enum { BATCH = ATTENTION_P_BATCH, HEADS = ATTENTION_P_HEADS, GROUP = ATTENTION_P_GROUP };
enum { QUERIES = ATTENTION_P_QUERIES, KEYS = ATTENTION_P_KEYS, DIM = ATTENTION_P_DIM };
enum { MASK = ATTENTION_P_MASK, WINDOW = ATTENTION_P_WINDOW, LAYOUT = ATTENTION_P_LAYOUT };

static const char *const type_names[] = {"bf16", "f16", "f32", "e4m3", NULL};
static const char *const mask_names[] = {"full", "causal", NULL};
static const char *const layout_names[] = {"heads_first", "rows_first", "packed", NULL};
static const char *const answer_names[] = {"no", "yes", NULL};
static const char *const also_names[] = {"nothing", "padding", "alibi", "dropout", "all", NULL};
static const char *const distributions[] = {"uniform", "matched", "huge", "equal", NULL};

enum zoo_type attention_type(const struct zoo_problem *problem)
{
    static const enum zoo_type types[] = {ZOO_BF16, ZOO_F16, ZOO_F32, ZOO_E4M3};
    return types[problem->value[ATTENTION_P_TYPE]];
}

static bool is_e4m3(const struct zoo_problem *problem)
{
    return problem->value[ATTENTION_P_TYPE] == ATTENTION_E4M3;
}

/* The problem -----------------------------------------------------------------------------------*/

/* Packed: every other sequence is shorter, with another ratio of queries to keys; or empty. */
int64_t attention_length(const struct zoo_problem *problem, int64_t number, bool of_keys)
{
    int64_t most = problem->value[of_keys ? KEYS : QUERIES];
    bool is_short = problem->value[LAYOUT] == ATTENTION_PACKED && number % 2 == 1;
    return is_short ? most / (of_keys ? 2 : 3) : most;
}

bool attention_has(const struct zoo_problem *problem, enum attention_also what)
{
    return problem->value[ATTENTION_P_ALSO] == what ||
           problem->value[ATTENTION_P_ALSO] == ATTENTION_ALL;
}

/* All of them, a third, none, all but one, one. */
int64_t attention_visible(const struct zoo_problem *problem, int64_t number)
{
    int64_t keys = attention_length(problem, number, true), one = keys > 0;
    const int64_t visible[] = {keys, keys / 3, 0, keys - one, one};
    return attention_has(problem, ATTENTION_PADDING) ? visible[number % 5] : keys;
}

double attention_slope(int64_t head)
{
    return exp2(-(double)(head % 8) / 2 - 1);
}

static int64_t all_rows(const struct zoo_problem *problem, bool of_keys)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < problem->value[BATCH]; i++)
        sum += attention_length(problem, i, of_keys);
    return sum;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    const int64_t *v = problem->value;
    enum zoo_type type = attention_type(problem), out = is_e4m3(problem) ? ZOO_BF16 : type;
    size_t q_rows = (size_t)(v[BATCH] * v[HEADS] * v[GROUP] * v[QUERIES]);
    size_t k_rows = (size_t)(v[BATCH] * v[HEADS] * v[KEYS]), dim = (size_t)v[DIM];
    size_t begins = v[LAYOUT] == ATTENTION_PACKED ? (size_t)v[BATCH] + 1 : 0;
    buffers[ATTENTION_B_Q] = (struct zoo_buffer){"q", ZOO_IN, type, q_rows * dim};
    buffers[ATTENTION_B_K] = (struct zoo_buffer){"k", ZOO_IN, type, k_rows * dim};
    buffers[ATTENTION_B_V] = (struct zoo_buffer){"v", ZOO_IN, type, k_rows * dim};
    buffers[ATTENTION_B_O] = (struct zoo_buffer){"o", ZOO_OUT, out, q_rows * dim};
    buffers[ATTENTION_B_LSE] =
        (struct zoo_buffer){"lse", ZOO_OUT, ZOO_F32, v[ATTENTION_P_LSE] ? q_rows : 0};
    buffers[ATTENTION_B_Q_BEGIN] = (struct zoo_buffer){"q_begin", ZOO_IN, ZOO_I32, begins};
    buffers[ATTENTION_B_K_BEGIN] = (struct zoo_buffer){"k_begin", ZOO_IN, ZOO_I32, begins};
    buffers[ATTENTION_B_SCALES] =
        (struct zoo_buffer){"scales", ZOO_IN, ZOO_F32, is_e4m3(problem) ? 3 * (size_t)v[HEADS] : 0};
    buffers[ATTENTION_B_LENGTHS] =
        (struct zoo_buffer){"lengths", ZOO_IN, ZOO_I32,
                            attention_has(problem, ATTENTION_PADDING) ? (size_t)v[BATCH] : 0};
    buffers[ATTENTION_B_SLOPES] = (struct zoo_buffer){
        "slopes", ZOO_IN, ZOO_F32,
        attention_has(problem, ATTENTION_ALIBI) ? (size_t)(v[HEADS] * v[GROUP]) : 0};
    return ATTENTION_BUFFERS;
}

static double number_of(const struct zoo_problem *problem, unsigned buffer, size_t i)
{
    size_t dim = (size_t)problem->value[DIM], row = i / dim, column = i % dim;
    double unit = 2 * zoo_random_unit(problem->seed, buffer, i) - 1;
    if (buffer == ATTENTION_B_V)
        return problem->distribution == ATTENTION_EQUAL
                   ? ((double)(row % 61) + (double)(column % 7)) / 16
                   : unit;
    switch ((enum attention_distribution)problem->distribution) {
    case ATTENTION_MATCHED: /* of few rows, so that most queries find their key */
        return (buffer == ATTENTION_B_Q ? 4 : 1) *
               (zoo_random(problem->seed, 7, row * 29 % 97 * 1000 + column) % 2 ? 1.0 : -1.0);
    case ATTENTION_HUGE:
        return 64 * unit;
    case ATTENTION_EQUAL:
        return column % 3 == 0 ? 0.5 : -0.25;
    default:
        return 2 * unit;
    }
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    shape(problem, buffers);
    for (unsigned b = ATTENTION_B_Q; b <= ATTENTION_B_V; b++) {
#pragma omp parallel for schedule(static) if (buffers[b].count > 100000)
        for (size_t i = 0; i < buffers[b].count; i++)
            zoo_put(buffers[b].type, buffer[b], i, number_of(problem, b, i));
    }
    for (size_t i = 0; i < buffers[ATTENTION_B_SCALES].count; i++)
        zoo_put(ZOO_F32, buffer[ATTENTION_B_SCALES], i,
                0.5 + zoo_random_unit(problem->seed, ATTENTION_B_SCALES, i));
    for (size_t i = 0; i < buffers[ATTENTION_B_LENGTHS].count; i++)
        zoo_put(ZOO_I32, buffer[ATTENTION_B_LENGTHS], i,
                (double)attention_visible(problem, (int64_t)i));
    for (size_t i = 0; i < buffers[ATTENTION_B_SLOPES].count; i++)
        zoo_put(ZOO_F32, buffer[ATTENTION_B_SLOPES], i, attention_slope((int64_t)i));
    for (unsigned b = ATTENTION_B_Q_BEGIN; b <= ATTENTION_B_K_BEGIN; b++) {
        int32_t *begin = buffer[b], sum = 0;
        for (size_t i = 0; i < buffers[b].count; i++) {
            begin[i] = sum;
            sum += (int32_t)attention_length(problem, (int64_t)i, b == ATTENTION_B_K_BEGIN);
        }
    }
}

static double bytes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    double sum = 0, each = zoo_type_bytes[attention_type(problem)] * (double)v[DIM];
    double both = is_e4m3(problem) ? 3 * each : 2 * each; /* a row of Q and one of O */
    for (int64_t i = 0; i < v[BATCH]; i++) {
        double queries = (double)attention_length(problem, i, false);
        double keys = (double)attention_length(problem, i, true);
        sum += (double)v[HEADS] * (both * (double)v[GROUP] * queries + 2 * each * keys);
        if (v[ATTENTION_P_LSE])
            sum += 4 * (double)(v[HEADS] * v[GROUP]) * queries;
    }
    return sum;
}

/* Two products of `dim` for every pair of a query and a key that it sees. */
static double flops(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    struct attention_request r = attention_request_of(problem, (CUdeviceptr[ZOO_BUFFERS]){0});
    double pairs = 0;
    for (int64_t b = 0; b < v[BATCH]; b++) {
        int64_t queries = attention_length(problem, b, false);
        int64_t keys = attention_length(problem, b, true);
        for (int64_t i = 0; i < queries; i++) {
            int64_t diagonal = i + keys - queries, first = diagonal - r.left,
                    last = diagonal + r.right;
            first = first > 0 ? first : 0;
            last =
                last < attention_visible(problem, b) - 1 ? last : attention_visible(problem, b) - 1;
            pairs += last >= first ? (double)(last - first + 1) : 0;
        }
    }
    return 4 * pairs * (double)(v[HEADS] * v[GROUP] * v[DIM]);
}

static const char *unit(const struct zoo_problem *problem)
{
    static const char *const units[] = {"tensor-bf16", "tensor-f16", "f32", "tensor-f8"};
    return units[problem->value[ATTENTION_P_TYPE]];
}

/* Launches --------------------------------------------------------------------------------------*/

static struct attention_steps steps_of(const struct zoo_problem *problem, int64_t heads,
                                       int64_t rows)
{
    int64_t dim = problem->value[DIM];
    if (problem->value[LAYOUT] == ATTENTION_HEADS_FIRST)
        return (struct attention_steps){dim, rows * dim, heads * rows * dim};
    return (struct attention_steps){heads * dim, dim, heads * rows * dim};
}

struct attention_request attention_request_of(const struct zoo_problem *problem,
                                              const CUdeviceptr *buffer)
{
    const int64_t *v = problem->value;
    int64_t window = v[WINDOW] ? v[WINDOW] - 1 : ATTENTION_NO_LIMIT;
    struct attention_steps of_q = steps_of(problem, v[HEADS] * v[GROUP], v[QUERIES]);
    struct attention_steps of_k = steps_of(problem, v[HEADS], v[KEYS]);
    CUdeviceptr scales = is_e4m3(problem) ? buffer[ATTENTION_B_SCALES] : 0;
    CUdeviceptr next = scales ? 4 * (CUdeviceptr)v[HEADS] : 0;
    return (struct attention_request){
        .number = (enum attention_number)v[ATTENTION_P_TYPE],
        .batch = v[BATCH],
        .heads = v[HEADS],
        .group = v[GROUP],
        .queries = v[QUERIES],
        .keys = v[KEYS],
        .dim = v[DIM],
        .left = window,
        .right = v[MASK] ? 0 : window,
        .scale = (float)(1 / sqrt((double)v[DIM])),
        .softcap = (float)v[ATTENTION_P_SOFTCAP],
        .q_step = of_q,
        .k_step = of_k,
        .v_step = of_k,
        .o_step = of_q,
        .packed = v[LAYOUT] == ATTENTION_PACKED,
        .all_queries = all_rows(problem, false),
        .all_keys = all_rows(problem, true),
        .q = buffer[ATTENTION_B_Q],
        .k = buffer[ATTENTION_B_K],
        .v = buffer[ATTENTION_B_V],
        .o = buffer[ATTENTION_B_O],
        .lse = v[ATTENTION_P_LSE] ? buffer[ATTENTION_B_LSE] : 0,
        .q_begin = buffer[ATTENTION_B_Q_BEGIN],
        .k_begin = buffer[ATTENTION_B_K_BEGIN],
        .q_scale = scales,
        .k_scale = scales + next,
        .v_scale = scales + 2 * next,
        .scale_head = 1,
        .lengths = attention_has(problem, ATTENTION_PADDING) ? buffer[ATTENTION_B_LENGTHS] : 0,
        .slopes = attention_has(problem, ATTENTION_ALIBI) ? buffer[ATTENTION_B_SLOPES] : 0,
        .padded = attention_has(problem, ATTENTION_PADDING),
        .leaning = attention_has(problem, ATTENTION_ALIBI),
        .dropout = attention_has(problem, ATTENTION_DROPOUT) ? 0.25F : 0,
        .seed = attention_has(problem, ATTENTION_DROPOUT) ? problem->seed : 0,
        .offset = attention_has(problem, ATTENTION_DROPOUT) ? 3 : 0,
    };
}

static CUresult launch(struct zoo_call *call, enum attention_kind kind)
{
    struct attention_request request = attention_request_of(call->problem, call->buffer);
    struct attention_plan plan;
    if (request.batch * request.queries == 0)
        return CUDA_SUCCESS;
    if (attention_workspace(&request, kind))
        request.workspace = call->workspace;
    CUresult status =
        attention_plan_make(&request, kind, call->device->cuda, call->device->sm_count, &plan);
    for (unsigned i = 0; status == CUDA_SUCCESS && i < plan.launches; i++)
        status = ZOO_LAUNCH(call, plan.launch[i].kernel, plan.launch[i].grid, &plan.arguments);
    return status;
}

static CUresult launch_naive(struct zoo_call *call)
{
    return launch(call, ATTENTION_NAIVE);
}
static CUresult launch_online(struct zoo_call *call)
{
    return launch(call, ATTENTION_ONLINE);
}
static CUresult launch_mma(struct zoo_call *call)
{
    return launch(call, ATTENTION_MMA);
}
static CUresult launch_wgmma(struct zoo_call *call)
{
    return launch(call, ATTENTION_WGMMA);
}
static CUresult launch_overlapped(struct zoo_call *call)
{
    return launch(call, ATTENTION_OVERLAPPED);
}
static CUresult launch_fp8(struct zoo_call *call)
{
    return launch(call, ATTENTION_FP8);
}

/* Buffers are aligned in tests and benchmarks. */
static bool takes(const struct zoo_problem *problem, enum attention_kind kind)
{
    if (problem->value[LAYOUT] == ATTENTION_PACKED && attention_has(problem, ATTENTION_PADDING))
        return false; /* sequences that are packed have none */
    struct attention_request r = attention_request_of(problem, (CUdeviceptr[ZOO_BUFFERS]){0});
    return attention_takes(&r, kind);
}
static bool takes_naive(const struct zoo_problem *problem)
{
    return takes(problem, ATTENTION_NAIVE);
}
static bool takes_online(const struct zoo_problem *problem)
{
    return takes(problem, ATTENTION_ONLINE);
}
static bool takes_mma(const struct zoo_problem *problem)
{
    return takes(problem, ATTENTION_MMA);
}
static bool takes_wgmma(const struct zoo_problem *problem)
{
    return takes(problem, ATTENTION_WGMMA);
}
static bool takes_overlapped(const struct zoo_problem *problem)
{
    return takes(problem, ATTENTION_OVERLAPPED);
}
static bool takes_fp8(const struct zoo_problem *problem)
{
    return takes(problem, ATTENTION_FP8);
}

static size_t workspace_naive(const struct zoo_call *call)
{
    struct attention_request request = attention_request_of(call->problem, call->buffer);
    return attention_workspace(&request, ATTENTION_NAIVE);
}
static size_t workspace_overlapped(const struct zoo_call *call)
{
    struct attention_request request = attention_request_of(call->problem, call->buffer);
    return attention_workspace(&request, ATTENTION_OVERLAPPED);
}
static size_t workspace_fp8(const struct zoo_call *call)
{
    struct attention_request request = attention_request_of(call->problem, call->buffer);
    return attention_workspace(&request, ATTENTION_FP8);
}

static const struct zoo_variant variants[] = {
    {"naive", "all scores in memory, three kernels", launch_naive, workspace_naive, takes_naive,
     .traits = ZOO_DETERMINISTIC},
    {"online_softmax", "tiles of keys in shared memory, a softmax that goes along", launch_online,
     .takes = takes_online, .traits = ZOO_DETERMINISTIC},
    {"mma_sync", "tensor cores; the weights stay in registers", launch_mma, .takes = takes_mma,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"wgmma", "TMA brings tiles, warpgroups multiply", launch_wgmma, .takes = takes_wgmma,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"overlapped", "turns; softmax beside the next tile's scores", launch_overlapped,
     workspace_overlapped, takes_overlapped, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"fp8", "e4m3: V transposed before, tiles summed in f32", launch_fp8, workspace_fp8, takes_fp8,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {0}};

static bool torch_takes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return v[BATCH] && v[QUERIES] && v[KEYS] && v[LAYOUT] == ATTENTION_HEADS_FIRST && !v[WINDOW] &&
           !v[ATTENTION_P_SOFTCAP] && !v[ATTENTION_P_LSE] && !v[ATTENTION_P_ALSO] &&
           (!v[MASK] || v[QUERIES] == v[KEYS]) && v[ATTENTION_P_TYPE] < ATTENTION_F32;
}

/* cuDNN's, which is the fastest that PyTorch has. */
static const struct zoo_peer peers[] = {
    {"cudnn", ZOO_PEER_PYTHON,
     "torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION)("
     "torch.nn.functional.scaled_dot_product_attention)("
     "x[0].view(batch, heads * group, queries, dim), x[1].view(batch, heads, keys, dim), "
     "x[2].view(batch, heads, keys, dim), is_causal=mask == 'causal', enable_gqa=group > 1)",
     .takes = torch_takes},
    {0}};

static const char *const edges[] = {
    "batch=0,1 queries=0,1,5 keys=0,1,3 lse=yes mask=full,causal type=bf16,f32",
    "heads=1 group=1,3 queries=1,65,130 keys=1,64,131 type=bf16 lse=yes",
    "batch=2 heads=2 queries=65 keys=64,131 type=f16 lse=yes",
    "heads=2 queries=130 keys=130 type=bf16,f16 dim=64,96,128,256 mask=full,causal lse=yes",
    "heads=1 queries=70,129 keys=50,200,390 mask=full,causal type=bf16 lse=yes",
    "heads=1 queries=130 keys=260 mask=full,causal window=1,2,40,150 lse=yes",
    "heads=1 group=2 queries=260 keys=260 mask=full,causal window=40 lse=yes",
    "heads=1 queries=100 keys=150 mask=full,causal softcap=1,30 type=bf16,f16,f32 lse=yes",
    "heads=1 queries=150 keys=150 dist=matched,huge,equal mask=full,causal type=bf16,f16,f32",
    "heads=1 queries=66 keys=4200 mask=causal lse=yes",
    /* More than 132 tiles */
    "batch=3 heads=10 group=5 queries=30 keys=140 dim=64 mask=full,causal lse=yes",
    "heads=10 group=5 queries=300 keys=20,100 dim=64 mask=causal lse=yes",
    "heads=1 queries=33 keys=300 dist=matched,huge,equal dim=64,256 lse=yes",
    "batch=5 heads=2 group=2 queries=90 keys=170 layout=packed mask=full,causal lse=yes",
    "batch=3 queries=2 keys=1,5 layout=packed mask=full,causal lse=yes",
    "batch=4 heads=1 queries=150 keys=130 layout=packed type=f16 dim=64 window=0,20 mask=causal",
    "batch=7 heads=1 group=3 queries=3,260 keys=2,390 layout=packed mask=full,causal lse=yes",
    "batch=40 heads=2 group=2 queries=131 keys=177 layout=packed dim=64 mask=full,causal lse=yes",
    "batch=3 heads=1 queries=200 keys=300 layout=packed dim=96,256 mask=causal softcap=0,30",
    "batch=2 heads=2 group=2 queries=70 keys=150 layout=rows_first mask=full,causal dim=96 lse=yes",
    "heads=1 queries=37 keys=41 dim=1,7,40,200 mask=causal type=bf16,f16,f32 lse=yes",
    "heads=2 queries=45 keys=70 dim=64,96,128,256 type=f32 mask=causal lse=yes",
    "batch=0,2 heads=1 group=2 queries=0,1,65 keys=0,1,130 type=e4m3 mask=full,causal lse=yes",
    "heads=2 queries=130 keys=257 type=e4m3 dim=64,96,128,256 mask=full,causal lse=yes",
    "heads=1 queries=70 keys=300 type=e4m3 dist=matched,huge,equal mask=full,causal lse=yes",
    "heads=1 queries=66 keys=4200 type=e4m3 dist=uniform,equal mask=causal lse=yes",
    "heads=1 queries=150 keys=260 type=e4m3 window=1,40 softcap=0,30 mask=full,causal lse=yes",
    /* blocks share the last round's tiles: all of them; two of 134 */
    "heads=2 queries=150 keys=2100 lse=yes", "heads=1 queries=130 keys=2048 type=f16 lse=yes",
    "heads=2 queries=200 keys=2100 type=e4m3 dim=64,128 dist=uniform,equal lse=yes",
    "heads=67 group=2 queries=3 keys=2K type=e4m3 dim=64 lse=yes",
    "batch=7 heads=2 group=2 queries=3,150 keys=2,300 type=e4m3 layout=packed mask=full,causal",
    "batch=40 heads=2 group=2 queries=131 keys=177 type=e4m3 layout=packed dim=64 mask=causal",
    "batch=2 heads=2 queries=70 keys=150 layout=rows_first type=e4m3 dim=96 lse=yes",
    "heads=1 queries=37 keys=41 dim=7,40 type=e4m3 mask=causal lse=yes",
    "batch=5 heads=1 group=2 queries=70 keys=300 mask=full,causal also=padding,alibi lse=yes",
    "batch=5 heads=1 group=2 queries=70 keys=300 mask=full,causal also=dropout,all lse=yes",
    "batch=5 heads=2 queries=40 keys=140 dim=64,256 layout=rows_first also=padding,alibi lse=yes",
    "batch=5 heads=2 queries=40 keys=270 dim=96 type=e4m3 also=padding,all lse=yes",
    "batch=3 heads=2 queries=90 keys=170 type=f16,f32 layout=packed also=alibi,dropout mask=causal",
    "heads=2 queries=150 keys=260 window=40 softcap=0,30 also=alibi,dropout type=bf16 dim=128,40",
    "batch=2 heads=2 queries=30 keys=1,2 also=padding,all mask=full,causal lse=yes", NULL};

static const char *const bench[] = {"batch=1 heads=16 queries=16K keys=16K mask=full,causal",
                                    "batch=4 heads=16 queries=4K keys=4K mask=full,causal",
                                    "batch=1 heads=16 queries=4K keys=4K mask=full,causal",
                                    "batch=16 heads=16 queries=1K keys=1K mask=full,causal",
                                    "batch=4 heads=32 queries=4K keys=4K dim=64 mask=full,causal",
                                    "batch=4 heads=8 queries=4K keys=4K dim=256 mask=full,causal",
                                    "batch=4 heads=8 group=4 queries=4K keys=4K mask=causal",
                                    "batch=1 heads=16 queries=16K keys=16K mask=causal window=1K",
                                    "batch=8 heads=16 queries=4K keys=4K mask=full,causal "
                                    "layout=rows_first,packed",
                                    "batch=1 heads=16 queries=16K keys=16K type=e4m3 "
                                    "mask=full,causal",
                                    "batch=4 heads=16 queries=4K keys=4K type=e4m3 "
                                    "mask=full,causal",
                                    NULL};

const struct zoo_family zoo_attention = {
    .name = "attention",
    .title = "softmax(Q K^T) V",
    .problem =
        "O = softmax(Q K^T / sqrt(dim)) V for every head of every sequence, and the log-sum-exp of "
        "each row of scores. Heads of queries share one of K and V in groups. The last query "
        "stands "
        "at the last key; under a causal mask a query sees keys up to where it stands, and with a "
        "window no more than that many of them (on each side, without a mask). A softcap c makes "
        "c tanh(s / c) of a score s. Keys may be padding from a length on; ALiBi takes a slope "
        "times "
        "the distance from the diagonal off a score; dropout takes weights away at random. Who "
        "sees "
        "no key gets zeros.",
    .parameters = {{"batch", "sequences", 0, 1 << 16, 1, NULL},
                   {"heads", "of K and V", 1, 1 << 10, 2, NULL},
                   {"group", "heads of Q for each of K and V", 1, 128, 1, NULL},
                   {"queries", "in a sequence; packed: at most", 0, 1 << 20, 512, NULL},
                   {"keys", "likewise", 0, 1 << 20, 512, NULL},
                   {"dim", "of a head", 1, 512, 128, NULL},
                   {"type", "of Q, K, V and O; of e4m3, O is bf16", 0, 3, 0, type_names},
                   {"mask", "what a query sees", 0, 1, 0, mask_names},
                   {"window", "keys that a query sees on a side; 0: all", 0, 1 << 20, 0, NULL},
                   {"softcap", "the most that a score can be; 0: no limit", 0, 1 << 10, 0, NULL},
                   {"layout", "of the tensors", 0, 2, 0, layout_names},
                   {"lse", "is the log-sum-exp wanted?", 0, 1, 0, answer_names},
                   {"also", "padding behind keys, ALiBi, dropout", 0, 4, 0, also_names},
                   {0}},
    .distributions = distributions,
    .profile = "batch=1 heads=2 queries=512 keys=512 type=bf16,e4m3 mask=full,causal",
    .unit = unit,
    .reference = attention_reference,
    .edges = edges,
    .bench = bench,
    .shape = shape,
    .generate = generate,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
