/*
 * kv_cache.c: the family: a cache of keys in FP8 and values in NVFP4, in pages: appending to it,
 * and attention over it, of one query a head or of the sequence's last tokens. A key and its value
 * are read once for all heads that share them, so the cache's bytes are the floor: 200 for 128
 * numbers where bf16 has 512.
 */
#include "kv_cache.h"

#include <math.h>
#include <stdio.h>

static const char *const caches[] = {"fp8_nvfp4", "f16", NULL};
static const char *const steps[] = {"attend", "append", "prefill", NULL};
static const char *const types[] = {"bf16", "f16", NULL};
static const char *const length_words[] = {"full", "ragged", NULL};

/* The problem -----------------------------------------------------------------------------------*/

int64_t kv_pages_each(const struct zoo_problem *problem)
{
    int64_t page = problem->value[KV_PAGE];
    return (problem->value[KV_KEYS] + page - 1) / page;
}

int64_t kv_length(const struct zoo_problem *problem, int64_t sequence)
{
    int64_t keys = problem->value[KV_KEYS];
    const int64_t ragged[] = {keys, keys / 3, keys > 0, 0, keys - keys / 7};
    return problem->value[KV_LENGTHS] == 0 ? keys : ragged[sequence % 5];
}

int64_t kv_queries(const struct zoo_problem *problem)
{
    return problem->value[KV_STEP] == KV_PREFILL ? problem->value[KV_TOKENS] : 1;
}

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    return problem->value[KV_TYPE] == 0 ? ZOO_BF16 : ZOO_F16;
}
static bool is_f16(const struct zoo_problem *problem)
{
    return problem->value[KV_CACHE] == KV_F16;
}
static size_t page_count(const struct zoo_problem *problem)
{
    return (size_t)(problem->value[KV_BATCH] * kv_pages_each(problem) + problem->value[KV_SPARE]);
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t batch = (size_t)problem->value[KV_BATCH], kv_heads = (size_t)problem->value[KV_HEADS];
    size_t dim = (size_t)problem->value[KV_DIM];
    size_t rows = page_count(problem) * kv_heads * (size_t)problem->value[KV_PAGE];
    size_t all = batch * kv_heads * (size_t)(problem->value[KV_GROUP] * kv_queries(problem)) * dim;
    size_t added = batch * (size_t)problem->value[KV_TOKENS] * kv_heads * dim;
    enum zoo_type type = type_of(problem), bytes = is_f16(problem) ? ZOO_F16 : ZOO_U8;
    bool appends = problem->value[KV_STEP] == KV_APPEND;
    enum zoo_role role = appends ? ZOO_IN_OUT : ZOO_IN;
    struct zoo_buffer k = {"k", role, bytes, rows * dim};
    struct zoo_buffer v = {"v", role, bytes, is_f16(problem) ? rows * dim : rows * dim / 2};
    struct zoo_buffer scales = {"v_scales", role, ZOO_U8, is_f16(problem) ? 0 : rows * dim / 16};
    struct zoo_buffer head_scales = {"head_scales", ZOO_IN, ZOO_F32, 2 * kv_heads};
    struct zoo_buffer table = {"table", ZOO_IN, ZOO_I32, batch * (size_t)kv_pages_each(problem)};
    struct zoo_buffer lengths = {"lengths", ZOO_IN, ZOO_I32, batch};
    if (appends) {
        buffers[P_NEW_K] = (struct zoo_buffer){"new_k", ZOO_IN, type, added};
        buffers[P_NEW_V] = (struct zoo_buffer){"new_v", ZOO_IN, type, added};
        buffers[P_K] = k, buffers[P_V] = v, buffers[P_V_SCALES] = scales;
        buffers[P_HEAD_SCALES] = head_scales, buffers[P_TABLE] = table;
        buffers[P_LENGTHS] = lengths;
    } else {
        buffers[A_Q] = (struct zoo_buffer){"q", ZOO_IN, type, all};
        buffers[A_K] = k, buffers[A_V] = v, buffers[A_V_SCALES] = scales;
        buffers[A_HEAD_SCALES] = head_scales, buffers[A_TABLE] = table;
        buffers[A_LENGTHS] = lengths;
        buffers[A_O] = (struct zoo_buffer){"o", ZOO_OUT, type, all};
    }
    return 8;
}

/* Pages in an order of their own: with an odd factor and a power of two every page comes once, and
 * those beyond the count are passed over. */
static void fill_table(const struct zoo_problem *problem, int32_t *table, size_t count)
{
    size_t pages = page_count(problem), around = 1, at = 0;
    while (around < pages)
        around *= 2;
    for (size_t i = 0; i < count; i++) {
        do
            at = (at + ((around / 2) | 1) * 5) % around;
        while (at >= pages);
        table[i] = (int32_t)at;
    }
}

static void fill_codes(const struct zoo_problem *problem, unsigned stream, uint8_t *to,
                       size_t count, bool with_nan)
{
#pragma omp parallel for schedule(static) if (count > 100000)
    for (size_t i = 0; i < count; i++) {
        uint8_t code = (uint8_t)(zoo_random(problem->seed, stream, i) >> 11);
        to[i] = !with_nan && (code & 0x7f) == 0x7f ? code - 1 : code;
    }
}

/* What no sequence has is NaN: nobody may look at it. */
static void spoil(const struct zoo_problem *problem, const int32_t *table, uint8_t *bytes,
                  size_t row_bytes)
{
    int64_t page = problem->value[KV_PAGE], heads = problem->value[KV_HEADS];
    for (int64_t sequence = 0; sequence < problem->value[KV_BATCH]; sequence++)
        for (int64_t key = kv_length(problem, sequence); key < kv_pages_each(problem) * page; key++)
            for (int64_t head = 0; head < heads; head++) {
                int64_t where = table[sequence * kv_pages_each(problem) + key / page];
                memset(bytes + (size_t)((where * heads + head) * page + key % page) * row_bytes,
                       0x7f, row_bytes);
            }
}

static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    bool appends = problem->value[KV_STEP] == KV_APPEND;
    const int32_t *table = buffer[appends ? P_TABLE : A_TABLE];
    size_t dim = (size_t)problem->value[KV_DIM];
    fill_table(problem, buffer[appends ? P_TABLE : A_TABLE],
               buffers[appends ? P_TABLE : A_TABLE].count);
    for (unsigned i = 0; i < count; i++) {
        if (buffers[i].role == ZOO_OUT || buffers[i].count == 0 || buffers[i].name[0] == 't')
            continue;
        if (buffers[i].type == ZOO_I32) {
            for (size_t b = 0; b < buffers[i].count; b++)
                ((int32_t *)buffer[i])[b] = (int32_t)kv_length(problem, (int64_t)b);
        } else if (buffers[i].name[0] == 'h') { /* q has numbers up to 1, codes up to 448 */
            for (size_t b = 0; b < buffers[i].count; b++)
                ((float *)buffer[i])[b] = 0.004f + 0.001f * (float)(b % 7);
        } else if (buffers[i].type == ZOO_U8) {
            fill_codes(problem, i, buffer[i], buffers[i].count, !strcmp(buffers[i].name, "v"));
            if (strcmp(buffers[i].name, "v") != 0)
                spoil(problem, table, buffer[i], buffers[i].name[0] == 'k' ? dim : dim / 16);
        } else {
            zoo_fill(problem, i, buffers[i].type, buffer[i], buffers[i].count);
            if (buffers[i].name[0] == 'k' || buffers[i].name[0] == 'v')
                spoil(problem, table, buffer[i], dim * 2);
        }
    }
}

/* Of a key and its value. */
static double row_bytes(const struct zoo_problem *problem)
{
    return (double)problem->value[KV_DIM] * (is_f16(problem) ? 4 : 1 + 0.5 + 1.0 / 16);
}

static double bytes(const struct zoo_problem *problem)
{
    double keys = 0, heads = (double)problem->value[KV_HEADS], dim = (double)problem->value[KV_DIM];
    double batch = (double)problem->value[KV_BATCH];
    if (problem->value[KV_STEP] == KV_APPEND)
        return batch * (double)problem->value[KV_TOKENS] * heads * (row_bytes(problem) + 4 * dim);
    for (int64_t b = 0; b < problem->value[KV_BATCH]; b++)
        keys += (double)kv_length(problem, b);
    return keys * heads * row_bytes(problem) +
           4 * batch * heads * (double)(problem->value[KV_GROUP] * kv_queries(problem)) * dim;
}

static double flops(const struct zoo_problem *problem)
{
    double keys = 0;
    if (problem->value[KV_STEP] == KV_APPEND)
        return 0;
    for (int64_t b = 0; b < problem->value[KV_BATCH]; b++)
        for (int64_t q = 0; q < kv_queries(problem); q++) {
            int64_t seen = kv_length(problem, b) - q;
            keys += seen > 0 ? (double)seen : 0;
        }
    return 4 * keys * (double)(problem->value[KV_HEADS] * problem->value[KV_GROUP]) *
           (double)problem->value[KV_DIM];
}

static const char *unit(const struct zoo_problem *problem)
{
    (void)problem;
    return "tensor-f16";
}

/* Launches --------------------------------------------------------------------------------------*/

/* As CACHE_PARAMETERS of cache.h has them. */
struct cache {
    CUdeviceptr k, v, v_scales, head_scales, table, lengths;
    int heads, kv_heads, page, pages_each;
};
#define CACHE(c)                                                                                   \
    &(c).k, &(c).v, &(c).v_scales, &(c).head_scales, &(c).table, &(c).lengths, &(c).heads,         \
        &(c).kv_heads, &(c).page, &(c).pages_each

static struct cache cache_of(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    unsigned first = problem->value[KV_STEP] == KV_APPEND ? P_K : A_K;
    const CUdeviceptr *b = &call->buffer[first];
    return (struct cache){b[0],
                          b[1],
                          b[2],
                          b[3],
                          b[4],
                          b[5],
                          (int)(problem->value[KV_HEADS] * problem->value[KV_GROUP]),
                          (int)problem->value[KV_HEADS],
                          (int)problem->value[KV_PAGE],
                          (int)kv_pages_each(problem)};
}

static CUresult launch_append(struct zoo_call *call, unsigned threads)
{
    const struct zoo_problem *problem = call->problem;
    struct cache cache = cache_of(call);
    int batch = (int)problem->value[KV_BATCH], tokens = (int)problem->value[KV_TOKENS];
    int dim = (int)problem->value[KV_DIM];
    int64_t all = (int64_t)batch * tokens * cache.kv_heads * (dim / 16);
    if (all == 0)
        return CUDA_SUCCESS;
    return ZOO_LAUNCH(call, problem->value[KV_TYPE] == 0 ? "append_bf16" : "append_f16",
                      ((struct zoo_grid){.x = zoo_ceil_div(all, threads), .threads = threads}),
                      &call->buffer[P_NEW_K], &call->buffer[P_NEW_V], CACHE(cache), &batch, &tokens,
                      &dim);
}

static float softmax_scale(const struct zoo_problem *problem)
{
    return (float)(1 / sqrt((double)problem->value[KV_DIM]));
}

static CUresult launch_naive(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct cache cache = cache_of(call);
    int batch = (int)problem->value[KV_BATCH], dim = (int)problem->value[KV_DIM];
    int tokens = (int)kv_queries(problem);
    int64_t queries = (int64_t)batch * tokens * cache.heads;
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    float scale = softmax_scale(problem);
    char kernel[40];
    if (problem->value[KV_STEP] == KV_APPEND)
        return launch_append(call, block);
    if (queries == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "attend_%s_%s", caches[problem->value[KV_CACHE]],
             types[problem->value[KV_TYPE]]);
    return ZOO_LAUNCH(
        call, kernel, ((struct zoo_grid){.x = zoo_ceil_div(queries, block / 32), .threads = block}),
        &call->buffer[A_Q], &call->buffer[A_O], CACHE(cache), &batch, &tokens, &dim, &scale);
}

/* Blocks that share the keys of a head: as many as fill the GPU twice, if each has 256 keys. */
static unsigned parts_of(const struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int64_t heads = problem->value[KV_BATCH] * problem->value[KV_HEADS];
    unsigned parts = (unsigned)zoo_tunable(call, "PARTS");
    if (parts > 0)
        return parts;
    for (parts = 1; parts < 8 && heads * parts < 7 * call->device->sm_count / 4 &&
                    problem->value[KV_KEYS] / parts > 256;)
        parts *= 2;
    return parts;
}

/* prefill.h: a block has 128 queries, and two tiles of 64 keys in shared memory. */
static CUresult prefill(struct zoo_call *call, int64_t cache_kind, struct cache cache)
{
    const struct zoo_problem *problem = call->problem;
    int tokens = (int)problem->value[KV_TOKENS], dim = (int)problem->value[KV_DIM];
    unsigned blocks = zoo_ceil_div(problem->value[KV_TOKENS] * problem->value[KV_GROUP], 128);
    float scale = softmax_scale(problem);
    char kernel[48];
    if (blocks == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "prefill_%s_%d_%s", caches[cache_kind], dim,
             types[problem->value[KV_TYPE]]);
    return ZOO_LAUNCH(
        call, kernel,
        ((struct zoo_grid){.x = (unsigned)(problem->value[KV_BATCH] * cache.kv_heads) * blocks,
                           .threads = 256,
                           .shared = 2 * 2 * 64 * (2 * (unsigned)dim + 16)}),
        &call->buffer[A_Q], &call->buffer[A_O], CACHE(cache), &tokens, &scale);
}

/* decode.h: 4 groups of 16 keys for each of 8 warps, if they are quantised. */
static CUresult attend(struct zoo_call *call, int64_t cache_kind, struct cache cache)
{
    const struct zoo_problem *problem = call->problem;
    unsigned group = 25 * (unsigned)problem->value[KV_DIM];
    if (problem->value[KV_STEP] == KV_PREFILL)
        return prefill(call, cache_kind, cache);
    unsigned parts = parts_of(call);
    float scale = softmax_scale(problem);
    char kernel[48];
    snprintf(kernel, sizeof kernel, "attend_%s_%d_%s", caches[cache_kind],
             (int)problem->value[KV_DIM], types[problem->value[KV_TYPE]]);
    return ZOO_LAUNCH(
        call, kernel,
        ((struct zoo_grid){.x = (unsigned)(problem->value[KV_BATCH] * cache.kv_heads) * parts,
                           .threads = 256,
                           .shared = cache_kind == KV_F16 ? 0 : 8 * 4 * group,
                           .cluster = parts > 1 ? parts : 0}),
        &call->buffer[A_Q], &call->buffer[A_O], CACHE(cache), &scale, &parts);
}

static CUresult launch_fused(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    if (problem->value[KV_BATCH] * problem->value[KV_HEADS] == 0)
        return CUDA_SUCCESS;
    return attend(call, problem->value[KV_CACHE], cache_of(call));
}

/* Keys of a sequence in the workspace, in whole groups of 16. */
static int64_t room(const struct zoo_problem *problem)
{
    return (problem->value[KV_KEYS] + 15) / 16 * 16;
}
static size_t half_bytes(const struct zoo_problem *problem)
{
    return (size_t)(problem->value[KV_BATCH] * problem->value[KV_HEADS] * room(problem) *
                    problem->value[KV_DIM]) *
           2;
}
static size_t workspace_dequantised(const struct zoo_call *call)
{
    return 2 * half_bytes(call->problem) + (size_t)call->problem->value[KV_BATCH] * 4;
}

static CUresult launch_dequantised(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    struct cache cache = cache_of(call), halves = cache;
    int batch = (int)problem->value[KV_BATCH], keys = (int)room(problem);
    int dim = (int)problem->value[KV_DIM];
    int64_t all = (int64_t)batch * cache.kv_heads * keys * (dim / 16);
    if ((int64_t)batch * cache.kv_heads == 0)
        return CUDA_SUCCESS;
    halves.k = call->workspace;
    halves.v = halves.k + half_bytes(problem);
    halves.table = halves.v + half_bytes(problem);
    halves.page = keys;
    halves.pages_each = 1;
    CUresult result = ZOO_LAUNCH(call, "one_page_each",
                                 ((struct zoo_grid){.x = zoo_ceil_div(batch, 256), .threads = 256}),
                                 &halves.table, &batch);
    if (result == CUDA_SUCCESS && all > 0)
        result = ZOO_LAUNCH(call, "dequantise",
                            ((struct zoo_grid){.x = zoo_ceil_div(all, 256), .threads = 256}),
                            &halves.k, &halves.v, CACHE(cache), &batch, &keys, &dim);
    return result != CUDA_SUCCESS ? result : attend(call, KV_F16, halves);
}

static bool takes_any(const struct zoo_problem *problem)
{
    bool appends = problem->value[KV_STEP] == KV_APPEND;
    return problem->value[KV_DIM] % 16 == 0 && problem->value[KV_DIM] <= 256 &&
           !(appends && is_f16(problem));
}
static bool takes_fused(const struct zoo_problem *problem)
{
    int64_t blocks = problem->value[KV_TOKENS] * problem->value[KV_GROUP] / 128 + 1;
    return problem->value[KV_STEP] != KV_APPEND && problem->value[KV_GROUP] <= 8 &&
           problem->value[KV_BATCH] * problem->value[KV_HEADS] * blocks < (int64_t)1 << 31 &&
           (problem->value[KV_DIM] == 64 || problem->value[KV_DIM] == 128) &&
           problem->value[KV_PAGE] % 16 == 0;
}
static bool takes_dequantised(const struct zoo_problem *problem)
{
    return takes_fused(problem) && !is_f16(problem);
}

static const struct zoo_tunable at_launch[] = {ZOO_AT_LAUNCH("PARTS", 0, 0, 1, 2, 4, 8), {{0}}};

static const struct zoo_variant variants[] = {
    {"naive", "a warp for each head takes key after key", launch_naive, .takes = takes_any,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"dequantised", "the whole cache becomes f16 in memory first", launch_dequantised,
     .workspace = workspace_dequantised, .takes = takes_dequantised,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED, .at_launch = at_launch},
    {"fused", "decoded in registers on the way to the tensor cores", launch_fused,
     .takes = takes_fused, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED, .at_launch = at_launch},
    {0}};

/* Over f16, whose pages it gathers first: PyTorch has no attention over these formats. */
#define TORCH_PAGES(i)                                                                             \
    "x[" #i "].view(-1, heads, page, dim)[x[5].long().view(batch, -1)].transpose(1, 2)"            \
    ".reshape(batch, heads, -1, dim)[:, :, :keys]"

static bool peer_takes(const struct zoo_problem *problem)
{
    return problem->value[KV_STEP] == KV_ATTEND && is_f16(problem) &&
           problem->value[KV_LENGTHS] == 0;
}

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     .call = "torch.nn.functional.scaled_dot_product_attention("
             "x[0].view(batch, heads * group, 1, dim).half(), " TORCH_PAGES(1) ", " TORCH_PAGES(
                 2) ", enable_gqa=True).to(x[0].dtype)",
     .takes = peer_takes},
    {0}};

static const char *const edges[] = {
    "batch=1,2 heads=2 group=1,3,8 keys=1,15,16,17,40 dim=64 page=16",
    "batch=5 heads=1 group=4 keys=130,300 dim=128 page=16,64 lengths=ragged,full type=bf16,f16",
    "batch=2 heads=2 group=2 keys=37,160 dim=64,128 page=32 cache=f16 lengths=ragged",
    "batch=2 heads=1 group=2 keys=20 dim=32,48,256 page=5,16 lengths=ragged",
    "batch=0,1 heads=2 group=1 keys=16 dim=128 page=16",
    "batch=1,2 heads=2 group=1,3 keys=1,64,70 dim=64 page=16 step=prefill tokens=1,30,70,90",
    "batch=3 heads=1 group=4 keys=140 dim=128 page=16,48 lengths=ragged step=prefill tokens=50,140",
    "batch=2 heads=1 keys=99 dim=128 page=48 lengths=ragged step=prefill tokens=60 type=f16",
    "batch=2 heads=1 keys=90 dim=64,128 page=32 cache=f16 lengths=ragged step=prefill tokens=70",
    "batch=1 heads=1 group=2 keys=0,5 dim=48,64 page=16 step=prefill tokens=0,5",
    "batch=1 heads=1 group=1 keys=2100 dim=128 page=16",
    "batch=2 heads=0,1 group=1 keys=0,5 dim=16,64 page=1,16 spare=0",
    "batch=1 heads=1 keys=5 dim=16 page=1 spare=0 step=append tokens=0,2",
    "batch=1,3 heads=2 keys=1,50 dim=64,128 page=16,7 step=append tokens=1,5 type=bf16,f16",
    "batch=1,3 heads=2 keys=1,50 dim=64 page=16,7 step=append tokens=1,5 lengths=ragged",
    "batch=2 heads=1 keys=40 dim=128 page=16 step=append tokens=8 dist=special,adversarial",
    NULL};

static const char *const bench[] = {
    "batch=16 heads=8 group=4 keys=16K dim=128 page=64 cache=fp8_nvfp4,f16",
    "batch=16 heads=8 group=8 keys=16K dim=128 page=64 cache=fp8_nvfp4,f16",
    "batch=64 heads=8 group=4 keys=4K dim=128 page=64",
    "batch=60 heads=8 group=4 keys=8K dim=128 page=64 lengths=ragged",
    "batch=1 heads=8 group=4 keys=16K dim=128 page=64 step=prefill tokens=16K cache=fp8_nvfp4,f16",
    "batch=16 heads=8 group=4 keys=8K dim=128 page=64 step=prefill tokens=256",
    "batch=256 heads=8 keys=1K dim=128 page=64 step=append tokens=1",
    "batch=4 heads=8 keys=8K dim=128 page=64 step=append tokens=8192",
    NULL};

const struct zoo_family zoo_kv_cache = {
    .name = "kv_cache",
    .title = "attention over a cache of FP8 keys and NVFP4 values",
    .problem =
        "The cache has pages of keys in e4m3 and values in NVFP4, with an f32 scale for each of "
        "both "
        "and each head (or f16, for comparison). attend: o = softmax(q K^T / sqrt(dim)) V of one "
        "query a head, `group` heads sharing keys and values. prefill: the same of each sequence's "
        "last tokens, which see the keys up to their own. append: the last tokens of each "
        "sequence are quantised into it.",
    .parameters = {{"batch", "sequences", 0, 1 << 16, 4, NULL},
                   {"heads", "of keys and values", 0, 1 << 10, 8, NULL},
                   {"group", "query heads that share one", 1, 1 << 8, 4, NULL},
                   {"keys", "of the longest sequence", 0, 1 << 24, 1024, NULL},
                   {"dim", "numbers in a key", 16, 256, 128, NULL},
                   {"page", "keys in a page", 1, 1 << 24, 64, NULL},
                   {"spare", "pages that no sequence has", 0, 1 << 24, 1, NULL},
                   {"cache", "fp8_nvfp4 or f16", 0, 1, 0, caches},
                   {"step", "attend, append or prefill", 0, 2, 0, steps},
                   {"tokens", "of each sequence that are appended, or attend in a prefill", 0,
                    1 << 20, 1, NULL},
                   {"type", "of q, o, new keys and values: bf16 or f16", 0, 1, 0, types},
                   {"lengths", "full, or ragged", 0, 1, 0, length_words},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "batch=4 heads=2 group=4 keys=512",
    .unit = unit,
    .aligned = true,
    .edges = edges,
    .bench = bench,
    .shape = shape,
    .generate = generate,
    .reference = kv_reference,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
