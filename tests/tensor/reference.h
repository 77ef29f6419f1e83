/*
 * reference.h: mma.sync once more, slow and written from other ends than src/simt.
 * Layouts: the formulas of the PTX ISA, shape by shape ("Matrix Fragments for mma.m16n8k16" ...).
 * Sums: the model of src/simt/tensor_model.h, from the bits of the operands in 128-bit integers.
 */
#ifndef TESTS_TENSOR_REFERENCE_H
#define TESTS_TENSOR_REFERENCE_H

#include "ptx/ptx.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Layouts ---------------------------------------------------------------------------------------
 */

struct place {
    unsigned row, col;
};

/* Element i of A in a lane. bits: of an element. */
static inline struct place ref_place_a(unsigned m, unsigned k, unsigned bits, unsigned lane,
                                       unsigned i)
{
    unsigned group = lane >> 2, thread = lane % 4;
    bool low = true; /* row group, else group + 8 */
    unsigned col = 0;
    if (bits == 64) {
        if (m == 8)
            return (struct place){group, thread};
        if (k == 4)
            return (struct place){i == 0 ? group : group + 8, thread};
        if (k == 8)
            return (struct place){i == 0 || i == 2 ? group : group + 8,
                                  i < 2 ? thread : thread + 4};
        return (struct place){i % 2 == 0 ? group : group + 8,
                              i % 2 == 0 ? i * 2 + thread : i * 2 - 2 + thread};
    }
    if (m == 8) /* one register */
        return (struct place){group, thread * (32 / bits) + i};
    switch (bits) {
    case 32:
        low = k == 4 ? i == 0 : i == 0 || i == 2;
        col = k == 4 || i < 2 ? thread : thread + 4;
        break;
    case 16:
        low = k == 8 ? i < 2 : i < 2 || (4 <= i && i < 6);
        col = thread * 2 + (i & 1) + (k == 16 && i >= 4 ? 8 : 0);
        break;
    case 8:
        low = k == 16 ? i < 4 : i < 4 || (8 <= i && i < 12);
        col = thread * 4 + (i & 3) + (k == 32 && i >= 8 ? 16 : 0);
        break;
    case 4:
        low = k == 32 ? i < 8 : i < 8 || (16 <= i && i < 24);
        col = thread * 8 + (i & 7) + (k == 64 && i >= 16 ? 32 : 0);
        break;
    default:
        low = k == 128 ? i < 32 : i < 32 || (64 <= i && i < 96);
        col = thread * 32 + (i & 31) + (k == 256 && i >= 64 ? 128 : 0);
        break;
    }
    return (struct place){low ? group : group + 8, col};
}

/* Element i of B: row is k, col is n. */
static inline struct place ref_place_b(unsigned bits, unsigned lane, unsigned i)
{
    unsigned group = lane >> 2, thread = lane % 4;
    switch (bits) {
    case 64:
        return (struct place){thread + i * 4, group};
    case 32:
        return (struct place){i == 0 ? thread : thread + 4, group};
    case 16:
        return (struct place){thread * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
    case 8:
        return (struct place){thread * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
    case 4:
        return (struct place){thread * 8 + (i & 7) + (i < 8 ? 0 : 32), group};
    default:
        return (struct place){thread * 32 + (i & 31) + (i < 32 ? 0 : 128), group};
    }
}

static inline struct place ref_place_c(unsigned lane, unsigned i)
{
    unsigned group = lane >> 2, thread = lane % 4;
    return (struct place){i < 2 ? group : group + 8, thread * 2 + (i & 1)};
}

/* Numbers ---------------------------------------------------------------------------------------
 */

struct ref_number {
    bool nan, infinite, negative;
    int64_t significand; /* of the value significand * 2^(exponent - bits) */
    int exponent, bits;
};

static inline struct ref_number ref_decode(enum ptx_type type, uint32_t raw, bool via_f16)
{
    int exponent_bits = 8, fraction = 23;
    if (type == PTX_F16)
        exponent_bits = 5, fraction = 10;
    else if (type == PTX_BF16)
        fraction = 7;
    else if (type == PTX_TF32)
        fraction = 10, raw >>= 13;
    else if (type == PTX_E5M2)
        exponent_bits = 5, fraction = 2;
    else if (type == PTX_E4M3)
        exponent_bits = 4, fraction = 3;
    int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
    struct ref_number x = {0};
    x.bits = fraction;
    x.negative = raw >> (fraction + exponent_bits) & 1;
    int field = (int)(raw >> fraction) & top;
    int64_t mantissa = raw & ((1u << fraction) - 1);
    if (type == PTX_E4M3) {
        x.nan = field == top && mantissa == 7;
    } else if (field == top) {
        x.nan = mantissa != 0;
        x.infinite = mantissa == 0;
    }
    x.significand = field ? mantissa | INT64_C(1) << fraction : mantissa;
    x.exponent = (field ? field : 1) - bias;
    if (type == PTX_E4M3 && via_f16 && field == 0 && mantissa) {
        while (!(x.significand >> fraction)) { /* f16 has it as a normal number */
            x.significand <<= 1;
            x.exponent--;
        }
    }
    if (x.negative)
        x.significand = -x.significand;
    return x;
}

struct ref_model {
    unsigned chunk;
    int fraction, result;
    bool via_f16, c_last;
};

static inline struct ref_model ref_model_of(unsigned cc, enum ptx_type a)
{
    bool f8 = a == PTX_E4M3 || a == PTX_E5M2, tf32 = a == PTX_TF32;
    if (cc < 75)
        return (struct ref_model){4, 23, 23, f8, false};
    if (cc < 89)
        return (struct ref_model){tf32 ? 4 : 8, 24, 23, f8, false};
    if (cc < 90)
        return f8 ? (struct ref_model){16, 13, 13, false, false}
                  : (struct ref_model){tf32 ? 4 : 8, 24, 23, false, false};
    if (cc < 120)
        return (struct ref_model){tf32 ? 8 : 16, 25, 23, f8, f8};
    return (struct ref_model){f8 ? 32 : tf32 ? 8 : 16, 25, 23, false, false};
}

/* x * 2^shift cut toward zero. */
static inline __int128 ref_cut(__int128 x, int shift)
{
    if (x == 0)
        return 0;
    if (shift >= 0)
        return x * ((__int128)1 << shift);
    if (shift < -120)
        return 0;
    return x / ((__int128)1 << -shift); /* C divides toward zero */
}

/* sum * 2^scale to the bits of f32 (cut to result fraction bits) or f16 (to nearest even). */
static inline uint32_t ref_encode(__int128 sum, int scale, bool half, int result)
{
    if (sum == 0)
        return 0;
    bool negative = sum < 0;
    unsigned __int128 x = (unsigned __int128)(negative ? -sum : sum);
    int length = 0;
    while (x >> length)
        length++;
    int fraction = half ? 10 : result, lowest = half ? -14 : -126, bias = half ? 15 : 127;
    int exponent = length - 1 + scale;
    if (exponent < lowest)
        exponent = lowest;
    int shift = exponent - fraction - scale; /* bits to drop */
    uint64_t kept;
    if (shift <= 0) {
        kept = (uint64_t)(x << -shift);
    } else {
        unsigned __int128 unit = (unsigned __int128)1 << shift;
        kept = (uint64_t)(x / unit);
        unsigned __int128 rest = x % unit;
        if (half && (rest > unit / 2 || (rest == unit / 2 && (kept & 1))))
            kept++;
    }
    if (kept >> (fraction + 1)) {
        kept >>= 1;
        exponent++;
    }
    uint32_t sign = negative ? (half ? 0x8000u : 0x80000000u) : 0;
    if (exponent > (half ? 15 : 127))
        return sign | (half ? 0x7c00 : 0x7f800000);
    if (!(kept >> fraction))
        exponent = -bias; /* subnormal */
    uint32_t bits =
        (uint32_t)(exponent + bias) << fraction | (uint32_t)(kept & ((1u << fraction) - 1));
    return sign | (half ? bits : bits << (23 - fraction));
}

/* Chunk after chunk of k products a[i] * b[i], starting from c, all as bits. */
static inline uint32_t ref_chunks(struct ref_model model, enum ptx_type a_type,
                                  enum ptx_type b_type, unsigned k, const uint32_t *a,
                                  const uint32_t *b, uint32_t c, bool c_half, bool d_half)
{
    unsigned chunk = model.chunk < k ? model.chunk : k;
    for (unsigned start = 0; start < k; start += chunk, c_half = d_half) {
        struct ref_number terms[65];
        bool nan = false, plus = false, minus = false;
        terms[chunk] = ref_decode(c_half ? PTX_F16 : PTX_F32, c, false);
        for (unsigned i = 0; i < chunk; i++) {
            struct ref_number x = ref_decode(a_type, a[start + i], model.via_f16);
            struct ref_number y = ref_decode(b_type, b[start + i], model.via_f16);
            struct ref_number p = {0};
            p.nan = x.nan || y.nan || (x.infinite && y.significand == 0) ||
                    (y.infinite && x.significand == 0);
            p.infinite = x.infinite || y.infinite;
            p.negative = x.negative != y.negative;
            p.significand = x.significand * y.significand;
            p.exponent = x.exponent + y.exponent;
            p.bits = x.bits + y.bits;
            terms[i] = p;
        }
        int top = -126;
        for (unsigned i = 0; i <= chunk; i++) {
            nan |= terms[i].nan;
            plus |= terms[i].infinite && !terms[i].negative;
            minus |= terms[i].infinite && terms[i].negative;
            if (terms[i].significand && terms[i].exponent > top)
                top = terms[i].exponent;
        }
        if (nan || (plus && minus)) {
            c = d_half ? 0x7fff : 0x7fffffff;
        } else if (plus || minus) {
            c = (d_half ? 0x7c00u : 0x7f800000u) | (minus ? (d_half ? 0x8000u : 0x80000000u) : 0);
        } else {
            __int128 sum = 0;
            for (unsigned i = 0; i <= chunk; i++)
                sum += ref_cut(terms[i].significand,
                               model.fraction - terms[i].bits + terms[i].exponent - top);
            c = ref_encode(sum, top - model.fraction, d_half, model.result);
        }
    }
    return c;
}

/* x + y of f32 or f16, rounded to nearest. */
static inline uint32_t ref_add(uint32_t x, uint32_t y, bool half)
{
    double values[2]; /* their sum is exact or has bits enough */
    for (int i = 0; i < 2; i++) {
        struct ref_number n = ref_decode(half ? PTX_F16 : PTX_F32, i ? y : x, false);
        double magnitude = ldexp(fabs((double)n.significand), n.exponent - n.bits);
        magnitude = n.nan ? NAN : n.infinite ? INFINITY : magnitude;
        values[i] = n.negative ? -magnitude : magnitude;
    }
    double sum = values[0] + values[1];
    if (isnan(sum))
        return half ? 0x7fff : 0x7fffffff;
    uint32_t sign = signbit(sum) ? 0x8000 : 0;
    if (half) /* f16 has steps of 2^-24 */
        return sign |
               (isinf(sum) ? 0x7c00 : ref_encode((__int128)ldexp(fabs(sum), 24), -24, true, 10));
    float rounded = (float)sum;
    uint32_t bits;
    memcpy(&bits, &rounded, 4);
    return bits;
}

/* One output: k products a[i] * b[i] and c, all as bits. */
static inline uint32_t ref_dot(unsigned cc, enum ptx_type a_type, enum ptx_type b_type, unsigned k,
                               const uint32_t *a, const uint32_t *b, uint32_t c, bool c_half,
                               bool d_half)
{
    struct ref_model model = ref_model_of(cc, a_type);
    if (!model.c_last)
        return ref_chunks(model, a_type, b_type, k, a, b, c, c_half, d_half);
    /* Low pairs of every four first; c at the end. */
    uint32_t ordered_a[32], ordered_b[32];
    for (unsigned i = 0; i < k; i++) {
        unsigned to = i % 2 + i / 4 * 2 + (i & 2 ? k / 2 : 0);
        ordered_a[to] = a[i];
        ordered_b[to] = b[i];
    }
    uint32_t sum = ref_chunks(model, a_type, b_type, k, ordered_a, ordered_b, 0, d_half, d_half);
    return ref_add(sum, c, d_half);
}

#endif
