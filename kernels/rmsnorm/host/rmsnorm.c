/*
 * rmsnorm.c: the family: rows over the root of their mean square, times gamma; with a residual
 * added before, results in FP8, and gradients. What it shares with layernorm is in
 * kernels/host/norm*.c.
 */
#include "norm.h"

static const struct zoo_tunable waves_4[] = {ZOO_AT_LAUNCH("WAVES", 4, 1, 2, 4, 8),
                                             {{0}, 0, {0}, 0}};
static const struct zoo_tunable waves_1[] = {ZOO_AT_LAUNCH("WAVES", 1, 1, 2, 4), {{0}, 0, {0}, 0}};

static const struct zoo_tunable shared_affine_tunables[] = {
    ZOO_AT_LAUNCH("WAVES", 1, 1, 2, 4), ZOO_AT_LAUNCH("IDLE", 12, 8, 12, 16), {{0}, 0, {0}, 0}};

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
    {"shared_affine", "stages, with gamma in shared memory", norm_launch_shared_affine,
     .takes = norm_takes_shared_affine, .fits = norm_fits_shared_affine,
     .traits = ZOO_DETERMINISTIC, .at_launch = shared_affine_tunables},
    {"plain", "a row over a cluster, with nothing but gamma", norm_launch_plain_rows,
     .takes = norm_takes_plain_rows, .fits = norm_fits_plain_rows, .traits = ZOO_DETERMINISTIC},
    {"groups", "clusters that stay, whose groups of threads take rows of their own",
     norm_launch_groups, .takes = norm_takes_groups, .fits = norm_fits_groups,
     .traits = ZOO_DETERMINISTIC},
    {"backward", "gradients by columns, then by rows", norm_launch_passes, norm_workspace_passes,
     .takes = norm_takes_backward, .traits = ZOO_DETERMINISTIC},
    {"backward_stages", "all gradients in one read", norm_launch_gradient_stages,
     norm_workspace_stages, .takes = norm_takes_backward_stages, .fits = norm_fits_stages,
     .traits = ZOO_DETERMINISTIC, .at_launch = waves_1},
    {"backward_groups", "all gradients in one read, by groups of threads with rows of their own",
     norm_launch_backward_groups, norm_workspace_backward_groups,
     .takes = norm_takes_backward_groups, .fits = norm_fits_backward_groups,
     .traits = ZOO_DETERMINISTIC},
    {"backward_team", "all gradients in one read, a row over all SMs", norm_launch_backward_team,
     norm_workspace_backward_team, .takes = norm_takes_backward_team,
     .fits = norm_fits_backward_team, .traits = ZOO_DETERMINISTIC | ZOO_COOPERATIVE},
    {0}};

#define TORCH_BACKWARD                                                                             \
    "torch.ops.aten._fused_rms_norm_backward(x[2].view(rows, cols), x[0].view(rows, cols), "       \
    "[cols], x[3].view(rows, 1), x[1], [True, True])"
static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     "torch.nn.functional.rms_norm(x[0].view(rows, cols), (cols,), x[1], eps) "
     "if step == 'forward' else " TORCH_BACKWARD,
     .takes = norm_torch_takes},
    {0}};

const struct zoo_family zoo_rmsnorm = {
    .name = "rmsnorm",
    .title = "rows over their root mean square",
    .problem =
        "y = x / sqrt(mean(x^2) + eps) * gamma along each row, or of x + residual, which is stored "
        "too; results in the type of x, or as e4m3 times a scale. Backward: dx, and dgamma summed "
        "over the rows. Arithmetic is in f32.",
    .parameters = NORM_PARAMETERS,
    .distributions = norm_distributions,
    .edges = norm_edges,
    .bench = norm_bench,
    .profile = "rows=256 cols=2K",
    .shape = norm_shape,
    .generate = norm_generate,
    .reference = norm_reference,
    .bytes = norm_bytes,
    .flops = norm_flops,
    .variants = variants,
    .peers = peers,
};
