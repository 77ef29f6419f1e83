/*
 * tensor.h: what the exec_tensor*.c files share.
 * A fragment is a list of registers spread over the warp. All layouts of mma.sync but that of f16
 * m8n8k4 are one picture: a register holds 8 rows of 16 bytes (f64: 32), 4 lanes a row, so a
 * register's slot is a small row-major matrix. Rows are those of A, or columns of B.
 *   A  m x k  register r: rows 8 * (r % (m / 8)) .., bytes 16 * (r / (m / 8)) .. of each row
 *   B  k x 8  register r: columns 0-7, bytes 16 * r .. of each column
 *   C  m x 8  32-bit and f64: register r: rows 8 * (r / 2) .., columns r % 2, +2, +4, +6
 *             f16: register r: rows 8 * r .., all 8 columns
 */
#ifndef LOCKSTEP_SIMT_TENSOR_H
#define LOCKSTEP_SIMT_TENSOR_H

#include "simt/exec.h"
#include "simt/num_half.h"
#include "simt/tensor_model.h"
#include "simt/tensor_shape.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The GPU that the warp runs on. */
const struct gpu_info *simt_warp_gpu(const struct simt_warp *w);

#define TENSOR_MAX_ROWS 16 /* of one tile */
#define TENSOR_MAX_K 32    /* of floats below f64 */

/* One tile of D = A * B + C: up to 16 rows, always 8 columns. Where its registers are: */
struct tensor_fragments {
    const uint8_t *a[8], *b[4], *c[4];
    uint8_t *d[4];
};

/* What a float tile is made of. */
struct tensor_float_kind {
    uint8_t rows, k;        /* rows 8 or 16 */
    uint8_t a_type, b_type; /* enum ptx_type */
    bool c_half, d_half;    /* f16, else f32 */
};

/* The factors of one float tile. Columns are in the order of tensor_column, in which a row of f32
 * accumulators lies in registers. Exponents are those of the model, as bytes: middle - exponent of
 * a factor of A, and 255 for 0; 127 + middle + exponent of one of B, and 0 for 0. So the
 * difference, not less than 0, is the exponent + 127 of the product, and 0 if the product is 0. */
struct tensor_sum {
    const struct tensor_model *model;
    uint8_t rows, k;
    uint8_t piece; /* k that one register of A or B holds of a row: 8, or 4 of tf32 */
    bool c_half, d_half;
    bool special;              /* a factor is infinite, NaN or larger than the bytes can say */
    bool tiny;                 /* a product may be below TENSOR_LOWEST, but not 0 */
    bool a_special, a_tiny;    /* the same, by the factors of A alone */
    int8_t a_lowest, b_lowest; /* exponent of subnormals */
    _Alignas(32) float a[TENSOR_MAX_ROWS * TENSOR_MAX_K]; /* [k / piece][row][k % piece] */
    _Alignas(32) float b[TENSOR_MAX_K * 8];               /* [k][column] */
    _Alignas(32) uint8_t a_exponents[TENSOR_MAX_ROWS * TENSOR_MAX_K]; /* [row][k] */
    _Alignas(32) uint8_t b_exponents[TENSOR_MAX_K * 8];               /* [k / 4][column][k % 4] */
};
#define TENSOR_LOWEST 37 /* exponent + 127 below which f32 cannot scale: 2^-90 */

static const uint8_t tensor_column[8] = {0, 2, 4, 6, 1, 3, 5, 7};

/* exec_tensor_float.c: sets up sum but for its factors. */
void SIMT_NAME(tensor_start)(struct tensor_sum *sum, const struct tensor_model *model,
                             const struct tensor_float_kind *kind);

/* exec_tensor_unpack.c: fills in factors, B's after A's. Several tiles may share an A. */
enum { TENSOR_A = 1, TENSOR_B = 2 };
void SIMT_NAME(tensor_unpack)(struct tensor_sum *sum, const struct tensor_float_kind *kind,
                              const struct tensor_fragments *f, unsigned which);

/* A register of 8 rows of 16 f8 to two of f16, which are aligned to 32 bytes. via_f16: with their
 * value; else e4m3 keep their exponent field, and are 256 times too small. pairs: k % 4 = 0, 1 to
 * the first and 2, 3 to the second, as tensor_model.h has it; else the first 8 and the last 8 of a
 * row. */
void SIMT_NAME(tensor_halves_of_f8)(bool is_e5m2, bool via_f16, bool pairs, const uint8_t *from,
                                    uint8_t *first, uint8_t *second);

/* exec_tensor_sum.c: d = a * b + c as the model says. */
void SIMT_NAME(tensor_add)(const struct tensor_sum *sum, const struct tensor_fragments *f);

/* exec_tensor_exact.c: the same, one output after the other; tensor_add calls it for what it cannot
 * do itself. */
void SIMT_NAME(tensor_add_exact)(const struct tensor_sum *sum, const struct tensor_fragments *f);

/* exec_tensor_float.c */
void SIMT_NAME(tensor_float_tile)(const struct gpu_info *gpu, const struct tensor_float_kind *kind,
                                  const struct tensor_fragments *f);
void SIMT_NAME(tensor_f64_tile)(unsigned rows, unsigned k, int rounding,
                                const struct tensor_fragments *f);
simt_body *SIMT_NAME(tensor_select_float)(const struct simt_operands *operands);

/* exec_tensor_int.c */
struct tensor_int_kind {
    uint8_t rows, bytes;    /* bytes: of a row of A, 16, 32 or 64 */
    uint8_t a_type, b_type; /* s8 u8 s4 u4 b1 */
    bool saturate, is_and;  /* is_and: b1 */
};
void SIMT_NAME(tensor_int_tile)(const struct tensor_int_kind *kind,
                                const struct tensor_fragments *f);
simt_body *SIMT_NAME(tensor_select_int)(const struct simt_operands *operands);

/* exec_tensor_wmma.c */
simt_body *SIMT_NAME(tensor_select_wmma)(const struct simt_operands *operands);

/* For select functions ------------------------------------------------------------------------ */

/* How many registers operand i lists; 1 for a register without braces. */
static inline unsigned tensor_register_count(const struct ptx_inst *ptx, unsigned i)
{
    if (i >= ptx->operand_count)
        return 0;
    const struct ptx_operand *operand = &ptx->operands[i];
    return operand->kind == PTX_OPERAND_VECTOR ? operand->item_count : 1;
}

static inline bool tensor_counts_are(const struct ptx_inst *ptx, unsigned d, unsigned a, unsigned b,
                                     unsigned c)
{
    return tensor_register_count(ptx, 0) == d && tensor_register_count(ptx, 1) == a &&
           tensor_register_count(ptx, 2) == b && tensor_register_count(ptx, 3) == c;
}

static inline enum ptx_space tensor_space(const struct ptx_inst *ptx)
{
    if (ptx_has(ptx, PTX_MOD_SHARED) || ptx_has(ptx, PTX_MOD_SHARED_CTA))
        return PTX_SPACE_SHARED;
    return ptx_has(ptx, PTX_MOD_GLOBAL) ? PTX_SPACE_GLOBAL : PTX_SPACE_GENERIC;
}

/* For bodies ----------------------------------------------------------------------------------- */

/* Points f at the registers of an mma: list holds d, a, b, c one after the other. */
static inline void tensor_point(struct simt_warp *w, const struct simt_inst *in, unsigned d_count,
                                unsigned a_count, unsigned b_count, unsigned c_count,
                                struct tensor_fragments *f)
{
    const uint32_t *slot = in->list;
    for (unsigned i = 0; i < d_count; i++)
        f->d[i] = w->regs + *slot++;
    for (unsigned i = 0; i < a_count; i++)
        f->a[i] = w->regs + *slot++;
    for (unsigned i = 0; i < b_count; i++)
        f->b[i] = w->regs + *slot++;
    for (unsigned i = 0; i < c_count; i++)
        f->c[i] = w->regs + *slot++;
}

/* The address operand of one lane: base register plus the constant part. */
static inline uint64_t tensor_address(const struct simt_warp *w, const struct simt_inst *in,
                                      int lane)
{
    uint64_t base = in->flags & SIMT_FLAG_ADDRESS_32 ? SIMT_SLOT(const uint32_t, in->a)[lane]
                                                     : SIMT_SLOT(const uint64_t, in->a)[lane];
    return base + (uint64_t)in->imm;
}

#endif
