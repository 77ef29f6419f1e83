/*
 * layernorm.c: the family: rows minus their mean, over their deviation, times gamma plus beta; with
 * a residual added before, results in FP8, and gradients. What it shares with rmsnorm is in
 * kernels/host/norm*.c.
 */
#include "norm.h"

static const struct zoo_variant variants[] = {
    {"two_pass", "a pass for the mean, a pass for the squares around it", norm_launch_plain,
     .takes = norm_takes_plain, .traits = ZOO_DETERMINISTIC | ZOO_FOR_SHOW},
    {"welford", "mean and squares in one pass", norm_launch_plain, .takes = norm_takes_plain,
     .traits = ZOO_DETERMINISTIC | ZOO_FOR_SHOW},
#include "norm_variants.inc"
    {0}};

#define TORCH_BACKWARD                                                                             \
    "torch.ops.aten.native_layer_norm_backward(x[2].view(rows, cols), x[0].view(rows, cols), "     \
    "[cols], x[3][:rows].view(rows, 1), x[3][rows:].view(rows, 1), x[1], x[1], [True] * 3)"
static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON,
     "torch.nn.functional.layer_norm(x[0].view(rows, cols), (cols,), x[1], x[2], eps) "
     "if step == 'forward' else " TORCH_BACKWARD,
     .takes = norm_torch_takes},
    {0}};

const struct zoo_family zoo_layernorm = {
    .name = "layernorm",
    .title = "rows minus their mean, over their deviation",
    .problem =
        "y = (x - mean) / sqrt(variance + eps) * gamma + beta along each row, or of x + residual, "
        "which is stored too; results in the type of x, or as e4m3 times a scale. Backward: dx, "
        "and dgamma and dbeta summed over the rows. Arithmetic is in f32.",
    NORM_FAMILY,
};
