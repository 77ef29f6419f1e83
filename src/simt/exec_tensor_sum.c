/*
 * exec_tensor_sum.c: the sum of products of one tile, as tensor_model.h describes it.
 * Two ways to the same bits. The fast one works on 8 columns at once in f32 and int32: a product
 * of two factors with 11-bit significands is exact in f32, so is its scaling by a power of two, and
 * the conversion to int32 is the cut toward zero. It gives up (returns false) where
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

#define INLINE static inline __attribute__((always_inline))
#define V8F(p) (*(v8f *)(void *)(p))
#define SPLAT(x) ((v8i){} + (x))
#define EXPONENT 0x7f800000 /* of f32 */

/* 16 products of 25 fraction bits and c may pass 2^31: they reach 66 * 2^25 at most, and what wraps
 * is then this large or larger. */
#define WRAPPED 0x7c000000u

#define WIDE_LOWEST 37 /* the lowest exponent + 127 at which the fast way works: 2^-90 */

/* Vector helpers --------------------------------------------------------------------------------
 */

#ifdef __AVX2__
#define MAX_I32(x, y) ((v8i)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))
#define MAX_U32(x, y) ((v8u)_mm256_max_epu32((__m256i)(x), (__m256i)(y)))
#define ABS_I32(x) ((v8i)_mm256_abs_epi32((__m256i)(x)))
#define CHOOSE(mask, x, y) ((v8f)_mm256_blendv_ps((__m256)(y), (__m256)(x), (__m256)(mask)))
#else
#define BLEND(mask, x, y) (((x) & (mask)) | ((y) & ~(mask)))
#define MAX_I32(x, y) BLEND((v8i)((v8i)(x) > (v8i)(y)), (v8i)(x), (v8i)(y))
#define MAX_U32(x, y) BLEND((v8u)((v8u)(x) > (v8u)(y)), (v8u)(x), (v8u)(y))
#define ABS_I32(x) ((v8i)(((v8u)(x) ^ (v8u)((v8i)(x) >> 31)) - (v8u)((v8i)(x) >> 31)))
#define CHOOSE(mask, x, y) ((v8f)BLEND((v8i)(mask), (v8i)(x), (v8i)(y)))
#endif

/* *x rounded to the nearest f16, as a float. */
INLINE void round_to_half(v8f *x)
{
#ifdef __F16C__
    *x = (v8f)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)*x, _MM_FROUND_TO_NEAREST_INT));
#else
    /* Adding and taking away 1.5 * 2^(e + 13) leaves 11 bits; e from -14 up for subnormals. */
    v8i sign = (v8i)*x & INT32_MIN;
    v8f magnitude = (v8f)((v8i)*x & INT32_MAX);
    magnitude = CHOOSE(magnitude > 65536.0f, SPLAT(143 << 23), magnitude); /* 2^16 is infinite */
    v8i e = MAX_I32((v8i)magnitude & EXPONENT, SPLAT(113 << 23));
    v8f big = (v8f)(e + (13 << 23) + 0x400000);
    magnitude = (magnitude + big) - big;
    *x = (v8f)((v8i)CHOOSE(magnitude >= 65520.0f, SPLAT(EXPONENT), magnitude) | sign);
#endif
}

/* Exponents -------------------------------------------------------------------------------------
 */

/* The largest exponent + 127 of a row's products with each of the 8 columns, in the place of a
 * float's exponent; at least TENSOR_NOTHING. */
INLINE void find_top_narrow(const uint8_t *a, const uint8_t *b, unsigned chunk, v8i *result)
{
#ifdef __AVX2__
    /* A vector takes 4 k of 8 columns. */
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                                            2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    __m256i top = _mm256_set1_epi8(TENSOR_NOTHING);
#pragma GCC unroll 4
    for (unsigned k = 0; k < chunk; k += 4) {
        int32_t four;
        memcpy(&four, a + k, 4);
        __m256i x = _mm256_shuffle_epi8(_mm256_set1_epi32(four), spread);
        __m256i y = _mm256_load_si256((const __m256i *)(const void *)(b + 8 * k));
        top = _mm256_max_epu8(top, _mm256_subs_epu8(y, x));
    }
    __m128i half = _mm_max_epu8(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
    half = _mm_max_epu8(half, _mm_srli_si128(half, 8));
    *result = (v8i)_mm256_slli_epi32(_mm256_cvtepu8_epi32(half), 23);
#else
    uint8_t top[8];
    memset(top, TENSOR_NOTHING, sizeof(top));
    for (unsigned k = 0; k < chunk; k++) {
        for (int n = 0; n < 8; n++) {
            uint8_t e = b[8 * k + n] > a[k] ? (uint8_t)(b[8 * k + n] - a[k]) : 0;
            top[n] = e > top[n] ? e : top[n];
        }
    }
    for (int n = 0; n < 8; n++)
        (*result)[n] = top[n] << 23;
#endif
}

/* The same, as integers and with no least. */
INLINE void find_top_wide(const int16_t *a, const int16_t *b, unsigned chunk, v8i *result)
{
#ifdef __AVX2__
    const __m256i spread = _mm256_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2,
                                            3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3);
    __m256i top = _mm256_set1_epi16(INT16_MIN);
#pragma GCC unroll 8
    for (unsigned k = 0; k < chunk; k += 2) {
        int32_t two;
        memcpy(&two, a + k, 4);
        __m256i x = _mm256_shuffle_epi8(_mm256_set1_epi32(two), spread);
        __m256i y = _mm256_load_si256((const __m256i *)(const void *)(b + 8 * k));
        top = _mm256_max_epi16(top, _mm256_add_epi16(x, y));
    }
    __m128i half = _mm_max_epi16(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
    *result = (v8i)_mm256_cvtepi16_epi32(half);
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
    for (int n = 0; n < 8; n++)
        (*result)[n] = top[n];
#endif
}

/* The fast way ----------------------------------------------------------------------------------
 */

struct row {   /* 8 outputs on their way */
    v8f scale; /* 2^(fraction - exponent of the largest term) */
    v8i has;   /* narrow: some product is not 0 */
    v8u sum;
};

struct watch {   /* what the fast way could not do, seen at the end */
    v8u largest; /* |sum| */
    v8i c_top;   /* exponent of c */
    v8i wrong;
};

/* top: the products' exponents, as found. */
INLINE void start_row(struct row *r, const float *c, const v8i *top, int fraction, bool c_half,
                      bool wide, struct watch *watch)
{
    v8i ec = (v8i)V8F(c) & EXPONENT, exponent;
    watch->c_top = MAX_I32(watch->c_top, ec);
    if (c_half) /* subnormals: those of f16; 0 stays */
        ec = MAX_I32(ec, SPLAT(113 << 23) & (V8F(c) != 0.0f));
    if (wide) {
        v8i exists = (*top > -5000) | (V8F(c) != 0.0f);
        v8i products = (v8i)((v8u)MAX_I32(*top, SPLAT(WIDE_LOWEST)) << 23);
        exponent = MAX_I32(products, ec);
        watch->wrong |= exists & (MAX_I32(*top, ec >> 23) < WIDE_LOWEST);
    } else {
        r->has = *top > (TENSOR_NOTHING << 23);
        exponent = MAX_I32(*top, ec);
    }
    r->scale = (v8f)(((uint32_t)(fraction + 254) << 23) - (v8u)exponent);
    r->sum = (v8u) __builtin_convertvector(V8F(c) * r->scale, v8i);
}

INLINE void finish_row(const struct row *r, const float *c, float *d, int result, bool d_half,
                       bool wide, struct watch *watch)
{
    v8i sum = (v8i)r->sum, magnitude = ABS_I32(sum);
    watch->largest = MAX_U32(watch->largest, magnitude);
    /* Nearest, then one step back where that went up: truncation. */
    v8f nearest = __builtin_convertvector(sum, v8f);
    v8i back = __builtin_convertvector(nearest, v8i);
    v8i cut = (v8i)nearest + (ABS_I32(back) > magnitude);
    if (d_half) /* f32 rounded to odd, so that rounding again is as rounding once */
        cut |= (back != sum) & 1;
    v8f value = (v8f)cut * (v8f)((254u << 23) - (v8u)r->scale);
    if (!wide) /* Without products the sum is c, which the scale may not fit; -0 becomes 0. */
        value = CHOOSE(r->has, value, V8F(c) + 0.0f);
    if (d_half)
        round_to_half(&value);
    else if (result < 23)
        value = (v8f)((v8i)value & (int32_t)(UINT32_MAX << (23 - result)));
    V8F(d) = value;
}

/* Products [k, k + chunk) of all rows. Three loops, since each alone leaves the processor more
 * that does not depend on what came before. */
INLINE void add_chunk(struct tensor_sum *s, size_t k, size_t chunk, const float *c, bool c_half,
                      bool d_half, bool wide, struct watch *watch)
{
    struct row rows[TENSOR_MAX_ROWS];
    size_t count = s->rows, next = s->k;
    int fraction = s->model->fraction, result = s->model->result;
    const uint8_t *narrow_a = s->narrow_a + k, *narrow_b = s->narrow_b + 8 * k;
    const int16_t *wide_a = s->wide_a + k, *wide_b = s->wide_b + 8 * k;
    for (size_t m = 0; m < count; m++) {
        v8i top;
        if (wide)
            find_top_wide(wide_a + m * next, wide_b, chunk, &top);
        else
            find_top_narrow(narrow_a + m * next, narrow_b, chunk, &top);
        start_row(&rows[m], c + 8 * m, &top, fraction, c_half, wide, watch);
    }
    const float *a = s->a + k;
    for (size_t m = 0; m < count; m += 4, a += 4 * next) { /* 4 rows share the loads of b */
        struct row *r = &rows[m];
        v8u sum0 = r[0].sum, sum1 = r[1].sum, sum2 = r[2].sum, sum3 = r[3].sum;
        v8f scale0 = r[0].scale, scale1 = r[1].scale, scale2 = r[2].scale, scale3 = r[3].scale;
        const float *a0 = a, *a1 = a + next, *a2 = a + 2 * next, *a3 = a + 3 * next;
        const float *b = s->b + 8 * k;
#pragma GCC unroll 4
        for (size_t i = 0; i < chunk; i++) {
            v8f column = V8F(b + 8 * i);
            sum0 += (v8u) __builtin_convertvector((column * a0[i]) * scale0, v8i);
            sum1 += (v8u) __builtin_convertvector((column * a1[i]) * scale1, v8i);
            sum2 += (v8u) __builtin_convertvector((column * a2[i]) * scale2, v8i);
            sum3 += (v8u) __builtin_convertvector((column * a3[i]) * scale3, v8i);
        }
        r[0].sum = sum0, r[1].sum = sum1, r[2].sum = sum2, r[3].sum = sum3;
    }
    for (size_t m = 0; m < count; m++)
        finish_row(&rows[m], c + 8 * m, s->d + 8 * m, result, d_half, wide, watch);
}

/* Chunks of one size. */
#define DEFINE_ADD(name, chunk, wide)                                                              \
    static void name(struct tensor_sum *s, struct watch *watch)                                    \
    {                                                                                              \
        struct watch seen = {};                                                                    \
        if (s->c_half || s->d_half) {                                                              \
            for (unsigned k = 0; k < s->k; k += chunk)                                             \
                add_chunk(s, k, chunk, k ? s->d : s->c, k ? s->d_half : s->c_half, s->d_half,      \
                          wide, &seen);                                                            \
        } else {                                                                                   \
            for (unsigned k = 0; k < s->k; k += chunk)                                             \
                add_chunk(s, k, chunk, k ? s->d : s->c, false, false, wide, &seen);                \
        }                                                                                          \
        *watch = seen;                                                                             \
    }
DEFINE_ADD(add_narrow_4, 4, false)
DEFINE_ADD(add_narrow_8, 8, false)
DEFINE_ADD(add_narrow_16, 16, false)
DEFINE_ADD(add_wide_4, 4, true)
DEFINE_ADD(add_wide_8, 8, true)
DEFINE_ADD(add_wide_16, 16, true)

/* False: the exact way must do it. */
static bool add_fast(struct tensor_sum *s, unsigned chunk)
{
    if (s->special || chunk > 16 || (s->wide && s->top > 125 + 127))
        return false;
    struct watch watch;
    if (s->wide)
        (chunk == 4 ? add_wide_4 : chunk == 8 ? add_wide_8 : add_wide_16)(s, &watch);
    else
        (chunk == 4 ? add_narrow_4 : chunk == 8 ? add_narrow_8 : add_narrow_16)(s, &watch);
    v8i wrong = watch.wrong | (watch.c_top == EXPONENT) | (v8i)(watch.largest >= WRAPPED);
    int32_t any = 0;
    for (int i = 0; i < 8; i++)
        any |= wrong[i];
    return !any;
}

/* The exact way ---------------------------------------------------------------------------------
 */

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
    unsigned chunk = s->model->chunk < s->k ? s->model->chunk : s->k;
    if (add_fast(s, chunk))
        return;
    for (unsigned m = 0; m < s->rows; m++) {
        for (unsigned n = 0; n < 8; n++) {
            float c = s->c[8 * m + n];
            for (unsigned k = 0; k < s->k; k += chunk)
                c = add_exact(s, m, n, k, chunk, c, k == 0 ? s->c_half : s->d_half);
            s->d[8 * m + n] = c;
        }
    }
}
