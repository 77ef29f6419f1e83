/*
 * exec_tensor_sum.c: the sum of products of one tile, as tensor_model.h describes it.
 * Two ways to the same bits. The fast one works on 8 columns at once in f32 and int32: a product
 * of two factors with 11-bit significands is exact in f32, so is its scaling by a power of two, and
 * the conversion to int32 is the cut toward zero. It gives up (returns false, c untouched) where
 * f32 or int32 would not hold the numbers; the exact one then does the tile in 64-bit integers.
 */
#include "simt/tensor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* v2 has no 32-byte registers; nothing here crosses a call. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float v8f __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint32_t v8u __attribute__((vector_size(32)));
typedef int8_t v32b __attribute__((vector_size(32)));
typedef int16_t v16h __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

/* Exponents of factors; sums of two fit the type. A zero's is so low that a sum with it lies below
 * NOTHING, and a sum without it above. */
#define NARROW_ZERO (-64) /* |exponent| <= 15 */
#define NARROW_NOTHING (-40)
#define WIDE_ZERO (-2000)
#define WIDE_NOTHING (-1000)
#define WIDE_LOWEST (-90) /* largest exponent of a sum that the fast way can scale */

/* 16 products of 25 fraction bits and c may pass 2^31, and then wrap to this or more. */
#define WRAPPED 2084569088

/* Vector helpers -------------------------------------------------------------------------------- */

#define BLEND(mask, x, y) (((x) & (mask)) | ((y) & ~(mask)))

INLINE v8i max8i(v8i x, v8i y)
{
#ifdef __AVX2__
    return (v8i)_mm256_max_epi32((__m256i)x, (__m256i)y);
#else
    v8i m = x > y;
    return BLEND(m, x, y);
#endif
}

INLINE v8i abs8i(v8i x)
{
#ifdef __AVX2__
    return (v8i)_mm256_abs_epi32((__m256i)x);
#else
    v8i s = x >> 31;
    return (x ^ s) - s;
#endif
}

INLINE v8i exponent_field(v8f x)
{
    return ((v8i)x >> 23) & 255;
}

/* Round to nearest even, to f16 and back to the float of that value. */
INLINE v8f through_half(v8f x)
{
#ifdef __F16C__
    return (v8f)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
#else
    /* Adding and taking away 1.5 * 2^(e + 13) leaves 11 bits; e from -14 up for subnormals. */
    v8i e = max8i(exponent_field(x), (v8i){} + 113);
    v8f big = (v8f)(((e + 13) << 23) | 0x400000);
    v8i sign = (v8i)x & INT32_MIN;
    v8f magnitude = (v8f)((v8i)x & INT32_MAX);
    v8f rounded = (magnitude + big) - big;
    v8i infinite = rounded >= 65520.0f;
    v8i bits = BLEND(infinite, (v8i){} + 0x7f800000, (v8i)rounded);
    return (v8f)(bits | sign);
#endif
}

/* Exponents ------------------------------------------------------------------------------------- */

struct exponents { /* [row][k] and [k][column], in the first so many bytes */
    union {
        _Alignas(32) int8_t a8[TENSOR_MAX_ROWS * TENSOR_MAX_K];
        int16_t a16[TENSOR_MAX_ROWS * TENSOR_MAX_K];
    };
    union {
        _Alignas(32) int8_t b8[TENSOR_MAX_K * 8];
        int16_t b16[TENSOR_MAX_K * 8];
    };
};

/* Exponents of count floats; returns the largest field met (255: infinity or NaN). */
#define FIND_EXPONENTS(name, type, zero)                                                           \
    INLINE int name(const float *x, type *e, unsigned count, int lowest)                           \
    {                                                                                              \
        int top = 0;                                                                               \
        for (unsigned i = 0; i < count; i++) {                                                     \
            int32_t bits;                                                                          \
            memcpy(&bits, &x[i], 4);                                                               \
            int field = bits >> 23 & 255;                                                          \
            top = field > top ? field : top;                                                       \
            int exponent = field - 127 > lowest ? field - 127 : lowest;                            \
            e[i] = (type)((bits << 1) == 0 ? zero : exponent);                                     \
        }                                                                                          \
        return top;                                                                                \
    }
FIND_EXPONENTS(find_narrow, int8_t, NARROW_ZERO)
FIND_EXPONENTS(find_wide, int16_t, WIDE_ZERO)

/* Largest exponent of the products of a row with each of the 8 columns, over [k, k + chunk). */
INLINE v8i top_narrow(const int8_t *a, const int8_t *b, unsigned chunk)
{
#ifdef __AVX2__
    /* A vector takes 4 k of 8 columns. */
    const __m256i spread =
        _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3,
                         3, 3, 3, 3, 3, 3, 3);
    __m256i top = _mm256_set1_epi8(-128);
    for (unsigned k = 0; k < chunk; k += 4) {
        int32_t four;
        memcpy(&four, a + k, 4);
        __m256i x = _mm256_shuffle_epi8(_mm256_set1_epi32(four), spread);
        __m256i y = _mm256_load_si256((const __m256i *)(const void *)(b + 8 * k));
        top = _mm256_max_epi8(top, _mm256_add_epi8(x, y));
    }
    __m128i half = _mm_max_epi8(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
    half = _mm_max_epi8(half, _mm_srli_si128(half, 8));
    return (v8i)_mm256_cvtepi8_epi32(half);
#else
    int8_t top[8];
    memset(top, -128, sizeof(top));
    for (unsigned k = 0; k < chunk; k++) {
        for (int n = 0; n < 8; n++) {
            int8_t e = (int8_t)(a[k] + b[8 * k + n]);
            top[n] = e > top[n] ? e : top[n];
        }
    }
    v8i result;
    for (int n = 0; n < 8; n++)
        result[n] = top[n];
    return result;
#endif
}

INLINE v8i top_wide(const int16_t *a, const int16_t *b, unsigned chunk)
{
#ifdef __AVX2__
    const __m256i spread =
        _mm256_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3, 2,
                         3, 2, 3, 2, 3, 2, 3);
    __m256i top = _mm256_set1_epi16(INT16_MIN);
    for (unsigned k = 0; k < chunk; k += 2) {
        int32_t two;
        memcpy(&two, a + k, 4);
        __m256i x = _mm256_shuffle_epi8(_mm256_set1_epi32(two), spread);
        __m256i y = _mm256_load_si256((const __m256i *)(const void *)(b + 8 * k));
        top = _mm256_max_epi16(top, _mm256_add_epi16(x, y));
    }
    __m128i half = _mm_max_epi16(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
    return (v8i)_mm256_cvtepi16_epi32(half);
#else
    int16_t top[8];
    for (int n = 0; n < 8; n++)
        top[n] = INT16_MIN;
    for (unsigned k = 0; k < chunk; k++) {
        for (int n = 0; n < 8; n++) {
            int16_t e = (int16_t)(a[k] + b[8 * k + n]);
            top[n] = e > top[n] ? e : top[n];
        }
    }
    v8i result;
    for (int n = 0; n < 8; n++)
        result[n] = top[n];
    return result;
#endif
}

/* The fast way ---------------------------------------------------------------------------------- */

struct row { /* 8 outputs on their way */
    v8f c, scale, unscale;
    v8i sum, has; /* has: some product is not zero */
};

INLINE void start_row(struct row *r, v8f c, v8i top, int fraction, bool c_half, bool wide,
                      v8i *trouble)
{
    v8i ec = max8i(exponent_field(c) - 127, (v8i){} + (c_half ? -14 : -126));
    if (c_half)
        ec = BLEND(c == 0.0f, (v8i){} - 126, ec);
    r->has = top > (wide ? WIDE_NOTHING : NARROW_NOTHING);
    v8i e = max8i(top, ec);
    if (wide)
        *trouble |= r->has & (e < WIDE_LOWEST);
    e = max8i(e, (v8i){} + (wide ? WIDE_LOWEST : NARROW_NOTHING));
    r->c = c;
    r->scale = (v8f)((fraction + 127 - e) << 23);
    r->unscale = (v8f)((e - fraction + 127) << 23);
    r->sum = __builtin_convertvector(c * r->scale, v8i);
}

INLINE v8f finish_row(const struct row *r, const struct tensor_sum *s, v8i *trouble)
{
    *trouble |= abs8i(r->sum) >= WRAPPED;
    /* Nearest, then one step back where that went up: truncation. */
    v8f nearest = __builtin_convertvector(r->sum, v8f);
    v8i back = __builtin_convertvector(nearest, v8i);
    v8i cut = (v8i)nearest + (abs8i(back) > abs8i(r->sum));
    if (s->d_half) /* f32 rounded to odd, so that rounding again is as rounding once */
        cut |= (back != r->sum) & 1;
    v8f value = (v8f)cut * r->unscale;
    /* Without products the sum is c, which the scale may not have fitted; -0 becomes 0. */
    value = (v8f)BLEND(r->has, (v8i)value, (v8i)(r->c + 0.0f));
    if (s->d_half)
        return through_half(value);
    if (s->model->result < 23)
        value = (v8f)((v8i)value & (v8i)((v8u){} + (UINT32_MAX << (23 - s->model->result))));
    return value;
}

#define V8F(p) (*(v8f *)(void *)(p))

/* Two rows at a time: they share the loads of b. */
INLINE bool add_chunk(struct tensor_sum *s, const struct exponents *e, unsigned k, unsigned chunk,
                      bool c_half, bool wide)
{
    int fraction = s->model->fraction;
    v8i trouble = {};
    for (unsigned m = 0; m < s->rows; m += 2) {
        struct row r0, r1;
        unsigned at0 = m * s->k + k, at1 = at0 + s->k;
        v8i top0, top1;
        if (wide) {
            top0 = top_wide(e->a16 + at0, e->b16 + 8 * k, chunk);
            top1 = top_wide(e->a16 + at1, e->b16 + 8 * k, chunk);
        } else {
            top0 = top_narrow(e->a8 + at0, e->b8 + 8 * k, chunk);
            top1 = top_narrow(e->a8 + at1, e->b8 + 8 * k, chunk);
        }
        float *c = s->c + 8 * m;
        start_row(&r0, V8F(c), top0, fraction, c_half, wide, &trouble);
        start_row(&r1, V8F(c + 8), top1, fraction, c_half, wide, &trouble);
        const float *a0 = s->a + at0, *a1 = s->a + at1, *b = s->b + 8 * k;
        v8u sum0 = (v8u)r0.sum, sum1 = (v8u)r1.sum;
#pragma GCC unroll 4
        for (unsigned i = 0; i < chunk; i++) {
            v8f column = V8F(b + 8 * i);
            sum0 += (v8u)__builtin_convertvector((column * a0[i]) * r0.scale, v8i);
            sum1 += (v8u)__builtin_convertvector((column * a1[i]) * r1.scale, v8i);
        }
        r0.sum = (v8i)sum0;
        r1.sum = (v8i)sum1;
        V8F(c) = finish_row(&r0, s, &trouble);
        V8F(c + 8) = finish_row(&r1, s, &trouble);
    }
    int32_t any = 0;
    for (int i = 0; i < 8; i++)
        any |= trouble[i];
    return !any;
}

static bool add_fast(struct tensor_sum *s)
{
    struct exponents e;
    unsigned step = s->model->chunk < s->k ? s->model->chunk : s->k;
    if (((uint64_t)step * 4 + 2) << s->model->fraction > UINT64_C(0x84000000))
        return false; /* int32 does not hold the sum */
    int a_top, b_top, c_top = 0;
    if (s->wide) {
        a_top = find_wide(s->a, e.a16, s->rows * s->k, s->a_lowest);
        b_top = find_wide(s->b, e.b16, s->k * 8, s->b_lowest);
        if (a_top + b_top - 2 * 127 > 125)
            return false; /* f32 does not hold the products */
    } else {
        a_top = find_narrow(s->a, e.a8, s->rows * s->k, s->a_lowest);
        b_top = find_narrow(s->b, e.b8, s->k * 8, s->b_lowest);
    }
    for (unsigned i = 0; i < s->rows * 8; i++) {
        int32_t bits;
        memcpy(&bits, &s->c[i], 4);
        int field = bits >> 23 & 255;
        c_top = field > c_top ? field : c_top;
    }
    if (a_top == 255 || b_top == 255 || c_top == 255)
        return false;

    float before[TENSOR_MAX_ROWS * 8];
    memcpy(before, s->c, sizeof(before));
    bool c_half = s->c_half;
    for (unsigned k = 0; k < s->k; k += step) {
        bool fine = s->wide  ? add_chunk(s, &e, k, step, c_half, true)
                    : c_half ? add_chunk(s, &e, k, step, true, false)
                             : add_chunk(s, &e, k, step, false, false);
        if (!fine) {
            memcpy(s->c, before, sizeof(before));
            return false;
        }
        c_half = s->d_half;
    }
    return true;
}

/* The exact way --------------------------------------------------------------------------------- */

/* A float as integer * 2^(exponent - bits): the exponent as the model has it. */
struct term {
    int64_t significand;
    int exponent;
};

static struct term term_of(float x, int lowest, int bits)
{
    if (x == 0)
        return (struct term){0, -126};
    int e;
    double fraction = __builtin_frexp((double)x, &e); /* in [0.5, 1) */
    int exponent = e - 1 > lowest ? e - 1 : lowest;
    return (struct term){(int64_t)__builtin_ldexp(fraction, e - exponent + bits), exponent};
}

/* significand * 2^up, cut toward zero. */
static int64_t shift_cut(int64_t significand, int up)
{
    if (up >= 0)
        return significand * (INT64_C(1) << up);
    if (up < -62)
        return 0;
    uint64_t magnitude = significand < 0 ? -(uint64_t)significand : (uint64_t)significand;
    magnitude >>= -up;
    return significand < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

static float quiet_nan(void)
{
    uint32_t bits = 0x7fffffff;
    float nan;
    memcpy(&nan, &bits, 4);
    return nan;
}

/* An exact double to f32, truncated to fraction bits. */
static float cut_to_f32(double x, int fraction)
{
    double magnitude = __builtin_fabs(x);
    if (magnitude >= 0x1p128)
        return x < 0 ? -__builtin_inff() : __builtin_inff();
    if (magnitude == 0)
        return 0;
    int e;
    __builtin_frexp(magnitude, &e);
    int exponent = e - 1 > -126 ? e - 1 : -126;
    int64_t integer = (int64_t)__builtin_ldexp(magnitude, fraction - exponent);
    float result = (float)__builtin_ldexp((double)integer, exponent - fraction);
    return x < 0 ? -result : result;
}

/* An exact double to the nearest f16, as a float. */
static float round_to_f16(double x)
{
    double magnitude = __builtin_fabs(x);
    if (magnitude >= 65520)
        return x < 0 ? -__builtin_inff() : __builtin_inff();
    if (magnitude == 0)
        return 0;
    int e;
    __builtin_frexp(magnitude, &e);
    int exponent = e - 1 > -14 ? e - 1 : -14;
    double scaled = __builtin_ldexp(magnitude, 10 - exponent);
    double rounded = (scaled + 0x1p52) - 0x1p52;
    float result = (float)__builtin_ldexp(rounded, exponent - 10);
    return x < 0 ? -result : result;
}

/* Infinities and NaN among the terms: true, and *result is the sum. */
static bool add_specials(const struct tensor_sum *s, unsigned m, unsigned n, unsigned k,
                         unsigned chunk, float c, float *result)
{
    double sum = 0; /* of the special terms alone */
    bool special = __builtin_isnan(c) || __builtin_isinf(c);
    if (special)
        sum = (double)c;
    for (unsigned i = k; i < k + chunk; i++) {
        float a = s->a[m * s->k + i], b = s->b[8 * i + n];
        if (__builtin_isfinite(a) && __builtin_isfinite(b))
            continue;
        sum += (double)a * (double)b;
        special = true;
    }
    if (special)
        *result = __builtin_isnan(sum) ? quiet_nan() : (float)sum;
    return special;
}

static float add_exact(const struct tensor_sum *s, unsigned m, unsigned n, unsigned k,
                       unsigned chunk, float c, bool c_half)
{
    float special;
    if (add_specials(s, m, n, k, chunk, c, &special))
        return special;
    struct term terms[TENSOR_MAX_K + 1]; /* products have 20 bits below the point, c has 23 */
    terms[chunk] = term_of(c, c_half ? -14 : -126, 23);
    int top = terms[chunk].exponent;
    for (unsigned i = 0; i < chunk; i++) {
        struct term a = term_of(s->a[m * s->k + k + i], s->a_lowest, 10);
        struct term b = term_of(s->b[8 * (k + i) + n], s->b_lowest, 10);
        terms[i].significand = a.significand * b.significand;
        terms[i].exponent = terms[i].significand ? a.exponent + b.exponent : -126;
        top = terms[i].exponent > top ? terms[i].exponent : top;
    }
    int fraction = s->model->fraction;
    int64_t sum = shift_cut(terms[chunk].significand, fraction - 23 + terms[chunk].exponent - top);
    for (unsigned i = 0; i < chunk; i++)
        sum += shift_cut(terms[i].significand, fraction - 20 + terms[i].exponent - top);
    double value = __builtin_ldexp((double)sum, top - fraction);
    return s->d_half ? round_to_f16(value) : cut_to_f32(value, s->model->result);
}

void SIMT_NAME(tensor_add_products)(struct tensor_sum *s)
{
    if (add_fast(s))
        return;
    unsigned step = s->model->chunk < s->k ? s->model->chunk : s->k;
    for (unsigned m = 0; m < s->rows; m++) {
        for (unsigned n = 0; n < 8; n++) {
            float c = s->c[8 * m + n];
            for (unsigned k = 0; k < s->k; k += step)
                c = add_exact(s, m, n, k, step, c, k == 0 ? s->c_half : s->d_half);
            s->c[8 * m + n] = c;
        }
    }
}
