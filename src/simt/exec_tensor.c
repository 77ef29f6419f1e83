/*
 * exec_tensor.c: which body a tensor instruction has, and ldmatrix, stmatrix and movmatrix.
 * An 8x8 matrix of 16-bit elements is one register of every lane: lane 4 * i + j holds elements
 * 2 * j and 2 * j + 1 of row i, so a register's slot is the matrix in row-major order. Lane
 * 8 * r + i gives the address of row i of matrix r.
 */
#include "simt/core.h"
#include "simt/tensor_wide.h"
#include "simt/warpgroup.h"

typedef uint16_t row_of_8 __attribute__((vector_size(16), aligned(4), may_alias));

/* Eight rows of 8, each where it lies, to their transpose. */
static inline void transpose_rows(const uint8_t *const rows[8], uint16_t to[64])
{
    row_of_8 x[8], y[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        memcpy(&x[i], rows[i], sizeof(x[i]));
        /* Each time, what was i and i + 4 takes turns: after three times all eight do. */
#pragma GCC unroll 3
    for (int step = 0; step < 3; step++) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            y[2 * i] = SIMT_SHUFFLE(row_of_8, x[i], x[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            y[2 * i + 1] = SIMT_SHUFFLE(row_of_8, x[i], x[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            x[i] = y[i];
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        memcpy(to + 8 * i, &x[i], sizeof(x[i]));
}

/* from and to may be the same. */
static inline void transpose_8x8(const uint16_t from[64], uint16_t to[64])
{
    const uint8_t *rows[8];
    for (int i = 0; i < 8; i++)
        rows[i] = (const uint8_t *)(from + 8 * i);
    transpose_rows(rows, to);
}

/* The 16 bytes of one row of a matrix. Those in shared memory that need no fault are found here,
 * which is faster. */
static inline uint8_t *find_row(struct simt_warp *w, const struct simt_inst *in,
                                enum ptx_space space, int lane, bool is_write)
{
    uint64_t address = tensor_address(w, in, lane);
    uint64_t own = address - w->block->window;
    if (space == PTX_SPACE_SHARED && address % 16 == 0 && own < w->block->shared_bytes &&
        w->block->shared_bytes - own >= 16)
        return w->block->shared + own;
    return simt_translate(w, in, space, address, 16, lane, is_write);
}

/* The rows of all matrices, by lane; false after a fault. */
static inline __attribute__((always_inline)) bool
find_rows(struct simt_warp *w, const struct simt_inst *in, int lanes, const uint8_t *rows[32])
{
    enum ptx_space space = tensor_space(in->ptx);
    const struct simt_block *block = w->block;
    if (space == PTX_SPACE_SHARED && in->flags & SIMT_FLAG_ADDRESS_32 &&
        block->shared_bytes >= 16) {
        const uint32_t *base = SIMT_SLOT(const uint32_t, in->a);
        uint64_t offset = (uint64_t)in->imm - block->window, most = block->shared_bytes - 16,
                 bad = 0;
        for (int i = 0; i < lanes; i++) { /* without a branch, so that lanes go together */
            uint64_t own = base[i] + offset;
            bad |= (base[i] + (uint64_t)in->imm) % 16 | (own > most);
            rows[i] = block->shared + own;
        }
        if (!bad)
            return true;
    }
    for (int i = 0; i < lanes; i++)
        if (!(rows[i] = find_row(w, in, space, i, false)))
            return false;
    return true;
}

/* All addresses are read before anything is written: they may be in a register of the result. */
static inline __attribute__((always_inline)) const struct simt_inst *
load_matrices(struct simt_warp *w, const struct simt_inst *in, int count)
{
    const uint8_t *rows[32];
    if (!simt_wait_lanes(w, in, SIMT_ALL) || !find_rows(w, in, 8 * count, rows))
        return NULL;
    bool trans = ptx_has(in->ptx, PTX_MOD_TRANS);
    for (int r = 0; r < count; r++) {
        uint16_t *d = SIMT_SLOT(uint16_t, in->list[r]);
        if (trans) {
            transpose_rows(rows + 8 * r, d);
        } else {
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++)
                memcpy(d + 8 * i, rows[8 * r + i], 16);
        }
    }
    return in + 1;
}

SIMT_BODY(ldmatrix)
{
    switch (tensor_register_count(in->ptx, 0)) {
    case 1:
        return load_matrices(w, in, 1);
    case 2:
        return load_matrices(w, in, 2);
    default:
        return load_matrices(w, in, 4);
    }
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
            uint8_t *row = find_row(w, in, space, (int)(8 * r + i), true);
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
    transpose_8x8(SIMT_SLOT(const uint16_t, in->a), SIMT_SLOT(uint16_t, in->d));
    return in + 1;
}

static unsigned matrix_count(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_X4) ? 4 : ptx_has(ptx, PTX_MOD_X2) ? 2 : 1;
}

simt_body *SIMT_NAME(tensor_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    if (ptx_is_wgmma(ptx->op))
        return SIMT_NAME(tensor_select_wgmma)(operands);
    if (ptx_is_sparse_mma(ptx->op))
        return SIMT_NAME(tensor_select_sparse)(operands);
    switch (ptx->op) {
    case PTX_OP_WGMMA_FENCE:
        return simt_wgmma_fence;
    case PTX_OP_WGMMA_COMMIT:
        return simt_wgmma_commit;
    case PTX_OP_WGMMA_WAIT:
        return simt_wgmma_wait;
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
