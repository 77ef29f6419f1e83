/*
 * texture_filter.c: weights of 8 bits, and sums in fixed point.
 * Found from an H200's answers (tests/texture compares them bit for bit):
 *  - weights are whole 256ths. Of a slice's share s, the column x = 1 gets s * x rounded, the other
 *    the rest; of the columns, (1, 1) gets its part by y rounded and (0, 0) its part by 1 - y.
 *  - integers of 8 and 16 bits are summed up as 16-bit fractions, and the result is one.
 *  - floats are aligned to the largest exponent of a slice's texels that count, with four bits more
 *    than a mantissa has; what lies below is cut off. The sum is exact, and rounded once, halves
 *    away from zero: to f32, or to f16 for texels of f16.
 */
#include "simt/texture_filter.h"

#include "simt/num_format.h"

#define GUARD_BITS 4
#define QUAD 4

static int32_t scale(int32_t a, int32_t b)
{
    return (a * b + FILTER_ONE / 2) >> FILTER_BITS;
}

static void slice_weights(int32_t share, int32_t x, int32_t y, int32_t weights[4])
{
    int32_t right = scale(x, share), left = share - right;
    int32_t far = scale(right, y), near = scale(left, FILTER_ONE - y);
    weights[0] = near;
    weights[1] = right - far;
    weights[2] = left - near;
    weights[3] = far;
}

void filter_weights(unsigned axes, const int32_t part[3], int32_t share, int32_t weights[8])
{
    if (axes == 1) {
        weights[1] = scale(part[0], share);
        weights[0] = share - weights[1];
        return;
    }
    int32_t behind = axes == 3 ? scale(part[2], share) : 0;
    slice_weights(share - behind, part[0], part[1], weights);
    if (axes == 3)
        slice_weights(behind, part[0], part[1], weights + 4);
}

/* Fractions of 16 bits ---------------------------------------------------------------------------
 */

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static uint32_t sum_fractions(unsigned format, const uint32_t *texels, const int32_t *weights,
                              unsigned count)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += (int64_t)(int32_t)texels[i] * weights[i];
    switch (format) {
    case TEXTURE_U8:
        sum = (sum * 257 + FILTER_ONE / 2) >> FILTER_BITS;
        return num_f32_bits((float)((double)sum / 65535));
    case TEXTURE_U16:
        sum = (sum + FILTER_ONE / 2) >> FILTER_BITS;
        return num_f32_bits((float)((double)sum / 65535));
    case TEXTURE_S8: /* 32767 / 127 of it, to the nearest; a GPU may be off by one of 32767 */
        sum = floor_divide(2 * sum * 32767 + 127 * FILTER_ONE, 2 * 127 * FILTER_ONE);
        break;
    default:
        sum = (sum + FILTER_ONE / 2) >> FILTER_BITS;
    }
    return num_f32_bits((float)((double)(sum < -32767 ? -32767 : sum) / 32767));
}

/* Floats -----------------------------------------------------------------------------------------
 */

struct parts {
    int64_t significand; /* without its sign */
    int exponent;        /* biased; of a subnormal number 1 */
    bool is_negative;
};

static struct parts split(uint32_t bits, const struct num_format *format)
{
    uint32_t sign = (uint32_t)num_sign_bit(format), fraction = (1u << format->mantissa_bits) - 1;
    struct parts parts = {.significand = bits & fraction,
                          .exponent = (int)((bits & (sign - 1)) >> format->mantissa_bits),
                          .is_negative = bits & sign};
    if (parts.exponent)
        parts.significand |= (int64_t)fraction + 1;
    else
        parts.exponent = 1;
    if (format == &num_f32_format && parts.significand <= fraction)
        parts.significand = 0; /* subnormal f32 count as zero, f16 do not */
    return parts;
}

/* The sum of up to four texels, in units of the exponent's last guard bit. */
struct quad {
    int64_t sum;
    int exponent;
};

static struct quad sum_quad(const struct num_format *format, const uint32_t *texels,
                            const int32_t *weights, unsigned count, int cut)
{
    struct quad quad = {0, 1};
    for (unsigned i = 0; i < count; i++) {
        struct parts parts = split(texels[i], format);
        if (weights[i] && parts.exponent > quad.exponent)
            quad.exponent = parts.exponent;
    }
    for (unsigned i = 0; i < count; i++) {
        struct parts parts = split(texels[i], format);
        int shift = quad.exponent - parts.exponent;
        if (!weights[i] || shift > 60)
            continue;
        int64_t size = parts.significand << GUARD_BITS >> shift >> cut << cut;
        quad.sum += (parts.is_negative ? -size : size) * weights[i];
    }
    return quad;
}

/* Infinities and NaNs do not add up: 0 if there are none. */
static uint32_t special_sum(const struct num_format *format, const uint32_t *texels,
                            const bool *counts, unsigned count)
{
    bool plus = false, minus = false, nan = false;
    uint32_t sign = (uint32_t)num_sign_bit(format);
    for (unsigned i = 0; i < count; i++) {
        uint32_t magnitude = texels[i] & (sign - 1);
        if (!counts[i] || magnitude < format->infinity)
            continue;
        nan |= magnitude > format->infinity;
        plus |= magnitude == format->infinity && !(texels[i] & sign);
        minus |= magnitude == format->infinity && texels[i] & sign;
    }
    if (nan || (plus && minus))
        return format == &num_f16_format ? 0x7fffe000 : NUM_F32_NAN;
    return plus ? NUM_F32_INF : minus ? NUM_F32_INF | NUM_F32_SIGN : 0;
}

/* cut: bits that are left out below, after aligning. */
static uint32_t sum_floats(const struct num_format *format, const uint32_t *texels,
                           const int32_t *weights, const bool *counts, unsigned count, int cut)
{
    uint32_t special = special_sum(format, texels, counts, count);
    if (special)
        return special;
    struct quad quads[16];
    unsigned quad_count = 0;
    int high = 1;
    for (unsigned i = 0; i < count && quad_count < 16; i += QUAD) {
        quads[quad_count] =
            sum_quad(format, texels + i, weights + i, count - i < QUAD ? count - i : QUAD, cut);
        if (quads[quad_count].sum && quads[quad_count].exponent > high)
            high = quads[quad_count].exponent;
        quad_count++;
    }
    __int128 sum = 0;
    enum { ROOM = 60 }; /* bits below the largest exponent: what lies lower changes nothing */
    for (unsigned i = 0; i < quad_count; i++) {
        int shift = high - quads[i].exponent;
        if (shift <= ROOM)
            sum += (__int128)quads[i].sum << (ROOM - shift);
    }
    bool is_negative = sum < 0;
    if (!sum) { /* -0 if that is all there is */
        is_negative = true;
        for (unsigned i = 0; i < count; i++)
            is_negative &= !counts[i] || split(texels[i], format).is_negative;
    }
    unsigned __int128 size = (unsigned __int128)(is_negative ? -sum : sum);
    int bias = (1 << (format->exponent_bits - 1)) - 1;
    int exponent = high - ROOM - bias - format->mantissa_bits - GUARD_BITS - FILTER_BITS;
    while (size >> 64) { /* what falls out only says that there is more */
        size = size >> 1 | (size & 1);
        exponent++;
    }
    uint64_t bits = num_pack(format, is_negative, (uint64_t)size, exponent, NUM_RNA);
    if (format == &num_f16_format)
        return num_f32_bits((float)num_to_f64(format, bits));
    if (!(bits & NUM_F32_INF)) /* a subnormal result is zero */
        bits &= NUM_F32_SIGN;
    return (uint32_t)bits;
}

uint32_t filter_channel(const struct simt_texture *texture, unsigned channel,
                        const uint32_t *texels, const int32_t *weights, const bool *counts,
                        unsigned count)
{
    if (texture_is_srgb(texture, channel)) { /* f16, of which 8 bits are kept */
        uint32_t halves[32];
        for (unsigned i = 0; i < count && i < 32; i++)
            halves[i] = texture_srgb_half(texels[i]);
        return sum_floats(&num_f16_format, halves, weights, counts, count, GUARD_BITS + 3);
    }
    switch (texture->format) {
    case TEXTURE_F32:
        return sum_floats(&num_f32_format, texels, weights, counts, count, 0);
    case TEXTURE_F16:
        return sum_floats(&num_f16_format, texels, weights, counts, count, 0);
    default:
        return sum_fractions(texture->format, texels, weights, count);
    }
}
