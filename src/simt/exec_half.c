/*
 * exec_half.c: f16 and bf16, alone and in pairs.
 * A pair is two elements side by side, so a warp is 32 elements or 64 and both share one loop:
 * widen to f32, compute, round back (num_half.h says why that is exact). Each operation has a body
 * without modifiers and one that reads .ftz .sat .relu .oob as it runs.
 */
#include "simt/exec.h"
#include "simt/num.h"
#include "simt/num_approx.h"
#include "simt/num_half.h"
#include "simt/num_lanes.h"

#define MAX_ELEMENTS (2 * SIMT_LANES)

/* Marks, with either sign, what a tensor copy filled in from outside the tensor: .oob makes a
 * product with it, and what is added, 0. Found by trying all numbers on an H200. */
#define OOB_NAN 0x7ff7u

static void flush_all(float *x, int count, uint32_t smallest)
{
    for (int i = 0; i < count; i++)
        x[i] = num_f32_flush_below(x[i], smallest);
}

/* Results below this, half a step of a full mantissa under the smallest normal number, are zero
 * under .ftz: they are rounded as if exponents had no lower end. */
#define FTZ_LIMIT 0x387ff000u /* 2^-14 - 2^-26 */

static void clamp_all(float *r, int count, const struct ptx_inst *ptx)
{
    if (ptx_has(ptx, PTX_MOD_SAT)) {
        for (int i = 0; i < count; i++)
            r[i] = num_f32_sat(r[i]);
    } else if (ptx_has(ptx, PTX_MOD_RELU)) {
        for (int i = 0; i < count; i++)
            r[i] = num_f32_relu(r[i]);
    }
}

static void finish_oob(struct simt_warp *w, const struct simt_inst *in, uint16_t *r, int count)
{
    const uint16_t *a = SIMT_SLOT(const uint16_t, in->a), *b = SIMT_SLOT(const uint16_t, in->b);
    for (int i = 0; i < count; i++)
        r[i] = (a[i] & 0x7fff) == OOB_NAN || (b[i] & 0x7fff) == OOB_NAN ? 0 : r[i];
}

/* The loop over the elements, and four bodies that run it: one element a lane or two, without
 * modifiers and with them. operands: how many of x, y, z the expression reads. */
#define HALF_OP_TO(name, format, narrow, operands, expression)                                     \
    static inline __attribute__((always_inline)) void name##_all(                                  \
        struct simt_warp *w, const struct simt_inst *in, uint16_t *results, int count,             \
        bool has_modifiers)                                                                        \
    {                                                                                              \
        float xs[MAX_ELEMENTS], ys[MAX_ELEMENTS], zs[MAX_ELEMENTS], rs[MAX_ELEMENTS];              \
        bool ftz = has_modifiers && ptx_has(in->ptx, PTX_MOD_FTZ);                                 \
        num_##format##_widen_all(xs, SIMT_SLOT(const uint16_t, in->a), count);                     \
        if (operands > 1)                                                                          \
            num_##format##_widen_all(ys, SIMT_SLOT(const uint16_t, in->b), count);                 \
        if (operands > 2)                                                                          \
            num_##format##_widen_all(zs, SIMT_SLOT(const uint16_t, in->c), count);                 \
        if (ftz) {                                                                                 \
            flush_all(xs, count, NUM_F16_MIN_NORMAL_F32);                                          \
            if (operands > 1)                                                                      \
                flush_all(ys, count, NUM_F16_MIN_NORMAL_F32);                                      \
            if (operands > 2)                                                                      \
                flush_all(zs, count, NUM_F16_MIN_NORMAL_F32);                                      \
        }                                                                                          \
        for (int i = 0; i < count; i++) {                                                          \
            float x = xs[i], y = operands > 1 ? ys[i] : 0.0f, z = operands > 2 ? zs[i] : 0.0f;     \
            (void)y, (void)z;                                                                      \
            rs[i] = expression;                                                                    \
        }                                                                                          \
        if (has_modifiers)                                                                         \
            clamp_all(rs, count, in->ptx);                                                         \
        if (ftz)                                                                                   \
            flush_all(rs, count, FTZ_LIMIT);                                                       \
        narrow(results, rs, count);                                                                \
        if (has_modifiers && ptx_has(in->ptx, PTX_MOD_OOB))                                        \
            finish_oob(w, in, results, count);                                                     \
    }                                                                                              \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        uint16_t results[SIMT_LANES];                                                              \
        name##_all(w, in, results, SIMT_LANES, false);                                             \
        return num_store_16(w, in, results);                                                       \
    }                                                                                              \
    SIMT_BODY(name##_x2)                                                                           \
    {                                                                                              \
        uint16_t results[MAX_ELEMENTS];                                                            \
        name##_all(w, in, results, MAX_ELEMENTS, false);                                           \
        return num_store_32(w, in, results);                                                       \
    }                                                                                              \
    SIMT_BODY(name##_mod)                                                                          \
    {                                                                                              \
        uint16_t results[SIMT_LANES];                                                              \
        name##_all(w, in, results, SIMT_LANES, true);                                              \
        return num_store_16(w, in, results);                                                       \
    }                                                                                              \
    SIMT_BODY(name##_mod_x2)                                                                       \
    {                                                                                              \
        uint16_t results[MAX_ELEMENTS];                                                            \
        name##_all(w, in, results, MAX_ELEMENTS, true);                                            \
        return num_store_32(w, in, results);                                                       \
    }

#define HALF_OP(name, format, operands, expression)                                                \
    HALF_OP_TO(name, format, num_##format##_narrow_all, operands, expression)

HALF_OP(add_f16, f16, 2, x + y)
HALF_OP(sub_f16, f16, 2, x - y)
HALF_OP(mul_f16, f16, 2, x *y)
HALF_OP(fma_f16, f16, 3, num_f16_fma(x, y, z))
HALF_OP(add_bf16, bf16, 2, x + y)
HALF_OP(sub_bf16, bf16, 2, x - y)
HALF_OP(mul_bf16, bf16, 2, x *y)
HALF_OP(fma_bf16, bf16, 3, num_bf16_fma(x, y, z))

#define A(x) num_f32_abs(x)
#define HALF_ROW_EXTREME(name, format)                                                             \
    HALF_OP(name##_##format, format, 2, num_f32_##name(x, y))                                      \
    HALF_OP(name##_##format##_nan, format, 2, num_f32_##name##_nan(x, y))                          \
    HALF_OP(name##_##format##_xor, format, 2, num_f32_xorsign(num_f32_##name(A(x), A(y)), x, y))   \
    HALF_OP(name##_##format##_nan_xor, format, 2,                                                  \
            num_f32_xorsign(num_f32_##name##_nan(A(x), A(y)), x, y))
HALF_ROW_EXTREME(min, f16)
HALF_ROW_EXTREME(max, f16)
HALF_ROW_EXTREME(min, bf16)
HALF_ROW_EXTREME(max, bf16)

/* An H200 cuts these off, and 1 is tanh of nothing below 8 (tests/ptx/approx_bits.ptx). */
static inline float tanh_half(float x)
{
    return num_f32_abs(x) >= 8.0f ? copysignf(1.0f, x) : num_tanh_f32(x);
}
static inline float ex2_f16_of(float x)
{
    return x >= 16.0f ? INFINITY : num_ex2_f32(x);
}
HALF_OP_TO(tanh_f16, f16, num_f16_narrow_rz_all, 1, tanh_half(x))
HALF_OP_TO(tanh_bf16, bf16, num_bf16_narrow_rz_all, 1, tanh_half(x))
HALF_OP_TO(ex2_f16, f16, num_f16_narrow_rz_all, 1, ex2_f16_of(x))
HALF_OP_TO(ex2_bf16, bf16, num_bf16_narrow_rz_all, 1, num_f32_flush(num_ex2_f32(num_f32_flush(x))))

/* Signs; a NaN becomes the one NaN. .ftz exists for f16 alone. -------------------------------- */

static inline uint16_t one_nan(uint16_t half, uint16_t infinity)
{
    return (half & 0x7fff) > infinity ? 0x7fff : half;
}
/* operation(x) is applied to one element, or to both halves of a pair. */
#define HALF_SIGN(name, operation, infinity)                                                       \
    static inline uint16_t name##_half(uint16_t x)                                                 \
    {                                                                                              \
        return one_nan((uint16_t)(operation), infinity);                                           \
    }                                                                                              \
    SIMT_MAP1(name##_1, uint16_t, uint16_t, name##_half(x))                                        \
    SIMT_MAP1(name##_2, uint32_t, uint32_t,                                                        \
              name##_half((uint16_t)x) | (uint32_t)name##_half((uint16_t)(x >> 16)) << 16)
HALF_SIGN(neg_f16, x ^ 0x8000, 0x7c00)
HALF_SIGN(abs_f16, x & 0x7fff, 0x7c00)
HALF_SIGN(neg_f16_ftz, num_f16_flush(x) ^ 0x8000, 0x7c00)
HALF_SIGN(abs_f16_ftz, num_f16_flush(x) & 0x7fff, 0x7c00)
HALF_SIGN(neg_bf16, x ^ 0x8000, 0x7f80)
HALF_SIGN(abs_bf16, x & 0x7fff, 0x7f80)

/* Choice
 * ------------------------------------------------------------------------------------------- */

struct half_bodies { /* [has modifiers][is a pair] */
    simt_body *of[2][2];
};
#define BODIES(name)                                                                               \
    {                                                                                              \
        {                                                                                          \
            {name, name##_x2},                                                                     \
            {                                                                                      \
                name##_mod, name##_mod_x2                                                          \
            }                                                                                      \
        }                                                                                          \
    }
#define BOTH_FORMATS(name)                                                                         \
    {                                                                                              \
        BODIES(name##_f16), BODIES(name##_bf16)                                                    \
    }
static const struct half_bodies adds[2] = BOTH_FORMATS(add), subs[2] = BOTH_FORMATS(sub),
                                muls[2] = BOTH_FORMATS(mul), fmas[2] = BOTH_FORMATS(fma),
                                tanhs[2] = BOTH_FORMATS(tanh), ex2s[2] = BOTH_FORMATS(ex2);

/* [.NaN and .xorsign.abs][format] */
#define EXTREMES(name)                                                                             \
    {                                                                                              \
        {BODIES(name##_f16), BODIES(name##_bf16)},                                                 \
            {BODIES(name##_f16_nan), BODIES(name##_bf16_nan)},                                     \
            {BODIES(name##_f16_xor), BODIES(name##_bf16_xor)},                                     \
        {                                                                                          \
            BODIES(name##_f16_nan_xor), BODIES(name##_bf16_nan_xor)                                \
        }                                                                                          \
    }
static const struct half_bodies mins[4][2] = EXTREMES(min), maxs[4][2] = EXTREMES(max);

static simt_body *select_sign(const struct ptx_inst *ptx, bool is_bf16, bool is_pair, bool ftz)
{
    static simt_body *const negs[3][2] = {
        {neg_f16_1, neg_f16_2}, {neg_bf16_1, neg_bf16_2}, {neg_f16_ftz_1, neg_f16_ftz_2}};
    static simt_body *const abss[3][2] = {
        {abs_f16_1, abs_f16_2}, {abs_bf16_1, abs_bf16_2}, {abs_f16_ftz_1, abs_f16_ftz_2}};
    int row = is_bf16 ? 1 : ftz ? 2 : 0;
    return ptx->op == PTX_OP_HNEG ? negs[row][is_pair] : abss[row][is_pair];
}

simt_body *SIMT_NAME(half_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    enum ptx_type type = ptx->types[0];
    bool is_bf16 = type == PTX_BF16 || type == PTX_BF16X2;
    bool is_pair = type == PTX_F16X2 || type == PTX_BF16X2;
    bool ftz = ptx_has(ptx, PTX_MOD_FTZ);
    bool has_modifiers =
        ftz || ptx_has(ptx, PTX_MOD_SAT) || ptx_has(ptx, PTX_MOD_RELU) || ptx_has(ptx, PTX_MOD_OOB);
    if (!is_bf16 && !is_pair && type != PTX_F16)
        return NULL;
    if (ftz && is_bf16 && ptx->op != PTX_OP_HEX2_BF)
        return NULL;

    const struct half_bodies *bodies;
    unsigned variant =
        (ptx_has(ptx, PTX_MOD_NAN) ? 1 : 0) | (ptx_has(ptx, PTX_MOD_XORSIGN_ABS) ? 2 : 0);
    switch (ptx->op) {
    case PTX_OP_HADD:
    case PTX_OP_HADD_BF:
        bodies = adds;
        break;
    case PTX_OP_HSUB:
    case PTX_OP_HSUB_BF:
        bodies = subs;
        break;
    case PTX_OP_HMUL:
    case PTX_OP_HMUL_BF:
        bodies = muls;
        break;
    case PTX_OP_HFMA:
    case PTX_OP_HFMA_BF:
    case PTX_OP_HFMA_OOB:
        bodies = fmas;
        break;
    case PTX_OP_HMIN:
        bodies = mins[variant];
        break;
    case PTX_OP_HMAX:
        bodies = maxs[variant];
        break;
    case PTX_OP_HTANH:
        bodies = tanhs;
        break;
    case PTX_OP_HEX2:
        bodies = ex2s;
        break;
    case PTX_OP_HEX2_BF: /* its .ftz is in the operation */
        return ex2s[1].of[0][is_pair];
    case PTX_OP_HNEG:
    case PTX_OP_HABS:
        return select_sign(ptx, is_bf16, is_pair, ftz);
    default:
        return NULL;
    }
    return bodies[is_bf16].of[has_modifiers][is_pair];
}
