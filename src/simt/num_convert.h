/*
 * num_convert.h: cvt for any pair of types, one value at a time, exactly.
 * exec_convert.c has vector forms for the pairs that matter to speed; this one covers the rest, and
 * the tests hold the vector forms against it. Values travel as 64 bits: integers extended by their
 * own sign, floats as their bits.
 */
#ifndef LOCKSTEP_SIMT_NUM_CONVERT_H
#define LOCKSTEP_SIMT_NUM_CONVERT_H

#include "simt/num_format.h"

struct num_convert {
    enum ptx_type to, from;
    enum num_round round;
    bool to_integral; /* .rni .. between floats: round to a whole number */
    bool ftz, sat;
};

static inline bool num_has_integer_rounding(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_RNI) || ptx_has(ptx, PTX_MOD_RZI) || ptx_has(ptx, PTX_MOD_RMI) ||
           ptx_has(ptx, PTX_MOD_RPI);
}
static inline struct num_convert num_convert_of(const struct ptx_inst *ptx)
{
    return (struct num_convert){.to = ptx->types[0],
                                .from = ptx->types[1],
                                .round = num_round_of(ptx),
                                .to_integral = num_has_integer_rounding(ptx),
                                .ftz = ptx_has(ptx, PTX_MOD_FTZ),
                                .sat = ptx_has(ptx, PTX_MOD_SAT)};
}

static inline const struct num_format *num_format_of(enum ptx_type type)
{
    switch (type) {
    case PTX_F16:
        return &num_f16_format;
    case PTX_BF16:
        return &num_bf16_format;
    case PTX_F32:
        return &num_f32_format;
    case PTX_F64:
        return &num_f64_format;
    default:
        return NULL; /* an integer */
    }
}
static inline bool num_is_signed(enum ptx_type type)
{
    return ptx_type_kind(type) == PTX_KIND_SIGNED;
}

/* The low bits of a register as a value of an integer type, extended to 64 bits. */
static inline uint64_t num_extend(enum ptx_type type, uint64_t bits)
{
    unsigned unused = 64 - ptx_type_bits(type);
    if (num_is_signed(type))
        return (uint64_t)((int64_t)(bits << unused) >> unused);
    return bits << unused >> unused;
}

static inline int64_t num_int_min(enum ptx_type type)
{
    return num_is_signed(type) ? (int64_t)(UINT64_MAX << (ptx_type_bits(type) - 1)) : 0;
}
static inline uint64_t num_int_max(enum ptx_type type)
{
    return UINT64_MAX >> (64 - ptx_type_bits(type) + num_is_signed(type));
}

/* Out of range becomes the nearest value in range. NaN becomes 0, or, where f64 or 64-bit integers
 * are concerned, the integer with only its first bit set. */
static inline uint64_t num_int_from_f64(const struct num_convert *how, double x)
{
    unsigned bits = ptx_type_bits(how->to);
    if (x != x)
        return how->from == PTX_F64 || bits == 64 ? num_extend(how->to, (uint64_t)1 << (bits - 1))
                                                  : 0;
    x = num_round_integral(x, how->round);
    if (x <= (double)num_int_min(how->to))
        return (uint64_t)num_int_min(how->to);
    if (x >= ldexp(1.0, (int)bits - num_is_signed(how->to)))
        return num_int_max(how->to);
    return num_is_signed(how->to) ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static inline uint64_t num_int_from_int(const struct num_convert *how, uint64_t value)
{
    bool is_negative = num_is_signed(how->from) && (int64_t)value < 0;
    if (how->sat && is_negative && (int64_t)value < num_int_min(how->to))
        return (uint64_t)num_int_min(how->to);
    if (how->sat && !is_negative && value > num_int_max(how->to))
        return num_int_max(how->to);
    return num_extend(how->to, value);
}

/* Bits of the target format, once more as a number: for .sat. */
static inline uint64_t num_finish_float(const struct num_convert *how, uint64_t bits)
{
    const struct num_format *format = num_format_of(how->to);
    if (how->sat)
        bits = num_from_f64(format, num_f64_sat(num_to_f64(format, bits)), NUM_RN);
    return bits;
}
/* .ftz: is x zero once it is rounded to f32, as if exponents had no lower end? */
static inline bool num_is_flushed(const struct num_convert *how, double x, enum num_round round)
{
    if (!how->ftz || how->to != PTX_F32 || fabs(x) > 1.0)
        return false;
    uint64_t scaled = num_from_f64(&num_f32_format, x * (double)NUM_FTZ_SCALE, round);
    return num_f32_from((uint32_t)scaled & ~NUM_F32_SIGN) < NUM_FTZ_LIMIT;
}

static inline uint64_t num_float_from_int(const struct num_convert *how, uint64_t value)
{
    bool is_negative = num_is_signed(how->from) && (int64_t)value < 0;
    uint64_t magnitude = is_negative ? 0 - value : value;
    return num_finish_float(
        how, num_pack(num_format_of(how->to), is_negative, magnitude, 0, how->round));
}

/* A quiet NaN with the sign and the upper bits of another. */
static inline uint64_t num_carry_nan(const struct num_format *to, const struct num_format *from,
                                     uint64_t bits)
{
    uint64_t sign = bits & num_sign_bit(from) ? num_sign_bit(to) : 0;
    uint64_t fraction = bits << (64 - from->mantissa_bits) >> (64 - to->mantissa_bits);
    return sign | to->infinity | (uint64_t)1 << (to->mantissa_bits - 1) | fraction;
}
static inline uint32_t num_f32_nan_from_f64(uint64_t bits)
{
    return (uint32_t)(bits >> 32 & NUM_F32_SIGN) | 0x7fc00000 | (uint32_t)(bits >> 29 & 0x3fffff);
}
/* What an H200 does: copies keep NaNs as they are, conversions from and to f64 what they carry;
 * between the others there is one. */
static inline uint64_t num_convert_nan(const struct num_convert *how, uint64_t bits)
{
    bool is_copy = how->to == how->from && !how->to_integral && !how->ftz;
    if (is_copy && (how->to == PTX_F32 || how->to == PTX_F64))
        return bits;
    if (how->to == PTX_F32 && how->from == PTX_BF16 && !how->ftz)
        return bits << 16;
    if (how->ftz && how->from == PTX_F32)
        bits = NUM_F32_NAN;
    if (how->to == PTX_F64 || how->from == PTX_F64)
        return num_carry_nan(num_format_of(how->to), num_format_of(how->from), bits);
    return num_format_of(how->to)->nan;
}

static inline uint64_t num_float_from_float(const struct num_convert *how, uint64_t bits)
{
    double x = num_to_f64(num_format_of(how->from), bits);
    if (x != x)
        return how->sat ? 0 : num_convert_nan(how, bits);
    if (how->to_integral)
        x = num_round_integral(x, how->round);
    enum num_round round = how->to_integral ? NUM_RN : how->round;
    if (num_is_flushed(how, x, round))
        x = copysign(0.0, x);
    return num_finish_float(how, num_from_f64(num_format_of(how->to), x, round));
}

/* bits: the source register's; the result is extended to 64 bits as the target type says. */
static inline uint64_t num_convert(const struct num_convert *how, uint64_t bits)
{
    const struct num_format *to = num_format_of(how->to), *from = num_format_of(how->from);
    if (from) {
        bits &= 2 * num_sign_bit(from) - 1;
        if (how->ftz && how->from == PTX_F32 && how->to != PTX_F16) /* an H200 does not */
            bits = num_f32_bits(num_f32_flush(num_f32_from((uint32_t)bits)));
        if (to)
            return num_float_from_float(how, bits);
        return num_int_from_f64(how, num_to_f64(from, bits));
    }
    bits = num_extend(how->from, bits);
    return to ? num_float_from_int(how, bits) : num_int_from_int(how, bits);
}

/* What PTX allows: floats to integers and to whole floats with .rni .., what may lose bits with
 * .rn .., anything else without rounding; .ftz where f32 is concerned. Between f16 and bf16, and
 * from bf16, rounding may be omitted. */
static inline bool num_convert_is_legal(const struct ptx_inst *ptx)
{
    struct num_convert how = num_convert_of(ptx);
    const struct num_format *to = num_format_of(how.to), *from = num_format_of(how.from);
    bool has_rounding = ptx_has(ptx, PTX_MOD_RN) || ptx_has(ptx, PTX_MOD_RZ) ||
                        ptx_has(ptx, PTX_MOD_RM) || ptx_has(ptx, PTX_MOD_RP);
    if (how.ftz && how.to != PTX_F32 && how.from != PTX_F32)
        return false;
    if (!to && !from)
        return !has_rounding && !how.to_integral;
    if (!to)
        return how.to_integral && !has_rounding;
    if (!from)
        return has_rounding && !how.to_integral;
    if (how.to == how.from)
        return !has_rounding;
    if (how.to_integral)
        return false;
    if (ptx_type_bits(how.to) < ptx_type_bits(how.from))
        return has_rounding;
    return !has_rounding || how.from == PTX_BF16 || how.to == PTX_BF16;
}

#endif
