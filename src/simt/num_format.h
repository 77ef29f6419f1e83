/*
 * num_format.h: every binary format in one description, and exact rounding into it.
 * Slow and general: used where no vector form pays, and by the tests of those that do.
 */
#ifndef LOCKSTEP_SIMT_NUM_FORMAT_H
#define LOCKSTEP_SIMT_NUM_FORMAT_H

#include "simt/num.h"
#include "simt/num_round.h"

struct num_format {
    int exponent_bits, mantissa_bits;
    uint64_t largest;  /* finite, as bits */
    uint64_t infinity; /* what follows it; NaN where there is no infinity */
    uint64_t nan;
};

static const struct num_format num_e4m3 = {4, 3, 0x7e, 0x7f, 0x7f};
static const struct num_format num_e5m2 = {5, 2, 0x7b, 0x7c, 0x7f};
static const struct num_format num_f16_format = {5, 10, 0x7bff, 0x7c00, NUM_F16_NAN};
static const struct num_format num_bf16_format = {8, 7, 0x7f7f, 0x7f80, NUM_BF16_NAN};
static const struct num_format num_f32_format = {8, 23, 0x7f7fffff, NUM_F32_INF, NUM_F32_NAN};
static const struct num_format num_f64_format = {11, 52, NUM_F64_INF - 1, NUM_F64_INF, NUM_F64_NAN};

static inline uint64_t num_sign_bit(const struct num_format *format)
{
    return (uint64_t)1 << (format->exponent_bits + format->mantissa_bits);
}

static inline bool num_rounds_up(enum num_round round, bool is_negative, bool is_odd, bool half,
                                 bool rest)
{
    switch (round) {
    case NUM_RN:
        return half && (rest || is_odd);
    case NUM_RNA:
        return half;
    case NUM_RM:
        return is_negative && (half || rest);
    case NUM_RP:
        return !is_negative && (half || rest);
    case NUM_RZ:
        break;
    }
    return false;
}

/* significand * 2^exponent as bits of a format, rounded once. */
static inline uint64_t num_pack(const struct num_format *format, bool is_negative,
                                uint64_t significand, int exponent, enum num_round round)
{
    uint64_t sign = is_negative ? num_sign_bit(format) : 0;
    if (significand == 0)
        return sign;
    int shift = __builtin_clzll(significand);
    significand <<= shift;
    int leading = exponent - shift + 63; /* exponent of the first bit */
    int bias = (1 << (format->exponent_bits - 1)) - 1;
    int dropped = 63 - format->mantissa_bits;
    bool is_subnormal = leading < 1 - bias;
    if (is_subnormal)
        dropped += 1 - bias - leading;

    uint64_t kept = 0;
    bool half = false, rest = true;
    if (dropped < 64) {
        kept = significand >> dropped;
        half = significand >> (dropped - 1) & 1;
        rest = (significand & (((uint64_t)1 << (dropped - 1)) - 1)) != 0;
    } else if (dropped == 64) {
        half = true;
        rest = significand << 1 != 0;
    }
    kept += num_rounds_up(round, is_negative, kept & 1, half, rest);
    uint64_t bits = kept;
    if (!is_subnormal)
        bits += (uint64_t)(leading + bias - 1) << format->mantissa_bits;
    if (bits > format->largest) {
        bool to_infinity = num_rounds_up(round, is_negative, true, true, true);
        bits = to_infinity ? format->infinity : format->largest;
        if (bits == format->nan) /* no infinity: a NaN has no sign */
            return bits;
    }
    return sign | bits;
}

/* The same for a number that f64 holds; NaN gives the format's NaN. */
static inline uint64_t num_from_f64(const struct num_format *format, double x, enum num_round round)
{
    uint64_t bits = num_f64_bits(x), magnitude = bits & ~NUM_F64_SIGN;
    bool is_negative = bits >> 63;
    if (magnitude > NUM_F64_INF)
        return format->nan;
    if (magnitude == NUM_F64_INF)
        return format->infinity | (is_negative ? num_sign_bit(format) : 0);
    int exponent = (int)(magnitude >> 52);
    uint64_t significand = magnitude & 0x000fffffffffffff;
    if (exponent != 0)
        significand |= 0x0010000000000000;
    else
        exponent = 1;
    return num_pack(format, is_negative, significand, exponent - 1075, round);
}

/* Bits of a format as f64, which holds all of them. */
static inline double num_to_f64(const struct num_format *format, uint64_t bits)
{
    uint64_t sign = num_sign_bit(format), magnitude = bits & (sign - 1);
    double value;
    if (magnitude > format->infinity || magnitude == format->nan) {
        value = NAN;
    } else if (magnitude == format->infinity) {
        value = INFINITY;
    } else {
        int bias = (1 << (format->exponent_bits - 1)) - 1;
        int exponent = (int)(magnitude >> format->mantissa_bits);
        uint64_t fraction = magnitude & (((uint64_t)1 << format->mantissa_bits) - 1);
        if (exponent != 0)
            fraction |= (uint64_t)1 << format->mantissa_bits;
        else
            exponent = 1;
        value = ldexp((double)fraction, exponent - bias - format->mantissa_bits);
    }
    return bits & sign ? -value : value;
}

/* .satfinite: what is too large, infinity too, becomes the largest number; NaN stays. */
static inline uint64_t num_from_f64_satfinite(const struct num_format *format, double x,
                                              enum num_round round)
{
    uint64_t bits = num_from_f64(format, x, round);
    uint64_t sign = x < 0.0 ? num_sign_bit(format) : 0;
    bool is_too_large = x == x && (bits & (num_sign_bit(format) - 1)) >= format->infinity;
    return is_too_large ? format->largest | sign : bits;
}

static inline double num_round_integral(double x, enum num_round round)
{
    switch (round) {
    case NUM_RZ:
        return trunc(x);
    case NUM_RM:
        return floor(x);
    case NUM_RP:
        return ceil(x);
    default:
        return rint(x);
    }
}

#endif
