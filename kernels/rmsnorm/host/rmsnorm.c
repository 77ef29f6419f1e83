/*
 * rmsnorm.c: the family: rows over the root of their mean square, times gamma; with a residual
 * added before, results in FP8, and gradients. What it shares with layernorm is in
 * kernels/host/norm*.c.
 */
#include "norm.h"

static const struct zoo_variant variants[] = {
    {"two_pass", "a pass that adds up squares, a pass that multiplies", norm_launch_plain,
     .takes = norm_takes_plain, .traits = ZOO_DETERMINISTIC | ZOO_FOR_SHOW},
#include "norm_variants.inc"
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
    NORM_FAMILY,
};
