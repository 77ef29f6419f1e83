/*
 * exec_integer.c: integer arithmetic: add to max, in all widths, and the choice of a body for every
 * row of group INTEGER. Carries, bit fields and logic are in exec_integer_carry.c, _bits.c and
 * _logic.c.
 * What PTX leaves open (division by zero) gives what ptxas' code gives on a GPU: all ones, for the
 * quotient and the remainder. Nothing here traps on the host.
 */
#include "simt/exec.h"

simt_body *SIMT_NAME(integer_carry_select)(const struct simt_operands *operands);
simt_body *SIMT_NAME(integer_bits_select)(const struct simt_operands *operands);
simt_body *SIMT_NAME(integer_logic_select)(const struct simt_operands *operands);

/* Wrapping arithmetic is done unsigned, so that signed and unsigned types share a body; 16 bits
 * widen first, for a C int would overflow. */
#define SAME_FOR_BOTH_SIGNS(name, expression)                                                      \
    SIMT_MAP2(name##_16, uint16_t, uint16_t, uint16_t, ({                                          \
                  uint32_t a = x, b = y;                                                           \
                  expression;                                                                      \
              }))                                                                                  \
    SIMT_MAP2(name##_32, uint32_t, uint32_t, uint32_t, ({                                          \
                  uint32_t a = x, b = y;                                                           \
                  expression;                                                                      \
              }))                                                                                  \
    SIMT_MAP2(name##_64, uint64_t, uint64_t, uint64_t, ({                                          \
                  uint64_t a = x, b = y;                                                           \
                  expression;                                                                      \
              }))
SAME_FOR_BOTH_SIGNS(add, a + b)
SAME_FOR_BOTH_SIGNS(sub, a - b)
SAME_FOR_BOTH_SIGNS(mul_lo, a *b)

/* PTX type, C type, and the unsigned C type of that width. */
#define PER_TYPE(X)                                                                                \
    X(u16, uint16_t, uint16_t)                                                                     \
    X(u32, uint32_t, uint32_t)                                                                     \
    X(u64, uint64_t, uint64_t)                                                                     \
    X(s16, int16_t, uint16_t)                                                                      \
    X(s32, int32_t, uint32_t)                                                                      \
    X(s64, int64_t, uint64_t)

static inline int32_t clamp_s32(int64_t x)
{
    return (int32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
SIMT_MAP2(add_sat, int32_t, int32_t, int32_t, clamp_s32((int64_t)x + y))
SIMT_MAP2(sub_sat, int32_t, int32_t, int32_t, clamp_s32((int64_t)x - y))

/* Two halves in a word. */
#define PAIR(low, high) ((uint16_t)(low) | (uint32_t)(uint16_t)(high) << 16)
SIMT_MAP2(add_x2, uint32_t, uint32_t, uint32_t, PAIR(x + y, (x >> 16) + (y >> 16)))

/* Products ------------------------------------------------------------------------------------ */

#define mulhi_u16(x, y) ((uint16_t)((uint32_t)(x) * (y) >> 16))
#define mulhi_s16(x, y) ((int16_t)((int32_t)(x) * (y) >> 16))
#define mulhi_u32(x, y) ((uint32_t)((uint64_t)(x) * (y) >> 32))
#define mulhi_s32(x, y) ((int32_t)((int64_t)(x) * (y) >> 32))
#define mulhi_u64(x, y) ((uint64_t)((unsigned __int128)(x) * (y) >> 64))
#define mulhi_s64(x, y) ((int64_t)((__int128)(x) * (y) >> 64))

#define MUL_HI(t, C, U)                                                                            \
    SIMT_MAP2(mul_hi_##t, C, C, C, mulhi_##t(x, y))                                                \
    SIMT_MAP3(mad_hi_##t, C, C, C, C, (U)mulhi_##t(x, y) + (U)z)
PER_TYPE(MUL_HI)

SIMT_MAP3(mad_hi_sat, int32_t, int32_t, int32_t, int32_t, clamp_s32((int64_t)mulhi_s32(x, y) + z))
SIMT_MAP3(mad_lo_16, uint16_t, uint16_t, uint16_t, uint16_t, (uint32_t)x *y + z)
SIMT_MAP3(mad_lo_32, uint32_t, uint32_t, uint32_t, uint32_t, x *y + z)
SIMT_MAP3(mad_lo_64, uint64_t, uint64_t, uint64_t, uint64_t, x *y + z)

#define MUL_WIDE(t, C, W, U)                                                                       \
    SIMT_MAP2(mul_wide_##t, W, C, C, (W)x *(W)y)                                                   \
    SIMT_MAP3(mad_wide_##t, U, C, C, U, (U)((W)x * (W)y) + z)
MUL_WIDE(u16, uint16_t, uint32_t, uint32_t)
MUL_WIDE(s16, int16_t, int32_t, uint32_t)
MUL_WIDE(u32, uint32_t, uint64_t, uint64_t)
MUL_WIDE(s32, int32_t, int64_t, uint64_t)

/* 24-bit sources: the upper byte is ignored, or replaced by the sign. */
#define u24(x) ((uint64_t)((x)&0xffffff))
#define s24(x) ((int64_t)((int32_t)((uint32_t)(x) << 8) >> 8))
SIMT_MAP2(mul24_lo_u32, uint32_t, uint32_t, uint32_t, u24(x) * u24(y))
SIMT_MAP2(mul24_lo_s32, uint32_t, uint32_t, uint32_t, s24(x) * s24(y))
SIMT_MAP2(mul24_hi_u32, uint32_t, uint32_t, uint32_t, u24(x) * u24(y) >> 16)
SIMT_MAP2(mul24_hi_s32, uint32_t, uint32_t, uint32_t, s24(x) * s24(y) >> 16)
SIMT_MAP3(mad24_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, u24(x) * u24(y) + z)
SIMT_MAP3(mad24_lo_s32, uint32_t, uint32_t, uint32_t, uint32_t, s24(x) * s24(y) + z)
SIMT_MAP3(mad24_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (u24(x) * u24(y) >> 16) + z)
SIMT_MAP3(mad24_hi_s32, uint32_t, uint32_t, uint32_t, uint32_t, (s24(x) * s24(y) >> 16) + z)
SIMT_MAP3(mad24_hi_sat, int32_t, uint32_t, uint32_t, int32_t,
          clamp_s32((s24(x) * s24(y) >> 16) + (int64_t)z))

/* Differences, order --------------------------------------------------------------------------- */

#define ORDERED(t, C, U)                                                                           \
    SIMT_MAP3(sad_##t, C, C, C, C, (U)z + (x < y ? (U)y - (U)x : (U)x - (U)y))                     \
    SIMT_MAP2(min_##t, C, C, C, x < y ? x : y)                                                     \
    SIMT_MAP2(max_##t, C, C, C, x > y ? x : y)
PER_TYPE(ORDERED)

#define SIGNED(bits)                                                                               \
    SIMT_MAP1(abs_##bits, uint##bits##_t, int##bits##_t,                                           \
              x < 0 ? 0 - (uint##bits##_t)x : (uint##bits##_t)x)                                   \
    SIMT_MAP1(neg_##bits, uint##bits##_t, uint##bits##_t, 0 - x)
SIGNED(16)
SIGNED(32)
SIGNED(64)

#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
SIMT_MAP2(min_relu_s32, int32_t, int32_t, int32_t, MAX(MIN(x, y), 0))
SIMT_MAP2(max_relu_s32, int32_t, int32_t, int32_t, MAX(MAX(x, y), 0))

#define PAIRWISE(name, H, of)                                                                      \
    SIMT_MAP2(name, uint32_t, uint32_t, uint32_t, ({                                               \
                  H x0 = (H)x, y0 = (H)y, x1 = (H)(x >> 16), y1 = (H)(y >> 16);                    \
                  PAIR(of(x0, y0), of(x1, y1));                                                    \
              }))
#define MIN_RELU(x, y) MAX(MIN(x, y), 0)
#define MAX_RELU(x, y) MAX(MAX(x, y), 0)
PAIRWISE(min_u16x2, uint16_t, MIN)
PAIRWISE(max_u16x2, uint16_t, MAX)
PAIRWISE(min_s16x2, int16_t, MIN)
PAIRWISE(max_s16x2, int16_t, MAX)
PAIRWISE(min_relu_s16x2, int16_t, MIN_RELU)
PAIRWISE(max_relu_s16x2, int16_t, MAX_RELU)

/* Division ------------------------------------------------------------------------------------
 * 32 bits and below go through double, which is exact (both fit in 53 bits) and vectorises.
 * For a divisor of 2 or more the quotient fits in 31 bits; 0 and 1 are set apart. */

static inline double u32_to_double(uint32_t x)
{
    return (double)(int32_t)(x ^ 0x80000000u) + 2147483648.0;
}
static inline uint32_t div_u32(uint32_t x, uint32_t y)
{
    uint32_t quotient = (uint32_t)(int32_t)(u32_to_double(x) / u32_to_double(y < 2 ? 2 : y));
    return y == 0 ? UINT32_MAX : y == 1 ? x : quotient;
}
static inline int32_t div_s32(int32_t x, int32_t y)
{
    int32_t quotient = (int32_t)((double)x / (double)(y == 0 || y == -1 ? 1 : y));
    return y == 0 ? -1 : y == -1 ? (int32_t)(0 - (uint32_t)x) : quotient;
}
static inline uint64_t div_u64(uint64_t x, uint64_t y)
{
    return y == 0 ? UINT64_MAX : x / y;
}
static inline int64_t div_s64(int64_t x, int64_t y)
{
    return y == 0 ? -1 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}
static inline uint32_t rem_u32(uint32_t x, uint32_t y)
{
    return y == 0 ? UINT32_MAX : x - div_u32(x, y) * y;
}
static inline int32_t rem_s32(int32_t x, int32_t y)
{
    return y == 0 ? -1 : (int32_t)((uint32_t)x - (uint32_t)div_s32(x, y) * (uint32_t)y);
}
static inline uint64_t rem_u64(uint64_t x, uint64_t y)
{
    return y == 0 ? UINT64_MAX : x % y;
}
static inline int64_t rem_s64(int64_t x, int64_t y)
{
    return y == 0 ? -1 : y == -1 ? 0 : x % y;
}
#define div_u16 div_u32
#define div_s16 div_s32
#define rem_u16 rem_u32
#define rem_s16 rem_s32
#define DIVISION(t, C, U)                                                                          \
    SIMT_MAP2(divide_##t, C, C, C, div_##t(x, y))                                                  \
    SIMT_MAP2(remain_##t, C, C, C, rem_##t(x, y))
PER_TYPE(DIVISION)

/* Choice --------------------------------------------------------------------------------------- */

#define BY_WIDTH(name) (bits == 16 ? name##_16 : bits == 32 ? name##_32 : name##_64)
#define BY_TYPE(name)                                                                              \
    (type == PTX_U16   ? name##_u16                                                                \
     : type == PTX_U32 ? name##_u32                                                                \
     : type == PTX_U64 ? name##_u64                                                                \
     : type == PTX_S16 ? name##_s16                                                                \
     : type == PTX_S32 ? name##_s32                                                                \
                       : name##_s64)
#define BY_NARROW_TYPE(name)                                                                       \
    (type == PTX_U16   ? name##_u16                                                                \
     : type == PTX_U32 ? name##_u32                                                                \
     : type == PTX_S16 ? name##_s16                                                                \
                       : name##_s32)

simt_body *SIMT_NAME(integer_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    enum ptx_type type = ptx->types[0];
    unsigned bits = ptx_type_bits(type);
    bool is_signed = ptx_type_kind(type) == PTX_KIND_SIGNED;
    bool hi = ptx_has(ptx, PTX_MOD_HI);
    bool pair = type == PTX_U16X2 || type == PTX_S16X2;

    switch (ptx->op) {
    case PTX_OP_ADD:
        return pair ? add_x2 : BY_WIDTH(add);
    case PTX_OP_ADD_SAT:
        return add_sat;
    case PTX_OP_SUB:
        return BY_WIDTH(sub);
    case PTX_OP_SUB_SAT:
        return sub_sat;
    case PTX_OP_MUL_LO:
        return BY_WIDTH(mul_lo);
    case PTX_OP_MUL_HI:
        return BY_TYPE(mul_hi);
    case PTX_OP_MUL_WIDE:
        return BY_NARROW_TYPE(mul_wide);
    case PTX_OP_MAD_LO:
        return BY_WIDTH(mad_lo);
    case PTX_OP_MAD_HI:
        return BY_TYPE(mad_hi);
    case PTX_OP_MAD_HI_SAT:
        return mad_hi_sat;
    case PTX_OP_MAD_WIDE:
        return BY_NARROW_TYPE(mad_wide);
    case PTX_OP_MUL24:
        if (hi)
            return is_signed ? mul24_hi_s32 : mul24_hi_u32;
        return is_signed ? mul24_lo_s32 : mul24_lo_u32;
    case PTX_OP_MAD24:
        if (hi)
            return is_signed ? mad24_hi_s32 : mad24_hi_u32;
        return is_signed ? mad24_lo_s32 : mad24_lo_u32;
    case PTX_OP_MAD24_SAT:
        return mad24_hi_sat;
    case PTX_OP_SAD:
        return BY_TYPE(sad);
    case PTX_OP_DIV:
        return BY_TYPE(divide);
    case PTX_OP_REM:
        return BY_TYPE(remain);
    case PTX_OP_ABS:
        return BY_WIDTH(abs);
    case PTX_OP_NEG:
        return BY_WIDTH(neg);
    case PTX_OP_MIN:
        return type == PTX_U16X2 ? min_u16x2 : type == PTX_S16X2 ? min_s16x2 : BY_TYPE(min);
    case PTX_OP_MAX:
        return type == PTX_U16X2 ? max_u16x2 : type == PTX_S16X2 ? max_s16x2 : BY_TYPE(max);
    case PTX_OP_MIN_RELU:
        return pair ? min_relu_s16x2 : min_relu_s32;
    case PTX_OP_MAX_RELU:
        return pair ? max_relu_s16x2 : max_relu_s32;
    default: {
        simt_body *body = SIMT_NAME(integer_carry_select)(operands);
        if (!body)
            body = SIMT_NAME(integer_bits_select)(operands);
        return body ? body : SIMT_NAME(integer_logic_select)(operands);
    }
    }
}
