/*
 * exec_float.c: f32, f64 and f32x2 arithmetic whose results PTX defines to the bit.
 * Nearest rounding, with and without .ftz and .sat, has a row per variant; the other rounding modes
 * share one body an operation, which reads its modifiers as it runs. What happens to NaNs and
 * subnormal numbers is in num.h; approximations are in exec_approx.c, halves in exec_half.c.
 */
#include "simt/exec.h"
#include "simt/num.h"
#include "simt/num_lanes.h"
#include "simt/num_round.h"

#define F(x) num_f32_flush(x)

/* Round to nearest even ----------------------------------------------------------------------- */

/* A row: plain, .ftz, .sat, .ftz.sat. The expressions see flushed operands where they must. */
#define FLOAT_ROW2(name, expression, ftz)                                                          \
    SIMT_MAP2(name, float, float, float, num_f32(expression))                                      \
    SIMT_MAP2(name##_sat, float, float, float, num_f32_sat(expression))                            \
    SIMT_MAP2(name##_ftz, float, float, float, ({                                                  \
                  x = F(x), y = F(y);                                                              \
                  num_f32(ftz);                                                                    \
              }))                                                                                  \
    SIMT_MAP2(name##_ftz_sat, float, float, float, ({                                              \
                  x = F(x), y = F(y);                                                              \
                  num_f32_sat(ftz);                                                                \
              }))
FLOAT_ROW2(add_f32, x + y, F(x + y)) /* a sum that is subnormal is exact */
FLOAT_ROW2(sub_f32, x - y, F(x - y))
FLOAT_ROW2(mul_f32, x *y, num_f32_mul_ftz(x, y))

SIMT_MAP3(fma_f32, float, float, float, float, num_f32(__builtin_fmaf(x, y, z)))
SIMT_MAP3(fma_f32_sat, float, float, float, float, num_f32_sat(__builtin_fmaf(x, y, z)))
SIMT_MAP3(fma_f32_ftz, float, float, float, float, num_f32(num_f32_fma_ftz(F(x), F(y), F(z))))
SIMT_MAP3(fma_f32_ftz_sat, float, float, float, float,
          num_f32_sat(num_f32_fma_ftz(F(x), F(y), F(z))))

/* No quotient is so near the smallest normal number that rounding to nearest would reach it. */
SIMT_MAP2(div_f32, float, float, float, num_f32(x / y))
SIMT_MAP2(div_f32_ftz, float, float, float, num_f32(F(F(x) / F(y))))
SIMT_MAP1(rcp_f32, float, float, num_f32(1.0f / x))
SIMT_MAP1(rcp_f32_ftz, float, float, num_f32(F(1.0f / F(x))))
SIMT_MAP1(sqrt_f32, float, float, num_f32(__builtin_sqrtf(x)))
SIMT_MAP1(sqrt_f32_ftz, float, float, num_f32(__builtin_sqrtf(F(x))))

SIMT_MAP2(add_f64, double, double, double, num_f64_2(x + y, x, y))
SIMT_MAP2(sub_f64, double, double, double, num_f64_2(x - y, x, y))
SIMT_MAP2(mul_f64, double, double, double, num_f64_2(x *y, x, y))
SIMT_MAP3(fma_f64, double, double, double, double, num_f64_3(__builtin_fma(x, y, z), x, y, z))
SIMT_MAP2(div_f64, double, double, double, num_f64_2(x / y, y, x))
SIMT_MAP1(rcp_f64, double, double, num_f64_1(1.0 / x, x))
SIMT_MAP1(sqrt_f64, double, double, num_f64_1(__builtin_sqrt(x), x))

/* Other rounding modes ------------------------------------------------------------------------ */

static const struct simt_inst *finish_f32(struct simt_warp *w, const struct simt_inst *in,
                                          float *results)
{
    SIMT_EACH_LANE results[i] = num_f32(results[i]);
    if (ptx_has(in->ptx, PTX_MOD_SAT)) {
        SIMT_EACH_LANE results[i] = num_f32_sat(results[i]);
    }
    return num_store_32(w, in, results);
}
static const struct simt_inst *finish_f32x2(struct simt_warp *w, const struct simt_inst *in,
                                            float *results)
{
    for (int i = 0; i < 2 * SIMT_LANES; i++)
        results[i] = num_f32(results[i]);
    return num_store_64(w, in, results);
}

/* scaled: the expression with numbers NUM_FTZ_SCALE times as large (num.h). */
#define FLOAT_ROUNDED_F32(name, count, finish, expression, scaled)                                 \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const float *xs = SIMT_SLOT(const float, in->a), *ys = SIMT_SLOT(const float, in->b),      \
                    *zs = SIMT_SLOT(const float, in->c);                                           \
        bool ftz = ptx_has(in->ptx, PTX_MOD_FTZ);                                                  \
        uint32_t smallest = ftz ? NUM_F32_MIN_NORMAL : 0;                                          \
        float limit = ftz ? NUM_FTZ_LIMIT : 0.0f;                                                  \
        float results[count];                                                                      \
        int saved = num_enter_rounding(num_round_of(in->ptx));                                     \
        for (int i = 0; i < count; i++)                                                            \
            results[i] = num_f32_flush_scaled(expression, scaled, limit);                          \
        num_leave_rounding(saved, results);                                                        \
        (void)ys, (void)zs;                                                                        \
        return finish(w, in, results);                                                             \
    }
#define X num_f32_flush_below(xs[i], smallest)
#define Y num_f32_flush_below(ys[i], smallest)
#define Z num_f32_flush_below(zs[i], smallest)
#define SUM_SCALED(sum) ((sum)*NUM_FTZ_SCALE)
#define MUL_SCALED (X * NUM_FTZ_SCALE * Y)
#define FMA_SCALED __builtin_fmaf(X *NUM_FTZ_SCALE, Y, Z *NUM_FTZ_SCALE)
FLOAT_ROUNDED_F32(add_f32_round, SIMT_LANES, finish_f32, X + Y, SUM_SCALED(X + Y))
FLOAT_ROUNDED_F32(sub_f32_round, SIMT_LANES, finish_f32, X - Y, SUM_SCALED(X - Y))
FLOAT_ROUNDED_F32(mul_f32_round, SIMT_LANES, finish_f32, X *Y, MUL_SCALED)
FLOAT_ROUNDED_F32(fma_f32_round, SIMT_LANES, finish_f32, __builtin_fmaf(X, Y, Z), FMA_SCALED)
FLOAT_ROUNDED_F32(div_f32_round, SIMT_LANES, finish_f32, X / Y, X *NUM_FTZ_SCALE / Y)
FLOAT_ROUNDED_F32(rcp_f32_round, SIMT_LANES, finish_f32, 1.0f / X, NUM_FTZ_SCALE / X)
FLOAT_ROUNDED_F32(sqrt_f32_round, SIMT_LANES, finish_f32, __builtin_sqrtf(X), INFINITY)
FLOAT_ROUNDED_F32(add_f32x2, 2 * SIMT_LANES, finish_f32x2, X + Y, SUM_SCALED(X + Y))
FLOAT_ROUNDED_F32(sub_f32x2, 2 * SIMT_LANES, finish_f32x2, X - Y, SUM_SCALED(X - Y))
FLOAT_ROUNDED_F32(mul_f32x2, 2 * SIMT_LANES, finish_f32x2, X *Y, MUL_SCALED)
FLOAT_ROUNDED_F32(fma_f32x2, 2 * SIMT_LANES, finish_f32x2, __builtin_fmaf(X, Y, Z), FMA_SCALED)
#undef X
#undef Y
#undef Z

#define FLOAT_ROUNDED_F64(name, expression, nan)                                                   \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const double *xs = SIMT_SLOT(const double, in->a), *ys = SIMT_SLOT(const double, in->b),   \
                     *zs = SIMT_SLOT(const double, in->c);                                         \
        double results[SIMT_LANES];                                                                \
        int saved = num_enter_rounding(num_round_of(in->ptx));                                     \
        SIMT_EACH_LANE results[i] = expression;                                                    \
        num_leave_rounding(saved, results);                                                        \
        SIMT_EACH_LANE results[i] = nan;                                                           \
        (void)ys, (void)zs;                                                                        \
        return num_store_64(w, in, results);                                                       \
    }
FLOAT_ROUNDED_F64(add_f64_round, xs[i] + ys[i], num_f64_2(results[i], xs[i], ys[i]))
FLOAT_ROUNDED_F64(sub_f64_round, xs[i] - ys[i], num_f64_2(results[i], xs[i], ys[i]))
FLOAT_ROUNDED_F64(mul_f64_round, xs[i] * ys[i], num_f64_2(results[i], xs[i], ys[i]))
FLOAT_ROUNDED_F64(fma_f64_round, __builtin_fma(xs[i], ys[i], zs[i]),
                  num_f64_3(results[i], xs[i], ys[i], zs[i]))
FLOAT_ROUNDED_F64(div_f64_round, xs[i] / ys[i], num_f64_2(results[i], ys[i], xs[i]))
FLOAT_ROUNDED_F64(rcp_f64_round, 1.0 / xs[i], num_f64_1(results[i], xs[i]))
FLOAT_ROUNDED_F64(sqrt_f64_round, __builtin_sqrt(xs[i]), num_f64_1(results[i], xs[i]))

/* Signs, min and max -------------------------------------------------------------------------- */

SIMT_MAP1(abs_f32, float, float, num_f32(num_f32_abs(x)))
SIMT_MAP1(abs_f32_ftz, float, float, num_f32(num_f32_abs(F(x))))
SIMT_MAP1(neg_f32, float, float, num_f32(num_f32_neg(x)))
SIMT_MAP1(neg_f32_ftz, float, float, num_f32(num_f32_neg(F(x))))
SIMT_MAP1(abs_f64, double, double, num_f64_abs(x))
SIMT_MAP1(neg_f64, double, double, num_f64_neg(x))
SIMT_MAP2(copysign_f32, uint32_t, uint32_t, uint32_t, (y & ~NUM_F32_SIGN) | (x & NUM_F32_SIGN))
SIMT_MAP2(copysign_f64, uint64_t, uint64_t, uint64_t, (y & ~NUM_F64_SIGN) | (x & NUM_F64_SIGN))

#define A(x) num_f32_abs(x)
#define FLOAT_ROW_EXTREME(name)                                                                    \
    SIMT_MAP2(name##_f32, float, float, float, num_f32_##name(x, y))                               \
    SIMT_MAP2(name##_f32_ftz, float, float, float, num_f32_##name(F(x), F(y)))                     \
    SIMT_MAP2(name##_f32_nan, float, float, float, num_f32_##name##_nan(x, y))                     \
    SIMT_MAP2(name##_f32_ftz_nan, float, float, float, num_f32_##name##_nan(F(x), F(y)))           \
    SIMT_MAP2(name##_f32_xor, float, float, float,                                                 \
              num_f32_xorsign(num_f32_##name(A(x), A(y)), x, y))                                   \
    SIMT_MAP2(name##_f32_ftz_xor, float, float, float,                                             \
              num_f32_xorsign(num_f32_##name(A(F(x)), A(F(y))), x, y))                             \
    SIMT_MAP2(name##_f32_nan_xor, float, float, float,                                             \
              num_f32_xorsign(num_f32_##name##_nan(A(x), A(y)), x, y))                             \
    SIMT_MAP2(name##_f32_ftz_nan_xor, float, float, float,                                         \
              num_f32_xorsign(num_f32_##name##_nan(A(F(x)), A(F(y))), x, y))                       \
    SIMT_MAP2(name##_f64, double, double, double, num_f64_##name(x, y))
FLOAT_ROW_EXTREME(min)
FLOAT_ROW_EXTREME(max)

/* Three inputs: rare, so one body has all modifiers. */
#define FLOAT_EXTREME_OF_3(name)                                                                   \
    SIMT_BODY(name##3_f32)                                                                         \
    {                                                                                              \
        bool ftz = ptx_has(in->ptx, PTX_MOD_FTZ), nan = ptx_has(in->ptx, PTX_MOD_NAN);             \
        bool absolute = ptx_has(in->ptx, PTX_MOD_ABS);                                             \
        const float *slots[3] = {SIMT_SLOT(const float, in->a), SIMT_SLOT(const float, in->b),     \
                                 SIMT_SLOT(const float, in->c)};                                   \
        float *d = SIMT_SLOT(float, in->d);                                                        \
        for (uint32_t rest = w->mask; rest; rest &= rest - 1) {                                    \
            int lane = __builtin_ctz(rest);                                                        \
            float x[3];                                                                            \
            for (int i = 0; i < 3; i++) {                                                          \
                x[i] = ftz ? F(slots[i][lane]) : slots[i][lane];                                   \
                x[i] = absolute ? A(x[i]) : x[i];                                                  \
            }                                                                                      \
            d[lane] = nan ? num_f32_##name##_nan(num_f32_##name##_nan(x[0], x[1]), x[2])           \
                          : num_f32_##name(num_f32_##name(x[0], x[1]), x[2]);                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }
FLOAT_EXTREME_OF_3(min)
FLOAT_EXTREME_OF_3(max)

/* testp: +0 and -0 count as normal. ----------------------------------------------------------- */

#define FLOAT_TESTP(name, T, expression)                                                           \
    NUM_TEST(name##_bits, T, expression)                                                           \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const T *xs = SIMT_SLOT(const T, in->a);                                                   \
        simt_set_predicate(w, in->d, name##_bits(xs, xs));                                         \
        return in + 1;                                                                             \
    }
#define FLOAT_ROW_TESTP(suffix, T, infinity, smallest)                                             \
    FLOAT_TESTP(finite_##suffix, T, (T)(x << 1) < (T)(infinity) << 1)                              \
    FLOAT_TESTP(infinite_##suffix, T, (T)(x << 1) == (T)(infinity) << 1)                           \
    FLOAT_TESTP(number_##suffix, T, (T)(x << 1) <= (T)(infinity) << 1)                             \
    FLOAT_TESTP(notanumber_##suffix, T, (T)(x << 1) > (T)(infinity) << 1)                          \
    FLOAT_TESTP(normal_##suffix, T,                                                                \
                ((T)(x << 1) >= (T)(smallest) << 1 && (T)(x << 1) < (T)(infinity) << 1) ||         \
                    (T)(x << 1) == 0)                                                              \
    FLOAT_TESTP(subnormal_##suffix, T, (T)(x << 1) < (T)(smallest) << 1 && (T)(x << 1) != 0)
FLOAT_ROW_TESTP(f32, uint32_t, NUM_F32_INF, NUM_F32_MIN_NORMAL)
FLOAT_ROW_TESTP(f64, uint64_t, NUM_F64_INF, 0x0010000000000000u)

static simt_body *select_testp(const struct ptx_inst *ptx)
{
    bool is_f64 = ptx->types[0] == PTX_F64;
    if (ptx_has(ptx, PTX_MOD_FINITE))
        return is_f64 ? finite_f64 : finite_f32;
    if (ptx_has(ptx, PTX_MOD_INFINITE))
        return is_f64 ? infinite_f64 : infinite_f32;
    if (ptx_has(ptx, PTX_MOD_NUMBER))
        return is_f64 ? number_f64 : number_f32;
    if (ptx_has(ptx, PTX_MOD_NOTANUMBER))
        return is_f64 ? notanumber_f64 : notanumber_f32;
    if (ptx_has(ptx, PTX_MOD_NORMAL))
        return is_f64 ? normal_f64 : normal_f32;
    if (ptx_has(ptx, PTX_MOD_SUBNORMAL))
        return is_f64 ? subnormal_f64 : subnormal_f32;
    return NULL;
}

/* Choice -------------------------------------------------------------------------------------- */

/* f32 bodies by .ftz and .sat, and the one for other rounding modes; the same for f64. */
struct float_row {
    simt_body *f32[4], *f32_round;
    simt_body *f64, *f64_round;
};
enum { PLAIN = 0, FTZ = 1, SAT = 2 };

#define ROW_ALL(name)                                                                              \
    {                                                                                              \
        {name##_f32, name##_f32_ftz, name##_f32_sat, name##_f32_ftz_sat}, name##_f32_round,        \
            name##_f64, name##_f64_round                                                           \
    }
#define ROW_NO_SAT(name)                                                                           \
    {                                                                                              \
        {name##_f32, name##_f32_ftz, NULL, NULL}, name##_f32_round, name##_f64, name##_f64_round   \
    }
static const struct float_row add_row = ROW_ALL(add), sub_row = ROW_ALL(sub),
                              mul_row = ROW_ALL(mul), fma_row = ROW_ALL(fma),
                              div_row = ROW_NO_SAT(div), rcp_row = ROW_NO_SAT(rcp),
                              sqrt_row = ROW_NO_SAT(sqrt);
static const struct float_row abs_row = {{abs_f32, abs_f32_ftz, NULL, NULL}, NULL, abs_f64, NULL};
static const struct float_row neg_row = {{neg_f32, neg_f32_ftz, NULL, NULL}, NULL, neg_f64, NULL};

static simt_body *select_row(const struct ptx_inst *ptx, const struct float_row *row)
{
    unsigned variant =
        (ptx_has(ptx, PTX_MOD_FTZ) ? FTZ : 0) | (ptx_has(ptx, PTX_MOD_SAT) ? SAT : 0);
    bool is_nearest = num_round_of(ptx) == NUM_RN;
    if (ptx->types[0] == PTX_F64)
        return variant != PLAIN ? NULL : is_nearest ? row->f64 : row->f64_round;
    if (row->f32[variant] == NULL)
        return NULL;
    return is_nearest ? row->f32[variant] : row->f32_round;
}

static simt_body *select_extreme(const struct ptx_inst *ptx)
{
    static simt_body *const mins[8] = {min_f32,         min_f32_ftz,        min_f32_nan,
                                       min_f32_ftz_nan, min_f32_xor,        min_f32_ftz_xor,
                                       min_f32_nan_xor, min_f32_ftz_nan_xor};
    static simt_body *const maxs[8] = {max_f32,         max_f32_ftz,        max_f32_nan,
                                       max_f32_ftz_nan, max_f32_xor,        max_f32_ftz_xor,
                                       max_f32_nan_xor, max_f32_ftz_nan_xor};
    bool is_min = ptx->op == PTX_OP_FMIN;
    unsigned variant = (ptx_has(ptx, PTX_MOD_FTZ) ? 1 : 0) | (ptx_has(ptx, PTX_MOD_NAN) ? 2 : 0) |
                       (ptx_has(ptx, PTX_MOD_XORSIGN_ABS) ? 4 : 0);
    if (ptx->types[0] == PTX_F64)
        return variant != 0 ? NULL : is_min ? min_f64 : max_f64;
    return is_min ? mins[variant] : maxs[variant];
}

simt_body *SIMT_NAME(float_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    switch (ptx->op) {
    case PTX_OP_TESTP:
        return select_testp(ptx);
    case PTX_OP_COPYSIGN:
        return ptx->types[0] == PTX_F64 ? copysign_f64 : copysign_f32;
    case PTX_OP_FADD:
        return select_row(ptx, &add_row);
    case PTX_OP_FSUB:
        return select_row(ptx, &sub_row);
    case PTX_OP_FMUL:
        return select_row(ptx, &mul_row);
    case PTX_OP_FMA:
    case PTX_OP_FMAD:
        return select_row(ptx, &fma_row);
    case PTX_OP_FADD_X2:
        return add_f32x2;
    case PTX_OP_FSUB_X2:
        return sub_f32x2;
    case PTX_OP_FMUL_X2:
        return mul_f32x2;
    case PTX_OP_FMA_X2:
        return fma_f32x2;
    case PTX_OP_FDIV:
        return select_row(ptx, &div_row);
    case PTX_OP_RCP:
        return select_row(ptx, &rcp_row);
    case PTX_OP_SQRT:
        return select_row(ptx, &sqrt_row);
    case PTX_OP_FABS:
        return select_row(ptx, &abs_row);
    case PTX_OP_FNEG:
        return select_row(ptx, &neg_row);
    case PTX_OP_FMIN:
    case PTX_OP_FMAX:
        return select_extreme(ptx);
    case PTX_OP_FMIN3:
        return min3_f32;
    case PTX_OP_FMAX3:
        return max3_f32;
    default:
        return NULL;
    }
}
