/*
 * exec_tensor.c: which body a tensor instruction has, and ldmatrix, stmatrix and movmatrix.
 * An 8x8 matrix of 16-bit elements is one register of every lane: lane 4 * i + j holds elements
 * 2 * j and 2 * j + 1 of row i, so a register's slot is the matrix in row-major order. Lane
 * 8 * r + i gives the address of row i of matrix r.
 */
#include "simt/tensor.h"

static void transpose_8x8(const uint16_t from[64], uint16_t to[64])
{
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++)
            to[8 * j + i] = from[8 * i + j];
    }
}

SIMT_BODY(ldmatrix)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    unsigned count = tensor_register_count(in->ptx, 0);
    enum ptx_space space = tensor_space(in->ptx);
    uint16_t loaded[4][64]; /* the addresses may be in a register that is written */
    for (unsigned lane = 0; lane < 8 * count; lane++) {
        uint64_t address = tensor_address(w, in, (int)lane);
        const uint8_t *row = simt_translate(w, in, space, address, 16, (int)lane, false);
        if (!row)
            return NULL;
        memcpy(&loaded[lane / 8][lane % 8 * 8], row, 16);
    }
    bool trans = ptx_has(in->ptx, PTX_MOD_TRANS);
    for (unsigned r = 0; r < count; r++) {
        uint16_t *d = SIMT_SLOT(uint16_t, in->list[r]);
        if (trans)
            transpose_8x8(loaded[r], d);
        else
            memcpy(d, loaded[r], sizeof(loaded[r]));
    }
    return in + 1;
}

SIMT_BODY(stmatrix)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    unsigned count = tensor_register_count(in->ptx, 1);
    enum ptx_space space = tensor_space(in->ptx);
    bool trans = ptx_has(in->ptx, PTX_MOD_TRANS);
    for (unsigned r = 0; r < count; r++) {
        uint16_t matrix[64];
        const uint16_t *a = SIMT_SLOT(const uint16_t, in->list[r]);
        if (trans)
            transpose_8x8(a, matrix);
        else
            memcpy(matrix, a, sizeof(matrix));
        for (unsigned i = 0; i < 8; i++) {
            int lane = (int)(8 * r + i);
            uint64_t address = tensor_address(w, in, lane);
            uint8_t *row = simt_translate(w, in, space, address, 16, lane, true);
            if (!row)
                return NULL;
            memcpy(row, matrix + 8 * i, 16);
        }
    }
    return in + 1;
}

SIMT_BODY(movmatrix)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    uint16_t matrix[64];
    memcpy(matrix, SIMT_SLOT(const uint16_t, in->a), sizeof(matrix));
    transpose_8x8(matrix, SIMT_SLOT(uint16_t, in->d));
    return in + 1;
}

static unsigned matrix_count(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_X4) ? 4 : ptx_has(ptx, PTX_MOD_X2) ? 2 : 1;
}

simt_body *SIMT_NAME(tensor_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    switch (ptx->op) {
    case PTX_OP_LDMATRIX:
        return tensor_register_count(ptx, 0) == matrix_count(ptx) ? ldmatrix : NULL;
    case PTX_OP_STMATRIX:
        return tensor_register_count(ptx, 1) == matrix_count(ptx) ? stmatrix : NULL;
    case PTX_OP_MOVMATRIX:
        return movmatrix;
    case PTX_OP_MMA_F16:
    case PTX_OP_MMA_BF16:
    case PTX_OP_MMA_TF32:
    case PTX_OP_MMA_F8:
    case PTX_OP_MMA_F64:
        return SIMT_NAME(tensor_select_float)(operands);
    case PTX_OP_MMA_INT:
    case PTX_OP_MMA_BIT:
        return SIMT_NAME(tensor_select_int)(operands);
    case PTX_OP_WMMA_LOAD:
    case PTX_OP_WMMA_STORE:
    case PTX_OP_WMMA_MMA_F16:
    case PTX_OP_WMMA_MMA_BF16:
    case PTX_OP_WMMA_MMA_TF32:
    case PTX_OP_WMMA_MMA_F64:
    case PTX_OP_WMMA_MMA_INT:
    case PTX_OP_WMMA_MMA_BIT:
        return SIMT_NAME(tensor_select_wmma)(operands);
    default:
        return NULL;
    }
}
