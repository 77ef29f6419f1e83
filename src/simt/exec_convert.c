/*
 * exec_convert.c: cvt between integers and floats of all sizes.
 * What programs use often has a vector row below. Everything else, rare roundings and saturations,
 * goes through num_convert.h a lane at a time. Packed and narrow formats (f16x2, tf32, f8,
 * cvt.pack) are in exec_convert_pack.c. A register may be wider than the type: sources use its low
 * bits, results are extended to it.
 */
#include "simt/exec.h"
#include "simt/num_convert.h"
#include "simt/num_half.h"
#include "simt/num_lanes.h"

simt_body *SIMT_NAME(convert_pack_select)(const struct simt_operands *operands);

/* Integer to integer ----------------------------------------------------------------------------
 * The narrower of both types decides which bits count and how they extend. N: that type; A, D: the
 * registers' widths. */

#define CONVERT_ANY_WIDTH(X, name, T, N)                                                           \
    X(name, T, N, 16, 16)                                                                          \
    X(name, T, N, 16, 32)                                                                          \
    X(name, T, N, 16, 64)                                                                          \
    X(name, T, N, 32, 16)                                                                          \
    X(name, T, N, 32, 32)                                                                          \
    X(name, T, N, 32, 64)                                                                          \
    X(name, T, N, 64, 16)                                                                          \
    X(name, T, N, 64, 32)                                                                          \
    X(name, T, N, 64, 64)
#define CONVERT_FROM_32(X, name, T, N)                                                             \
    X(name, T, N, 32, 32)                                                                          \
    X(name, T, N, 32, 64)                                                                          \
    X(name, T, N, 64, 32)                                                                          \
    X(name, T, N, 64, 64)
#define CONVERT_INT(X)                                                                             \
    CONVERT_ANY_WIDTH(X, u8, PTX_U8, uint8_t)                                                      \
    CONVERT_ANY_WIDTH(X, s8, PTX_S8, int8_t)                                                       \
    CONVERT_ANY_WIDTH(X, u16, PTX_U16, uint16_t)                                                   \
    CONVERT_ANY_WIDTH(X, s16, PTX_S16, int16_t)                                                    \
    CONVERT_FROM_32(X, u32, PTX_U32, uint32_t)                                                     \
    CONVERT_FROM_32(X, s32, PTX_S32, int32_t)                                                      \
    X(u64, PTX_U64, uint64_t, 64, 64)                                                              \
    X(s64, PTX_S64, int64_t, 64, 64)

#define X(name, T, N, A, D) SIMT_MAP1(name##_##A##_##D, uint##D##_t, uint##A##_t, (N)x)
CONVERT_INT(X)
#undef X

static simt_body *select_int(const struct simt_operands *operands)
{
    static const struct {
        enum ptx_type narrow;
        uint8_t a_bits, d_bits;
        simt_body *body;
    } rows[] = {
#define X(name, T, N, A, D) {T, A, D, name##_##A##_##D},
        CONVERT_INT(X)
#undef X
    };
    enum ptx_type to = operands->ptx->types[0], from = operands->ptx->types[1];
    bool widens = ptx_type_bits(to) > ptx_type_bits(from);
    if (widens && ptx_type_bits(to) != operands->d_bits)
        return NULL; /* two extensions, one after the other */
    enum ptx_type narrow = widens ? from : to;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].narrow == narrow && rows[i].a_bits == operands->a_bits &&
            rows[i].d_bits == operands->d_bits)
            return rows[i].body;
    return NULL;
}

/* Integer to float, nearest ------------------------------------------------------------------- */

/* 64-bit integers come in two halves that f64 holds exactly; their sum rounds once. */
static inline double high_u64(uint64_t x)
{
    return num_f64_from(x >> 32 | 0x4530000000000000) - 0x1p84; /* upper half * 2^32 */
}
static inline double high_s64(int64_t x)
{
    uint64_t biased = (uint64_t)x ^ NUM_F64_SIGN;
    return num_f64_from(biased >> 32 | 0x4530000000000000) - (0x1p84 + 0x1p63);
}
static inline double low_64(uint64_t x)
{
    return num_f64_from((x & 0xffffffff) | 0x4330000000000000) - 0x1p52;
}
SIMT_MAP1(f64_u64, double, uint64_t, high_u64(x) + low_64(x))
SIMT_MAP1(f64_s64, double, int64_t, high_s64(x) + low_64((uint64_t)x))
SIMT_MAP1(f32_u64, float, uint64_t, (float)num_f64_add_odd(high_u64(x), low_64(x)))
SIMT_MAP1(f32_s64, float, int64_t, (float)num_f64_add_odd(high_s64(x), low_64((uint64_t)x)))
SIMT_MAP1(f32_u32, float, uint32_t, (float)x)
SIMT_MAP1(f32_s32, float, int32_t, (float)x)
SIMT_MAP1(f64_u32, double, uint32_t, (double)x)
SIMT_MAP1(f64_s32, double, int32_t, (double)x)

/* Exact, so in any rounding mode; from 16- and 32-bit registers. */
SIMT_MAP1(f32_u8_16, float, uint16_t, (float)(int32_t)(uint8_t)x)
SIMT_MAP1(f32_s8_16, float, uint16_t, (float)(int8_t)x)
SIMT_MAP1(f32_u16_16, float, uint16_t, (float)(int32_t)x)
SIMT_MAP1(f32_s16_16, float, uint16_t, (float)(int16_t)x)
SIMT_MAP1(f32_u8_32, float, uint32_t, (float)(int32_t)(uint8_t)x)
SIMT_MAP1(f32_s8_32, float, uint32_t, (float)(int8_t)x)
SIMT_MAP1(f32_u16_32, float, uint32_t, (float)(int32_t)(uint16_t)x)
SIMT_MAP1(f32_s16_32, float, uint32_t, (float)(int16_t)x)

/* Float to integer ------------------------------------------------------------------------------
 * Clamped to what the host can convert, converted, and corrected where the clamp was too tight. */

static inline int32_t s32_from_f32(float x)
{
    float c = x > -0x1p31f ? x : -0x1p31f;
    c = c < 0x1p31f ? c : 0x1.fffffep30f;
    int32_t whole = (int32_t)c;
    whole = x >= 0x1p31f ? INT32_MAX : whole;
    return x == x ? whole : 0;
}
static inline uint32_t u32_from_f32(float x)
{
    float c = x > 0.0f ? x : 0.0f; /* NaN too */
    c = c < 0x1p32f ? c : 0x1.fffffep31f;
    uint32_t whole = (uint32_t)c;
    return x >= 0x1p32f ? UINT32_MAX : whole;
}
static inline int32_t s32_from_f64(double x)
{
    double c = x > -0x1p31 ? x : -0x1p31; /* NaN too */
    c = c < 0x1p31 ? c : 0x1p31 - 1;
    return (int32_t)c;
}
static inline uint32_t u32_from_f64(double x)
{
    double c = x > 0.0 ? x : 0.0;
    c = c < 0x1p32 ? c : 0x1p32 - 1;
    return x == x ? (uint32_t)c : 0x80000000;
}
static inline int64_t s64_from_f64(double x)
{
    double c = x > -0x1p63 ? x : -0x1p63; /* NaN too */
    return x >= 0x1p63 ? INT64_MAX : (int64_t)(c < 0x1p63 ? c : 0.0);
}
static inline uint64_t u64_from_f64(double x)
{
    double c = x > 0.0 ? x : 0.0;
    uint64_t whole = x >= 0x1p64 ? UINT64_MAX : (uint64_t)(c < 0x1p64 ? c : 0.0);
    return x == x ? whole : NUM_F64_SIGN;
}

#define CONVERT_WHOLE(to, D)                                                                       \
    SIMT_MAP1(to##_f32_rni, D, float, to##_from_f32(__builtin_rintf(x)))                           \
    SIMT_MAP1(to##_f32_rzi, D, float, to##_from_f32(x))                                            \
    SIMT_MAP1(to##_f32_rmi, D, float, to##_from_f32(__builtin_floorf(x)))                          \
    SIMT_MAP1(to##_f32_rpi, D, float, to##_from_f32(__builtin_ceilf(x)))                           \
    SIMT_MAP1(to##_f64_rni, D, double, to##_from_f64(__builtin_rint(x)))                           \
    SIMT_MAP1(to##_f64_rzi, D, double, to##_from_f64(x))                                           \
    SIMT_MAP1(to##_f64_rmi, D, double, to##_from_f64(__builtin_floor(x)))                          \
    SIMT_MAP1(to##_f64_rpi, D, double, to##_from_f64(__builtin_ceil(x)))
#define s64_from_f32(x) s64_from_f64((double)(x))
#define u64_from_f32(x) u64_from_f64((double)(x))
CONVERT_WHOLE(s32, int32_t)
CONVERT_WHOLE(u32, uint32_t)
CONVERT_WHOLE(s64, int64_t)
CONVERT_WHOLE(u64, uint64_t)

/* Float to float ------------------------------------------------------------------------------ */

SIMT_MAP1(f32_f32_rni, float, float, num_f32(__builtin_rintf(x)))
SIMT_MAP1(f32_f32_rzi, float, float, num_f32(__builtin_truncf(x)))
SIMT_MAP1(f32_f32_rmi, float, float, num_f32(__builtin_floorf(x)))
SIMT_MAP1(f32_f32_rpi, float, float, num_f32(__builtin_ceilf(x)))
SIMT_MAP1(f64_f64_rni, double, double, num_f64_1(__builtin_rint(x), x))
SIMT_MAP1(f64_f64_rzi, double, double, num_f64_1(__builtin_trunc(x), x))
SIMT_MAP1(f64_f64_rmi, double, double, num_f64_1(__builtin_floor(x), x))
SIMT_MAP1(f64_f64_rpi, double, double, num_f64_1(__builtin_ceil(x), x))
/* Rounded to nearest, as if exponents had no lower end, this is the least that is not flushed. */
#define F32_FTZ_LIMIT 0x1.ffffffp-127
static inline float f32_from_f64(double x)
{
    return x == x ? (float)x : num_f32_from(num_f32_nan_from_f64(num_f64_bits(x)));
}
SIMT_MAP1(f32_f64, float, double, f32_from_f64(x))
SIMT_MAP1(f32_f64_ftz, float, double,
          fabs(x) < F32_FTZ_LIMIT ? copysignf(0.0f, (float)x) : f32_from_f64(x))
SIMT_MAP1(f64_f32, double, float, (double)x)
SIMT_MAP1(f64_f32_ftz, double, float, (double)num_f32(num_f32_flush(x)))
SIMT_MAP1(f32_f32, uint32_t, uint32_t, x)
SIMT_MAP1(f32_f32_ftz, float, float, num_f32(num_f32_flush(x)))
SIMT_MAP1(f32_sat, float, float, num_f32_sat(x))
SIMT_MAP1(f32_ftz_sat, float, float, num_f32_sat(num_f32_flush(x)))

/* bf16 is the upper half of an f32, NaNs included. */
#define CONVERT_HALF(format, finish)                                                               \
    SIMT_BODY(f32_##format)                                                                        \
    {                                                                                              \
        float results[SIMT_LANES];                                                                 \
        num_##format##_widen_all(results, SIMT_SLOT(const uint16_t, in->a), SIMT_LANES);           \
        SIMT_EACH_LANE results[i] = finish(results[i]);                                            \
        return num_store_32(w, in, results);                                                       \
    }                                                                                              \
    SIMT_BODY(format##_f32)                                                                        \
    {                                                                                              \
        uint16_t results[SIMT_LANES];                                                              \
        num_##format##_narrow_all(results, SIMT_SLOT(const float, in->a), SIMT_LANES);             \
        return num_store_16(w, in, results);                                                       \
    }
CONVERT_HALF(f16, num_f32)
CONVERT_HALF(bf16, )

/* Everything
 * ---------------------------------------------------------------------------------------- */

#define CONVERT_ANY(name, D, A)                                                                    \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        D *d = SIMT_SLOT(D, in->d);                                                                \
        const A *xs = SIMT_SLOT(const A, in->a);                                                   \
        struct num_convert how = num_convert_of(in->ptx);                                          \
        for (int i = 0; i < SIMT_LANES; i++)                                                       \
            if (SIMT_ACTIVE(i))                                                                    \
                d[i] = (D)num_convert(&how, xs[i]);                                                \
        return in + 1;                                                                             \
    }
CONVERT_ANY(any_16_16, uint16_t, uint16_t)
CONVERT_ANY(any_16_32, uint16_t, uint32_t)
CONVERT_ANY(any_16_64, uint16_t, uint64_t)
CONVERT_ANY(any_32_16, uint32_t, uint16_t)
CONVERT_ANY(any_32_32, uint32_t, uint32_t)
CONVERT_ANY(any_32_64, uint32_t, uint64_t)
CONVERT_ANY(any_64_16, uint64_t, uint16_t)
CONVERT_ANY(any_64_32, uint64_t, uint32_t)
CONVERT_ANY(any_64_64, uint64_t, uint64_t)

static simt_body *select_any(const struct simt_operands *operands)
{
    static simt_body *const bodies[3][3] = {{any_16_16, any_16_32, any_16_64},
                                            {any_32_16, any_32_32, any_32_64},
                                            {any_64_16, any_64_32, any_64_64}};
    int d = operands->d_bits == 64 ? 2 : operands->d_bits == 32 ? 1 : 0;
    int a = operands->a_bits == 64 ? 2 : operands->a_bits == 32 ? 1 : 0;
    return bodies[d][a];
}

/* Choice
 * --------------------------------------------------------------------------------------------- */

/* IGNORES_FTZ: .ftz makes no difference, as a subnormal f32 gives zero anyway or cannot come up.
 * A16, A32: the source's register is of that width, whatever its type. */
enum { IGNORES_FTZ = 1, ANY_ROUNDING = 2, NEEDS_FTZ = 4, NEEDS_SAT = 8, A16 = 16, A32 = 32 };
struct convert_row {
    enum ptx_type to, from;
    enum ptx_mod round; /* PTX_MOD_NONE: none is written */
    unsigned flags;
    simt_body *body;
};

#define WHOLE(to, TO, from, FROM)                                                                  \
    {TO, FROM, PTX_MOD_RNI, IGNORES_FTZ, to##_##from##_rni},                                       \
        {TO, FROM, PTX_MOD_RZI, IGNORES_FTZ, to##_##from##_rzi},                                   \
        {TO, FROM, PTX_MOD_RMI, 0, to##_##from##_rmi},                                             \
    {                                                                                              \
        TO, FROM, PTX_MOD_RPI, 0, to##_##from##_rpi                                                \
    }
static const struct convert_row rows[] = {
    WHOLE(s32, PTX_S32, f32, PTX_F32),
    WHOLE(u32, PTX_U32, f32, PTX_F32),
    WHOLE(s64, PTX_S64, f32, PTX_F32),
    WHOLE(u64, PTX_U64, f32, PTX_F32),
    WHOLE(s32, PTX_S32, f64, PTX_F64),
    WHOLE(u32, PTX_U32, f64, PTX_F64),
    WHOLE(s64, PTX_S64, f64, PTX_F64),
    WHOLE(u64, PTX_U64, f64, PTX_F64),
    WHOLE(f32, PTX_F32, f32, PTX_F32),
    WHOLE(f64, PTX_F64, f64, PTX_F64),
    {PTX_F32, PTX_S32, PTX_MOD_RN, IGNORES_FTZ, f32_s32},
    {PTX_F32, PTX_U32, PTX_MOD_RN, IGNORES_FTZ, f32_u32},
    {PTX_F32, PTX_S64, PTX_MOD_RN, IGNORES_FTZ, f32_s64},
    {PTX_F32, PTX_U64, PTX_MOD_RN, IGNORES_FTZ, f32_u64},
    {PTX_F64, PTX_S32, PTX_MOD_NONE, ANY_ROUNDING, f64_s32},
    {PTX_F64, PTX_U32, PTX_MOD_NONE, ANY_ROUNDING, f64_u32},
    {PTX_F64, PTX_S64, PTX_MOD_RN, 0, f64_s64},
    {PTX_F64, PTX_U64, PTX_MOD_RN, 0, f64_u64},
    {PTX_F32, PTX_U8, PTX_MOD_NONE, ANY_ROUNDING | IGNORES_FTZ | A16, f32_u8_16},
    {PTX_F32, PTX_S8, PTX_MOD_NONE, ANY_ROUNDING | IGNORES_FTZ | A16, f32_s8_16},
    {PTX_F32, PTX_U16, PTX_MOD_NONE, ANY_ROUNDING | IGNORES_FTZ | A16, f32_u16_16},
    {PTX_F32, PTX_S16, PTX_MOD_NONE, ANY_ROUNDING | IGNORES_FTZ | A16, f32_s16_16},
    {PTX_F32, PTX_U8, PTX_MOD_NONE, ANY_ROUNDING | IGNORES_FTZ | A32, f32_u8_32},
    {PTX_F32, PTX_S8, PTX_MOD_NONE, ANY_ROUNDING | IGNORES_FTZ | A32, f32_s8_32},
    {PTX_F32, PTX_U16, PTX_MOD_NONE, ANY_ROUNDING | IGNORES_FTZ | A32, f32_u16_32},
    {PTX_F32, PTX_S16, PTX_MOD_NONE, ANY_ROUNDING | IGNORES_FTZ | A32, f32_s16_32},
    {PTX_F32, PTX_F64, PTX_MOD_RN, 0, f32_f64},
    {PTX_F32, PTX_F64, PTX_MOD_RN, NEEDS_FTZ, f32_f64_ftz},
    {PTX_F64, PTX_F32, PTX_MOD_NONE, 0, f64_f32},
    {PTX_F64, PTX_F32, PTX_MOD_NONE, NEEDS_FTZ, f64_f32_ftz},
    {PTX_F32, PTX_F32, PTX_MOD_NONE, 0, f32_f32},
    {PTX_F32, PTX_F32, PTX_MOD_NONE, NEEDS_FTZ, f32_f32_ftz},
    {PTX_F32, PTX_F32, PTX_MOD_NONE, NEEDS_SAT, f32_sat},
    {PTX_F32, PTX_F32, PTX_MOD_NONE, NEEDS_SAT | NEEDS_FTZ, f32_ftz_sat},
    {PTX_F32, PTX_F16, PTX_MOD_NONE, IGNORES_FTZ, f32_f16},
    {PTX_F32, PTX_BF16, PTX_MOD_NONE, 0, f32_bf16},
    {PTX_F16, PTX_F32, PTX_MOD_RN, IGNORES_FTZ, f16_f32},
    {PTX_BF16, PTX_F32, PTX_MOD_RN, 0, bf16_f32},
};

static enum ptx_mod rounding_suffix(const struct ptx_inst *ptx)
{
    static const enum ptx_mod mods[] = {PTX_MOD_RN,  PTX_MOD_RZ,  PTX_MOD_RM,  PTX_MOD_RP,
                                        PTX_MOD_RNI, PTX_MOD_RZI, PTX_MOD_RMI, PTX_MOD_RPI};
    for (size_t i = 0; i < sizeof(mods) / sizeof(mods[0]); i++)
        if (ptx_has(ptx, mods[i]))
            return mods[i];
    return PTX_MOD_NONE;
}

static bool row_fits(const struct convert_row *row, const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    bool ftz = ptx_has(ptx, PTX_MOD_FTZ), sat = ptx_has(ptx, PTX_MOD_SAT);
    unsigned a_bits = row->flags & A16 ? 16 : row->flags & A32 ? 32 : ptx_type_bits(row->from);
    if (row->to != ptx->types[0] || row->from != ptx->types[1])
        return false;
    if (operands->a_bits != a_bits || operands->d_bits != ptx_type_bits(row->to))
        return false;
    if (!(row->flags & ANY_ROUNDING) && row->round != rounding_suffix(ptx))
        return false;
    if (!(row->flags & IGNORES_FTZ) && ftz != !!(row->flags & NEEDS_FTZ))
        return false;
    return sat == !!(row->flags & NEEDS_SAT);
}

simt_body *SIMT_NAME(convert_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    if (ptx->op != PTX_OP_CVT)
        return SIMT_NAME(convert_pack_select)(operands);
    if (!num_convert_is_legal(ptx))
        return NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (row_fits(&rows[i], operands))
            return rows[i].body;
    if (!num_format_of(ptx->types[0]) && !num_format_of(ptx->types[1]) &&
        !ptx_has(ptx, PTX_MOD_SAT)) {
        simt_body *body = select_int(operands);
        if (body)
            return body;
    }
    return select_any(operands);
}
