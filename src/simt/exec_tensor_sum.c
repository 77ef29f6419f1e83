/*
 * exec_tensor_sum.c: the sum of products of one tile, as tensor_model.h describes it, fast.
 * It works on 8 columns at once in f32 and int32: a product of two factors with 11-bit
 * significands is exact in f32, so is its scaling by a power of two, and the conversion to int32 is
 * the cut toward zero. Where f32 or int32 would not hold the numbers it gives up, before anything
 * is written; exec_tensor_exact.c then does the tile.
 */
#include "simt/tensor.h"

/* v2 has no 32-byte registers; nothing here crosses a call. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float v8f __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint32_t v8u __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))
#define V8F(p) (*(v8f *)(void *)(p))
#define SPLAT(x) ((v8i){} + (x))
#define EXPONENT 0x7f800000 /* of f32 */
#define ONE (127 << 23)

/* 16 products of 25 fraction bits and c may pass 2^31: they reach 66 * 2^25 at most, and what wraps
 * is then this large or larger. So is what an infinity or a NaN in c converts to. */
#define WRAPPED 0x7c000000u

/* Vector helpers --------------------------------------------------------------------------------
 */

#ifdef __AVX2__
#define MAX_I32(x, y) ((v8i)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))
#define MIN_I32(x, y) ((v8i)_mm256_min_epi32((__m256i)(x), (__m256i)(y)))
#define MAX_U32(x, y) ((v8u)_mm256_max_epu32((__m256i)(x), (__m256i)(y)))
#define ABS_I32(x) ((v8i)_mm256_abs_epi32((__m256i)(x)))
#else
#define BLEND(mask, x, y) (((x) & (mask)) | ((y) & ~(mask)))
#define MAX_I32(x, y) BLEND((v8i)((v8i)(x) > (v8i)(y)), (v8i)(x), (v8i)(y))
#define MIN_I32(x, y) BLEND((v8i)((v8i)(x) < (v8i)(y)), (v8i)(x), (v8i)(y))
#define MAX_U32(x, y) BLEND((v8u)((v8u)(x) > (v8u)(y)), (v8u)(x), (v8u)(y))
#define ABS_I32(x) ((v8i)(((v8u)(x) ^ (v8u)((v8i)(x) >> 31)) - (v8u)((v8i)(x) >> 31)))
#endif

INLINE bool any_set(const v8i *mask)
{
#ifdef __AVX2__
    return !_mm256_testz_si256((__m256i)*mask, (__m256i)*mask);
#else
    int32_t any = 0;
    for (int i = 0; i < 8; i++)
        any |= (*mask)[i];
    return any;
#endif
}

/* Accumulators ----------------------------------------------------------------------------------
 */

/* Row m of c: f16 or f32. */
INLINE void load_c(const struct tensor_fragments *f, unsigned m, bool half, v8f *c)
{
    unsigned at = 16 * (m % 8);
    if (half) {
        const uint8_t *from = f->c[m / 8] + at;
#ifdef __F16C__
        const __m128i order = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
        __m128i halves = _mm_shuffle_epi8(_mm_loadu_si128((const void *)from), order);
        *c = (v8f)_mm256_cvtph_ps(halves);
#else
        for (int n = 0; n < 8; n++) {
            uint16_t bits;
            memcpy(&bits, from + 2 * tensor_column[n], 2);
            (*c)[n] = num_f16_widen(bits);
        }
#endif
    } else {
        const uint8_t *first = f->c[m / 8 * 2] + at, *second = f->c[m / 8 * 2 + 1] + at;
#ifdef __AVX__
        *c = (v8f)_mm256_loadu2_m128((const void *)second, (const void *)first);
#else
        memcpy(c, first, 16);
        memcpy((uint8_t *)c + 16, second, 16);
#endif
    }
}

INLINE void store_d(const struct tensor_fragments *f, unsigned m, bool half, const v8f *d)
{
    unsigned at = 16 * (m % 8);
    if (half) {
        uint8_t *to = f->d[m / 8] + at;
#ifdef __F16C__
        const __m128i order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
        __m128i halves = _mm256_cvtps_ph((__m256)*d, _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((void *)to, _mm_shuffle_epi8(halves, order));
#else
        for (int n = 0; n < 8; n++) {
            uint16_t bits = num_f16_narrow((*d)[n]);
            memcpy(to + 2 * tensor_column[n], &bits, 2);
        }
#endif
    } else {
        memcpy(f->d[m / 8 * 2] + at, d, 16);
        memcpy(f->d[m / 8 * 2 + 1] + at, (const uint8_t *)d + 16, 16);
    }
}

/* *x rounded to the nearest f16, as a float. */
INLINE void round_to_half(v8f *x)
{
#ifdef __F16C__
    *x = (v8f)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)*x, _MM_FROUND_TO_NEAREST_INT));
#else
    for (int i = 0; i < 8; i++)
        (*x)[i] = num_f16_widen(num_f16_narrow((*x)[i]));
#endif
}

/* One chunk -------------------------------------------------------------------------------------
 */

/* The largest exponent + 127 of a row's products with each of the 8 columns, in the place of a
 * float's exponent; at least TENSOR_LOWEST. The four bytes of a lane are four k of a column. */
INLINE void find_top(const uint8_t *a, const uint8_t *b, unsigned chunk, v8i *result)
{
#ifdef __AVX2__
    __m256i top = _mm256_set1_epi8(TENSOR_LOWEST);
#pragma GCC unroll 4
    for (unsigned k = 0; k < chunk; k += 4) {
        int32_t four;
        memcpy(&four, a + k, 4);
        __m256i y = _mm256_load_si256((const void *)(b + 8 * k));
        top = _mm256_max_epu8(top, _mm256_subs_epu8(y, _mm256_set1_epi32(four)));
    }
    top = _mm256_max_epu8(top, _mm256_srli_epi32(top, 16));
    top = _mm256_max_epu8(top, _mm256_srli_epi32(top, 8));
    *result = (v8i)_mm256_srli_epi32(_mm256_slli_epi32(top, 24), 1);
#elif defined(__SSE2__)
    __m128i tops[2] = {_mm_set1_epi8(TENSOR_LOWEST), _mm_set1_epi8(TENSOR_LOWEST)};
    for (int i = 0; i < 2; i++) {
        __m128i top = tops[i];
        for (unsigned k = 0; k < chunk; k += 4) {
            int32_t four;
            memcpy(&four, a + k, 4);
            __m128i y = _mm_loadu_si128((const void *)(b + 8 * k + 16 * i));
            top = _mm_max_epu8(top, _mm_subs_epu8(y, _mm_set1_epi32(four)));
        }
        top = _mm_max_epu8(top, _mm_srli_epi32(top, 16));
        top = _mm_max_epu8(top, _mm_srli_epi32(top, 8));
        tops[i] = _mm_srli_epi32(_mm_slli_epi32(top, 24), 1);
    }
    memcpy(result, tops, 32);
#else
    for (int n = 0; n < 8; n++) {
        int32_t top = TENSOR_LOWEST;
        for (unsigned k = 0; k < chunk; k++) {
            int32_t e = b[k / 4 * 32 + 4 * n + k % 4] - a[k];
            top = e > top ? e : top;
        }
        (*result)[n] = top << 23;
    }
#endif
}

struct rows { /* of 8 outputs each, on their way */
    /* The scale, 2^(fraction - exponent of the largest term), as what it adds to an exponent. */
    v8i shift[TENSOR_MAX_ROWS];
    v8u sum[TENSOR_MAX_ROWS];
    v8f between[TENSOR_MAX_ROWS]; /* c, then the chunk's result, which is c of the next */
    v8i least_top;                /* of what find_top gave */
    v8i least_shift;
    v8u largest_sum; /* |sum| */
};

/* from_registers: c, else rows->between. */
INLINE void start(struct rows *r, const struct tensor_sum *s, const struct tensor_fragments *f,
                  size_t count, size_t stride, size_t k, size_t chunk, bool from_registers,
                  bool c_half)
{
    v8i least_top = r->least_top, least_shift = SPLAT(INT32_MAX);
    const uint8_t *a_exponents = s->a_exponents + k, *b_exponents = s->b_exponents + 8 * k;
    int32_t most = (s->model->fraction + 127) << 23;
    for (size_t m = 0; m < count; m++, a_exponents += stride) {
        v8i top;
        v8f c;
        find_top(a_exponents, b_exponents, chunk, &top);
        if (from_registers)
            load_c(f, (unsigned)m, c_half, &c);
        else
            c = r->between[m];
        v8i ec = (v8i)c & EXPONENT;
        if (c_half) /* subnormals: those of f16; 0 stays */
            ec = MAX_I32(ec, SPLAT(113 << 23) & (c != 0.0f));
        v8i shift = most - MAX_I32(top, ec);
        least_top = MIN_I32(least_top, top);
        least_shift = MIN_I32(least_shift, shift);
        r->shift[m] = shift;
        r->between[m] = c;
    }
    r->least_top = least_top;
    r->least_shift = least_shift;
}

/* A product scaled, or by adding to its exponent, which is faster. That is right for a shift from 0
 * on: what is 0 or subnormal stays below 1. */
#define SCALED(product, shift)                                                                     \
    (by_adding ? (v8f)((v8i)(product) + (shift)) : (product) * (v8f)((shift) + ONE))
#define START_ROW(i)                                                                               \
    shift##i = r->shift[m + i];                                                                    \
    sum##i = (v8u) __builtin_convertvector(SCALED(r->between[m + i], shift##i), v8i)
#define ADD_ROW(i)                                                                                 \
    sum##i += (v8u) __builtin_convertvector(SCALED(column * a[at + i * piece], shift##i), v8i)

/* Four rows at a time share the loads of b. */
INLINE void add_products(struct rows *r, const struct tensor_sum *s, size_t count, size_t k,
                         size_t chunk, size_t piece, bool by_adding)
{
    v8u largest = r->largest_sum;
    size_t step = chunk < piece ? chunk : piece;
    for (size_t m = 0; m < count; m += 4) {
        v8u sum0, sum1, sum2, sum3;
        v8i shift0, shift1, shift2, shift3;
        START_ROW(0);
        START_ROW(1);
        START_ROW(2);
        START_ROW(3);
        for (size_t from = k; from < k + chunk; from += step) {
            const float *b = s->b + 8 * from;
            const float *a = s->a + (from / piece * count + m) * piece + from % piece;
#pragma GCC unroll 8
            for (size_t at = 0; at < step; at++) {
                v8f column = V8F(b + 8 * at);
                ADD_ROW(0);
                ADD_ROW(1);
                ADD_ROW(2);
                ADD_ROW(3);
            }
        }
        r->sum[m] = sum0, r->sum[m + 1] = sum1, r->sum[m + 2] = sum2, r->sum[m + 3] = sum3;
        v8u larger = MAX_U32(ABS_I32(sum0), ABS_I32(sum1));
        largest = MAX_U32(largest, MAX_U32(larger, MAX_U32(ABS_I32(sum2), ABS_I32(sum3))));
    }
    r->largest_sum = largest;
}

/* to_registers: d, else rows->between. */
INLINE void finish(struct rows *r, const struct tensor_sum *s, const struct tensor_fragments *f,
                   size_t count, bool to_registers, bool d_half, int result)
{
    v8i kept = SPLAT((int32_t)(UINT32_MAX << (23 - result)));
    for (size_t m = 0; m < count; m++) {
        v8i sum = (v8i)r->sum[m];
        /* Nearest, then one step back where that went up: truncation. */
        v8f nearest = __builtin_convertvector(sum, v8f);
        v8i back = __builtin_convertvector(nearest, v8i);
        v8i cut = (v8i)nearest + (ABS_I32(back) > ABS_I32(sum));
        if (d_half) /* f32 rounded to odd, so that rounding again is as rounding once */
            cut |= (back != sum) & 1;
        v8f value = (v8f)cut * (v8f)(ONE - r->shift[m]);
        if (result < 23 && !d_half)
            value = (v8f)((v8i)value & kept);
        if (to_registers) {
            store_d(f, (unsigned)m, d_half, &value);
        } else {
            if (d_half)
                round_to_half(&value);
            r->between[m] = value;
        }
    }
}

/* All chunks ------------------------------------------------------------------------------------
 */

/* An output without products above TENSOR_LOWEST is c alone: right if there are no others, and if
 * its scale fits c. */
static bool small_terms_fit(const struct tensor_sum *s, const struct tensor_fragments *f)
{
    bool fit = !s->tiny;
    for (unsigned m = 0; m < s->rows; m++) {
        v8f c;
        load_c(f, m, s->c_half, &c);
        for (int n = 0; n < 8; n++)
            fit &= c[n] == 0 || __builtin_fabsf(c[n]) >= 0x1p-60f;
    }
    return fit;
}

/* May the results be used? */
INLINE bool is_right(const struct rows *r, const struct tensor_sum *s,
                     const struct tensor_fragments *f)
{
    v8i wrapped = (v8i)(r->largest_sum >= WRAPPED), low = r->least_top == (TENSOR_LOWEST << 23);
    return !any_set(&wrapped) && (!any_set(&low) || small_terms_fit(s, f));
}

/* tensor_model.h, c_last. False: c is infinite or NaN. */
static bool add_c(struct rows *r, const struct tensor_sum *s, const struct tensor_fragments *f)
{
    v8i special = {};
    for (unsigned m = 0; m < s->rows; m++) {
        v8f c;
        load_c(f, m, s->c_half, &c);
        special |= ((v8i)c & EXPONENT) == EXPONENT;
        r->between[m] += c;
    }
    if (any_set(&special))
        return false;
    for (unsigned m = 0; m < s->rows; m++)
        store_d(f, m, s->d_half, &r->between[m]);
    return true;
}

INLINE bool add_chunks(const struct tensor_sum *s, const struct tensor_fragments *f, size_t rows,
                       size_t k_all, size_t chunk, size_t piece, bool c_half, bool d_half,
                       int result, bool c_last)
{
    struct rows r;
    r.least_top = SPLAT(INT32_MAX);
    r.largest_sum = (v8u){};
    if (c_last)
        memset(r.between, 0, sizeof(r.between));
    for (size_t k = 0; k < k_all; k += chunk) {
        if (k == 0 && !c_last)
            start(&r, s, f, rows, k_all, k, chunk, true, c_half);
        else
            start(&r, s, f, rows, k_all, k, chunk, false, d_half);
        v8i negative = r.least_shift < 0;
        if (any_set(&negative))
            add_products(&r, s, rows, k, chunk, piece, false);
        else
            add_products(&r, s, rows, k, chunk, piece, true);
        if (k + chunk < k_all || c_last)
            finish(&r, s, f, rows, false, d_half, result);
    }
    if (!is_right(&r, s, f))
        return false;
    if (c_last)
        return add_c(&r, s, f);
    finish(&r, s, f, rows, true, d_half, result);
    return true;
}

/* The shapes of today's GPUs have functions of their own. */
#define DEFINE_ADD(name, rows, k, chunk, piece, c_half, d_half, result, c_last)                    \
    static bool name(const struct tensor_sum *s, const struct tensor_fragments *f)                 \
    {                                                                                              \
        return add_chunks(s, f, rows, k, chunk, piece, c_half, d_half, result, c_last);            \
    }
DEFINE_ADD(add_16_at_once, 16, 16, 16, 8, false, false, 23, false)
DEFINE_ADD(add_16_at_once_f16, 16, 16, 16, 8, true, true, 23, false)
DEFINE_ADD(add_8_at_once, 16, 8, 8, 8, false, false, 23, false)
DEFINE_ADD(add_8_tf32_at_once, 16, 8, 8, 4, false, false, 23, false)
DEFINE_ADD(add_16_by_8, 16, 16, 8, 8, false, false, 23, false)
DEFINE_ADD(add_32_f8, 16, 32, 16, 8, false, false, 23, true)
DEFINE_ADD(add_f8, s->rows, s->k, 16, 8, s->c_half, s->d_half, 23, true)
DEFINE_ADD(add_by_4, s->rows, s->k, 4, s->piece, s->c_half, s->d_half, 23, false)
DEFINE_ADD(add_by_8, s->rows, s->k, 8, 8, s->c_half, s->d_half, 23, false)
DEFINE_ADD(add_by_16, s->rows, s->k, 16, 8, s->c_half, s->d_half, s->model->result, false)

bool SIMT_NAME(tensor_add_fast)(const struct tensor_sum *s, const struct tensor_fragments *f)
{
    unsigned chunk = s->model->chunk < s->k ? s->model->chunk : s->k;
    if (s->special || chunk > 16)
        return false;
    bool half = s->c_half || s->d_half, plain = s->rows == 16 && !half;
    if (s->model->c_last)
        return plain && s->k == 32 ? add_32_f8(s, f) : add_f8(s, f);
    if (chunk == 4)
        return add_by_4(s, f);
    if (s->piece == 4)
        return add_8_tf32_at_once(s, f);
    if (chunk == 8 && plain && s->k <= 16)
        return s->k == 8 ? add_8_at_once(s, f) : add_16_by_8(s, f);
    if (chunk == 8)
        return add_by_8(s, f);
    if (s->k == 16 && s->rows == 16 && s->c_half == s->d_half && s->model->result == 23)
        return half ? add_16_at_once_f16(s, f) : add_16_at_once(s, f);
    return add_by_16(s, f);
}
