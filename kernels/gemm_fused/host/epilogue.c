/*
 * epilogue.c: see epilogue.h.
 */
#include "epilogue.h"

#include <math.h>

const struct gemm_epilogue gemm_epilogues[GEMM_EPILOGUES] = {
    {1, 0, GEMM_NONE, false, false}, {1, 0, GEMM_NONE, true, false},
    {1, 0, GEMM_RELU, true, false},  {1, 0, GEMM_GELU, true, false},
    {1, 0, GEMM_SILU, false, false}, {1, 0, GEMM_GATE, false, false},
    {1, 1, GEMM_NONE, true, false},  {0.5F, -2, GEMM_RELU, true, true},
};
const char *const gemm_epilogue_names[GEMM_EPILOGUES + 1] = {
    "none", "bias", "bias_relu", "bias_gelu", "silu", "gate", "residual", "scaled", NULL};

static struct gemm_result silu(struct gemm_result x)
{
    return (struct gemm_result){x.value / (1 + exp(-x.value)),
                                1.1 * x.error + 0x1p-20 * fabs(x.value)};
}

struct gemm_result gemm_activate(struct gemm_result x, enum gemm_activation activation)
{
    switch (activation) {
    case GEMM_RELU:
        x.value = x.value < 0 ? 0 : x.value;
        break;
    case GEMM_GELU: /* 1.5e-7: the approximation's own error */
        x = (struct gemm_result){x.value * 0.5 * erfc(-x.value * M_SQRT1_2),
                                 1.13 * x.error + (0x1p-20 + 1.5e-7) * fabs(x.value)};
        break;
    case GEMM_SILU:
        x = silu(x);
        break;
    case GEMM_NONE:
    case GEMM_GATE:
        break;
    }
    return x;
}

struct gemm_result gemm_gate(struct gemm_result left, struct gemm_result right)
{
    left = silu(left);
    right.error = right.error * (fabs(left.value) + left.error) + left.error * fabs(right.value);
    right.value *= left.value;
    return right;
}
