/*
 * watch_cost.c: what an instruction costs, for the time model: how many machine instructions the
 * assembler makes of it. How long a warp waits for results is in watch_phases.c.
 */
#include "simt/watch.h"

#include "gpu/counters.h"

static bool is_wide(const struct ptx_inst *ptx)
{
    return ptx->type_count && ptx_type_bits(ptx->types[0]) == 64;
}

/* Typical lengths of the sequences that nvcc 13 emits for sm_90. */
unsigned simt_watch_slots(const struct ptx_inst *ptx, const struct watch_inst *what)
{
    switch (ptx->op) {
    case PTX_OP_DIV:
    case PTX_OP_REM:
        return is_wide(ptx) ? 60 : 18;
    case PTX_OP_MUL_LO:
    case PTX_OP_MAD_LO:
    case PTX_OP_MUL_HI:
        return is_wide(ptx) ? 4 : 1;
    case PTX_OP_FDIV:
        return is_wide(ptx) ? 40 : 19;
    case PTX_OP_SQRT:
    case PTX_OP_RCP:
        return is_wide(ptx) ? 32 : 14;
    case PTX_OP_FDIV_APPROX:
        return 3;
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_RSQRT_APPROX:
    case PTX_OP_SQRT_APPROX:
    case PTX_OP_LG2:
    case PTX_OP_EX2:
        return 3;
    case PTX_OP_WMMA_LOAD:
    case PTX_OP_WMMA_STORE:
        return what->space == PTX_SPACE_SHARED ? 2 : 4;
    case PTX_OP_WMMA_MMA_F16:
    case PTX_OP_WMMA_MMA_BF16:
    case PTX_OP_WMMA_MMA_TF32:
    case PTX_OP_WMMA_MMA_INT:
        return 2;
    default:
        break;
    }
    switch ((enum gpu_class)what->class) {
    case GPU_CLASS_MOVE:
    case GPU_CLASS_PARAM:
        return 0;
    case GPU_CLASS_INTEGER:
    case GPU_CLASS_COMPARE:
        return is_wide(ptx) ? 2 : 1;
    default:
        return what->folded ? 0 : 1;
    }
}
