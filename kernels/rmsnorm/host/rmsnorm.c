/*
 * rmsnorm.c: the family: rows over the root of their mean square, times gamma; with a residual
 * added before, results in FP8, and gradients. What it shares with layernorm is in
 * kernels/host/norm*.c.
 */
#include "norm.h"

static const struct zoo_tunable waves_4[] = {ZOO_AT_LAUNCH("WAVES", 4, 1, 2, 4, 8),
                                             {{0}, 0, {0}, 0}};
static const struct zoo_tunable waves_1[] = {ZOO_AT_LAUNCH("WAVES", 1, 1, 2, 4), {{0}, 0, {0}, 0}};

static const struct zoo_variant variants[] = {
    {"two_pass", "a pass that adds up squares, a pass that multiplies", norm_launch_plain,
     .takes = norm_takes_plain, .traits = ZOO_DETERMINISTIC | ZOO_FOR_SHOW},
    {"registers", "a row waits in registers, and is read once", norm_launch_registers,
     .takes = norm_takes_forward, .traits = ZOO_DETERMINISTIC},
    {"cluster", "a row over a cluster, whose blocks exchange what they found", norm_launch_parts,
     .takes = norm_takes_long_rows, .fits = norm_fits_parts, .traits = ZOO_DETERMINISTIC},
    {"stages", "clusters that stay, and rows that come into shared memory ahead of time",
     norm_launch_stages, .takes = norm_takes_long_rows, .fits = norm_fits_stages,
     .traits = ZOO_DETERMINISTIC, .at_launch = waves_4},
    {"backward", "gradients by columns, then by rows", norm_launch_passes, norm_workspace_passes,
     .takes = norm_takes_backward, .traits = ZOO_DETERMINISTIC},
    {"backward_stages", "all gradients in one read", norm_launch_gradient_stages,
     norm_workspace_stages, .takes = norm_takes_backward_stages, .fits = norm_fits_stages,
     .traits = ZOO_DETERMINISTIC, .at_launch = waves_1},
    {0}};

/* PyTorch has no residual, no FP8, and rounds a sum that is to be normalised. */
static bool torch_takes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    return v[NORM_RESIDUAL] == 0 && v[NORM_AFFINE] == AFFINE_YES && v[NORM_STORE] == STORE_SAME &&
           v[NORM_STATS] == 0 && v[NORM_ROWS] > 0 && v[NORM_COLS] > 0;
}

#define TORCH_BACKWARD                                                                             \
    "torch.ops.aten._fused_rms_norm_backward(x[2].view(rows, cols), x[0].view(rows, cols), "       \
    "[cols], x[3].view(rows, 1), x[1], [True, True])"
static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     "torch.nn.functional.rms_norm(x[0].view(rows, cols), (cols,), x[1], eps) "
     "if step == 'forward' else " TORCH_BACKWARD,
     .takes = torch_takes},
    {0}};

static const char *const edges[] = {
    "rows=0,1,3 cols=0,1,7,8,33",
    "rows=9 cols=1,8,100,256,264,1000,1032 type=bf16,f16,f32 stats=kept",
    "rows=5 cols=1028,4104 type=f32,bf16 residual=added store=same,e4m3 stats=kept",
    "rows=3 cols=8200,33000 type=bf16,f16",
    "rows=2 cols=2048 type=f32 residual=added", /* 48 KiB of stages, and more */
    "rows=2 cols=66000,70001",
    "rows=3 cols=32768 dist=huge,special,offset residual=added store=same,e4m3 stats=kept",
    "rows=2 cols=17000 type=f32 residual=none,added stats=kept",
    "rows=4 cols=65,512 affine=no type=bf16,f32",
    "rows=5 cols=40,2056 type=bf16,f16,f32 store=e4m3 scale=100",
    "rows=6 cols=72,2056,9000 dist=offset,huge,tiny,constant,special",
    "rows=6 cols=72,2056 dist=huge,tiny,special type=f16,f32 stats=kept",
    "rows=2 cols=72,16384 dist=tiny,huge eps=0 residual=added",
    "rows=700 cols=64 eps=0.5",
    "rows=0,1,3 cols=0,1,8,33 step=backward",
    "rows=9 cols=8,100,256,512,520,1032 step=backward type=bf16,f16,f32",
    "rows=40 cols=65,2056 step=backward residual=added type=bf16,f32",
    "rows=3 cols=8200,16388 step=backward type=bf16,f32",
    "rows=3 cols=66000 step=backward",            /* more than 512 threads of 8 blocks hold */
    "rows=600 cols=40 step=backward dist=offset", /* several rows for each block that stays */
    "rows=4 cols=65,512 step=backward affine=no",
    NULL};

static const char *const bench[] = {"rows=32K cols=4K",
                                    "rows=8K cols=16K",
                                    "rows=1K cols=128K",
                                    "rows=32K cols=4K step=backward",
                                    "rows=8K cols=16K step=backward",
                                    "rows=1K cols=128K step=backward",
                                    "rows=32K cols=4K residual=added",
                                    "rows=32K cols=4K store=e4m3 scale=16",
                                    "rows=16K cols=4K type=f32",
                                    NULL};

const struct zoo_family zoo_rmsnorm = {
    .name = "rmsnorm",
    .title = "rows over their root mean square",
    .problem =
        "y = x / sqrt(mean(x^2) + eps) * gamma along each row, or of x + residual, which is stored "
        "too; results in the type of x, or as e4m3 times a scale. Backward: dx, and dgamma summed "
        "over the rows. Arithmetic is in f32.",
    .parameters = NORM_PARAMETERS,
    .distributions = norm_distributions,
    .edges = edges,
    .bench = bench,
    .profile = "rows=256 cols=2K",
    .shape = norm_shape,
    .generate = norm_generate,
    .reference = norm_reference,
    .bytes = norm_bytes,
    .flops = norm_flops,
    .variants = variants,
    .peers = peers,
};
