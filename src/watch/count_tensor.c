/*
 * count_tensor.c: the tensor cores' counters: which machine instructions a tensor product becomes,
 * and what wgmma reads of shared memory.
 * How many instructions each product becomes was counted in what ptxas makes for sm_90; that wgmma
 * counts under the type of its factors too is ncu's way.
 */
#include "watch/count.h"

#include "gpu/model.h"
#include "simt/tensor_shape.h"

enum pipe { PIPE_NONE, PIPE_HALF, PIPE_INTEGER, PIPE_DOUBLE };

static enum pipe pipe_of(enum ptx_op op)
{
    switch (op) {
    case PTX_OP_MMA_INT:
    case PTX_OP_MMA_SP_INT:
    case PTX_OP_WMMA_MMA_INT:
    case PTX_OP_WGMMA_INT:
    case PTX_OP_WGMMA_SP_INT:
        return PIPE_INTEGER;
    case PTX_OP_MMA_F64:
    case PTX_OP_WMMA_MMA_F64:
        return PIPE_DOUBLE;
    case PTX_OP_MMA_BIT:
    case PTX_OP_WMMA_MMA_BIT:
    case PTX_OP_WGMMA_BIT:
        return PIPE_NONE; /* in the total alone */
    default:
        return PIPE_HALF;
    }
}

static bool has_4_bits(const struct ptx_inst *ptx)
{
    return ptx->type_count > 1 && (ptx->types[1] == PTX_S4 || ptx->types[1] == PTX_U4);
}

static unsigned instructions_of(const struct ptx_inst *ptx)
{
    switch (ptx->op) {
    case PTX_OP_MMA_F16: /* plain multiply-adds stand for Volta's shape */
        return ptx_has(ptx, PTX_MOD_M8N8K4) ? 0 : 1;
    case PTX_OP_MMA_F8:
    case PTX_OP_MMA_SP_F8: /* as f16 */
    case PTX_OP_WMMA_MMA_F16:
    case PTX_OP_WMMA_MMA_BF16:
    case PTX_OP_WMMA_MMA_INT:
        return 2;
    case PTX_OP_WMMA_MMA_TF32:
        return 4;
    case PTX_OP_MMA_INT:
    case PTX_OP_MMA_SP_INT: /* as 8 bits */
        return has_4_bits(ptx) ? 2 : 1;
    case PTX_OP_MMA_BIT:
    case PTX_OP_WMMA_MMA_BIT:
        return ptx_has(ptx, PTX_MOD_XOR) ? 2 : 1;
    default:
        return 1;
    }
}

/* Passes of 128 bytes over the matrices in shared memory; a warpgroup's are shared by its warps. */
double count_wide_passes(const struct ptx_inst *ptx)
{
    struct tensor_shape shape = tensor_shape_of(ptx);
    bool is_sparse = ptx_is_sparse_wgmma(ptx->op);
    bool is_a_shared = ptx->operands[1].kind != PTX_OPERAND_VECTOR;
    unsigned bits = ptx_type_bits(ptx->types[1]);
    unsigned a = is_a_shared ? shape.m * shape.k * bits / 8 >> is_sparse : 0;
    unsigned b = shape.n * shape.k * bits / 8;
    return (double)(a + b) / (128 * 4);
}

/* What a tensor core does with these factors, over what it does with 16 bits. Types are of no help:
 * wmma's name those of the sums. */
static double rate_of(const struct gpu_info *gpu, const struct ptx_inst *ptx)
{
    double f16 = gpu->tensor_f16 > 0 ? gpu->tensor_f16 : 1;
    switch (ptx->op) {
    case PTX_OP_MMA_F64:
    case PTX_OP_WMMA_MMA_F64:
        return gpu->tensor_f64 > 0 ? gpu->tensor_f64 / f16 : 1.0 / 16;
    case PTX_OP_MMA_TF32:
    case PTX_OP_MMA_SP_TF32:
    case PTX_OP_WMMA_MMA_TF32:
    case PTX_OP_WGMMA_TF32:
    case PTX_OP_WGMMA_SP_TF32:
        return gpu->tensor_tf32 > 0 ? gpu->tensor_tf32 / f16 : 0.5;
    case PTX_OP_WGMMA_F8:
    case PTX_OP_WGMMA_SP_F8: /* mma.sync has f8 made into f16 */
        return gpu->tensor_f8 > 0 ? gpu->tensor_f8 / f16 : 2;
    default:
        break;
    }
    if (pipe_of(ptx->op) == PIPE_NONE) /* single bits */
        return 8;
    if (pipe_of(ptx->op) == PIPE_INTEGER)
        return gpu->tensor_int8 > 0 ? gpu->tensor_int8 / f16 : 2;
    return 1;
}

double count_tensor_cycles(const struct gpu_info *gpu, const struct ptx_inst *ptx)
{
    struct tensor_shape shape = tensor_shape_of(ptx);
    bool is_wide = ptx_is_wgmma(ptx->op);
    double products = (double)shape.m * shape.n * shape.k / (is_wide ? 4 : 1);
    if (ptx_is_sparse_wgmma(ptx->op))
        products /= 2;
    return products / (gpu_tensor_products(gpu) * rate_of(gpu, ptx));
}

void count_tensor(struct gpu_counters *sum, const struct gpu_info *gpu, const struct ptx_inst *ptx,
                  uint64_t warps)
{
    uint64_t instructions = warps * instructions_of(ptx);
    uint64_t cycles = (uint64_t)((double)warps * count_tensor_cycles(gpu, ptx));
    sum->tensor_cycles += cycles;
    sum->tensor_sync_cycles += ptx_is_wgmma(ptx->op) ? 0 : cycles;
    sum->tensor_instructions += instructions;
    switch (pipe_of(ptx->op)) {
    case PIPE_HALF:
        sum->tensor_half_instructions += instructions;
        break;
    case PIPE_INTEGER:
        sum->tensor_integer_instructions += instructions;
        break;
    case PIPE_DOUBLE:
        sum->tensor_double_instructions += instructions;
        break;
    case PIPE_NONE:
        break;
    }
    if (!ptx_is_wgmma(ptx->op))
        return;
    uint64_t passes = (uint64_t)((double)warps * count_wide_passes(ptx));
    sum->tensor_wide_instructions += instructions;
    sum->shared_wide_wavefronts += passes;
    sum->shared_wavefronts += passes;
    sum->shared_wavefronts_ideal += passes;
}
