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
#include "simt/tensor_model.h"

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

/* The numbers of one float tile, and what the fast way of exec_tensor_sum.c wants to know of them.
 * An f16 accumulator is held as the float of the same value. Exponents are those of the model, in
 * a form whose sum is the product's exponent + 127:
 *   narrow (f16, f8)     eb - ea, 0 if below: the sum is above TENSOR_NOTHING for every product
 *                        that is not 0, and 0 for the others
 *   wide (bf16, tf32)    ea + eb: -10000 or less if the product is 0 */
struct tensor_sum {
    const struct tensor_model *model;
    unsigned rows, k;
    bool c_half, d_half;
    bool wide;
    bool special;           /* there is an infinity or a NaN among a and b */
    int a_lowest, b_lowest; /* exponent of subnormals */
    int top;                /* wide: no product's exponent + 127 is larger */
    _Alignas(32) float a[TENSOR_MAX_ROWS * TENSOR_MAX_K]; /* [row][k] */
    _Alignas(32) float b[TENSOR_MAX_K * 8];               /* [k][column] */
    _Alignas(32) float c[TENSOR_MAX_ROWS * 8];            /* [row][column] */
    _Alignas(32) float d[TENSOR_MAX_ROWS * 8];
    union {
        _Alignas(32) uint8_t narrow_a[TENSOR_MAX_ROWS * TENSOR_MAX_K];
        int16_t wide_a[TENSOR_MAX_ROWS * TENSOR_MAX_K];
    };
    union {
        _Alignas(32) uint8_t narrow_b[TENSOR_MAX_K * 8];
        int16_t wide_b[TENSOR_MAX_K * 8];
    };
};
#define TENSOR_NOTHING 26 /* 2^-101: small enough, and a float can scale it */

/* exec_tensor_unpack.c: fills sum from fragments, or fragments from sum. */
void SIMT_NAME(tensor_unpack)(struct tensor_sum *sum, const struct gpu_info *gpu,
                              const struct tensor_float_kind *kind,
                              const struct tensor_fragments *f);
void SIMT_NAME(tensor_pack)(const struct tensor_sum *sum, const struct tensor_fragments *f);

/* exec_tensor_sum.c: d = a * b + c as the model says. */
void SIMT_NAME(tensor_add_products)(struct tensor_sum *sum);

/* exec_tensor_float.c */
void SIMT_NAME(tensor_float_tile)(const struct gpu_info *gpu, const struct tensor_float_kind *kind,
                                  const struct tensor_fragments *f);
void SIMT_NAME(tensor_f64_tile)(unsigned rows, unsigned k, int rounding,
                                const struct tensor_fragments *f);
simt_body *SIMT_NAME(tensor_select_float)(const struct simt_operands *operands);

/* exec_tensor_int.c */
struct tensor_int_kind {
    uint8_t rows, bytes;    /* bytes: of a row of A, 16 or 32 */
    uint8_t a_type, b_type; /* s8 u8 s4 u4 b1 */
    bool saturate, is_and;  /* is_and: b1 */
};
void SIMT_NAME(tensor_int_tile)(const struct tensor_int_kind *kind,
                                const struct tensor_fragments *f);
simt_body *SIMT_NAME(tensor_select_int)(const struct simt_operands *operands);

/* exec_tensor_wmma.c */
simt_body *SIMT_NAME(tensor_select_wmma)(const struct simt_operands *operands);

/* For select functions ------------------------------------------------------------------------ */

struct tensor_shape {
    unsigned m, n, k;
};

static inline struct tensor_shape tensor_shape_of(const struct ptx_inst *ptx)
{
    static const struct {
        uint16_t mod;
        uint16_t m, n, k;
    } shapes[] = {
        {PTX_MOD_M8N8K4, 8, 8, 4},       {PTX_MOD_M8N8K16, 8, 8, 16},
        {PTX_MOD_M8N8K32, 8, 8, 32},     {PTX_MOD_M8N8K128, 8, 8, 128},
        {PTX_MOD_M16N8K4, 16, 8, 4},     {PTX_MOD_M16N8K8, 16, 8, 8},
        {PTX_MOD_M16N8K16, 16, 8, 16},   {PTX_MOD_M16N8K32, 16, 8, 32},
        {PTX_MOD_M16N8K64, 16, 8, 64},   {PTX_MOD_M16N8K128, 16, 8, 128},
        {PTX_MOD_M16N8K256, 16, 8, 256}, {PTX_MOD_M16N16K16, 16, 16, 16},
        {PTX_MOD_M8N32K16, 8, 32, 16},   {PTX_MOD_M32N8K16, 32, 8, 16},
        {PTX_MOD_M16N16K8, 16, 16, 8},
    };
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (ptx_has(ptx, shapes[i].mod))
            return (struct tensor_shape){shapes[i].m, shapes[i].n, shapes[i].k};
    }
    return (struct tensor_shape){0, 0, 0};
}

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
