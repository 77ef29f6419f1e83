/*
 * cross_entropy.c: the family: the loss of a classifier, and its gradient written over the logits.
 * reference.c has what must come out.
 */
#include "cross_entropy.h"

#include <stdio.h>

enum {
    VECTOR = 16,
    MOST_BLOCKS = 8, /* of a cluster that every GPU with clusters takes */
    STAGES_THREADS = 512,
    OWN_SHARED = 2048 /* bytes that stages has beside the stages, at most */
};

static const char *const type_names[] = {"bf16", "f16", "f32", NULL};
static const char *const steps[] = {"fused", "forward", NULL};
static const char *const reductions[] = {"mean", "sum", NULL};
static const char *const distributions[] = {"uniform",      "large",   "one_huge", "ignored",
                                            "wrong_labels", "special", NULL};

enum zoo_type cross_entropy_type(const struct zoo_problem *problem)
{
    static const enum zoo_type types[] = {ZOO_BF16, ZOO_F16, ZOO_F32};
    return types[problem->value[CE_TYPE]];
}

/* As a scalar it may have come as a float. */
int64_t cross_entropy_ignore(const struct zoo_problem *problem)
{
    int64_t value = problem->value[CE_IGNORE];
    return value >= ZOO_FLOAT ? (int64_t)zoo_as_float(value) : value;
}

static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    size_t rows = (size_t)problem->value[CE_ROWS], cols = (size_t)problem->value[CE_COLS];
    bool fused = problem->value[CE_STEP] == STEP_FUSED;
    buffers[CE_LOGITS] = (struct zoo_buffer){"logits", fused ? ZOO_IN_OUT : ZOO_IN,
                                             cross_entropy_type(problem), rows * cols};
    buffers[CE_LABELS] = (struct zoo_buffer){"labels", ZOO_IN, ZOO_I64, rows};
    buffers[CE_LOSSES] = (struct zoo_buffer){"losses", ZOO_OUT, ZOO_F32, rows};
    buffers[CE_TOTAL] = (struct zoo_buffer){"total", ZOO_OUT, ZOO_F32, rows ? 1 : 0};
    return CE_BUFFERS;
}

/* Logits once or twice; a label and a loss for each row. */
static double bytes(const struct zoo_problem *problem)
{
    double rows = (double)problem->value[CE_ROWS], cols = (double)problem->value[CE_COLS];
    double times = problem->value[CE_STEP] == STEP_FUSED ? 2 : 1;
    return times * zoo_type_bytes[cross_entropy_type(problem)] * rows * cols + 12 * rows;
}

/* A comparison, two differences, two powers, two sums, a multiply-add. */
static double flops(const struct zoo_problem *problem)
{
    return (problem->value[CE_STEP] == STEP_FUSED ? 10.0 : 6.0) * (double)problem->value[CE_ROWS] *
           (double)problem->value[CE_COLS];
}

/* Launches --------------------------------------------------------------------------------------*/

static size_t workspace(const struct zoo_call *call)
{
    (void)call;
    return sizeof(float); /* one over how many rows count */
}

static CUresult launch_before(struct zoo_call *call)
{
    int64_t rows = call->problem->value[CE_ROWS], ignore = cross_entropy_ignore(call->problem);
    int mean = call->problem->value[CE_REDUCE] == REDUCE_MEAN;
    return ZOO_LAUNCH(call, "before", ((struct zoo_grid){.x = 1, .threads = 1024}),
                      &call->buffer[CE_LABELS], &rows, &ignore, &mean, &call->workspace);
}

static CUresult launch_after(struct zoo_call *call, bool overlaps)
{
    int64_t rows = call->problem->value[CE_ROWS];
    struct zoo_grid grid = {.x = 1, .threads = 1024, .overlaps = overlaps};
    return ZOO_LAUNCH(call, "after", grid, &call->buffer[CE_LOSSES], &rows, &call->workspace,
                      &call->buffer[CE_TOTAL]);
}

static CUresult launch(struct zoo_call *call, const char *stem, struct zoo_grid grid)
{
    const struct zoo_problem *problem = call->problem;
    int64_t rows = problem->value[CE_ROWS], cols = problem->value[CE_COLS];
    int64_t ignore = cross_entropy_ignore(problem);
    float smoothing = zoo_as_float(problem->value[CE_SMOOTHING]);
    float scale = zoo_as_float(problem->value[CE_SCALE]);
    int fused = problem->value[CE_STEP] == STEP_FUSED;
    char name[32];
    if (rows == 0)
        return CUDA_SUCCESS;
    snprintf(name, sizeof name, "%s_%s", stem, zoo_type_names[cross_entropy_type(problem)]);
    CUresult result = launch_before(call);
    if (result == CUDA_SUCCESS)
        result = ZOO_LAUNCH(call, name, grid, &call->buffer[CE_LOGITS], &call->buffer[CE_LABELS],
                            &call->workspace, &call->buffer[CE_LOSSES], &rows, &cols, &ignore,
                            &smoothing, &scale, &fused);
    return result == CUDA_SUCCESS ? launch_after(call, grid.overlaps) : result;
}

static CUresult launch_passes(struct zoo_call *call)
{
    return launch(call, "passes",
                  (struct zoo_grid){.x = (unsigned)call->problem->value[CE_ROWS],
                                    .threads = (unsigned)zoo_tunable(call, "BLOCK")});
}

static CUresult launch_online_with(struct zoo_call *call, unsigned threads)
{
    return launch(
        call, "online",
        (struct zoo_grid){.x = (unsigned)call->problem->value[CE_ROWS], .threads = threads});
}
static CUresult launch_online(struct zoo_call *call)
{
    return launch_online_with(call, (unsigned)zoo_tunable(call, "BLOCK"));
}

/* Stages ----------------------------------------------------------------------------------------*/

static int64_t vectors_of(const struct zoo_problem *problem)
{
    return problem->value[CE_COLS] * zoo_type_bytes[cross_entropy_type(problem)] / VECTOR;
}

/* Blocks for a row, a power of two: clusters of other sizes leave SMs idle. */
static struct zoo_grid parts_grid(const struct zoo_call *call)
{
    int each = zoo_tunable(call, "VECTORS");
    int64_t vectors = vectors_of(call->problem);
    unsigned blocks = 1;
    while (blocks < MOST_BLOCKS && vectors > (int64_t)blocks * zoo_tunable(call, "THREADS") * each)
        blocks *= 2;
    int64_t part = (vectors + blocks - 1) / blocks;
    return (struct zoo_grid){.x = (unsigned)call->problem->value[CE_ROWS] * blocks,
                             .threads = 32 * zoo_ceil_div(part, 32 * (int64_t)each),
                             .cluster = blocks};
}

/* Of a block for which registers are limited so that an SM takes 768 threads; 512 have them all. */
static unsigned narrow_threads(const struct zoo_call *call)
{
    return (unsigned)zoo_tunable(call, "THREADS");
}

/* The same, for as many clusters as run at a time, and some rounds of them. */
static struct zoo_grid stages_grid(const struct zoo_call *call)
{
    struct zoo_grid grid = parts_grid(call);
    int64_t rows = call->problem->value[CE_ROWS], blocks = grid.cluster;
    int64_t most = call->device->shared_per_block - OWN_SHARED;
    int64_t part = (vectors_of(call->problem) + blocks - 1) / blocks;
    int64_t shared = zoo_tunable(call, "STAGES") * part * VECTOR;
    int64_t resident = grid.threads > narrow_threads(call) ? 1 : 768 / grid.threads,
            by_shared = most / (shared + OWN_SHARED);
    resident = resident < by_shared ? resident : by_shared;
    /* GPCs do not all have the same number of SMs: clusters of 4 and 8 leave some idle. */
    int64_t sms = call->device->sm_count,
            idle = blocks > 2 && sms > 8 * blocks ? zoo_tunable(call, "IDLE") : 0;
    int64_t clusters = (resident ? resident : 1) * ((sms - idle) / blocks);
    if (blocks > 1) /* fewer than fit may run at a time: then even shares would wait for one */
        clusters *= zoo_tunable(call, "WAVES");
    /* They pay for their beginning: once every SM has a block, each gets four rows at least. */
    int64_t all = sms / blocks + 1, some = rows / 4 > all ? rows / 4 : all;
    clusters = clusters < some ? clusters : some;
    grid.x = (unsigned)((rows < clusters ? rows : clusters) * blocks);
    grid.shared = (unsigned)(shared <= most ? shared : 0);
    return grid;
}

static bool takes_stages(const struct zoo_problem *problem)
{
    return problem->value[CE_COLS] > 0 &&
           problem->value[CE_COLS] * zoo_type_bytes[cross_entropy_type(problem)] % VECTOR == 0;
}

static bool fits_stages(const struct zoo_call *call)
{
    struct zoo_grid grid = stages_grid(call);
    return grid.threads <= STAGES_THREADS && grid.shared > 0;
}

static bool fits_parts(const struct zoo_call *call)
{
    return parts_grid(call).threads <= 1024;
}

static CUresult launch_parts(struct zoo_call *call)
{
    if (call->buffer[CE_LOGITS] % VECTOR != 0)
        return launch_online_with(call, 1024);
    struct zoo_grid grid = parts_grid(call);
    grid.overlaps = true;
    return launch(call, "parts", grid);
}

static CUresult launch_stages(struct zoo_call *call)
{
    if (call->buffer[CE_LOGITS] % VECTOR != 0)
        return launch_online_with(call, 1024);
    struct zoo_grid grid = stages_grid(call);
    grid.overlaps = true;
    return launch(call, grid.threads > narrow_threads(call) ? "wide" : "stages", grid);
}

static bool takes_passes(const struct zoo_problem *problem)
{
    return cross_entropy_type(problem) == ZOO_BF16;
}

static const struct zoo_tunable waves[] = {
    ZOO_AT_LAUNCH("WAVES", 4, 1, 2, 4, 8), ZOO_AT_LAUNCH("IDLE", 12, 8, 12, 16), {{0}, 0, {0}, 0}};

static const struct zoo_variant variants[] = {
    {"passes", "the largest, the sum, the gradients: three reads", launch_passes, workspace,
     .takes = takes_passes, .traits = ZOO_DETERMINISTIC},
    {"online", "the largest and the sum in one pass: two reads", launch_online, workspace,
     .traits = ZOO_DETERMINISTIC},
    {"stages", "clusters that stay, and rows that are on their way ahead of time", launch_stages,
     workspace, .takes = takes_stages, .fits = fits_stages, .traits = ZOO_DETERMINISTIC,
     .at_launch = waves},
    {"cluster", "a row in the registers of a cluster: one read", launch_parts, workspace,
     .takes = takes_stages, .fits = fits_parts, .traits = ZOO_DETERMINISTIC},
    {0}};

/* As training loops do it: logits as f32, since the loss would be rounded to their type. */
static bool torch_takes(const struct zoo_problem *problem)
{
    return problem->value[CE_ROWS] > 0 && problem->value[CE_REDUCE] == REDUCE_MEAN &&
           zoo_as_float(problem->value[CE_SCALE]) == 1;
}
static bool torch_takes_fused(const struct zoo_problem *problem)
{
    return torch_takes(problem) && problem->value[CE_STEP] == STEP_FUSED;
}
static bool torch_takes_forward(const struct zoo_problem *problem)
{
    return torch_takes(problem) && problem->value[CE_STEP] == STEP_FORWARD;
}

#define TORCH_LOSS                                                                                 \
    "(lambda v, t, s: (lambda l: (l, l.sum() / (t != -100).sum()))"                                \
    "(torch.nn.functional.cross_entropy(v.float(), t, reduction='none', label_smoothing=s)))"
#define TORCH_FUSED                                                                                \
    "(lambda v, t, s: (lambda l: (torch.autograd.grad(l[1], v)[0], l[0].detach(), "                \
    "l[1].detach()))(" TORCH_LOSS "(v, t, s)))"
#define TORCH_ARGUMENTS                                                                            \
    "(x[0].view(rows, cols).detach().requires_grad_(step == 'fused'), x[1], float(smoothing))"
static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON, .call = TORCH_FUSED TORCH_ARGUMENTS, .takes = torch_takes_fused},
    {"torch_compile", ZOO_PEER_PYTHON, .call = "compiled(" TORCH_LOSS ")" TORCH_ARGUMENTS,
     .takes = torch_takes_forward},
    {0}};

static const char *const edges[] = {
    "rows=0,1,3 cols=1,7,8,33,264",
    "rows=9 cols=1,8,100,1032 type=bf16,f16,f32 step=fused,forward reduce=mean,sum",
    "rows=5 cols=2056,4100 type=bf16,f32 smoothing=0.1",
    "rows=3 cols=16384,40000 type=bf16,f16 smoothing=0,0.2",
    "rows=2 cols=65536,70001 step=fused,forward",
    "rows=9 cols=72,2056 dist=large,one_huge,ignored,wrong_labels,special type=bf16,f16,f32",
    "rows=9 cols=72,9000 dist=large,ignored,special smoothing=0.5 scale=0.25",
    "rows=1 cols=64 dist=ignored reduce=mean,sum",
    "rows=6 cols=64 dist=ignored ignore=3",
    "rows=600 cols=8 reduce=sum scale=2", /* several rows for each block that stays */
    "rows=40 cols=40000",                 /* and for clusters a later row to ask for */
    "rows=20 cols=131080",
    NULL};

static const char *const bench[] = {"rows=4K cols=32K",
                                    "rows=1K cols=128K",
                                    "rows=512 cols=256K",
                                    "rows=1K cols=128K step=forward",
                                    "rows=1K cols=128K smoothing=0.1",
                                    "rows=2K cols=50257",
                                    NULL};

const struct zoo_family zoo_cross_entropy = {
    .name = "cross_entropy",
    .title = "a classifier's loss, and its gradient in place",
    .problem =
        "loss = log(sum(exp(x))) - (1 - s) x[label] - s mean(x) of each row, s being the label "
        "smoothing; their mean over the rows that count, or their sum; fused: the gradient of that "
        "in place of the logits. Rows whose label is `ignore` do not count.",
    .parameters = {{"rows", "rows", 0, 1 << 27, 1024, NULL},
                   {"cols", "classes: the vocabulary", 1, 1 << 27, 1024, NULL},
                   {"type", "of the logits", 0, 2, 0, type_names},
                   {"step", "losses and gradients, or losses alone", 0, 1, 0, steps},
                   {"reduce", "the total: mean or sum", 0, 1, 0, reductions},
                   {"smoothing", "of the labels", 0, 1, 0, NULL, true},
                   {"scale", "of the gradients", 1, 1 << 20, 1, NULL, true},
                   {"ignore", "label of rows that do not count", -((int64_t)1 << 31),
                    ((int64_t)1 << 31) - 1, -100, NULL, true},
                   {0}},
    .distributions = distributions,
    .edges = edges,
    .bench = bench,
    .profile = "rows=32 cols=32K",
    .shape = shape,
    .generate = cross_entropy_generate,
    .reference = cross_entropy_reference,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
