/*
 * exec_tensor_wide.c: sums of products for a warpgroup product, many columns at once.
 * The arithmetic is that of exec_tensor_sum.c: products are exact in f32, scaled by a power of two
 * so that the cut of tensor_model.h is the conversion to int32, and added as integers. A quad
 * (tensor_wide.h) whose numbers f32 or int32 cannot hold is done by exec_tensor_exact.c.
 */
#include "simt/tensor_wide.h"

#if defined(__AVX512F__) && defined(__AVX512BW__)
#define LANES 16
#elif defined(__AVX2__)
#define LANES 8
#else
#define LANES 4
#endif
#define BATCH 4                      /* vectors that share the loads of B */
#define BATCHES (64 / LANES / BATCH) /* of a quad */

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));
typedef uint32_t vu __attribute__((vector_size(4 * LANES)));

#define INLINE static inline __attribute__((always_inline))
#define EXPONENT 0x7f800000 /* of f32 */
#define ONE (127 << 23)
#define LOWEST (TENSOR_LOWEST << 23)
#define WRAPPED 0x7c000000u /* exec_tensor_sum.c */
#define SPLAT(x) ((vi){} + (x))
#define AT(type, p) (*(type *)(void *)(p))

/* Vector helpers --------------------------------------------------------------------------------
 */

INLINE bool any_negative(const vi *x)
{
#if LANES == 16
    return _mm512_movepi32_mask((__m512i)*x) != 0;
#elif LANES == 8
    return _mm256_movemask_ps((__m256)*x) != 0;
#else
    return ((*x)[0] | (*x)[1] | (*x)[2] | (*x)[3]) < 0;
#endif
}

#if LANES == 16
#define MAX_I32(x, y) ((vi)_mm512_max_epi32((__m512i)(x), (__m512i)(y)))
#define MAX_U32(x, y) ((vu)_mm512_max_epu32((__m512i)(x), (__m512i)(y)))
#elif LANES == 8
#define MAX_I32(x, y) ((vi)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))
#define MAX_U32(x, y) ((vu)_mm256_max_epu32((__m256i)(x), (__m256i)(y)))
#else
#define BLEND(mask, x, y) (((x) & (mask)) | ((y) & ~(mask)))
#define MAX_I32(x, y) BLEND((vi)((vi)(x) > (vi)(y)), (vi)(x), (vi)(y))
#define MAX_U32(x, y) BLEND((vu)((vu)(x) > (vu)(y)), (vu)(x), (vu)(y))
#endif

/* The four floats at b, for every row of a vector. */
INLINE void repeat_four(vf *x, const float *b)
{
#if LANES == 16
    *x = (vf)_mm512_broadcast_f32x4(_mm_load_ps(b));
#elif LANES == 8
    *x = (vf)_mm256_broadcast_ps((const __m128 *)(const void *)b);
#else
    memcpy(x, b, sizeof(*x));
#endif
}

/* The field of the largest exponent of a quad's products, [row][column]; 0: no product. */
INLINE void find_tops(const struct tensor_wide *w, unsigned quad, unsigned k_count,
                      uint8_t tops[64])
{
    const uint8_t *b = w->b_exponents[quad];
#if LANES == 16
    __m512i top = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (unsigned k = 0; k < k_count; k++) {
        __m512i a = _mm512_load_si512((const void *)w->a_exponents[k]);
        __m512i y = _mm512_set1_epi32(AT(const int32_t, b + 4 * k));
        top = _mm512_max_epu8(top, _mm512_subs_epu8(y, a));
    }
    _mm512_store_si512((void *)tops, top);
#elif LANES == 8
    __m256i low = _mm256_setzero_si256(), high = low;
    for (unsigned k = 0; k < k_count; k++) {
        const __m256i *a = (const void *)w->a_exponents[k];
        __m256i y = _mm256_set1_epi32(AT(const int32_t, b + 4 * k));
        low = _mm256_max_epu8(low, _mm256_subs_epu8(y, a[0]));
        high = _mm256_max_epu8(high, _mm256_subs_epu8(y, a[1]));
    }
    _mm256_store_si256((void *)tops, low);
    _mm256_store_si256((void *)(tops + 32), high);
#else
    for (unsigned i = 0; i < 64; i++) {
        int top = 0;
        for (unsigned k = 0; k < k_count; k++) {
            int e = b[4 * k + i % 4] - w->a_exponents[k][i];
            top = e > top ? e : top;
        }
        tops[i] = (uint8_t)top;
    }
#endif
}

/* Bytes to exponents in their place. */
INLINE void widen_tops(vi *x, const uint8_t *tops)
{
#if LANES == 16
    __m512i wide = _mm512_cvtepu8_epi32(_mm_load_si128((const void *)tops));
    *x = (vi)_mm512_slli_epi32(wide, 23);
#elif LANES == 8
    __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)tops));
    *x = (vi)_mm256_slli_epi32(wide, 23);
#else
    for (int i = 0; i < LANES; i++)
        (*x)[i] = tops[i] << 23;
#endif
}

/* One quad ---------------------------------------------------------------------------------------
 */

/* Exactly, one output after the other. */
static __attribute__((noinline)) void add_exact(const struct tensor_wide *w, unsigned quad,
                                                const float c[64], float d[64])
{
    float b[4][WIDE_MAX_K];
    for (unsigned i = 0; i < 64; i++) {
        if (i % 4 == 0) /* a row: what is not stored is not multiplied, be it infinite */
            for (unsigned k = 0; k < w->k; k++)
                for (unsigned n = 0; n < 4; n++)
                    b[n][k] = !w->sparse || w->stored[i / 4] >> k & 1 ? w->b[quad][4 * k + n] : 0;
        const struct tensor_terms terms = {.a = w->a[i / 4],
                                           .b = b[i % 4],
                                           .k = w->k,
                                           .a_lowest = w->a_lowest,
                                           .b_lowest = w->b_lowest,
                                           .c = c[i],
                                           .c_half = w->half,
                                           .d_half = w->half};
        d[i] = SIMT_NAME(tensor_exact_sum)(&w->model, &terms);
    }
}

/* Where an output has no term above the lowest exponent: is it because there is none at all? */
static __attribute__((noinline)) bool low_are_zero(const struct tensor_wide *w,
                                                   const uint8_t tops[64], const float c[64])
{
    if (w->tiny)
        return false;
    for (int i = 0; i < 64; i++) {
        bool low = tops[i] < TENSOR_LOWEST && __builtin_fabsf(c[i]) < 0x1p-89f;
        if (low && (tops[i] || c[i] != 0))
            return false;
    }
    return true;
}

/* A sum to f32 by truncation, or to f32 rounded to odd, which rounds to f16 as the sum does. */
INLINE void finish(const vu *sum, const vi *shift, bool half, int result, vu *size, vf *value)
{
    vi sign = (vi)*sum >> 31;
    vu x = (*sum ^ (vu)sign) - (vu)sign, cut = x & ~(x >> 24);
    vi scale = ONE - *shift;
    *size = x;
    if (half) {
        vf down = __builtin_convertvector((vi)cut, vf);
        vi inexact = __builtin_convertvector(down, vi) != (vi)x;
        *value = (vf)((vi)down | (inexact & 1)) * (vf)(scale | (vi)(*sum & 0x80000000));
    } else {
        vi with_sign = (vi)((cut ^ (vu)sign) - (vu)sign);
        *value = __builtin_convertvector(with_sign, vf) * (vf)scale;
        if (result < 23)
            *value = (vf)((vi)*value & SPLAT((int32_t)(UINT32_MAX << (23 - result))));
    }
}

/* A product scaled; by adding to its exponent where every shift is at least 0: what is 0 or
 * subnormal then stays below 1. */
#define SCALED(product, shift)                                                                     \
    (by_adding ? (vf)((vi)(product) + (shift)) : (product) * (vf)((shift) + ONE))
#define TO_INT(x) ((vu) __builtin_convertvector(x, vi))

INLINE bool add_batch(const struct tensor_wide *w, unsigned quad, unsigned batch, unsigned k_count,
                      bool by_adding, bool half, int result, const vi *shifts, const float *c,
                      float *d)
{
    const float *a = w->a4[0] + LANES * BATCH * batch, *b = w->b[quad];
    const vi s0 = shifts[0], s1 = shifts[1], s2 = shifts[2], s3 = shifts[3];
    vu sums[BATCH] = {TO_INT(SCALED(AT(const vf, c), s0)),
                      TO_INT(SCALED(AT(const vf, c + LANES), s1)),
                      TO_INT(SCALED(AT(const vf, c + 2 * LANES), s2)),
                      TO_INT(SCALED(AT(const vf, c + 3 * LANES), s3))};
    vu sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
#pragma GCC unroll 4
    for (unsigned k = 0; k < k_count; k++, a += 64, b += 4) {
        vf x;
        repeat_four(&x, b);
        vf x0 = x * AT(const vf, a), x1 = x * AT(const vf, a + LANES);
        vf x2 = x * AT(const vf, a + 2 * LANES), x3 = x * AT(const vf, a + 3 * LANES);
        x0 = SCALED(x0, s0), x1 = SCALED(x1, s1);
        x2 = SCALED(x2, s2), x3 = SCALED(x3, s3);
        sum0 += TO_INT(x0), sum1 += TO_INT(x1), sum2 += TO_INT(x2), sum3 += TO_INT(x3);
    }
    sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
    vu largest = {};
    for (unsigned i = 0; i < BATCH; i++) {
        vu size;
        vf value;
        finish(&sums[i], &shifts[i], half, result, &size, &value);
        AT(vf, d + LANES * i) = value;
        largest = MAX_U32(largest, size);
    }
    vi wrapped = (vi)(largest + (0x80000000u - WRAPPED)); /* |sum| is 2^31 at most */
    return !any_negative(&wrapped);
}

INLINE bool add_batches(const struct tensor_wide *w, unsigned quad, unsigned k_count,
                        bool by_adding, bool half, int result, const vi *shifts, const float *c,
                        float *d)
{
    bool right = true;
    for (unsigned batch = 0; batch < BATCHES; batch++)
        right &= add_batch(w, quad, batch, k_count, by_adding, half, result, shifts + BATCH * batch,
                           c + LANES * BATCH * batch, d + LANES * BATCH * batch);
    return right;
}

INLINE void add_quad(const struct tensor_wide *w, unsigned quad, unsigned k_count, bool half,
                     int result, const float c[64], float d[64])
{
    _Alignas(64) uint8_t tops[64];
    vi shifts[BATCH * BATCHES], low = {}, high = {};
    const vi most = SPLAT((w->model.fraction + 127) << 23);
    if (w->a_special || w->b_special[quad]) {
        add_exact(w, quad, c, d);
        return;
    }
    find_tops(w, quad, k_count, tops);
    for (unsigned i = 0; i < BATCH * BATCHES; i++) {
        vi top, ec = AT(const vi, c + LANES * i) & EXPONENT;
        widen_tops(&top, tops + LANES * i);
        if (half) { /* subnormals: those of f16; 0 stays */
            vi least = SPLAT(113 << 23) & (AT(const vf, c + LANES * i) != 0.0f);
            ec = MAX_I32(ec, least);
        }
        top = MAX_I32(top, ec);
        low |= top - LOWEST;
        high |= SPLAT((254 << 23) | 0x7fffff) - top; /* c is infinite or NaN */
        shifts[i] = most - MAX_I32(top, SPLAT(LOWEST));
    }
    if (any_negative(&high) || (any_negative(&low) && !low_are_zero(w, tops, c))) {
        add_exact(w, quad, c, d);
        return;
    }
    vi negative = shifts[0];
    for (unsigned i = 1; i < BATCH * BATCHES; i++)
        negative |= shifts[i];
    bool right;
    if (any_negative(&negative))
        right = add_batches(w, quad, k_count, false, half, result, shifts, c, d);
    else
        right = add_batches(w, quad, k_count, true, half, result, shifts, c, d);
    if (!right)
        add_exact(w, quad, c, d);
}

/* Both quads ------------------------------------------------------------------------------------
 */

/* Eight columns of f16: lane 4 * row + i of a register holds columns 2i and 2i + 1. */
static void widen_halves(const uint8_t *const *slots, float even[64], float odd[64])
{
#ifdef __F16C__
    const __m256i first = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
    for (unsigned i = 0; i < 64; i += 8) {
        __m256i pairs = _mm256_loadu_si256((const void *)(slots[i / 32] + 4 * (i % 32)));
        pairs = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(pairs, first), 0xd8);
        _mm256_store_ps(even + i, _mm256_cvtph_ps(_mm256_castsi256_si128(pairs)));
        _mm256_store_ps(odd + i, _mm256_cvtph_ps(_mm256_extracti128_si256(pairs, 1)));
    }
#else
    for (unsigned i = 0; i < 64; i++) {
        uint16_t pair[2];
        memcpy(pair, slots[i / 32] + 4 * (i % 32), 4);
        even[i] = num_f16_widen(pair[0]);
        odd[i] = num_f16_widen(pair[1]);
    }
#endif
}

static void narrow_halves(const float even[64], const float odd[64], uint8_t *const *slots)
{
#ifdef __F16C__
    for (unsigned i = 0; i < 64; i += 8) {
        __m128i x = _mm256_cvtps_ph(_mm256_load_ps(even + i), _MM_FROUND_TO_NEAREST_INT);
        __m128i y = _mm256_cvtps_ph(_mm256_load_ps(odd + i), _MM_FROUND_TO_NEAREST_INT);
        uint8_t *to = slots[i / 32] + 4 * (i % 32);
        _mm_storeu_si128((void *)to, _mm_unpacklo_epi16(x, y));
        _mm_storeu_si128((void *)(to + 16), _mm_unpackhi_epi16(x, y));
    }
#else
    for (unsigned i = 0; i < 64; i++) {
        uint16_t pair[2] = {num_f16_narrow(even[i]), num_f16_narrow(odd[i])};
        memcpy(slots[i / 32] + 4 * (i % 32), pair, 4);
    }
#endif
}

INLINE void add_both(const struct tensor_wide *w, unsigned k_count, bool half, int result,
                     const uint8_t *const *c, uint8_t *const *d)
{
    _Alignas(64) float in[2][64], out[2][64];
    if (!c) {
        memset(in, 0, sizeof(in));
    } else if (half) {
        widen_halves(c, in[0], in[1]);
    } else {
        for (unsigned i = 0; i < 4; i++) /* even, odd; then rows 8-15 */
            memcpy(in[i % 2] + 32 * (i / 2), c[i], 128);
    }
    for (unsigned odd = 0; odd < 2; odd++)
        add_quad(w, odd, k_count, half, result, in[odd], out[odd]);
    if (half) {
        narrow_halves(out[0], out[1], d);
    } else {
        for (unsigned i = 0; i < 4; i++)
            memcpy(d[i], out[i % 2] + 32 * (i / 2), 128);
    }
}

void SIMT_NAME(tensor_wide_add)(const struct tensor_wide *w, const uint8_t *const *c,
                                uint8_t *const *d)
{
    if (w->half)
        add_both(w, w->k, true, 23, c, d);
    else if (w->k == 16 && w->model.result == 23)
        add_both(w, 16, false, 23, c, d);
    else if (w->k == 8 && w->model.result == 23)
        add_both(w, 8, false, 23, c, d);
    else if (w->k == 32 && w->model.result == 13)
        add_both(w, 32, false, 13, c, d);
    else
        add_both(w, w->k, false, w->model.result, c, d);
}
