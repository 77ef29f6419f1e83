/*
 * exec_tensor_float.c: mma.sync on f16, bf16, tf32, f8 and f64.
 * The factors of a tile are unpacked to small float matrices (exec_tensor_unpack.c) and the
 * products are added up, fast (exec_tensor_sum.c) or exactly (exec_tensor_exact.c). Everything is
 * read before anything is written: d may share registers with a, b and c.
 */
#include "simt/tensor.h"

#include <fenv.h>

void SIMT_NAME(tensor_start)(struct tensor_sum *sum, const struct tensor_model *model,
                             const struct tensor_float_kind *kind)
{
    sum->model = model;
    sum->rows = kind->rows;
    sum->k = kind->k;
    sum->piece = kind->a_type == PTX_TF32 ? 4 : 8;
    sum->c_half = kind->c_half;
    sum->d_half = kind->d_half;
    switch (kind->a_type) {
    case PTX_F16:
        sum->a_lowest = sum->b_lowest = -14;
        break;
    case PTX_BF16:
    case PTX_TF32:
        sum->a_lowest = sum->b_lowest = -126;
        break;
    default:
        sum->a_lowest = kind->a_type == PTX_E4M3 && !model->via_f16 ? -6 : -14;
        sum->b_lowest = kind->b_type == PTX_E4M3 && !model->via_f16 ? -6 : -14;
    }
}

void SIMT_NAME(tensor_float_tile)(const struct gpu_info *gpu, const struct tensor_float_kind *kind,
                                  const struct tensor_fragments *f)
{
    struct tensor_sum sum;
    SIMT_NAME(tensor_start)
    (&sum, tensor_model_for(gpu->cc_major, gpu->cc_minor, kind->a_type), kind);
    SIMT_NAME(tensor_unpack)(&sum, kind, f, TENSOR_A | TENSOR_B);
    SIMT_NAME(tensor_add)(&sum, f);
}

/* f64 -------------------------------------------------------------------------------------------
 */

static __attribute__((noinline)) void fma_chains(unsigned rows, unsigned k, const double *a,
                                                 const double *b, double *c)
{
    for (unsigned i = 0; i < k; i++) {
        for (unsigned m = 0; m < rows; m++) {
            for (unsigned n = 0; n < 8; n++)
                c[8 * m + n] = __builtin_fma(a[m * k + i], b[8 * i + n], c[8 * m + n]);
        }
    }
}

void SIMT_NAME(tensor_f64_tile)(unsigned rows, unsigned k, int rounding,
                                const struct tensor_fragments *f)
{
    double a[16 * 16], b[16 * 8], c[16 * 8]; /* [row][k], [k][column], [row][column] */
    unsigned blocks = rows / 8;
    for (unsigned i = 0; i < k; i++) {
        for (unsigned m = 0; m < rows; m++)
            memcpy(&a[m * k + i], f->a[i / 4 * blocks + m / 8] + 8 * (m % 8 * 4 + i % 4), 8);
        for (unsigned n = 0; n < 8; n++)
            memcpy(&b[8 * i + n], f->b[i / 4] + 8 * (n * 4 + i % 4), 8);
    }
    for (unsigned m = 0; m < rows; m++) {
        for (unsigned n = 0; n < 8; n++)
            memcpy(&c[8 * m + n], f->c[m / 8 * 2 + n % 2] + 8 * (m % 8 * 4 + n / 2), 8);
    }
    int before = rounding == FE_TONEAREST ? FE_TONEAREST : fegetround();
    if (rounding != FE_TONEAREST)
        fesetround(rounding);
    __asm__ volatile("" ::: "memory"); /* the sums stay between the two */
    fma_chains(rows, k, a, b, c);
    __asm__ volatile("" ::: "memory");
    if (rounding != FE_TONEAREST)
        fesetround(before);
    for (unsigned m = 0; m < rows; m++) {
        for (unsigned n = 0; n < 8; n++)
            memcpy(f->d[m / 8 * 2 + n % 2] + 8 * (m % 8 * 4 + n / 2), &c[8 * m + n], 8);
    }
}

/* f16 m8n8k4 ------------------------------------------------------------------------------------
 */

/* Four products at once: quad pair q is lanes 4q .. 4q+3 and 4q+16 .. 4q+19, 8 lanes that are
 * the rows (or columns) 0-7 of its own A, B and C. Each is run as a tile with k = 8 whose upper
 * half is 0: zero products change nothing. */
static unsigned quad_pair_lane(unsigned q, unsigned i)
{
    return 4 * q + (i & 3) + (i & 4) * 4;
}

/* Element k of line i (a row of A, a column of B), f16. along_k: a lane holds a line; otherwise
 * lanes 0-3 hold lines 0-3 of k = lane % 4, lanes 4-7 lines 4-7. */
static void gather_lines(const uint8_t *const *regs, unsigned q, bool along_k, uint8_t *tile)
{
    memset(tile, 0, 128);
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned k = 0; k < 4; k++) {
            unsigned lane = quad_pair_lane(q, along_k ? i : (k | (i & 4)));
            unsigned element = along_k ? k : i & 3;
            memcpy(tile + 16 * i + 2 * k, regs[element / 2] + 4 * lane + element % 2 * 2, 2);
        }
    }
}

/* Copies accumulators of quad pair q to or from the registers of a tile of tensor.h's layout. */
static void move_accumulators(uint8_t *const *regs, uint8_t *const *tile, unsigned q, bool half,
                              bool to_tile)
{
    for (unsigned m = 0; m < 8; m++) {
        for (unsigned n = 0; n < 8; n++) {
            uint8_t *in_regs, *in_tile;
            if (half) {
                in_regs = regs[n / 2] + 4 * quad_pair_lane(q, m) + n % 2 * 2;
                in_tile = tile[0] + 16 * m + 2 * n;
            } else {
                unsigned lane = quad_pair_lane(q, (m & 1) | (n & 2) | (m & 4));
                in_regs = regs[(m & 2) | (n & 4) | (n & 1)] + 4 * lane;
                in_tile = tile[n % 2] + 16 * m + n / 2 * 4;
            }
            memcpy(to_tile ? in_tile : in_regs, to_tile ? in_regs : in_tile, half ? 2 : 4);
        }
    }
}

static const struct simt_inst *run_m8n8k4(struct simt_warp *w, const struct simt_inst *in,
                                          bool c_half, bool d_half)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    const struct tensor_float_kind kind = {8, 8, PTX_F16, PTX_F16, c_half, d_half};
    unsigned d_count = d_half ? 4 : 8, c_count = c_half ? 4 : 8;
    const uint8_t *a[2], *b[2];
    uint8_t *c[8], *d[8], results[8][128];
    _Alignas(64) uint8_t a_tile[128], b_tile[128], c_tile[2][128], d_tile[2][128];
    const uint32_t *slot = in->list + d_count;
    for (int i = 0; i < 2; i++)
        a[i] = w->regs + *slot++;
    for (int i = 0; i < 2; i++)
        b[i] = w->regs + *slot++;
    for (unsigned i = 0; i < c_count; i++)
        c[i] = w->regs + *slot++;
    for (unsigned i = 0; i < d_count; i++)
        d[i] = results[i];
    /* sync aligned m8n8k4 row|col row|col */
    bool a_row = in->ptx->slots[3] == PTX_MOD_ROW, b_col = in->ptx->slots[4] == PTX_MOD_COL;
    uint8_t *c_tiles[2] = {c_tile[0], c_tile[1]}, *d_tiles[2] = {d_tile[0], d_tile[1]};
    const struct tensor_fragments f = {
        .a = {a_tile}, .b = {b_tile}, .c = {c_tile[0], c_tile[1]}, .d = {d_tile[0], d_tile[1]}};
    for (unsigned q = 0; q < 4; q++) {
        gather_lines(a, q, a_row, a_tile);
        gather_lines(b, q, b_col, b_tile);
        move_accumulators(c, c_tiles, q, c_half, true);
        SIMT_NAME(tensor_float_tile)(simt_warp_gpu(w), &kind, &f);
        move_accumulators(d, d_tiles, q, d_half, false);
    }
    for (unsigned i = 0; i < d_count; i++)
        memcpy(w->regs + in->list[i], results[i], 128);
    return in + 1;
}

SIMT_BODY(mma_m8n8k4_f16_f16)
{
    return run_m8n8k4(w, in, true, true);
}
SIMT_BODY(mma_m8n8k4_f16_f32)
{
    return run_m8n8k4(w, in, false, true);
}
SIMT_BODY(mma_m8n8k4_f32_f16)
{
    return run_m8n8k4(w, in, true, false);
}
SIMT_BODY(mma_m8n8k4_f32_f32)
{
    return run_m8n8k4(w, in, false, false);
}

static simt_body *select_m8n8k4(const struct ptx_inst *ptx)
{
    bool d_half = ptx->types[0] == PTX_F16, c_half = ptx->types[3] == PTX_F16;
    if (!tensor_counts_are(ptx, d_half ? 4 : 8, 2, 2, c_half ? 4 : 8))
        return NULL;
    if (d_half)
        return c_half ? mma_m8n8k4_f16_f16 : mma_m8n8k4_f16_f32;
    return c_half ? mma_m8n8k4_f32_f16 : mma_m8n8k4_f32_f32;
}

/* Bodies ----------------------------------------------------------------------------------------
 */

#define INLINE static inline __attribute__((always_inline))

INLINE unsigned accumulator_count(const struct tensor_float_kind *kind, bool half)
{
    return kind->rows / 8u * (half ? 1 : 2);
}

INLINE unsigned b_count_of(const struct tensor_float_kind *kind)
{
    switch (kind->a_type) {
    case PTX_F16:
    case PTX_BF16:
        return kind->k / 8;
    case PTX_TF32:
        return kind->k / 4;
    default:
        return kind->k / 16;
    }
}

INLINE const struct simt_inst *run_float(struct simt_warp *w, const struct simt_inst *in,
                                         const struct tensor_float_kind *kind)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    struct tensor_fragments f;
    unsigned b_count = b_count_of(kind);
    tensor_point(w, in, accumulator_count(kind, kind->d_half), b_count * (kind->rows / 8), b_count,
                 accumulator_count(kind, kind->c_half), &f);
    SIMT_NAME(tensor_float_tile)(simt_warp_gpu(w), kind, &f);
    return in + 1;
}

/* X(name, k, a, b, d and c are f16) */
#define FLOAT_KINDS(X)                                                                             \
    X(f16_k8_f16, 8, F16, F16, true)                                                               \
    X(f16_k8_f32, 8, F16, F16, false)                                                              \
    X(f16_k16_f16, 16, F16, F16, true)                                                             \
    X(f16_k16_f32, 16, F16, F16, false)                                                            \
    X(bf16_k8, 8, BF16, BF16, false)                                                               \
    X(bf16_k16, 16, BF16, BF16, false)                                                             \
    X(tf32_k4, 4, TF32, TF32, false)                                                               \
    X(tf32_k8, 8, TF32, TF32, false)                                                               \
    X(e4m3_e4m3_k16_f16, 16, E4M3, E4M3, true)                                                     \
    X(e4m3_e4m3_k16_f32, 16, E4M3, E4M3, false)                                                    \
    X(e4m3_e4m3_k32_f16, 32, E4M3, E4M3, true)                                                     \
    X(e4m3_e4m3_k32_f32, 32, E4M3, E4M3, false)                                                    \
    X(e4m3_e5m2_k16_f16, 16, E4M3, E5M2, true)                                                     \
    X(e4m3_e5m2_k16_f32, 16, E4M3, E5M2, false)                                                    \
    X(e4m3_e5m2_k32_f16, 32, E4M3, E5M2, true)                                                     \
    X(e4m3_e5m2_k32_f32, 32, E4M3, E5M2, false)                                                    \
    X(e5m2_e4m3_k16_f16, 16, E5M2, E4M3, true)                                                     \
    X(e5m2_e4m3_k16_f32, 16, E5M2, E4M3, false)                                                    \
    X(e5m2_e4m3_k32_f16, 32, E5M2, E4M3, true)                                                     \
    X(e5m2_e4m3_k32_f32, 32, E5M2, E4M3, false)                                                    \
    X(e5m2_e5m2_k16_f16, 16, E5M2, E5M2, true)                                                     \
    X(e5m2_e5m2_k16_f32, 16, E5M2, E5M2, false)                                                    \
    X(e5m2_e5m2_k32_f16, 32, E5M2, E5M2, true)                                                     \
    X(e5m2_e5m2_k32_f32, 32, E5M2, E5M2, false)

#define DEFINE_FLOAT(name, k, a, b, half)                                                          \
    static const struct tensor_float_kind kind_##name = {16, k, PTX_##a, PTX_##b, half, half};     \
    SIMT_BODY(mma_##name)                                                                          \
    {                                                                                              \
        return run_float(w, in, &kind_##name);                                                     \
    }
FLOAT_KINDS(DEFINE_FLOAT)

static simt_body *select_float(const struct ptx_inst *ptx, struct tensor_shape shape)
{
    static const struct {
        const struct tensor_float_kind *kind;
        simt_body *body;
    } rows[] = {
#define FLOAT_ROW(name, k, a, b, half) {&kind_##name, mma_##name},
        FLOAT_KINDS(FLOAT_ROW)
#undef FLOAT_ROW
    };
    bool half = ptx->types[0] == PTX_F16;
    if (ptx->types[3] != ptx->types[0])
        return NULL;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tensor_float_kind *kind = rows[i].kind;
        if (kind->k != shape.k || kind->a_type != ptx->types[1] || kind->b_type != ptx->types[2] ||
            kind->d_half != half)
            continue;
        unsigned c_count = accumulator_count(kind, half), b_count = b_count_of(kind);
        return tensor_counts_are(ptx, c_count, 2 * b_count, b_count, c_count) ? rows[i].body : NULL;
    }
    return NULL;
}

static int rounding_of(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_RZ)   ? FE_TOWARDZERO
           : ptx_has(ptx, PTX_MOD_RM) ? FE_DOWNWARD
           : ptx_has(ptx, PTX_MOD_RP) ? FE_UPWARD
                                      : FE_TONEAREST;
}

static const struct simt_inst *run_f64(struct simt_warp *w, const struct simt_inst *in,
                                       unsigned rows, unsigned k)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    struct tensor_fragments f;
    tensor_point(w, in, rows / 4, rows / 8 * (k / 4), k / 4, rows / 4, &f);
    SIMT_NAME(tensor_f64_tile)(rows, k, rounding_of(in->ptx), &f);
    return in + 1;
}

SIMT_BODY(mma_f64_m8n8k4)
{
    return run_f64(w, in, 8, 4);
}
SIMT_BODY(mma_f64_m16n8k4)
{
    return run_f64(w, in, 16, 4);
}
SIMT_BODY(mma_f64_m16n8k8)
{
    return run_f64(w, in, 16, 8);
}
SIMT_BODY(mma_f64_m16n8k16)
{
    return run_f64(w, in, 16, 16);
}

simt_body *SIMT_NAME(tensor_select_float)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    struct tensor_shape shape = tensor_shape_of(ptx);
    if (ptx->op != PTX_OP_MMA_F64)
        return shape.m == 8 ? select_m8n8k4(ptx) : select_float(ptx, shape);
    unsigned c_count = shape.m / 4, b_count = shape.k / 4;
    if (!tensor_counts_are(ptx, c_count, shape.m / 8 * b_count, b_count, c_count))
        return NULL;
    if (shape.m == 8)
        return mma_f64_m8n8k4;
    return shape.k == 4 ? mma_f64_m16n8k4 : shape.k == 8 ? mma_f64_m16n8k8 : mma_f64_m16n8k16;
}
