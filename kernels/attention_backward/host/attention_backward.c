/*
 * attention_backward.c: the attention_backward family: the gradients of Q, K and V from that of
 * O = softmax(scale Q K^T) V, with O and the log-sum-exp that forward has left. launches.c has the
 * variants, reference.c what must come out.
 */
#include "backward.h"

#include <math.h>

enum { BATCH = BACKWARD_P_BATCH, HEADS = BACKWARD_P_HEADS, GROUP = BACKWARD_P_GROUP };
enum { QUERIES = BACKWARD_P_QUERIES, KEYS = BACKWARD_P_KEYS, DIM = BACKWARD_P_DIM };
enum { TYPE = BACKWARD_P_TYPE, MASK = BACKWARD_P_MASK };
enum { F32 = 2 }; /* of type_names */

static const char *const type_names[] = {"bf16", "f16", "f32", NULL};
static const char *const mask_names[] = {"full", "causal", NULL};
static const char *const layout_names[] = {"heads_first", "packed", NULL};
static const char *const also_names[] = {"nothing", "padding", "alibi", "both", NULL};
static const char *const distributions[] = {"uniform", "matched", "equal", NULL};

enum zoo_type backward_type(const struct zoo_problem *problem)
{
    static const enum zoo_type types[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return types[problem->value[TYPE]];
}
double backward_scale(const struct zoo_problem *problem)
{
    double scale = (double)zoo_as_float(problem->value[BACKWARD_P_SCALE]);
    return (double)(float)(scale != 0 ? scale : 1 / sqrt((double)problem->value[DIM]));
}

struct backward_window backward_window(const struct zoo_problem *problem)
{
    int64_t window = problem->value[BACKWARD_P_WINDOW], most = 1 << 28;
    window = window ? window - 1 : most;
    return (struct backward_window){window, problem->value[MASK] ? 0 : window};
}

bool backward_is_packed(const struct zoo_problem *problem)
{
    return problem->value[BACKWARD_P_LAYOUT] == BACKWARD_PACKED;
}
bool backward_has(const struct zoo_problem *problem, enum backward_also what)
{
    return problem->value[BACKWARD_P_ALSO] == what ||
           problem->value[BACKWARD_P_ALSO] == BACKWARD_BOTH;
}

/* Packed: the second of every three sequences is shorter, with another ratio of queries to keys,
 * and the third has one key. */
int64_t backward_length(const struct zoo_problem *problem, int64_t number, bool of_keys)
{
    int64_t most = problem->value[of_keys ? KEYS : QUERIES];
    if (!backward_is_packed(problem) || number % 3 == 0)
        return most;
    if (number % 3 == 1)
        return most / (of_keys ? 2 : 3);
    return of_keys ? most > 0 : most / 2;
}
int64_t backward_all_rows(const struct zoo_problem *problem, bool of_keys)
{
    int64_t sum = problem->value[of_keys ? BACKWARD_P_ALL_KEYS : BACKWARD_P_ALL_QUERIES];
    if (sum > 0)
        return sum;
    for (int64_t i = 0; i < problem->value[BATCH]; i++)
        sum += backward_length(problem, i, of_keys);
    return sum;
}
/* All of them, a third, none, all but one, one. */
static int64_t visible_of(const struct zoo_problem *problem, int64_t number)
{
    int64_t keys = backward_length(problem, number, true), one = keys > 0;
    const int64_t visible[] = {keys, keys / 3, 0, keys - one, one};
    return backward_has(problem, BACKWARD_PADDING) ? visible[number % 5] : keys;
}

/* The problem -----------------------------------------------------------------------------------*/

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    static const char *const names[] = {"q", "k", "v", "o", "lse", "grad", "dq", "dk", "dv"};
    const int64_t *v = problem->value;
    enum zoo_type type = backward_type(problem);
    size_t q_rows = (size_t)(v[HEADS] * v[GROUP] * backward_all_rows(problem, false));
    size_t k_rows = (size_t)(v[HEADS] * backward_all_rows(problem, true)), dim = (size_t)v[DIM];
    size_t begins = backward_is_packed(problem) ? (size_t)v[BATCH] + 1 : 0;
    for (unsigned i = 0; i <= BACKWARD_B_DV; i++) {
        bool of_keys = i == BACKWARD_B_K || i == BACKWARD_B_V || i >= BACKWARD_B_DK;
        buffers[i] = (struct zoo_buffer){names[i], i >= BACKWARD_B_DQ ? ZOO_OUT : ZOO_IN, type,
                                         (of_keys ? k_rows : q_rows) * dim};
    }
    buffers[BACKWARD_B_LSE].type = ZOO_F32;
    buffers[BACKWARD_B_LSE].count = q_rows;
    buffers[BACKWARD_B_Q_BEGIN] = (struct zoo_buffer){"q_begin", ZOO_IN, ZOO_I32, begins};
    buffers[BACKWARD_B_K_BEGIN] = (struct zoo_buffer){"k_begin", ZOO_IN, ZOO_I32, begins};
    buffers[BACKWARD_B_LENGTHS] = (struct zoo_buffer){
        "lengths", ZOO_IN, ZOO_I32, backward_has(problem, BACKWARD_PADDING) ? (size_t)v[BATCH] : 0};
    buffers[BACKWARD_B_SLOPES] = (struct zoo_buffer){
        "slopes", ZOO_IN, ZOO_F32,
        backward_has(problem, BACKWARD_ALIBI) ? (size_t)(v[HEADS] * v[GROUP]) : 0};
    return BACKWARD_BUFFERS;
}

static double number_of(const struct zoo_problem *problem, unsigned buffer, size_t i)
{
    size_t dim = (size_t)problem->value[DIM], row = i / dim, column = i % dim;
    double unit = 2 * zoo_random_unit(problem->seed, buffer, i) - 1;
    if (buffer == BACKWARD_B_V || buffer == BACKWARD_B_GRAD)
        return unit;
    switch ((enum backward_distribution)problem->distribution) {
    case BACKWARD_MATCHED: /* of few rows, so that most queries find their key */
        return (buffer == BACKWARD_B_Q ? 4 : 1) *
               (zoo_random(problem->seed, 7, row * 29 % 97 * 1000 + column) % 2 ? 1.0 : -1.0);
    case BACKWARD_EQUAL:
        return column % 3 == 0 ? 0.5 : -0.25;
    default:
        return 2 * unit;
    }
}

static void generate_shape(const struct zoo_problem *problem, const struct zoo_buffer *buffers,
                           void **buffer)
{
    for (unsigned b = BACKWARD_B_Q_BEGIN; b <= BACKWARD_B_K_BEGIN; b++) {
        int32_t *begin = buffer[b], sum = 0;
        for (size_t i = 0; i < buffers[b].count; i++) {
            begin[i] = sum;
            sum += (int32_t)backward_length(problem, (int64_t)i, b == BACKWARD_B_K_BEGIN);
        }
    }
    for (size_t i = 0; i < buffers[BACKWARD_B_LENGTHS].count; i++) { /* padding is NaN */
        const int64_t *v = problem->value;
        int64_t visible = visible_of(problem, (int64_t)i), rows = v[HEADS] * v[KEYS];
        zoo_put(ZOO_I32, buffer[BACKWARD_B_LENGTHS], i, (double)visible);
        for (int64_t n = 0; n < rows * v[DIM]; n++)
            for (unsigned b = BACKWARD_B_K; b <= BACKWARD_B_V && n / v[DIM] % v[KEYS] >= visible;
                 b++)
                zoo_put(buffers[b].type, buffer[b], i * (size_t)(rows * v[DIM]) + (size_t)n, NAN);
    }
    for (size_t i = 0; i < buffers[BACKWARD_B_SLOPES].count; i++)
        zoo_put(ZOO_F32, buffer[BACKWARD_B_SLOPES], i, exp2(-(double)(i % 8) / 2 - 1));
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    static const unsigned inputs[] = {BACKWARD_B_Q, BACKWARD_B_K, BACKWARD_B_V, BACKWARD_B_GRAD};
    struct zoo_buffer buffers[ZOO_BUFFERS];
    shape(problem, buffers);
    for (unsigned n = 0; n < sizeof inputs / sizeof *inputs; n++) {
        unsigned b = inputs[n];
#pragma omp parallel for schedule(static) if (buffers[b].count > 100000)
        for (size_t i = 0; i < buffers[b].count; i++)
            zoo_put(buffers[b].type, buffer[b], i, number_of(problem, b, i));
    }
    generate_shape(problem, buffers, buffer);
    backward_forward(problem, buffer);
}

/* Q, O, dO and dQ, K, V, dK and dV, and the log-sum-exp. */
static double bytes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    double row = zoo_type_bytes[backward_type(problem)] * (double)v[DIM];
    double q_rows = (double)(v[HEADS] * v[GROUP] * backward_all_rows(problem, false));
    double k_rows = (double)(v[HEADS] * backward_all_rows(problem, true));
    return 4 * row * (q_rows + k_rows) + 4 * q_rows;
}

/* Five products of `dim` for every pair of a query and a key that it sees. */
static double flops(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    double pairs = 0;
    struct backward_window window = backward_window(problem);
    for (int64_t b = 0; b < v[BATCH]; b++) {
        int64_t queries = backward_length(problem, b, false);
        int64_t keys = backward_length(problem, b, true), visible = visible_of(problem, b);
        for (int64_t i = 0; i < queries; i++) {
            int64_t diagonal = i + keys - queries, first = diagonal - window.left,
                    last = diagonal + window.right;
            first = first > 0 ? first : 0;
            last = last < visible - 1 ? last : visible - 1;
            pairs += last >= first ? (double)(last - first + 1) : 0;
        }
    }
    return 10 * pairs * (double)(v[HEADS] * v[GROUP] * v[DIM]);
}

static const char *unit(const struct zoo_problem *problem)
{
    static const char *const units[] = {"tensor-bf16", "tensor-f16", "f32"};
    return units[problem->value[TYPE]];
}

/* Peers and problems --------------------------------------------------------------------------*/

static bool torch_takes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return v[BATCH] && v[QUERIES] && v[KEYS] && v[TYPE] != F32 && !v[BACKWARD_P_SCALE] &&
           backward_is_plain(problem) && (!v[MASK] || v[QUERIES] == v[KEYS]);
}

/* cuDNN's, which is the fastest that PyTorch has. Its forward runs once for each set of buffers,
 * and what is timed is backward alone. */
static const struct zoo_peer peers[] = {
    {"cudnn", ZOO_PEER_PYTHON,
     "(lambda kept: torch.autograd.grad(kept[0], kept[1:], "
     "x[5].view(batch, heads * group, queries, dim), retain_graph=True))("
     "x[0].__dict__.get('kept') or x[0].__dict__.setdefault('kept', (lambda q, k, v: ("
     "torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION)("
     "torch.nn.functional.scaled_dot_product_attention)(q, k, v, is_causal=mask == 'causal', "
     "enable_gqa=group > 1), q, k, v))("
     "x[0].view(batch, heads * group, queries, dim).detach().requires_grad_(), "
     "x[1].view(batch, heads, keys, dim).detach().requires_grad_(), "
     "x[2].view(batch, heads, keys, dim).detach().requires_grad_())))",
     .takes = torch_takes, .leeway = 1.5}, /* its O is its own: 1.15 were seen */
    {0}};

static const char *const edges[] = {
    "batch=0,1 queries=0,5 keys=0,1,3 mask=full,causal dim=64 type=bf16,f32",
    "batch=2 heads=2 group=1,2 queries=1,65 keys=1,70 mask=causal dim=64",
    "heads=1 queries=130 keys=70,150 mask=full,causal dim=64",
    "heads=1 queries=70 keys=200 mask=full,causal dim=128",
    "heads=1 queries=70 keys=140 mask=causal type=f16 dim=64,96,128",
    "heads=1 group=3 queries=70 keys=50 mask=full,causal dim=64",
    "heads=1 queries=150 keys=60 mask=causal dim=128",
    "heads=1 queries=70 keys=90 dist=matched,equal mask=causal dim=64 type=bf16,f32",
    "heads=1 queries=20 keys=30 dim=1,7,40 type=bf16,f32 mask=causal",
    "heads=1 queries=40 keys=40 dim=64 scale=1",
    "heads=1 group=2 queries=60 keys=50,90 dim=64 window=1,20 mask=full,causal type=bf16,f32",
    "heads=2 queries=50 keys=60 dim=40 softcap=1,5 dropout=0,0.25 seed=7 offset=3 type=bf16,f32",
    "batch=2 heads=1 group=2 queries=40 keys=70 dim=64 window=30 softcap=2 dropout=0.5 mask=causal",
    "batch=1,5 heads=1 group=2 queries=130 keys=150 layout=packed mask=full,causal type=bf16,f16",
    "batch=4 heads=2 queries=1,2,70 keys=1,2,300 layout=packed mask=full,causal dim=64",
    "batch=36 heads=5 queries=20 keys=150 layout=packed mask=causal dim=64",
    "batch=3 heads=1 queries=40 keys=60 layout=packed dim=40 type=f32 also=alibi dropout=0.25",
    "batch=5 heads=1 group=2 queries=70 keys=150 also=padding,alibi,both mask=full,causal",
    "batch=5 heads=1 queries=150 keys=40 also=padding mask=full,causal dim=64 dist=uniform,equal",
    "batch=2 heads=2 group=2 queries=140 keys=170 dim=64,128 dropout=0.25,0.75 seed=5 offset=9",
    "batch=2 heads=1 queries=200 keys=130,330 dim=128 window=1,50 mask=full,causal also=alibi",
    "batch=4 heads=2 queries=100 keys=200 layout=packed also=alibi dropout=0.5 window=0,60 dim=128",
    NULL};

static const char *const bench[] = {
    "batch=1 heads=16 queries=4K keys=4K mask=full,causal",
    "batch=1 heads=16 queries=16K keys=16K mask=full,causal",
    "batch=4 heads=16 queries=4K keys=4K mask=full,causal",
    "batch=4 heads=32 queries=4K keys=4K dim=64 mask=full,causal",
    "batch=4 heads=8 group=4 queries=4K keys=4K mask=causal",
    "batch=8 heads=16 queries=4K keys=4K layout=packed mask=full,causal",
    "batch=1 heads=16 queries=4K keys=4K dropout=0.125",
    NULL};

const struct zoo_family zoo_attention_backward = {
    .name = "attention_backward",
    .title = "gradients of softmax(Q K^T) V",
    .problem =
        "The gradients of Q, K and V from that of O = softmax(scale Q K^T) V, for every head of "
        "every sequence, with O and each row's log-sum-exp as forward has left them. Heads of "
        "queries share one of K and V in groups, and its gradient is their sum. The last query "
        "stands at the last key; under a causal mask a query sees keys up to where it stands, and "
        "with a window no more than that many of them on each side. A softcap c makes c tanh(s / "
        "c) of a score s; ALiBi takes a slope times the distance from the diagonal off it; dropout "
        "takes weights away, as forward did. Keys may be padding from a length on, whose gradients "
        "are 0; packed sequences lie one after the other.",
    .parameters = {{"batch", "sequences", 0, 1 << 16, 1, NULL},
                   {"heads", "of K and V", 1, 1 << 10, 2, NULL},
                   {"group", "heads of Q for each of K and V", 1, 128, 1, NULL},
                   {"queries", "in a sequence", 0, 1 << 20, 256, NULL},
                   {"keys", "likewise", 0, 1 << 20, 256, NULL},
                   {"dim", "of a head", 1, 512, 128, NULL},
                   {"type", "of all but the log-sum-exp", 0, 2, 0, type_names},
                   {"mask", "what a query sees", 0, 1, 0, mask_names},
                   {"scale", "of the scores; 0: 1 / sqrt(dim)", 0, 1 << 10, 0, NULL, true},
                   {"window", "keys that a query sees on a side; 0: all", 0, 1 << 20, 0, NULL},
                   {"softcap", "the most that a score can be; 0: no limit", 0, 1 << 10, 0, NULL,
                    true},
                   {"dropout", "the share of weights that are dropped", 0, 1, 0, NULL, true},
                   {"seed", "of dropout", 0, INT64_MAX, 0, NULL, true},
                   {"offset", "of dropout", 0, INT64_MAX, 0, NULL, true},
                   {"layout", "of the tensors", 0, 1, 0, layout_names},
                   {"also", "padding behind keys, ALiBi", 0, 3, 0, also_names},
                   {"all_queries", "packed: rows of all sequences; 0: some lengths", 0, 1 << 30, 0,
                    NULL},
                   {"all_keys", "likewise", 0, 1 << 30, 0, NULL},
                   {0}},
    .distributions = distributions,
    .profile = "batch=1 heads=1 queries=256 keys=256 mask=full,causal",
    .unit = unit,
    .reference = backward_reference,
    .edges = edges,
    .bench = bench,
    .shape = shape,
    .generate = generate,
    .bytes = bytes,
    .flops = flops,
    .variants = backward_variants,
    .peers = peers,
};
